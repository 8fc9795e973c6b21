"""What every verb starts from: which workspace, which person, which configuration."""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cuecard.core.i18n import _

if TYPE_CHECKING:
    import typer

    from cuecard.core.config import Config
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class Context:
    """The options that stand before the verb."""

    db: str | None
    person_option: str | None
    config_path: Path | None

    @classmethod
    def of(cls, context: typer.Context) -> Context:
        return cast(Context, context.obj)

    def workspace(self, *, create: bool = False) -> Workspace:
        """Open the workspace. Raises `NotFound` where there is none and `create` is false."""
        from cuecard.store.locate import workspace_url
        from cuecard.store.workspace import Workspace

        return Workspace.open(workspace_url(self.db), create=create)

    def person(self, workspace: Workspace) -> str:
        """The name to work under: `--as`, `CUECARD_USER`, else the account's name; entered if new."""
        name = self.person_option or os.environ.get("CUECARD_USER") or _account()
        return workspace.people.add(name).name

    def config(self) -> Config:
        from cuecard.core.config import load_config

        return load_config(self.config_path)


def _account() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return _("somebody")

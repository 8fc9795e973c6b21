"""What every verb starts from: which workspace, which person, which configuration."""

from __future__ import annotations

import getpass
import os
import shlex
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

    @property
    def names_workspace(self) -> bool:
        """Whether a workspace was asked for by name, rather than the usual one."""
        return bool(self.db or os.environ.get("CUECARD_DB"))

    def person(self, workspace: Workspace) -> str:
        """The name to work under: `--as`, `CUECARD_USER`, else the account's name; entered if new."""
        return workspace.people.add(self.reader).name

    @property
    def reader(self) -> str:
        """As `person`, for looking only: nobody is entered."""
        return self.person_option or os.environ.get("CUECARD_USER") or _account()

    def config(self) -> Config:
        from cuecard.core.config import load_config

        return load_config(self.config_path)

    def command(self, *words: str) -> str:
        """A command line to copy, with the options that stand before the verb now. A database's
        address may hold a password and is not repeated.
        """
        options: list[str] = []
        if self.db:
            options += ["--db", "URL" if "://" in self.db else self.db]
        if self.person_option:
            options += ["--as", self.person_option]
        if self.config_path:
            options += ["--config", str(self.config_path)]
        return shlex.join(("cuecard", *options, *words))


def _account() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return _("somebody")

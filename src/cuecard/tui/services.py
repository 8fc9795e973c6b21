"""The screens' access to the workspace, configuration and engine; slow calls run in threads.

Only frozen records pass from those threads to the screens, never sessions.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote, urlsplit

from cuecard.core.errors import CuecardError, guard_address, public_form
from cuecard.core.system import CONFIG_NAME, formerly
from cuecard.store import is_file

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.store.workspace import Workspace
    from cuecard.tui.engine import Engine
    from cuecard.tui.live_runs import LiveRuns

T = TypeVar("T")
_LOG = logging.getLogger(__name__)


class Services:
    """What the app works on: one workspace, one configuration, one engine, all opened on first use."""

    def __init__(self, url: str, config_path: Path | None = None) -> None:
        self._address = url
        self.url = public_form(url)
        """The workspace's address without its password: what names it on screens and in files."""
        formerly(self.url, url)
        guard_address(url)
        self.config_path = config_path
        self._lock = threading.Lock()
        self._workspace: Workspace | None = None
        self._engine: Engine | None = None
        self._live_runs: LiveRuns | None = None
        self._settled = False

    @property
    def public_url(self) -> str:
        """The workspace as a person knows it: a path, or its address without the password."""
        parts = urlsplit(self.url)
        return unquote(parts.path.removeprefix("/")) if parts.scheme == "sqlite" else self.url

    @property
    def shared(self) -> bool:
        """Whether it is on a server, which may know who somebody is."""
        return not is_file(self._address)

    async def ask(self, call: Callable[[Workspace], T]) -> T:
        """Run `call` with the workspace in a thread. Raises what it raises."""
        return await asyncio.to_thread(lambda: call(self.workspace()))

    async def version(self) -> str:
        """Another text than before if anything was saved in the workspace since. Raises `CuecardError`."""
        return await self.ask(lambda workspace: workspace.version())

    def workspace(self) -> Workspace:
        """The open workspace; slow the first time, so never call it on the screen's thread."""
        with self._lock:
            if self._workspace is None:
                from cuecard.store.workspace import Workspace

                self._workspace = Workspace.open(self._address)
            return self._workspace

    @property
    def has_config(self) -> bool:
        """Whether there is a file to be read; without one, only the embedded players are there."""
        return self.config_path is not None or Path(CONFIG_NAME).exists()

    async def config(self) -> Config:
        """`cuecard.yaml` as it stands now. Raises `ConfigError`."""

        def load() -> Config:
            from cuecard.core.config import load_config

            return load_config(self.config_path)

        return await asyncio.to_thread(load)

    @property
    def engine(self) -> Engine:
        """The loop on which trials are played, off the screen's thread."""
        if self._engine is None:
            from cuecard.tui.engine import Engine

            self._engine = Engine()
        return self._engine

    async def settle(self, person: str) -> bool:
        """Once, judge and close runs that a killed process left open (`settle_runs`); gives whether there were any.

        If it cannot be done now (somebody writes for long, the configuration cannot be read), it is left for the next
        start.
        """
        if self._settled:
            return False
        self._settled = True
        if not await self.ask(_left_behind):
            return False
        from cuecard.core.evaluation.runs import settle_runs

        workspace = await asyncio.to_thread(self.workspace)
        try:
            config = await self.config()
            return await self.engine.perform(settle_runs(workspace, by=person, config=config)) > 0
        except CuecardError:
            _LOG.info("what a killed process left behind is left as it is", exc_info=True)
            return False

    @property
    def live_runs(self) -> LiveRuns:
        """The runs that are being played on the engine; screens come and go, they stay."""
        if self._live_runs is None:
            from cuecard.tui.live_runs import LiveRuns

            self._live_runs = LiveRuns()
        return self._live_runs

    def close(self) -> None:
        """Stop the engine (open trials stay resumable), then close the workspace."""
        if self._engine is not None:
            self._engine.close()
        with self._lock:
            if self._workspace is not None:
                self._workspace.close()
                self._workspace = None


def _left_behind(workspace: Workspace) -> bool:
    """Whether it is worth a closer look."""
    if workspace.read_only:
        return False
    runs = workspace.runs.all(unfinished=True)
    return any(run.trials and run.trials == run.finished for run in runs)

"""The screens' access to the workspace, configuration and engine; slow calls run in threads.

Only frozen records pass from those threads to the screens, never sessions.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from cuecard.core.errors import CuecardError, DatabaseAway
from cuecard.core.i18n import current_language
from cuecard.core.secrets import guard_address, public_form
from cuecard.core.system import CONFIG_NAME, formerly
from cuecard.store import is_file
from cuecard.tui.present.journal import CALLS, Journal

if TYPE_CHECKING:
    from cuecard.annotate.results.pool import Pool
    from cuecard.core.config import Config
    from cuecard.core.evaluation.scores import OnCount
    from cuecard.store.workspace import Workspace
    from cuecard.tui.engine import Engine
    from cuecard.tui.live_runs import LiveRuns
    from cuecard.tui.notices import Outage

T = TypeVar("T")
_LOG = logging.getLogger(__name__)
_POOLS = 2
_LARGE = 5000
"""Rows of a pool that is kept from the search for garbage."""
"""So many are kept: a large one takes some hundred MB."""


class Services:
    """What the app works on: one workspace, one configuration, one engine, all opened on first use."""

    def __init__(self, url: str, config_path: Path | None = None, busy: float = 5.0) -> None:
        """`busy`: seconds to wait for other programs that write to a file, until that is called an outage."""
        self._address = url
        self.url = public_form(url)
        """The workspace's address without its password: what names it on screens and in files."""
        formerly(self.url, url)
        guard_address(url)
        self.config_path = config_path
        self._busy = busy
        self._lock = threading.Lock()
        self._workspace: Workspace | None = None
        self._engine: Engine | None = None
        self._live_runs: LiveRuns | None = None
        self._settled = False
        self._pools: dict[tuple[object, ...], Pool] = {}
        self._frozen = False
        self._pooling = threading.Lock()
        self._putting = threading.Lock()
        self.journal = Journal(self.url)
        self.outage: Outage | None = None
        """Of the app; None where no person waits."""
        self.on_run_end: Callable[[int], None] | None = None
        """Told on another thread which run that was played here is over."""

    @property
    def public_url(self) -> str:
        """The workspace as a person knows it: a path, or its address without the password."""
        parts = urlsplit(self.url)
        return unquote(parts.path.removeprefix("/")) if parts.scheme == "sqlite" else self.url

    @property
    def shared(self) -> bool:
        """Whether it is on a server, which may know who somebody is."""
        return not is_file(self._address)

    async def ask(self, call: Callable[[Workspace], T], *, wait: bool = True) -> T:
        """Run `call` with the workspace in a thread. Raises what it raises. While the database is away, what only reads
        waits until it is back, unless `wait` is false; what had begun to write raises `DatabaseAway`.
        """
        while True:
            outage = self.outage
            if wait and outage and outage.error and not outage.error.reads:
                await outage.over()
            try:
                return await asyncio.to_thread(lambda: self.workspace().attempt(call))
            except DatabaseAway as error:
                if outage is None or error.wrote or not wait:
                    raise
                outage.noticed(error)
                await outage.over()

    async def write(self, name: str, **given: Any) -> bool:
        """`put` in a thread, of what nothing replaces."""
        return await asyncio.to_thread(self.put, name, lambda: given)

    def put(
        self,
        name: str,
        given: Callable[[], Mapping[str, Any]],
        key: str = "",
        call: Callable[[Workspace], object] | None = None,
    ) -> bool:
        """Save what a person wrote, after all that waits: by the call `name` of `journal.CALLS`, or by `call`, which does the
        same. True when it is in the workspace. While the database is away it is kept on this machine, in place of what
        has the same `key`. Blocks. Raises what the call raises, and `DatabaseAway` if it cannot be kept here either.
        """
        at = datetime.now(UTC)
        with self._putting:
            try:
                if self.outage and self.outage.error and not self.outage.error.reads:
                    raise self.outage.error
                workspace = self.workspace()
                self._deliver(workspace)
                if call is not None:
                    call(workspace)
                else:
                    CALLS[name].call(workspace, at, given())
            except DatabaseAway as error:
                try:
                    self.journal.add(name, key, given(), at)
                except OSError:
                    raise error from None
                if self.outage:
                    self.outage.tell(error)
                return False
        return True

    async def back(self, pressed: asyncio.Queue[Any]) -> None:
        """Wait until the database is back, and drop the keys that were pressed on what nobody saw."""
        if self.outage is not None:
            await self.outage.over()
        while not pressed.empty():
            pressed.get_nowait()

    def try_again(self) -> None:
        """Deliver what waits on this machine, if the database is back. Blocks. Raises `CuecardError` if not."""
        with self._putting:
            workspace = self.workspace()
            workspace.try_writing()
            self._deliver(workspace)

    def _deliver(self, workspace: Workspace) -> None:
        taken, refused = self.journal.deliver(workspace)
        if self.outage and (taken or refused):
            self.outage.delivered(taken, refused)

    async def version(self) -> str:
        """Another text than before if anything was saved in the workspace since. Raises `CuecardError`."""
        return await self.ask(lambda workspace: workspace.version())

    def pool(
        self,
        workspace: Workspace,
        runs: Sequence[int],
        judges: Sequence[str] = (),
        *,
        on_count: OnCount | None = None,
    ) -> Pool:
        """`gather`, which all screens share until anything is saved in the workspace. Raises `NotFound`."""
        from cuecard.annotate.results.pool import gather

        with self._pooling:
            version = workspace.version(), current_language()
            key = (*version, tuple(runs), tuple(judges))
            if key not in self._pools:
                # Of other versions none is asked for again.
                self._pools = {
                    kept: pool for kept, pool in self._pools.items() if kept[:2] == version
                }
                if len(self._pools) >= _POOLS:
                    self._pools.pop(next(iter(self._pools)))
                if self._frozen:
                    # What was let go of can be collected, and is, before more is kept from it.
                    gc.unfreeze()
                    gc.collect()
                self._pools[key] = gather(workspace, runs, judges, on_count=on_count)
                self._frozen = max(len(pool.rows) for pool in self._pools.values()) > _LARGE
                if self._frozen:
                    # Each look for garbage among millions of records would stop the screen for a second.
                    gc.freeze()
            return self._pools[key]

    def workspace(self) -> Workspace:
        """The open workspace; slow the first time, so never call it on the screen's thread."""
        with self._lock:
            if self._workspace is None:
                from cuecard.store.workspace import Workspace

                self._workspace = Workspace.open(self._address, busy=self._busy)
                if self.outage:
                    self._workspace.patience = inf
                    self._workspace.when_away(self.outage.tell)
                    self._deliver(self._workspace)
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
            self._live_runs.on_end = self.on_run_end
        return self._live_runs

    @property
    def plays_a_run(self) -> bool:
        return self._live_runs is not None and self._live_runs.any_going_on

    def close(self) -> None:
        """Stop the engine (open trials stay resumable), then close the workspace."""
        if self._workspace is not None:
            self._workspace.when_away(None)
            self._workspace.give_up()
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

"""A trial's events into the workspace, and to whoever looks on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec

from cuecard.core.events import Event

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

_LOG = logging.getLogger(__name__)
Told = ParamSpec("Told")

OnEvent = Callable[[Event], None]
OnStream = Callable[[int, str], None]


class TrialSink:
    """Keeps events by `StoreSink` and tells of each when that says it is safe.

    Once an event could not be kept, nothing more is: a log must not go on, not even to an end,
    behind a gap or beside another session's log. `append` then raises the first trouble again.
    """

    def __init__(
        self,
        workspace: Workspace,
        trial_id: int,
        on_event: OnEvent | None = None,
        on_stream: OnStream | None = None,
    ) -> None:
        from cuecard.store.sink import StoreSink

        self._store = StoreSink(workspace, trial_id)
        self._on_event = on_event
        self._on_stream = on_stream
        self._trouble: Exception | None = None

    @property
    def trouble(self) -> Exception | None:
        """Why nothing is kept any more."""
        return self._trouble

    async def append(self, event: Event) -> None:
        if self._trouble:
            raise self._trouble
        try:
            await self._store.append(event)
        except asyncio.CancelledError:
            tell(self._on_event, event)  # It is kept all the same.
            raise
        except Exception as error:
            self._trouble = error
            raise
        tell(self._on_event, event)

    def stream(self, turn: int, text: str) -> None:
        tell(self._on_stream, turn, text)


def tell(listener: Callable[Told, None] | None, *args: Told.args, **kwargs: Told.kwargs) -> None:
    """Call the listener, if any. Its failure is logged and harms no trial: a screen may be gone."""
    if listener is None:
        return
    try:
        listener(*args, **kwargs)
    except Exception:  # noqa: BLE001 - the boundary to whoever looks on
        _LOG.exception("a listener of a trial failed")

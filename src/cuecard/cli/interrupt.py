"""Ctrl-C on a run: finish what is paid for, then stop; lose nothing."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Generator
from contextlib import contextmanager

from cuecard.cli.output import note
from cuecard.core.i18n import _
from cuecard.core.interrupts import EXIT_INTERRUPTED
from cuecard.core.run import RunControl

__all__ = ["EXIT_INTERRUPTED", "stopping"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopping(control: RunControl) -> Generator[None]:
    """While the block runs, on a running loop, the first Ctrl-C (or SIGTERM) stops the run: calls under
    way get some seconds to be finished and recorded. The second cancels it where it stands, the third ends
    the task.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def stop() -> None:
        if control.seconds_left is None:
            told = _(
                "Finishing the calls under way, for {n} seconds at most; press Ctrl-C again to stop"
                " at once."
            )
            note(told.format(n=f"{control.grace:g}"))
            control.drain()
        elif not control.cancelled:
            control.cancel()
        elif task:
            task.cancel()

    caught: list[signal.Signals] = []
    for number in _SIGNALS:
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:
            # Windows: there asyncio cancels the task by itself, which leaves trials open as well.
            break
        caught.append(number)
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)

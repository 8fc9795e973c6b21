"""Ctrl-C on a run: stop where it stands, lose nothing."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Generator
from contextlib import contextmanager

from cuecard.cli.output import note
from cuecard.core.i18n import _
from cuecard.core.run import RunControl

EXIT_INTERRUPTED = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopping(control: RunControl) -> Generator[None]:
    """While the block runs, on a running loop, the first Ctrl-C (or SIGTERM) cancels the run and the
    second one the task.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def stop() -> None:
        if not control.cancelled:
            note(_("Stopping; press Ctrl-C again to stop at once."))
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

"""Ctrl-C where nothing can be made of it: while modules are imported, and when all is done."""

from __future__ import annotations

import os
import signal
from types import FrameType

EXIT_INTERRUPTED = 130
"""What shells expect of a command that was interrupted."""


def leave_quietly() -> None:
    """From here on Ctrl-C ends the process at once and without a word: nothing is open that it could harm. Where
    somebody ignores or handles it, nothing changes.
    """
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, _interrupt):
        signal.signal(signal.SIGINT, _leave)


def raise_again() -> None:
    """From here on Ctrl-C raises KeyboardInterrupt again, for those who have something to finish; amid an import only
    once that is done, because what imports may print it, forget it or take it for an error of its own (as pydantic's
    classes do).
    """
    import threading  # now, rather than amid another import

    del threading
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, _interrupt)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    os._exit(EXIT_INTERRUPTED)


def _interrupt(_signal: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            import _thread
            import threading

            again = threading.Timer(0.005, _thread.interrupt_main)
            again.daemon = True
            again.start()
            return
        frame = frame.f_back
    raise KeyboardInterrupt

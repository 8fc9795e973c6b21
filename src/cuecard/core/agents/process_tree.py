"""Runs programs that are ended together with all processes they started, even if this process is killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from cuecard.core.secrets import guard, handed_on

GRACE_S: Final = 2.0
_POLL_S = 0.02
_MARK = "CUECARD_TREE"
_PASSED: Final = ("PATH", "HOME", "TERM", "LANG", "LANGUAGE")


def environment(pass_env: Sequence[str]) -> dict[str, str]:
    """The environment of a harness: PATH, HOME, TERM and the locale of this process, and the variables in `pass_env`."""
    for name in pass_env:
        guard(name, *handed_on(os.environ.get(name, "").strip()))
    names = {*_PASSED, *pass_env, *(name for name in os.environ if name.startswith("LC_"))}
    return {name: os.environ[name] for name in names if name in os.environ}


class ProcessTree:
    """A running program with its descendants. It leads its own process group, and a mark in its environment finds
    descendants that have left the group. A watch, which is a process of its own, ends them if this process is killed.
    """

    def __init__(
        self, process: asyncio.subprocess.Process, mark: str, watch: asyncio.subprocess.Process
    ) -> None:
        self.process = process
        self._watch = watch
        self._mark = mark
        self._ending: asyncio.Task[None] | None = None

    @classmethod
    async def start(
        cls, command: Sequence[str], cwd: str, env: Mapping[str, str], limit: int
    ) -> ProcessTree:
        """Start a program; its standard streams are pipes. `limit`: bytes of the longest line to be read.

        Raises `OSError` if the program cannot be started.
        """
        mark = secrets.token_hex(16)
        # Before the tree, so that nothing of it is ever without a watch.
        watch = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-c", f"from {__name__} import watch; watch()", mark),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            cwd="/",
            env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,
        )
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=cwd,
                env={**env, _MARK: mark},
                limit=limit,
                start_new_session=True,
            )
        except BaseException:
            await _dismiss(watch)
            raise
        assert watch.stdin is not None
        watch.stdin.write(f"{process.pid}\n".encode())
        return cls(process, mark, watch)

    @property
    def alive(self) -> bool:
        return self.process.returncode is None

    async def end(self) -> None:
        """Ask the whole tree to stop, and kill what is left after `GRACE_S` seconds. Cancelling the caller does not
        interrupt this.
        """
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        for kill in (False, True):
            await asyncio.to_thread(_signal, self._mark, self.process.pid, kill=kill)
        await self.process.wait()
        await _dismiss(self._watch)


async def _dismiss(watch: asyncio.subprocess.Process) -> None:
    """End the watch: its tree has ended, or was never started."""
    with contextlib.suppress(ProcessLookupError):
        watch.kill()
    await watch.wait()


def watch() -> None:
    """End a tree when the process at the other end of the standard input is gone. Told the mark as an argument, and the
    process group as a line.
    """
    group = sys.stdin.readline()
    sys.stdin.read()
    for kill in (False, True):
        _signal(sys.argv[1], int(group or -1), kill=kill)


def _signal(mark: str, group: int, *, kill: bool) -> None:
    """Ask the processes of a tree to stop, or `kill` them, and wait for them, at most `GRACE_S` seconds."""
    psutil: Any = import_module("psutil")
    tree: list[Any] = []
    for process in psutil.process_iter(["environ"]):
        with contextlib.suppress(psutil.Error, OSError):
            environ: dict[str, str] = process.info["environ"] or {}
            if environ.get(_MARK) == mark or (
                os.name == "posix" and os.getpgid(process.pid) == group
            ):
                tree.append(process)
                process.kill() if kill else process.terminate()

    def lives(process: Any) -> bool:
        try:
            return bool(process.status() != psutil.STATUS_ZOMBIE)
        except psutil.Error:
            return False

    # `psutil.wait_procs` waits for zombies too, and takes from asyncio the exit status of the first.
    patience = time.monotonic() + GRACE_S
    while any(map(lives, tree)) and time.monotonic() < patience:
        time.sleep(_POLL_S)

"""Runs programs that are ended together with all processes they started, even if this process is killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from cuecard.core.errors import guard, handed_on

_SHELL: Final = "/bin/sh"
_WATCH: Final = """
read -r group
read -r done && exit 0
for signal in TERM KILL; do
  [ -n "$group" ] && kill -s $signal -- "-$group" 2>/dev/null
  for found in $(grep -lsF -- "$1" /proc/[0-9]*/environ 2>/dev/null); do
    id=${found#/proc/}
    kill -s $signal "${id%/environ}" 2>/dev/null
  done
  [ $signal = TERM ] && sleep 1
done
"""


class Watch:
    """A helper process that ends a process tree when this process is gone. Started before the tree, and told its process
    group later. Without a POSIX shell it does nothing.
    """

    def __init__(self, process: asyncio.subprocess.Process | None) -> None:
        self._process = process

    @classmethod
    async def start(cls, mark: str) -> Watch:
        """Start a watch. `mark`: the entry in the environment of all processes of the tree."""
        if not os.access(_SHELL, os.X_OK):
            return cls(None)
        process = await asyncio.create_subprocess_exec(
            *(_SHELL, "-c", _WATCH, "cuecard-watch", mark),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            cwd="/",
            env={"PATH": os.environ.get("PATH", os.defpath)},
            start_new_session=True,
        )
        return cls(process)

    def over(self, group: int) -> None:
        """Watch the tree with this process group."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(f"{group}\n".encode())

    async def end(self) -> None:
        """Stop watching: the tree has ended by itself, or was never started."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        with contextlib.suppress(ConnectionError):
            process.stdin.write(b"\ndone\n")
            await process.stdin.drain()
        process.stdin.close()
        await process.wait()


GRACE_S: Final = 2.0
_POLL_S = 0.05
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
    descendants that have left the group. A watch ends it if this process is killed.
    """

    def __init__(self, process: asyncio.subprocess.Process, mark: str, watch: Watch) -> None:
        self.process = process
        self._watch = watch
        self._mark = f"{_MARK}={mark}".encode()
        self._ending: asyncio.Task[None] | None = None

    @classmethod
    async def start(
        cls, command: Sequence[str], cwd: str, env: Mapping[str, str], limit: int
    ) -> ProcessTree:
        """Start a program; its standard streams are pipes. `limit`: bytes of the longest line to be read.

        Raises `OSError` if the program cannot be started.
        """
        mark = secrets.token_hex(16)
        watch = await Watch.start(f"{_MARK}={mark}")
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
            await watch.end()
            raise
        watch.over(process.pid)
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
        await self._signal(signal.SIGTERM)
        await self._settle()
        await self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        await self.process.wait()
        await self._settle()
        await self._watch.end()

    async def _settle(self) -> None:
        """Wait until nothing is left of the tree, at most `GRACE_S` seconds."""
        waited = 0.0
        while waited < GRACE_S and (self.alive or await self._left()):
            await asyncio.sleep(_POLL_S)
            waited += _POLL_S

    async def _signal(self, number: signal.Signals) -> None:
        left = await self._left()
        if os.name != "posix":
            if self.alive:
                self.process.terminate()
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    async def _left(self) -> list[int]:
        return await asyncio.to_thread(_marked, self._mark)


def _marked(mark: bytes) -> list[int]:
    """The ids of processes whose environment contains `mark`; none on systems that do not show environments."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue  # It ended, or is somebody else's.
    return found

"""A watch over a process tree that outlives this process: what it had started ends with it, even where it
was killed the hard way.

A shell waits on a pipe of which this process has the only other end. A line tells it the tree's process
group, a second one that all is done; if the pipe closes before that, it ends the group and whatever
carries the tree's mark in its environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import Final

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
    """Begun before the tree, and told of it when it runs. Without a POSIX shell it does nothing."""

    def __init__(self, process: asyncio.subprocess.Process | None) -> None:
        self._process = process

    @classmethod
    async def start(cls, mark: str) -> Watch:
        """`mark`: the entry in the environment of all processes of the tree."""
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
        """Watch the tree whose process group this is."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(f"{group}\n".encode())

    async def end(self) -> None:
        """The tree has ended by itself, or was never begun."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        with contextlib.suppress(ConnectionError):
            process.stdin.write(b"\ndone\n")
            await process.stdin.drain()
        process.stdin.close()
        await process.wait()

"""Programs of tests, forked from a process that has loaded the modules of Cuecard. Loading them takes most of the time of a
program that does little, and tests start more than a hundred.

The process that forks is one for each worker of the tests. It has loaded the modules and done nothing else: it has no thread, no
workspace and nothing of a test. What comes of it is a process of its own, with the streams, folder and environment that it is
given; it gets signals and is killed as any other. Tests of what happens while Python starts or modules load, or of which are
loaded, start Python itself.
"""

# What `subprocess` does to start a program and to wait for it has no public name.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, cast

from pydantic import BaseModel

_NUMBER = struct.Struct("=q")
_LARGEST = 150_000
"""Bytes of what is asked; nearly all of it is the environment."""
_LOADED = ("cuecard.core", "cuecard.store", "cuecard.annotate", "cuecard.tui.commands")
_PROGRAMS = ("__main__", "migrations")
"""What only works when it is run."""
_LATER = ("aiohttp", "numpy", "openai", "psycopg")
"""What verbs import when they need it."""


def run(
    command: Sequence[object], *, input: str | None = None, timeout: float = 120, **named: Any
) -> subprocess.CompletedProcess[Any]:
    """As `subprocess.run`, of a command whose first word is `sys.executable`."""
    if named.pop("capture_output", False):
        named |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if input is not None:
        named["stdin"] = subprocess.PIPE
    with Popen(command, **named) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


class Popen(subprocess.Popen[Any]):
    """As that of `subprocess`, of a command whose first word is `sys.executable`."""

    def __init__(self, command: Sequence[object], **named: Any) -> None:
        self._ending = -1
        super().__init__([str(word) for word in command], **named)

    def _execute_child(
        self, args: list[str], executable: Any, preexec_fn: Any, close_fds: Any, pass_fds: Any, cwd: Any,
        env: Mapping[str, str] | None, startupinfo: Any, creationflags: Any, shell: Any, p2cread: int, p2cwrite: int,
        c2pread: int, c2pwrite: int, errread: int, errwrite: int, *more: Any,
    ) -> None:  # fmt: skip
        if args[0] != sys.executable or pass_fds or shell:
            raise ValueError(args)
        asked = {
            "words": args[1:],
            "folder": str(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
        }
        given = [own if own >= 0 else n for n, own in enumerate((p2cread, c2pwrite, errwrite))]
        self._ending, told = os.pipe()
        try:
            socket.send_fds(_forking(), [json.dumps(asked).encode()], [*given, told])
        finally:
            os.close(told)
            cast(Any, self)._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)
        (self.pid,) = _NUMBER.unpack(os.read(self._ending, _NUMBER.size))
        self._child_created = True

    def _internal_poll(self, _deadstate: int | None = None) -> int | None:
        if self.returncode is None and cast(Any, self)._waitpid_lock.acquire(blocking=False):
            try:
                self._look(0)
            finally:
                cast(Any, self)._waitpid_lock.release()
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        with cast(Any, self)._waitpid_lock:
            if not self._look(timeout):
                assert timeout is not None
                raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode

    def _look(self, timeout: float | None) -> bool:
        """Whether it has ended, within so many seconds."""
        if self.returncode is None and select.select([self._ending], [], [], timeout)[0]:
            (status,) = _NUMBER.unpack(os.read(self._ending, _NUMBER.size))
            os.close(self._ending)
            self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode is not None


@functools.cache
def _forking() -> socket.socket:
    """Where the process is asked. It ends when nobody is left who could ask."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
            env={
                name: value for name, value in os.environ.items() if not name.startswith("CUECARD_")
            },
        )
    atexit.register(lambda: (ours.close(), process.wait()))
    return ours


@functools.cache
def modules() -> list[str]:
    """All of Cuecard but its screens, and what that imports when it needs it."""
    found = [*_LATER, *_LOADED]
    for name in _LOADED:
        path = importlib.import_module(name).__path__
        found += [module.name for module in pkgutil.walk_packages(path, f"{name}.")]
    return [name for name in found if not {*_PROGRAMS} & {*name.split(".")}]


def _loaded() -> None:
    for name in modules():
        importlib.import_module(name)
    for model in _below(BaseModel):
        model.model_rebuild()
    if threading.active_count() > 1:
        raise RuntimeError("a module began a thread, which a fork would not have")


def _below(kind: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


def _asked(asks: socket.socket) -> list[str]:
    """Fork whenever somebody asks. Comes back in what was forked, with the words after `python`."""
    watching: list[int] = []
    while True:
        data, fds, *_more = socket.recv_fds(asks, _LARGEST, 4)
        watching = [one for one in watching if not os.waitpid(one, os.WNOHANG)[0]]
        if not data:
            os._exit(0)
        if keeper := os.fork():
            watching.append(keeper)
        else:
            asks.close()
            if program := os.fork():
                _watched(program, fds)
            os.close(fds.pop())
            return _begun(json.loads(data), fds)
        for fd in fds:
            os.close(fd)


def _watched(program: int, fds: list[int]) -> None:
    """Tell which process it is, and how it ended."""
    told = fds.pop()
    for fd in (*fds, 0, 1, 2):
        os.close(fd)
    os.write(told, _NUMBER.pack(program))
    _pid, status = os.waitpid(program, 0)
    try:
        os.write(told, _NUMBER.pack(status))
    finally:
        os._exit(0)


def _begun(asked: dict[str, Any], fds: list[int]) -> list[str]:
    """What a process that begins is given."""
    for at, fd in enumerate(fds):
        os.dup2(fd, at)
        os.close(fd)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    time.tzset()
    sys.stdin = sys.__stdin__ = _stream(0, "surrogateescape")
    sys.stdout = sys.__stdout__ = _stream(1, "surrogateescape")
    sys.stderr = sys.__stderr__ = _stream(2, "backslashreplace")
    # As Python does when it starts; what is installed there is found by it.
    sys.path[1:1] = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    gc.enable()
    return asked["words"]


def _stream(fd: int, errors: str) -> IO[str]:
    by_line = fd == 2 or os.isatty(fd)
    return open(
        fd, "w" if fd else "r", buffering=1 if by_line else -1, encoding="utf-8", errors=errors, closefd=False
    )  # fmt: skip


def main() -> None:
    gc.disable()
    _loaded()
    gc.freeze()
    words = _asked(socket.socket(fileno=int(sys.argv[1])))
    if words[0] == "-c":
        sys.argv = ["-c", *words[2:]]
        exec(compile(words[1], "<string>", "exec"), sys.modules["__main__"].__dict__)
    elif words[0] == "-m":
        sys.argv = words[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        sys.path[0] = str(Path(words[0]).parent)
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main()

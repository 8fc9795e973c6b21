"""A person at the app: it runs in a pseudo-terminal of its own, with a line to it that says where it is; and what a terminal
sends for each key.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import shutil
import signal
import socket
import struct
import sys
import tempfile
import termios
import time
import traceback
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SIZE = (120, 40)
PATIENCE = 60.0
NAMED = {
    "enter": "\r", "tab": "\t", "shift+tab": "\x1b[Z", "escape": "\x1b[27u", "space": " ",
    "backspace": "\x7f", "delete": "\x1b[3~", "up": "\x1b[A", "down": "\x1b[B",
    "right": "\x1b[C", "left": "\x1b[D", "home": "\x1b[H", "end": "\x1b[F",
    "pageup": "\x1b[5~", "pagedown": "\x1b[6~", "question_mark": "?", "slash": "/",
    "plus": "+", "minus": "-", "full_stop": ".", "comma": ",", "colon": ":",
    "left_square_bracket": "[", "right_square_bracket": "]", "left_parenthesis": "(",
    "right_parenthesis": ")", "less_than_sign": "<", "greater_than_sign": ">",
    "equals_sign": "=", "exclamation_mark": "!", "asterisk": "*", "number_sign": "#",
    "quotation_mark": '"', "apostrophe": "'", "semicolon": ";", "underscore": "_",
}  # fmt: skip
FUNCTION = {
    **{n: f"\x1bO{'PQRS'[n - 1]}" for n in range(1, 5)},
    **dict(zip(range(5, 13), (f"\x1b[{n}~" for n in (15, 17, 18, 19, 20, 21, 23, 24)), strict=True)),
}  # fmt: skip
ARROWS = {"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}
MODIFIERS = {"shift": 1, "alt": 2, "ctrl": 4}


def encoded(key: str) -> str | None:
    """What a terminal sends for a key; None where this does not know it."""
    *held, name = key.split("+")
    if not held:
        if name in NAMED:
            return NAMED[name]
        if len(name) == 1:
            return name
        if name[:1] == "f" and name[1:].isdigit():
            return FUNCTION.get(int(name[1:]))
        return name.upper() if name.startswith("upper_") else None
    if key in NAMED:
        return NAMED[key]
    number = 1 + sum(MODIFIERS[one] for one in held)
    if name in ARROWS:
        return f"\x1b[1;{number}{ARROWS[name]}"
    if name in ("pageup", "pagedown"):
        return f"\x1b[{5 if name == 'pageup' else 6};{number}~"
    if held == ["ctrl"] and len(name) == 1 and name.isalpha():
        return chr(ord(name) - 96)
    if held == ["alt"] and len(name) == 1:
        return f"\x1b{name}"
    code = {"enter": 13, "tab": 9}.get(name, ord(name) if len(name) == 1 else 0)
    return f"\x1b[{code};{number}u" if code else None


@dataclass(frozen=True)
class Place:
    """A scene, the keys that lead on from it, and the key that is tried there."""

    scene: str
    path: tuple[str, ...]
    key: str

    def __str__(self) -> str:
        return " ".join([self.scene, *self.path, f"[{self.key}]"])


class Person:
    """An app of one's own in a pseudo-terminal, and the line to it."""

    def __init__(self, database: Path) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="sieve-"))
        shutil.copy(database, self._home / "w.db")
        self._line, theirs = socket.socketpair()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            self._be(theirs)
        theirs.close()
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
        self._line.send(b"!")
        self.heard = 0

    def _be(self, line: socket.socket) -> None:
        code = 1
        try:
            line.recv(1)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.environ |= {
                "HOME": str(self._home), "XDG_CONFIG_HOME": str(self._home / ".config"),
                "XDG_STATE_HOME": str(self._home / ".state"), "TERM": "xterm-256color",
                "COLORTERM": "truecolor", "LANG": "en_GB.UTF-8",
            }  # fmt: skip
            os.chdir(self._home)
            import keys_sieve_program

            # The copy of the driver that a fork is must not speak on the driver's standard streams.
            sys.__stdin__, sys.__stdout__, sys.__stderr__ = open(0), open(1, "w"), open(1, "w")  # noqa: SIM115
            sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
            keys_sieve_program.run(self._home / "w.db", line.detach())
            code = 0
        except BaseException:  # noqa: BLE001 - told, then gone
            (self._home / "died").write_text(traceback.format_exc())
        finally:
            os._exit(code)

    def __enter__(self) -> Person:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._fd)
        self._line.close()
        shutil.rmtree(self._home, ignore_errors=True)

    def ask(self, **asked: Any) -> dict[str, Any]:
        """What the app says once it is quiet. Raises `RuntimeError`."""
        self._line.sendall(json.dumps({"heard": self.heard, **asked}).encode() + b"\n")
        answer, deadline = b"", time.monotonic() + PATIENCE
        while not answer.endswith(b"\n"):
            ready, _, _ = select.select([self._fd, self._line], [], [], 1.0)
            if self._fd in ready:
                with suppress(OSError):
                    os.read(self._fd, 1 << 20)
            if self._line in ready:
                piece = b""
                with suppress(OSError):
                    piece = self._line.recv(1 << 20)
                if not piece:
                    raise RuntimeError(self._why())
                answer += piece
            if time.monotonic() > deadline:
                raise RuntimeError("no answer")
        found = json.loads(answer)
        if "error" in found:
            raise RuntimeError(found["error"])
        return found

    def _why(self) -> str:
        died = self._home / "died"
        return died.read_text()[-600:] if died.exists() else "the app ended"

    def write(self, keys: Iterable[str], events: int) -> None:
        os.write(self._fd, "".join(encoded(key) or "" for key in keys).encode())
        self.heard += events

    def paste(self, text: str) -> None:
        os.write(self._fd, f"\x1b[200~{text}\x1b[201~".encode())
        self.heard += 1

    def rest(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            ready, _, _ = select.select([self._fd], [], [], left)
            if ready:
                with suppress(OSError):
                    os.read(self._fd, 1 << 20)

    def go(self, place: Place) -> dict[str, Any]:
        """To where the key is tried, patiently."""
        now = self.ask(scene=place.scene)
        for key in place.path:
            self.write([key], 1)
            now = self.ask()
        return self.ask(forget=True) if now else now

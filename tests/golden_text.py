"""What a command line printed and wrote as text that is equal on every machine: see tests/tui/commands/test_goldens.py."""

from __future__ import annotations

import gzip
import hashlib
import io
import platform
import re
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cuecard import __version__

FOLDER = Path(__file__).parent / "goldens"
CLIP = 30_000
"""Of what is longer, the beginning is kept, and a hash of all of it."""

# Each begins with what it is found by, and looks back from there: a search for what begins with looking back tries every place.
_FLOAT = re.compile(
    r"[-\d](?<![\w.].)(?:(?<=\d)\d*|(?<=-)\d+)\.\d+(?:[eE][-+]?\d+)?(?![\w.])", re.S
)
_INSPECT = re.compile(r"_[0-9A-Za-z]{22}\.eval\b")
_VERSION = re.compile(rf"{re.escape(__version__)}(?<![\w.]{re.escape(__version__)})(?![\w.])")
_DIGITS = 10
_NOUGHT = 1e-12


@dataclass(frozen=True)
class Case:
    """`calls`: command lines without the program, one after the other in one folder, and
    behind ` <<< ` what is typed into them, lines between ` / `. `files`: what lies there before.
    `language`: of the texts. `empty`: without the seeded workspace. `machine`: what is told of this machine is left out.
    """

    name: str
    calls: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict)
    language: str = "en"
    empty: bool = False
    machine: bool = False

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.txt"


@dataclass(frozen=True)
class Called:
    words: str
    code: int
    out: str
    err: str


def transcript(case: Case, calls: Sequence[Called], folder: Path) -> str:
    """All calls and the files in `folder` that are not the case's, or are other now."""
    parts: list[str] = []
    for call in calls:
        parts.append(f"$ cuecard {call.words}\nexit {call.code}\n")
        for name, text in (("stdout", call.out), ("stderr", call.err)):
            if text:
                text = masked(text, folder)
                parts.append(_section(name, _without_machine(text) if case.machine else text))
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = str(path.relative_to(folder))
        if ".db" in name:
            continue
        body = path.read_bytes()
        if case.files.get(name) == body.decode("utf-8", "ignore"):
            continue
        parts.append(_section(f"file {_file_name(name)}", masked(readable(body), folder)))
    return "\n".join(parts)


def readable(body: bytes) -> str:
    """What a file holds, unpacked."""
    if body.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(body)) as packed:
            entries = [f"{name}\n{packed.read(name).decode()}\n" for name in packed.namelist()]
        return "".join(entries)
    if body.startswith(b"\x1f\x8b"):
        body = gzip.decompress(body)
    return body.decode("utf-8", "backslashreplace").replace("\ufeff", "\\ufeff")


def masked(text: str, folder: Path) -> str:
    text = text.replace(str(folder), "<here>").replace(str(folder.parent), "<above>")
    text = text.replace("\r", "\\r").replace("\x1b", "\\e")
    text = _FLOAT.sub(_rounded, text)
    text = _VERSION.sub("<version>", text)
    text = text.replace(platform.python_version(), "<python>")
    # What was played tells the version.
    text = re.sub(r'("table": "[a-z]+",\s+"rows": \d+,\s+"hash": ")\w+', r"\1<hash>", text)
    # How large a pack is depends on the library that packs.
    text = re.sub(r'("size": )\d+', r"\1<size>", text)
    text = re.sub(r"\([\d,.]+ K?B\)", "(<size>)", text)
    return re.sub(r"（[\d,.]+ K?B）", "（<size>）", _INSPECT.sub("_<id>.eval", text))


def _without_machine(text: str) -> str:
    """Where Python is, and the versions of packages, by which the columns of a table are wider or narrower."""
    text = text.replace(sys.executable, "<program>")
    text = re.sub(r"\b\d+\.\d[\w.+]*", "<version>", text)
    return re.sub(r"─+", "──", re.sub(r"(?<=\S) +(?=\n)|(?<=\S) {2,}", "  ", text))


def _rounded(found: re.Match[str]) -> str:
    """Processors differ in the last digits of a float; what has fewer digits was rounded by us and stays."""
    text = found[0]
    if len(text) <= _DIGITS:
        return text
    digits = re.sub(r"[eE].*|[-.]", "", text).lstrip("0")
    if len(digits) <= _DIGITS:
        return text
    value = float(text)
    return "0.0" if abs(value) < _NOUGHT else f"{value:.{_DIGITS}g}"


def _file_name(name: str) -> str:
    return _INSPECT.sub("_<id>.eval", name)


def _section(name: str, text: str) -> str:
    if len(text) > CLIP:
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        text = f"{text[:CLIP]}\n… {len(text)} characters in all, sha256 {digest}\n"
    ending = "" if text.endswith("\n") else "\n(no end of line)\n"
    return f"--- {name}\n{text}{ending}"

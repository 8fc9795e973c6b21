"""Paths as a person types them, and what they could go on with."""

import os
from dataclasses import dataclass
from pathlib import Path

_MOST_LOOKED_AT = 5000
_BESIDE = ("-shm", "-wal", "-journal")


@dataclass(frozen=True)
class Completion:
    """`text`: what was typed with all that can follow from it. `names`: what it could go on with,
    folders ending in a slash.
    """

    text: str
    names: tuple[str, ...] = ()


def path_of(text: str) -> Path:
    """The path that a person means by what they typed."""
    return Path(text.strip()).expanduser()


def complete(text: str, *, folders: bool = False) -> Completion:
    """What is in the folder that was typed so far and begins as typed; with `folders` folders only.
    Hidden things show when their dot is typed, what SQLite keeps beside a workspace when it is typed itself.
    """
    head, separator, start = text.rpartition("/")
    folder = path_of(head + separator) if head or separator else Path()
    names: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry, _count in zip(entries, range(_MOST_LOOKED_AT), strict=False):
                if not entry.name.startswith(start) or (entry.name[0] == "." and not start):
                    continue
                if entry.name.endswith(_BESIDE) and "-" not in start:
                    continue
                if _is_folder(entry):
                    names.append(f"{entry.name}/")
                elif not folders:
                    names.append(entry.name)
    except (OSError, ValueError, RuntimeError):
        # Not there, not readable, or no path at all: nothing can be said of it.
        return Completion(text)
    names.sort()
    return Completion(head + separator + (_shared(names) or start), tuple(names))


def _shared(names: list[str]) -> str:
    """What sorted names begin with: what the first and the last do."""
    if not names:
        return ""
    first, last = names[0], names[-1]
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False

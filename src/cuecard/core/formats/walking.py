"""Which files of a folder are meant, and what stands in the way of looking."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from cuecard.core.errors import FileProblem

_MAX_FOLDERS = 100_000


@dataclass(frozen=True)
class Found:
    """Files in the order of their paths, and a problem of each place that could not be looked at."""

    files: tuple[Path, ...] = ()
    problems: tuple[FileProblem, ...] = ()


def find_files(
    path: Path, suffixes: Sequence[str], *, patterns: Sequence[str] = (), deep: bool = False
) -> Found:
    """`path` itself, or the files with one of `suffixes` (lower case) in that folder, with `deep`
    below it too: those that fit the first of `patterns` that any fits, else all. Links to folders
    are not followed.
    """
    if not path.is_dir():
        return Found((path,))
    found: list[Path] = []
    problems: list[FileProblem] = []
    waiting = [path]
    looked = 0
    while waiting and looked < _MAX_FOLDERS:
        looked += 1
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    _sort(entry, folder, suffixes, found, waiting, problems)
        except OSError as error:
            problems.append(FileProblem(str(folder), "", error.strerror or str(error)))
        if not deep:
            break
    for pattern in patterns:
        fitting = [file for file in found if fnmatchcase(file.name, pattern)]
        if fitting:
            found = fitting
            break
    return Found(tuple(sorted(found)), tuple(sorted(problems, key=lambda p: p.file)))


def _sort(
    entry: os.DirEntry[str],
    folder: Path,
    suffixes: Sequence[str],
    found: list[Path],
    waiting: list[Path],
    problems: list[FileProblem],
) -> None:
    place = folder / entry.name
    if entry.is_dir(follow_symlinks=False):
        waiting.append(place)
    elif place.suffix.lower() in suffixes:
        try:
            mode = place.stat().st_mode
        except OSError as error:
            problems.append(FileProblem(str(place), "", error.strerror or str(error)))
        else:
            # Not a pipe or a device: reading one may never end.
            if stat.S_ISREG(mode):
                found.append(place)

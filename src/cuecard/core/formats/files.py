"""Files of any format: finds them in a folder, reads them as single JSON objects, and names them on export."""

import hashlib
import json
import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from cuecard.core.errors import FileProblem, system_words
from cuecard.core.i18n import N_, _, listed
from cuecard.core.system import CONFIG_NAME, replace_file, write_text
from cuecard.core.tasks.base import DEVICES

_MAX_FOLDERS = 100_000


@dataclass(frozen=True)
class FilesResult:
    """Files in the order of their paths, and a problem for each place that could not be read."""

    files: tuple[Path, ...] = ()
    problems: tuple[FileProblem, ...] = ()


def find_files(
    path: Path, suffixes: Sequence[str], *, patterns: Sequence[str] = (), deep: bool = False
) -> FilesResult:
    """`path` itself if it is a file; of a folder, the files with one of `suffixes` (lower case), with `deep` also in
    subfolders: those that match the first of `patterns` that any file matches, else all. Links to folders are not
    followed, and a configuration is none of what is looked for.
    """
    if not path.is_dir():
        return FilesResult((path,))
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
            problems.append(FileProblem(str(folder), "", system_words(error)))
        if not deep:
            break
    for pattern in patterns:
        fitting = [file for file in found if fnmatchcase(file.name, pattern)]
        if fitting:
            found = fitting
            break
    return FilesResult(tuple(sorted(found)), tuple(sorted(problems, key=lambda p: p.file)))


def files_among(
    paths: Sequence[Path], suffixes: Sequence[str], nothing: str
) -> tuple[list[Path], list[FileProblem]]:
    """The files of `paths` and of the folders among them, each once. `nothing`: what is wrong with a folder without any."""
    files: list[Path] = []
    problems: list[FileProblem] = []
    for path in paths:
        found = find_files(path, suffixes)
        problems += found.problems
        if not found.files and not found.problems:
            problems.append(FileProblem(str(path), "", nothing))
        files += found.files
    return list(dict.fromkeys(files)), problems


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
    elif place.suffix.lower() in suffixes and place.name != CONFIG_NAME:
        try:
            mode = place.stat().st_mode
        except OSError as error:
            problems.append(FileProblem(str(place), "", system_words(error)))
        else:
            # No pipes or devices, since reading them may never end.
            if stat.S_ISREG(mode):
                found.append(place)


Obj = dict[str, Any]

_MAX_JSON_BYTES = 256 * 1024 * 1024
_MAX_LINE_BYTES = 64 * 1024 * 1024
_MAX_DEPTH = 60
_MAX_DIGITS = 1000
SUFFIXES = (".json", ".jsonl")


@dataclass(frozen=True)
class Entry:
    """One object of one file. `place` is empty when the file holds just this one."""

    path: Path
    data: Obj
    place: str = ""
    line: int | None = None

    def problem(self, place: str, reason: str) -> FileProblem:
        where = listed(filter(None, (self.place, place)))
        return FileProblem(str(self.path), where, reason, self.line)


def read_objects(path: Path, patterns: Sequence[str] = ()) -> Iterator[Entry | FileProblem]:
    """Every object below `path`: a `.json` file (an object, or a list of them), a `.jsonl` file, or
    a folder of such files; of a folder, the files of the first of `patterns` that matches any.
    """
    found = find_files(path, SUFFIXES, patterns=patterns)
    yield from found.problems
    if not found.files and not found.problems:
        yield FileProblem(str(path), "", _("holds no JSON or JSON-lines files"))
    for file in found.files:
        yield from read_file(file)


def read_file(file: Path) -> Iterator[Entry | FileProblem]:
    """Every object of one file."""
    try:
        yield from _objects(file)
    except OSError as error:
        yield FileProblem(str(file), "", system_words(error))


def first_objects(path: Path, limit: int = 20) -> Iterator[Obj]:
    """The first readable object of each of the first files below `path`, for telling what they are."""
    for file in find_files(path, SUFFIXES, patterns=("task_*.json*", "*.jsonl")).files[:limit]:
        found = next((e for e in read_file(file) if isinstance(e, Entry)), None)
        if found is not None:
            yield found.data


def write_json(path: Path, data: Obj) -> Path:
    return write_text(path, json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def write_lines(path: Path, objects: Iterable[Obj]) -> Path:
    return write_text(path, "".join(json.dumps(o, ensure_ascii=False) + "\n" for o in objects))


JSON_WORDS = (
    N_("Expecting value"), N_("Expecting property name enclosed in double quotes"), N_("Expecting ',' delimiter"),
    N_("Expecting ':' delimiter"), N_("Unterminated string starting at"), N_("Invalid control character at"),
    N_("Invalid \\escape"), N_("Extra data"),
)  # fmt: skip
"""What Python says most often of text that is no JSON."""


def parse_json(text: str) -> object:
    """JSON without NaN and infinities. Raises `ValueError` with a reason for a person."""
    try:
        value = cast(
            object,
            json.loads(
                text, parse_constant=_no_constant, parse_int=_whole, object_pairs_hook=_no_doubles
            ),
        )
        too_deep = _too_deep(value, 0)
    except json.JSONDecodeError as error:
        reason = (
            _("is not JSON: {error} (line {line}, column {column})")
            if text.strip()
            else _("is empty")
        )
        raise ValueError(
            reason.format(error=_(error.msg), line=error.lineno, column=error.colno)
        ) from error
    except RecursionError as error:
        raise ValueError(_("is nested too deeply")) from error
    if too_deep:
        raise ValueError(_("is nested too deeply"))
    return value


def _no_constant(name: str) -> object:
    raise ValueError(_("holds {name}, which is not JSON").format(name=name))


def _whole(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ValueError(_("holds a number of more than {n} digits").format(n=_MAX_DIGITS))
    return int(text)


def _no_doubles(pairs: list[tuple[str, Any]]) -> Obj:
    """Refuses objects with two fields of the same name, of which a plain parser would silently drop the first."""
    obj = dict(pairs)
    if len(obj) != len(pairs):
        names = [name for name, _value in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise ValueError(_("the field {name!r} stands here twice").format(name=double))
    return obj


def _too_deep(value: object, depth: int) -> bool:
    if depth > _MAX_DEPTH:
        return True
    if isinstance(value, dict):
        return any(_too_deep(v, depth + 1) for v in cast(Obj, value).values())
    if isinstance(value, list):
        return any(_too_deep(v, depth + 1) for v in cast(list[object], value))
    return False


def _objects(path: Path) -> Iterator[Entry | FileProblem]:
    if path.suffix.lower() == ".jsonl":
        yield from _lines(path)
        return
    if path.stat().st_size > _MAX_JSON_BYTES:
        yield FileProblem(str(path), "", _("is larger than 256 MB; write it as JSON lines"))
        return
    try:
        value = parse_json(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError:
        yield FileProblem(str(path), "", _("is not UTF-8 text; save it as UTF-8"))
    except ValueError as error:
        if _looks_like_lines(path):
            yield from _lines(path)
        else:
            yield FileProblem(str(path), "", str(error))
    else:
        if isinstance(value, list):
            for index, item in enumerate(cast(list[object], value)):
                yield _entry(path, item, f"[{index}]", None)
        else:
            yield _entry(path, value, "", None)


def _looks_like_lines(path: Path) -> bool:
    """Some programs write JSON lines into files named `.json`."""
    entries = (e for e in _lines(path))
    return isinstance(next(entries, None), Entry) and isinstance(next(entries, None), Entry)


def _lines(path: Path) -> Iterator[Entry | FileProblem]:
    empty = True
    with path.open("rb") as file:
        for number, raw in enumerate(iter(lambda: file.readline(_MAX_LINE_BYTES), b""), start=1):
            if number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")
            if not raw.strip():
                continue
            empty = False
            place = _("line {line}").format(line=number)
            if len(raw) >= _MAX_LINE_BYTES:
                # What follows is the rest of it, or cannot be told from it.
                yield FileProblem(str(path), place, _("is longer than 64 MB"), number)
                return
            try:
                yield _entry(path, parse_json(raw.decode("utf-8")), place, number)
            except UnicodeDecodeError:
                yield FileProblem(
                    str(path), place, _("is not UTF-8 text; save it as UTF-8"), number
                )
            except ValueError as error:
                yield FileProblem(str(path), place, str(error), number)
    if empty:
        yield FileProblem(str(path), "", _("is empty"))


def _entry(path: Path, value: object, place: str, line: int | None) -> Entry | FileProblem:
    if isinstance(value, dict):
        return Entry(path, cast(Obj, value), place, line)
    return FileProblem(str(path), place, _("must be an object with named fields"), line)


_MAX_BYTES = 200
_UNSAFE = re.compile(r"[^\w.\- ]")


def file_names(ids: Sequence[str], suffix: str, prefix: str = "") -> list[str]:
    """`{prefix}{id}{suffix}` for each id (the prefix not twice). If that is too long, or differs from an earlier name only
    by case or Unicode composition, a hash of the id is added.
    """
    taken: set[str] = set()
    names: list[str] = []
    for id_ in ids:
        stem = id_ if id_.startswith(prefix) else f"{prefix}{id_}"
        plain = unicodedata.normalize("NFC", stem).casefold()
        if len(stem.encode()) > _MAX_BYTES:
            stem = f"{stem.encode()[:_MAX_BYTES].decode(errors='ignore')}~{_mark(id_)}"
        elif plain in taken or plain.partition(".")[0] in DEVICES:
            stem = f"{stem}~{_mark(id_)}"
        taken.add(plain)
        names.append(f"{stem}{suffix}")
    return names


def folder_names(names: Sequence[str]) -> list[str]:
    """A folder for each of these names, which may hold anything: letters, digits and `.-_ ` are kept, and where
    that changes a name, or two of them would be confused, something is added that follows from the name.
    """
    plain = [_UNSAFE.sub("_", name).strip(" .") for name in names]
    marked = [
        stem if stem == name else f"{stem or '_'}~{_mark(name)}"
        for stem, name in zip(plain, names, strict=True)
    ]
    return file_names(marked, "")


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


_COMMENTS = {
    (".yaml", ".yml", ".ttl"): "# {}\n",
    (".graphml", ".xml", ".md", ".html"): "<!-- {} -->\n",
    (".tex",): "% {}\n",
}


def mark(path: Path, canary: str) -> bool:
    """Put a comment with a canary at the head of a text file (behind an XML declaration). False, and nothing is done,
    where its kind has no comments.
    """
    form = next((form for suffixes, form in _COMMENTS.items() if path.suffix in suffixes), "")
    if not form:
        return False
    said = f"Benchmark data: not for training, nor to be published in plain text. canary {canary}"
    text = path.read_text(encoding="utf-8")
    head = text[: text.index("?>") + 2] + "\n" if text.startswith("<?xml") else ""
    replace_file(path, (head + form.format(said) + text[len(head) :].lstrip("\n")).encode())
    return True

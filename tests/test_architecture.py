"""docs/architecture.md says of the rooms and their arrows what the imports at the top of modules say."""

from __future__ import annotations

import ast
import fnmatch
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "cuecard"
PAGE = ROOT / "docs" / "architecture.md"
UP = "↑"
OUTSIDE = {"__init__.py", "__main__.py"}
"""The package itself and its console script stand in no room."""


@dataclass(frozen=True)
class Room:
    """A line of the page's tables."""

    name: str
    patterns: tuple[str, ...]
    """Files and folders: `core/llm`, `tui/*.py`, `core/families/*/gold.py`."""
    uses: tuple[str, ...]

    @property
    def package(self) -> str:
        return self.patterns[0].split("/")[0]


@dataclass(frozen=True)
class Page:
    rooms: tuple[Room, ...]
    floors: tuple[tuple[str, ...], ...]
    """The drawing, top to bottom."""
    packages: dict[str, tuple[str, ...]]


@cache
def page() -> Page:
    text = PAGE.read_text(encoding="utf-8")
    drawing, between = re.findall(r"^```\n(.*?)^```", text, re.S | re.M)[:2]
    floors = tuple(tuple(line[13:].split(" · ")) for line in drawing.splitlines())
    packages = {
        name: tuple(filter(None, below.strip().split(", ")))
        for name, below in re.findall(r"^(\w+) +--> ((?:\w+(?:, )?)*) {2}", between, re.M)
    }
    rooms = [
        Room(
            name,
            tuple(re.findall(r"`([^`]+)`", files)),
            tuple(filter(None, uses.strip().split(", "))),
        )
        for name, files, uses in re.findall(
            r"^\| \*\*(\w+)\*\* (.*?) \| .*? \|(.*) \|$", text, re.M
        )
    ]
    return Page(tuple(rooms), floors, packages)


def matches(module: str, pattern: str) -> bool:
    """Whether a file (`core/engine/run.py`) is one that a pattern names, itself or by a folder above it."""
    wanted, parts = pattern.split("/"), module.split("/")
    return len(wanted) <= len(parts) and all(map(fnmatch.fnmatch, parts, wanted))


@cache
def room_of(module: str) -> Room | None:
    """The room whose pattern for this file is the longest."""
    found = [
        (len(pattern), room)
        for room in page().rooms
        for pattern in room.patterns
        if matches(module, pattern)
    ]
    return max(found, key=lambda each: each[0])[1] if found else None


def modules() -> list[str]:
    files = (path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))
    return sorted(set(files) - OUTSIDE)


def file_of(dotted: str) -> str | None:
    """The file of `cuecard.core.text` as the page names files; nothing for a name that is no module."""
    place = Path(*dotted.split(".")[1:])
    files = (f"{place.as_posix()}.py", f"{place.as_posix()}/__init__.py")
    return next((file for file in files if (SOURCE / file).is_file()), None)


def imports_of(module: str) -> Iterator[str]:
    """The files that a module imports outside of its functions, those for the type checker included."""
    todo = list(ast.parse((SOURCE / module).read_text(encoding="utf-8")).body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If | ast.Try):
            todo += [*node.body, *node.orelse]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cuecard"):
            for alias in node.names:
                found = file_of(f"{node.module}.{alias.name}") or file_of(str(node.module))
                if found is not None:
                    yield found


@cache
def arrows() -> dict[tuple[Room, Room], str]:
    """Which room imports which, with one module that does."""
    found: dict[tuple[Room, Room], str] = {}
    for module in modules():
        ours = room_of(module)
        for other in imports_of(module):
            theirs = room_of(other)
            if ours is not None and theirs is not None and ours != theirs:
                found.setdefault((ours, theirs), f"{module} imports {other}")
    return found


def floor(room: Room) -> int:
    """The height of a room in the drawing, 0 at the top."""
    return next(number for number, names in enumerate(page().floors) if room.name in names)


def test_every_module_stands_in_a_room() -> None:
    homeless = [module for module in modules() if room_of(module) is None]
    assert not homeless, f"docs/architecture.md names no room for {homeless}"


def test_every_name_in_the_tables_is_of_a_module() -> None:
    files = modules()
    idle = [
        pattern
        for room in page().rooms
        for pattern in room.patterns
        if not any(matches(module, pattern) for module in files)
    ]
    assert not idle, f"no module is called {idle}"


def test_rooms_stand_in_their_package_and_once_in_the_drawing() -> None:
    names = [room.name for room in page().rooms]
    assert sorted(names) == sorted(name for floor in page().floors for name in floor)
    assert len(names) == len(set(names))
    for module in modules():
        room = room_of(module)
        assert room is None or module.split("/")[0] == room.package


def test_the_arrows_of_rooms_are_those_of_the_code() -> None:
    used: dict[Room, list[str]] = defaultdict(list)
    order = [name for names in page().floors for name in names]
    for ours, theirs in arrows():
        if ours.package == theirs.package:
            up = UP if floor(theirs) <= floor(ours) else ""
            used[ours].append(theirs.name + up)
    wrong = []
    for room in page().rooms:
        found = sorted(used[room], key=lambda name: order.index(name.removesuffix(UP)))
        if sorted(found) != sorted(room.uses):
            because = [
                why
                for (ours, theirs), why in arrows().items()
                if ours == room
                and theirs.package == room.package
                and theirs.name not in {name.removesuffix(UP) for name in room.uses}
            ]
            wrong.append(f"{room.name} uses: {', '.join(found)}  ({'; '.join(because)})")
    assert not wrong, "docs/architecture.md should say\n" + "\n".join(wrong)


def test_the_arrows_of_packages_are_those_of_the_code() -> None:
    used: dict[str, set[str]] = defaultdict(set)
    for ours, theirs in arrows():
        if ours.package != theirs.package:
            used[ours.package].add(theirs.package)
    assert {name: set(below) for name, below in page().packages.items() if below} == used
    for name, below in page().packages.items():
        mine = max(floor(room) for room in page().rooms if room.package == name)
        assert all(floor(room) > mine for room in page().rooms if room.package in below)


def test_the_map_is_one_page() -> None:
    assert len(PAGE.read_text(encoding="utf-8").splitlines()) <= 130

"""Lines of a pack that somebody damaged and signed anew: a clear error, or a merge, and never half of one."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from apart import fresh, unpacked
from cuecard.annotate.sharing.bundle import Header, compressed
from cuecard.core.errors import FileProblems

PACKS = Path(__file__).parent / "packs"
ROUNDS = 120
ODD = (
    None,
    True,
    -1,
    2**70,
    1e400,
    "",
    "\0",
    "\ud800",
    "x" * 70,
    [],
    {},
    [[]],
    {"a": []},
    "9999-12-31",
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(each for key, below in inner for each in _places(below, (*path, key)))]


def _damaged(lines: list[Any], chance: random.Random) -> list[Any]:
    """A copy with one thing changed: a value swapped, gone, or twice; a line twice, elsewhere, or gone."""
    lines = json.loads(json.dumps(lines))
    number = chance.randrange(len(lines))
    match chance.randrange(6):
        case 0:
            lines.insert(chance.randrange(len(lines)), lines[number])
        case 1:
            lines.insert(chance.randrange(len(lines)), lines.pop(number))
        case 2:
            lines.pop(number)
        case kind:
            *path, last = chance.choice(_places(lines[number])[1:])
            place = lines[number]
            for key in path:
                place = place[key]
            if kind == 3:
                place.pop(last)
            elif kind == 4 and isinstance(place, list):
                place.insert(last, place[last])
            else:
                place[last] = chance.choice(ODD)
    return lines


def _signed(header: dict[str, Any], lines: list[Any]) -> bytes:
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    entries: dict[str, int] = {}
    for line in lines:
        kind = str(line.get("entry")) if isinstance(line, dict) else ""
        entries[kind] = entries.get(kind, 0) + 1
    made = Header.model_validate({**header, "entries": entries, "sha256": ""})
    hasher = made.hasher
    hasher.update(body)
    made = made.model_copy(update={"sha256": hasher.hexdigest()})
    return b"".join(compressed([made.line, body]))


@pytest.mark.parametrize("name", ["ana", "run", "labels"])
def test_a_damaged_line_is_told_or_harmless(name: str, tmp_path: Path) -> None:
    raw = gzip.decompress((PACKS / f"{name}.cuepack").read_bytes())
    header, *lines = map(json.loads, raw.splitlines())
    chance = random.Random(name)
    told: list[FileProblems] = []
    with fresh(tmp_path / "w.db") as workspace:
        for _round in range(ROUNDS):
            try:
                bundle = unpacked(_signed(header, _damaged(lines, chance)))
            except FileProblems as refused:
                told.append(refused)
                continue
            workspace.exchange.import_([bundle], by="Eve", dry=True)
        assert (workspace.tasks.count(), workspace.runs.all()) == (0, [])
    assert len(told) > ROUNDS / 3
    assert all(problem.reason for refused in told for problem in refused.problems)
    assert all(len(refused.problems) <= 13 for refused in told)

"""What can be done to many triples at once, each one step for undo."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.blank import blank_triple
from cuecard.annotate.authoring.edit import TaskEdit

TextField = Literal["head", "relation", "tail"]
TEXT_FIELDS: tuple[TextField, ...] = ("head", "relation", "tail")
SourceMode = Literal["replace", "add", "remove"]

Triple = dict[str, Any]


def write_text(edit: TaskEdit, index: int, field: TextField, text: str) -> None:
    """Type into a cell; what follows at once in the same cell is the same step."""
    edit.set((*ops.TRIPLES, index, field), text, typing=True)


def new_triple(above: Mapping[str, Any] | None) -> Triple:
    """An empty triple of the stage of the one above it."""
    return {**blank_triple(), "stage": above.get("stage") if above else None}


def insert_triples(edit: TaskEdit, at: int, triples: Sequence[Mapping[str, Any]]) -> None:
    """Put triples before the one at `at`."""
    if triples:
        now = edit.items(ops.TRIPLES)
        with edit.together((*ops.TRIPLES, at)):
            edit.arrange(ops.TRIPLES, [*now[:at], *triples, *now[at:]])


def fill(edit: TaskEdit, indices: Collection[int], field: TextField, text: str) -> int:
    """Write the same into a field of several triples; returns how many changed."""
    return change(edit, indices, lambda triple: {**triple, field: text})


def assign_stage(edit: TaskEdit, indices: Collection[int], stage: int | None) -> int:
    """Returns how many triples changed."""
    return change(edit, indices, lambda triple: {**triple, "stage": stage})


def assign_sources(
    edit: TaskEdit, indices: Collection[int], urls: Sequence[str], mode: SourceMode
) -> int:
    """Give triples these sources instead of theirs, beside theirs, or take these away. Returns how
    many triples changed.
    """

    def changed(triple: Triple) -> Triple:
        given = list(dict.fromkeys(urls))
        old = list(triple.get("sources", ()))
        match mode:
            case "replace":
                new = given
            case "add":
                new = [*old, *(url for url in given if url not in old)]
            case "remove":
                new = [url for url in old if url not in given]
        return {**triple, "sources": new}

    return change(edit, indices, changed)


def delete_triples(edit: TaskEdit, indices: Collection[int]) -> int:
    """Take triples out; returns how many."""
    now, gone = edit.items(ops.TRIPLES), set(indices)
    kept = [triple for index, triple in enumerate(now) if index not in gone]
    if len(kept) < len(now):
        with edit.together((*ops.TRIPLES, min(gone))):
            edit.arrange(ops.TRIPLES, kept)
    return len(now) - len(kept)


def duplicate_triples(edit: TaskEdit, indices: Collection[int]) -> int:
    """Put copies of triples below the last of them; returns where the first copy stands."""
    now = edit.items(ops.TRIPLES)
    chosen = sorted(index for index in indices if 0 <= index < len(now))
    if not chosen:
        return len(now)
    at = chosen[-1] + 1
    insert_triples(edit, at, [dict(now[index]) for index in chosen])
    return at


def move_triples(edit: TaskEdit, indices: Collection[int], by: int) -> list[int]:
    """Move triples up (`by` < 0) or down past their neighbours, keeping their order; they stop at
    the ends of the list. Returns where they stand afterwards.
    """
    items = list(edit.items(ops.TRIPLES))
    chosen = sorted({index for index in indices if 0 <= index < len(items)})
    if not chosen or not by:
        return chosen
    by = max(by, -chosen[0]) if by < 0 else min(by, len(items) - 1 - chosen[-1])
    moved = {index + by: items[index] for index in chosen}
    rest = iter([item for index, item in enumerate(items) if index not in set(chosen)])
    with edit.together((*ops.TRIPLES, chosen[0] + by)):
        edit.arrange(
            ops.TRIPLES,
            [moved[place] if place in moved else next(rest) for place in range(len(items))],
        )
    return sorted(moved)


def change(edit: TaskEdit, indices: Collection[int], new: Callable[[Triple], Triple]) -> int:
    """Put `new(triple)` for each of these; returns how many are different now."""
    items = list(edit.items(ops.TRIPLES))
    count, first = 0, len(items)
    for index in indices:
        if 0 <= index < len(items) and (changed := new(items[index])) != items[index]:
            items[index] = changed
            count += 1
            first = min(first, index)
    if count:
        with edit.together((*ops.TRIPLES, first)):
            edit.arrange(ops.TRIPLES, items)
    return count

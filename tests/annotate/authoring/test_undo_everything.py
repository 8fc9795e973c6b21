"""Every operation of the editor is one step, and undo gives back exactly what was there."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path as File
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.authoring import facts_ops, graph_ops, ops, table_ops
from cuecard.annotate.authoring import graph_entities as graph_renames
from cuecard.annotate.authoring import stages as stage_ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.facts_ops import add_to_sources
from cuecard.annotate.authoring.ops import (
    COLUMNS,
    FACTS,
    NODES,
    ROWS,
    STAGES,
    STEPS,
    TRIPLES,
    silence,
)
from cuecard.annotate.authoring.paste import parse_rows
from cuecard.annotate.authoring.table_ops import apply_paste, plan_paste
from cuecard.annotate.authoring.task_data import KEPT_BYTES, KEPT_STEPS, Path, blank_persona
from cuecard.annotate.lint.codes import warning
from cuecard.core.tasks.base import Origin
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import load_task

SAMPLES = File(__file__).parents[3] / "sample_tasks"
Operation = Callable[[TaskEdit, random.Random], object]
IDS = ("espresso", "table-us-states", "checkpoints-highest-mountain", "facts-night-train")
ORIGIN = Origin(kind="facts", by="m", items=1, at=datetime(2026, 1, 2, tzinfo=UTC))
LISTS = (TRIPLES, NODES, STAGES, COLUMNS, ROWS, STEPS, FACTS, ("sources",))


def word(rng: random.Random) -> str:
    return rng.choice(["", "x", "线", "Rome", f"w{rng.randrange(99)}", "two words"])


def some(edit: TaskEdit, path: Path, rng: random.Random) -> list[int]:
    """Indices of a few items."""
    count = len(edit.items(path))
    return sorted(rng.sample(range(count), rng.randint(1, min(count, 4))))


def one(edit: TaskEdit, path: Path, rng: random.Random) -> int:
    return rng.randrange(len(edit.items(path)))


def entity(edit: TaskEdit, rng: random.Random) -> str:
    return str(edit.get((*TRIPLES, one(edit, TRIPLES, rng), rng.choice(["head", "tail"]))))


def relation(edit: TaskEdit, rng: random.Random) -> str:
    return str(edit.get((*TRIPLES, one(edit, TRIPLES, rng), "relation")))


def a_list(edit: TaskEdit, rng: random.Random) -> Path:
    return rng.choice([path for path in LISTS if edit.items(path)])


def insert(edit: TaskEdit, rng: random.Random) -> None:
    path = a_list(edit, rng)
    at = one(edit, path, rng)
    ops.insert_item(edit, path, at, copy.deepcopy(edit.get((*path, at))))


def delete(edit: TaskEdit, rng: random.Random) -> None:
    path = a_list(edit, rng)
    if len(edit.items(path)) > 1:
        ops.delete_item(edit, path, one(edit, path, rng))


def move(edit: TaskEdit, rng: random.Random) -> None:
    path = a_list(edit, rng)
    ops.move_item(edit, path, one(edit, path, rng), one(edit, path, rng))


def paste_cells(edit: TaskEdit, rng: random.Random) -> None:
    pasted = parse_rows("State\tNew\nx\ty\nz\tw" if rng.random() < 0.5 else "a\tb\nc\td")
    mode = rng.choice(["rows", "cells"])
    plan = plan_paste(edit, pasted, mode, one(edit, ROWS, rng), 0, add_columns=rng.random() < 0.5)
    apply_paste(edit, plan)


def paste_facts(edit: TaskEdit, rng: random.Random) -> None:
    key = str(edit.get((*FACTS, one(edit, FACTS, rng), "key")))
    plan = facts_ops.plan_facts(edit, parse_rows(f"{key}\tnew\nother {word(rng)}\tvalue"))
    facts_ops.apply_facts(edit, plan, one(edit, FACTS, rng))


def together(edit: TaskEdit, rng: random.Random) -> None:
    with edit.together(("title",)):
        edit.set(("title",), word(rng))
        edit.note_origin(ORIGIN)


def rebase(edit: TaskEdit, rng: random.Random) -> None:
    edit.rebase({**edit.data, "notes": word(rng)}, edit.base + 1, edit.data)


def merge_stages(edit: TaskEdit, rng: random.Random) -> None:
    if (count := len(edit.items(STAGES))) > 1:
        stage_ops.merge_stage(edit, rng.randrange(count - 1))


ANYWHERE: tuple[Operation, ...] = (
    insert, delete, move, together, rebase,
    lambda e, r: e.set((r.choice(["title", "query", "notes"]),), word(r), typing=True),
    lambda e, r: add_to_sources(e, "https://e.org/", f"https://e.org/{word(r)}"),
    lambda e, r: silence(e, warning("L010", "", "x", "", word(r)), "so"),
    lambda e, r: e.replace({**e.data, "domain": word(r)}),
)  # fmt: skip
WITH_STAGES: tuple[Operation, ...] = (
    merge_stages,
    lambda e, r: stage_ops.split_stage(e, one(e, STAGES, r), r.randrange(30)),
)
OF: dict[str, tuple[Operation, ...]] = {
    "graph": (
        lambda e, r: graph_ops.write_text(e, one(e, TRIPLES, r), "tail", word(r)),
        lambda e, r: graph_ops.insert_triples(
            e, one(e, TRIPLES, r), [graph_ops.new_triple(None)] * 3
        ),
        lambda e, r: graph_ops.fill(e, some(e, TRIPLES, r), "head", word(r)),
        lambda e, r: graph_ops.assign_stage(e, some(e, TRIPLES, r), r.choice([None, 1])),
        lambda e, r: graph_ops.assign_sources(
            e, some(e, TRIPLES, r), ["https://e.org/"], r.choice(["replace", "add", "remove"])
        ),
        lambda e, r: graph_ops.delete_triples(e, some(e, TRIPLES, r)[: len(e.items(TRIPLES)) - 1]),
        lambda e, r: graph_ops.duplicate_triples(e, some(e, TRIPLES, r)),
        lambda e, r: graph_ops.move_triples(e, some(e, TRIPLES, r), r.choice([-2, -1, 1, 3])),
        lambda e, r: graph_renames.rename_entity(e, entity(e, r), word(r) or "y"),
        lambda e, r: graph_renames.rename_entity(e, entity(e, r), entity(e, r)),
        lambda e, r: graph_renames.merge_entities(e, [entity(e, r), entity(e, r)], entity(e, r)),
        lambda e, r: graph_renames.rename_relation(e, relation(e, r), word(r) or "y"),
        lambda e, r: graph_renames.merge_relations(e, [relation(e, r)], relation(e, r)),
        lambda e, r: graph_renames.write_aliases(e, entity(e, r), [word(r)]),
        lambda e, r: graph_renames.write_shown_name(e, entity(e, r), word(r)),
        lambda e, r: (
            ops.remove_persona(e) if e.get(("persona",)) else ops.add_persona(e, blank_persona())
        ),
    ),
    "table": (
        paste_cells,
        lambda e, r: ops.write_cell(e, one(e, ROWS, r), one(e, COLUMNS, r), word(r)),
        lambda e, r: ops.write_key(e, one(e, COLUMNS, r), r.random() < 0.5),
        lambda e, r: ops.rename_column(e, one(e, COLUMNS, r), word(r)),
        lambda e, r: table_ops.insert_row(e, one(e, ROWS, r)),
        lambda e, r: table_ops.delete_items(e, ROWS, some(e, ROWS, r)[: len(e.items(ROWS)) - 1]),
        lambda e, r: table_ops.move_items(e, ROWS, some(e, ROWS, r), r.choice([-1, 1])),
        lambda e, r: table_ops.copy_items(e, ROWS, some(e, ROWS, r)),
        lambda e, r: table_ops.sort_rows(e, one(e, COLUMNS, r), down=r.random() < 0.5),
        lambda e, r: table_ops.add_column(e, one(e, COLUMNS, r)),
    ),
    "checkpoints": (
        lambda e, r: ops.write_ambiguity(
            e, (*STEPS, one(e, STEPS, r)), r.choice([None, "entity", "version"])
        ),
        lambda e, r: e.set((*STEPS, one(e, STEPS, r), "target"), word(r), typing=True),
    ),
    "facts": (
        paste_facts,
        lambda e, r: facts_ops.write_fact(e, one(e, FACTS, r), "value", word(r)),
        lambda e, r: facts_ops.write_fact(e, one(e, FACTS, r), "kind", r.choice(["rule", "f"])),
        lambda e, r: table_ops.move_items(e, FACTS, some(e, FACTS, r), r.choice([-1, 1])),
    ),
}


@cache
def sample(task_id: str) -> Task:
    return load_task(SAMPLES / f"{task_id}.yaml")


def small(task_id: str) -> dict[str, Any]:
    data = sample(task_id).model_dump(mode="json")
    for name in ("triples", "rows", "facts", "nodes"):
        if name in data["gold"]:
            data["gold"][name] = data["gold"][name][:10]
    return data


def state(edit: TaskEdit) -> tuple[Any, ...]:
    return copy.deepcopy(edit.data), edit.origins, edit.base


def change(edit: TaskEdit, rng: random.Random) -> None:
    staged = WITH_STAGES if edit.items(STAGES) else ()
    rng.choice([*ANYWHERE, *staged, *2 * OF[edit.family]])(edit, rng)
    edit.seal()


@pytest.mark.parametrize("task_id", IDS)
@settings(max_examples=examples(10), deadline=None)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 25))
def test_undo_after_any_operations_returns_the_exact_earlier_task(
    task_id: str, seed: int, steps: int
) -> None:
    rng = random.Random(seed)
    data = small(task_id)
    edit = TaskEdit(data, base=1, saved=data)
    seen = [state(edit)]
    for _step in range(steps):
        version = edit.version
        change(edit, rng)
        assert edit.version <= version + 1, "more than one step"
        if edit.version > version:
            seen.append(state(edit))
        assert state(edit) == seen[-1]
    for earlier in reversed(seen[:-1]):
        assert edit.undo() is not None
        assert state(edit) == earlier
    assert not edit.can_undo
    assert edit.data == data
    for later in seen[1:]:
        assert edit.redo() is not None
        assert state(edit) == later
    assert not edit.can_redo


def reopened(edit: TaskEdit, revisions: dict[int, dict[str, Any]]) -> TaskEdit:
    """The edit as it is opened again from what was written of it."""
    kept = json.loads(json.dumps([edit.snapshot.history(), edit.data]))
    again = TaskEdit(kept[1], base=edit.base, saved=edit.saved, origins=edit.origins)
    if kept[0]:
        again.recall(kept[0], revisions.get)
    return again


@pytest.mark.parametrize("task_id", IDS)
@settings(max_examples=examples(12), deadline=None)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 25))
def test_undo_and_redo_go_on_wherever_the_task_was_left(
    task_id: str, seed: int, steps: int
) -> None:
    rng = random.Random(seed)
    revisions = {1: small(task_id), 2: {**small(task_id), "title": "Another's"}}
    stayed = TaskEdit(revisions[1], base=1, saved=revisions[1])
    left = TaskEdit(revisions[1], base=1, saved=revisions[1])
    for _step in range(steps):
        seed = rng.randrange(2**32)
        for edit in (stayed, left):
            chance = random.Random(seed)
            match chance.choice(["change", "change", "change", "undo", "undo", "redo", "rebase"]):
                case "undo":
                    edit.undo()
                case "redo":
                    edit.redo()
                case "rebase" if edit.base == 1:
                    edit.rebase({**edit.data, "notes": "merged"}, 2, revisions[2])
                case _:
                    change(edit, chance)
        if rng.random() < 0.4:
            left = reopened(left, revisions)
        assert state(left) == state(stayed)
        assert left.changed == stayed.changed
    for back in (True, False, True):
        while stayed.can_undo if back else stayed.can_redo:
            at = stayed.undo() if back else stayed.redo()
            assert (left.undo() if back else left.redo()) == at
            assert state(left) == state(stayed)
        assert not (left.can_undo if back else left.can_redo)
        left = reopened(left, revisions)


def test_only_so_much_is_kept_the_nearest_of_it() -> None:
    data = sample("table-us-states").model_dump(mode="json")
    edit = TaskEdit(data, base=1, saved=data)
    for number in range(KEPT_STEPS + 10):
        edit.set(("title",), f"title {number}")
    again = reopened(edit, {})
    titles = [again.get(("title",)) for _step in iter(again.undo, None)]
    assert titles == [f"title {n}" for n in reversed(range(9, KEPT_STEPS + 9))]
    edit.set(("notes",), "large " * KEPT_BYTES)
    edit.set(("title",), "small")
    edit.undo()
    edit.set(("notes",), "")
    assert len(json.dumps(edit.snapshot.history())) < KEPT_BYTES
    assert not reopened(edit, {}).can_undo

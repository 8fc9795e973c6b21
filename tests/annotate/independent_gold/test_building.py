"""An independent gold from the brief alone: what the annotator gets, who may, and what comes of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cuecard.annotate.authoring.session import keep_draft, open_task
from cuecard.annotate.families.registry import ANNOTATE
from cuecard.annotate.independent_gold.building import (
    COVER,
    blank_for,
    built_gold,
    gold_key,
    hand_in,
    is_under_way,
    obstacle,
    open_blank,
    refuse_while_building,
    under_way,
)
from cuecard.annotate.independent_gold.comparison import (
    adjudicate,
    compare,
    independent_golds,
    keep_takes,
)
from cuecard.annotate.waiting import pending_for
from cuecard.core.contributions import Claimed, GoldBuilt, ReviewDecision, Reviewed
from cuecard.core.errors import Conflict, FileProblems, NotAllowed, NotFound
from cuecard.core.families.table.gold import Table
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import load_task
from cuecard.core.users.leaks import KnownTexts, Secrets, gold_things
from cuecard.store.workspace import Workspace
from cuecard.tui.present.independent_gold import GoldView


@pytest.fixture
def states(sample_dir: Path, workspace: Workspace) -> Task:
    """A table task of Ana's with three rows, revision 1."""
    task = load_task(sample_dir / "table-us-states.yaml")
    assert isinstance(task.gold, Table)
    task = task.model_copy(
        update={"gold": task.gold.model_copy(update={"rows": task.gold.rows[:3]}), "notes": "x"}
    )
    workspace.tasks.save(task, author="Ana")
    return task


def built(ws: Workspace, task: Task, person: str, rows: list[list[str]]) -> None:
    """`person` builds these rows and keeps them."""
    opened, _changed = open_blank(ws, task.id, person)
    opened.edit.set(("gold", "rows"), rows)
    keep_draft(ws, person, opened.edit.snapshot, gold_key(task.id))


def given(ws: Workspace, task: Task, person: str) -> None:
    opened, _changed = open_blank(ws, task.id, person)
    hand_in(ws, task.id, person, opened.edit.base, opened.edit.data)


def test_nothing_of_any_samples_gold_is_in_its_blank(sample_dir: Path) -> None:
    for file in sample_dir.glob("*.yaml"):
        task = load_task(file)
        if ANNOTATE[task.family].independent is None:
            continue
        blank = blank_for(task)
        assert set(blank) == set(task.model_dump())
        if task.family == "facts":
            blank["gold"]["facts"] = []
            secret = Secrets([(task.gold.answer, *task.gold.answer_aliases)])  # type: ignore[union-attr]
        else:
            secret = Secrets(gold_things(task.gold))
        told = KnownTexts((task.query, task.opening))
        assert secret.named(json.dumps(blank, ensure_ascii=False), told) == (), file.name
        said = json.dumps(blank, ensure_ascii=False)
        for source in task.sources:
            assert source.url not in said
        assert not task.notes or task.notes not in said


def test_the_brief_keeps_what_is_asked(sample_dir: Path) -> None:
    espresso = load_task(sample_dir / "espresso.yaml")
    blank = blank_for(espresso)
    lines = [stage["line"] for stage in blank["persona"]["stages"]]
    assert len(lines) == len(espresso.stages)
    assert COVER in lines[1]
    assert lines[0] == espresso.stages[0].line
    assert blank["query"] == espresso.query
    table = load_task(sample_dir / "table-us-states.yaml")
    assert isinstance(table.gold, Table)
    columns = [column.model_dump(mode="json") for column in table.gold.columns]
    assert blank_for(table)["gold"]["columns"] == columns


def test_what_is_built_is_kept_apart_and_handed_in_once(workspace: Workspace, states: Task) -> None:
    assert isinstance(states.gold, Table)
    row = list(states.gold.rows[0])
    built(workspace, states, "Ben", [row, [""] * len(row)])
    assert is_under_way(workspace, states.id, "Ben")
    with pytest.raises(NotAllowed, match="You would see"):
        refuse_while_building(workspace, states.id, "Ben")
    refuse_while_building(workspace, states.id, "Ana")
    assert (under_way(workspace, "Ben"), under_way(workspace, "Ana")) == ({states.id}, set())
    assert workspace.drafts.of("Ben") == []
    assert workspace.drafts.get(states.id, "Ben") is None
    workspace.effort.add(gold_key(states.id), "Ben", "time", 90)
    opened, changed = open_blank(workspace, states.id, "Ben")
    assert (opened.restored is not None, opened.crashed, changed) == (True, True, False)
    assert opened.newest is None
    entry = hand_in(workspace, states.id, "Ben", 1, opened.edit.data, "  two were unclear ")
    assert isinstance(entry.body, GoldBuilt)
    assert entry.body.gold["rows"] == [row]
    assert (entry.body.seconds, entry.body.note) == (90, "two were unclear")
    assert not is_under_way(workspace, states.id, "Ben")
    assert workspace.effort.totals(states.id).seconds == 0
    with pytest.raises(NotAllowed, match="already"):
        hand_in(workspace, states.id, "Ben", 1, opened.edit.data)


def test_who_has_seen_the_gold_builds_none(workspace: Workspace, states: Task) -> None:
    assert "worked on" in obstacle(workspace, states.id, "Ana")
    assert obstacle(workspace, states.id, "") != ""
    now = datetime.now(UTC)
    review = Reviewed(ratings={}, decision=ReviewDecision.RETURN)
    workspace.reviews.act(states.id, "Rita", review)
    workspace.reviews.act(states.id, "Cora", Claimed(person="Carl", until=now))
    edit = open_task(workspace, states.id, "Dora").edit
    workspace.drafts.keep(states.id, "Dora", 1, {**edit.data, "title": "mine"})
    workspace.review_forms.keep(states.id, 1, "Finn", {})
    reasons = {
        name: obstacle(workspace, states.id, name) for name in ("Rita", "Carl", "Dora", "Finn")
    }
    assert all(reasons.values()), reasons
    assert obstacle(workspace, states.id, "Cora") == ""
    with pytest.raises(NotAllowed):
        open_blank(workspace, states.id, "Rita")
    # Who reviews while building cannot hand in: the rule holds inside the write.
    built(workspace, states, "Ben", [["a"] * 6])
    workspace.reviews.act(states.id, "Ben", review)
    with pytest.raises(NotAllowed, match="reviewed"):
        hand_in(workspace, states.id, "Ben", 1, workspace.drafts.get(gold_key(states.id), "Ben").data)  # type: ignore[union-attr]  # fmt: skip
    assert is_under_way(workspace, states.id, "Ben")


def test_a_new_revision_keeps_what_was_built(workspace: Workspace, states: Task) -> None:
    assert isinstance(states.gold, Table)
    row = [f"c{n}" for n in range(len(states.gold.columns))]
    built(workspace, states, "Ben", [row])
    # Another gold: the brief is the same, so it is handed in for the newest.
    fewer = states.model_copy(update={"gold": states.gold.model_copy(update={"rows": states.gold.rows[:2]})})  # fmt: skip
    workspace.tasks.save(fewer, author="Ana", base=1)
    opened, changed = open_blank(workspace, states.id, "Ben")
    assert (opened.edit.base, opened.edit.get(("gold", "rows")), changed) == (2, [row], False)
    # Another column in front: the brief has changed, cells go with their columns.
    table: dict[str, Any] = fewer.model_dump(mode="json")
    table["gold"]["columns"].insert(0, {"name": "Flower"})
    table["gold"]["rows"] = [["rose", *cells] for cells in table["gold"]["rows"]]
    workspace.tasks.save(Task.model_validate(table), author="Ana", base=2)
    with pytest.raises(Conflict, match="brief"):
        hand_in(workspace, states.id, "Ben", 2, opened.edit.data)
    opened, changed = open_blank(workspace, states.id, "Ben")
    assert (opened.edit.get(("gold", "rows")), changed) == ([["", *row]], True)


def test_what_is_no_gold_yet_is_refused_without_telling_the_authors(sample_dir: Path) -> None:
    task = load_task(sample_dir / "espresso.yaml")
    with pytest.raises(FileProblems) as refused:
        built_gold(task, blank_for(task)["gold"])
    assert all(problem.place.startswith("gold") for problem in refused.value.problems)
    with pytest.raises(FileProblems):
        built_gold(task, {**blank_for(task)["gold"], "triples": [{"head": "x", "relation": "", "tail": ""}]})  # fmt: skip


def test_only_authors_coordinators_and_annotators_see_it(
    workspace: Workspace, states: Task
) -> None:
    assert isinstance(states.gold, Table)
    rows = [list(row) for row in states.gold.rows]
    built(workspace, states, "Ben", rows)
    for person in ("Ana", "Ben", "Chen"):
        assert independent_golds(workspace, states.id, person) == ()
    given(workspace, states, "Ben")
    seen = {name: len(independent_golds(workspace, states.id, name, ("Cora",))) for name in ("Ana", "Ben", "Chen", "Cora")}  # fmt: skip
    assert seen == {"Ana": 1, "Ben": 1, "Chen": 0, "Cora": 1}
    with pytest.raises(NotFound):
        compare(workspace, states.id, "Chen")
    built(workspace, states, "Chen", rows[:1])
    assert independent_golds(workspace, states.id, "Chen") == ()
    given(workspace, states, "Chen")
    assert [gold.by for gold in independent_golds(workspace, states.id, "Chen")] == ["Ben", "Chen"]


def test_what_is_decided_is_kept_and_becomes_one_revision(
    workspace: Workspace, states: Task
) -> None:
    assert isinstance(states.gold, Table)
    rows = [list(row) for row in states.gold.rows]
    rows[1][2] = "Elsewhere"
    built(workspace, states, "Ben", rows[:2])
    given(workspace, states, "Ben")
    found = compare(workspace, states.id, "Ana")
    assert found.alignment.by_status() == {"agreed": 1, "differ": 1, "author": 1}
    assert compare(workspace, states.id, "Ben").obstacle != ""
    cell, row = (e for e in found.alignment.elements if e.status != "agreed")
    keep_takes(workspace, states.id, "Ana", found.second.uid, found.head, {cell.key: "second"})
    found = compare(workspace, states.id, "Ana")
    assert found.takes == {cell.key: "second"}
    with pytest.raises(NotAllowed, match="undecided"):
        adjudicate(workspace, found, found.takes)
    with pytest.raises(NotAllowed, match="author"):
        adjudicate(workspace, compare(workspace, states.id, "Ben"), {})
    # The head moves while Ana decides: nothing is overwritten, her decisions are there again.
    other = states.model_copy(update={"title": "Another title"})
    workspace.tasks.save(other, author="Ana", base=1)
    takes = {**found.takes, row.key: "neither"}
    keep_takes(workspace, states.id, "Ana", found.second.uid, found.head, takes)  # type: ignore[arg-type]
    with pytest.raises(Conflict):
        adjudicate(workspace, found, takes)  # type: ignore[arg-type]
    found = compare(workspace, states.id, "Ana")
    revision = adjudicate(workspace, found, found.takes)
    assert revision.number == 3
    assert "Ben" in revision.message
    assert (revision.task.title, revision.task.notes) == ("Another title", "x")
    assert isinstance(revision.task.gold, Table)
    assert [list(row) for row in revision.task.gold.rows] == rows[:2]
    assert compare(workspace, states.id, "Ana").takes == {}


def test_a_gold_that_came_in_waits_for_the_author_until_it_is_decided(
    workspace: Workspace, states: Task
) -> None:
    """Also where the author's stays, and nothing is saved; and for all authors, whoever of them decides."""
    assert isinstance(states.gold, Table)
    rows = [list(row) for row in states.gold.rows]
    built(workspace, states, "Ben", rows[:2])
    assert pending_for(workspace, "Ana").second_golds == ()
    given(workspace, states, "Ben")
    (waits,) = pending_for(workspace, "Ana").second_golds
    (gold,) = independent_golds(workspace, states.id, "Ana")
    assert (waits.task.id, waits.by, waits.since) == (states.id, ("Ben",), gold.at)
    assert pending_for(workspace, "Ana").total == 1
    assert pending_for(workspace, "Ben").second_golds == ()
    found = compare(workspace, states.id, "Ana")
    keep_takes(workspace, states.id, "Ana", gold.uid, found.head, {})
    assert pending_for(workspace, "Ana").second_golds
    takes = {each.key: "author" for each in found.alignment.elements if each.status != "agreed"}
    assert adjudicate(workspace, found, takes).number == found.head  # type: ignore[arg-type]
    assert pending_for(workspace, "Ana").second_golds == ()

    built(workspace, states, "Chen", rows[:1])
    given(workspace, states, "Chen")
    assert [waits.by for waits in pending_for(workspace, "Ana").second_golds] == [("Chen",)]
    workspace.tasks.save(states.model_copy(update={"title": "Other"}), author="Dee", base=1)
    for author in ("Ana", "Dee"):
        assert [waits.by for waits in pending_for(workspace, author).second_golds][-1][-1] == "Chen"
    found = compare(workspace, states.id, "Dee")
    assert GoldView(found).progress() == "0 of 2 decided"
    takes = {each.key: "author" for each in found.alignment.elements if each.status != "agreed"}
    adjudicate(workspace, found, takes)  # type: ignore[arg-type]
    for author in ("Ana", "Dee"):
        assert pending_for(workspace, author).second_golds == ()
        told = GoldView(compare(workspace, states.id, author)).progress()
        assert told == "decided by Dee: see revision 2"


def test_what_was_decided_before_it_was_on_record_is_not_asked_for_again(
    workspace: Workspace, states: Task
) -> None:
    assert isinstance(states.gold, Table)
    built(workspace, states, "Ben", [list(row) for row in states.gold.rows][:2])
    given(workspace, states, "Ben")
    (gold,) = independent_golds(workspace, states.id, "Ana")
    workspace.drafts.keep(f"{states.id}@decided-{gold.uid}", "Ana", 1, {"decided": True})
    assert pending_for(workspace, "Ana").second_golds == ()

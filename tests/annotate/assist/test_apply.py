"""Whatever is accepted of whatever is proposed, the task fits together and undo is exact."""

from __future__ import annotations

import copy
import random
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import strategies
from budget import examples
from cuecard.annotate.assist.proposals import (
    Pending,
    PendingFile,
    Proposal,
    ProposedItem,
    apply,
    standing,
)
from cuecard.annotate.authoring.edit import TaskEdit, invalid
from cuecard.core.tasks.gold import FAMILIES, Family
from cuecard.core.tasks.models import Task

_LISTS: dict[Family, str] = {"graph": "triples", "checkpoints": "steps", "facts": "facts"}


def proposal_of(data: dict[str, Any], other: dict[str, Any], rng: random.Random) -> Proposal:
    """Adds what `other` has, takes out what `data` has, sets some fields."""
    items: list[ProposedItem] = []

    def propose(place: str, **more: Any) -> None:
        items.append(ProposedItem(id=f"i{len(items)}", label="x", place=place, **more))

    family: Family = data["gold"]["family"]
    propose("query", after="Another query?")
    if other["persona"]:
        links = tuple(
            (t["head"], t["relation"], t["tail"]) for t in data["gold"].get("triples", ())
        )
        propose("persona.identity", after="Somebody")
        propose("persona.initial_query", after="Hi")
        for stage in (data["persona"] or {"stages": []})["stages"]:
            propose("persona.stages", deed="remove", before=stage)
        for stage in other["persona"]["stages"]:
            propose("persona.stages", deed="add", after=stage, links=links)
    if name := _LISTS.get(family, ""):
        for entry in data["gold"][name]:
            propose(f"gold.{name}", deed="remove", before=entry)
        for entry in other["gold"][name]:
            propose(f"gold.{name}", deed="add", after=entry)
    rng.shuffle(items)
    return Proposal(kind="facts", model="m", items=tuple(items), at=datetime.now(UTC))


PAIRS = st.sampled_from(FAMILIES).flatmap(
    lambda family: st.tuples(strategies.tasks(family), strategies.tasks(family))
)


@settings(max_examples=examples(10), deadline=None)
@given(PAIRS, st.randoms(use_true_random=False))
def test_any_of_the_items_make_a_task_and_undo_is_exact(
    pair: tuple[Task, Task], rng: random.Random
) -> None:
    task, another = pair
    other = another.model_dump(mode="json")
    before = task.model_dump(mode="json")
    proposal = proposal_of(before, other, rng)
    accepted = {i.id for i in proposal.items if rng.random() < 0.6}
    edit = TaskEdit.of(task, 1)
    original = copy.deepcopy(edit.data)
    applied = apply(edit, proposal, accepted)
    # A persona of which only a part was taken still has blanks, and nothing else is wrong.
    blanks = [(place, why) for place, why in invalid(edit.data) if "must not be empty" not in why]
    assert blanks == []
    if task.persona is not None:
        assert invalid(edit.data) == []
    for item in proposal.items:
        standing(edit, item)
        if item.id not in accepted:
            assert item.id not in applied.places
    if edit.data == original:
        assert edit.origins == ()
        return
    (origin,) = edit.origins
    assert origin.items == max(applied.count, 1)
    after = edit.data
    edit.undo()
    assert (edit.data, edit.origins) == (original, ())
    assert not edit.can_undo
    edit.redo()
    assert (edit.data, edit.origins) == (after, (origin,))


def test_undecided_proposals_survive(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    item = ProposedItem(id="t1", label="标签\x1b[31m", place="query", after={"a": [1, None]})
    proposal = Proposal(kind="triples", model="m", items=(item,), at=datetime.now(UTC))
    file = PendingFile("sqlite:///x.db", "t", "Ana")
    assert file.load() is None
    file.save(Pending(proposal=proposal, ticked=("t1",)))
    assert PendingFile("sqlite:///x.db", "t", "Ben").load() is None
    assert PendingFile("sqlite:///x.db", "t", "Ana").load() == Pending(
        proposal=proposal, ticked=("t1",)
    )
    (path,) = tmp_path.rglob("*.json")
    path.write_text('{"proposal": 3}')
    assert file.load() is None
    file.discard()
    file.discard()
    assert list(tmp_path.rglob("*.json")) == []

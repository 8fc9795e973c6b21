from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

import strategies
from budget import examples
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.ops import STAGES, TRIPLES
from cuecard.annotate.authoring.stages import (
    asks_in,
    joined,
    merge_stage,
    split_points,
    split_stage,
    stage_counts,
)
from cuecard.core.tasks.models import Task


def answering(edit: TaskEdit) -> list[int | None]:
    return [triple["stage"] for triple in edit.items(TRIPLES)]


def lines(edit: TaskEdit) -> list[str]:
    return [stage["line"] for stage in edit.items(STAGES)]


def test_a_split_stage_says_its_line_in_two_and_keeps_its_triples(samples: dict[str, Task]) -> None:
    edit = TaskEdit.of(samples["espresso"], 1)
    before = answering(edit)
    old = lines(edit)
    at = split_points(old[1])[0]
    split_stage(edit, 1, at)
    assert lines(edit)[1:3] == ["I had never heard of Angelo Moriondo.", old[1][at:].strip()]
    assert lines(edit)[3:] == old[2:]
    assert answering(edit) == [stage + 1 if stage and stage > 2 else stage for stage in before]
    assert edit.items(STAGES)[2]["title"] == "The man from the exposition (2)"
    assert {place for place, _ in edit.problems()} == {"persona.stages[2].cue.text"}
    edit.undo()
    assert not edit.changed
    assert not edit.can_undo


def test_a_merged_stage_has_both_lines_terms_and_triples(samples: dict[str, Task]) -> None:
    edit = TaskEdit.of(samples["espresso"], 1)
    before, old = answering(edit), edit.items(STAGES)
    merge_stage(edit, 3)
    merged = edit.items(STAGES)[3]
    assert merged["line"] == f"{old[3]['line']} {old[4]['line']}"
    assert merged["cue"]["terms"] == [*old[3]["cue"]["terms"], *old[4]["cue"]["terms"]]
    assert merged["cue"]["kind"] == old[3]["cue"]["kind"]
    assert answering(edit) == [stage - 1 if stage and stage > 4 else stage for stage in before]
    assert edit.problems() == []
    edit.undo()
    assert not edit.changed


def test_what_begins_the_talk_still_does_after_merging(samples: dict[str, Task]) -> None:
    edit = TaskEdit.of(samples["espresso"], 1)
    cue = edit.items(STAGES)[0]["cue"]
    merge_stage(edit, 0)
    assert edit.items(STAGES)[0]["cue"] == cue


def test_chinese_lines_are_joined_without_a_blank() -> None:
    assert joined("先看天文台。 ", " 再看人。") == "先看天文台。再看人。"
    assert joined("First this. ", "Then that?") == "First this. Then that?"
    assert joined("", "Then that?") == "Then that?"


def test_counts_tell_kinds_words_asks_and_triples(samples: dict[str, Task]) -> None:
    counts = stage_counts(samples["espresso"].model_dump(mode="json"))
    triples = [t for t in samples["espresso"].gold.triples if t.stage == 1]
    assert len(counts.stages) == 12
    assert counts.kinds["start"] == 1
    assert sum(counts.kinds.values()) == 12
    assert counts.enough
    assert counts.stages[0].triples == len(triples)
    assert counts.stages[0].length == 35
    chinese = stage_counts(samples["graph-astronomy-zh"].model_dump(mode="json"))
    assert chinese.stages[0].length > 10
    empty = stage_counts({"persona": {"stages": [{}, {"cue": None, "line": "Which one?"}]}})
    assert [stage.asks for stage in empty.stages] == [0, 1]
    assert not empty.enough
    assert stage_counts({}).share("asks") == 0.0


def test_asks_are_questions_in_both_languages() -> None:
    assert asks_in("I like it. Which one was first? And where?") == 2
    assert asks_in("我喜欢咖啡。最早的是哪一种？它在哪里？") == 2


@given(task=strategies.tasks("graph"), data=st.data())
@settings(max_examples=examples(20), deadline=None)
def test_any_splits_and_merges_keep_triples_pointing_and_are_undone(
    task: Task, data: st.DataObject
) -> None:
    edit = TaskEdit.of(task, 1)
    steps = 0
    while edit.items(STAGES) and steps < 4:
        count = len(edit.items(STAGES))
        before, texts = answering(edit), lines(edit)
        index = data.draw(st.integers(0, count - 1))
        if count > 1 and index < count - 1 and data.draw(st.booleans()):
            merge_stage(edit, index)
            gone = index + 2
            expected = [s - 1 if s is not None and s >= gone else s for s in before]
            assert len(lines(edit)) == count - 1
        else:
            at = data.draw(st.integers(0, len(texts[index])))
            split_stage(edit, index, at)
            expected = [s + 1 if s is not None and s > index + 1 else s for s in before]
            halves = lines(edit)[index : index + 2]
            assert "".join("".join(halves).split()) == "".join(texts[index].split())
        assert answering(edit) == expected
        assert len(edit.items(STAGES)) == len(lines(edit))
        steps += 1
    for _ in range(steps):
        edit.undo()
    assert not edit.changed
    assert not edit.can_undo

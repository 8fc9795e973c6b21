from __future__ import annotations

import pytest

from cuecard.annotate.authoring.changes import place_in_words
from cuecard.annotate.authoring.edit import TaskEdit, find_problems
from cuecard.annotate.authoring.ops import can_silence, can_unsilence, silence, unsilence
from cuecard.annotate.lint.codes import Finding
from lint_tasks import TODAY, changed

S = "persona.stages"


def problems(edit: TaskEdit) -> list[Finding]:
    return find_problems(edit.data, TODAY)


def test_silencing_and_taking_it_back_are_one_step_each():
    data = changed("en", {f"{S}[4].not_met": ""})
    edit = TaskEdit({key: value for key, value in data.items() if key != "silenced"})
    (problem,) = problems(edit)
    silence(edit, problem, "  meant ")
    (silenced,) = problems(edit)
    assert silenced.silenced == "meant"
    assert not can_silence(silenced)
    edit.undo()
    assert "silenced" not in edit.data
    edit.redo()
    unsilence(edit, silenced)
    assert edit.data["silenced"] == []
    assert problems(edit) == [problem]


def test_a_silence_without_a_finding_can_be_taken_away():
    edit = TaskEdit(changed("en", {"silenced[+]": {"code": "L013", "about": "x", "reason": "r"}}))
    (problem,) = problems(edit)
    assert problem.code == "L044"
    assert can_unsilence(problem)
    assert not can_silence(problem)
    unsilence(edit, problem)
    assert problems(edit) == []


@pytest.mark.parametrize(
    ("base", "changes", "silenceable"),
    [
        ("chain", {"gold.steps[0].ambiguity": None}, False),
        ("chain", {"difficulty": "hard"}, True),
        ("chain", {"gold.opening": "Is it 900 km long?"}, True),
        ("en", {"query": ""}, False),
    ],
)
def test_errors_of_structure_stay(base: str, changes, silenceable: bool):
    edit = TaskEdit(changed(base, changes))
    problem = problems(edit)[0]
    assert can_silence(problem) is silenceable
    if not silenceable:
        with pytest.raises(ValueError, match="silenced"):
            silence(edit, problem, "please")


@pytest.mark.parametrize(
    ("base", "place", "words"),
    [
        ("en", "query", "Query"),
        ("en", f"{S}[2].line", "Stage 3 · Line"),
        ("en", f"{S}[2].cue.terms[1]", "Stage 3 · Cue · Term 2"),
        ("en", S, "Stages"),
        ("en", "gold.triples[11].tail", "Triple 12 · Tail"),
        ("en", "gold.triples[11].sources[0]", "Triple 12 · Source 1"),
        ("en", "silenced[0]", "Silence 1"),
        ("table", "gold.rows[3][1]", "Row 4 · Length"),
        ("table", "gold.rows[3][7]", "Row 4 · 8"),
        ("table", "gold.columns[0].metric", "Column 1 · Metric"),
        ("chain", "gold.steps[0].ambiguity.clue", "Checkpoint 1 · Ambiguity · Clue"),
        ("world", "gold.facts[1].value", "Fact 2 · Value"),
        ("world", "nowhere.at[3]", ""),
        ("world", "", ""),
    ],
)
def test_places_in_words(base: str, place: str, words: str):
    assert place_in_words(place, changed(base, {})) == words

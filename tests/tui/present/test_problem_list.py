from __future__ import annotations

from cuecard.annotate.authoring.edit import find_problems
from cuecard.tui.present.task_editor import counted, explained, place_of, shown
from lint_tasks import TODAY, changed

DATA = changed(
    "en",
    {
        "query": "",
        "persona.stages[4].not_met": "",
        "persona.stages[5].not_met": "",
        "silenced[+]": {"code": "L013", "about": "Fair", "reason": "meant"},
    },
)
PROBLEMS = find_problems(DATA, TODAY)


def codes(wanted, silenced: bool) -> list[str]:
    return [problem.code for problem in shown(PROBLEMS, wanted, silenced)]


def test_problems_are_shown_by_kind_and_silenced_ones_when_asked_for() -> None:
    assert codes("all", silenced=False) == ["E003", "L013"]
    assert codes("error", silenced=True) == ["E003"]
    assert codes("warning", silenced=True) == ["L013", "L013"]
    assert counted(PROBLEMS, "all", silenced=False) == "1 error · 1 warning · 1 silenced, hidden"
    assert counted(PROBLEMS, "error", silenced=True).endswith("1 silenced, shown · errors only")


def test_a_problem_says_where_what_how_to_mend_and_why() -> None:
    refused, open_, silenced = shown(PROBLEMS, "all", silenced=True)
    assert place_of(open_, DATA) == "Stage 6 · If not met"
    said = explained(open_, DATA).plain
    assert said.startswith("warning · Stage 6 · If not met  L013 persona.stages[5].not_met\n")
    assert "\nMend  Write what the user says" in said
    assert "\nWhy  Nothing is left empty" in said
    assert explained(silenced, DATA).plain.endswith("Silenced  meant")
    assert "cannot be silenced" in explained(refused, DATA).plain


def test_hostile_text_is_shown_as_text() -> None:
    data = changed("en", {"gold.triples[6].tail": "[red]a\x1b[31m[/], b and c"})
    (problem,) = find_problems(data, TODAY)
    assert "\x1b" not in explained(problem, data).plain
    assert "[red]a" in explained(problem, data).plain

"""Figures of exams, and the faults of planted judges; bench/exam.py has the whole simulation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cuecard.annotate.results.judge_card import compared_table, probes_table
from cuecard.annotate.results.judge_exam import ExamFigures, exam_figures
from cuecard.annotate.results.judge_gates import gate_of
from cuecard.core.exam.marking import Answered, answered
from cuecard.core.exam.probes import inputs_of
from cuecard.core.verdicts import Decision
from exam_tasks import LANGUAGES, exam_task
from planted_judges import PlantedJudge, planted

JUDGES = planted()
_FEW, _MANY = {"facts": 16, "checkpoints": 16}, {"facts": 90}
SMALL = {
    # Tasks of each family: as few as tell the fault.
    **dict.fromkeys(("0 perfect", "1 always yes", "3 numbers", "4 units", "7 injection"), _FEW),
    **dict.fromkeys(("8 length", "11 aliases", "13 fillers", "14 negation"), _FEW),
    **dict.fromkeys(("0 errors 2%", "9 language", "10 unsteady"), _MANY),
    "2 direction": {"graph": 16},
    "5 position": {"graph": 40},
    "6 batch": {"graph": 80},
    "12 order": {"graph": 40},
}


def sat(judge: PlantedJudge, counts: dict[str, int], seed: int = 5) -> list[Answered]:
    found: list[Answered] = []
    for family, count in counts.items():
        for task in (
            exam_task(family, lang, n, seed) for lang in LANGUAGES for n in range(count // 2)
        ):
            inputs = inputs_of(task)
            said = {given.key: judge.judged(given.task, given.prediction) for given in inputs}
            found += answered(task.id, task.language, inputs, said)
    return found


def figures_of(name: str) -> ExamFigures:
    return exam_figures(sat(JUDGES[name][0], SMALL[name]), groups=False, resamples=400)


@pytest.mark.parametrize("name", JUDGES)
def test_a_planted_fault_is_told_under_its_name(name: str) -> None:
    wanted = set(JUDGES[name][1])
    told = {fault.name for fault in figures_of(name).faults}
    assert (told & wanted) if wanted else not told


def test_who_says_yes_to_everything_is_told_nothing_else() -> None:
    (fault,) = figures_of("1 always yes").faults
    assert (fault.name, fault.probes) == ("always_yes", ())


def test_a_share_that_is_the_same_everywhere_has_wilsons_interval() -> None:
    """On the number of tasks: none of 40 tasks [0, .0876], as METHODS has it."""
    found = exam_figures(sat(JUDGES["0 perfect"][0], {"facts": 40}), groups=False)
    error = found.probes["K21"].error
    assert (error.value, found.probes["K21"].tasks) == (0.0, 40)
    assert error.low == 0.0
    assert error.high == pytest.approx(0.0876, abs=5e-5)
    assert found.specificity.value == found.sensitivity.value == 1.0


def test_few_items_and_few_tasks() -> None:
    found = exam_figures(sat(JUDGES["13 fillers"][0], {"facts": 4}), groups=True)
    probe = found.probes["K27"]
    assert (probe.n, probe.tasks, probe.error.value) == (8, 4, 1.0)
    assert probe.error.interval is None
    assert probe.error.no_interval
    assert not probe.examined
    assert found.faults == ()
    assert set(found.groups) == {"family/facts", "language/en", "language/zh"}
    assert any("K27" in note for note in probes_table("t", [probe]).notes)


def test_open_and_unusable_verdicts() -> None:
    """Unusable ones are mistakes and counted apart; inputs that were not asked are no mistakes."""
    answers = sat(JUDGES["0 perfect"][0], {"facts": 12})
    first = next(each for each in answers if each.given.key == "K01/0")
    assert first.judgement is not None
    verdicts = [
        v.model_copy(update={"decision": Decision.UNJUDGED}) for v in first.judgement.verdicts
    ]
    spoilt = first.judgement.model_copy(update={"verdicts": tuple(verdicts)})
    changed = [
        Answered(each.task_id, each.language, each.given, spoilt) if each is first else each
        for each in answers
        if each.given.key != "K01/1"
    ]
    lost = next(each for each in answers if each.given.key == "K01/1")
    changed.append(Answered(lost.task_id, lost.language, lost.given, None))
    probe = exam_figures(changed).probes["K01"]
    assert (probe.unusable, probe.open, len(probe.misses)) == (1, 1, 1)


def test_points_are_what_mistakes_move() -> None:
    found = figures_of("13 fillers").probes
    assert found["K27"].points is not None
    assert found["K27"].points > 0
    assert found["K01"].points == 0.0


def test_two_exams_beside_each_other() -> None:
    from cuecard.annotate.results.judge_card import Card
    from cuecard.core.engine.messages import PlayerRef
    from cuecard.core.evaluation.exam import Exam
    from cuecard.core.probes.results import ExamSetting

    def card(name: str) -> Card:
        answers = tuple(sat(JUDGES[name][0], {"facts": 24}))
        setting = ExamSetting(judge=PlayerRef(name=name, kind="planted"), stamp=name)
        return Card(Exam(None, setting, answers, 0, None))  # pyright: ignore[reportArgumentType]

    table = compared_table(card("0 perfect"), card("13 fillers"))
    line = next(line for line in table.lines if line[0].text == "a filler for a value (K27)")
    assert [cell.text for cell in line[1:4]] == ["48", "0.0", "100.0"]
    assert line[4].statistic is not None
    assert line[4].statistic.value == 1.0


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("fault", True),
        ("yields_to_fillers", True),
        ("obeys_words", False),
        ("specificity<0.99", True),
        ("sensitivity < 99%", False),
        ("flip>0.05", False),
        ("K27>0.5", True),
        ("K21>0", False),
        ("K07>0", True),
        ("k27 > 0.5", True),
        ("YIELDS_TO_FILLERS", True),
        ("refuses_pairs", True),
    ],
)
def test_gates(text: str, failed: bool) -> None:
    found = exam_figures(sat(JUDGES["13 fillers"][0], {"facts": 24}), groups=False)
    assert bool(gate_of(text).failed(found)) is failed


def test_a_gate_on_a_fault_is_failed_by_what_brings_it_and_by_what_is_not_known() -> None:
    every = exam_figures(sat(JUDGES["1 always yes"][0], {"facts": 24}), groups=False)
    for name in ("fault", "always_yes", "lenient", "negation_blind", "accepts_siblings"):
        assert gate_of(name).failed(every), name
    assert not gate_of("alias_blind").failed(every)
    none = exam_figures(sat(JUDGES["0 perfect"][0], {"facts": 6}), groups=False)
    assert not any(probe.examined for probe in none.probes.values())
    for name in ("fault", "always_yes", "negation_blind"):
        assert gate_of(name).failed(none) == "not examined"
    half = replace(exam_figures(sat(JUDGES["0 perfect"][0], {"facts": 24}), groups=False), open=3)
    for text in ("fault", "flip>0.05", "specificity<0.9"):
        assert gate_of(text).failed(half) == "3 inputs are not judged yet."
        assert not gate_of(text).failed(replace(half, open=0))


@pytest.mark.parametrize(
    "text",
    [
        "flop>0.05",
        "flip>5x",
        "nonsense",
        "flip=3",
        "V99>0",
        "flip>5",
        "flip>1",
        "flip>100%",
        "sensitivity<0",
        "specificity<95",
    ],
)
def test_what_is_no_gate(text: str) -> None:
    with pytest.raises(ValueError):
        gate_of(text)

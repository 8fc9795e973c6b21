"""Inputs of exams: the same for the same task, at most two targets, nothing true by accident."""

from __future__ import annotations

import pytest

from cuecard.annotate.samples import load_samples
from cuecard.core.exam.probes import EXAMS, MOST_TARGETS, PROBES, WINDOW, ExamInput, inputs_of
from cuecard.core.tasks.models import Task
from cuecard.core.text import normalise
from exam_tasks import FAMILIES, LANGUAGES, exam_task

TASKS = [*load_samples(), *(exam_task(f, lang, 1) for f in FAMILIES for lang in LANGUAGES)]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_inputs_follow_from_task_and_seed(task: Task) -> None:
    inputs = inputs_of(task)
    assert inputs == inputs_of(task)
    assert inputs != inputs_of(task, seed=1)
    keys = [given.key for given in inputs]
    assert len(set(keys)) == len(keys)
    by_key = {given.key: given for given in inputs}
    for given in inputs:
        assert len(given.task.gold.items) <= max(
            WINDOW, len(task.gold.items) * (task.gold.answers != ())
        )
        if given.base:
            base = by_key[given.base]
            assert {t.at for t in given.targets} <= {t.at for t in base.targets}
    for id in PROBES:
        found = [g for g in inputs if g.probe and g.probe.id == id and g.probe.known]
        for rule in (False, True):
            targets = [t for g in found for t in g.targets if t.rule is rule]
            assert len(targets) <= MOST_TARGETS
            assert all(t.right is PROBES[id].right for t in targets)
    never = EXAMS[task.family].never
    assert not [key for key in keys if key[:3] in never]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_wrong_items_are_no_gold(task: Task) -> None:
    lines = {normalise(line) for line in task.gold.lines}
    for given in inputs_of(task):
        for target in given.targets:
            if not target.right and given.key[:3] in ("K21", "K22", "K23", "K24", "K25", "V00"):
                assert normalise(target.given) not in lines
                assert normalise(target.given) != normalise(target.gold)


def test_a_large_exam_asks_few_calls() -> None:
    """At most 1,000 on the sample tasks, even if every answer had to be asked for three times."""
    every = [given for task in load_samples() for given in inputs_of(task)]
    calls = sum(EXAMS[given.task.family].calls(given, 20) for given in every)
    assert 150 < calls < 333


def test_generated_tasks_have_every_probe() -> None:
    found: set[str] = set()
    for family in FAMILIES:
        for language in LANGUAGES:
            found |= {g.probe.id for g in inputs_of(exam_task(family, language, 3)) if g.probe}
    assert found == set(PROBES)


def _input(task: Task, key: str) -> ExamInput:
    return next(given for given in inputs_of(task) if given.key == key)


def test_one_item_told_by_two() -> None:
    given = _input(exam_task("graph", "en", 1), "K07")
    (target,) = given.targets
    assert len(target.given.split("; ")) == 2
    assert len(given.prediction.lines) == len(given.task.gold.items) + 1


def test_the_prompt_of_the_other_language() -> None:
    task = exam_task("graph", "zh", 1)
    assert _input(task, "V07").task.language == "en"
    assert _input(task, "V07").prediction == _input(task, "V00").prediction
    assert _input(task, "V02").task.gold.lines == _input(task, "V00").task.gold.lines[::-1]

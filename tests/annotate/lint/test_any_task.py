from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from budget import examples
from cuecard.annotate.lint.codes import RULES, may_silence
from cuecard.annotate.lint.rules import lint, loosely
from cuecard.core.tasks.models import Silenced, Task
from lint_tasks import TODAY, findings
from strategies import tasks


@settings(max_examples=examples(10), deadline=None, suppress_health_check=list(HealthCheck))
@given(tasks())
def test_any_task_can_be_linted_and_what_may_be_silenced_is(task: Task):
    task = task.model_copy(update={"silenced": ()})
    found = lint(task, TODAY)
    assert all(f.severity in RULES[f.code].severities and f.reason for f in found)
    loose = loosely(task.model_dump(mode="json"))
    assert loose is not None
    silences = {
        (f.code, f.about): Silenced(code=f.code, about=f.about, reason="looked at")
        for f in found
        if may_silence(f.code, f.severity)
    }
    left = lint(task.model_copy(update={"silenced": tuple(silences.values())}), TODAY)
    assert [f.code for f in left] == [f.code for f in found]
    assert all(bool(f.silenced) == may_silence(f.code, f.severity) for f in left)


@pytest.mark.parametrize("piece", ["a", "“", "(", "《", "，", "who ", "1,", "确认"])
def test_long_texts_cost_no_more_than_they_are_long(piece: str):
    """Counted in the work of regular expressions, this would not come back within a test's time."""
    text = piece * (12_000 // len(piece))
    for base, place in (("en", "line"), ("zh", "line"), ("en", "cue.text"), ("zh", "cue.text")):
        assert findings(base, {f"persona.stages[3].{place}": text}) is not None
    assert findings("en", {"gold.triples[6].tail": text}) is not None

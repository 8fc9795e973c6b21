from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from lint_tasks import TODAY
from strategies import tasks

from cuecard.annotate.lint import RULES, lint, loosely, may_silence
from cuecard.core.tasks import Silenced, Task


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
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

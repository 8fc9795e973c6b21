"""Rules about stages, whatever the family."""

from __future__ import annotations

from cuecard.annotate.lint.finding import Finding, warning
from cuecard.core.i18n import _
from cuecard.core.tasks import CueKind, Task


def lint_persona(task: Task) -> list[Finding]:
    """L001."""
    findings: list[Finding] = []
    for index, stage in enumerate(task.stages):
        is_start = stage.cue.kind is CueKind.START
        place = f"persona.stages[{index}].cue.kind"
        if index == 0 and not is_start:
            findings.append(
                warning(
                    "L001",
                    place,
                    _("the first stage waits for a cue, though nothing was said yet"),
                    _("Give the first stage the cue 'start'."),
                )
            )
        elif index > 0 and is_start:
            findings.append(
                warning(
                    "L001",
                    place,
                    _("the conversation has long started at stage {n}").format(n=index + 1),
                    _("Say what the agent must mention, ask or complete before this stage."),
                )
            )
    return findings

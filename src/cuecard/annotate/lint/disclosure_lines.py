"""How much a persona says at a time, and how it is paced."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.annotate.lint.case import Case, name_of
from cuecard.annotate.lint.finding import Finding, warning
from cuecard.annotate.lint.wording import count_asks
from cuecard.core.i18n import _, ngettext
from cuecard.core.tasks import CueKind

MOST_ASKS = 2
LEAST_STAGES, FEW = 8, 5
LEAST_SHARE, MOST_SHARE = 0.2, 0.4


def lint_lines(case: Case) -> Iterator[Finding]:
    """L026, L027 and L028."""
    for index, stage in enumerate(case.stages):
        if (asks := count_asks(stage.line)) > MOST_ASKS:
            yield warning(
                "L026",
                f"persona.stages[{index}].line",
                _("asks for {n} things at once").format(n=asks),
                _("Split the stage, or say what you want as a list in one request."),
                name_of(stage),
            )
    count = len(case.stages)
    if 0 < count < LEAST_STAGES:
        yield warning(
            "L027",
            "persona.stages",
            ngettext("there is {n} stage only", "there are {n} stages only", count).format(n=count),
            _("8 to 20 stages are usual; split those that ask for much."),
        )
    # Of fewer stages one more or less is already a fifth.
    asked = sum(stage.cue.kind is CueKind.ASKS for stage in case.stages)
    if count >= FEW and not LEAST_SHARE <= asked / count <= MOST_SHARE:
        yield warning(
            "L028",
            "persona.stages",
            _("{n} of {count} cues wait for the agent to ask; 20 to 40 percent should").format(
                n=asked, count=count
            ),
            _("Turn a cue into 'asks', or an 'asks' cue into 'mentions' or 'completes'."),
        )

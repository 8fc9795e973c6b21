"""An exam's misses as text: both inputs of one, beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cuecard.annotate.results.judge_exam import Chosen
from cuecard.core.exam.probes import ExamInput
from cuecard.core.i18n import _
from cuecard.core.verdicts import Decision, Judgement
from cuecard.tui.present.entries import Paragraph


def decision_word(decision: Decision) -> str:
    words = {Decision.YES: _("yes"), Decision.NO: _("no"), Decision.UNJUDGED: _("unjudged")}
    return words[decision]


def heading(chosen: Chosen) -> str:
    """Which probe, in which task, and what the judge said of what should be said."""
    each, mark = chosen
    name = f"{each.probe.id} {_(each.probe.name)}" if each.probe else each.given.key
    said = _("{said} instead of {expected}").format(
        said=decision_word(mark.decision), expected=decision_word(mark.expected)
    )
    return f"{name} · {each.task_id} · {said}"


def sides(
    chosen: Chosen,
) -> tuple[tuple[str, Sequence[Paragraph]], tuple[str, Sequence[Paragraph]]]:
    """Both inputs with their titles: gold, or the input that this one is held against, and the input itself."""
    each, mark = chosen
    right = (_("What it was given"), list(_told(each.given, each.judgement, mark.target.at)))
    if each.base is None:
        lines = [Paragraph(mark.target.gold, "strong"), Paragraph("")]
        expected = _("Right is: {decision}").format(decision=decision_word(mark.expected))
        asked = each.given.task
        rest = [*map(Paragraph, asked.gold.lines), Paragraph(""), Paragraph(asked.query, "muted")]
        return (_("Gold"), [*lines, Paragraph(expected), Paragraph(""), *rest]), right
    base = list(_told(each.base, each.before, mark.target.at))
    return (_("What it is held against"), base), right


def _told(given: ExamInput, judgement: Judgement | None, at: str) -> Iterator[Paragraph]:
    target = next((target for target in given.targets if target.at == at), None)
    if target is not None:
        yield Paragraph(target.given or _("(left out)"), "strong")
        yield Paragraph("")
        verdicts = judgement.verdicts if judgement else ()
        verdict = next((v for v in verdicts if v.item == target.item), None)
        decision = verdict.decision if verdict else Decision.UNJUDGED
        yield Paragraph(_("The judge: {decision}").format(decision=decision_word(decision)))
        if verdict is not None and verdict.rationale:
            yield Paragraph(verdict.rationale, "muted")
        yield Paragraph("")
    for line in given.prediction.listing:
        told = target.given.split("; ") if target is not None and target.given else ()
        marked = any(text in line.replace(" · ", " — ") for text in told)
        yield Paragraph(line, "strong" if marked else "plain")

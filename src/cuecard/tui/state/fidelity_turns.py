"""A simulator's turn as it is listed and read: both decisions, both texts, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.annotate.fidelity.material import Case
from cuecard.annotate.fidelity.turns import TurnRow
from cuecard.annotate.fidelity.words import (
    FINDING_WORDS,
    SOURCE_WORDS,
    decision_word,
    simulator_word,
)
from cuecard.core.i18n import _
from cuecard.core.text import one_line
from cuecard.core.words import CUE_WORDS
from cuecard.tui.state.entries import Paragraph, Tone
from cuecard.tui.state.labels import player_name
from cuecard.tui.widgets.grid.source import GridCell

NONE = "–"


def place_word(case: Case) -> str:
    """Where in the task: the stage and its title, or the step."""
    if case.checkpoint is not None:
        return _("step {n}").format(n=case.checkpoint + 1)
    if case.stage is None:
        return _("all said")
    title = one_line(case.task.stages[case.stage - 1].title, 40)
    return _("stage {n} {title}").format(n=case.stage, title=title)


def findings_word(row: TurnRow) -> str:
    return ", ".join(_(FINDING_WORDS[finding.kind]) for finding in row.findings)


def row_cells(row: TurnRow, *, several: bool) -> Sequence[str | GridCell]:
    """A line of the list; with `several` simulators it says whose."""
    case = row.case
    who = (simulator_word(row.voice.player),) if several else ()
    severe = row.severity >= 4
    return (
        case.task.id,
        str(case.turn + 1),
        place_word(case),
        *who,
        decision_word(case.subject, row.reference),
        GridCell(decision_word(case.subject, row.decision), "warn" if row.differs else "plain"),
        GridCell(findings_word(row), "bad" if severe else "plain"),
    )


def heading(row: TurnRow) -> str:
    """`espresso · turn 4 · stage 3 … · trial 12 · seeker`."""
    case = row.case
    parts = (
        case.task.title,
        _("turn {n}").format(n=case.turn + 1),
        place_word(case),
        _("trial {n}").format(n=case.trial_id),
        _("agent {name}").format(name=player_name(case.agent)),
    )
    return " · ".join(one_line(part, 40) for part in parts)


def cue_paragraphs(case: Case) -> list[Paragraph]:
    """What was to be decided: the cue with its kind, or the step."""
    if case.checkpoint is not None and case.task.family == "checkpoints":
        steps = getattr(case.task.gold, "steps", ())
        if case.checkpoint < len(steps):
            return [Paragraph(steps[case.checkpoint].question, "stage")]
    if case.stage is None:
        return []
    stage = case.task.stages[case.stage - 1]
    lines = [Paragraph(f"{_(CUE_WORDS[stage.cue.kind.value])}: {stage.cue.text}", "stage")]
    return [*lines, Paragraph(_("line: {line}").format(line=stage.line), "muted")]


def people_paragraphs(row: TurnRow) -> list[Paragraph]:
    """Who decided what, and the words of the person who played."""
    case = row.case
    lines: list[Paragraph] = []
    if row.reference:
        lines.append(Paragraph(decision_word(case.subject, row.reference), "strong"))
    for name, value in case.people.items():
        said = f"{name}: {decision_word(case.subject, value)}"
        if name == case.player:
            said += f" · {_('played it')}"
        lines.append(Paragraph(said, "muted"))
    if case.adjudicated:
        word = decision_word(case.subject, case.adjudicated)
        lines.append(Paragraph(_("adjudicated: {label}").format(label=word), "muted"))
    if not case.people and not case.adjudicated:
        lines.append(Paragraph(_("Nobody has decided on this turn."), "muted"))
    if case.person is not None:
        lines += [Paragraph(""), Paragraph(case.person.text or NONE)]
    return lines


def simulator_paragraphs(row: TurnRow) -> list[Paragraph]:
    """What the simulator decided and said, what is wrong with it, and why it decided so."""
    tone: Tone = "bad" if row.differs else "good" if row.reference and row.decision else "strong"
    lines = [Paragraph(decision_word(row.case.subject, row.decision), tone)]
    for finding in row.findings:
        said = _(FINDING_WORDS[finding.kind])
        if finding.found:
            said += f": {one_line(finding.found, 160)}"
        if finding.flagged:
            said += f" · {_('mended since')}"
        lines.append(Paragraph(f"⚑ {said}", "bad"))
    lines += [Paragraph(""), Paragraph(row.voice.reply.text or NONE)]
    if row.voice.reply.reason:
        reason = _("why: {reason}").format(reason=row.voice.reply.reason)
        lines += [Paragraph(""), Paragraph(reason, "muted")]
    return lines


def simulator_title(row: TurnRow) -> str:
    return f"{simulator_word(row.voice.player)} · {_(SOURCE_WORDS[row.voice.source])}"

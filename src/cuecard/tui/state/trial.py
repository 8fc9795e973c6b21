"""One trial beside its transcript: timeline, ladder, verdicts and measures as entries and rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cuecard.core.i18n import _, ngettext
from cuecard.core.parts import CheckpointStatus, Message
from cuecard.core.scoring.labels import COUNTS, measure_label
from cuecard.core.scoring.measures import Measure
from cuecard.core.tasks import Checkpoint, CheckpointChain, Stage
from cuecard.core.text import one_line
from cuecard.core.users.moves import ADVANCING
from cuecard.core.verdicts import Decision
from cuecard.tui.glyphs import TERMINATION
from cuecard.tui.state.labels import AMBIGUITY, player_name, status_label
from cuecard.tui.state.transcript import Entry, Paragraph, Piece, Tone

if TYPE_CHECKING:
    from cuecard.lab.trial_view import StageMark, TrialView, VerdictView

Shown = Literal["all", "no", "yes", "unjudged"]
SHOWN: tuple[Shown, ...] = ("all", "no", "yes", "unjudged")

SHORT = 80
"""Characters of context that stand beside a gold item; longer context folds."""

_DECISION: dict[Decision, tuple[str, Tone]] = {
    Decision.YES: ("✓", "good"),
    Decision.NO: ("✗", "bad"),
    Decision.UNJUDGED: ("?", "muted"),
}


@dataclass(frozen=True)
class MeasureRow:
    """A measure as text: what it is called, its value or a dash, its n, and why there is no value."""

    label: str
    value: str
    n: str
    reason: str


def heading(view: TrialView) -> list[list[Piece]]:
    """Two lines: what was played, and by whom."""
    trial = view.trial
    glyph, _variable, label = TERMINATION[trial.termination.value if trial.termination else ""]
    failed = trial.termination is not None and trial.termination.is_failure
    events = ngettext("{n} event", "{n} events", len(view.events)).format(n=len(view.events))
    numbers = [
        _("revision {n}").format(n=trial.revision),
        _("sample {n}").format(n=trial.sample + 1),
        events,
    ]
    what = [
        Piece(one_line(view.task.title, 40), "strong"),
        Piece(f"  {glyph} {_(label)}", "bad" if failed else "good"),
        Piece("  " + " · ".join(numbers), "muted"),
    ]
    players = [
        (_("agent"), trial.agent),
        (_("user"), trial.user),
        (_("world"), trial.world),
        (_("judge"), view.judge),
    ]
    who: list[Piece] = []
    for part, ref in players:
        who.append(Piece(("  " if who else "") + part + " ", "muted"))
        who.append(Piece(player_name(ref) + ("*" if ref.baseline else "") if ref else "–"))
    if any(ref.baseline for _part, ref in players if ref):
        who.append(Piece("  * " + _("baseline"), "muted"))
    return [what, who]


def stage_entries(marks: Sequence[StageMark], stages: Sequence[Stage]) -> list[Entry]:
    """The persona's stages in order, with when each was disclosed; its card folds."""
    return [_stage_entry(mark, stage) for mark, stage in zip(marks, stages, strict=False)]


def _stage_entry(mark: StageMark, stage: Stage) -> Entry:
    said = mark.turn is not None
    head = [
        Piece("✓ " if said else "· ", "good" if said else "muted"),
        Piece(f"{mark.number} {one_line(mark.title, 60)}", "plain" if said else "muted"),
    ]
    if mark.turn is not None:
        head.append(Piece(" · " + _("turn {n}").format(n=mark.turn + 1), "muted"))
    if mark.cue_met is False:
        head.append(Piece(" · " + _("✗ cue not met"), "bad"))
    if mark.pushes:
        pushed = ngettext("{n} push before", "{n} pushes before", mark.pushes)
        head.append(Piece(" · " + pushed.format(n=mark.pushes), "stage"))
    fold = (
        Paragraph(_("CUE"), "agent", 2),
        Paragraph(stage.cue.text, indent=4),
        Paragraph(_("LINE"), "agent", 2),
        Paragraph(stage.line, indent=4),
    )
    return Entry("work", -1 if mark.turn is None else mark.turn, tuple(head), fold=fold)


def step_entries(chain: CheckpointChain, messages: Sequence[Message]) -> list[Entry]:
    """The ladder: every checkpoint with the readings of the agent's turns at it."""
    reading: dict[int, list[Message]] = {}
    for message in messages:
        if message.role == "user" and message.checkpoint is not None and message.status:
            reading.setdefault(message.checkpoint, []).append(message)
    return [_step_entry(i, step, reading.get(i, [])) for i, step in enumerate(chain.steps)]


def _step_entry(index: int, step: Checkpoint, readings: list[Message]) -> Entry:
    advanced = any(message.status in ADVANCING for message in readings)
    mark, tone = ("✓ ", "good") if advanced else ("✗ ", "bad") if readings else ("· ", "muted")
    head = [
        Piece(mark, tone),
        Piece(f"{index + 1} {one_line(step.question, 80)}", "plain" if readings else "muted"),
    ]
    if step.ambiguity:
        kind = _(AMBIGUITY[step.ambiguity.type])
        head.append(Piece(" · " + _("ambiguous: {kind}").format(kind=kind), "stage"))
    body = tuple(
        Paragraph(_reading(message.turn, message.status), "muted", 4)
        for message in readings
        if message.status
    )
    fold = [Paragraph(_("TARGET"), "agent", 2), Paragraph(" / ".join(step.names), indent=4)]
    if step.ambiguity:
        fold += [
            Paragraph(_("CLUE"), "agent", 2),
            Paragraph(step.ambiguity.clue, indent=4),
            Paragraph(_("WHY AMBIGUOUS"), "agent", 2),
            Paragraph(step.ambiguity.logic, indent=4),
        ]
    turn = readings[0].turn if readings else -1
    return Entry("work", turn, tuple(head), body, tuple(fold))


def _reading(turn: int, status: CheckpointStatus) -> str:
    return _("turn {n}").format(n=turn) + f": {status_label(status)}"


def verdict_entries(verdicts: Iterable[VerdictView], shown: Shown = "all") -> list[Entry]:
    """The judge's decisions on the gold items; evidence and rationale fold."""
    return [
        _verdict_entry(view)
        for view in verdicts
        if shown == "all" or view.verdict.decision.value == shown
    ]


def _verdict_entry(view: VerdictView) -> Entry:
    verdict, gold = view.verdict, view.gold
    mark, tone = _DECISION[verdict.decision]
    head = [Piece(f"{mark} ", tone), Piece(f"{verdict.item.index + 1}. {one_line(gold.text, 400)}")]
    context = " · ".join(one_line(part) for part in gold.context)
    fold: list[Paragraph] = []
    if len(context) > SHORT:
        fold.append(Paragraph(context, "muted", 4))
    elif context:
        head.append(Piece(f" · {context}", "muted"))
    if gold.also:
        fold += [
            Paragraph(_("Also accepted: {names}").format(names=", ".join(gold.also)), indent=4)
        ]
    for item in view.supporting:
        text = item.cell or item.text
        fold.append(Paragraph(f"← {item.index + 1}. {text}", "work", 4))
    missing = [i for i in verdict.supporting if i not in {item.index for item in view.supporting}]
    if missing:
        numbers = ", ".join(str(index + 1) for index in missing)
        fold.append(Paragraph(_("names items that do not exist: {n}").format(n=numbers), "bad", 4))
    if verdict.rationale:
        fold.append(Paragraph(verdict.rationale, "muted", 4))
    if not fold:
        fold.append(Paragraph(_("nothing supports it, and no reason was given"), "muted", 4))
    return Entry("work", -1, tuple(head), fold=tuple(fold))


def verdict_counts(verdicts: Sequence[VerdictView]) -> str:
    """`✓ 12 · ✗ 3 of 15`, and how many are not judged."""
    n = {d: sum(view.verdict.decision is d for view in verdicts) for d in Decision}
    counts = _("✓ {yes} · ✗ {no} of {n}").format(
        yes=n[Decision.YES], no=n[Decision.NO], n=len(verdicts)
    )
    if n[Decision.UNJUDGED]:
        counts += " · " + _("? {n} not judged").format(n=n[Decision.UNJUDGED])
    return counts


def measure_value(name: str, value: float | None) -> str:
    """A count as a whole number, a share with three decimals, a dash where there is none."""
    if value is None:
        return "–"
    if name in COUNTS:
        return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
    return f"{value:.3f}"


def measure_rows(measures: Iterable[Measure]) -> list[MeasureRow]:
    return [
        MeasureRow(
            label=measure_label(measure.name),
            value=measure_value(measure.name, measure.value),
            n=str(measure.n),
            reason=measure.reason if measure.value is None else "",
        )
        for measure in measures
    ]

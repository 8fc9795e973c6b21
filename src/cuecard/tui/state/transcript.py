"""A trial's log as a person reads it: turns with their badges, tool calls folded into one entry."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace

from cuecard.core.events import (
    AgentSpoke,
    Concluded,
    Event,
    Marked,
    ModelReplied,
    ToolAnswered,
    TrialEnded,
    UserSpoke,
)
from cuecard.core.i18n import _, ngettext
from cuecard.core.parts import Act, UserReply
from cuecard.core.prediction import (
    AnswerPrediction,
    Prediction,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.core.tasks import Task
from cuecard.core.text import one_line
from cuecard.tui.glyphs import TERMINATION
from cuecard.tui.state.entries import Entry, Paragraph, Piece, Role, Tone
from cuecard.tui.state.labels import status_label
from cuecard.tui.state.marks import flag_label, mark_entry
from cuecard.tui.state.work_entry import Work, shows_text

__all__ = [
    "Entry",
    "Fold",
    "Paragraph",
    "Piece",
    "Role",
    "Tone",
    "entries_of",
    "handed_in",
    "writing",
]


def entries_of(
    events: Iterable[Event], task: Task | None = None, left_out: Container[int] = ()
) -> list[Entry]:
    """The entries of a log in order; `task` names the stages. `left_out`: numbers of events whose
    large texts are only beginnings.
    """
    fold = Fold(task, left_out)
    for event in events:
        fold.add(event)
    return fold.entries()


class Fold:
    """The entries of a log that is read event by event."""

    def __init__(self, task: Task | None = None, left_out: Container[int] = ()) -> None:
        self._task, self._left_out = task, left_out
        self._entries: list[Entry] = []
        self._work: Work | None = None
        self._working: Entry | None = None

    def entries(self) -> list[Entry]:
        """What there is by now, the calls of a turn that is under way included."""
        if self._work is None:
            return list(self._entries)
        self._working = self._working or self._work.entry()
        return [*self._entries, self._working]

    def add(self, event: Event) -> None:
        body = event.body
        if isinstance(body, ModelReplied | ToolAnswered):
            work = self._work
            if work is None or (work.part, work.turn) != (body.part, body.turn):
                self._close()
                work = self._work = Work(body.part, body.turn)
            self._working = None
            work.add(body, event.seq)
            if event.seq in self._left_out and shows_text(body):
                work.left_out.append(event.seq)
            return
        self._close()
        match body:
            case UserSpoke():
                entry = _user_entry(body, self._task)
            case AgentSpoke():
                entry = _agent_entry(body)
            case Marked():
                entry = mark_entry(body)
            case Concluded():
                entry = handed_in(body.prediction)
            case TrialEnded():
                entry = _end_entry(body, self._entries)
            case _:
                return
        self._entries.append(replace(entry, events=(event.seq,)))

    def _close(self) -> None:
        if self._work:
            self._entries.append(self._working or self._work.entry())
            self._work = self._working = None


def writing(turn: int, body: tuple[Paragraph, ...]) -> Entry:
    """The agent's reply as far as it is written."""
    head = (Piece(_("Agent"), "agent"), Piece(f" · {_('is writing…')}", "muted"))
    return Entry("writing", turn, head, body)


def handed_in(prediction: Prediction) -> Entry:
    """What the agent concluded with; the items fold."""
    title, paragraphs = _prediction(prediction)
    tone: Tone = "bad" if isinstance(prediction, UnusablePrediction) else "strong"
    return Entry(
        "handed", 0, (Piece(_("Handed in"), "agent"), Piece(f" · {title}", tone)), fold=paragraphs
    )


def _prediction(prediction: Prediction) -> tuple[str, tuple[Paragraph, ...]]:
    match prediction:
        case TriplesPrediction(triples=triples):
            n = len(triples)
            title = ngettext("{n} triple", "{n} triples", n).format(n=n)
            rows = [f"{i}. {t.head} · {t.relation} · {t.tail}" for i, t in enumerate(triples, 1)]
        case TablePrediction(columns=columns, rows=cells):
            n = len(cells)
            title = ngettext("a table of {n} row", "a table of {n} rows", n).format(n=n)
            rows = [" | ".join(columns), *(" | ".join(row) for row in cells)]
        case AnswerPrediction(answer=answer):
            title, rows = one_line(answer, 120), [answer]
        case UnusablePrediction(reason=reason):
            title, rows = _("nothing usable: {reason}").format(reason=one_line(reason, 120)), []
    if prediction.raw and not isinstance(prediction, AnswerPrediction):
        rows += ["", _("As it came:"), prediction.raw]
    return title, tuple(Paragraph(row, indent=2) for row in rows)


def _user_entry(body: UserSpoke, task: Task | None) -> Entry:
    reply = body.reply
    head = [Piece(_("User"), "user"), *_user_badges(reply, task)]
    fold = (Paragraph(reply.reason, "muted", 2),) if reply.reason else ()
    return Entry("user", body.turn, tuple(head), (Paragraph(reply.text),), fold)


def _user_badges(reply: UserReply, task: Task | None) -> list[Piece]:
    badges: list[Piece] = []
    if reply.cue_met is not None:
        met = reply.cue_met
        label = _("✓ cue met") if met else _("✗ cue not met")
        badges.append(Piece(f" · {label}", "good" if met else "bad"))
    elif reply.unsure:
        badges.append(Piece(f" · {_('~ cue left open')}", "muted"))
    if reply.evidence:
        badges.append(Piece(f" “{one_line(reply.evidence.text, 40)}”", "muted"))
    if reply.stage is not None:
        badges.append(Piece(f" · ▸ {stage_label(reply.stage, task)}", "stage"))
        if reply.edited:
            badges.append(Piece(f" · {_('line edited')}", "muted"))
    if reply.meaning == "changed":
        badges.append(Piece(f" · {_('says something else than the line')}", "bad"))
    if reply.checkpoint is not None:
        step = _("step {n}").format(n=reply.checkpoint + 1)
        badges.append(Piece(f" · {step}", "stage"))
    if reply.status is not None:
        badges.append(Piece(f" {status_label(reply.status)}", "muted"))
    badges += [Piece(f" · ⚑ {flag_label(flag)}", "bad") for flag in reply.flags]
    if reply.done:
        badges.append(Piece(f" · {_('ends here')}", "muted"))
    return badges


def stage_label(number: int, task: Task | None) -> str:
    """`stage 3/12 The first patent`; `number` counts from 1."""
    stages = task.stages if task else ()
    if 1 <= number <= len(stages):
        title = one_line(stages[number - 1].title, 40)
        return _("stage {n}/{total} {title}").format(n=number, total=len(stages), title=title)
    return _("stage {n}").format(n=number)


def _agent_entry(body: AgentSpoke) -> Entry:
    head = [Piece(_("Agent"), "agent")]
    if body.reply.act is Act.ASK:
        head.append(Piece(f" · {_('asks')}", "muted"))
    elif body.reply.act is Act.ANSWER:
        head.append(Piece(f" · {_('answers')}", "muted"))
    if body.reply.interrupted:
        head.append(Piece(f" · {_('interrupted')}", "bad"))
    return Entry("agent", body.turn, tuple(head), (Paragraph(body.reply.text, markdown=True),))


def _end_entry(body: TrialEnded, before: Sequence[Entry]) -> Entry:
    glyph, _variable, label = TERMINATION[body.termination.value]
    tone: Tone = "bad" if body.termination.is_failure else "muted"
    turn = before[-1].turn if before else 0
    detail = (Paragraph(body.detail, tone),) if body.detail else ()
    ended = _("The trial ended: {reason}").format(reason=_(label))
    return Entry("end", turn, (Piece(f"{glyph} {ended}", tone),), detail)

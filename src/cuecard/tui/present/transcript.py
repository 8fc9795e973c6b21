"""A trial's log as a readable transcript, at once or while it grows."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from typing import Final

from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    Marked,
    ModelReplied,
    ToolAnswered,
    TrialEnded,
    TrialRetried,
    UserSpoke,
    kept_by,
)
from cuecard.core.engine.messages import (
    Act,
    CallsCut,
    Compaction,
    Flag,
    FlagKind,
    HarnessPermission,
    HarnessSession,
    HarnessTool,
    NotesKept,
    NotesRead,
    PartTaken,
    Printed,
    Remark,
    UserReply,
)
from cuecard.core.i18n import N_, _, headed, ngettext
from cuecard.core.predictions import Prediction, UnusablePrediction
from cuecard.core.tasks.models import Task
from cuecard.core.text import one_line
from cuecard.tui.present.entries import Entry, Paragraph, Piece, Segment, Segments, Tone
from cuecard.tui.present.labels import TERMINATION, status_label
from cuecard.tui.present.tool_calls import Work, shows_text

FLAG_LABELS: Final[dict[FlagKind, str]] = {
    FlagKind.LEAK: N_("leak: {found}"),
    FlagKind.FORMAT: N_("form: {found}"),
    FlagKind.UNUSABLE: N_("the model's reply could not be used"),
}

REMARKS: Final = {
    "agent": N_("✎ {name} on the agent"),
    "task": N_("✎ {name} on the task"),
    "other": N_("✎ {name} noted"),
}


def flag_label(flag: Flag) -> str:
    return one_line(_(FLAG_LABELS[flag.kind]).format(found=flag.found), 80)


def mark_entry(body: Marked) -> Entry:
    """One line; what belongs to it folds."""
    title, lines = _told(body)
    fold = tuple(Paragraph(line, "plain", 4) for line in lines if line)
    return Entry("work", body.turn, (Piece(title, "work"),), fold=fold)


def _told(body: Marked) -> tuple[str, list[str]]:
    match body.mark:
        case Compaction(strategy="summary") as cut:
            title = _("✂ The conversation was summed up for the model, at {n} tokens")
            return title.format(n=f"{cut.before:,}"), [cut.summary]
        case Compaction() as cut:
            title = ngettext(
                "✂ The oldest message was left out for the model, at {n} tokens",
                "✂ The oldest {dropped} messages were left out for the model, at {n} tokens",
                cut.dropped,
            )
            return title.format(dropped=cut.dropped, n=f"{cut.before:,}"), []
        case NotesRead(notes=notes):
            title = ngettext(
                "{n} lesson from earlier tasks", "{n} lessons from earlier tasks", len(notes)
            )
            return title.format(n=len(notes)), list(notes)
        case NotesKept(notes=notes):
            title = ngettext(
                "{n} lesson kept for later tasks", "{n} lessons kept for later tasks", len(notes)
            )
            return title.format(n=len(notes)), list(notes)
        case HarnessSession() as begun:
            title = _("{harness}: session begun")
            if begun.restored:
                title = _("{harness}: session taken up")
            elif begun.retold:
                title = _("{harness}: begun again and told the dialogue so far")
            name = one_line(begun.harness, 60) or _("harness")
            return title.format(harness=name), [begun.session]
        case HarnessTool() as used:
            name = one_line(" · ".join(filter(None, (used.name, used.title, used.status))), 120)
            return _("harness's own tool: {name}").format(name=name), [used.input, used.output]
        case HarnessPermission() as asked:
            title = {
                "allowed": _("the harness asked and was allowed: {name}"),
                "refused": _("the harness asked and was refused: {name}"),
                "cancelled": _("the harness asked and got no answer: {name}"),
            }[asked.answer]
            name = one_line(" · ".join(filter(None, (asked.name, asked.title))), 120)
            ruled = " · ".join(filter(None, (f"permissions: {asked.policy}", asked.option)))
            return title.format(name=name), [*asked.places, asked.input, ruled]
        case Printed(text=printed):
            return _("printed by the player's own code"), [printed]
        case Remark(about=about, text=said, by=by):
            title = _(REMARKS[about]).format(name=one_line(by, 40) or "?")
            return headed(title, one_line(said, 120)), [said]
        case CallsCut(calls=calls):
            title = ngettext(
                "✂ The run was stopped: {n} call was given up without an answer",
                "✂ The run was stopped: {n} calls were given up without an answer",
                len(calls),
            )
            waited = _("{what}, after {n} s")
            lines = [waited.format(what=one_line(c.what, 80), n=f"{c.seconds:g}") for c in calls]
            return title.format(n=len(calls)), lines
        case PartTaken(person=person):
            return _("{name} plays the agent").format(name=one_line(person, 40)), []


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
    listed = tuple(Paragraph(row, indent=2) for row in prediction.listing)
    tone: Tone = "bad" if isinstance(prediction, UnusablePrediction) else "strong"
    head = (Piece(_("Handed in"), "agent"), Piece(f" · {prediction.summary(120)}", tone))
    return Entry("handed", 0, head, fold=listed)


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


class TranscriptState:
    """`follow` what happened and `write` what is streamed; `entries` is what a `Transcript` loads.

    Entries that did not change are the same objects in each answer, and so are the paragraphs of the
    reply that is being written, but for its last.
    """

    def __init__(self, task: Task | None = None) -> None:
        self._task = task
        self._effective: list[Event] = []
        self._fold = Fold(task)
        self._turn: int = 0
        self._written = Segments()
        self._paragraphs: list[Paragraph] = []

    @property
    def effective(self) -> Sequence[Event]:
        """The events that stand."""
        return self._effective

    @property
    def is_writing(self) -> bool:
        """Whether something was written that is not in the log yet."""
        return bool(self._written.closed or self._written.open)

    @property
    def entries(self) -> Sequence[Entry]:
        entries = self._fold.entries()
        return [*entries, writing(self._turn, self._body())] if self.is_writing else entries

    def follow(self, event: Event) -> None:
        """Take in an event; a `TrialRetried` takes back what its effective log leaves out."""
        body = event.body
        if isinstance(body, AgentSpoke | Concluded | TrialEnded | TrialRetried):
            self._written, self._paragraphs = Segments(), []
        if isinstance(body, TrialRetried):
            self._effective = kept_by(self._effective, body)
            self._fold = Fold(self._task)
            for kept in self._effective:
                self._fold.add(kept)
            return
        self._effective.append(event)
        self._fold.add(event)

    def write(self, turn: int, text: str) -> None:
        """Take in a piece of the reply as it is written."""
        if turn != self._turn:
            self._turn, self._written, self._paragraphs = turn, Segments(), []
        self._written.add(text)

    def _body(self) -> tuple[Paragraph, ...]:
        closed, last = self._written.closed, self._written.open
        self._paragraphs += map(_paragraph, closed[len(self._paragraphs) :])
        return (*self._paragraphs, _paragraph(last)) if last else tuple(self._paragraphs)


def _paragraph(segment: Segment) -> Paragraph:
    return Paragraph(segment.text, segment=segment)

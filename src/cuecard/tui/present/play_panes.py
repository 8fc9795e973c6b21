"""Panes beside the dialogue of Play: the ladder of stages or steps, and numbers about the session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len

from cuecard.core.engine.events import (
    AgentSpoke,
    Event,
    Marked,
    ModelReplied,
    ToolAnswered,
    TrialRetried,
    TrialStarted,
    UserSpoke,
    kept_by,
)
from cuecard.core.engine.messages import HarnessTool, Message, PlayerRef, Remark, Usage
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.i18n import N_, _, active, beside, ngettext, pgettext, stopwatch
from cuecard.core.text import one_line
from cuecard.core.users.responder import ADVANCING
from cuecard.tui.present.entries import Piece, Tone
from cuecard.tui.present.labels import status_label
from cuecard.tui.present.play import PlayState
from cuecard.tui.present.play_decisions import StageState

if TYPE_CHECKING:
    from cuecard.core.evaluation.shadows import Listening


Later = Literal["titles", "nothing", "lines"]
_MARK: dict[StageState, tuple[str, Tone]] = {
    "done": ("✓", "good"),
    "now": ("▸", "agent"),
    "later": ("·", "muted"),
}


@dataclass(frozen=True)
class Rung:
    """`fold`: lines that show when the rung is opened; none where there is nothing to open."""

    head: tuple[Piece, ...]
    fold: tuple[Piece, ...] = ()


def rungs_of(state: PlayState, later: Later = "titles") -> list[Rung]:
    """The stages and then the steps of the task, in order. `later`: what shows of those to come."""
    return [*_stages(state, later), *_steps(state, later)]


def _stages(state: PlayState, later: Later) -> list[Rung]:
    rungs: list[Rung] = []
    for number, stage in enumerate(state.task.stages, start=1):
        place = state.stage_state(number)
        if place == "later" and later == "nothing":
            continue
        fold: tuple[Piece, ...] = ()
        if place == "done":
            fold = (Piece(stage.line), *_said(state, number, stage.line))
        elif place == "later" and later == "lines":
            fold = (Piece(stage.line, "muted"),)
        rungs.append(_rung(place, number, stage.title, fold))
    return rungs


def _said(state: PlayState, number: int, line: str) -> tuple[Piece, ...]:
    said = next(m for m in state.dialogue.of("user") if m.stage == number)
    told = _("said in turn {n}").format(n=said.turn + 1)
    if line.strip() in said.text:
        return (Piece(told, "muted"),)
    return (Piece(_("{told}, in other words:").format(told=told), "muted"), Piece(said.text))


def _steps(state: PlayState, later: Later) -> list[Rung]:
    chain, now = state.chain, state.step_number
    if chain is None:
        return []
    rungs: list[Rung] = []
    for index, step in enumerate(chain.steps):
        done = now is None or index < now
        place: StageState = "done" if done else "now" if index == now else "later"
        if place == "later" and later == "nothing":
            continue
        fold = _step_fold(state, chain, index) if place == "done" or later == "lines" else ()
        rungs.append(_rung(place, index + 1, step.question, fold if place != "now" else ()))
    return rungs


def _step_fold(state: PlayState, chain: CheckpointChain, index: int) -> tuple[Piece, ...]:
    step = chain.steps[index]
    lines = [Piece(_("target: {names}").format(names=" / ".join(step.names)))]
    if step.ambiguity:
        turn = state.released_in(index)
        told = clue_told(turn)
        clue = _("clue: {clue}").format(clue=step.ambiguity.clue)
        lines.append(Piece(beside(clue, told), "plain" if turn is not None else "muted"))
    read = _read_at(state, index)
    if read and read.status:
        turn_told = _("turn {n}").format(n=read.turn + 1)
        lines.append(Piece(f"{status_label(read.status)} · {turn_told}", "muted"))
    return tuple(lines)


def _read_at(state: PlayState, index: int) -> Message | None:
    """The reading that led on from a step."""
    users = state.dialogue.of("user")
    return next((m for m in users if m.checkpoint == index and m.status in ADVANCING), None)


def clue_told(turn: int | None) -> str:
    """Whether a clue is released; `turn` from 0."""
    if turn is None:
        return _("not released yet")
    return _("released in turn {n}").format(n=turn + 1)


def _rung(place: StageState, number: int, title: str, fold: tuple[Piece, ...]) -> Rung:
    mark, tone = _MARK[place]
    text_tone: Tone = "plain" if place == "now" else "muted"
    return Rung(
        (Piece(f"{mark} ", tone), Piece(f"{number} {one_line(title, 80)}", text_tone)), fold
    )


@dataclass(frozen=True)
class Note:
    """`turn` counts from 0, as the log does."""

    turn: int
    remark: Remark


@dataclass(frozen=True)
class Spent:
    """What one payer's calls have cost. `cost` is None where no call had a price; `unpriced`: how many
    had none.
    """

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    unpriced: int = 0

    def plus(self, usage: Usage, cost: float | None) -> Spent:
        known = cost is not None
        return Spent(
            calls=self.calls + 1,
            usage=self.usage.plus(usage),
            cost=(self.cost or 0.0) + cost if cost is not None else self.cost,
            unpriced=self.unpriced + (not known),
        )


@dataclass
class PlayFigures:
    """`follow` every event of the log in its order. Turns, calls and times of turns are those of the
    effective log as it stands; what was spent, noted and lived through is never taken back.

    `thinking`: seconds that each agent turn took, `yours` those of each of the person's, by turn.
    `context`: tokens in the agent's last own call, None without any. `hits` of `searched`: searches of
    a world that tells hits.
    """

    agent: PlayerRef | None = None
    max_turns: int | None = None
    turns: int = 0
    calls: int = 0
    searched: int = 0
    hits: int = 0
    context: int | None = None
    thinking: dict[int, float] = field(default_factory=dict[int, float])
    yours: dict[int, float] = field(default_factory=dict[int, float])
    spent: Spent = Spent()
    world_spent: Spent = Spent()
    notes: list[Note] = field(default_factory=list[Note])
    _active: timedelta = timedelta()
    _last: datetime | None = None
    _effective: list[Event] = field(default_factory=list[Event])
    _spoke_at: datetime | None = None

    def follow(self, event: Event) -> None:
        """Take in what happened."""
        if self._last is not None:
            self._active += active(event.at - self._last)
        self._last = event.at
        if isinstance(event.body, TrialRetried):
            self._take_back(event.body)
            self._spoke_at = event.at
            return
        self._effective.append(event)
        self._count(event)
        self._spend(event)

    def active(self, now: datetime | None = None) -> timedelta:
        """How long the session has been played, up to its last event or up to `now`. Of a pause, no
        more than `core.i18n.IDLE` counts.
        """
        if self._last is None or now is None:
            return self._active
        return self._active + active(now - self._last)

    def _take_back(self, retried: TrialRetried) -> None:
        self._effective = kept_by(self._effective, retried)
        self.turns = self.calls = self.searched = self.hits = 0
        self.thinking, self.yours, self._spoke_at = {}, {}, None
        for event in self._effective:
            self._count(event)

    def _count(self, event: Event) -> None:
        match event.body:
            case TrialStarted(agent=agent, limits=limits):
                self.agent, self.max_turns = agent, limits.max_turns
                self._spoke_at = event.at
            case UserSpoke(turn=turn):
                self._timed(self.yours, turn, event.at)
            case AgentSpoke(turn=turn):
                self.turns += 1
                self._timed(self.thinking, turn, event.at)
            case ToolAnswered(part="agent" | "conclusion", answer=answer):
                self.calls += 1
                if answer.hit is not None:
                    self.searched += 1
                    self.hits += answer.hit.hit
            case Marked(mark=HarnessTool()):
                self.calls += 1
            case _:
                pass

    def _timed(self, times: dict[int, float], turn: int, at: datetime) -> None:
        if self._spoke_at is not None:
            times[turn] = max(0.0, (at - self._spoke_at).total_seconds())
        self._spoke_at = at

    def _spend(self, event: Event) -> None:
        match event.body:
            case ModelReplied() as body if body.payer == "world":
                self.world_spent = self.world_spent.plus(body.reply.usage, body.reply.cost)
            case ModelReplied(part="agent" | "conclusion") as body:
                usage = body.reply.usage
                self.spent = self.spent.plus(usage, body.reply.cost)
                if not body.scope:
                    self.context = usage.prompt + usage.completion
            case Marked(mark=Remark() as remark, turn=turn):
                self.notes.append(Note(turn, remark))
            case _:
                pass


ABOUT = {"agent": N_("agent"), "task": N_("task"), "other": N_("other")}
_LABEL, _WHO = 13, 7
"""Cells up to the column of values, and of times."""
_SILENT = ("acp", "http")
"""Kinds of agents that do not tell what their models are asked."""


Line = list[Piece]


def figure_lines(
    figures: PlayFigures,
    *,
    now: datetime | None = None,
    currency: str = "USD",
    context: int | None = None,
    listening: Listening | None = None,
) -> list[Line]:
    """Every figure with its name; see `FiguresPane.load`."""
    turns = f"{figures.turns}"
    if figures.max_turns is not None:
        turns = _("{n} of {most}").format(n=figures.turns, most=figures.max_turns)
    lines = [
        _title(_("SESSION")),
        _row(_("turns"), turns),
        _row(_("time"), stopwatch(figures.active(now).total_seconds())),
        [],
        *_thinking(figures),
        _title(_("AGENT")),
        *_tokens(figures, currency, context),
        *_calls(figures),
    ]
    if listening is not None and listening.shadows:
        answered = _("{n} of {all} have answered").format(
            n=listening.answered, all=listening.shadows
        )
        lines += [[], _title(_("SIMULATORS LISTEN")), [Piece(answered)]]
        if listening.failed:
            lines.append([Piece(_("{n} failed").format(n=listening.failed), "bad")])
    return [*lines, [], *_notes(figures.notes)]


def _title(text: str) -> Line:
    return [Piece(text, "stage")]


def _row(label: str, value: str, tail: str = "", column: int = _LABEL) -> Line:
    # Blanks are kept where a piece begins, not where it ends.
    room = " " * max(1, column - cell_len(label))
    line = [Piece(label, "muted"), Piece(f"{room}{value}")]
    return [*line, Piece(f" · {tail}", "muted")] if tail else line


def _thinking(figures: PlayFigures) -> list[Line]:
    """How long each side took for its newest turn."""
    rows = [*_times(_("agent"), figures.thinking), *_times(_("you"), figures.yours)]
    return [_title(_("LAST TURN")), *rows, []] if rows else []


def _times(label: str, seconds: dict[int, float]) -> list[Line]:
    """The newest turn, and what is usual."""
    if not seconds:
        return []
    newest = stopwatch(seconds[max(seconds)])
    usual = _("median {time}").format(time=stopwatch(median(seconds.values())))
    return [_row(label, newest, usual if len(seconds) > 1 else "", _WHO)]


def _tokens(figures: PlayFigures, currency: str, context: int | None) -> list[Line]:
    agent, spent = figures.agent, figures.spent
    if agent is not None and agent.kind == "human":
        return [[Piece(_("a person: no tokens"), "muted")]]
    if agent is not None and agent.baseline:
        return [[Piece(_("offline: no tokens"), "muted")]]
    if not spent.calls:
        silent = agent is not None and agent.kind in _SILENT
        told = _("it does not tell its tokens") if silent else _("no model call yet")
        return [[Piece(told, "muted")]]
    usage = spent.usage
    lines = [
        _row(_("model calls"), f"{spent.calls:,}"),
        _row(_("tokens in"), f"{usage.prompt:,}"),
        _row(_("tokens out"), f"{usage.completion:,}"),
        _row(_("cost"), _cost(spent, currency)),
    ]
    if figures.context:
        share = f"{figures.context / context:.0%}" if context else ""
        lines.append(_row(_("context"), f"{figures.context:,}", share))
    return lines


def _cost(spent: Spent, currency: str) -> str:
    if spent.cost is None:
        return _("no price")
    told = f"{spent.cost:.4f} {currency}"
    if spent.unpriced:
        unpriced = ngettext("{n} call without a price", "{n} calls without a price", spent.unpriced)
        told += f" + {unpriced.format(n=spent.unpriced)}"
    return told


def _calls(figures: PlayFigures) -> list[Line]:
    lines = [_row(_("tool calls"), f"{figures.calls:,}")]
    if figures.searched:
        found = _("{hits} of {n}").format(hits=figures.hits, n=figures.searched)
        lines.append(_row(pgettext("a page came up in a search", "found"), found))
    if world := figures.world_spent.calls:
        lines.append(_row(_("world's model calls"), f"{world:,}"))
    return lines


def _notes(notes: Iterable[Note]) -> list[Line]:
    every = list(notes)
    lines = [_title(_("NOTES ({n})").format(n=len(every)))]
    if not every:
        return [*lines, [Piece(_("none yet"), "muted")]]
    for note in every:
        about = _(ABOUT[note.remark.about])
        turn = _("turn {n}").format(n=note.turn + 1)
        lines.append([Piece(f"{turn} · {about}: ", "muted"), Piece(one_line(note.remark.text))])
    return lines

"""Below the card: the stages or steps said, in hand and to come, each with what it unfolds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cuecard.core.i18n import _
from cuecard.core.parts import Message
from cuecard.core.tasks import CheckpointChain
from cuecard.core.text import one_line
from cuecard.core.users.moves import ADVANCING
from cuecard.tui.state.entries import Piece, Tone
from cuecard.tui.state.labels import status_label
from cuecard.tui.state.play import PlayState, StageState

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
        lines.append(Piece(f"{clue} ({told})", "plain" if turn is not None else "muted"))
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

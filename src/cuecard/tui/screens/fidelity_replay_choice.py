"""The choice of a recorded dialogue to re-play, and the effect of each key on a re-play session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.annotate.fidelity.replay import ReplaySession
from cuecard.annotate.fidelity.replay_turns import ReplaySummary, ReplayValue, ReplayView
from cuecard.core.i18n import N_, _, joined, ngettext
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.grid import GridCell
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.labels import player_label
from cuecard.tui.widgets.nav import EmptyState

if TYPE_CHECKING:
    from cuecard.annotate.fidelity.replay import Replayable, ReplayChoice


class ReplayChoiceScreen(ListScreen["Replayable"]):
    """The dialogues of these runs, or of all."""

    LIVE = False  # whole dialogues are read
    BINDINGS = keys(
        Key("replay_choice.open", Means.OPEN, "open", N_("Re-play"), N_("Decide turn by turn, before I am told what was decided")),
        Key("replay_choice.leave", Means.UP_ONE, "leave", N_("Back"), N_("Back")),
    )  # fmt: skip

    def __init__(self, run_ids: Sequence[int] = (), name: str = "") -> None:
        super().__init__()
        self._run_ids, self._of = tuple(run_ids), name
        self._choice: ReplayChoice | None = None
        self._done = ""

    def columns(self) -> Sequence[Column[Replayable]]:
        return (
            Column(N_("Task"), lambda each: each.title, grow=3, least=16),
            Column(N_("User part"), lambda each: player_label(each.user), grow=2, least=14),
            Column(N_("Run"), lambda each: each.run, grow=1, spare=1),
            Column(N_("Decided"), _decided, right=True),
        )

    def key(self, row: Replayable) -> int:
        return row.trial_id

    def empty(self) -> EmptyState:
        return EmptyState(
            _("No dialogue to re-play"),
            _(
                "A re-play shows what a simulator was told and asks you what it was asked: is the"
                " cue met? It needs a dialogue that you had no part in."
            ),
            ("3", hint(_("Runs: {ADD} plays tasks with a simulator, also offline"))),
            ("esc", _("Back to where you came from")),
        )

    def on_mount(self) -> None:
        self.set_interval(0.2, self._tell_progress)

    async def read(self) -> Sequence[Replayable]:
        from cuecard.annotate.fidelity.replay import replayable

        person, run_ids = self.person, self._run_ids

        def read(done: int, of: int) -> None:
            self._done = _("reading dialogues {done}/{all}").format(done=done, all=of)

        try:
            choice = await self.services.ask(lambda ws: replayable(ws, person, run_ids, read))
        finally:
            self._done = ""
        self._choice = choice
        return choice.dialogues

    def title_words(self) -> str:
        if self._done:
            return f"{_('Re-play')} · {self._done} …"
        dialogues = self._choice.dialogues if self._choice else ()
        turns, mine = (sum(each.turns for each in dialogues), sum(each.mine for each in dialogues))
        decided = _("{mine} of {turns} turns decided by me").format(mine=mine, turns=turns)
        return " · ".join(filter(None, (_("Re-play"), one_line(self._of, 40), decided)))

    def note(self) -> str:
        told: list[str] = []
        if self._choice and (own := self._choice.own):
            text = ngettext(
                "{n} dialogue is left out: you had a part in it.",
                "{n} dialogues are left out: you had a part in them.",
                own,
            )
            told.append(text.format(n=own))
        if self._choice and (beyond := self._choice.beyond):
            text = ngettext(
                "{n} older dialogue is not listed.",
                "{n} older dialogues are not listed.",
                beyond,
            )
            told.append(text.format(n=beyond))
        return joined(told)

    def action_open(self) -> None:
        from cuecard.tui.screens.fidelity_replay import ReplayScreen

        if self.row is not None:
            self.app.push_screen(ReplayScreen(self.row.trial_id))

    def _tell_progress(self) -> None:
        if self._done:
            self.tell()


def _decided(each: Replayable) -> GridCell:
    full = each.mine >= each.turns
    tone = "good" if full else "strong" if each.mine else "plain"
    return GridCell(f"{each.mine}/{each.turns}", tone)


Work = Callable[[ReplaySession], object]


@dataclass(frozen=True)
class Step:
    """What the session looks like after a key was worked off. `summary`: only at the end."""

    view: ReplayView | None
    summary: ReplaySummary | None
    total: int
    decided: int


def step_of(session: ReplaySession, work: Work) -> Step:
    """Handle a key."""
    session.touch()
    work(session)
    view = session.current
    return Step(
        view=view,
        summary=session.summary() if view is None else None,
        total=session.total,
        decided=session.decided,
    )


def nothing(session: ReplaySession) -> None:
    """Look at the turn as it stands."""


def deciding(value: ReplayValue) -> Work:
    """Decide on the turn. A key that comes too late, or twice, has no effect."""

    def work(session: ReplaySession) -> None:
        view = session.current
        if view is not None and view.mine is None and value in view.choices:
            session.decide(value)

    return work


def commenting(text: str) -> Work:
    return lambda session: session.note(text.strip())


def going_to(turn: int) -> Work:
    return lambda session: session.go_to(turn)


def on(session: ReplaySession) -> None:
    """To the next turn, once this one is decided."""
    view = session.current
    if view is not None and view.mine is not None:
        session.next()


def go_on(session: ReplaySession) -> None:
    session.go_on()


def back(session: ReplaySession) -> None:
    session.back()

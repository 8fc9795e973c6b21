"""Labelling: one verdict at a time, blind, by keyboard."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from cuecard.annotate.labelling import LabelSession, LabelView, Revealed
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.store.records import LabelValue
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.screens.ask import TextDialog
from cuecard.tui.state.labelling import (
    evidence_paragraphs,
    gold_paragraphs,
    mine_paragraphs,
    revealed_paragraphs,
)
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.paragraphs import Paragraphs

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class Step:
    """What the session looks like after a key was worked off."""

    view: LabelView | None
    revealed: Revealed | None
    position: int
    total: int
    labelled: int


class LabelScreen(CuecardScreen[None]):
    """Keys are worked off in the order they were pressed, so that none is lost at any pace."""

    CSS_PATH = "label.tcss"
    BINDINGS = keys(
        Key("label.yes", "y", "label('yes')", N_("Covered"), N_("The gold item is covered")),
        Key("label.no", "n", "label('no')", N_("Not"), N_("The gold item is not covered")),
        Key("label.unsure", "u", "label('unsure')", N_("Cannot tell"), N_("I cannot tell")),
        Key("label.comment", "c", "comment", N_("Comment"), N_("Say why; goes with my label")),
        Key("label.skip", "s", "skip", N_("Skip"), N_("Leave it for later")),
        Key("label.back", "b", "back", N_("Back"), N_("To the item before; labels can be changed")),
        Key("label.reveal", "r", "reveal", N_("Reveal"), N_("The judge's verdict, once I have labelled")),
        Key("label.agreement", "a", "agreement", N_("Agreement"), N_("How far judge and people agree")),
        Key("label.leave", "escape", "leave", N_("Done"), N_("Back to the runs; every label is saved")),
    )  # fmt: skip

    def __init__(self, run_id: int, name: str) -> None:
        super().__init__()
        self._run_id, self._name = run_id, name
        self._session: LabelSession | None = None
        self._step: Step | None = None
        self._pressed: asyncio.Queue[Callable[[LabelSession], Revealed | None]] = asyncio.Queue()

    def compose(self) -> ComposeResult:
        yield Static("", id="progress", markup=False)
        with VerticalScroll(id="gold", classes="pane") as gold:
            gold.border_title = _("Gold item")
            yield Paragraphs(id="gold-text")
        with VerticalScroll(id="evidence", classes="pane") as evidence:
            evidence.border_title = _("Handed in by the agent, likest first")
            yield Paragraphs(id="evidence-text")
        with VerticalScroll(id="mine", classes="pane") as mine:
            mine.border_title = _("Decisions")
            yield Paragraphs(id="mine-text")
        yield EmptyState(
            _("Every verdict here has your label"),
            _("Labels of others and the judge's verdicts are compared under Agreement."),
            ("a", _("Agreement of judge and people")),
            ("b", _("Back to your last item")),
            ("esc", _("Back to the runs")),
        )
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(EmptyState).display = False
        self.walk()

    @guarded("label")
    async def walk(self) -> None:
        """Open the session, then work off keys one after the other until the screen closes."""
        person, run_id = self.person, self._run_id

        def begin(ws: Workspace) -> LabelSession:
            return LabelSession(ws, person, run_id)

        session = self._session = await self.services.ask(begin)
        work: Callable[[LabelSession], Revealed | None] = _nothing
        while True:
            try:
                self._show(await asyncio.to_thread(_work_off, session, work))
            except Exception as error:  # noqa: BLE001 - one failed key must not end the walk
                self.report(error)
            work = await self._pressed.get()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view = self._step.view if self._step else None
        if action in ("label", "skip", "comment"):
            return view is not None
        if action == "reveal":
            return view is not None and view.mine is not None
        return True

    def action_label(self, value: str) -> None:
        def work(session: LabelSession) -> None:
            view = session.current
            comment = view.mine.comment if view and view.mine else ""
            session.label(LabelValue(value), comment)
            session.next()

        self._pressed.put_nowait(work)

    def action_comment(self) -> None:
        view = self._step.view if self._step else None
        if view is None:
            return
        if view.mine is None:
            self.notify(_("Label it first, then comment (b goes back)."), markup=False)
            return
        value = view.mine.value

        def said(text: str | None) -> None:
            if text is not None:
                self._pressed.put_nowait(lambda session: _comment(session, value, text))

        self.app.push_screen(TextDialog(_("Comment on this item"), view.mine.comment), said)

    def action_skip(self) -> None:
        self._pressed.put_nowait(_skip)

    def action_back(self) -> None:
        self._pressed.put_nowait(_back)

    def action_reveal(self) -> None:
        self._pressed.put_nowait(LabelSession.reveal)

    def action_agreement(self) -> None:
        from cuecard.tui.screens.agreement import AgreementScreen

        self.app.push_screen(AgreementScreen(self._run_id, self._name))

    def action_leave(self) -> None:
        self.dismiss()

    def _show(self, step: Step) -> None:
        self._step = step
        view = step.view
        for pane in self.query(".pane"):
            pane.display = view is not None
        self.query_one(EmptyState).display = view is None
        said = _("{run} · item {n} of {all} · {labelled} labelled now").format(
            run=one_line(self._name, 30),
            n=min(step.position + 1, step.total),
            all=step.total,
            labelled=step.labelled,
        )
        if view is not None:
            said = f"{said} · {one_line(view.title, 40)}"
            self.query_one("#gold-text", Paragraphs).load(gold_paragraphs(view))
            self.query_one("#evidence-text", Paragraphs).load(evidence_paragraphs(view))
            mine = mine_paragraphs(view)
            if step.revealed:
                mine += revealed_paragraphs(step.revealed)
            self.query_one("#mine").display = bool(mine)
            self.query_one("#mine-text", Paragraphs).load(mine)
        self.query_one("#progress", Static).update(said)
        self.refresh_bindings()


def _work_off(session: LabelSession, work: Callable[[LabelSession], Revealed | None]) -> Step:
    revealed = work(session)
    return Step(session.current, revealed, session.position, session.total, session.labelled)


def _nothing(session: LabelSession) -> None:
    pass


def _skip(session: LabelSession) -> None:
    session.next()


def _back(session: LabelSession) -> None:
    session.back()


def _comment(session: LabelSession, value: LabelValue, text: str) -> None:
    session.label(value, text.strip())

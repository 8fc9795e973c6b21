"""Labelling: one verdict at a time, blind, by keyboard."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from cuecard.annotate.labelling import LabelSession, LabelView, Revealed
from cuecard.core.i18n import N_, _
from cuecard.core.parts import CheckpointStatus
from cuecard.core.text import one_line
from cuecard.lab.items import PredictedItem
from cuecard.store.records import LabelValue
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.screens.ask import TextDialog
from cuecard.tui.state.labelling import (
    every_paragraph,
    evidence_paragraphs,
    gold_paragraphs,
    mine_paragraphs,
    revealed_paragraphs,
)
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.paragraphs import Paragraphs

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


Work = Callable[[LabelSession], Revealed | tuple[PredictedItem, ...] | None]


@dataclass(frozen=True)
class Step:
    """What the session looks like after a key was worked off."""

    view: LabelView | None
    revealed: Revealed | None
    position: int
    total: int
    labelled: int
    every: tuple[PredictedItem, ...] = ()


class LabelScreen(CuecardScreen[None]):
    """Keys are worked off in the order they were pressed, so that none is lost at any pace."""

    CSS_PATH = "label.tcss"
    AUTO_FOCUS = "#evidence"
    BINDINGS = keys(
        Key("label.yes", "y", "label('yes')", N_("Covered"), N_("The gold item is covered")),
        Key("label.no", "n", "label('no')", N_("Not"), N_("The gold item is not covered")),
        Key("label.unsure", "u", "label('unsure')", N_("Unsure"), N_("I cannot tell")),
        Key("label.comment", "c", "comment", N_("Comment"), N_("Say why; goes with my label")),
        Key("label.skip", "s", "skip", N_("Skip"), N_("Leave it for later"), show=False),
        Key("label.back", "b", "back", N_("Back"), N_("To the item before; labels can be changed")),
        Key("label.reveal", "r", "reveal", N_("Reveal"), N_("The judge's verdict, once I have labelled")),
        Key("label.all", "m", "all", N_("All"), N_("Everything that the agent handed in, or the likest"), show=False),
        Key("label.agreement", "a", "agreement", N_("Agreement"), N_("How far judge and people agree"), show=False),
        Key("label.leave", "escape", "leave", N_("Done"), N_("Back to the runs; every label is saved")),
    )  # fmt: skip

    def __init__(self, run_id: int, name: str, trial_id: int | None = None) -> None:
        """`trial_id`: only the verdicts of this trial of the run."""
        super().__init__()
        self._run_id, self._name, self._trial_id = run_id, name, trial_id
        self._session: LabelSession | None = None
        self._step: Step | None = None
        self._pressed: asyncio.Queue[Work] = asyncio.Queue()
        self._turn = threading.Lock()

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

    async def on_unmount(self) -> None:
        # Whoever leaves in a hurry has labelled what they pressed the keys for.
        while self._session is not None and not self._pressed.empty():
            await asyncio.to_thread(self._work_off, self._session, self._pressed.get_nowait())

    @guarded("label")
    async def walk(self) -> None:
        """Open the session, then work off keys one after the other until the screen closes."""
        person, run_id, trial_id = self.person, self._run_id, self._trial_id

        def begin(ws: Workspace) -> LabelSession:
            return LabelSession(ws, person, run_id, trial_id)

        session = self._session = await self.services.ask(begin)
        work: Work = _nothing
        while True:
            try:
                # Once begun it is finished, also when the screen closes meanwhile.
                doing = asyncio.to_thread(self._work_off, session, work)
                self._show(await asyncio.shield(doing))
            except Exception as error:  # noqa: BLE001 - one failed key must not end the walk
                self.report(error)
            work = await self._pressed.get()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view = self._step.view if self._step else None
        if action in ("label", "skip", "comment"):
            return view is not None
        if action == "all":
            return view is not None and bool(view.closest)
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

    def action_all(self) -> None:
        shown = self._step is not None and bool(self._step.every)
        self._pressed.put_nowait(_nothing if shown else LabelSession.all_predicted)

    def action_leave(self) -> None:
        self.dismiss()

    def _work_off(self, session: LabelSession, work: Work) -> Step:
        """In a thread; one key at a time."""
        with self._turn:
            said = work(session)
            return Step(
                view=session.current,
                revealed=said if isinstance(said, Revealed) else None,
                position=session.position,
                total=session.total,
                labelled=session.labelled,
                every=said if isinstance(said, tuple) else (),
            )

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
            evidence = every_paragraph(step.every) if step.every else evidence_paragraphs(view)
            self.query_one("#evidence-text", Paragraphs).load(evidence)
            self.query_one("#evidence").border_title = (
                _("Everything handed in by the agent")
                if step.every
                else _("Handed in by the agent, likest first")
            )
            mine = mine_paragraphs(view)
            if step.revealed:
                mine += revealed_paragraphs(step.revealed)
            self.query_one("#mine").display = bool(mine)
            self.query_one("#mine-text", Paragraphs).load(mine)
        self.query_one("#progress", Static).update(said)
        self.refresh_bindings()


def _nothing(session: LabelSession) -> None:
    pass


def _skip(session: LabelSession) -> None:
    session.next()


def _back(session: LabelSession) -> None:
    session.back()


def _comment(session: LabelSession, value: LabelValue | CheckpointStatus, text: str) -> None:
    session.label(value, text.strip())

"""The adjudication screen: one disputed item at a time, with all sides shown."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from cuecard.annotate.labelling.adjudication import (
    CAUSES,
    AdjudicationSession,
    AdjudicationView,
    Outcome,
    Why,
)
from cuecard.annotate.labelling.wording import WORDING
from cuecard.annotate.task_feedback import GOLD_WRONG
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.label_records import LabelValue
from cuecard.core.verdicts import ItemKind
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.drawing import Horizontal, VerticalScroll
from cuecard.tui.kit.walks import WalkScreen
from cuecard.tui.present import agreement as state
from cuecard.tui.present.labelling import STATUS_KEYS, gold_paragraphs, value_label
from cuecard.tui.screens.dialogs import ChoiceDialog, ConfirmDialog, TextDialog
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import HeadLine, Paragraphs

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


Work = Callable[[AdjudicationSession], Outcome | None]
Value = LabelValue | CheckpointStatus
_FRAME, _SIDES = 5, 5
"""Cells of a pane's border and scrollbar, and lines that the sides have at least."""
_PANES = ("gold", "evidence", "left", "right", "decision")


@dataclass(frozen=True)
class Step:
    """What the walk looks like after a key was worked off."""

    view: AdjudicationView | None
    position: int
    total: int
    open: int
    decided: int
    outcome: Outcome | None


class AdjudicateScreen(WalkScreen[AdjudicationSession, Step]):
    """Adjudicates items of runs (None: all) or of a labelling set. A decision applies to the item that was shown."""

    CSS_PATH = "adjudicate.tcss"
    AUTO_FOCUS = "#left"
    BINDINGS = keys(
        Key("adjudicate.yes", Means.YES, "decide('yes')", N_("Yes"), N_("Decide: covered, right, met")),
        Key("adjudicate.no", Means.NO, "decide('no')", N_("No"), N_("Decide: not covered, not right, not met")),
        Key("adjudicate.value", Means.EDIT, "value", N_("Status"), N_("Decide which status it is")),
        Key("adjudicate.unsure", Means.UNSURE, "decide('unsure')", N_("Unsure"), N_("Decide that nobody can tell")),
        Key("adjudicate.gold", Means.FLAG, "gold_wrong", N_("Gold wrong"), N_("The gold itself is wrong; its authors are told")),
        Key("adjudicate.comment", Means.COMMENT, "comment", N_("Why"), N_("Say why; goes with the decision")),
        Key("adjudicate.skip", Means.FURTHER, "skip", N_("Skip"), N_("Leave it to others, or for later")),
        Key("adjudicate.back", (Means.BEFORE, Means.UNDO), "back", N_("Back"), N_("To the dispute before; deciding again adds a decision")),
        Key("adjudicate.trial", Means.DETAILS, "trial", N_("Trial"), N_("Read the trial"), show=False),
        Key("adjudicate.filter", Means.REVEAL, "filter", N_("Decided too"), N_("With what was decided before, or without"), show=False),
        Key("adjudicate.leave", Means.UP_ONE, "leave", N_("Done"), N_("Back; every decision is saved")),
    )  # fmt: skip

    def __init__(
        self,
        name: str = "",
        run_ids: Collection[int] | None = None,
        set_id: int | None = None,
    ) -> None:
        super().__init__()
        self._name, self._scope = name, (run_ids, set_id)

    def compose(self) -> ComposeResult:
        yield HeadLine("", id="progress", markup=False)
        with Horizontal(id="what"):
            yield _pane("gold")
            yield _pane("evidence")
        with Horizontal(id="sides"):
            yield _pane("left")
            yield _pane("right")
        yield _pane("decision", _("Decision"))
        yield EmptyState(
            _("Nothing is left to decide"),
            _(
                "Here come the items on which people disagree, or people and judge do, or of which somebody"
                " holds the gold for wrong."
            ),
            ("{REVEAL}", _("With what was decided before, or without")),
            ("{BEFORE}", _("Back to the last dispute")),
            ("esc", _("Back")),
        )
        yield KeyBar()

    def on_mount(self) -> None:
        for widget in self.query("#what, #sides, #decision, EmptyState"):
            widget.display = False

    async def begin(self) -> AdjudicationSession | None:
        person, (run_ids, set_id) = self.person, self._scope

        def open_(ws: Workspace) -> tuple[AdjudicationSession, int]:
            session = AdjudicationSession(ws, person, run_ids, set_id)
            return session, session.unseen

        session, unseen = await self.services.ask(open_)
        if unseen and not await self.app.push_screen_wait(_warning(unseen)):
            return None
        return session

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        step = self.step
        if action in ("decide", "value", "gold_wrong", "comment", "skip", "trial"):
            # Until a key was worked off, the screen still shows what it was pressed on.
            if step is None or step.view is None or self.pending:
                return False
            of_status = step.view.dispute.item.kind is ItemKind.STATUS
            if action == "value":
                return of_status
            return not (of_status and parameters[:1] in (("yes",), ("no",)))
        if action == "back":
            return step is not None and step.position > 0
        if action == "filter":
            return step is not None
        return True

    def action_decide(self, value: str) -> None:
        self._ask_cause(LabelValue(value))

    def action_value(self) -> None:
        choices = [
            (status.value, letter, value_label(ItemKind.STATUS, status.value))
            for letter, status in STATUS_KEYS.items()
        ]

        def chosen(status: str | None) -> None:
            if status is not None:
                self._ask_cause(CheckpointStatus(status))

        self.app.push_screen(ChoiceDialog(_("Which status is it?"), "", choices), chosen)

    def action_gold_wrong(self) -> None:
        if self._view is not None:
            self._tell_gold(self._view, LabelValue.UNSURE)

    def action_comment(self) -> None:
        view = self._view
        if view is None:
            return
        place = view.dispute.place

        def said(text: str | None) -> None:
            if text is not None:
                self.press(lambda session: session.comment(place, text))

        title = _("Comment on this decision")
        self.app.push_screen(TextDialog(title, view.comment), said)

    def action_skip(self) -> None:
        self.press(AdjudicationSession.next)

    def action_back(self) -> None:
        self.press(AdjudicationSession.back)

    def action_filter(self) -> None:
        self.press(AdjudicationSession.toggle_decided)

    def action_trial(self) -> None:
        from cuecard.tui.screens.trial.screen import TrialScreen

        if self._view is not None:
            self.app.push_screen(TrialScreen(self._view.dispute.trial_id))

    @property
    def _view(self) -> AdjudicationView | None:
        return self.step.view if self.step else None

    def _ask_cause(self, value: Value) -> None:
        view = self._view
        if view is None:
            return
        said = value_label(view.dispute.item.kind, value.value)
        decided = view.dispute.decided
        causes: dict[str, Why] = {cause: cause for cause in CAUSES}

        def chosen(cause: str | None) -> None:
            if cause == GOLD_WRONG:
                self._tell_gold(view, value)
            elif cause is not None:
                self._decide(view, value, causes[cause])

        title = _("{decision}: what went wrong?").format(decision=said)
        first = decided.cause if decided else ""
        self.app.push_screen(ChoiceDialog(title, "", state.cause_choices(), first=first), chosen)

    def _tell_gold(self, view: AdjudicationView, value: Value) -> None:
        """Ask for a comment, because the task's authors will read it."""

        def said(text: str | None) -> None:
            if text is not None:
                self._decide(view, value, GOLD_WRONG, text.strip())

        note = _("It opens a comment on the task, and runs on this revision are marked.")
        self.app.push_screen(
            TextDialog(_("What is wrong with the gold?"), view.comment, note), said
        )

    def _decide(self, view: AdjudicationView, value: Value, cause: Why, comment: str = "") -> None:
        place = view.dispute.place
        self.press(lambda session: session.decide(place, value, cause, comment))

    def step_of(self, session: AdjudicationSession, work: Work) -> Step:
        outcome = work(session)
        view = session.current
        return Step(view, session.position, session.total, session.open, session.decided, outcome)

    def show(self, step: Step) -> None:
        self.step = step
        view = step.view
        for widget in self.query("#what, #sides, #decision"):
            widget.display = view is not None
        self.query_one(EmptyState).display = view is None
        title = view.dispute.title if view else ""
        said = state.progress(self._name, step.position, step.total, step.open, title)
        if view is None and step.decided:
            decided = ngettext("{n} decided", "{n} decided", step.decided)
            said += " · " + decided.format(n=step.decided)
        self.query_one("#progress", Static).update(said)
        if view is not None:
            self._show_dispute(view)
        if step.outcome and step.outcome.told:
            self.cue_app.tell(_("The task has a comment now, for its authors."))
        self.refresh_bindings()

    def _show_dispute(self, view: AdjudicationView) -> None:
        item = view.item
        left, right = state.columns(view)
        gold = gold_paragraphs(item, whole=True) if item else []
        shown = {
            "gold": [*state.gold_head(view), *gold],
            "evidence": state.evidence(view),
            "left": left.paragraphs,
            "right": right.paragraphs,
            "decision": state.decision(view),
        }
        for name in _PANES:
            self.query_one(f"#{name}-text", Paragraphs).load(shown[name])
            self.query_one(f"#{name}").scroll_home(animate=False)
        self._share_room()
        wording = WORDING[view.dispute.item.kind]
        self.query_one("#gold").border_title = Text(_(wording.title))
        self.query_one("#evidence").border_title = Text(_(wording.evidence))
        self.query_one("#left").border_title = Text(left.title)
        self.query_one("#right").border_title = Text(right.title)

    def on_resize(self) -> None:
        self._share_room()

    def _share_room(self) -> None:
        """The sides get what they say, up to half of the screen; gold and evidence the rest."""
        width, most = self.size.width // 2 - _FRAME, self.size.height // 2
        needed = max(
            text.get_content_height(self.size, self.size, width)
            for text in self.query("#left-text, #right-text").results(Paragraphs)
        )
        self.query_one("#sides").styles.height = min(max(needed + 2, _SIDES), most)


def _pane(name: str, title: str = "") -> VerticalScroll:
    pane = VerticalScroll(Paragraphs(id=f"{name}-text"), id=name, classes="pane")
    pane.border_title = Text(title)
    return pane


def _warning(unseen: int) -> ConfirmDialog:
    text = ngettext(
        "Adjudicating shows everybody's decisions. Of what is disputed here, you have not labelled {n}"
        " item: a label that you give on it after having seen it here does not count as blind.",
        "Adjudicating shows everybody's decisions. Of what is disputed here, you have not labelled {n}"
        " items: a label that you give on one after having seen it here does not count as blind.",
        unseen,
    )
    return ConfirmDialog(_("See what others decided?"), text.format(n=unseen), _("Adjudicate"))

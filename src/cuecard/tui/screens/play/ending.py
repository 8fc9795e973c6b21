"""The end of a session: the form, before any score is shown, then the outcome."""

from collections.abc import Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Static

from cuecard.annotate.sessions import questions_of
from cuecard.core.config import Config
from cuecard.core.engine.events import Termination
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.evaluation.items import trial_view
from cuecard.core.evaluation.play_session import PlayOutcome
from cuecard.core.i18n import N_, _, beside, headed
from cuecard.core.players import DEFAULT_JUDGE
from cuecard.core.scoring.measures import COUNTS, HEADLINES
from cuecard.core.tasks.base import FormQuestion
from cuecard.core.text import for_display, one_line
from cuecard.core.verdicts import Measure
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.drawing import Vertical
from cuecard.tui.present.drafts import KeptJson
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.labels import TERMINATION, player_label
from cuecard.tui.present.trial_summary import measure_rows
from cuecard.tui.screens.play.form import SessionFormPane, form_draft, show_handed_in, write_form
from cuecard.tui.screens.play.session import Playing
from cuecard.tui.widgets.transcript import Transcript

MAIN = frozenset(name for names in HEADLINES.values() for name in names)
"""The main measures of all families: each has its own."""
SHOWN = 6
"""Measures at most, but always the main ones."""


class Ending(Static, can_focus=True):
    """The outcome and the main scores; Enter reads the trial."""

    DEFAULT_CSS = """
    Ending {
        height: auto; max-height: 12; padding: 0 1; border: round $success;
        border-title-color: $success; background: $surface;
        &.-stopped { border: round $error; border-title-color: $error; }
    }
    """
    BINDINGS = keys(
        Key("play.read", Means.OPEN, "read", N_("Read the trial"), N_("Transcript, verdicts, scores")),
        Key("play.go_on", Means.PLAY, "go_on", N_("Go on"), N_("Take the session up again where it failed")),
    )  # fmt: skip

    class Read(Message):
        """Enter was pressed."""

    class TakenUp(Message):
        """The person wants to resume where the session failed or stopped."""

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._failed = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._failed if action == "go_on" else True

    def action_read(self) -> None:
        self.post_message(self.Read())

    def action_go_on(self) -> None:
        self.post_message(self.TakenUp())

    def load(
        self, outcome: PlayOutcome, measures: Sequence[Measure], judge: PlayerRef | None = None
    ) -> None:
        """`judge`: whose judgement the measures rest on, where there is one."""
        end = outcome.termination
        self._failed = end is None or end.is_failure
        self.set_class(self._failed, "-stopped")
        self.refresh_bindings()
        if end is None:
            self.border_title = Text(_("The session has stopped"))
            reason = outcome.problem or _("It is not known why.")
            self.update(for_display(f"{reason}\n{_what_to_do()}"))
            return
        self.border_title = Text(_("The trial has ended"))
        self.update(for_display("\n".join(_ended(outcome, end, measures, judge))))


def _what_to_do() -> str:
    return hint(
        _(
            "Nothing is lost: what was said is kept, and the session is left open. Mend the cause; then {PLAY} goes on "
            "at once, and Home any time. Escape leaves."
        )
    )


def _ended(
    outcome: PlayOutcome, end: Termination, measures: Sequence[Measure], judge: PlayerRef | None
) -> list[str]:
    glyph, _variable, label = TERMINATION[end.value]
    lines = [f"{glyph} {_(label)}", *filter(None, (one_line(outcome.detail),))]
    if end.is_failure:
        # Its scores would say nothing of the agent's answers.
        told = hint(
            _(
                "Mend the cause; then {PLAY} goes on where it failed: the agent takes that turn again."
            )
        )
        return [*lines, told, _("Enter reads the trial, Escape leaves.")]
    if outcome.judged:
        main = [m for m in measures if m.name in MAIN]
        others = [m for m in measures if m.name not in COUNTS | MAIN and m.value is not None]
        rows = measure_rows([*main, *others][: max(SHOWN, len(main))])
        who = player_label(judge) if judge else ""
        lines.append(_("Judged by {judge}:").format(judge=who) if who else _("Judged:"))
        lines += [
            f"  {beside(headed(row.label, row.value), row.reason or f'n = {row.n}')}"
            for row in rows
        ]
        if not rows:
            lines.append("  " + _("no score can be told of this trial"))
    else:
        reason = one_line(outcome.problem) or _("no judge has looked at it yet")
        lines.append(_("Not judged: {reason}").format(reason=reason))
    return [*lines, _("Enter reads the trial, Escape leaves.")]


class AfterPane(Vertical):
    """The pane after the end. Call `ask` when the agent has handed in, `close` when the outcome is known, and `settle`
    when the form is saved: scores stay hidden until then. Posts `SessionFormPane.Given`, `.Declined`, `.Later` and
    `Ending.Read`.
    """

    DEFAULT_CSS = """
    AfterPane { height: auto; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._asked = self._asking = False

    def compose(self) -> ComposeResult:
        yield SessionFormPane()
        yield Ending()

    def on_mount(self) -> None:
        self.query_one(SessionFormPane).display = False
        self.query_one(Ending).display = False

    @property
    def asking(self) -> bool:
        """Whether the form waits for the person."""
        return self._asking

    async def ask(self, questions: Sequence[FormQuestion], kept: KeptJson | None = None) -> None:
        """Show the form and take the focus. Asked again, nothing happens."""
        if self._asked:
            return
        form = self.query_one(SessionFormPane)
        self._asked = self._asking = form.display = True
        await form.load(questions, kept)

    def close(
        self, outcome: PlayOutcome, measures: Sequence[Measure], judge: PlayerRef | None = None
    ) -> None:
        """The outcome is known. Shown at once where no form waits, and else once it is settled."""
        self.query_one(Ending).load(outcome, measures, judge)
        if not self._asking:
            self._show_ending()

    def settle(self) -> None:
        """The form is kept, or declined."""
        form = self.query_one(SessionFormPane)
        form.done()
        self._asking = form.display = False
        self._show_ending()

    def _show_ending(self) -> None:
        ending = self.query_one(Ending)
        ending.display = True
        ending.focus()


class Finishing(Playing):
    """The form takes the place of the input, and the outcome that of the form."""

    _questions: Sequence[FormQuestion] = ()

    def _configure(self, config: Config) -> None:
        self._questions = questions_of(config)
        self._later = config.play.later
        self._currency = config.currency

    @guarded("form")
    async def ask_form(self) -> None:
        trial_id = self._link.trial_id if self._link else None
        if trial_id is None:
            return
        await self._after().ask(self._questions, form_draft(self.services.url, trial_id))
        self._show_dialogue()
        show_handed_in(self.query_one(Transcript))

    @guarded("ended")
    async def show_ending(self, outcome: PlayOutcome) -> None:
        judge = self._link.judge if self._link else DEFAULT_JUDGE
        view = await self.services.ask(lambda ws: trial_view(ws, outcome.trial_id, judge))
        after = self._after()
        if outcome.termination is not None and not outcome.termination.is_failure:
            # A session that was taken up after the agent had handed in has not been asked yet.
            await after.ask(self._questions, form_draft(self.services.url, outcome.trial_id))
        after.close(outcome, view.measures, view.judge)
        if outcome.termination is not None and self._file:
            self._file.discard()

    def on_session_form_pane_given(self, message: SessionFormPane.Given) -> None:
        self.keep_form(message.answers)

    def on_session_form_pane_declined(self) -> None:
        self.keep_form(None)

    def on_session_form_pane_later(self) -> None:
        self.dismiss()

    def on_ending_read(self, message: Ending.Read) -> None:
        from cuecard.tui.screens.trial.screen import TrialScreen

        message.stop()
        trial_id = self._link.trial_id if self._link else None
        if trial_id is not None:
            self.app.switch_screen(TrialScreen(trial_id))

    def on_ending_taken_up(self, message: Ending.TakenUp) -> None:
        from cuecard.tui.screens.play.screen import PlayScreen

        message.stop()
        trial_id = self._link.trial_id if self._link else None
        if trial_id is not None:
            self.app.switch_screen(PlayScreen(trial_id=trial_id))

    @guarded("keep_form")
    async def keep_form(self, answers: dict[str, int | str] | None) -> None:
        """What the person says of the session; None: they would rather not."""
        trial_id = self._link.trial_id if self._link else None
        if trial_id is None:
            return
        await write_form(self, trial_id, self._questions, answers)
        self.query_one(AfterPane).settle()

    def _after(self) -> AfterPane:
        """What stands in the input's place from now on."""
        self.composer.display = False
        self.add_class("-over")
        after = self.query_one(AfterPane)
        after.display = True
        return after

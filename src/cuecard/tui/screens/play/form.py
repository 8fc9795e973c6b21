"""What is asked of the person when a session is over, answered by keys."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static, TextArea

from cuecard.annotate.session_form import shown
from cuecard.core.config_play import FormQuestion
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.screens.ask import ConfirmDialog
from cuecard.tui.screens.play.question import Question
from cuecard.tui.state.kept_json import KeptJson
from cuecard.tui.state.session_form import FormState
from cuecard.tui.widgets.transcript import Transcript

KEEP = 0.4
"""Seconds after a change until it is on the disk."""


def form_draft(url: str, trial_id: int) -> KeptJson:
    """Where a session's form is kept while it is filled in, here and from Home."""
    return KeptJson(url, f"form of trial {trial_id}")


def show_handed_in(transcript: Transcript) -> None:
    """Open what the agent handed in and bring it into view: the form asks about it."""
    for index in range(len(transcript.entries) - 1, -1, -1):
        if transcript.entries[index].role == "handed":
            transcript.toggle(index)
            transcript.move_to(index)
            return


class SessionFormPane(Vertical):
    """`load` questions; posts `Given`, `Declined` or `Later`. What was filled in is kept as it comes, and
    is here again when the same form is loaded.
    """

    DEFAULT_CSS = """
    SessionFormPane {
        height: auto; max-height: 16; border: round $primary; background: $surface;
        border-title-color: $primary; border-subtitle-color: $muted; padding: 0 1;
        #questions { height: auto; max-height: 14; scrollbar-size-vertical: 1; }
        .asked { height: auto; padding-left: 4; }
        TextArea { height: 4; margin-left: 3; }
    }
    """
    BINDINGS = keys(
        Key("form.give", "ctrl+s", "give", N_("Hand in"), N_("Keep these answers"), shown_as="^s", priority=True),
        Key("form.later", "escape", "later", N_("Later"), N_("Leave; Home asks again. What is filled in stays")),
        Key("form.decline", "x", "decline", N_("Rather not"), N_("Say nothing of this session")),
    )  # fmt: skip

    class Given(Message):
        """The form is complete. `answers` by the questions' keys, not yet checked nor kept."""

        def __init__(self, answers: dict[str, int | str]) -> None:
            super().__init__()
            self.answers = answers

    class Declined(Message):
        """The person would rather not say."""

    class Later(Message):
        """The person leaves it for later."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._state = FormState()
        self._kept: KeptJson | None = None
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield VerticalScroll(id="questions", can_focus=False)

    async def load(self, questions: Sequence[FormQuestion], kept: KeptJson | None = None) -> None:
        """Show the questions, filled in as far as `kept` has it, and take the focus."""
        self._kept = kept
        self._state = FormState.of(questions, kept.load() if kept else {})
        self.border_title = Text(_("How was it? Before the scores"))
        box = self.query_one("#questions", VerticalScroll)
        await box.remove_children()
        await box.mount_all(self._widgets())
        self._tell()
        self.focus_first()

    def focus_first(self) -> None:
        """To the first question that must be answered, or the first of all."""
        wanted = {question.key for question in self._state.missing}
        fields = [field for field in self.query("Question, TextArea") if field.can_focus]
        named = [field for field in fields if isinstance(field, Question) and field.key in wanted]
        if fields:
            (named or fields)[0].focus()

    def on_unmount(self) -> None:
        if self._timer is not None:
            self._keep_now()

    def on_question_changed(self, event: Question.Changed) -> None:
        event.stop()
        self._changed()
        if event.done:
            self.screen.focus_next("Question, SessionFormPane TextArea")

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        if event.text_area.name:
            self._state.answers[event.text_area.name] = event.text_area.text
            self._changed()

    def action_give(self) -> None:
        # The key comes here at once, what was typed before it may still wait for its field.
        self.call_later(self._give)

    def action_later(self) -> None:
        self._keep_now()
        self.post_message(self.Later())

    def action_decline(self) -> None:
        ask = ConfirmDialog(
            _("Say nothing of this session?"),
            _("It is not asked for again. Escape instead leaves it for later."),
            _("Say nothing"),
        )
        self.app.push_screen(ask, self._declined)

    def done(self) -> None:
        """The answers are in the workspace: what was kept here can go."""
        self._stop_timer()
        if self._kept:
            self._kept.discard()

    def _give(self) -> None:
        if left := self._state.missing:
            labels = ", ".join(one_line(shown(question.label)) for question in left)
            told = _("Still to answer: {what}").format(what=labels)
            self.notify(told, severity="warning", markup=False)
            self.focus_first()
            return
        self._keep_now()
        self.post_message(self.Given(self._state.to_kept()))

    def _declined(self, sure: bool | None) -> None:
        if sure:
            self.post_message(self.Declined())

    def _changed(self) -> None:
        self._tell()
        if self._timer is None and self._kept:
            self._timer = self.set_timer(KEEP, self._keep_now)

    def _tell(self) -> None:
        left = len(self._state.missing)
        if left:
            told = ngettext("{n} to answer", "{n} to answer", left).format(n=left)
        else:
            told = _("complete: ^s hands it in")
        self.border_subtitle = Text(told)

    def _keep_now(self) -> None:
        self._stop_timer()
        if self._kept:
            self._kept.save(self._state.to_kept())

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _widgets(self) -> list[Widget]:
        found: list[Widget] = []
        for question in self._state.questions:
            if question.kind != "text":
                found.append(Question(question, self._state))
                continue
            found.append(Static(one_line(shown(question.label)), classes="asked", markup=False))
            text = str(self._state.answers.get(question.key, ""))
            found.append(
                TextArea(
                    text, soft_wrap=True, compact=True, tab_behavior="focus", name=question.key
                )
            )
        return found

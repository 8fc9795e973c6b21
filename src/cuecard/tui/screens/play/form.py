"""The form after a session: its questions, and a screen for forms that were left for later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.geometry import Size
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static, TextArea

from cuecard.annotate.sessions import check_answers, questions_of, shown
from cuecard.core.i18n import N_, NP_, _, age, listed, ngettext
from cuecard.core.tasks.base import FormQuestion
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.drawing import Vertical, VerticalScroll
from cuecard.tui.present.drafts import FormState, KeptJson, answer_for_digit
from cuecard.tui.present.entries import Piece, ink, wrap
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.labels import player_label
from cuecard.tui.present.transcript import entries_of
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.widgets.text import HeadLines, Lines
from cuecard.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from cuecard.core.engine.events import Event
    from cuecard.core.records import TrialRecord
    from cuecard.core.tasks.models import Task
    from cuecard.store.workspace import Workspace


_DIGITS = "1234567890"


class Question(Widget, can_focus=True):
    """One scale or choice. Posts `Answered` when an answer is given and it is time for the next."""

    DEFAULT_CSS = """
    Question { height: auto; width: 1fr; }
    """
    BINDINGS = keys(
        *(
            Key(f"form.digit_{digit}", Means.CHOICE, f"digit({digit})", NP_("verb", "Answer"), N_("Give this answer"), show=False, letter=str(digit))
            for digit in _DIGITS
        ),
        Key("form.less", Means.LEFT, "step(-1)", N_("Less"), N_("The answer before"), show=False),
        Key("form.more", Means.RIGHT, "step(1)", N_("More"), N_("The next answer"), show=False),
        Key("form.up", Means.UP, "screen.focus_previous", N_("Up"), N_("The question before"), show=False),
        Key("form.down", (Means.DOWN, Means.OPEN), "screen.focus_next", N_("Down"), N_("The next question"), show=False),
    )  # fmt: skip

    class Changed(Message):
        """An answer was given; `done`: with a key that also moves on."""

        def __init__(self, done: bool) -> None:
            super().__init__()
            self.done = done

    def __init__(self, question: FormQuestion, state: FormState) -> None:
        super().__init__()
        self._question, self._state = question, state

    @property
    def key(self) -> str:
        return self._question.key

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def render(self) -> Text:
        return Text("\n", no_wrap=True, overflow="ellipsis").join(
            self._lines(self.content_size.width)
        )

    def on_focus(self) -> None:
        self.refresh(layout=True)

    def on_blur(self) -> None:
        self.refresh(layout=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return (
            action != "digit"
            or answer_for_digit(self._question, cast(int, parameters[0])) is not None
        )

    def action_digit(self, digit: int) -> None:
        if self._state.press(self._question, digit):
            self._answered(done=True)

    def action_step(self, by: int) -> None:
        self._state.step(self._question, by)
        self._answered(done=False)

    def _answered(self, *, done: bool) -> None:
        self.refresh(layout=True)
        self.post_message(self.Changed(done))

    def _lines(self, width: int) -> list[Text]:
        question, state = self._question, self._state
        colours = self.app.theme_variables
        here = self.has_focus
        answer = state.answers.get(question.key)
        label = one_line(shown(question.label))
        wanted = question.required and answer is None
        head = Text.assemble(
            ("▸ " if here else "  ", "bold"),
            ("· " if wanted else "  " if answer is None else "✓ ", ink(colours, "muted")),
            (label, "bold" if here else ""),
        )
        parts = self._answers(answer)
        scale = Text().join(parts)
        if head.cell_len + scale.cell_len + 2 <= width:
            head.append(" " * (width - head.cell_len - scale.cell_len)).append(scale)
            lines = [head]
        elif scale.cell_len + 4 <= width:
            lines = [*_wrapped(head, label, width), Text(" " * 4).append(scale)]
        else:
            beneath = [Text(" " * 4).append(part) for part in parts]
            lines = [*_wrapped(head, label, width), *beneath]
        if here and (told := self._ends()):
            muted = ink(colours, "muted")
            lines += [Text(" " * 4 + part, muted) for part in wrap(told, max(10, width - 4))]
        return lines

    def _answers(self, answer: int | str | None) -> list[Text]:
        """Every answer there is; the one that is given stands in brackets."""
        found: list[Text] = []
        for number, value in enumerate(self._state.values(self._question), start=1):
            told = str(value) if isinstance(value, int) else f"{number} {one_line(value)}"
            given = value == answer
            found.append(Text(f"[{told}]", "bold reverse") if given else Text(f" {told} "))
        return found

    def _ends(self) -> str:
        question = self._question
        if question.kind != "scale":
            return ""
        ends = ((question.lowest, question.low), (question.highest, question.high))
        return " · ".join(f"{number} {one_line(shown(end))}" for number, end in ends if end)


def _wrapped(head: Text, label: str, width: int) -> list[Text]:
    """A label that has no room beside its scale, with its mark before the first line."""
    mark, style = head[:4], "bold" if head.plain.startswith("▸") else ""
    lines = wrap(label, max(10, width - 4))
    texts = [Text(" " * 4).append(part, style) for part in lines]
    texts[0] = Text.assemble(mark, (lines[0], style)) if lines else head
    return texts


KEEP = 0.4
"""Seconds after a change until it is on the disk."""


def form_draft(url: str, trial_id: int) -> KeptJson:
    """Where a session's form is kept while it is filled in, here and from Home."""
    return KeptJson(url, f"form of trial {trial_id}")


async def write_form(
    screen: CuecardScreen[Any],
    trial_id: int,
    questions: Sequence[FormQuestion],
    answers: dict[str, int | str] | None,
) -> None:
    """Save what the person of `screen` says of a session, None if they would rather not. Raises `CuecardError`."""
    if answers is not None:
        check_answers(questions, answers)
    given = {"trial_id": trial_id, "person": screen.person, "questions": tuple(questions)}
    await screen.services.write("session_form", **given, answers=answers)


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
        Key("form.give", Means.SAVE, "give", N_("Hand in"), N_("Keep these answers"), priority=True),
        Key("form.later", Means.UP_ONE, "later", N_("Later"), N_("Leave; Home asks again. What is filled in stays")),
        Key("form.decline", Means.COMMAND, "decline", N_("Rather not"), N_("Say nothing of this session"), letter="x"),
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

    def __init__(self) -> None:
        super().__init__()
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
            labels = listed(one_line(shown(question.label)) for question in left)
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
            told = hint(_("complete: {SAVE} hands it in"))
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


def _load(workspace: Workspace, trial_id: int) -> tuple[TrialRecord, Task, tuple[Event, ...]]:
    trial = workspace.runs.trial(trial_id)
    task = workspace.tasks.revision(trial.task_id, trial.revision).task
    return trial, task, tuple(workspace.runs.events(trial_id))


class SessionFormScreen(CuecardScreen[None]):
    """Takes the trial's id. Shows no score; with the form handed in, the trial is opened to be read."""

    DEFAULT_CSS = """
    SessionFormScreen {
        #head { padding: 0 1; background: $panel; }
        Transcript { height: 1fr; padding: 0 1; }
    }
    """
    BINDINGS = keys(
        Key("session_form.back", Means.UP_ONE, "app.pop_screen", N_("Later"), N_("Leave; Home asks again")),
        Key("session_form.up", Means.PAGE_UP, "scroll_dialogue(-1)", N_("Back"), N_("Scroll the dialogue"), show=False, priority=True),
        Key("session_form.down", Means.PAGE_DOWN, "scroll_dialogue(1)", N_("On"), N_("Scroll the dialogue"), show=False, priority=True),
    )  # fmt: skip

    def __init__(self, trial_id: int) -> None:
        super().__init__()
        self._trial_id = trial_id
        self._questions: tuple[FormQuestion, ...] = ()

    def compose(self) -> ComposeResult:
        yield HeadLines(id="head")
        yield Transcript(id="transcript")
        yield SessionFormPane()
        yield KeyBar()

    def on_mount(self) -> None:
        self.load()

    @guarded("session_form")
    async def load(self) -> None:
        from datetime import UTC, datetime

        trial_id = self._trial_id
        self._questions = questions_of(await self.services.config())
        trial, task, events = await self.services.ask(lambda ws: _load(ws, trial_id))
        ended = trial.ended_at or trial.created_at
        head = [
            Piece(one_line(trial.title, 36), "strong"),
            Piece("  " + _("agent") + " ", "muted"),
            Piece(player_label(trial.agent)),
            Piece("  " + age(ended, datetime.now(UTC)), "muted"),
        ]
        self.query_one(Lines).load([head])
        transcript = self.query_one(Transcript)
        transcript.load(entries_of(events, task))
        await self.query_one(SessionFormPane).load(
            self._questions, form_draft(self.services.url, trial_id)
        )
        show_handed_in(transcript)

    @guarded("give")
    async def on_session_form_pane_given(self, message: SessionFormPane.Given) -> None:
        await write_form(self, self._trial_id, self._questions, message.answers)
        self._done(_("Thank you. Your answers are kept with the session."))

    @guarded("give")
    async def on_session_form_pane_declined(self) -> None:
        await write_form(self, self._trial_id, self._questions, None)
        self._done(_("Nothing is asked of this session any more."))

    def on_session_form_pane_later(self) -> None:
        self.dismiss()

    def action_scroll_dialogue(self, direction: int) -> None:
        self.query_one(Transcript).page(direction)

    def _done(self, told: str) -> None:
        from cuecard.tui.screens.trial.screen import TrialScreen

        self.query_one(SessionFormPane).done()
        self.cue_app.tell(told)
        self.app.switch_screen(TrialScreen(self._trial_id))

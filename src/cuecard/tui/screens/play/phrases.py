"""Inserting text into the message by keys: the card's line, phrases for an unmet cue, answers to several questions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from cuecard.core.i18n import N_, _
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.text import for_display, one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog, guarded
from cuecard.tui.drawing import Vertical
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.play import (
    Answer,
    AnswerKind,
    Choice,
    Source,
    answers_for,
    choices_of,
    composed,
    gives_line,
)
from cuecard.tui.present.play_decisions import Insertion
from cuecard.tui.screens.dialogs import ChoiceDialog
from cuecard.tui.screens.play.session import Playing

_SOURCES: dict[Source, str] = {
    "card": N_("card"),
    "phrase": N_("phrase"),
    "before": N_("said before"),
}
_KINDS: dict[AnswerKind, str] = {
    "line": N_("the card's line"),
    "said": N_("said before"),
    "never_mind": N_("don't care"),
    "own": N_("own words"),
    "skip": N_("no answer"),
}


class PhraseDialog(ChoiceDialog):
    """Answers the number of the phrase that was picked, as a string."""

    def __init__(self, choices: Sequence[Choice]) -> None:
        options = [
            (str(index), "", f"{choice.text}  [{_(_SOURCES[choice.source])}]")
            for index, choice in enumerate(choices)
        ]
        question = _("Enter puts it into the message.")
        super().__init__(_("Words that give nothing away"), question, options)


@dataclass(frozen=True)
class ComposedReply:
    """One reply to several questions. `line`: it says the card's line."""

    text: str
    line: bool


class AnswersDialog(CuecardDialog[ComposedReply | None]):
    """The agent's questions, each with what the persona has for it; answers one reply in their order."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS = keys(
        Key("answers.take", (Means.OPEN, Means.SAVE), "take", N_("Take"), N_("Put the whole reply into the message"), priority=True),
        Key("answers.on", (Means.RIGHT, Means.MARK), "turn(1)", N_("Other answer"), N_("What else could be answered")),
        Key("answers.back", Means.LEFT, "turn(-1)", N_("Other answer"), N_("What else could be answered"), show=False),
        Key("answers.own", Means.EDIT, "own", N_("Own words"), N_("Answer this question in your own words")),
    )  # fmt: skip

    def __init__(
        self, answers: Sequence[Answer], language: TaskLanguage, stage: int | None
    ) -> None:
        """`stage`: whose line the card shows, if it is a stage's."""
        super().__init__()
        self._answers = list(answers)
        self._language: TaskLanguage = language
        self._stage = stage

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(_("The agent's questions, answered in one message"))
            labels = map(self._label, range(len(self._answers)))
            yield OptionList(*map(Option, labels), markup=False)
            own = Input(placeholder=_("your own words; Enter goes back"))
            own.display = False
            yield own
            yield Static("", id="reply", markup=False)
            yield Static("", id="told", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()
        self._tell()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.input.display:
            self._put(replace(self._answers[self._at], own=event.value))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not (action in ("turn", "own") and isinstance(self.focused, Input))

    def action_turn(self, step: int) -> None:
        self._put(self._answers[self._at].turned(step))

    def action_own(self) -> None:
        answer = replace(self._answers[self._at], kind="own")
        self._put(answer)
        field = self.query_one(Input)
        field.value = answer.own
        field.display = True
        field.focus()

    def action_take(self) -> None:
        if isinstance(self.focused, Input):
            self.call_later(self._leave_own)
            return
        text = composed(self._answers, self._language)
        self.dismiss(ComposedReply(text, gives_line(self._answers)))

    def action_dismiss(self, result: ComposedReply | None = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        if isinstance(self.focused, Input):
            self._leave_own()
        else:
            self.dismiss(result)

    @property
    def _at(self) -> int:
        return self.query_one(OptionList).highlighted or 0

    def _leave_own(self) -> None:
        field = self.query_one(Input)
        field.display = False
        answer = self._answers[self._at]
        if answer.kind == "own" and not answer.own.strip():
            self._put(answer.turned(1))
        self.query_one(OptionList).focus()

    def _put(self, answer: Answer) -> None:
        self._answers[self._at] = answer
        options = self.query_one(OptionList)
        options.replace_option_prompt_at_index(self._at, self._label(self._at))
        self._tell()

    def _tell(self) -> None:
        text = composed(self._answers, self._language)
        self.query_one("#reply", Static).update(for_display(text) or _("(nothing is answered)"))
        told = ""
        if gives_line(self._answers):
            told = _("gives the card's line")
            if self._stage is not None:
                told = _("says stage {n}").format(n=self._stage)
        self.query_one("#told", Static).update(told)

    def _label(self, index: int) -> Text:
        answer = self._answers[index]
        label = Text(f"{index + 1} {one_line(answer.question, 200)}\n", "bold")
        label.append(f"  {_(_KINDS[answer.kind])}", "reverse")
        text = one_line(answer.text(self._language), 160)
        if answer.kind == "own" and not text:
            text = hint(_("({EDIT} to type them)"))
        return label.append(f" {text}", "not bold")


class Wording(Playing):
    """All of it may be edited before it is sent."""

    def action_insert(self, what: str) -> None:
        state = self._state
        if state is None:
            return
        text = state.insert(Insertion(what))
        if what == Insertion.LINE and text and text in self.composer.text:
            self.cue_app.tell(_("The line is in the message already."))
        elif text:
            self.composer.put(text)
        else:
            self.cue_app.tell(_("This card has no line to say."))

    @guarded("phrases")
    async def action_phrases(self) -> None:
        state = self._state
        if state is None:
            return
        choices = choices_of(state)
        picked = await self.app.push_screen_wait(PhraseDialog(choices))
        if picked is not None:
            self.composer.put(choices[int(picked)].text)

    @guarded("answers")
    async def action_answers(self) -> None:
        state = self._state
        answers = answers_for(state) if state and state.phase == "yours" else []
        if state is None or not answers:
            self.cue_app.tell(_("The agent has asked nothing."))
            return
        stage = state.stage_number
        dialog = AnswersDialog(answers, state.task.language, stage)
        composed = await self.app.push_screen_wait(dialog)
        if composed is None or not composed.text:
            return
        if composed.line:
            state.insert(Insertion.LINE)
        # The line that a mark offered is not said twice.
        said = self.composer.text.strip() in composed.text
        (self.composer.take if said else self.composer.put)(composed.text)

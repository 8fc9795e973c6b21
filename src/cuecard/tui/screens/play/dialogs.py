"""Dialogs of Play: marks and their evidence, readings, stopping, repeating, and doubtful messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static, TextArea
from textual.widgets.text_area import Selection

from cuecard.core.engine.messages import Evidence
from cuecard.core.i18n import N_, NP_, _
from cuecard.core.text import for_display, one_line
from cuecard.core.users.faults import Fault
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog
from cuecard.tui.drawing import Vertical
from cuecard.tui.present import play_status as present
from cuecard.tui.present.keyboard import with_keys
from cuecard.tui.present.play_decisions import Decision, Doubt, Mark, Reading
from cuecard.tui.screens.dialogs import ChoiceDialog, ConfirmDialog


@dataclass(frozen=True)
class Choice:
    """`evidence` is None where the person wants none."""

    evidence: Evidence | None


class EvidenceDialog(CuecardDialog[Choice | None]):
    """The reply in a text area that cannot be changed; answers what was chosen, None if left as it was."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS = keys(
        Key("span.take", (Means.OPEN, Means.SAVE), "take", N_("Take"), N_("Take what is selected, or the sentence"), priority=True),
        Key("span.sentence", Means.CHOICE, "sentence", N_("Sentence"), N_("Select the sentence at the cursor"), priority=True, letter="s"),
        Key("span.none", Means.DELETE, "none", N_("None"), N_("Without evidence"), priority=True),
    )  # fmt: skip

    def __init__(self, reply: str, evidence: Evidence | None = None) -> None:
        super().__init__()
        self._raw = reply
        self._shown = present.selectable(reply)
        self._evidence = evidence

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(_("What does your mark rest on?"))
            how = _("Arrows move, Shift+arrows select, <span.sentence> takes in the sentence, {OPEN} takes it.")  # fmt: skip
            yield Static(with_keys(how), id="how", markup=False)
            yield TextArea(self._shown, read_only=True, soft_wrap=True, show_line_numbers=False)
        yield KeyBar()

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.focus()
        if self._evidence:
            self._select(self._evidence.start, self._evidence.end)

    def action_sentence(self) -> None:
        area = self.query_one(TextArea)
        self._select(
            *present.sentence_at(self._shown, present.offset_at(self._shown, area.cursor_location))
        )

    def action_take(self) -> None:
        area = self.query_one(TextArea)
        if area.selection.is_empty:
            self.action_sentence()
        start, end = (present.offset_at(self._shown, place) for place in area.selection)
        self.dismiss(Choice(present.evidence_of(self._raw, start, end)))

    def action_none(self) -> None:
        self.dismiss(Choice(None))

    def _select(self, start: int, end: int) -> None:
        area = self.query_one(TextArea)
        places = (present.location_at(self._shown, start), present.location_at(self._shown, end))
        area.selection = Selection(*places)


_MARK_KEYS: dict[str, Mark] = {"y": Mark.MET, "n": Mark.NOT_MET, "u": Mark.UNSURE}


class TurnDialog(ChoiceDialog):
    """Base of dialogs that `mark` or `read` the agent's last turn. `e` selects the words it is based on, which stay in
    `evidence` whatever is answered.
    """

    BINDINGS = keys(
        Key("turn.evidence", Means.EDIT, "evidence", N_("Evidence"), N_("Choose the words of the reply that it rests on")),
    )  # fmt: skip

    def __init__(
        self,
        title: str,
        question: str,
        options: Sequence[tuple[str, str, str]],
        reply: str,
        evidence: Evidence | None,
    ) -> None:
        super().__init__(title, question, options, low=True)
        self._asked = question
        self._reply = reply
        self.evidence = evidence

    def on_mount(self) -> None:
        super().on_mount()
        self._tell()

    def action_evidence(self) -> None:
        self.app.push_screen(EvidenceDialog(self._reply, self.evidence), self._chosen)

    def _chosen(self, choice: Choice | None) -> None:
        if choice is not None:
            self.evidence = choice.evidence
            self._tell()

    def _tell(self) -> None:
        asked = for_display(self._asked)
        if self.evidence:
            asked = f"{asked}\n{_('Evidence: {words}').format(words=present.quoted(self.evidence, 120))}"
        self.query_one("#question", Static).update(asked)


class MarkDialog(TurnDialog):
    """Whether the agent's last reply met the cue; answers a `Mark`."""

    BINDINGS = keys(
        Key("mark.yes", Means.YES, "choose('met')", N_("Met"), N_("The reply meets the cue")),
        Key("mark.no", Means.NO, "choose('not_met')", N_("Not met"), N_("The reply misses the cue") ),
        Key("mark.unsure", Means.UNSURE, "choose('unsure')", N_("Cannot tell"), N_("Leave it open") ),
    )  # fmt: skip

    def __init__(self, cue: str, reply: str, evidence: Evidence | None = None) -> None:
        options = [(mark.value, key, _(present.MARK[mark][1])) for key, mark in _MARK_KEYS.items()]
        title = _("Did the agent's last reply meet the cue?")
        super().__init__(title, cue, options, reply, evidence)


class ReadingDialog(TurnDialog):
    """What the agent's last turn was at this step; answers a `Reading`."""

    BINDINGS = keys(
        Key("reading.asked", Means.CHOICE, "choose('asked')", NP_("the agent asks", "Asks"), N_("It asks the right question"), letter="a"),
        Key("reading.else", Means.CHOICE, "choose('asked_else')", N_("Asks else"), N_("Another question"), letter="o"),
        Key("reading.right", Means.CHOICE, "choose('right')", NP_("the answer is", "Right"), N_("It names the target"), letter="r"),
        Key("reading.wrong", Means.CHOICE, "choose('wrong')", NP_("the answer is", "Wrong"), N_("It names something else"), letter="w"),
        Key("reading.none", Means.CHOICE, "choose('searched')", N_("Neither"), N_("No question, no answer"), letter="n"),
        Key("reading.whole", Means.CHOICE, "choose('completed')", N_("Whole task"), N_("It gives the final answer"), letter="c"),
    )  # fmt: skip

    def __init__(
        self,
        question: str,
        reply: str,
        evidence: Evidence | None = None,
        *,
        ambiguous: bool,
        last: bool,
    ) -> None:
        options: list[tuple[str, str, str]] = []
        for reading, (key, label) in present.READING.items():
            if (reading is Reading.ASKED and not ambiguous) or (
                reading is Reading.COMPLETED and last
            ):
                continue
            text = _(label)
            if reading is Reading.RIGHT and last:
                text = _("gives the right answer (ends the dialogue)")
            options.append((reading.value, key, text))
        title = _("How do you read the agent's last turn?")
        super().__init__(title, question, options, reply, evidence)


class StopDialog(ChoiceDialog):
    """Escape while the agent writes: answers `interrupt`, `pause` or None."""

    BINDINGS = keys(
        Key("stop.interrupt", (Means.CHOICE, Means.STOP), "choose('interrupt')", N_("Interrupt"), N_("Stop the agent here"), letter="i"),
        Key("stop.pause", Means.CHOICE, "choose('pause')", N_("Pause"), N_("Leave and come back later"), letter="p"),
    )  # fmt: skip

    def __init__(self) -> None:
        options = [
            ("interrupt", "i", _("interrupt: what it has said by now stands, and it is your turn")),
            ("pause", "p", _("pause: leave; it takes this turn again when you come back")),
        ]
        question = _("Escape again lets it go on.")
        super().__init__(_("The agent is at work"), question, options, low=True)


class RetryDialog(ChoiceDialog):
    """Why the agent is to take its last turn again; answers a reason or None."""

    BINDINGS = keys(
        Key("retry.failed", Means.CHOICE, "choose('failed')", N_("Failed"), N_("It failed or broke off"), letter="f"),
        Key("retry.ignored", Means.CHOICE, "choose('ignored')", N_("Ignored"), N_("It did not answer what you said"), letter="i"),
        Key("retry.other", Means.CHOICE, "choose('other')", N_("Other"), N_("For another reason"), letter="o"),
    )  # fmt: skip

    def __init__(self) -> None:
        options = [
            ("failed", "f", _("it failed or broke off")),
            ("ignored", "i", _("it did not answer what you said")),
            ("other", "o", _("for another reason")),
        ]
        question = _("Its reply is taken back and stays in the log. Why?")
        super().__init__(_("Have the agent take its turn again?"), question, options, low=True)


_DECISIONS: Final[dict[str, Decision]] = {
    "same": Decision("kept", counts=True),
    "other": Decision("changed", counts=True),
    "not_said": Decision("changed", counts=False),
}
SHOWN = 240
"""As much of the line and of the person's words as is shown side by side, in characters."""


def decision_of(answer: str | None, doubt: Doubt) -> Decision | None:
    """What an answer of a `MeaningDialog` means; None: the person goes on editing."""
    if answer == "not_said" and doubt == "unsaid":
        return Decision("", counts=False)
    return _DECISIONS.get(answer or "")


class MeaningDialog(ChoiceDialog):
    """Asks whether edited words still say the card's line; `decision_of` gives the answer's meaning."""

    BINDINGS = keys(
        Key("meaning.same", Means.CHOICE, "choose('same')", N_("Same"), N_("They say the same as the line"), letter="s"),
        Key("meaning.other", Means.CHOICE, "choose('other')", N_("Else"), N_("They say something else"), letter="o"),
        Key("meaning.not_said", Means.CHOICE, "choose('not_said')", N_("Not said"), N_("They do not count as the line"), letter="n"),
        Key("meaning.edit", Means.CHOICE, "choose('edit')", N_("Edit"), N_("Go on editing"), letter="e"),
    )  # fmt: skip

    def __init__(self, doubt: Doubt, line: str, text: str, stage: int | None) -> None:
        """`text`: the person's words; `stage`: whose line it is, if it is a stage's."""
        options = _options(doubt, stage)
        title = (
            _("Do your words still say the line?")
            if doubt == "edited"
            else _("The line is due, but your words do not seem to say it")
        )
        said = _("Line: {line}").format(line=one_line(line, SHOWN))
        yours = _("You: {text}").format(text=one_line(text, SHOWN))
        super().__init__(title, f"{said}\n{yours}", options, low=True)


def _options(doubt: Doubt, stage: int | None) -> list[tuple[str, str, str]]:
    edit = ("edit", "e", _("go on editing"))
    same = ("same", "s", _("they say the same, in other words"))
    if doubt == "unsaid":
        return [same, ("not_said", "n", _("they do not: the line is still to come")), edit]
    if stage is None:
        return [same, ("other", "o", _("they say something else")), edit]
    counts = _("they say something else; stage {n} counts as said").format(n=stage)
    not_said = _("they say something else; stage {n} is still to come").format(n=stage)
    return [same, ("other", "o", counts), ("not_said", "n", not_said), edit]


class FaultsDialog(ConfirmDialog):
    """Shows faults of a message with the words that show them; True sends it anyway."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        lines = "\n".join(f"⚠ {for_display(present.fault_label(fault))}" for fault in faults)
        text = f"{lines}\n\n" + _("No goes on editing.")
        super().__init__(_("This should not be said as it is"), text, _("Send it anyway"))

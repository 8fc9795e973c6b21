"""What Play asks in between: who plays the agent, the mark, the reading, and whether to end."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from cuecard.core.i18n import N_, _
from cuecard.core.text import for_display
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog
from cuecard.tui.state.play import Mark, Reading
from cuecard.tui.state.play_status import MARK, READING

_MARK_KEYS: dict[str, Mark] = {"y": Mark.MET, "n": Mark.NOT_MET, "u": Mark.UNSURE}


class ChoiceDialog(CuecardDialog[str | None]):
    """A question and options; each may have a key of its own."""

    CSS_PATH = "dialogs.tcss"

    def __init__(
        self,
        title: str,
        question: str,
        options: Sequence[tuple[str, str, str]],
        *,
        low: bool = False,
    ) -> None:
        """`options`: (id, key or "", text). `low`: at the bottom of the screen."""
        super().__init__(classes="-low" if low else None)
        self._title = title
        self._question = question
        self._options = options

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(self._title)
            yield Static(for_display(self._question), id="question", markup=False)
            yield OptionList(*(self._option(*option) for option in self._options), markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option_id)

    def action_choose(self, option: str) -> None:
        self.dismiss(option)

    @staticmethod
    def _option(option: str, key: str, text: str) -> Option:
        label = Text()
        if key:
            label.append(f" {key} ", "reverse").append("  ")
        return Option(label.append(for_display(text)), id=option)


class AgentDialog(ChoiceDialog):
    """Which agent to talk to; answers its name."""

    def __init__(self, agents: Sequence[tuple[str, str]]) -> None:
        """`agents`: (name, what to show)."""
        super().__init__(
            _("Whom do you want to talk to?"),
            _("You play the user; this plays the agent. cuecard.yaml names more of them."),
            [(name, "", text) for name, text in agents],
        )


class MarkDialog(ChoiceDialog):
    """Whether the agent's last reply met the cue; answers a `Mark`."""

    BINDINGS = keys(
        Key("mark.yes", "y", "choose('met')", N_("Met"), N_("The reply meets the cue")),
        Key("mark.no", "n", "choose('not_met')", N_("Not met"), N_("The reply misses the cue")),
        Key("mark.unsure", "u", "choose('unsure')", N_("Cannot tell"), N_("Leave it open")),
    )

    def __init__(self, cue: str) -> None:
        options = [(mark.value, key, _(MARK[mark][1])) for key, mark in _MARK_KEYS.items()]
        super().__init__(_("Did the agent's last reply meet the cue?"), cue, options, low=True)


class ReadingDialog(ChoiceDialog):
    """What the agent's last turn was at this step; answers a `Reading`."""

    BINDINGS = keys(
        Key("reading.asked", "a", "choose('asked')", N_("Asks"), N_("It asks the right question")),
        Key("reading.else", "e", "choose('asked_else')", N_("Asks else"), N_("Another question")),
        Key("reading.right", "r", "choose('right')", N_("Right"), N_("It names the target")),
        Key("reading.wrong", "w", "choose('wrong')", N_("Wrong"), N_("It names something else")),
        Key("reading.none", "n", "choose('searched')", N_("Neither"), N_("No question, no answer")),
        Key(
            "reading.whole",
            "c",
            "choose('completed')",
            N_("Whole task"),
            N_("It gives the final answer"),
        ),
    )

    def __init__(self, question: str, *, ambiguous: bool, last: bool) -> None:
        options: list[tuple[str, str, str]] = []
        for reading, (key, label) in READING.items():
            if (reading is Reading.ASKED and not ambiguous) or (
                reading is Reading.COMPLETED and last
            ):
                continue
            text = _(label)
            if reading is Reading.RIGHT and last:
                text = _("gives the right answer (ends the dialogue)")
            options.append((reading.value, key, text))
        title = _("How do you read the agent's last turn?")
        super().__init__(title, question, options, low=True)

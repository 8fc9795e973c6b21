"""Which words of the agent's reply a mark rests on: chosen in the reply itself, by keys."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Footer, Static, TextArea
from textual.widgets.text_area import Selection

from cuecard.core.i18n import N_, _
from cuecard.core.parts import Evidence
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog
from cuecard.tui.state.play_evidence import (
    evidence_of,
    location_at,
    offset_at,
    selectable,
    sentence_at,
)


@dataclass(frozen=True)
class Choice:
    """`evidence` is None where the person wants none."""

    evidence: Evidence | None


class EvidenceDialog(CuecardDialog[Choice | None]):
    """The reply in a text area that cannot be changed; answers what was chosen, None if left as it was."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS = keys(
        Key("span.take", "enter", "take", N_("Take"), N_("Take what is selected, or the sentence"), priority=True),
        Key("span.sentence", "full_stop,s,。", "sentence", N_("Sentence"), N_("Select the sentence at the cursor"), shown_as=".", priority=True),
        Key("span.none", "delete,backspace", "none", N_("None"), N_("Without evidence"), shown_as="del", priority=True),
    )  # fmt: skip

    def __init__(self, reply: str, evidence: Evidence | None = None) -> None:
        super().__init__()
        self._raw = reply
        self._shown = selectable(reply)
        self._evidence = evidence

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(_("What does your mark rest on?"))
            how = _("Arrows move, Shift+arrows select, . takes in the sentence, Enter takes it.")
            yield Static(how, id="how", markup=False)
            yield TextArea(self._shown, read_only=True, soft_wrap=True, show_line_numbers=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.focus()
        if self._evidence:
            self._select(self._evidence.start, self._evidence.end)

    def action_sentence(self) -> None:
        area = self.query_one(TextArea)
        self._select(*sentence_at(self._shown, offset_at(self._shown, area.cursor_location)))

    def action_take(self) -> None:
        area = self.query_one(TextArea)
        if area.selection.is_empty:
            self.action_sentence()
        start, end = (offset_at(self._shown, place) for place in area.selection)
        self.dismiss(Choice(evidence_of(self._raw, start, end)))

    def action_none(self) -> None:
        self.dismiss(Choice(None))

    def _select(self, start: int, end: int) -> None:
        area = self.query_one(TextArea)
        places = (location_at(self._shown, start), location_at(self._shown, end))
        area.selection = Selection(*places)

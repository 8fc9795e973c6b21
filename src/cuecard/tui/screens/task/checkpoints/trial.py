"""If the agent said this: how the scripted responder would take it at the step under the cursor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, Label

from cuecard.annotate.authoring.chain_trial import try_turn
from cuecard.core.i18n import N_, _
from cuecard.core.parts import Act
from cuecard.tui.actions import Key, keys
from cuecard.tui.screens.task.fields import LineEditor
from cuecard.tui.state.chain_words import trial_said
from cuecard.tui.widgets.paragraphs import Paragraphs

_ACTS: dict[Act, str] = {
    Act.REPLY: N_("If the agent said"),
    Act.ASK: N_("If the agent asked"),
    Act.ANSWER: N_("If the agent answered"),
}


class ChainTrial(Vertical):
    """The verdict follows every key, the step and the draft."""

    DEFAULT_CSS = """
    ChainTrial { height: 1fr; padding: 0 1; }
    ChainTrial > Label { color: $muted; width: 1fr; height: 1; text-style: bold; }
    ChainTrial > VerticalScroll { height: 1fr; }
    """
    BINDINGS = keys(
        Key("chain_trial.act", "ctrl+l", "turn_act", N_("Ask/answer"), N_("Take it as whatever it is, as a question, or as an answer"), shown_as="^l"),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._data: Mapping[str, Any] = {}
        self._index = -1
        self._act = Act.REPLY

    def compose(self) -> ComposeResult:
        yield Label(_(_ACTS[self._act]), markup=False)
        yield LineEditor(
            placeholder=_("Do you mean A or B?"), compact=True, classes="editor", id="said"
        )
        with VerticalScroll(can_focus=False):
            yield Paragraphs()

    @property
    def said(self) -> Input:
        return self.query_one("#said", Input)

    def load(self, data: Mapping[str, Any], index: int) -> None:
        """The draft as it stands, and the step."""
        self._data, self._index = data, index
        self._show()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()

    def action_turn_act(self) -> None:
        acts = list(_ACTS)
        self._act = acts[(acts.index(self._act) + 1) % len(acts)]
        self._show()

    def _show(self) -> None:
        number = self._index + 1
        label = _("{what}, at step {n}:").format(what=_(_ACTS[self._act]), n=number)
        self.query_one(Label).update(label if number else _(_ACTS[self._act]))
        said, act = self.said.value, self._act
        taken = try_turn(self._data, self._index, said, act=act)
        later = try_turn(self._data, self._index, said, act=act, clue_given=True)
        self.query_one(Paragraphs).load(trial_said(taken, later))

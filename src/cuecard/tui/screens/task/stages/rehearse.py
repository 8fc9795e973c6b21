"""The rehearse pane: a candidate reply of the agent, and what it would bring the user to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static, TextArea

from cuecard.annotate.authoring.rehearsal import Rehearsal, ask_simulator, rehearse, simulators
from cuecard.core.errors import told
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.screens.task.fields import TextEditor
from cuecard.tui.state.entries import Paragraph
from cuecard.tui.state.rehearsal_view import decision, evidence, others, said, verdict
from cuecard.tui.widgets.paragraphs import Paragraphs
from cuecard.tui.widgets.pieces import Lines

if TYPE_CHECKING:
    from cuecard.tui.app import CuecardApp

QUIET = 0.15


class RehearsePane(Vertical):
    """`load` a task's data and the stage whose turn it is; type, and see what follows at once."""

    BINDINGS = keys(
        Key("rehearse.model", "f8", "ask_model", N_("Ask the model"), N_("What the simulator's model decides about this reply"), shown_as="F8"),
        Key("rehearse.earlier", "ctrl+up", "turn(-1)", N_("Stage before"), N_("As if the stage before were waiting"), show=False, shown_as="^↑"),
        Key("rehearse.later", "ctrl+down", "turn(1)", N_("Next stage"), N_("As if the next stage were waiting"), shown_as="^↓"),
    )  # fmt: skip

    class Heard(Message):
        """The reply was heard; which stages it would meet stands in `heard`."""

        def __init__(self, heard: Rehearsal | None) -> None:
            super().__init__()
            self.heard = heard

    class TurnAsked(Message):
        """Another stage shall be the one that waits."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    def __init__(self) -> None:
        super().__init__(classes="rehearse")
        self._data: Mapping[str, Any] = {}
        self._disclosed = 0
        self._timer: Timer | None = None
        self._asked = -1

    def compose(self) -> ComposeResult:
        yield Static("", classes="rehearse-head", markup=False)
        yield TextEditor(
            placeholder=_("Type what an agent might reply…"),
            compact=True,
            classes="editor",
            id="candidate",
        )
        with VerticalScroll(can_focus=False):
            yield Paragraphs(id="verdict")
            yield Lines(id="sentence")
            yield Paragraphs(id="said")
            yield Paragraphs(id="decision")
            yield Paragraphs(id="others")

    @property
    def candidate(self) -> TextEditor:
        return self.query_one("#candidate", TextEditor)

    def load(self, data: Mapping[str, Any], disclosed: int) -> None:
        """Hear the reply as after the first `disclosed` stages of this data."""
        self._data, self._disclosed = data, disclosed
        self.hear()

    def hear(self) -> None:
        """Show what the reply as it stands would bring about."""
        heard = rehearse(self._data, self.candidate.text, self._disclosed)
        self._forget_decision()
        if heard is not None:
            self.query_one(".rehearse-head", Static).update(self._head(heard))
            self.query_one("#verdict", Paragraphs).load(verdict(heard))
            self.query_one("#sentence", Lines).load(evidence(heard))
            self.query_one("#said", Paragraphs).load(said(heard))
            self.query_one("#others", Paragraphs).load(others(heard))
        self.post_message(self.Heard(heard))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(QUIET, self.hear)

    def action_turn(self, by: int) -> None:
        self.post_message(self.TurnAsked(by))

    def action_ask_model(self) -> None:
        self.run_worker(self._ask(), group="rehearse", exclusive=True)

    async def _ask(self) -> None:
        services = cast("CuecardApp", self.app).services
        shown = self.query_one("#decision", Paragraphs)
        reply, data, disclosed = self.candidate.text, self._data, self._disclosed
        try:
            config = await services.config()
            known = simulators(config)
            if not known:
                shown.load(
                    [
                        Paragraph(
                            _(
                                "No model is named in cuecard.yaml; the scripted matcher needs none."
                            ),
                            "muted",
                        )
                    ]
                )
                return
            # Asked again for the same reply, the next one answers.
            self._asked = (self._asked + 1) % len(known)
            chosen = known[self._asked]
            shown.load(
                [
                    Paragraph(
                        _("{model} is reading…").format(model=one_line(chosen.label, 60)), "muted"
                    )
                ]
            )
            answer = await services.engine.perform(
                ask_simulator(config, chosen, data, reply, disclosed)
            )
        except Exception as error:  # noqa: BLE001 - the boundary of a worker
            shown.load([Paragraph(told(error), "bad")])
        else:
            shown.load(decision(answer, chosen.label))

    def _forget_decision(self) -> None:
        self._asked = -1
        self.workers.cancel_group(self, "rehearse")
        self.query_one("#decision", Paragraphs).load([])

    def _head(self, heard: Rehearsal) -> Text:
        waited = heard.waited
        if waited is None:
            text = _("An agent's reply, after the last stage")
        elif self._disclosed:
            text = _("An agent's reply, after stage {n}; stage {next} waits").format(
                n=self._disclosed, next=waited.number
            )
        else:
            text = _("An agent's first reply; stage 1 waits")
        return Text(text, no_wrap=True, overflow="ellipsis")

"""The tab of a chain's steps: the ladder, the form of one step, and a trial of it."""

from __future__ import annotations

from textual.app import ComposeResult

from cuecard.annotate.authoring.chain_ladder import counts_of
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.trees import Path
from cuecard.core.i18n import N_
from cuecard.tui.actions import Key, keys
from cuecard.tui.screens.task.checkpoints.ladder import Ladder
from cuecard.tui.screens.task.checkpoints.trial import ChainTrial
from cuecard.tui.screens.task.collection import Collection
from cuecard.tui.screens.task.forms_chain import STEPS
from cuecard.tui.state.chain_words import counts_said
from cuecard.tui.widgets.pieces import Lines


class StepsPane(Collection):
    """A wide terminal shows the trial below the form, a narrow one in its place, on demand."""

    BINDINGS = keys(
        Key("steps.trial", "r", "trial", N_("Rehearse"), N_("Type what an agent might say, and see how the responder takes it")),
        Key("steps.trial_anywhere", "f8", "trial", N_("Rehearse"), N_("Type what an agent might say, and see how the responder takes it"), show=False),
    )  # fmt: skip

    def __init__(self, *, id: str) -> None:
        super().__init__(STEPS, id=id)

    def compose_list(self) -> ComposeResult:
        yield Ladder()

    def compose_below(self) -> ComposeResult:
        yield Lines(id="chain-counts")

    def compose_more(self) -> ComposeResult:
        yield ChainTrial()

    @property
    def table(self) -> Ladder:
        return self.query_one(Ladder)

    @property
    def trial(self) -> ChainTrial:
        return self.query_one(ChainTrial)

    def load(self, edit: TaskEdit) -> None:
        super().load(edit)
        self._follow(edit)

    def noticed(self, path: Path) -> None:
        super().noticed(path)
        if self.edit is not None:
            self._follow(self.edit)

    def show_item(self, edit: TaskEdit, index: int) -> None:
        self._follow(edit)

    def reveal(self, path: Path) -> None:
        self.remove_class("-rehearse")
        super().reveal(path)

    def step_back(self) -> bool:
        self.remove_class("-rehearse")
        return super().step_back()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "trial":
            return self.index >= 0
        return super().check_action(action, parameters)

    def on_ladder_moved(self, event: Ladder.Moved) -> None:
        event.stop()
        self.follow()

    def on_entry_list_chosen(self, event: Ladder.Chosen) -> None:
        event.stop()
        if self.index >= 0:
            self.remove_class("-rehearse")
            self.form.reveal(())

    def action_trial(self) -> None:
        self.commit()
        self.add_class("-rehearse")
        self.call_after_refresh(self.trial.said.focus)

    def _follow(self, edit: TaskEdit) -> None:
        self.query_one("#chain-counts", Lines).load(counts_said(counts_of(edit)))
        self.trial.load(edit.data, self.index)

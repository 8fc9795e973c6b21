"""The tab of a checkpoint chain's steps: the list of steps, the form of one, and trying a reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input, Label

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.rehearsal import try_turn
from cuecard.annotate.authoring.stages import counts_of
from cuecard.annotate.authoring.task_data import Path
from cuecard.core.engine.messages import Act
from cuecard.core.families.checkpoints.gold import AMBIGUITY_WORDS
from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.drawing import Vertical, VerticalScroll
from cuecard.tui.present.entries import Entry, Paragraph, Piece, Tone
from cuecard.tui.present.keyboard import after
from cuecard.tui.present.task_trials import counts_said, trial_said
from cuecard.tui.screens.task.forms import STEPS
from cuecard.tui.screens.task.pane import Collection
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.inputs import LineEditor
from cuecard.tui.widgets.text import Lines, Paragraphs


class Ladder(EntryList, inherit_bindings=False):
    """`fill` it with rungs: number, kind of ambiguity, question, target, what is missing."""

    BINDINGS = keys(
        Key("ladder.choose", Means.OPEN, "open", N_("Edit"), N_("Into the form of this step")),
        Key("ladder.up", Means.UP, "walk(-1)", N_("Up"), N_("To the step before"), show=False),
        Key("ladder.down", Means.DOWN, "walk(1)", N_("Down"), N_("To the next step"), show=False),
        Key("ladder.first", (Means.START, Means.FIRST), "jump(0)", N_("First"), N_("To the first step"), show=False),
        Key("ladder.last", (Means.END, Means.LAST), "jump(-1)", N_("Last"), N_("To the last step"), show=False),
    )  # fmt: skip

    class Moved(Message):
        """The cursor is on another rung."""

        def __init__(self, ladder: Ladder) -> None:
            super().__init__()
            self.ladder = ladder

        @property
        def control(self) -> Ladder:
            return self.ladder

    def __init__(self) -> None:
        super().__init__()
        self._rungs: list[Sequence[str | Text]] = []
        self._chosen = 0

    @property
    def count(self) -> int:
        return len(self._rungs)

    @property
    def cursor_row(self) -> int:
        return self._chosen

    def fill(self, cells: Sequence[Sequence[str | Text]], cursor: int | None = None) -> None:
        """Show these rungs, with the cursor on `cursor` or where it was."""
        self._rungs = list(cells)
        self._chosen = max(0, min(self._chosen if cursor is None else cursor, self.count - 1))
        self._draw()
        super().move_to(self._chosen)

    def update_row(self, index: int, cells: Sequence[str | Text]) -> None:
        """Show one rung as it is now."""
        if 0 <= index < self.count and self._rungs[index] != cells:
            self._rungs[index] = cells
            self._draw()

    def go_to(self, row: int) -> None:
        self.move_to(row)

    def move_to(self, index: int) -> None:
        index = max(0, min(index, self.count - 1))
        if index != self._chosen:
            self._chosen = index
            self._draw()
            self.post_message(self.Moved(self))
        super().move_to(index)

    def on_resize(self, event: events.Resize) -> None:
        # Before there was a size there was nothing to scroll to, and nothing is wrapped yet.
        self.call_after_refresh(super().move_to, self._chosen)

    def gutter_tone(self, entry: Entry) -> Tone | None:
        if any(paragraph.tone == "bad" for paragraph in entry.body):
            return "bad"
        return "stage" if entry.role == "agent" else "muted"

    def _draw(self) -> None:
        self.load([_entry(i, rung, i == self._chosen) for i, rung in enumerate(self._rungs)])


def _entry(index: int, rung: Sequence[str | Text], chosen: bool) -> Entry:
    number, kind, question, target, missing = (str(cell) for cell in rung)
    head = [Piece(f"{'▸' if chosen else ' '}{number} ", "strong")]
    said = f"≠ {_(AMBIGUITY_WORDS.get(kind, kind))}"
    head.append(Piece(said, "stage") if kind else Piece("·", "muted"))
    body = [Paragraph(question or _("(no question)"), "plain" if question else "muted", 2)]
    body.append(Paragraph(f"→ {target or '…'}", "strong" if target else "muted", 2))
    if missing:
        body.append(Paragraph(missing, "bad", 2))
    return Entry("agent" if kind else "work", index, tuple(head), tuple(body))


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
        Key("chain_trial.act", Means.DECIDE, "turn_act", N_("Ask/answer"), N_("Take it as whatever it is, as a question, or as an answer")),
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
        self._act = after(self._act, list(_ACTS))
        self._show()

    def _show(self) -> None:
        number = self._index + 1
        label = _("{what}, at step {n}:").format(what=_(_ACTS[self._act]), n=number)
        self.query_one(Label).update(label if number else _(_ACTS[self._act]))
        said, act = self.said.value, self._act
        taken = try_turn(self._data, self._index, said, act=act)
        later = try_turn(self._data, self._index, said, act=act, clue_given=True)
        self.query_one(Paragraphs).load(trial_said(taken, later))


class StepsPane(Collection):
    """A wide terminal shows the trial below the form, a narrow one in its place, on demand."""

    BINDINGS = keys(
        Key("steps.trial", Means.TRY, "trial", N_("Rehearse"), N_("Type what an agent might say, and see how the responder takes it")),
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

"""The tab of stages: list and form, the card, rehearsing a reply, and splitting a stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.css.query import NoMatches
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Label, Static, TextArea

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.rehearsal import (
    Rehearsal,
    ask_simulator,
    rehearse,
    simulators,
    stage_to_show,
)
from cuecard.annotate.authoring.stages import merge_stage, split_points, split_stage, stage_counts
from cuecard.annotate.authoring.task_data import Path, parse_place
from cuecard.annotate.lint.codes import Finding
from cuecard.core.errors import error_text
from cuecard.core.i18n import N_, _
from cuecard.core.text import for_display, one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog
from cuecard.tui.drawing import Vertical, VerticalScroll
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.present.task_trials import count_lines, decision, evidence, others, said, verdict
from cuecard.tui.screens.play.card import CueCard
from cuecard.tui.screens.task.forms import STAGES
from cuecard.tui.screens.task.pane import Collection
from cuecard.tui.widgets.inputs import TextEditor
from cuecard.tui.widgets.text import Lines, Paragraphs, PlainText

if TYPE_CHECKING:
    from cuecard.tui.app import CuecardApp


QUIET = 0.15


class RehearsePane(Vertical):
    """Rehearses a reply; `load` a task's data and the next stage. The result shows while typing."""

    BINDINGS = keys(
        Key("rehearse.model", Means.TRY, "ask_model", N_("Ask the model"), N_("What the simulator's model decides about this reply")),
        Key("rehearse.earlier", Means.MOVE_UP, "turn(-1)", N_("Stage before"), N_("As if the stage before were waiting"), show=False),
        Key("rehearse.later", Means.MOVE_DOWN, "turn(1)", N_("Next stage"), N_("As if the next stage were waiting")),
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
            shown.load([Paragraph(error_text(error), "bad")])
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


class SplitDialog(CuecardDialog[int | None]):
    """Dismissed with the character at which the next stage's line begins."""

    DEFAULT_CSS = """
    SplitDialog TextArea { height: auto; max-height: 7; border: none; margin-bottom: 1; }
    SplitDialog Label { color: $primary; text-style: bold; }
    SplitDialog .half { padding-left: 2; }
    """
    BINDINGS = keys(
        Key("split.here", (Means.OPEN, Means.SAVE), "here", N_("Split here"), N_("The next stage begins at the cursor"), priority=True),
        Key("split.next", Means.ONWARD, "hop(1)", N_("Next sentence"), N_("To the start of the next sentence"), priority=True),
        Key("split.previous", Means.BACKWARD, "hop(-1)", N_("Sentence before"), N_("To the start of the sentence before"), priority=True, show=False),
    )  # fmt: skip

    def __init__(self, line: str) -> None:
        super().__init__()
        # Only what can be displayed has places that a cursor can point at.
        self._line = line if for_display(line) == line else ""
        self._points = split_points(line)

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(_("Split this stage"))
            yield TextArea(self._line, read_only=True, soft_wrap=True, compact=True)
            yield Label(_("This stage says"), markup=False)
            yield PlainText(id="first", classes="half")
            yield Label(_("The next one says"), markup=False)
            yield PlainText(id="second", classes="half")
        yield KeyBar()

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.focus()
        self._go(self._points[0] if self._points else len(self._line) // 2)

    def on_text_area_selection_changed(self) -> None:
        at = self._at
        self.query_one("#first", PlainText).load(self._line[:at].rstrip() or "–")
        self.query_one("#second", PlainText).load(self._line[at:].lstrip() or "–")

    def action_hop(self, by: int) -> None:
        at = self._at
        ahead = (
            [p for p in self._points if p > at] if by > 0 else [p for p in self._points if p < at]
        )
        if ahead:
            self._go(ahead[0] if by > 0 else ahead[-1])

    def action_here(self) -> None:
        at = self._at
        if self._line[:at].strip() and self._line[at:].strip():
            self.dismiss(at)
        else:
            text = _("Both stages must have something to say: move the cursor into the line.")
            self.notify(text, severity="warning", markup=False)

    @property
    def _at(self) -> int:
        area = self.query_one(TextArea)
        row, column = area.cursor_location
        rows = self._line.split("\n")
        return sum(len(text) + 1 for text in rows[:row]) + column

    def _go(self, at: int) -> None:
        before = self._line[:at]
        self.query_one(TextArea).move_cursor((before.count("\n"), at - (before.rfind("\n") + 1)))


class StagesPane(Collection):
    """A wide terminal shows the card below the form, a narrow one instead of it, on demand; the
    rehearsal takes the card's place.
    """

    BINDINGS = keys(
        Key("stages.rehearse", Means.TRY, "rehearse", N_("Rehearse"), N_("Type an agent's reply and see which cue it meets")),
        Key("stages.card", Means.VIEW, "card", N_("Card"), N_("Show the stage as its card or as a form")),
        Key("stages.split", Means.COMMAND, "split", N_("Split"), N_("Make two stages of this one; its triples stay with the first"), show=False, letter="s"),
        Key("stages.merge", Means.COMMAND, "merge", N_("Merge"), N_("Make one stage of this one and the next"), show=False, letter="m"),
    )  # fmt: skip

    def __init__(self, *, id: str) -> None:
        self._met: dict[int, bool] = {}
        self._wrong: dict[int, str] = {}
        super().__init__(replace(STAGES, cells=self._cells), id=id)

    def compose_more(self) -> ComposeResult:
        yield CueCard()
        yield RehearsePane()

    def compose_below(self) -> ComposeResult:
        yield Lines(id="stage-counts")

    @property
    def rehearsing(self) -> bool:
        return self.has_class("-rehearse")

    def load(self, edit: TaskEdit) -> None:
        super().load(edit)
        self._count(edit)

    def noticed(self, path: Path) -> None:
        super().noticed(path)
        if (edit := self.edit) is not None:
            self._count(edit)

    def found(self, problems: Sequence[Finding]) -> None:
        """Mark the stages of which something is wrong; an error outweighs a warning."""
        wrong: dict[int, str] = {}
        for problem in problems:
            match parse_place(problem.place):
                case ("persona", "stages", int(index), *_) if not problem.silenced:
                    mark = "✗" if problem.severity == "error" else "!"
                    wrong[index] = min(mark, wrong.get(index, mark), key="✗!".index)
                case _:
                    pass
        if wrong != self._wrong:
            self._wrong = wrong
            self._repaint()

    def show_item(self, edit: TaskEdit, index: int) -> None:
        stages = edit.items(self.spec.path)
        self.query_one(CueCard).load(stage_to_show(stages[index]), index + 1, len(stages))
        self._count(edit)
        if self.rehearsing:
            self.query_one(RehearsePane).load(edit.data, index)

    def step_back(self) -> bool:
        if self.rehearsing and self.table.has_focus:
            self._rehearse(False)
            return True
        return super().step_back()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("card", "rehearse", "split"):
            return self.table.has_focus and self.index >= 0
        if action == "merge":
            return self.table.has_focus and 0 <= self.index < self.table.count - 1
        return super().check_action(action, parameters)

    @on(RehearsePane.Heard)
    def mark_stages(self, event: RehearsePane.Heard) -> None:
        """Say in the list which stages the reply would meet."""
        event.stop()
        self._mark(event.heard if self.rehearsing else None)

    @on(RehearsePane.TurnAsked)
    def turn_stage(self, event: RehearsePane.TurnAsked) -> None:
        event.stop()
        self.table.go_to(max(0, min(self.index + event.by, self.table.count - 1)))

    def action_card(self) -> None:
        self._rehearse(False)
        self.toggle_class("-card")

    def action_rehearse(self) -> None:
        self._rehearse(True)
        # What is hidden takes no focus.
        self.call_after_refresh(self.query_one(RehearsePane).candidate.focus)

    def action_merge(self) -> None:
        if (edit := self.edit) is not None:
            self.settle()
            merge_stage(edit, self.index)
            self.fill(edit, self.index)
            self._count(edit)

    def action_split(self) -> None:
        if (edit := self.edit) is None:
            return
        self.commit()
        line = str(edit.get((*self.spec.path, self.index, "line"), ""))
        if len(line.split()) < 2 and not split_points(line):
            self.notify(_("This line is too short to split."), markup=False)
            return
        self.app.push_screen(SplitDialog(line), self._split)

    def _split(self, at: int | None) -> None:
        edit = self.edit
        if at is not None and edit is not None and self.index >= 0:
            self.settle()
            split_stage(edit, self.index, at)
            self.fill(edit, self.index + 1)
            self._count(edit)
            self.form.reveal(("cue", "text"))

    def _rehearse(self, on: bool) -> None:
        self.set_class(on, "-rehearse")
        if on:
            self.remove_class("-card")
            if self.edit is not None:
                self.query_one(RehearsePane).load(self.edit.data, max(self.index, 0))
        else:
            self._mark(None)

    def _mark(self, heard: Rehearsal | None) -> None:
        checks = heard.checks if heard else ()
        met = {c.number - 1: c.check.met for c in checks if not c.disclosed}
        if met != self._met:
            self._met = met
            self._repaint()

    def _repaint(self) -> None:
        if self.edit is not None:
            for index in range(min(self.table.count, len(self.edit.items(self.spec.path)))):
                self.table.update_row(index, self._cells(self.edit, index))

    def _cells(self, edit: TaskEdit, index: int) -> tuple[str, ...]:
        number, *rest = STAGES.cells(edit, index)
        if self._met:
            mark = {True: "✓", False: "·", None: ""}[self._met.get(index)]
        else:
            mark = self._wrong.get(index, "")
        return (f"{mark}{number}", *rest)

    def _count(self, edit: TaskEdit) -> None:
        try:
            lines = self.query_one("#stage-counts", Lines)
        except NoMatches:
            return
        language = str(edit.get(("language",), "en"))
        lines.load(count_lines(stage_counts(edit.data), self.index, language))

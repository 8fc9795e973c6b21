"""The tab of stages: the list with its counts, and beside it the form, the card or the rehearsal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textual import on
from textual.app import ComposeResult
from textual.css.query import NoMatches

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.rehearsal import Rehearsal, stage_to_show
from cuecard.annotate.authoring.stages import merge_stage, split_points, split_stage, stage_counts
from cuecard.annotate.authoring.trees import Path, parse_place
from cuecard.annotate.authoring.validity import Problem
from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.screens.task.collection import Collection
from cuecard.tui.screens.task.forms import STAGES
from cuecard.tui.screens.task.stages.rehearse import RehearsePane
from cuecard.tui.screens.task.stages.split import SplitDialog
from cuecard.tui.state.stage_counts import count_lines
from cuecard.tui.widgets.cue_card import CueCard
from cuecard.tui.widgets.pieces import Lines


class StagesPane(Collection):
    """A wide terminal shows the card below the form, a narrow one instead of it, on demand; the
    rehearsal takes the card's place.
    """

    BINDINGS = keys(
        Key("stages.rehearse", "r", "rehearse", N_("Rehearse"), N_("Type an agent's reply and see which cue it meets")),
        Key("stages.card", "v", "card", N_("Card"), N_("Show the stage as its card or as a form")),
        Key("stages.split", "s", "split", N_("Split"), N_("Make two stages of this one; its triples stay with the first"), show=False),
        Key("stages.merge", "m", "merge", N_("Merge"), N_("Make one stage of this one and the next"), show=False),
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

    def found(self, problems: Sequence[Problem]) -> None:
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

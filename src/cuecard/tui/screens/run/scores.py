"""The scores pane of a run: tables by family, and dialogs for grouping, filtering and measures."""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, create_model
from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Static

from cuecard.annotate.results import DIMENSIONS, Dimension
from cuecard.annotate.results.words import dimension_word, value_word
from cuecard.core.i18n import N_, _
from cuecard.core.scoring.measures import measure_label
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.tui.app import guarded
from cuecard.tui.drawing import Vertical
from cuecard.tui.grid import Grid
from cuecard.tui.grid.cells import GridCell, GridColumn, ListSource
from cuecard.tui.kit.forms import FormDialog
from cuecard.tui.kit.rows import Row
from cuecard.tui.present.run_trials import FigureTrials
from cuecard.tui.present.score_tables import COUNT_GLYPHS, COUNT_WORDS, FigureCell
from cuecard.tui.present.scores import ALL_MEASURES, ONLY_WORDS, Cut, Only, ScoreView, all_measures
from cuecard.tui.present.tables import WIDE
from cuecard.tui.screens.run.actions import SCORES_KEYS, Keys, refresh_keys
from cuecard.tui.widgets.inputs import FigureTable
from cuecard.tui.widgets.text import Lines, Pane, PlainText

_MOST = 40


class ScoreGrid(FigureTable):
    """Has no marks of its own."""

    GUTTER = False


class ScoresPane(Vertical):
    """Shows scores; `load` a view. Its keys change what is shown, and post `CutWanted` if that needs a new computation."""

    BINDINGS = SCORES_KEYS

    class BehindWanted(Message):
        """The trials behind a figure are to be listed."""

        def __init__(self, behind: FigureTrials) -> None:
            super().__init__()
            self.behind = behind

    class CutWanted(Message):
        """Scores of other trials, or by another grouping, are wanted."""

        def __init__(self, cut: Cut) -> None:
            super().__init__()
            self.cut = cut

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._view: ScoreView | None = None
        self._figures = False
        self._keys: Keys = ()
        self._counting: str | None = None

    def compose(self) -> ComposeResult:
        yield Static("", id="counting", markup=False)
        yield Lines(id="sections")
        yield Lines(id="scores-heading")
        yield ScoreGrid((), cursor="cell", fixed=1, id="scores-table")
        with Pane(id="scores-details"):
            yield PlainText(id="scores-detail")

    def on_mount(self) -> None:
        self.counting("")

    @property
    def table(self) -> ScoreGrid:
        return self.query_one(ScoreGrid)

    def counting(self, text: str) -> None:
        """What is being done, or nothing."""
        if text != self._counting:
            self._counting = text
            said = self.query_one("#counting", Static)
            said.display = bool(text)
            said.update(text)

    def load(self, view: ScoreView) -> None:
        # The cursor is put on the first figure once there is one.
        first = self._view is None or not self._figures
        self._view = view
        self._figures = _first_figure(view) > 0
        self._fill(first=first)

    def on_resize(self, event: events.Resize) -> None:
        if self._view is not None:
            self.call_after_refresh(self._fill)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view = self._view
        if view is None:
            return False
        match action:
            case "open":
                return self._behind is not None
            case "step":
                return len(view.sections) > 1
            case "across":
                return view.across is not None or bool(view.dimensions_across)
            case _:
                return True

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_open()

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        self._explain()

    def on_grid_head_clicked(self, event: Grid.HeadClicked) -> None:
        event.stop()
        self._sort(event.column)

    def action_open(self) -> None:
        if behind := self._behind:
            self.post_message(self.BehindWanted(behind))

    def action_step(self, by: int) -> None:
        if self._view is not None:
            self._view.step(by)
            self._fill(first=True)

    def action_order(self) -> None:
        self._sort(self.table.cursor_column)

    def action_across(self) -> None:
        if self._view is not None:
            self._view.next_across(self.table.cursor_column)
            self._fill(first=True)

    @guarded("cut")
    async def action_by(self) -> None:
        if self._view is not None:
            cut = self._view.cut
            chosen = await self.app.push_screen_wait(_group_dialog(self._view))
            if chosen is not None:
                by: list[Dimension] = [d for d in DIMENSIONS if d in chosen.by]
                self._ask_for(replace(cut, by=tuple(by) or ("agent",)))

    @guarded("cut")
    async def action_narrow(self) -> None:
        if self._view is not None:
            cut, choices = self._view.cut, self._view.choices()
            chosen = await self.app.push_screen_wait(_narrow_dialog(self._view))
            if chosen is not None:
                where = tuple((d, values) for d in choices if (values := getattr(chosen, d)))
                self._ask_for(replace(cut, where=where, only=chosen.only))

    @guarded("cut")
    async def action_measure(self) -> None:
        from cuecard.tui.screens.dialogs import ChoiceDialog

        if (view := self._view) is None:
            return
        names = all_measures(view.cut.of(view.pool))
        options = [("main", "", _("The main ones")), (ALL_MEASURES, "", _("All of them"))]
        options += [(name, "", measure_label(name)) for name in names]
        question = _("A single measure also stands in the overview, for all families that have it.")
        chosen = await self.app.push_screen_wait(ChoiceDialog(_("Measures"), question, options))
        if chosen is not None:
            cut = view.cut
            measure = "" if chosen == "main" else chosen
            self._ask_for(Cut(cut.by, cut.where, cut.only, measure))

    @property
    def _behind(self) -> FigureTrials | None:
        table = self.table
        return self._view.behind(table.cursor_row, table.cursor_column) if self._view else None

    def _ask_for(self, cut: Cut) -> None:
        if self._view is not None and cut != self._view.cut:
            self.post_message(self.CutWanted(cut))

    def _sort(self, column: int) -> None:
        if self._view is not None:
            self._view.sort(column)
            self._fill()
            self.table.move_to(0, column)

    def _fill(self, *, first: bool = False) -> None:
        view, table = self._view, self.table
        if view is None:
            return
        self.query_one("#sections", Lines).load([view.tabs()])
        self.query_one("#scores-heading", Lines).load([view.heading()])
        shown = view.table
        rows: list[list[str | GridCell | Text]] = []
        for line in shown.lines:
            cells: list[str | GridCell | Text] = [GridCell(line[0].text, "strong")]
            cells += [GridCell(c.text, "muted" if c.remark else "plain") for c in line[1:]]
            rows.append(cells)
        short = {_(COUNT_WORDS[key]): glyph for key, glyph in COUNT_GLYPHS.items()}
        columns: list[GridColumn] = []
        for at, heading in enumerate(shown.headings):
            words = at == 0 or not any(_counted(line[at]) for line in shown.lines)
            longest = max((cell_len(line[at].text) for line in shown.lines), default=0)
            if self.size.width < WIDE:
                heading = short.get(heading, heading)
            least = min(max(longest, cell_len(heading)), _MOST)
            columns.append(GridColumn(heading, least, raw=True, right=not words))
        table.set_columns(columns, fixed=1)
        table.load(ListSource(rows), cursor=(0, _first_figure(view)) if first else None)
        self._explain()

    def _explain(self) -> None:
        if self._view is not None:
            table = self.table
            lines = self._view.details(table.cursor_row, table.cursor_column)
            self.query_one("#scores-detail", PlainText).load("\n".join(lines))
        self._keys = refresh_keys(self, ("open", "step", "across"), self._keys)


def _counted(cell: object) -> bool:
    return isinstance(cell, FigureCell) or getattr(cell, "value", None) is not None


def _first_figure(view: ScoreView) -> int:
    lines = view.table.lines
    cells = lines[0] if lines else ()
    return next((at for at, cell in enumerate(cells) if isinstance(cell, FigureCell)), 0)


class _Lines(Frozen):
    by: Annotated[tuple[str, ...], Field(title="")]


def _group_dialog(view: ScoreView) -> FormDialog[_Lines]:
    """The dimensions of a line, from those in which the trials differ."""
    several: list[Dimension] = [d for d in view.choices() if d != "family"]
    offered = dict.fromkeys((*view.cut.by, "agent", *several))
    return FormDialog(
        _("What a line is"),
        _Lines(by=view.cut.by),
        ask=_("Space ticks. Families always stand apart: they have measures of their own."),
        button=_("Show"),
        options={"by": [(dimension_word(d), d) for d in offered]},
    )


def _narrow_dialog(view: ScoreView) -> FormDialog[Any]:
    """Which trials count: failed ones or not, and the values of dimensions."""
    cut, names = view.cut, view.tables[0].names if view.tables else {}
    chosen, choices = dict(cut.where), view.choices()
    fields: dict[str, Any] = {
        d: (Annotated[tuple[str, ...], Field(title=dimension_word(d))], chosen.get(d, ()))
        for d in choices
    }
    only = Annotated[Only, Field(title=N_("Trials")), Row(options=ONLY_WORDS)]
    return FormDialog(
        _("Which trials count"),
        create_model("Narrowed", only=(only, cut.only), **fields)(),
        ask=_("Space ticks; nothing ticked in a list means all of it."),
        button=_("Show"),
        options={d: [(one_line(value_word(d, v, names), 56), v) for v in vs] for d, vs in choices.items()},
    )  # fmt: skip

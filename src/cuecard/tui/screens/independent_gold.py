"""The author's gold and an independent one side by side, with their agreement and the decisions between them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from cuecard.annotate.independent_gold.building import obstacle, refusal
from cuecard.annotate.independent_gold.comparison import (
    adjudicate,
    compare,
    independent_golds,
    keep_takes,
)
from cuecard.annotate.independent_gold.matching import Status, Take
from cuecard.core.errors import Conflict, CuecardError
from cuecard.core.i18n import N_, _, headed, ngettext
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.drawing import Container, Vertical
from cuecard.tui.grid import Grid, GridCell, GridColumn, GridSource
from cuecard.tui.grid.cells import Tone
from cuecard.tui.outside_programs import open_page
from cuecard.tui.present.drafts import DraftKeeper, DraftState
from cuecard.tui.present.independent_gold import MARK, SHOWN_LABEL, TAKE_LABEL, GoldView
from cuecard.tui.present.keyboard import after, hint
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.text import HeadLine

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


_NAME, _SHARE = 14, 13


def figures_text(view: GoldView) -> Text:
    """Precision, recall and F1 with their n, in columns; then why there is no kappa."""
    lines = [_line(["", _("precision (n)"), _("recall (n)"), _("F1 (n)"), ""], "dim")]
    lines += [_line(cells) for cells in view.figures()]
    lines.append(Text(f" {view.kappa()}", "dim"))
    return Text("\n", no_wrap=True, overflow="ellipsis").join(lines)


def _line(cells: list[str], style: str = "") -> Text:
    name, *shares, reason = cells
    line = Text(f" {_fitted(name, _NAME)}", style)
    for share in shares:
        line.append(f" {_fitted(share, _SHARE, right=True)}")
    if reason:
        line.append(f"  {reason}", "dim")
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _fitted(text: str, width: int, *, right: bool = False) -> str:
    from rich.cells import cell_len

    blanks = " " * max(width - cell_len(text), 0)
    return f"{blanks}{text}" if right else f"{text}{blanks}"


COLUMNS = (
    GridColumn("", 1, raw=True),
    GridColumn(N_("What"), 10, most=24),
    GridColumn(N_("Author"), 10, most=60, grow=1),
    GridColumn(N_("Second"), 10, most=60, grow=1),
    GridColumn(N_("Taken"), 8),
)
_TONE: dict[Status, Tone] = {
    "differ": "bad",
    "author": "accent",
    "second": "accent",
    "agreed": "muted",
}


class ElementRows(GridSource):
    """The rows of a view."""

    def __init__(self, view: GoldView) -> None:
        self._view = view

    def __len__(self) -> int:
        return len(self._view.rows)

    def cells(self, row: int) -> Sequence[str | GridCell]:
        label, author, second, taken = self._view.cells(row)
        status = self._view.rows[row].status
        open_ = self._view.take(row) is None
        return (
            GridCell(MARK[status][0], _TONE[status]),
            GridCell(label, "muted"),
            GridCell(author),
            GridCell(second),
            GridCell(taken, "bad" if open_ else "plain"),
        )


class CompareGoldScreen(CuecardScreen[None]):
    """Compares two golds. Who may, decides element by element; decisions are saved at once and make one revision in the
    end. Others only read.
    """

    CSS_PATH = "independent_gold.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    BINDINGS = keys(
        Key("gold.author", Means.CHOICE, "take('author')", N_("Author"), N_("Take the author's version of this"), letter="a"),
        Key("gold.second", Means.CHOICE, "take('second')", N_("Second"), N_("Take the second annotator's version of this"), letter="s"),
        Key("gold.both", Means.CHOICE, "take('both')", N_("Both"), N_("Keep both: two items, or one with the names and sources of both"), letter="b"),
        Key("gold.neither", Means.CHOICE, "take('neither')", N_("None"), N_("Keep neither version of this"), letter="x"),
        Key("gold.all", Means.CHOICE, "all", N_("Alike"), N_("Decide everything open that is shown like the last one"), show=False, letter="A"),
        Key("gold.next", Means.NEXT, "next", N_("Next"), N_("To the next one that is undecided")),
        Key("gold.filter", Means.ONLY, "filter", N_("Filter"), N_("Show only what is undecided, differs, one side has, or agrees; again for the next")),
        Key("gold.source", Means.OUTSIDE, "source", N_("Source"), N_("Open a source of this in your browser; again for the next"), show=False),
        Key("gold.other", Means.COMMAND, "other", N_("Other gold"), N_("The next gold that was built independently"), show=False, letter="g"),
        Key("gold.save", Means.SAVE, "save", N_("Save"), N_("Save what was decided as the next revision")),
        Key("gold.leave", Means.UP_ONE, "leave", N_("Back"), N_("Go back; what you decided is kept")),
    )  # fmt: skip

    def __init__(self, task_id: str, uid: str = "") -> None:
        super().__init__()
        self._task_id, self._uid = task_id, uid
        self._view: GoldView | None = None
        self._last: Take | None = None
        self._opened: tuple[str, int] = ("", 0)
        self._keeper = DraftKeeper(self._keep, self._kept, quiet=0.0)

    def compose(self) -> ComposeResult:
        yield HeadLine(
            _("Opening {task}…").format(task=self._task_id), id="gold-title", markup=False
        )
        yield Static("", id="figures", markup=False)
        with Container(id="gold-body"):
            with Vertical(classes="pane", id="elements"):
                yield Grid(COLUMNS, id="rows")
            with Container(classes="pane", id="element"):
                yield EntryList(gap=True, id="of-author")
                yield EntryList(gap=True, id="of-second")
        yield KeyBar()

    def on_mount(self) -> None:
        self.grid.focus()
        self.load()

    async def on_unmount(self) -> None:
        with contextlib.suppress(CuecardError):
            await self._keeper.flush()

    @property
    def grid(self) -> Grid:
        return self.query_one("#rows", Grid)

    @property
    def loaded(self) -> bool:
        """Whether both golds were read."""
        return self._view is not None

    @property
    def view(self) -> GoldView:
        """Only once it is loaded."""
        if self._view is None:
            raise RuntimeError("the comparison is not loaded yet")
        return self._view

    @guarded("load")
    async def load(self) -> None:
        """Read both golds, with what this person has decided so far."""
        with self.or_leave():
            view = await self._read()
        self._show(view)

    async def _read(self) -> GoldView:
        person, task_id, uid = self.person, self._task_id, self._uid
        config = await self.services.config()
        names = config.review.coordinators
        return await self.services.ask(
            lambda ws: GoldView(compare(ws, task_id, person, uid, names))
        )

    def _show(self, view: GoldView) -> None:
        self._view = view
        self._uid = view.comparison.second.uid
        title = f"{one_line(view.who())} · {one_line(view.comparison.task.title)}"
        self.query_one("#gold-title", Static).update(Text(f" {title}", "bold", no_wrap=True))
        self._fill(view.next_open(-1) or 0)

    @on(Grid.CursorMoved)
    def moved(self, event: Grid.CursorMoved) -> None:
        self.show_detail(event.row)

    @on(Grid.Chosen)
    def chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.query_one("#of-author").focus()

    def show_detail(self, row: int) -> None:
        """Both versions of the element in a line, beside each other."""
        view = self._view
        if view is not None:
            self.query_one("#element").border_title = Text(one_line(view.heading(row)))
            versions = view.both_sides(row)
            for name, entries in zip(("#of-author", "#of-second"), versions, strict=True):
                side = self.query_one(name, EntryList)
                side.load(entries)
                side.move_to(0)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view = self._view
        if view is None:
            return action == "leave" or action not in _OF_VIEW
        row = self.grid.cursor_row
        match action:
            case "take":
                take = parameters[0]
                return view.decides and row < len(view.rows) and take in view.rows[row].takes
            case "all" | "next":
                return view.decides and view.open > 0
            case "save":
                return view.decides and view.to_decide > 0
            case "source":
                return row < len(view.rows) and bool(view.sources(row))
            case "other":
                return len(view.comparison.others) > 1
            case _:
                return True

    def action_take(self, take: Take) -> None:
        row = self.grid.cursor_row
        if not self.view.choose(row, take):
            return
        self._last = take
        self._decided()
        if row + 1 < self.grid.count:
            self.grid.move_to(row + 1)
        else:
            self.show_detail(row)

    def action_all(self) -> None:
        if self._last is None:
            text = hint(
                _(
                    "First decide one: <gold.author>, <gold.second>, <gold.both> or <gold.neither>. Then <gold.all> decides the others that are shown alike."
                )
            )
            self.notify(text, markup=False)
            return
        n = self.view.choose_for_open(self._last)
        self._decided()
        self.show_detail(self.grid.cursor_row)
        text = ngettext("{n} decided: {side}.", "{n} decided: {side}.", n)
        self.notify(text.format(n=n, side=_(TAKE_LABEL[self._last])), timeout=3, markup=False)

    def action_next(self) -> None:
        row = self.view.next_open(self.grid.cursor_row)
        if row is None:
            self.view.show("open")
            self._fill(0)
        else:
            self.grid.move_to(row)

    def action_filter(self) -> None:
        self.view.show_next()
        self._fill(0)

    def action_source(self) -> None:
        row = self.grid.cursor_row
        sources, (key, at) = self.view.sources(row), self._opened
        at = at + 1 if key == self.view.rows[row].key else 0
        at %= len(sources)
        self._opened = (self.view.rows[row].key, at)
        url = sources[at]
        count = _("source {i} of {n}").format(i=at + 1, n=len(sources))
        if open_page(url):
            self.notify(headed(count, one_line(url)), timeout=3, markup=False)
        else:
            told = _("There is no browser to open it in: {url}").format(url=one_line(url))
            self.notify(headed(count, told), severity="warning", markup=False)

    @guarded("load")
    async def action_other(self) -> None:
        await self._keeper.flush()
        uids = [gold.uid for gold in self.view.comparison.others]
        self._uid = after(self._uid, uids)
        self._show(await self._read())

    @guarded("save")
    async def action_save(self) -> None:
        view = self.view
        if view.open:
            text = ngettext("{n} is undecided.", "{n} are undecided.", view.open)
            self.notify(text.format(n=view.open), severity="warning", markup=False)
            self.action_next()
            return
        await self._keeper.flush()
        question = ConfirmDialog(
            _("Save the gold that you decided on?"),
            _("It becomes the next revision of {task}, as a draft: a new revision is reviewed anew.").format(
                task=self._task_id
            ),
            yes=_("Save"),
        )  # fmt: skip
        if not await self.app.push_screen_wait(question):
            return
        config = await self.services.config()
        names, takes, comparison = config.review.coordinators, dict(view.takes), view.comparison
        try:
            revision = await self.services.ask(lambda ws: adjudicate(ws, comparison, takes, names))
        except Conflict as conflict:
            # What was decided is known by what it is about, and most of it still is there.
            self.report(conflict)
            self._show(await self._read())
            return
        if revision.number == comparison.head:
            text = _("That is what revision {number} says already.")
        else:
            text = _("Saved as revision {number}.")
        self.cue_app.tell(text.format(number=revision.number))
        self.dismiss(None)

    @guarded("leave")
    async def action_leave(self) -> None:
        if self._view is not None and not self.grid.has_focus:
            self.grid.focus()
            return
        await self._keeper.flush()
        self.dismiss(None)

    def _decided(self) -> None:
        self._keeper.touch()
        self.grid.changed()
        self._tell()

    def _fill(self, row: int) -> None:
        self.grid.load(ElementRows(self.view), cursor=(row, 0))
        self._tell()
        self.show_detail(row)

    def _tell(self) -> None:
        view = self.view
        elements = self.query_one("#elements")
        elements.border_title = Text(f"{_(SHOWN_LABEL[view.shown])} · {view.summary()}")
        elements.border_subtitle = Text(one_line(view.progress()))
        self.query_one("#figures", Static).update(figures_text(view))
        self.refresh_bindings()

    async def _keep(self) -> None:
        comparison, takes = self.view.comparison, dict(self.view.takes)
        task_id, uid = comparison.task.id, comparison.second.uid
        person, head = comparison.person, comparison.head
        await self.services.ask(
            lambda ws: keep_takes(ws, task_id, person, uid, head, takes), wait=False
        )

    def _kept(self, _state: DraftState, error: BaseException | None) -> None:
        if error is not None:
            self.report(error)


_OF_VIEW = ("take", "all", "next", "filter", "source", "other", "save")


async def open_independent_gold(screen: CuecardScreen[None], task_id: str) -> None:
    """Open the comparison if the person may see one, else build a gold. Raises `NotAllowed` if neither is possible."""
    person, config = screen.person, await screen.services.config()

    def read(ws: Workspace) -> tuple[bool, str]:
        seen = independent_golds(ws, task_id, person, config.review.coordinators)
        return bool(seen), "" if seen else obstacle(ws, task_id, person)

    seen, reason = await screen.services.ask(read)
    if seen:
        screen.app.push_screen(CompareGoldScreen(task_id))
    elif reason:
        raise refusal(reason)
    else:
        from cuecard.tui.screens.independent_gold_build import BuildGoldScreen

        screen.app.push_screen(BuildGoldScreen(task_id))

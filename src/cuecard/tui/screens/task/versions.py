"""The history of a task with the changes of each version, and the screen for merging two people's changes."""

import asyncio
from collections.abc import Sequence
from typing import Any

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.message import Message
from textual.widgets import Static, TextArea

from cuecard.annotate.authoring.changes import Change
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.merge import Side
from cuecard.annotate.authoring.session import Version
from cuecard.annotate.authoring.task_data import Path
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import for_display
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardDialog, CuecardScreen, guarded
from cuecard.tui.grid import Grid, GridCell, GridColumn, GridSource
from cuecard.tui.kit.lists import Column, ListView
from cuecard.tui.present.changes import SIDE, MergeView, message_cell, number_cell, version_entries
from cuecard.tui.present.tasks import moment
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.nav import EmptyState


class HistoryPane(TaskPane):
    """`show` the versions, the last first; what the one under the cursor changed stands beside them."""

    EDITS = False

    DEFAULT_CSS = """
    HistoryPane {
        #past { height: 1fr; }
        #versions { height: 2fr; }
        #changes { height: 3fr; border-top: solid $foreground 20%; }
    }
    """
    BINDINGS = keys(
        Key("history.open", "enter,v", "view", N_("Read"), N_("Read the whole version as YAML"), shown_as="⏎"),
        Key("history.restore", "r", "restore", N_("Restore"), N_("Put this version into the editor; asks first")),
        Key("history.against", "d", "against", N_("Compare with"), N_("Compare with the version before, or with what you have now")),
        Key("history.second_gold", "b", "independent_gold", N_("Gold twice"), N_("Compare the gold with one that somebody else built independently")),
        Key("history.changes", "tab", "changes", N_("Into the changes"), N_("From the versions to what changed, and back"), show=False),
    )  # fmt: skip

    class OfVersion(Message):
        def __init__(self, version: Version, against_draft: bool = False) -> None:
            super().__init__()
            self.version = version
            self.against_draft = against_draft

    class Highlighted(OfVersion):
        """The cursor is on this version; what it changed is to be found, for `show_changes`."""

    class Restored(OfVersion):
        """The person wants to go on from this version."""

    class Opened(OfVersion):
        """The person wants to read this version."""

    class IndependentGoldWanted(Message):
        """The person wants to compare the gold with a second one."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._counts: dict[Version, int] = {}
        self._against_draft = False
        self._highlighted: tuple[Version, bool] | None = None
        columns = (
            Column[Version](N_("Rev"), number_cell, right=True),
            Column[Version](N_("When"), lambda version: moment(version.at)),
            Column[Version](N_("Author"), lambda version: version.author or "–", grow=1, least=6),
            Column(N_("Changes"), self._changed, right=True),
            Column[Version]("", lambda version: GridCell("⚙" if version.origins else "", "warn")),
            Column[Version](N_("Message"), message_cell, grow=3),
        )
        self.list = ListView(columns, lambda version: version)

    def compose(self) -> ComposeResult:
        with Container(id="past"):
            with Vertical(id="versions"):
                yield self.list
            yield EntryList(id="changes")
        yield EmptyState(
            _("Never saved"),
            _("A saved revision never changes; reviews, runs and verdicts point at it."),
            ("^s", _("save the first revision")),
        )

    @property
    def changes(self) -> EntryList:
        return self.query_one("#changes", EntryList)

    def load(self, edit: TaskEdit) -> None:
        """Versions are shown when they are read."""

    def show(self, versions: Sequence[Version]) -> None:
        """List these versions, with the cursor on the last or where it was."""
        self.query_one("#past").display = bool(versions)
        self.query_one(EmptyState).display = not versions
        self._highlighted = None
        self.list.load(versions)

    def show_count(self, version: Version, n: int) -> None:
        """How many changes a version made."""
        self._counts[version] = n
        self.list.load(self.list.every)

    def show_changes(
        self, version: Version, against_draft: bool, changes: Sequence[Change]
    ) -> None:
        """What was found; dropped when the cursor is elsewhere by now."""
        if (self.list.row, self._against_draft) == (version, against_draft):
            self.changes.load(version_entries(version, changes, against_draft=against_draft))
            self.changes.move_to(0)

    def reveal(self, path: Path) -> None:
        self.list.focus()

    def step_back(self) -> bool:
        if self.changes.has_focus:
            self.list.focus()
            return True
        return False

    def on_list_view_moved(self, event: ListView.Moved) -> None:
        event.stop()
        self._look()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("view", "against", "restore"):
            return self.list.row is not None
        return True

    def action_restore(self) -> None:
        if version := self.list.row:
            self.post_message(self.Restored(version))

    def action_against(self) -> None:
        self._against_draft = not self._against_draft
        self._look()

    def action_view(self) -> None:
        if version := self.list.row:
            self.post_message(self.Opened(version))

    def action_independent_gold(self) -> None:
        self.post_message(self.IndependentGoldWanted())

    def action_changes(self) -> None:
        (self.list if self.changes.has_focus else self.changes).focus()

    def _changed(self, version: Version) -> str:
        n = self._counts.get(version)
        return "" if n is None else f"±{n}"

    def _look(self) -> None:
        """Have what is under the cursor compared, unless it was."""
        self.refresh_bindings()
        if version := self.list.row:
            looked = version, self._against_draft
            if looked != self._highlighted:
                self._highlighted = looked
                self.post_message(self.Highlighted(*looked))


class VersionDialog(CuecardDialog[bool]):
    """One version of a task, read only. True: the person wants to go on from it."""

    DEFAULT_CSS = """
    VersionDialog {
        align: center middle;
        #revision { width: 96%; height: 96%; border: round $primary; background: $surface;
                    border-title-color: $primary; border-subtitle-color: $muted; }
        TextArea { border: none; }
    }
    """
    BINDINGS = keys(
        Key(
            "revision.take",
            "ctrl+o",
            "take",
            N_("Go on from this one"),
            N_("Put this version into the editor; asks first"),
            shown_as="^o",
        ),
    )

    def __init__(self, task_id: str, version: Version, text: str) -> None:
        """`text`: the version as YAML."""
        super().__init__()
        self._task_id, self._version, self._text = task_id, version, text

    def compose(self) -> ComposeResult:
        version = self._version
        with Vertical(id="revision") as box:
            title = _("{task}, revision {number}")
            if version.kind == "thrown":
                title = _("{task}, draft after revision {number}, thrown away")
            box.border_title = Text(title.format(task=self._task_id, number=version.number))
            box.border_subtitle = Text(f"{version.author or '–'} · {moment(version.at)}")
            yield TextArea(for_display(self._text), read_only=True)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(TextArea).focus()

    def action_take(self) -> None:
        self.dismiss(True)


_COLUMNS = (
    GridColumn("", 1, raw=True),
    GridColumn(N_("Place"), 18, grow=3),
    GridColumn(N_("About"), 10, grow=2, hidden_below=60),
    GridColumn(N_("Taken"), 8),
)
_MARK: dict[str, GridCell] = {
    "clash": GridCell("≠", "bad"),
    "theirs": GridCell("›", "accent"),
    "mine": GridCell("‹", "muted"),
}


class MergeScreen(CuecardScreen[dict[str, Any] | None]):
    """Answers the merged data, or None when the person leaves; nothing is saved here. `told` says who
    saved what meanwhile.
    """

    CSS_PATH = "merge.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    BINDINGS = keys(
        Key("merge.mine", "m", "take('mine')", N_("Mine"), N_("Take my version of this")),
        Key("merge.theirs", "t", "take('theirs')", N_("Theirs"), N_("Take their version of this")),
        Key("merge.both", "b", "take('both')", N_("Both"), N_("Keep both: two items, or two paragraphs")),
        Key("merge.all", "A", "all", N_("Alike"), N_("Decide every open clash like the last one")),
        Key("merge.next", "n", "next", N_("Next"), N_("To the next clash that is open")),
        Key("merge.save", "ctrl+s", "save", N_("Save"), N_("Save the outcome as the next revision"), shown_as="^s"),
        Key("merge.leave", "escape", "leave", N_("Leave"), N_("Go back; your draft is kept as it was")),
    )  # fmt: skip

    def __init__(self, view: MergeView, told: str) -> None:
        super().__init__()
        self.view = view
        self._told = told
        self._last: Side | None = None

    def compose(self) -> ComposeResult:
        yield Static(for_display(self._told), id="merge-told", markup=False)
        with Container(id="merge-body"):
            with Vertical(classes="pane", id="differences"):
                yield Grid(_COLUMNS, id="rows")
            with Vertical(classes="pane", id="difference"):
                yield EntryList(gap=True, id="detail")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#difference").border_title = _("Mine and theirs")
        self._fill()
        self.grid.focus()

    @property
    def grid(self) -> Grid:
        return self.query_one("#rows", Grid)

    @on(Grid.CursorMoved)
    def moved(self, event: Grid.CursorMoved) -> None:
        self.show_detail(event.row)

    @on(Grid.Chosen)
    def chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.query_one("#detail").focus()

    @guarded("detail", background=True)
    async def show_detail(self, row: int) -> None:
        """Compare words off the screen's thread; a newer row cancels this."""
        entries = await asyncio.to_thread(self.view.detail, row) if self.view.rows else []
        detail = self.query_one("#detail", EntryList)
        detail.load(entries)
        detail.move_to(0)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        rows = self.view.rows
        row = self.grid.cursor_row if self.is_mounted else 0
        match action:
            case "take":
                return row < len(rows) and parameters[0] in rows[row].sides
            case "all":
                return self.view.open > 0
            case "next":
                return self.view.open > 0
            case _:
                return True

    def action_take(self, side: Side) -> None:
        row = self.grid.cursor_row
        if not self.view.choose(row, side):
            return
        self._last = side
        self._changed()
        if row + 1 < self.grid.count:
            self.grid.move_to(row + 1)
        else:
            self.show_detail(row)

    def action_all(self) -> None:
        # Deciding one moves on to the next, so the cursor stands on one that is open.
        side = self._last
        if side is None:
            text = _("First decide one: m, t or b. Then A decides the others alike.")
            self.notify(text, markup=False)
            return
        n = self.view.choose_for_open(side)
        self._changed()
        text = ngettext("{n} clash decided: {side}.", "{n} clashes decided: {side}.", n)
        self.notify(text.format(n=n, side=_(SIDE[side])), timeout=3, markup=False)

    def action_next(self) -> None:
        row = self.view.next_open(self.grid.cursor_row)
        if row is not None:
            self.grid.move_to(row)

    @guarded("save")
    async def action_save(self) -> None:
        if self.view.open:
            self._tell_open()
            return
        data = await asyncio.to_thread(self.view.merged)
        if data is None:
            self._fill()
            self._tell_open()
        else:
            self.dismiss(data)

    def action_leave(self) -> None:
        if self.grid.has_focus:
            self.dismiss(None)
        else:
            self.grid.focus()

    def _tell_open(self) -> None:
        text = ngettext(
            "{n} clash is still open: m, t or b decides it.",
            "{n} clashes are still open: m, t or b decides each.",
            self.view.open,
        )
        self.notify(text.format(n=self.view.open), severity="warning", markup=False)
        self.action_next()

    def _fill(self) -> None:
        self.grid.load(_Rows(self.view))
        self._changed()
        first = self.view.next_open(-1)
        self.grid.move_to(first or 0)
        self.show_detail(first or 0)

    def _changed(self) -> None:
        self.grid.changed()
        self.query_one("#differences").border_title = self.view.summary()
        self.refresh_bindings()


class _Rows(GridSource):
    """The rows of a view."""

    def __init__(self, view: MergeView) -> None:
        self._view = view

    def __len__(self) -> int:
        return len(self._view.rows)

    def cells(self, row: int) -> Sequence[str | GridCell]:
        difference, choice = self._view.rows[row], self._view.choice(row)
        plain = "plain" if difference.whose == "clash" else "muted"
        about = difference.about or difference.mine or difference.theirs or difference.base
        return (
            _MARK[difference.whose],
            GridCell(difference.label, "strong" if difference.whose == "clash" else "plain"),
            GridCell(about, plain),
            GridCell(_(SIDE[choice]), plain) if choice else GridCell(_("?"), "bad"),
        )

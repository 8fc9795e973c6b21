"""The tab of the past: what each revision changed, and the way back to any of them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.message import Message
from textual.widgets import Footer, TextArea

from cuecard.annotate.authoring.changes import Change
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.history import Version
from cuecard.annotate.authoring.trees import Path
from cuecard.core.i18n import N_, _
from cuecard.core.text import for_display
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.state.history import HistoryView
from cuecard.tui.state.task_list import moment
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.fitted_table import FittedColumn, FittedTable
from cuecard.tui.widgets.grid import Grid
from cuecard.tui.widgets.list_table import ListTable


class HistoryPane(TaskPane):
    """`show` the versions, the last first; what the one under the cursor changed stands beside them."""

    EDITS = False

    DEFAULT_CSS = """
    HistoryPane {
        #past { height: 1fr; }
        FittedTable { height: 1fr; }
        #versions { height: 2fr; }
        #changes { height: 3fr; border-top: solid $foreground 20%; }
    }
    """
    BINDINGS = keys(
        Key("history.open", "enter,v", "view", N_("Read"), N_("Read the whole version as YAML"), shown_as="⏎"),
        Key("history.restore", "r", "restore", N_("Restore"), N_("Put this version into the editor; asks first")),
        Key("history.against", "d", "against", N_("Compare with"), N_("Compare with the version before, or with what you have now")),
        Key("history.second_gold", "b", "second_gold", N_("Gold twice"), N_("Compare the gold with one that somebody else built independently")),
        Key("history.changes", "tab", "changes", N_("Into the changes"), N_("From the versions to what changed, and back"), show=False),
    )  # fmt: skip

    class Looked(Message):
        """The cursor is on this version; what it changed is to be found, for `show_changes`."""

        def __init__(self, version: Version, against_draft: bool) -> None:
            super().__init__()
            self.version = version
            self.against_draft = against_draft

    class Restored(Message):
        """The person wants to go on from this version."""

        def __init__(self, version: Version) -> None:
            super().__init__()
            self.version = version

    class Opened(Message):
        """The person wants to read this version."""

        def __init__(self, version: Version) -> None:
            super().__init__()
            self.version = version

    class SecondGoldWanted(Message):
        """The person wants to compare the gold with a second one."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._view = HistoryView()
        self._against_draft = False

    def compose(self) -> ComposeResult:
        columns = (
            FittedColumn(N_("Rev"), 3, right=True),
            FittedColumn(N_("When"), 16),
            FittedColumn(N_("Author"), 6, grow=1),
            FittedColumn(N_("Changes"), 7, right=True),
            FittedColumn("", 1),
            FittedColumn(N_("Message"), 10, grow=3),
        )
        with Container(id="past"):
            with Vertical(id="versions"):
                yield ListTable(columns)
            yield EntryList(id="changes")
        yield EmptyState(
            _("Never saved"),
            _("A saved revision never changes; reviews, runs and verdicts point at it."),
            ("^s", _("save the first revision")),
        )

    @property
    def table(self) -> FittedTable:
        return self.query_one(FittedTable)

    @property
    def changes(self) -> EntryList:
        return self.query_one("#changes", EntryList)

    def load(self, edit: TaskEdit) -> None:
        """Versions are shown when they are read."""

    def show(self, versions: Sequence[Version]) -> None:
        """List these versions, with the cursor on the last or where it was."""
        same = list(versions) == list(self._view.versions)
        self._view = HistoryView(versions, self._view.counts if same else {})
        self.query_one("#past").display = bool(versions)
        self.query_one(EmptyState).display = not versions
        self._fill()
        self._look()

    def show_count(self, version: Version, n: int) -> None:
        """How many changes a version made."""
        if version in self._view.versions:
            row = list(self._view.versions).index(version)
            self._view.counts[row] = n
            self.table.update_row(row, self._view.cells(row))

    def show_changes(
        self, version: Version, against_draft: bool, changes: Sequence[Change]
    ) -> None:
        """What was found; dropped when the cursor is elsewhere by now."""
        current = self._current
        if current is None or (current, self._against_draft) != (version, against_draft):
            return
        row = self.table.cursor_row
        self.changes.load(self._view.entries(row, changes, against_draft=against_draft))
        self.changes.move_to(0)

    def reveal(self, path: Path) -> None:
        self.table.focus()

    def step_back(self) -> bool:
        if self.changes.has_focus:
            self.table.focus()
            return True
        return False

    @on(Grid.CursorMoved)
    def moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        self._look()

    @on(Grid.Chosen)
    def chosen(self, event: Grid.Chosen) -> None:
        """A click only shows what changed; reading the whole takes a key."""
        event.stop()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("view", "against", "restore"):
            return self._current is not None
        return True

    def action_restore(self) -> None:
        if self._current is not None:
            self.post_message(self.Restored(self._current))

    def action_against(self) -> None:
        self._against_draft = not self._against_draft
        self._look()

    def action_view(self) -> None:
        if self._current is not None:
            self.post_message(self.Opened(self._current))

    def action_second_gold(self) -> None:
        self.post_message(self.SecondGoldWanted())

    def action_changes(self) -> None:
        (self.table if self.changes.has_focus else self.changes).focus()

    @property
    def _current(self) -> Version | None:
        row = self.table.cursor_row
        return self._view.versions[row] if row < len(self._view.versions) else None

    def _fill(self) -> None:
        self.table.fill([self._view.cells(row) for row in range(len(self._view.versions))])

    def _look(self) -> None:
        self.refresh_bindings()
        if self._current is not None:
            self.post_message(self.Looked(self._current, self._against_draft))


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
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(TextArea).focus()

    def action_take(self) -> None:
        self.dismiss(True)

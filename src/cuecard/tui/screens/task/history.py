"""The tab of saved revisions, and the dialog that shows one of them as YAML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Footer, TextArea

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.trees import Path
from cuecard.core.i18n import N_, _
from cuecard.core.tasks.yaml_io import dump_task
from cuecard.core.text import for_display
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.state.task_list import moment
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.fitted_table import FittedColumn, FittedTable
from cuecard.tui.widgets.grid import Grid

if TYPE_CHECKING:
    from cuecard.store.records import Revision


class HistoryPane(TaskPane):
    """`show` the revisions, newest first; Enter opens one."""

    class Chosen(Message):
        """The person wants to see this revision."""

        def __init__(self, revision: Revision) -> None:
            super().__init__()
            self.revision = revision

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._revisions: Sequence[Revision] = ()

    def compose(self) -> ComposeResult:
        columns = (
            FittedColumn(N_("Rev"), 3, right=True),
            FittedColumn(N_("Hash"), 10),
            FittedColumn(N_("Author"), 10, grow=1),
            FittedColumn(N_("Saved"), 16),
            FittedColumn(N_("Message"), 12, grow=3),
        )
        yield FittedTable(columns)
        yield EmptyState(
            _("Never saved"),
            _("A saved revision never changes; reviews, runs and verdicts point at it."),
            ("^s", _("save the first revision")),
        )

    @property
    def table(self) -> FittedTable:
        return self.query_one(FittedTable)

    def load(self, edit: TaskEdit) -> None:
        """Revisions are shown when they are read."""

    def show(self, revisions: Sequence[Revision]) -> None:
        self._revisions = revisions
        self.table.fill(
            [
                (str(r.number), r.hash[:10], r.author, moment(r.created_at), r.message)
                for r in revisions
            ]
        )
        self.table.display = bool(revisions)
        self.query_one(EmptyState).display = not revisions

    def reveal(self, path: Path) -> None:
        self.table.focus()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        if event.row < len(self._revisions):
            self.post_message(self.Chosen(self._revisions[event.row]))


class RevisionDialog(CuecardDialog[bool]):
    """One revision, read only. True: the person wants to go on from it."""

    DEFAULT_CSS = """
    RevisionDialog {
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
            N_("Put this revision into the editor; ^z brings back what is there now"),
            shown_as="^o",
        ),
    )

    def __init__(self, revision: Revision) -> None:
        super().__init__()
        self._revision = revision

    def compose(self) -> ComposeResult:
        revision = self._revision
        with Vertical(id="revision") as box:
            title = _("{task}, revision {number}")
            box.border_title = Text(title.format(task=revision.task_id, number=revision.number))
            box.border_subtitle = Text(f"{revision.author} · {moment(revision.created_at)}")
            yield TextArea(for_display(dump_task(revision.task)), read_only=True)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(TextArea).focus()

    def action_take(self) -> None:
        self.dismiss(True)

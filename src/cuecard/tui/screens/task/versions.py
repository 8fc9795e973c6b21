"""The history of a task with the changes of each version, and the screen for merging two people's changes."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import TextArea

from cuecard.annotate.authoring.changes import Change
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.merge import Difference, Side
from cuecard.annotate.authoring.session import Version
from cuecard.annotate.authoring.task_data import Path
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import for_display
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog, CuecardScreen, guarded
from cuecard.tui.drawing import Container, Vertical
from cuecard.tui.grid import GridCell, Tone
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.lists import ListView
from cuecard.tui.present.changes import SIDE, MergeView, message_cell, number_cell, version_entries
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.tasks import moment
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import HeadLine


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
        Key("history.open", Means.OPEN, "view", N_("Read"), N_("Read the whole version as YAML")),
        Key("history.restore", Means.COMMAND, "restore", N_("Restore"), N_("Put this version into the editor; asks first"), letter="r"),
        Key("history.against", Means.COMPARE, "against", N_("Compare with"), N_("Compare with the version before, or with what you have now")),
        Key("history.second_gold", Means.COMMAND, "independent_gold", N_("Gold twice"), N_("Compare the gold with one that somebody else built independently"), letter="b"),
        Key("history.changes", Means.ONWARD, "changes", N_("Into the changes"), N_("From the versions to what changed, and back"), show=False),
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
            Column[Version](N_("Message"), message_cell, grow=3),
            Column[Version](N_("Author"), lambda version: version.author or "–", grow=1, least=6),
            Column[Version](N_("When"), lambda version: moment(version.at)),
            Column(N_("Changes"), self._changed, right=True),
            Column[Version]("", lambda version: GridCell("⚙" if version.origins else "", "warn")),
            Column[Version](N_("Rev"), number_cell, right=True),
        )
        self.list = ListView(columns, lambda version: version)

    def compose(self) -> ComposeResult:
        with Container(id="past"):
            with Vertical(id="versions"):
                yield self.list
            yield EntryList(id="changes")
        nothing = EmptyState(
            _("Never saved"),
            _("A saved revision never changes; reviews, runs and verdicts point at it."),
            ("{SAVE}", _("save the first revision")),
        )
        nothing.display = False  # until that is read
        yield nothing

    @property
    def changes(self) -> EntryList:
        return self.query_one("#changes", EntryList)

    def load(self, edit: TaskEdit) -> None:
        """Versions are shown when they are read."""

    def show(self, versions: Sequence[Version]) -> None:
        """List these versions, with the cursor on the last or where it was."""
        self.query_one("#past").display = bool(versions)
        self.query_one(EmptyState).display = not versions
        if list(versions) != list(self.list.every) or self._against_draft:
            self._highlighted = None
            self.list.load(versions)

    def uncounted(self, versions: Sequence[Version]) -> list[Version]:
        """Those of which it is not known how much they changed; a version never changes."""
        return [version for version in versions if version not in self._counts]

    def show_counts(self, counts: Mapping[Version, int]) -> None:
        """How many changes versions made."""
        if counts:
            self._counts.update(counts)
            self.list.changed()

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
        Key("revision.take", Means.SAVE, "take", N_("Go on from this one"), N_("Put this version into the editor; asks first")),
    )  # fmt: skip

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


_MARK: dict[str, GridCell] = {
    "clash": GridCell("≠", "bad"),
    "theirs": GridCell("›", "accent"),
    "mine": GridCell("‹", "muted"),
}


def _tone(difference: Difference) -> Tone:
    return "plain" if difference.whose == "clash" else "muted"


class MergeScreen(CuecardScreen[dict[str, Any] | None]):
    """Answers the merged data, or None when the person leaves; nothing is saved here. `told` says who
    saved what meanwhile.
    """

    CSS_PATH = "merge.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    BINDINGS = keys(
        Key("merge.mine", Means.CHOICE, "take('mine')", N_("Mine"), N_("Take my version of this"), letter="m"),
        Key("merge.theirs", Means.CHOICE, "take('theirs')", N_("Theirs"), N_("Take their version of this"), letter="t"),
        Key("merge.both", Means.CHOICE, "take('both')", N_("Both"), N_("Keep both: two items, or two paragraphs"), letter="b"),
        Key("merge.all", Means.CHOICE, "all", N_("Alike"), N_("Decide every open clash like the last one"), letter="A"),
        Key("merge.read", Means.OPEN, "read", N_("Read"), N_("Into mine and theirs, to read on"), show=False),
        Key("merge.next", Means.NEXT, "next", N_("Next"), N_("To the next clash that is open")),
        Key("merge.save", Means.SAVE, "save", N_("Save"), N_("Save the outcome as the next revision")),
        Key("merge.leave", Means.UP_ONE, "leave", N_("Leave"), N_("Go back; your draft is kept as it was")),
    )  # fmt: skip

    def __init__(self, view: MergeView, told: str) -> None:
        super().__init__()
        self.view = view
        self._told = told
        self._last: Side | None = None
        columns = (
            Column[Difference]("", lambda row: _MARK[row.whose]),
            Column[Difference](N_("Place"), lambda row: GridCell(row.label, "strong" if row.whose == "clash" else "plain"), grow=3, least=18),
            Column[Difference](N_("About"), lambda row: GridCell(row.about or row.mine or row.theirs or row.base, _tone(row)), grow=2, least=10, spare=1),
            Column(N_("Taken"), self._taken),
        )  # fmt: skip
        self.list = ListView(columns, lambda row: row.key, filters=False, tells=False)

    def crumbs(self) -> Sequence[str]:
        return [_("Merge")]

    def compose(self) -> ComposeResult:
        yield HeadLine(for_display(self._told), id="merge-told", markup=False)
        with Container(id="merge-body"):
            with Vertical(classes="pane", id="differences"):
                yield self.list
            with Vertical(classes="pane", id="difference"):
                yield EntryList(gap=True, id="detail")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#difference").border_title = _("Mine and theirs")
        self._fill()
        self.list.focus()

    def on_list_view_moved(self) -> None:
        self.show_detail()

    @guarded("detail", background=True)
    async def show_detail(self) -> None:
        """Compare words off the screen's thread; a newer row cancels this."""
        at = self._at
        entries = await asyncio.to_thread(self.view.detail, at) if at is not None else []
        detail = self.query_one("#detail", EntryList)
        detail.load(entries)
        detail.move_to(0)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "take":
                row = self.list.row
                return row is not None and parameters[0] in row.sides
            case "all" | "next":
                return self.view.open > 0
            case _:
                return True

    def action_read(self) -> None:
        self.query_one("#detail").focus()

    def action_take(self, side: Side) -> None:
        at = self._at
        if at is None or not self.view.choose(at, side):
            return
        self._last = side
        self._changed()
        grid = self.list.grid
        if grid.cursor_row + 1 < grid.count:
            grid.move_to(grid.cursor_row + 1)
        else:
            self.show_detail()

    def action_all(self) -> None:
        # Deciding one moves on to the next, so the cursor stands on one that is open.
        side = self._last
        if side is None:
            text = hint(
                _(
                    "First decide one: <merge.mine>, <merge.theirs> or <merge.both>. Then <merge.all> decides the others alike."
                )
            )
            self.notify(text, markup=False)
            return
        n = self.view.choose_for_open(side)
        self._changed()
        text = ngettext("{n} clash decided: {side}.", "{n} clashes decided: {side}.", n)
        self.notify(text.format(n=n, side=_(SIDE[side])), timeout=3, markup=False)

    def action_next(self) -> None:
        at = -1 if self._at is None else self._at
        if (row := self.view.next_open(at)) is not None:
            self.list.go_to(self.view.rows[row].key)

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
        if self.list.grid.has_focus:
            self.dismiss(None)
        else:
            self.list.focus()

    def _tell_open(self) -> None:
        text = ngettext(
            "{n} clash is still open: <merge.mine>, <merge.theirs> or <merge.both> decides it.",
            "{n} clashes are still open: <merge.mine>, <merge.theirs> or <merge.both> decides each.",
            self.view.open,
        )
        self.notify(hint(text, n=self.view.open), severity="warning", markup=False)
        self.action_next()

    def _fill(self) -> None:
        self._changed()
        first = self.view.next_open(-1) or 0
        self.list.load(self.view.rows, self.view.rows[first].key if self.view.rows else None)

    @property
    def _at(self) -> int | None:
        """Which difference is under the cursor."""
        return self.view.rows.index(self.list.row) if self.list.row is not None else None

    def _taken(self, row: Difference) -> GridCell:
        choice = self.view.choice(row)
        return GridCell(_(SIDE[choice]), _tone(row)) if choice else GridCell(_("?"), "bad")

    def _changed(self) -> None:
        self.list.grid.changed()
        self.query_one("#differences").border_title = self.view.summary()
        self.refresh_bindings()

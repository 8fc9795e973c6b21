"""Two trials of one task side by side, or one trial under two judges."""

from collections.abc import Sequence

from rich.cells import cell_len
from textual.app import ComposeResult

from cuecard.annotate.results.trial_pairs import load_pair
from cuecard.annotate.results.trial_record import note_seen
from cuecard.core.i18n import N_, _
from cuecard.core.records import TrialRecord
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.drawing import Container
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.kit.lists import ListView
from cuecard.tui.present.trial_pair import PairRow, PairView, mark_cell, next_different, summary
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import Lines


class PairScreen(ListScreen[PairRow]):
    """Takes two ids of trials of one task; the same twice for its judges. It opens where they first differ."""

    LIVE = TELLS = False
    NEED_ROW = ("open", "open_side", "walk")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    DEFAULT_CSS = """
    PairScreen {
        #tabs { padding: 0 1; }
        #list { height: 2fr; }
        #sides { height: 3fr; border-top: solid $foreground 20%; }
        #sides EntryList { width: 1fr; height: 1fr; }
        &.-wide #sides { layout: horizontal; }
        &.-wide #right { border-left: solid $foreground 20%; }
        &.-narrow #right { border-top: dashed $foreground 20%; }
    }
    """
    BINDINGS = keys(
        Key("pair.open", Means.OPEN, "open", N_("Open"), N_("The trial at this place, the left one if both have it")),
        Key("pair.next", Means.NEXT, "walk(1)", N_("Next difference"), N_("To the next row that differs")),
        Key("pair.before", Means.BEFORE, "walk(-1)", N_("Difference before"), N_("To the row before that differs"), show=False),
        Key("pair.view", Means.VIEW, "view", N_("View"), N_("Dialogue, verdicts, or measures and cost")),
        Key("pair.judge", Means.COMPARE, "judge", N_("Other judge"), N_("Verdicts of another judge, or another two")),
        Key("pair.left", Means.CHOICE, "open_side(0)", N_("Left"), N_("Open the left trial at this place"), show=False, letter="1"),
        Key("pair.right", Means.CHOICE, "open_side(1)", N_("Right"), N_("Open the right trial at this place"), letter="2"),
        Key("pair.back", Means.UP_ONE, "leave", N_("Back"), N_("Back to where I came from")),
    )  # fmt: skip

    def __init__(self, left: int, right: int) -> None:
        super().__init__()
        self._ids = (left, right)
        self._view: PairView | None = None
        self._noted = False

    def columns(self) -> Sequence[Column[PairRow]]:
        view, room = self._view, self.size.width or 80
        left, right = view.names if view else ("", "")
        place = 12 if view is None or view.section == "dialogue" else max(20, room // 4)
        half = max(12, (room - place - 14) // 2)
        return (
            Column("≠", mark_cell, raw=True),
            Column(N_("Place"), lambda row: row.place, grow=1, least=place),
            Column(left, lambda row: row.left, grow=2, least=half, wide=half, raw=True),
            Column(right, lambda row: row.right, grow=2, least=half, wide=half, raw=True),
        )

    def on_resize(self) -> None:
        if self._was_read:
            self.view.declare(self.columns())
            self.tell()

    def key(self, row: PairRow) -> str:
        return row.key

    def compose_list(self) -> ComposeResult:
        yield Lines(id="tabs")
        yield ListView(self.columns(), self.key, tells=False, id="list")
        with Container(id="sides"):
            yield EntryList(id="left")
            yield EntryList(id="right")
        yield self.empty()

    async def read(self) -> Sequence[PairRow]:
        (left, right), person, before = self._ids, self.person, self._view
        pair = await self.services.ask(lambda ws: load_pair(ws, left, right, person))
        view = self._view = PairView(pair, "verdicts" if pair.same_trial else "dialogue")
        if before is not None:
            view.section, view.judge = before.section, before.judge
        return await self._rows(view)

    async def _rows(self, view: PairView) -> Sequence[PairRow]:
        rows = view.rows()
        if view.section != "dialogue" and rows and not self._noted:
            # Both sides' verdicts are in view: labels that are given after this are not blind.
            self._noted = True
            items = [pair.view.verdict.item for pair in view.verdicts]
            ids, person = set(self._ids), self.person
            for trial in ids:
                await self.services.ask(lambda ws, id=trial: note_seen(ws, id, items, person))
        return rows

    def show(self, rows: Sequence[PairRow], to: object = None) -> None:
        first = not self._was_read
        self.view.declare(self.columns())
        if first and (at := next_different(rows, -1, 1)) is not None:
            to = rows[at].key
        super().show(rows, to)

    def empty(self) -> EmptyState:
        why = self._view.why_empty() if self._view else ""
        return EmptyState(_("Nothing to hold against each other"), why, ("{VIEW}", _("View")), ("esc", _("Back")))  # fmt: skip

    def title_words(self) -> str:
        view = self._view
        if view is None:
            return ""
        task = view.pair.left.opened.task.title
        revisions = {side.opened.trial.revision for side in (view.pair.left, view.pair.right)}
        trial = view.pair.left.opened.trial
        words = [_("different revisions") if len(revisions) > 1 else "", summary(view)]
        if view.pair.same_trial:
            words[:0] = [trial.agent.name, _("sample {n}").format(n=trial.sample + 1)]
        told = " · ".join(filter(None, words))
        return f"{one_line(task, max(12, self.size.width - cell_len(told) - 6))} · {told}"

    def tell(self) -> None:
        super().tell()
        view, row = self._view, self.row
        if view is None:
            return
        self.query_one("#tabs", Lines).load([view.tabs()])
        self.query_one("#sides").display = row is not None and view.section != "numbers"
        for place, name in enumerate(("left", "right")):
            pane = self.query_one(f"#{name}", EntryList)
            pane.load(view.side(row, place) if row is not None else [])
            pane.scroll_home(animate=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "judge":
            return self._view is not None and len(self._view.pair.judges) > 1
        return super().check_action(action, parameters)

    def action_walk(self, step: int) -> None:
        rows = self.view.rows
        at = next_different(rows, self.view.grid.cursor_row, step)
        if at is None:
            self.cue_app.tell(_("Nothing further differs here."))
        else:
            self.view.grid.move_to(at)

    def action_view(self) -> None:
        if self._view is not None:
            self._view.next_section()
            self._change(self._view)

    def action_judge(self) -> None:
        if self._view is not None:
            self._view.judge = (self._view.judge + 1) % len(self._view.pair.judges)
            self._change(self._view)

    def _change(self, view: PairView) -> None:
        self._was_read = False
        self.load_rows(view)

    @guarded("rows")
    async def load_rows(self, view: PairView) -> None:
        self.show(await self._rows(view))

    def action_open(self) -> None:
        row = self.row
        self.action_open_side(1 if row is not None and row.events[0] is None and row.events[1] else 0)  # fmt: skip

    def action_open_side(self, place: int) -> None:
        from cuecard.tui.screens.trial.screen import TrialScreen

        if self._view is not None and self.row is not None:
            pane = "verdicts" if self._view.section == "verdicts" else None
            self.app.push_screen(
                TrialScreen(self._ids[place], pane=pane, seq=self.row.events[place])
            )


def trials_to_pair(
    chosen: Sequence[TrialRecord], every: Sequence[TrialRecord]
) -> tuple[int, int] | None:
    """Two trials to be shown side by side: the two that are `chosen`, or the one and the next of the same task among
    `every`. None where there are none.
    """
    if len(chosen) == 2:
        same = chosen[0].task_id == chosen[1].task_id
        return (chosen[0].id, chosen[1].id) if same else None
    if len(chosen) != 1 or chosen[0] not in every:
        return None
    at = every.index(chosen[0])
    others = (each for each in (*every[at + 1 :], *every[:at]) if each.task_id == chosen[0].task_id)
    return next(((chosen[0].id, other.id) for other in others), None)


def show_pair(screen: CuecardScreen[None], pair: tuple[int, int] | None) -> None:
    """Open them on top of `screen`, or say what is wanted."""
    if pair is None:
        screen.cue_app.tell(_("Mark two trials of the same task with the space bar."))
    else:
        screen.app.push_screen(PairScreen(*pair))

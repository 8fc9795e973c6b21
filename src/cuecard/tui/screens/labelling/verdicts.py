"""The Verdicts screen: runs with verdicts, labelling sets, progress, ways into labelling; and the list of all verdicts of
runs, page by page, with filters for labelled ones and doubtful gold.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from textual.app import ComposeResult

from cuecard.core.i18n import N_, _, listed, ngettext
from cuecard.core.label_records import RunLabels, VerdictLine
from cuecard.core.text import one_line
from cuecard.store.verdict_pages import VerdictFilter
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.kit.lists import ListView
from cuecard.tui.present.keyboard import after, hint
from cuecard.tui.present.labelling import (
    SetLine,
    VerdictsSnapshot,
    given,
    left,
    pace,
    set_paragraphs,
    verdicts_snapshot,
)
from cuecard.tui.present.verdicts import (
    MINE,
    ListedVerdict,
    VerdictLines,
    VerdictReader,
    item_label,
    said_cell,
)
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import ChangingText, Pane, Paragraphs

if TYPE_CHECKING:
    from cuecard.core.label_records import LabelSet
    from cuecard.store.workspace import Workspace
    from cuecard.tui.screens.labelling.screen import LabelScreen


_SHORT = 26
"""Lines of a screen that has no room for more than its lists."""


class VerdictsScreen(ListScreen[RunLabels]):
    """Runs above, sets below; Enter labels what has the cursor."""

    PLACE = "verdicts"
    MARKING = True
    NEED_ROW = ("draw", "list")
    DEFAULT_CSS = """
    VerdictsScreen { #list { height: 3fr; } #sets { height: 2fr; } #sets-heading { color: $primary; text-style: bold; padding: 1 1 0 1; } #parts { height: auto; max-height: 30%; padding: 0 1; border-top: solid $foreground 20%; } }
    """
    BINDINGS = keys(
        Key("verdicts.label", Means.OPEN, "open", N_("Label"), N_("Label this run's verdicts or this set's items, blind")),
        Key("verdicts.draw", Means.ADD, "draw", N_("Draw"), N_("Draw a labelling set from the marked runs, or from this one")),
        Key("verdicts.list", Means.VIEW, "list", N_("List"), N_("All verdicts of the marked runs, or of this one")),
        Key("verdicts.agreement", Means.COMMAND, "agreement", N_("Agreement"), N_("How far judge and people agree"), letter="a"),
        Key("verdicts.adjudicate", Means.COMMAND, "adjudicate", N_("Adjudicate"), N_("Decide where people, or people and judge, disagree"), letter="j"),
        Key("verdicts.import", Means.IMPORT, "import", N_("Import"), N_("Take in labels that stand in files"), show=False),
        Key("verdicts.exam", Means.COMMAND, "exam", N_("Exam"), N_("Have a judge sit an exam that is made from gold, without a label"), letter="e"),
        Key("verdicts.fidelity", Means.COMMAND, "fidelity", N_("Fidelity"), N_("Whether simulators play the user as people do, and whether scores mean anything"), letter="f"),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._snapshot = VerdictsSnapshot()
        self._new_set = False

    def columns(self) -> Sequence[Column[RunLabels]]:
        return (
            Column(N_("Run"), self._run_name, grow=3, least=12),
            Column(N_("Judge"), lambda run: listed(run.judges), grow=1, spare=2),
            Column(N_("Verdicts"), lambda run: f"{run.verdicts:,}", right=True),
            Column(N_("My labels"), lambda run: f"{run.mine:,}", right=True),
            Column(N_("All labels"), lambda run: f"{run.labels:,}", right=True, spare=1),
        )

    def key(self, row: RunLabels) -> int:
        return row.run_id

    def empty(self) -> EmptyState:
        return EmptyState(
            _("No verdicts yet"),
            _(
                "A judge decides about every gold item of a trial. Here you decide about the same"
                " items without seeing its verdict, and learn how far it can be trusted."
            ),
            ("3", hint(_("Runs: {ADD} plays tasks and judges them; their verdicts appear here"))),
            (
                "{MENU} e",
                _("Exam: what a judge gets wrong, from gold alone, before a single label"),
            ),
            ("{MENU} f", _("Fidelity: the simulated user held against people; re-play a dialogue")),
        )

    def compose_list(self) -> ComposeResult:
        sets = (
            Column[SetLine](N_("Set"), lambda line: line.set.name, grow=3, least=12),
            Column[SetLine](N_("By"), lambda line: line.set.created_by, grow=1, least=6, spare=3),
            Column[SetLine](N_("Items"), lambda line: f"{line.progress.items:,}", right=True),
            Column[SetLine](N_("Labels"), given, right=True),
            Column[SetLine](N_("Mine"), lambda line: f"{line.progress.mine:,}", right=True, spare=1),
            Column[SetLine](N_("For me"), left, right=True),
            Column[SetLine](N_("Pace"), lambda line: pace(line.progress), right=True, spare=2),
        )  # fmt: skip
        yield from super().compose_list()
        yield ChangingText(id="sets-heading", markup=False)
        yield ListView(sets, lambda line: line.set.id, id="sets")
        with Pane(id="parts"):
            yield Paragraphs(id="set-parts")

    def on_mount(self) -> None:
        for widget in self.query("#sets, #sets-heading, #parts"):
            widget.display = False

    @property
    def _sets(self) -> ListView[SetLine]:
        return cast("ListView[SetLine]", self.query_one("#sets", ListView))

    @property
    def _set(self) -> LabelSet | None:
        """The set under the cursor, if it is sets that have the focus."""
        line = self._sets.row if self.is_mounted and self._sets.grid.has_focus else None
        return line.set if line else None

    async def read(self) -> Sequence[RunLabels]:
        person = self.person
        self._snapshot = await self.services.ask(lambda ws: verdicts_snapshot(ws, person))
        return self._snapshot.runs

    def show(self, rows: Sequence[RunLabels], to: Hashable = None) -> None:
        super().show(rows, to)
        sets, heading = self._snapshot.sets, self.query_one("#sets-heading", ChangingText)
        if sets != self._sets.every:
            new = sets[0].set.id if sets and self._new_set else None
            self._sets.load(sets, new)
            self._new_set = False
        self._sets.display = bool(sets)
        heading.display = self.view.display = bool(rows or sets)
        self.query_one(EmptyState).display = not (rows or sets)
        heading.tell(
            _("Labelling sets (Tab goes there)")
            if sets
            else hint(_("No labelling set yet: {ADD} draws one, by chance and in strata."))
        )
        if self.focused is None and sets:
            self._sets.focus()
        self._tell_parts()

    def _tell_parts(self) -> None:
        """Of the set under the cursor, where there is room for it."""
        line = self._sets.row
        self.query_one("#parts").display = line is not None and self.size.height > _SHORT
        if line is not None:
            self.query_one("#set-parts", Paragraphs).load(set_paragraphs(line))

    def on_list_view_moved(self, event: ListView.Moved) -> None:
        super().on_list_view_moved(event)
        if self._was_read:
            self._tell_parts()

    def title_words(self) -> str:
        if not (self._snapshot.runs or self._snapshot.sets):
            return ""
        return _("Check the judge: label its verdicts without seeing them")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("open", "adjudicate", "agreement"):
            return bool(self._snapshot.runs or self._snapshot.sets)
        return super().check_action(action, parameters)

    def on_descendant_focus(self) -> None:
        self.refresh_bindings()

    def action_open(self) -> None:
        if drawn := self._set:
            self.app.push_screen(over_set(drawn))
        elif self.row:
            self.app.push_screen(over_run(self.row))

    def action_list(self) -> None:

        if runs := self.view.chosen:
            self.app.push_screen(VerdictListScreen(runs))

    def action_draw(self) -> None:
        from cuecard.tui.screens.labelling.dialogs import SampleScreen

        if runs := self.view.chosen:
            drawn = len(self._snapshot.sets)
            self.app.push_screen(SampleScreen(tuple(runs), drawn=drawn), self._drawn)

    def _drawn(self, made: bool | None) -> None:
        if made:
            self._new_set = True
            self.call_later(self._sets.focus)

    def action_agreement(self) -> None:
        from cuecard.tui.screens.agreement import AgreementScreen

        if drawn := self._set:
            self.app.push_screen(AgreementScreen(None, drawn.name, set_id=drawn.id))
        elif self.row:
            self.app.push_screen(AgreementScreen(self.row.run_id, self.row.name))

    def action_adjudicate(self) -> None:
        from cuecard.tui.screens.labelling.adjudicate import AdjudicateScreen

        if drawn := self._set:
            self.app.push_screen(AdjudicateScreen(drawn.name, set_id=drawn.id))
        elif self.row:
            self.app.push_screen(AdjudicateScreen(self.row.name, (self.row.run_id,)))

    @guarded("exam")
    async def action_exam(self) -> None:
        from cuecard.tui.screens.exam import begin_exam

        await begin_exam(self)

    @guarded("import")
    async def action_import(self) -> None:
        from cuecard.tui.screens.labelling.dialogs import LabelImportDialog

        runs = [(f"{run.run_id} {run.name}", run.run_id) for run in self._snapshot.runs]
        if done := await self.app.push_screen_wait(LabelImportDialog(runs)):
            self.cue_app.tell(done.summary)

    def action_fidelity(self) -> None:
        from cuecard.tui.screens.fidelity import FidelityScreen

        self.app.push_screen(FidelityScreen())

    def _run_name(self, run: RunLabels) -> str:
        if run.run_id in self._snapshot.probes:
            return _("{name} (probe)").format(name=run.name)
        return run.name


def over_run(run: RunLabels) -> LabelScreen:
    """Label what I have not labelled of a run."""
    from cuecard.tui.screens.labelling.screen import LabelScreen

    return LabelScreen(run.run_id, run.name)


def over_set(label_set: LabelSet) -> LabelScreen:
    """Label what waits for me in a set."""
    from cuecard.tui.screens.labelling.screen import LabelScreen

    return LabelScreen(None, label_set.name, set_id=label_set.id)


def over_item(line: VerdictLine, title: str) -> LabelScreen:
    """Label one item, again if I did before."""
    from cuecard.annotate.labelling.views import Target
    from cuecard.tui.screens.labelling.screen import LabelScreen

    target = Target(trial_id=line.trial_id, item=line.item, verdict_id=line.verdict_id)
    return LabelScreen(line.run_id, title, targets=(target,))


def _item(row: ListedVerdict) -> str:
    return item_label(row.line.item) if row.line else ""


COLUMNS = (
    Column[ListedVerdict](N_("Gold item"), lambda row: row.gold or _item(row), grow=3, least=12),
    Column[ListedVerdict](N_("Task"), lambda row: row.title, grow=2, least=10),
    Column[ListedVerdict](N_("Mine"), lambda row: said_cell(row.line.mine if row.line else None), wide=13),
    Column[ListedVerdict](N_("Judge said"), lambda row: said_cell(row.line.decision if row.line else None), wide=13),
    Column[ListedVerdict](N_("Agent"), lambda row: row.line.agent if row.line else "", grow=1, least=13, tail=True),
    Column[ListedVerdict](N_("Judge"), lambda row: row.line.judge if row.line else "", grow=1, least=13, spare=1),
    Column[ListedVerdict](N_("Item"), _item, spare=2),
)  # fmt: skip
PAUSE = 0.05
"""Seconds in which the first page is painted before all are counted."""
_ORDER: tuple[Literal["", "open", "labelled"], ...] = ("", "open", "labelled")


class VerdictListScreen(ListScreen[ListedVerdict]):
    """The first page is shown at once; how many there are, and the others, as they are read."""

    LIVE = False
    PAGED = True
    BINDINGS = keys(
        Key("verdict_list.open", Means.OPEN, "open", N_("Open"), N_("Label this item, or label it anew")),
        Key("verdict_list.mine", Means.ONLY, "mine", N_("Mine"), N_("All, only what I have not labelled, only what I have; again for the next")),
        Key("verdict_list.flagged", Means.COMMAND, "flagged", N_("Flagged"), N_("Only items whose gold somebody holds for wrong, or all"), letter="f"),
        Key("verdict_list.judge", Means.COMMAND, "next_judge", N_("Judge"), N_("Only one judge; again for the next"), letter="j"),
        Key("verdict_list.run", Means.COMMAND, "next_run", N_("Run"), N_("Only one run; again for the next"), letter="u"),
        Key("verdict_list.reveal", Means.REVEAL, "reveal", N_("Reveal"), N_("What the judge decided on this item; what I label after that counts apart")),
        Key("verdict_list.back", Means.UP_ONE, "dismiss", N_("Back"), N_("Back to the runs")),
    )  # fmt: skip

    def __init__(self, runs: Sequence[RunLabels]) -> None:
        super().__init__()
        self._runs = tuple(runs)
        self._judges = sorted({judge for run in runs for judge in run.judges})
        self._run: int | None = runs[0].run_id if len(runs) == 1 else None
        self._filter = VerdictFilter(runs=tuple(run.run_id for run in runs))
        self._lines = VerdictLines(1, ())
        self._reader: VerdictReader | None = None
        self._reading = False

    def columns(self) -> Sequence[Column[ListedVerdict]]:
        if len(self._runs) == 1:
            return COLUMNS
        return (*COLUMNS, Column(N_("Run"), self._run_name, grow=1, spare=3))

    def _run_name(self, row: ListedVerdict) -> str:
        names = (run.name for run in self._runs if row.line and run.run_id == row.line.run_id)
        return next(names, "")

    def key(self, row: ListedVerdict) -> int | None:
        return row.line.verdict_id if row.line else None

    def empty(self) -> EmptyState:
        return EmptyState(
            _("No verdict is like that"),
            _("These filters leave nothing."),
            ("{ONLY}", _("all, mine, or what is left")),
            ("{MENU} f", _("flagged gold, or all")),
            ("{MENU} j", _("another judge")),
        )

    def on_mount(self) -> None:
        self.watch(self.view.grid, "scroll_y", self._scrolled, init=False)

    @guarded("verdict_list")
    async def load(self, to: Hashable = None) -> None:
        """Show the first page, then find out how many there are."""
        person, filter = self.person, self._filter

        def begin(workspace: Workspace) -> tuple[VerdictReader, list[ListedVerdict], int]:
            reader = VerdictReader(workspace, person, filter)
            return reader, reader.page(0), workspace.verdict_pages.size

        reader, first, size = await self.services.ask(begin)
        lines = VerdictLines(size, first)
        self._reader = reader
        if lines.whole or not self._lines:
            self._lines = lines
            self.show(lines)
        if not lines.whole:
            self.cue_app.goes_on()
            await asyncio.sleep(PAUSE)
            lines.cut(await self.services.ask(lambda ws: reader.pages()))
            self._lines = lines
            self.show(lines)
            self.view.changed()
            self._scrolled()

    def title_words(self) -> str:
        run = next((run for run in self._runs if run.run_id == self._run), None)
        runs, count = len(self._runs), len(self._lines)
        parts = [
            one_line(run.name, 90) if run else ngettext("{n} run", "{n} runs", runs).format(n=runs),
            ngettext("{n:,} verdict", "{n:,} verdicts", count).format(n=count)
            if self._lines.whole
            else "…",
            _(MINE[self._filter.mine]),
        ]
        if self._filter.judges:
            parts.append(_("judge {name}").format(name=one_line(self._filter.judges[0], 24)))
        if self._filter.gold_wrong:
            parts.append(_("gold held for wrong"))
        return " · ".join(parts)

    def _scrolled(self) -> None:
        """Other rows may be in view."""
        if not self._reading and self._missing() is not None:
            self._reading = True
            self.read_pages()

    def _missing(self) -> int | None:
        grid = self.view.grid
        return self._lines.missing(int(grid.scroll_y), grid.size.height)

    @guarded("pages", background=True)
    async def read_pages(self) -> None:
        """Read the pages in view, and the one after."""
        try:
            while (reader := self._reader) is not None and (page := self._missing()) is not None:
                lines, start = self._lines, self._lines.start_of(page)
                lines.load(page, await self.services.ask(lambda ws, r=reader, s=start: r.page(s)))
                self.view.changed()
        finally:
            self._reading = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "next_judge":
            return len(self._judges) > 1
        if action == "next_run":
            return len(self._runs) > 1
        if action == "reveal":
            line = self._line
            return bool(line and line.mine and not line.decision)
        return super().check_action(action, parameters)

    @property
    def _line(self) -> VerdictLine | None:
        return self.row.line if self.row is not None else None

    def action_open(self) -> None:
        if (row := self.row) is not None and row.line is not None:
            self.app.push_screen(over_item(row.line, row.title))

    def action_mine(self) -> None:
        self._narrow(mine=after(self._filter.mine, _ORDER))

    def action_flagged(self) -> None:
        self._narrow(gold_wrong=not self._filter.gold_wrong)

    def action_next_judge(self) -> None:
        choices: list[tuple[str, ...]] = [(), *((judge,) for judge in self._judges)]
        self._narrow(judges=after(self._filter.judges, choices))

    def action_next_run(self) -> None:
        ids = [run.run_id for run in self._runs]
        self._run = after(self._run, [None, *ids])
        self._narrow(runs=tuple(ids) if self._run is None else (self._run,))

    def narrowed_by(self) -> Mapping[str, Any]:
        chosen = self._filter
        return {"mine": chosen.mine, "flagged": chosen.gold_wrong, "judges": list(chosen.judges)}

    def narrow(self, by: Mapping[str, Any]) -> None:
        mine = next((each for each in _ORDER if each == by.get("mine")), "")
        judges = tuple(each for each in self._judges if each in (by.get("judges") or ()))[:1]
        self._narrow(mine=mine, gold_wrong=by.get("flagged") is True, judges=judges)

    def _narrow(self, **changes: object) -> None:
        self._filter = self._filter.model_copy(update=changes)
        self.view.grid.move_to(0)
        self._lines = VerdictLines(1, ())
        self.load()

    @guarded("reveal")
    async def action_reveal(self) -> None:
        person, row, at = self.person, self.row, self.view.grid.cursor_row
        if row is None or row.line is None or row.line.mine is None:
            return
        line = row.line
        record = await self.services.ask(lambda ws: ws.verdicts.reveal(line.verdict_id, person))
        told = line.model_copy(update={"decision": record.decision})
        self._lines.show(at, row._replace(line=told))
        self.view.changed(at)
        said = said_cell(record.decision).text
        self.cue_app.tell(
            _("{judge}: {said}. {why}").format(
                judge=one_line(line.judge, 30), said=said, why=one_line(record.rationale, 300)
            )
        )

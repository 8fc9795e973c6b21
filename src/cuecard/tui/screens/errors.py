"""The Errors screen: why trials failed and how agents behaved, and the trials behind a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cuecard.annotate.results.pool import Pool, Row
from cuecard.core.engine.trial import prediction_of
from cuecard.core.i18n import N_, _, listed
from cuecard.core.predictions import UnusablePrediction
from cuecard.core.text import one_line
from cuecard.store.tags import name_in, without_name
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.grid import GridCell
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.present import trial_summary as present
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.present.errors import (
    SECTIONS,
    ErrorsView,
    Filter,
    Section,
    Sections,
    count,
    title_words,
)
from cuecard.tui.present.files import Report
from cuecard.tui.present.keyboard import hint
from cuecard.tui.screens.figures import FiguresScreen, section_keys
from cuecard.tui.screens.run.start import AboutRuns
from cuecard.tui.screens.trial.marked import MarkedTrials
from cuecard.tui.widgets.nav import EmptyState

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class ErrorsScreen(FiguresScreen[ErrorsView], AboutRuns):
    """Of the trials of these runs, of all agents and families or of one."""

    BINDINGS = keys(
        Key("errors.open", Means.OPEN, "open", N_("Trials"), N_("The trials behind this figure")),
        Key("errors.agent", Means.COMMAND, "agent", N_("Agent"), N_("Only the trials of one agent"), letter="a"),
        Key("errors.family", Means.ONLY, "family", N_("Family"), N_("The trials of the next family, then of all")),
        Key("errors.suspects", Means.COMMAND, "suspects", N_("Suspect gold"), N_("Gold that these trials speak against, ranked; figures of every item"), show=False, letter="s"),
        *section_keys(SECTIONS),
    )  # fmt: skip

    def __init__(self, runs: tuple[int, ...], title: str) -> None:
        """`title`: what the runs are called."""
        super().__init__()
        self._runs, self._title = runs, title

    @property
    def short_title(self) -> str:
        return f"{_('Errors')} · {one_line(self._title, 90)}"

    def title_of(self, view: ErrorsView) -> str:
        return title_words(view, self._title)

    def empty(self) -> EmptyState:
        return EmptyState(
            _("Nothing is judged yet"),
            _(
                "Here failed trials are sorted by cause, and all trials by how agents behaved in them."
                " That follows from judged trials, and these runs have none."
            ),
            ("{REFRESH}", _("Count again, once trials have ended and are judged")),
            ("esc", hint(_("Back; in a run's trial, {MENU} j judges it"))),
        )

    @guarded("errors")
    async def load(self) -> None:
        runs = self._runs
        read = self.counter(_("reading trials {done}/{all}"))

        def work(workspace: Workspace) -> ErrorsView:
            return ErrorsView(self.services.pool(workspace, runs, on_count=read))

        self.show_view(await self.counted(_("reading trials"), work))
        self.count()

    @guarded("errors_count")
    async def count(self) -> None:
        """The section that is shown, once for these trials."""
        view = self._view
        if view is None or not view.anything or view.counted:
            return
        filter = view.filter
        found = await self._counted(view.chosen, view.section)
        view.keep(filter, found)
        if self._view is view:
            self.show_all()

    def on_screen_resume(self) -> None:
        # Whose fault a trial is is said on a screen above this one.
        if self._view is not None and self._view.section == "blame":
            for known in self._view.known.values():
                known.pop("blame", None)
            self.count()

    async def _counted(self, pool: Pool, section: Section) -> Sections:
        settings, person = (await self.services.config()).contamination, self.person
        return await self.counted(
            _("counting"), lambda workspace: count(workspace, pool, section, settings, person)
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view = self._view
        if view is not None and view.anything:
            if action == "agent":
                return len(view.agents) > 1
            if action == "family":
                return len(view.pool.families) > 1
        return super().check_action(action, parameters)

    def action_show(self, section: str) -> None:
        super().action_show(section)
        self.count()

    def action_open(self) -> None:

        view = self._view
        if view is None:
            return
        trials = view.trials(*self.place)
        if trials:
            title = view.name_of(*self.place)
            self.app.push_screen(TrialListScreen(title, present.rows_with(view.pool.rows, trials)))

    @guarded("errors_agent")
    async def action_agent(self) -> None:
        from cuecard.tui.screens.dialogs import ChoiceDialog

        view = self._view
        if view is None:
            return
        agents = view.agents
        options = [(f"agent-{at}", "", one_line(name, 60)) for at, name in enumerate(agents)]
        dialog = ChoiceDialog(
            _("Agent"), _("Whose trials are looked at."), [("all", "", _("All agents")), *options]
        )
        chosen = await self.app.push_screen_wait(dialog)
        if chosen is not None:
            at = None if chosen == "all" else int(chosen.removeprefix("agent-"))
            self._take(replace(view.filter, agent=None if at is None else agents[at]))

    def action_family(self) -> None:
        if self._view is not None:
            self._take(replace(self._view.filter, family=self._view.next_family))

    def named_runs(self) -> tuple[tuple[int, ...], str]:
        return self._runs, self._title

    async def written(self, view: ErrorsView) -> Report:
        pool, filter = view.chosen, view.filter
        for section in view.uncounted:
            view.keep(filter, await self._counted(pool, section))
        return Report("errors", self.title_of(view), view.every)

    def _take(self, filter: Filter) -> None:
        if self._view is not None:
            self._view.take(filter)
            self.show_all()
            self.count()


class TrialListScreen(ListScreen[Row], MarkedTrials):  # pyright: ignore[reportIncompatibleMethodOverride]
    """`rows` in the order in which they are listed; the scores shown are those of `measure` where a trial has it,
    else of its family's first headline.
    """

    LIVE = TELLS = False
    MARKING = True
    NEED_ROW = ("open", "tags", "name", "label", "export")
    BINDINGS = keys(
        Key("trial_list.pair", Means.PAIR, "pair", N_("Side by side"), N_("The two marked trials side by side, or this one and the next of its task")),
        Key("trial_list.open", Means.OPEN, "open", N_("Trial"), N_("The dialogue, and what was made of it; + and - go through the list")),
        Key("trial_list.tags", Means.TAGS, "tags", N_("Tags"), N_("Tags of this trial, or of the marked ones"), show=False),
        Key("trial_list.name", Means.EDIT, "name", N_("Name"), N_("Give this trial a name"), show=False),
        Key("trial_list.label", Means.DECIDE, "label", N_("Label"), N_("Label what this trial, or the marked ones, hold, blind"), show=False),
        Key("trial_list.export", Means.EXPORT, "export", N_("Export"), N_("Write this trial, or the marked ones, into a folder"), show=False),
        Key("trial_list.text", Means.DETAILS, "text", N_("Text"), N_("All that was handed in and could not be read")),
        Key("trial_list.back", Means.UP_ONE, "leave", N_("Back"), N_("Back to the figures")),
    )  # fmt: skip

    def __init__(self, title: str, rows: Sequence[Row], measure: str | None = None) -> None:
        super().__init__()
        self._titled, self._listed, self._measure = title, tuple(rows), measure
        self._tags: dict[str, tuple[str, ...]] = {}

    def columns(self) -> Sequence[Column[Row]]:
        run = Column[Row](N_("Run"), lambda row: row.run.name, grow=1, spare=2)
        return (
            Column(N_("Task"), lambda row: row.trial.title or row.trial.task_id, grow=3, least=14),
            Column(N_("Name"), lambda row: name_in(self._tags_of(row)), grow=1, quiet=True),
            Column(N_("Tags"), lambda row: listed(without_name(self._tags_of(row))), grow=1, quiet=True),
            Column(N_("Agent"), lambda row: row.trial.agent.name, grow=1, tail=True),
            *((run,) if len({row.run.id for row in self._listed}) > 1 else ()),
            Column(N_("Ended"), present.ended, spare=1),
            Column(N_("Score"), lambda row: GridCell(present.score_word(row, self._measure), "strong"), right=True),
            Column(N_("Cause"), present.cause_cell, grow=2, least=12),
            Column(N_("Sample"), lambda row: str(row.trial.sample + 1), right=True),
        )  # fmt: skip

    def key(self, row: Row) -> int:
        return row.trial.id

    async def read(self) -> Sequence[Row]:
        before, self._tags = self._tags, await self.services.ask(lambda ws: ws.tags.of("trial"))
        if self._was_read and before != self._tags:
            self.view.load(self._listed)
        return self._listed

    def _tags_of(self, row: Row) -> tuple[str, ...]:
        return self._tags.get(row.trial.uid, ())

    def empty(self) -> EmptyState:
        return EmptyState(
            _("No trial is behind this figure"),
            _("It counts something that did not happen."),
            ("esc", _("Back to the figures")),
        )

    def title_words(self) -> str:
        return f"{one_line(self._titled, 90)} · {present.count_words(self._listed)}"

    def detail(self, row: Row) -> Sequence[Paragraph]:
        return [Paragraph(line) for line in present.details(row, self._measure)]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "text":
            return self.row is not None and present.has_raw(self.row)
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        from cuecard.tui.screens.trial.screen import ListedTrialScreen

        if self.row is not None:
            trials = [row.trial.id for row in self.view.rows]
            self.app.push_screen(ListedTrialScreen(trials, trials.index(self.row.trial.id)))

    @guarded("text")
    async def action_text(self) -> None:
        from cuecard.tui.screens.task.proposal import RawDialog

        row = self.row
        if row is None:
            return
        trial = row.trial.id
        found = await self.services.ask(lambda ws: prediction_of(ws.runs.events(trial)))
        if isinstance(found, UnusablePrediction):
            await self.app.push_screen(RawDialog((found.raw,), found.reason))

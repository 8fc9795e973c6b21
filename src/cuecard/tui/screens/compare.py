"""The Compare screen: agents, runs, settings or judges on the same tasks, with paired differences and costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cuecard.annotate.results.corrected import corrections_in
from cuecard.annotate.results.judge_card import exam_notes
from cuecard.core.i18n import N_, _
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.present import compare as present
from cuecard.tui.present.files import Report
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.trial_summary import rows_with
from cuecard.tui.screens.figures import FiguresScreen, section_keys
from cuecard.tui.screens.run.start import AboutRuns
from cuecard.tui.widgets.nav import EmptyState

if TYPE_CHECKING:
    from cuecard.annotate.labelling.corrections import Corrections
    from cuecard.store.workspace import Workspace


class CompareScreen(FiguresScreen[present.CompareView], AboutRuns):
    """Of the trials of these runs. Enter goes from a figure to its trials, of a task to those of both arms."""

    BINDINGS = keys(
        Key("compare.open", Means.OPEN, "open", N_("Open"), N_("The trials behind this figure, or of both arms on this task")),
        Key("compare.pair", Means.PAIR, "pair", N_("Side by side"), N_("Two trials of this task, of the base and another arm, side by side")),
        Key("compare.what", Means.EDIT, "what", N_("Choose"), N_("What is compared: agents, runs, settings, judges, …")),
        Key("compare.base", Means.COMMAND, "base", N_("Base"), N_("The arm that the others are held against"), letter="a"),
        Key("compare.family", Means.ONLY, "family", N_("Family"), N_("The next family of tasks")),
        Key("compare.measure", Means.COMMAND, "measure", N_("Measure"), N_("By which measure"), letter="m"),
        Key("compare.plan", Means.COMMAND, "plan", N_("Plan"), N_("Which difference a study would see that has these runs as its pilot"), show=False, letter="n"),
        Key("compare.suspects", Means.COMMAND, "suspects", N_("Suspect gold"), N_("Gold that these trials speak against, ranked; figures of every item"), show=False, letter="s"),
        *section_keys(present.SECTIONS),
    )  # fmt: skip

    def __init__(self, runs: tuple[int, ...], title: str) -> None:
        """`title`: what the runs are called."""
        super().__init__()
        self._runs, self._title = runs, title
        self._corrections: Corrections | None = None
        self._exams: Sequence[str] = ()

    @property
    def short_title(self) -> str:
        return f"{_('Compare')} · {one_line(self._title, 90)}"

    def crumbs(self) -> Sequence[str]:
        return [_("Compare")]  # its head begins with the name of the run

    def title_of(self, view: present.CompareView) -> str:
        compared = view.compared
        return f"{one_line(self._title, 90)} · {compared}" if compared else self.short_title

    def empty(self) -> EmptyState:
        return EmptyState(
            _("Nothing to compare yet"),
            _(
                "Two agents, runs, settings, simulators or judges are held against each other on the same"
                " revisions of tasks. These trials are all of one kind, or not judged."
            ),
            (
                "esc",
                hint(
                    _("Back; on Runs, space marks runs of the same tasks, {COMPARE} compares them")
                ),
            ),
            ("{REFRESH}", _("Count again, once trials are judged")),
        )

    @guarded("compare")
    async def load(self) -> None:
        runs = self._runs
        read = self.counter(_("reading trials {done}/{all}"))

        def work(workspace: Workspace) -> tuple[present.CompareView, Corrections, Sequence[str]]:
            pool = self.services.pool(workspace, runs, on_count=read)
            names = present.judges_of(workspace, runs)
            judges = (
                self.services.pool(workspace, runs, names, on_count=read)
                if len(names) > 1
                else pool
            )
            offered = present.offers(pool, judges)
            view = present.CompareView(offered, present.first_choice(offered, len(runs)))
            return view, corrections_in(workspace, judges), exam_notes(workspace, judges)

        view, self._corrections, self._exams = await self.counted(_("reading trials"), work)
        self.show_view(view)
        self.count()

    @guarded("compare_count")
    async def count(self) -> None:
        """What was chosen, once: a choice that was looked at before is there at once."""
        view = self._view
        choice = view.choice if view else None
        if view is None or choice is None or choice in view.known:
            return
        offer, told, exams = view.offer, self._corrections, self._exams
        counted = await self.counted(
            _("comparing"), lambda _workspace: present.count(offer, choice, told, exams)
        )
        view.keep(choice, counted)
        if self._view is view:
            self.show_all()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view = self._view
        if view is not None and view.anything:
            match action:
                case "what":
                    return len(view.offered) > 1
                case "pair":
                    return view.opens(*self.place)
                case "base":
                    return len(view.arms) > 1
                case "family":
                    return view.next_family is not None
                case _:
                    pass
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        from cuecard.tui.screens.errors import TrialListScreen

        view = self._view
        if view is None or view.choice is None:
            return
        trials = view.trials(*self.place)
        if trials:
            rows = rows_with(view.offer.pool.rows, trials)
            title = view.name_of(*self.place)
            self.app.push_screen(TrialListScreen(title, rows, view.choice.by))

    def action_pair(self) -> None:
        from cuecard.tui.screens.trial.pair import show_pair

        if self._view is not None:
            show_pair(self, self._view.pair(*self.place))

    @guarded("compare_what")
    async def action_what(self) -> None:
        view = self._view
        if view is None or view.choice is None:
            return
        now = view.offer
        chosen = await self._ask(
            _("What to compare"),
            _("Ready-made comparisons first; then what these trials differ in."),
            [(offer.id, "", _marked(offer.text, offer is now)) for offer in view.offered],
        )
        offer = next((offer for offer in view.offered if offer.id == chosen), None)
        if offer is not None:
            self._take(offer.choice)

    @guarded("compare_base")
    async def action_base(self) -> None:
        view = self._view
        if view is None or view.choice is None:
            return
        arms = view.arms
        chosen = await self._ask(
            _("Base"),
            _("The arm that the others are held against."),
            [
                (f"arm-{at}", "", _marked(word, word == view.base_word))
                for at, (_value, word) in enumerate(arms)
            ],
        )
        if chosen is not None:
            value = arms[int(chosen.removeprefix("arm-"))][0]
            self._take(replace(view.choice, base=value))

    def action_family(self) -> None:
        if self._view is not None and self._view.next_family is not None:
            self._take(self._view.next_family)

    @guarded("compare_measure")
    async def action_measure(self) -> None:
        view = self._view
        if view is None or view.choice is None:
            return
        family, now = view.choice.family, (view.choice.by, view.choice.statistic)
        samples = present.samples_in(view.offer.pool, family)
        chosen = await self._ask(
            _("Measure"),
            _("Differences and tasks by this measure."),
            [
                (
                    f"{measure}-{taken.value}",
                    "",
                    _marked(present.measure_word(measure, taken, samples), (measure, taken) == now),
                )
                for measure, taken in present.measure_options(view.offer.pool, family)
            ],
        )
        if chosen is not None:
            measure, _dash, taken = chosen.rpartition("-")
            self._take(replace(view.choice, measure=measure, taken=Taken(taken)))

    def named_runs(self) -> tuple[tuple[int, ...], str]:
        return self._runs, self._title

    async def written(self, view: present.CompareView) -> Report:
        return Report("comparison", self.title_of(view), view.every, view.circumstances())

    async def _ask(self, title: str, text: str, options: list[tuple[str, str, str]]) -> str | None:
        from cuecard.tui.screens.dialogs import ChoiceDialog

        return await self.app.push_screen_wait(ChoiceDialog(title, text, options))

    def _take(self, choice: present.Choice) -> None:
        if self._view is not None:
            self._view.take(choice)
            self.show_all()
            self.count()


def _marked(text: str, now: bool) -> str:
    """What is shown now says so without colour."""
    return f"{'●' if now else '○'} {text}"

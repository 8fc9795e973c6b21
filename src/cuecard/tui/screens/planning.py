"""The Plan screen: which difference a study to come would see, from these runs as its pilot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.results.planning import Asked, plans_of
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, joined
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.kit.forms import FormDialog
from cuecard.tui.present.files import Report
from cuecard.tui.present.keyboard import hint, told_here
from cuecard.tui.present.planning import PlanView
from cuecard.tui.screens.figures import FiguresScreen
from cuecard.tui.screens.plots import PlotView
from cuecard.tui.widgets.nav import EmptyState

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class PlanScreen(FiguresScreen):
    """Of the trials of these runs as a pilot."""

    BINDINGS = keys(
        Key("plan.study", Means.EDIT, "study", N_("Study"), N_("How many tasks, samples, users and judges, the difference that is wanted, costs and guesses")),
        Key("plan.family", Means.ONLY, "family", N_("Family"), N_("The next family of tasks")),
        Key("plan.seen", Means.A_VIEW, "show('seen')", N_("Differences seen"), N_("The smallest difference that is seen, by tasks and samples"), show=False, letter="d"),
        Key("plan.gains", Means.A_VIEW, "show('gains')", N_("One more"), N_("What one more task, sample, user or judge buys, and costs"), show=False, letter="o"),
        Key("plan.cheapest", Means.A_VIEW, "show('cheapest')", N_("Cheapest"), N_("Designs that see the wanted difference, and which of them costs least"), show=False, letter="c"),
        Key("plan.noise", Means.A_VIEW, "show('noise')", N_("Noise"), N_("What hides a difference, by component of variance"), show=False, letter="n"),
        Key("plan.plot", Means.A_VIEW, "show('plot')", N_("Plot"), N_("The smallest difference seen, drawn against tasks"), show=False, letter="p"),
    )  # fmt: skip
    ALWAYS = (*FiguresScreen.ALWAYS, "study")

    def __init__(self, runs: tuple[int, ...], title: str) -> None:
        """`title`: what the runs are called."""
        super().__init__()
        self._runs, self._title = runs, title
        self._asked = Asked()
        self._view: PlanView | None = None
        self._drawing = PlotView(id="plot")

    @property
    def view(self) -> PlanView | None:
        return self._view

    @property
    def short_title(self) -> str:
        return f"{_('Plan')} · {one_line(self._title, 90)}"

    @property
    def title_words(self) -> str:
        view = self._view
        if view is None or not view.anything:
            return self.short_title
        plan = view.plan
        return f"{_('Plan')} · {one_line(self._title, 90)} · {plan.title} · {plan.label}"

    def empty(self) -> EmptyState:
        return EmptyState(
            _("Nothing to plan from yet"),
            _(
                "A pilot takes two agents with judged trials on the same tasks, two samples of each if it shall tell"
                " what more samples buy. A guess of how agents differ by tasks does as well."
            ),
            ("{EDIT}", _("Give guesses")),
            ("{REFRESH}", _("Count again, once trials are judged")),
            ("esc", hint(_("Back"))),
        )

    def on_mount(self) -> None:
        self._drawing.display = False
        self.mount(self._drawing, before="#details")
        super().on_mount()

    @guarded("plan")
    async def load(self) -> None:
        runs, asked = self._runs, self._asked
        read = self.counter(_("reading trials {done}/{all}"))

        def work(workspace: Workspace) -> PlanView:
            pool = self.services.pool(workspace, runs, on_count=read)
            usage = [used for run in runs for used in workspace.runs.usage(run)]
            try:
                return PlanView(plans_of(pool, asked, usage=usage), asked)
            except CuecardError as error:
                return PlanView((), asked, missing=joined(told_here(error)))

        view = await self.counted(_("reading trials"), work)
        before, self._view = self._view, view
        if before is not None:
            view.section = before.section
            view.chosen = min(before.chosen, max(0, len(view.plans) - 1))
        self.show_all()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "family":
            return self._view is not None and len(self._view.plans) > 1
        return super().check_action(action, parameters)

    def fill(self, cursor: tuple[int, int] | None = None) -> None:
        super().fill(cursor)
        view = self._view
        plot = self._drawing
        plot.display = view is not None and view.anything and view.section == "plot"
        if view is not None and plot.display:
            self.query_one("#details").remove_class("-alone")
            plot.load(view.plot, view.at)
            plot.focus()

    def on_plot_view_moved(self, event: PlotView.Moved) -> None:
        event.stop()
        if self._view is not None:
            self._view.at = event.at
            self.explain()

    def action_family(self) -> None:
        if self._view is not None:
            self._view.next_family()
            self.show_all()

    @guarded("plan_study")
    async def action_study(self) -> None:
        ask = _("An empty line stands for what the pilot tells.")
        dialog = FormDialog(_("Study"), self._asked, ask=ask)
        if (found := await self.app.push_screen_wait(dialog)) is not None:
            self._asked = found
            self.load()

    async def written(self) -> Report:
        view = self._view
        assert view is not None
        return Report("plan", self.title_words, view.every, ())

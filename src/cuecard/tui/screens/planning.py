"""The Plan screen: which difference a study to come would see, from these runs as its pilot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.results.planning import Asked, plans_of
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.kit.forms import FormDialog
from cuecard.tui.present.files import Report
from cuecard.tui.present.keyboard import error_text, hint
from cuecard.tui.present.planning import SECTIONS, PlanView
from cuecard.tui.screens.figures import FiguresScreen, section_keys
from cuecard.tui.screens.plots import PlotView
from cuecard.tui.widgets.nav import EmptyState

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class PlanScreen(FiguresScreen[PlanView]):
    """Of the trials of these runs as a pilot."""

    BINDINGS = keys(
        Key("plan.study", Means.EDIT, "study", N_("Study"), N_("How many tasks, samples, users and judges, the difference that is wanted, costs and guesses")),
        Key("plan.family", Means.ONLY, "family", N_("Family"), N_("The next family of tasks")),
        *section_keys(SECTIONS),
    )  # fmt: skip
    ALWAYS = (*FiguresScreen.ALWAYS, "study")

    def __init__(self, runs: tuple[int, ...], title: str) -> None:
        """`title`: what the runs are called."""
        super().__init__()
        self._runs, self._title = runs, title
        self._asked = Asked()
        self._drawing = PlotView(id="plot")

    @property
    def short_title(self) -> str:
        return f"{_('Plan')} · {one_line(self._title, 90)}"

    def title_of(self, view: PlanView) -> str:
        if not view.anything:
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
                return PlanView((), asked, missing=error_text(error))

        self.show_view(await self.counted(_("reading trials"), work))

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

    async def written(self, view: PlanView) -> Report:
        return Report("plan", self.title_of(view), view.every, ())

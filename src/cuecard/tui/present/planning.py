"""The state of the Plan screen: a plan for each family, as tables and a plot, and what the next one is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cuecard.annotate.results.plan_tables import plan_plot, plan_tables
from cuecard.annotate.results.planning import Asked, Plan
from cuecard.annotate.results.plots.model import Plot
from cuecard.core.i18n import N_, _
from cuecard.core.tables.table import Table
from cuecard.tui.present.plot_canvas import START, PlotCursor
from cuecard.tui.present.plots import point_text
from cuecard.tui.present.tables import Tab, TablesView

Section = Literal["seen", "gains", "cheapest", "noise", "plot"]
SECTIONS: dict[Section, Tab] = {
    "seen": Tab("plan.seen", "d", N_("Differences seen"), N_("The smallest difference that is seen, by tasks and samples")),
    "gains": Tab("plan.gains", "o", N_("One more"), N_("What one more task, sample, user or judge buys, and costs")),
    "cheapest": Tab("plan.cheapest", "c", N_("Cheapest"), N_("Designs that see the wanted difference, and which of them costs least")),
    "noise": Tab("plan.noise", "n", N_("Noise"), N_("What hides a difference, by component of variance")),
    "plot": Tab("plan.plot", "p", N_("Plot"), N_("The smallest difference seen, drawn against tasks")),
}  # fmt: skip


@dataclass
class PlanView(TablesView[Section]):
    """`plans`: one for each family; `asked`: what they were asked for; `missing`: why there are none; `at`: the cursor of the plot."""

    plans: tuple[Plan, ...]
    asked: Asked
    missing: str = ""
    section: Section = "seen"
    plotted: bool = False
    chosen: int = 0
    at: PlotCursor = START
    _at: dict[Section, int] = field(default_factory=dict["Section", int])

    @property
    def anything(self) -> bool:
        return bool(self.plans)

    @property
    def plan(self) -> Plan:
        """Of the family that is looked at; only where there is one."""
        return self.plans[self.chosen]

    @property
    def plot(self) -> Plot:
        return plan_plot(self.plan)

    @property
    def named(self) -> Mapping[Section, Tab]:
        return SECTIONS

    def of(self, section: Section) -> Sequence[Table]:
        if section == "plot":
            return ()
        names: list[Section] = ["seen", "gains", "cheapest", "noise"]
        return (plan_tables(self.plan)[names.index(section)],)

    def keep_place_of(self, before: PlanView) -> None:
        super().keep_place_of(before)
        self.chosen = min(before.chosen, max(0, len(self.plans) - 1))

    @property
    def every(self) -> list[Table]:
        return [table for plan in self.plans for table in plan_tables(plan)]

    @property
    def plottable(self) -> bool:
        return False

    def next_family(self) -> None:
        self.chosen = (self.chosen + 1) % len(self.plans)

    def why_empty(self) -> str:
        return self.missing

    def opens(self, row: int, column: int) -> bool:
        return False

    def details(self, row: int, column: int) -> list[str]:
        if self.section == "plot":
            return [point_text(self.plot, self.at), *self.plot.notes]
        return super().details(row, column)

    @property
    def heading(self) -> str:
        if self.section == "plot":
            return f"{_(SECTIONS['plot'].name)} · {self.plot.title}"
        return super().heading

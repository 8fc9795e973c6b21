"""How far judge and people agree on a run: figures with their n, or why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.list_table import ListTable

if TYPE_CHECKING:
    from cuecard.annotate.agreement import ConfusionMatrix, Statistic
    from cuecard.annotate.labelling import LabelAgreement

STATISTICS = {
    "percent": N_("percent agreement"),
    "cohen_kappa": N_("Cohen's kappa"),
    "fleiss_kappa": N_("Fleiss' kappa"),
}


class AgreementScreen(CuecardScreen[None]):
    """A row for each pair and statistic, confusion matrices below."""

    CSS_PATH = "agreement.tcss"
    BINDINGS = keys(
        Key("agreement.back", "escape", "leave", N_("Back"), N_("Back")),
        Key("agreement.refresh", "r", "look_again", N_("Refresh"), N_("Count again")),
    )

    def __init__(self, run_id: int, name: str) -> None:
        super().__init__()
        self._run_id, self._name = run_id, name

    def compose(self) -> ComposeResult:
        yield Static("", id="title", markup=False)
        yield ListTable(id="statistics")
        with VerticalScroll(id="matrices"):
            yield Static("", id="matrix")
        yield EmptyState(
            _("Nobody has labelled these verdicts yet"),
            _("Agreement needs at least one person's labels beside the judge's verdicts."),
            ("esc", _("Back, then Enter labels")),
        )
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(EmptyState).display = False
        self._table.add_columns(_("Between"), _("Statistic"), _("Value"), "n", _("Remark"))
        self.look()

    @property
    def _table(self) -> ListTable:
        return self.query_one("#statistics", ListTable)

    @guarded("agreement")
    async def look(self) -> None:
        from cuecard.annotate.labelling import agreement_of

        run_id = self._run_id
        self._show(await self.services.ask(lambda ws: agreement_of(ws, run_id)))

    def action_look_again(self) -> None:
        self.look()

    def action_leave(self) -> None:
        self.dismiss()

    def _show(self, found: LabelAgreement) -> None:
        self.query_one("#title", Static).update(
            _("{run} · {verdicts} verdicts · {labelled} labelled · {unsure} cannot tell").format(
                run=one_line(self._name, 40),
                verdicts=found.verdicts,
                labelled=found.labelled,
                unsure=found.unsure,
            )
        )
        anything = bool(found.people)
        self._table.display = self.query_one("#matrices").display = anything
        self.query_one(EmptyState).display = not anything
        self._table.clear()
        matrices: list[ConfusionMatrix] = []
        for pair in (*found.judge_human, *found.human_human):
            self._rows(f"{pair.left} / {pair.right}", pair.statistics)
            if pair.confusion:
                matrices.append(pair.confusion)
        if len(found.people) > 1:
            for pair in found.majority:
                label = _("{judge} / majority of people").format(judge=pair.left)
                self._rows(label, pair.statistics)
            self._rows(_("all people"), found.humans.statistics)
        self.query_one("#matrix", Static).update(Text("\n\n").join(map(_matrix, matrices)))
        if anything:
            self._table.focus()

    def _rows(self, who: str, statistics: tuple[Statistic, ...]) -> None:
        for statistic in statistics:
            value = "–" if statistic.value is None else f"{statistic.value:.3f}"
            self._table.add_row(
                Text(one_line(who, 40)),
                Text(_(STATISTICS.get(statistic.name, statistic.name))),
                Text(value, justify="right"),
                Text(str(statistic.n), justify="right"),
                Text(one_line(statistic.reason), "dim"),
            )


def _matrix(matrix: ConfusionMatrix) -> Text:
    """Rows are the first rater's labels, columns the second's."""
    width = max(8, *(len(label) + 2 for label in matrix.labels))
    text = Text(
        _("{rows} (down) and {columns} (across)").format(rows=matrix.rows, columns=matrix.columns),
        "bold",
    )
    text.append("\n" + " " * width + "".join(f"{label:>{width}}" for label in matrix.labels), "dim")
    for label, counts in zip(matrix.labels, matrix.counts, strict=True):
        text.append(f"\n{label:<{width}}", "dim")
        text.append("".join(f"{count:>{width}}" for count in counts))
    return text

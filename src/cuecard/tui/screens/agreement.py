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
from cuecard.tui.widgets.fitted_table import FittedColumn
from cuecard.tui.widgets.list_table import ListTable

if TYPE_CHECKING:
    from cuecard.annotate.agreement import ConfusionMatrix, Statistic
    from cuecard.annotate.labelling import LabelAgreement

STATISTICS = {
    "percent": N_("percent agreement"),
    "cohen_kappa": N_("Cohen's kappa"),
    "fleiss_kappa": N_("Fleiss' kappa"),
}

COLUMNS = (
    FittedColumn(N_("Between"), 16, grow=2),
    FittedColumn(N_("Statistic"), 18),
    FittedColumn(N_("Value"), 7, right=True),
    FittedColumn("n", 5, right=True),
    FittedColumn(N_("Remark"), 8, grow=3),
)


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
        yield ListTable(COLUMNS, id="statistics")
        with VerticalScroll(id="matrices"):
            yield Static("", id="matrix")
            yield Static("", id="baselines", classes="muted", markup=False)
        yield EmptyState(
            _("Nobody has labelled these verdicts yet"),
            _("Agreement needs at least one person's labels beside the judge's verdicts."),
            ("esc", _("Back, then Enter labels")),
        )
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(EmptyState).display = False
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
        rows: list[tuple[str | Text, ...]] = []
        matrices: list[ConfusionMatrix] = []
        for pair in (*found.judge_human, *found.human_human):
            rows += _rows(f"{pair.left} / {pair.right}", pair.statistics)
            if pair.confusion:
                matrices.append(pair.confusion)
        if len(found.people) > 1:
            for pair in found.majority:
                label = _("{judge} / majority of people").format(judge=pair.left)
                rows += _rows(label, pair.statistics)
            rows += _rows(_("all people"), found.humans.statistics)
        self._table.fill(rows)
        self.query_one("#matrix", Static).update(Text("\n\n").join(map(_matrix, matrices)))
        note = _("{judges}: an offline baseline, not an LLM.").format(
            judges=", ".join(found.baselines)
        )
        self.query_one("#baselines", Static).update(one_line(note) if found.baselines else "")
        if anything:
            self._table.focus()


def _rows(who: str, statistics: tuple[Statistic, ...]) -> list[tuple[str | Text, ...]]:
    return [
        (
            who,
            _(STATISTICS.get(statistic.name, statistic.name)),
            "–" if statistic.value is None else f"{statistic.value:.3f}",
            str(statistic.n),
            Text(one_line(statistic.reason), "dim"),
        )
        for statistic in statistics
    ]


def _matrix(matrix: ConfusionMatrix) -> Text:
    """Rows are the first rater's labels, columns the second's."""
    width = max(8, *(len(label) + 2 for label in matrix.labels))
    title = _("{rows} (down) and {columns} (across)").format(
        rows=one_line(matrix.rows), columns=one_line(matrix.columns)
    )
    text = Text(title)
    text.append("\n" + " " * width + "".join(f"{label:>{width}}" for label in matrix.labels), "dim")
    for label, counts in zip(matrix.labels, matrix.counts, strict=True):
        text.append(f"\n{label:<{width}}", "dim")
        text.append("".join(f"{count:>{width}}" for count in counts))
    return text

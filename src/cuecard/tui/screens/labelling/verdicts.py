"""The Verdicts screen: runs with verdicts, labelling sets, progress, and ways into labelling."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult

from cuecard.core.i18n import N_, _
from cuecard.core.label_records import RunLabels
from cuecard.tui.actions import Key, keys
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.kit.lists import Column, ListView
from cuecard.tui.present.labelling import (
    SetLine,
    VerdictsSnapshot,
    given,
    left,
    pace,
    verdicts_snapshot,
)
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import ChangingText

if TYPE_CHECKING:
    from cuecard.core.label_records import LabelSet, VerdictLine
    from cuecard.tui.screens.labelling.screen import LabelScreen


class VerdictsScreen(ListScreen[RunLabels]):
    """Runs above, sets below; Enter labels what has the cursor."""

    PLACE = "verdicts"
    MARKING = True
    NEED_ROW = ("draw", "list")
    DEFAULT_CSS = """
    VerdictsScreen { #list { height: 3fr; } #sets { height: 2fr; } #sets-heading { color: $primary; text-style: bold; padding: 1; } }
    """
    BINDINGS = keys(
        Key("verdicts.label", "enter", "open", N_("Label"), N_("Label this run's verdicts or this set's items, blind")),
        Key("verdicts.draw", "d", "draw", N_("Draw"), N_("Draw a labelling set from the marked runs, or from this one")),
        Key("verdicts.list", "v", "list", N_("List"), N_("All verdicts of the marked runs, or of this one")),
        Key("verdicts.agreement", "a", "agreement", N_("Agreement"), N_("How far judge and people agree")),
        Key("verdicts.adjudicate", "j", "adjudicate", N_("Adjudicate"), N_("Decide where people, or people and judge, disagree")),
        Key("verdicts.fidelity", "f", "fidelity", N_("Fidelity"), N_("Whether simulators play the user as people do, and whether scores mean anything")),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._snapshot = VerdictsSnapshot()

    def columns(self) -> Sequence[Column[RunLabels]]:
        return (
            Column(N_("Run"), self._run_name, grow=3, least=12),
            Column(N_("Judge"), lambda run: ", ".join(run.judges), grow=1, spare=2),
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
            ("3", _("Runs: n plays tasks and judges them; their verdicts appear here")),
            ("f", _("Fidelity: the simulated user held against people; re-play a dialogue")),
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

    def on_mount(self) -> None:
        self._sets.display = self.query_one("#sets-heading").display = False

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
            self._sets.load(sets)
        self._sets.display = bool(sets)
        heading.display = self.view.display = bool(rows or sets)
        self.query_one(EmptyState).display = not (rows or sets)
        heading.tell(
            _("Labelling sets (Tab goes there)")
            if sets
            else _("No labelling set yet: d draws one, by chance and in strata.")
        )
        if self.focused is None and sets:
            self._sets.focus()

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
        from cuecard.tui.screens.labelling.verdict_list import VerdictListScreen

        if runs := self.view.chosen:
            self.app.push_screen(VerdictListScreen(runs))

    def action_draw(self) -> None:
        from cuecard.tui.screens.labelling.sample import SampleScreen

        if runs := self.view.chosen:
            drawn = len(self._snapshot.sets)
            self.app.push_screen(SampleScreen(tuple(runs), drawn=drawn), self._drawn)

    def _drawn(self, made: bool | None) -> None:
        if made:
            self._sets.grid.move_to(0)
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

    def action_fidelity(self) -> None:
        from cuecard.tui.screens.fidelity.screen import FidelityScreen

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


def over_item(line: VerdictLine) -> LabelScreen:
    """Label one item, again if I did before."""
    from cuecard.annotate.labelling.views import Target
    from cuecard.tui.screens.labelling.screen import LabelScreen

    target = Target(trial_id=line.trial_id, item=line.item, verdict_id=line.verdict_id)
    return LabelScreen(line.run_id, line.task_id, targets=(target,))

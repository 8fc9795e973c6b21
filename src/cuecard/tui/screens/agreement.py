"""The Agreement screen: agreement of judges and people as tables with intervals, and the items behind a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.labelling.comparison import Place, cases_at, seen_by
from cuecard.annotate.labelling.comparison_inputs import Case, ComparisonInputs
from cuecard.annotate.labelling.comparison_model import Comparison, Rater, label_word, said_by
from cuecard.annotate.labelling.comparison_tables import side_word
from cuecard.core.evaluation.decisions import JUDGED
from cuecard.core.evaluation.items import gold_item
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.tasks.models import Task
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.grid import GridCell
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.list_screens import BlindListScreen
from cuecard.tui.present.agreement import ON_REQUEST, SHOWN, AgreementView, place_words, said_words
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.present.files import Report
from cuecard.tui.present.keyboard import hint, shown_key
from cuecard.tui.present.verdicts import item_label
from cuecard.tui.screens.figures import FiguresScreen, section_keys
from cuecard.tui.widgets.nav import EmptyState

if TYPE_CHECKING:
    from cuecard.annotate.labelling.comparison_inputs import Scope, Subject
    from cuecard.core.tables.table import Table
    from cuecard.store.workspace import Workspace
    from cuecard.tui.present.agreement import Shown


_STAYS = 0.3
"""Seconds without a key after which a section is counted that takes long: who goes past it does not need it."""


class AgreementScreen(FiguresScreen[AgreementView]):
    """One table at a time; Enter goes from a figure to its items."""

    BINDINGS = keys(
        Key("agreement.items", Means.OPEN, "open", N_("Items"), N_("The items behind this figure")),
        *section_keys(SHOWN),
        Key("agreement.kind", Means.ONLY, "subject", N_("Other kind"), N_("Labels about something else: cues, leaks, rows"), show=False),
        Key("agreement.adjudicate", Means.COMMAND, "adjudicate", N_("Adjudicate"), N_("Decide where people, or people and judge, disagree"), letter="d"),
    )  # fmt: skip

    ALWAYS = ("reload", "leave", "adjudicate")

    def __init__(self, run_id: int | None, name: str, *, set_id: int | None = None) -> None:
        """Of one run, of a labelling set, or without either of the whole workspace. `name`: its own."""
        super().__init__()
        self._run_id, self._set_id, self._name = run_id, set_id, name
        self._subject: Subject | None = None
        self._counting = False

    @property
    def short_title(self) -> str:
        return one_line(self._name, 90)

    def crumbs(self) -> Sequence[str]:
        return [_("Agreement")]  # its head begins with the name of the run

    def title_of(self, view: AgreementView) -> str:
        found = view.comparison
        told = _("{run} · {verdicts} verdicts · {labelled} labelled · {unsure} cannot tell")
        if found.population is None:
            told = _("{run} · {labelled} labelled · {unsure} cannot tell")
        return told.format(
            run=one_line(self._name, 90),
            verdicts=f"{found.population or 0:,}",
            labelled=f"{found.labelled:,}",
            unsure=f"{found.unsure:,}",
        )

    def empty(self) -> EmptyState:
        return EmptyState(
            _("Nobody has labelled these verdicts yet"),
            _("Agreement needs at least one person's labels beside the judge's verdicts."),
            ("esc", _("Back, then Enter labels")),
            (shown_key("agreement.calibration"), _("Shares corrected by labels of other runs")),
        )

    @property
    def _scope(self) -> Scope:
        from cuecard.annotate.labelling.comparison_inputs import Scope

        runs = () if self._run_id is None else (self._run_id,)
        return Scope(runs=runs, set_id=self._set_id, subject=self._subject)

    @guarded("agreement")
    async def load(self) -> None:
        from cuecard.annotate.labelling.comparison import compare
        from cuecard.annotate.labelling.comparison_inputs import gather
        from cuecard.annotate.labelling.comparison_tables import tables_of

        scope = self._scope

        read = self.counter(_("reading tasks {done}/{all}"))
        counted = self.counter(_("comparing {done}/{all}"))

        def work(workspace: Workspace) -> AgreementView:
            inputs = gather(workspace, scope, read)
            found = compare(inputs, tell=counted)
            return AgreementView(inputs, found, tables_of(found))

        self.show_view(await self.counted(_("reading labels"), work))

    @guarded("agreement_sections", background=True)
    async def count_sections(self) -> None:
        """Count the section that is shown, and those gone to meanwhile, where the person stays: each once, one at a time."""
        how = {"effect": self._effect, "calibration": self._calibration, "workshop": self._workshop}
        self._counting = True
        try:
            while self._waits:
                view = self._view
                section = view.section if view else ""
                await self.cue_app.idle(_STAYS)
                if view is not None and self._view is view and view.section == section:
                    await how[section](view)
        finally:
            self._counting = False

    @property
    def _waits(self) -> bool:
        """Whether what is shown is still to be counted."""
        view = self._view
        return bool(view and view.section in ON_REQUEST and view.section not in view.computed)

    async def _effect(self, view: AgreementView) -> None:
        """Scores with people's labels."""

        def work(workspace: Workspace) -> tuple[Table, ...]:
            # In the thread that counts: a key would wait for an import, too.
            from cuecard.annotate.labelling.comparison import effect_of
            from cuecard.annotate.labelling.effect_tables import effect_tables

            runs = self._runs_of(workspace, view)
            return effect_tables(effect_of(workspace, runs, set_id=self._set_id))

        await self._compute(view, "effect", _("scoring again with people's labels"), work)

    async def _calibration(self, view: AgreementView) -> None:
        """The judges' shares, corrected by their errors on all other runs that have labels."""

        def work(workspace: Workspace) -> tuple[Table, ...]:
            from cuecard.annotate.labelling.calibrating import (
                calibrate_elsewhere,
                calibration_table,
            )

            found = calibrate_elsewhere(workspace, self._runs_of(workspace, view))
            return tuple(map(calibration_table, found))

        await self._compute(view, "calibration", _("correcting by labels from elsewhere"), work)

    async def _workshop(self, view: AgreementView) -> None:
        """Versions of judges by prompts, costs, exams and judgements made twice."""
        config = await self.services.config()

        def work(workspace: Workspace) -> tuple[Table, ...]:
            from cuecard.annotate.labelling.workshop import tables_of_workshop
            from cuecard.annotate.results.judge_card import examined

            return tables_of_workshop(workspace, view.inputs, config, examined)

        await self._compute(view, "workshop", _("comparing versions"), work)

    def _runs_of(self, workspace: Workspace, view: AgreementView) -> list[int]:
        if self._run_id is not None:
            return [self._run_id]
        trials = {case.trial_id for case in view.inputs.cases}
        if self._set_id is not None and not trials:
            trials = {item.trial_id for item in workspace.label_sets.items(self._set_id)}
        return sorted({workspace.runs.trial(trial).run_id for trial in trials})

    async def _compute(
        self,
        view: AgreementView,
        section: Shown,
        text: str,
        work: Callable[[Workspace], tuple[Table, ...]],
    ) -> None:
        """The tables of a section, put in the view unless labels were read again meanwhile."""
        tables = await self.counted(text, work)
        view.computed.add(section)
        if self._view is view:
            view.tables = (*(each for each in view.tables if each.view != section), *tables)
            if view.section == section:
                self.show_all()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "show" and parameters[0] == "calibration" and self._view is not None:
            return True
        if action == "subject":
            return bool(self._view and self._view.anything and self._view.next_subject)
        return super().check_action(action, parameters)

    def action_show(self, section: str) -> None:
        super().action_show(section)
        if self._waits and not self._counting:
            self.count_sections()

    def action_subject(self) -> None:
        if self._view is not None:
            self._subject = self._view.next_subject
            self.load()

    def action_adjudicate(self) -> None:
        from cuecard.tui.screens.labelling.adjudicate import AdjudicateScreen

        runs = None if self._run_id is None else (self._run_id,)
        self.app.push_screen(AdjudicateScreen(self._name, runs, self._set_id))

    def action_open(self) -> None:
        view = self._view
        place = view.place(*self.place) if view else None
        if view is not None and (exam := view.exam(*self.place)) is not None:
            from cuecard.tui.screens.exam import ExamScreen

            self.app.push_screen(ExamScreen(exam))
        if view is not None and place is not None:
            self.app.push_screen(
                AgreementItemsScreen(view.inputs, view.comparison, place, self._name)
            )

    async def written(self, view: AgreementView) -> Report:
        return Report("agreement", self.title_of(view), view.tables, view.circumstances())


_MOST_TEXTS = 2000


class AgreementItemsScreen(BlindListScreen["Case"]):
    """The items behind a number: those that I have labelled, or all."""

    MARKING = True
    NEED_ROW = ("open", "trial")
    BINDINGS = keys(
        Key("agreement_items.label", Means.OPEN, "open", N_("Open"), N_("This item, or the marked ones, with the evidence, to label them")),
        Key("agreement_items.trial", Means.DETAILS, "trial", N_("Trial"), N_("The trial that the item is of")),
        Key("agreement_items.all", Means.REVEAL, "all", N_("Show all"), N_("Also items that I have not labelled; I can no longer label them blind")),
        Key("agreement_items.back", Means.UP_ONE, "leave", N_("Back"), N_("Back to the figures")),
    )  # fmt: skip

    def __init__(
        self, inputs: ComparisonInputs, comparison: Comparison, place: Place, name: str
    ) -> None:
        super().__init__(cases_at(inputs, place))
        self._subject: Subject = inputs.subject
        self._comparison, self._place = comparison, place
        self._of = name
        self._texts: dict[str, str] = {}
        self._titles: dict[str, str] = {}

    def columns(self) -> Sequence[Column[Case]]:
        left, right = self._place.left, self._place.right
        return (
            Column(N_("Item"), self._item, grow=3, least=18),
            Column(
                self._side(left), lambda case: self._said(left, case), grow=1, least=11, raw=True
            ),
            Column(self._side(right), self._right, grow=1, least=11, raw=True),
            Column(N_("Task"), self._title, grow=1, spare=1),
        )

    def key(self, row: Case) -> str:
        return row.name

    def empty(self) -> EmptyState:
        return EmptyState(
            _("None of these items is yours to see yet"),
            _("What was decided on an item is shown to those who have labelled it."),
            ("{REVEAL}", _("Show all: I can no longer label them blind")),
            ("esc", _("Back to the figures")),
        )

    def see(self, workspace: Workspace, *, all_: bool) -> Sequence[Case]:
        person = self.person
        cases = self.all_rows if all_ else seen_by(self.all_rows, person)
        if person:
            workspace.verdicts.note_reveals([(c.trial_id, c.item) for c in cases], person)
        self._texts, self._titles = _texts(workspace, cases[:_MOST_TEXTS])
        return cases

    def title_words(self) -> str:
        return place_words(self._comparison, self._place)

    def hidden_words(self, n: int) -> str:
        said = ngettext(
            "{n} more item that you have not labelled ({REVEAL} shows it)",
            "{n} more items that you have not labelled ({REVEAL} shows them)",
            n,
        )
        return hint(said, n=f"{n:,}")

    def warning(self, n: int) -> tuple[str, str]:
        text = ngettext(
            "You have not labelled {n} of these items. Once you have seen what was decided on it, a label"
            " of yours counts as given with the decision in view and does not enter agreement.",
            "You have not labelled {n} of these items. Once you have seen what was decided on them, labels"
            " of yours count as given with the decision in view and do not enter agreement.",
            n,
        )
        return _("Look without labelling?"), text.format(n=n)

    def detail(self, row: Case) -> Sequence[Paragraph]:
        subject = self._subject
        judged = [(side_word(self._comparison, r), v) for r, v in _decisions(row)]
        lines = [
            f"{self._title(row)} · {item_label(row.item)} · {self._texts.get(row.name, '')}",
            said_words(subject, [*judged, *row.labels.items()]),
        ]
        if row.revealed:
            after = said_words(subject, list(row.revealed.items()))
            lines.append(_("with the decision in view: {said}").format(said=after))
        if row.adjudicated:
            word = label_word(subject, row.adjudicated)
            lines.append(_("adjudicated: {label}").format(label=word))
        return [Paragraph(one_line(line)) for line in lines]

    def _title(self, case: Case) -> str:
        return self._titles.get(case.task) or case.task

    def action_open(self) -> None:
        from cuecard.annotate.labelling.views import Target
        from cuecard.tui.screens.labelling.screen import LabelScreen

        targets = [Target(trial_id=case.trial_id, item=case.item) for case in self.view.chosen]
        if targets:
            self.app.push_screen(LabelScreen(None, self._of, targets=targets))

    def action_trial(self) -> None:
        from cuecard.tui.screens.trial.screen import TrialScreen

        if case := self.row:
            self.app.push_screen(TrialScreen(case.trial_id))

    def _side(self, rater: Rater) -> str:
        return one_line(side_word(self._comparison, rater), 18)

    def _item(self, case: Case) -> str:
        return " · ".join(filter(None, (item_label(case.item), self._texts.get(case.name, ""))))

    def _said(self, rater: Rater, case: Case) -> str:
        return label_word(self._subject, said_by(rater, case))

    def _right(self, case: Case) -> GridCell:
        left, right = self._said(self._place.left, case), self._said(self._place.right, case)
        return GridCell(right, "plain" if left == right else "warn")


def _decisions(case: Case) -> list[tuple[Rater, str]]:
    return [(Rater(role="judge", name=name), value) for name, value in case.decisions.items()]


def _texts(workspace: Workspace, cases: tuple[Case, ...]) -> tuple[dict[str, str], dict[str, str]]:
    """By the case's name, what its gold item says, nothing for what is no part of the gold; and titles of tasks by id."""
    tasks: dict[tuple[str, int], Task] = {}
    found: dict[str, str] = {}
    for case in cases:
        version = (case.task, case.revision)
        if version not in tasks:
            tasks[version] = workspace.tasks.revision(*version).task
        if case.item.kind in JUDGED:
            found[case.name] = one_line(gold_item(tasks[version], case.item).text, 200)
    return found, {id: one_line(task.title) for (id, _revision), task in tasks.items()}

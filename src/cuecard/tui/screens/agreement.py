"""How far judges and people agree: tables of figures with their intervals, or why there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import guarded
from cuecard.tui.screens.figures import FiguresScreen
from cuecard.tui.state.agreement import AgreementView
from cuecard.tui.state.report_text import Report
from cuecard.tui.widgets.empty import EmptyState

if TYPE_CHECKING:
    from cuecard.annotate.labelling.comparison import Scope, Subject
    from cuecard.annotate.labelling.comparison.sheets import Sheet
    from cuecard.store.workspace import Workspace


class AgreementScreen(FiguresScreen):
    """One table at a time; Enter goes from a figure to its items."""

    BINDINGS = keys(
        Key("agreement.items", "enter", "open", N_("Items"), N_("The items behind this figure")),
        Key("agreement.table", "t", "show('table')", N_("Table"), N_("Every statistic of every judge"), show=False),
        Key("agreement.matrix", "m", "show('matrix')", N_("Matrix"), N_("Confusion matrices, and agreement by label"), show=False),
        Key("agreement.groups", "g", "show('groups')", N_("Groups"), N_("By family, language, relation and agent"), show=False),
        Key("agreement.judges", "j", "show('judges')", N_("Judges"), N_("Judges beside each other and beside people"), show=False),
        Key("agreement.effect", "e", "show('effect')", N_("Effect"), N_("Scores with people's labels, and the order of agents"), show=False),
        Key("agreement.export", "x", "export", N_("Export"), N_("All tables as Markdown, LaTeX or CSV"), show=False),
        Key("agreement.kind", "k", "subject", N_("Other kind"), N_("Labels about something else: cues, leaks, rows"), show=False),
        Key("agreement.adjudicate", "d", "adjudicate", N_("Adjudicate"), N_("Decide where people, or people and judge, disagree")),
    )  # fmt: skip

    ALWAYS = ("look_again", "leave", "adjudicate")

    def __init__(self, run_id: int | None, name: str, *, set_id: int | None = None) -> None:
        """Of one run, of a labelling set, or without either of the whole workspace. `name`: its own."""
        super().__init__()
        self._run_id, self._set_id, self._name = run_id, set_id, name
        self._subject: Subject | None = None
        self._view: AgreementView | None = None

    @property
    def view(self) -> AgreementView | None:
        """The figures; None while they are counted."""
        return self._view

    @property
    def short_title(self) -> str:
        return one_line(self._name, 40)

    @property
    def title_words(self) -> str:
        if self._view is None:
            return ""
        found = self._view.comparison
        told = _("{run} · {verdicts} verdicts · {labelled} labelled · {unsure} cannot tell")
        if found.population is None:
            told = _("{run} · {labelled} labelled · {unsure} cannot tell")
        return told.format(
            run=one_line(self._name, 40),
            verdicts=f"{found.population or 0:,}",
            labelled=f"{found.labelled:,}",
            unsure=f"{found.unsure:,}",
        )

    def empty(self) -> EmptyState:
        return EmptyState(
            _("Nobody has labelled these verdicts yet"),
            _("Agreement needs at least one person's labels beside the judge's verdicts."),
            ("esc", _("Back, then Enter labels")),
        )

    @property
    def _scope(self) -> Scope:
        from cuecard.annotate.labelling.comparison import Scope

        runs = () if self._run_id is None else (self._run_id,)
        return Scope(runs=runs, set_id=self._set_id, subject=self._subject)

    @guarded("agreement")
    async def look(self) -> None:
        from cuecard.annotate.labelling.comparison import compare, gather
        from cuecard.annotate.labelling.comparison.sheets import sheets_of

        scope = self._scope

        read = self.counter(_("reading tasks {done}/{all}"))
        counted = self.counter(_("comparing {done}/{all}"))

        def work(workspace: Workspace) -> AgreementView:
            material = gather(workspace, scope, read)
            found = compare(material, tell=counted)
            return AgreementView(material, found, sheets_of(found))

        view = await self.counted(_("reading labels"), work)
        if self._view is not None:
            view.keep_place_of(self._view)
        self._view = view
        self.show_all()

    @guarded("agreement_effect", background=True)
    async def weigh(self) -> None:
        """Scores with people's labels: reads whole logs, so only when they are asked for."""
        from cuecard.annotate.effect import effect_of
        from cuecard.annotate.effect.sheets import effect_sheets

        view, set_id = self._view, self._set_id
        if view is None:
            return
        trials = {case.trial_id for case in view.material.cases}

        def work(workspace: Workspace) -> tuple[Sheet, ...]:
            runs = [self._run_id] if self._run_id is not None else []
            runs = runs or sorted({workspace.runs.trial(trial).run_id for trial in trials})
            return effect_sheets(effect_of(workspace, runs, set_id=set_id))

        sheets = await self.counted(_("scoring again with people's labels"), work)
        view.weighed = True
        if self._view is view:
            kept = [sheet for sheet in view.sheets if sheet.view != "effect"]
            view.sheets = (*kept, *sheets)
            self.show_all()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "subject":
            return bool(self._view and self._view.anything and self._view.next_subject)
        return super().check_action(action, parameters)

    def action_show(self, section: str) -> None:
        super().action_show(section)
        if section == "effect" and self._view is not None and not self._view.weighed:
            self.weigh()

    def action_subject(self) -> None:
        if self._view is not None:
            self._subject = self._view.next_subject
            self.look()

    def action_adjudicate(self) -> None:
        from cuecard.tui.screens.adjudicate import AdjudicateScreen

        runs = None if self._run_id is None else (self._run_id,)
        self.app.push_screen(AdjudicateScreen(self._name, runs, self._set_id))

    def action_open(self) -> None:
        from cuecard.tui.screens.agreement_items import AgreementItemsScreen

        view = self._view
        place = view.place(*self.place) if view else None
        if view is not None and place is not None:
            self.app.push_screen(
                AgreementItemsScreen(view.material, view.comparison, place, self._name)
            )

    async def written(self) -> Report:
        view = self._view
        assert view is not None
        return Report("agreement", self.title_words, view.sheets, view.circumstances())

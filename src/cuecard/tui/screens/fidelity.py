"""Is the simulator a faithful user, and do scores mean anything: tables, and the turns behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.fidelity.material import Scope
from cuecard.annotate.fidelity.turns import Turns, turns_at
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import guarded
from cuecard.tui.screens.figures import FiguresScreen
from cuecard.tui.state.fidelity import FidelityView, scales_of, title_words
from cuecard.tui.state.report_text import Report
from cuecard.tui.widgets.empty import EmptyState

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class FidelityScreen(FiguresScreen):
    """Of these runs, or of all that has something to compare. Enter goes from a figure to its turns."""

    BINDINGS = keys(
        Key("fidelity.open", "enter", "open", N_("Turns"), N_("The turns behind this figure, or the sessions")),
        Key("fidelity.cues", "c", "show('cues')", N_("Cues"), N_("Agreement on cues met, by cue, stage, language"), show=False),
        Key("fidelity.findings", "f", "show('findings')", N_("Findings"), N_("Early, late, skipped, doubled, leaks, broken rules"), show=False),
        Key("fidelity.worst", "w", "worst", N_("Worst"), N_("The turns to read first"), show=False),
        Key("fidelity.outcome", "o", "show('outcome')", N_("Outcome"), N_("People and simulator on the same tasks and agents"), show=False),
        Key("fidelity.meaning", "m", "show('meaning')", N_("Meaning"), N_("Do scores go with what people said"), show=False),
        Key("fidelity.scope", "s", "scope", N_("Choose"), N_("Which simulators, people and runs")),
        Key("fidelity.replay", "p", "replay", N_("Re-play"), N_("Decide a recorded dialogue myself, turn by turn")),
        Key("fidelity.sizes", "z", "sizes", N_("How many"), N_("How many sessions it takes to find a correlation"), show=False),
    )  # fmt: skip

    ALWAYS = ("look_again", "leave", "replay", "scope")

    def __init__(self, run_ids: Sequence[int] = (), name: str = "") -> None:
        """`name`: of the run."""
        super().__init__()
        self._scope, self._name = Scope(runs=tuple(run_ids)), name
        self._view: FidelityView | None = None
        self._names: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    @property
    def view(self) -> FidelityView | None:
        """The report; None while it is counted."""
        return self._view

    @property
    def short_title(self) -> str:
        return one_line(self._name, 40) or _("Fidelity")

    @property
    def title_words(self) -> str:
        return title_words(self._view, self._name, self._scope) if self._view else ""

    def empty(self) -> EmptyState:
        return EmptyState(
            _("Nothing to compare yet"),
            _(
                "A simulator is held against people on the same turns: where somebody played with"
                " simulators listening, or re-played what a simulator had played."
            ),
            ("p", _("Re-play a recorded dialogue: the quickest way, it needs no model")),
            ("2", _("Tasks: p plays one yourself, with simulators listening")),
            ("", _("cuecard shadow asks simulators afterwards")),
            ("s", _("Choose other runs or simulators")),
        )

    @guarded("fidelity")
    async def look(self) -> None:
        from cuecard.annotate.fidelity.gathering import gather
        from cuecard.annotate.fidelity.report import report_of, scored_part
        from cuecard.annotate.fidelity.sheets import fidelity_sheets

        scope = self._scope

        read = self.counter(_("reading dialogues {done}/{all}"))

        def work(workspace: Workspace) -> FidelityView:
            material = gather(workspace, scope, read)
            self.counting(_("scoring"))
            outcomes, meaning = scored_part(workspace, scope)
            self.counting(_("counting"))
            found = report_of(material, outcomes, meaning)
            scales = scales_of(workspace.session_forms.newest())
            return FidelityView(material, found, fidelity_sheets(found), scales)

        view = await self.counted(_("reading dialogues"), work)
        if self._view is not None:
            view.keep_place_of(self._view)
        self._view = view
        if self._names is None or not (scope.simulators or scope.people):
            simulators = sorted({player.name for player in view.found.simulators})
            self._names = (tuple(simulators), view.found.people)
        self.show_all()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "worst":
            return bool(self._view and self._view.found.worst)
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        view = self._view
        if view is None:
            return
        behind = view.behind(*self.place)
        if isinstance(behind, Turns):
            self._list(behind, view.name_of(*self.place))
        elif behind is not None:
            from cuecard.tui.screens.scatter import ScatterScreen

            self.app.push_screen(ScatterScreen(behind, view.scales.get(behind.scale)))

    def action_worst(self) -> None:
        self._list(Turns(found=True), _("Worst turns"))

    def action_replay(self) -> None:
        from cuecard.tui.screens.replay_choice import ReplayChoiceScreen

        self.app.push_screen(ReplayChoiceScreen(self._scope.runs, self._name))

    def action_sizes(self) -> None:
        from cuecard.tui.screens.fidelity_dialogs import SizesDialog

        meaning = self._view.found.meaning if self._view else None
        every = meaning.correlations if meaning else ()
        effects = [each.design_effect for each in every if each.design_effect]
        self.app.push_screen(
            SizesDialog(
                max((each.sessions for each in every), default=0), max(effects, default=None)
            )
        )

    @guarded("scope")
    async def action_scope(self) -> None:
        from cuecard.tui.screens.fidelity_dialogs import ScopeDialog

        runs = await self.services.ask(
            lambda ws: [(run.id, f"{run.id} {run.name}") for run in ws.runs.all()]
        )
        simulators, people = self._names or ((), ())
        dialog = ScopeDialog(self._scope, simulators, people, runs)
        chosen = await self.app.push_screen_wait(dialog)
        if chosen is not None and chosen != self._scope:
            self._scope = chosen
            self.look()

    async def written(self) -> Report:
        from cuecard.annotate.fidelity.words import circumstances

        view = self._view
        assert view is not None
        title = " · ".join(filter(None, (_("Fidelity of simulators"), self._name)))
        return Report("fidelity", title, view.sheets, circumstances(view.found))

    def _list(self, wanted: Turns, title: str) -> None:
        from cuecard.tui.screens.fidelity_turns import FidelityTurnsScreen

        if self._view is not None:
            rows = turns_at(self._view.material, self._view.found, wanted)
            self.app.push_screen(FidelityTurnsScreen(title, rows))

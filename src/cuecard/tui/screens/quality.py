"""Quality control of one task: its stages, their evidence, and the verdict that a person confirms or changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from cuecard.annotate.quality.decision_table import GRAVITY, STAGE, STAGES, VERDICT_LABEL, StageName
from cuecard.annotate.quality.pipeline import Planned, decide, plan_stages, qc_report
from cuecard.annotate.quality.report import QcReport, StageReport
from cuecard.annotate.review.workflow import actions_of, retire
from cuecard.core.contributions import Action, QcVerdict
from cuecard.core.i18n import N_, _, joined, listed, ngettext
from cuecard.core.probes.results import ATTEMPTS, ProbeResult
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.drawing import Vertical, VerticalScroll
from cuecard.tui.grid import GridCell
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.forms import FormDialog
from cuecard.tui.kit.list_screens import LiveScreen
from cuecard.tui.kit.lists import ListView
from cuecard.tui.live_runs import LiveQc
from cuecard.tui.present import qc as present
from cuecard.tui.present.keyboard import hint
from cuecard.tui.screens.dialogs import AskLine, ConfirmDialog
from cuecard.tui.widgets.text import HeadLines, Lines, Paragraphs

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


REFRESH = 0.5
"""Seconds between looks at how far stages that are being run are."""
STAGE_COLUMNS = (
    Column[StageReport]("#", lambda stage: str(STAGE[stage.stage].number), right=True, raw=True),
    Column[StageReport](N_("Stage"), lambda stage: _(STAGE[stage.stage].label), grow=1, least=16),
    Column[StageReport](N_("State"), lambda stage: GridCell(*present.badge(stage))),
    Column[StageReport]("n", lambda stage: str(stage.n or ""), right=True, raw=True),
    Column[StageReport](N_("Models"), present.models, grow=2),
    Column[StageReport](N_("Cost"), lambda stage: "" if stage.cost is None else f"{stage.cost:.4f}", right=True, quiet=True),
    Column[StageReport](N_("Last run"), lambda stage: f"{stage.at.astimezone():%Y-%m-%d}" if stage.at else "", quiet=True),
)  # fmt: skip


class QcScreen(LiveScreen):
    """Takes a task's id. What runs goes on when the screen is left."""

    CSS_PATH = "quality.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (150, "-wide")]
    AUTO_FOCUS = "#stages ListGrid"
    BINDINGS = keys(
        Key("qc.open", Means.OPEN, "open", N_("Trial"), N_("Read the trial behind this line")),
        Key("qc.run", Means.PLAY, "run", N_("Run"), N_("Run this stage; what is recorded is not run again")),
        Key("qc.all", Means.COMMAND, "run_all", N_("Run all"), N_("Run all stages, one after the other"), letter="a"),
        Key("qc.stop", Means.STOP, "stop", N_("Stop"), N_("Stop; calls under way get ten seconds")),
        Key("qc.label", Means.DECIDE, "label", N_("Label"), N_("Label one response item by item, blind, against the judge")),
        Key("qc.verdict", Means.SUBMIT, "verdict", N_("Verdict"), N_("Confirm or change what is proposed")),
        Key("qc.pane", (Means.ONWARD, Means.BACKWARD), "other_pane", N_("Pane"), N_("Between the stages and what is behind them")),
        Key("qc.back", Means.UP_ONE, "back", N_("Back"), N_("Back; what runs goes on")),
    )  # fmt: skip

    def __init__(self, task_id: str) -> None:
        super().__init__()
        self._task_id = task_id
        self._report: QcReport | None = None
        self._currency = ""
        self._was_on = False
        results = (
            Column[ProbeResult](N_("Model"), present.who, grow=1, least=12),
            Column[ProbeResult]("#", lambda result: str(result.sample + 1) if result.probe in ATTEMPTS else "", right=True, raw=True),
            Column[ProbeResult](N_("Score"), lambda result: "" if result.score is None else f"{result.score:.2f}", right=True),
            Column[ProbeResult](N_("Result"), present.outcome),
            Column[ProbeResult](N_("What came back"), self._came_back, grow=2, least=18),
        )  # fmt: skip
        self.stages = ListView(
            STAGE_COLUMNS, lambda stage: stage.stage, filters=False, tells=False, id="stages"
        )
        self.results = ListView(
            results,
            lambda result: (result.probe, result.model, result.sample, result.trial_id),
            id="results",
        )

    def compose(self) -> ComposeResult:
        yield HeadLines(id="head")
        yield Static("", id="progress", markup=False)
        with Vertical(id="panes"):
            yield self.stages
            with Vertical(id="detail", classes="pane"):
                with VerticalScroll(id="said", can_focus=True):
                    yield Paragraphs(id="text")
                yield self.results
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#progress").display = self.results.display = False
        self.set_interval(REFRESH, self._look_again)

    def on_screen_resume(self) -> None:
        self.load()

    @guarded("qc")
    async def load(self) -> None:
        """Look at the task again."""
        person, task_id = self.person, self._task_id
        with self.or_leave():
            async with self.reading():
                config = await self.services.config()
                report = await self.services.ask(lambda ws: qc_report(ws, task_id, person, config))
        self._report, self._currency = report, config.currency
        self.query_one("#head", Lines).load(present.heading(report))
        self.stages.load(report.stages)

    def on_list_view_moved(self, event: ListView.Moved) -> None:
        event.stop()
        if event.view is self.stages and self._report is not None:
            self._show_detail(self._report)
        self.refresh_bindings()

    def on_list_view_opened(self, event: ListView.Opened) -> None:
        event.stop()
        if event.view is self.results:
            self.action_open()

    def on_descendant_focus(self) -> None:
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        report, live = self._report, self._going_on
        match action:
            case "open":
                return self.results.grid.has_focus and self.results.row is not None
            case "run":
                return report is not None and not live and bool(STAGE[self._stage].probes)
            case "run_all":
                return report is not None and not live
            case "stop":
                return live
            case "label":
                return report is not None and report.check is not None
            case "verdict":
                return report is not None
            case _:
                return True

    def action_open(self) -> None:
        from cuecard.tui.screens.trial.screen import TrialScreen

        if self.results.row is not None:
            self.app.push_screen(TrialScreen(self.results.row.trial_id or 0))

    def action_run(self) -> None:
        self.begin((self._stage,))

    def action_run_all(self) -> None:
        self.begin(STAGES)

    @guarded("begin")
    async def begin(self, stages: tuple[StageName, ...]) -> None:
        """Run stages on the engine, after asking where models are called."""
        person, task_id = self.person, self._task_id
        config = await self.services.config()

        def plan(ws: Workspace) -> Planned:
            return plan_stages(ws, [task_id], stages, config=config, by=person)

        planned = await self.services.ask(plan)
        if not planned.trials:
            self.notify(
                _("Nothing is left to run here: it is recorded, or it says why not."), markup=False
            )
            self.load()
            return
        if not planned.free and not await self.app.push_screen_wait(_question(planned)):
            return
        live = self.services.live_runs.qc[task_id] = LiveQc()
        workspace = await self.services.ask(lambda ws: ws)
        live.begin(self.services.engine, workspace, task_id, stages, config, person)
        self._look_again()

    def action_stop(self) -> None:
        if self._live is not None:
            self._live.control.drain()
            told = _("Stopping. The calls under way get {n} seconds.")
            self.cue_app.tell(told.format(n=f"{self._live.control.grace:g}"))

    def action_label(self) -> None:
        from cuecard.tui.screens.labelling.screen import LabelScreen

        check = self._report.check if self._report else None
        if check is not None:
            self.app.push_screen(LabelScreen(check.run_id, check.run_name, check.trial_id))

    @guarded("verdict")
    async def action_verdict(self) -> None:
        if self._report is not None and await give_verdict(self, self._report):
            self.load()

    def action_other_pane(self) -> None:
        behind = self.results if self.results.display else self.query_one("#said")
        (behind if self.stages.grid.has_focus else self.stages).focus()

    def action_back(self) -> None:
        self.dismiss()

    @property
    def _live(self) -> LiveQc | None:
        return self.services.live_runs.qc.get(self._task_id)

    @property
    def _going_on(self) -> bool:
        return self._live is not None and self._live.going_on

    @property
    def _stage(self) -> StageName:
        """The stage under the cursor."""
        return self.stages.row.stage if self.stages.row is not None else STAGES[0]

    def _look_again(self) -> None:
        """Show how far it is, and what came out once it is over."""
        live, going_on, line = self._live, self._going_on, self.query_one("#progress", Static)
        line.display = going_on
        if live is not None and going_on:
            line.update(live.progress(self._currency))
        elif live is not None and self._was_on:
            self._tell_the_end(live)
            self.cue_app.in_background(self.load())
        if self._was_on != going_on:
            self._was_on = going_on
            self.refresh_bindings()

    def _tell_the_end(self, live: LiveQc) -> None:
        if trouble := live.stopped_by():
            self.report(trouble)
        elif problem := live.problem():
            self.cue_app.tell(_("A trial had a problem: {reason}").format(reason=problem))

    def _show_detail(self, report: QcReport) -> None:
        stage = self._stage
        results = report.stage(stage).results
        self.query_one("#detail").border_title = Text(_(STAGE[stage].label))
        self.query_one("#text", Paragraphs).load(present.detail(report, stage))
        self.results.display = bool(results)
        self.results.styles.max_height = len(results) + 2  # its head and its status line
        self.results.load(results)

    def _came_back(self, result: ProbeResult) -> str:
        """What came back, with the name of the probe where a stage has several."""
        probes = {result.probe for result in self.results.every}
        return present.probe_answers(result, probe=len(probes) > 1)


def _question(planned: Planned) -> ConfirmDialog:
    text = ngettext(
        "{n} trial is to be played, with {models}. It is recorded like any run, with its cost; {STOP} stops it.",
        "{n} trials are to be played, with {models}. They are recorded like any run, with their cost;"
        " {STOP} stops them.",
        planned.trials,
    )
    return ConfirmDialog(
        _("Call models?"),
        hint(text, n=planned.trials, models=listed(planned.models)),
        _("Run"),
    )


class _Verdict(Frozen):
    verdict: Annotated[QcVerdict, Field(title=N_("Verdict"))]
    reason: Annotated[
        str, Field(title=N_("Reason"), description=N_("for another verdict than the proposed one"))
    ] = ""


class VerdictDialog(FormDialog[_Verdict]):
    """Dismissed with a verdict and a reason, which may be empty only for what is proposed."""

    BEGINS_AT = "reason"

    def __init__(self, report: QcReport) -> None:
        proposal = report.proposal
        said = _("Proposed: {verdict}").format(verdict=present.verdict_piece(proposal.verdict).text)
        lines = [said, *(f"· {reason}" for reason in proposal.reasons)]
        if proposal.unknown:
            lines.append(_("Not everything was looked at yet."))
        super().__init__(
            _("What becomes of this task?"),
            _Verdict(verdict=proposal.verdict),
            ask="\n".join([*lines, _("Confirm it, or choose another verdict.")]),
            button=_("Record"),
            options={"verdict": [(present.verdict_piece(each).text, each) for each in GRAVITY]},
        )
        self._proposed = proposal.verdict

    def problem(self, model: _Verdict) -> str:
        if model.verdict == self._proposed or model.reason:
            return ""
        return _("Say why “{verdict}”.").format(verdict=_(VERDICT_LABEL[model.verdict]))


async def give_verdict(screen: CuecardScreen[Any], report: QcReport) -> bool:
    """Ask for the verdict and save it; if the task is to be removed, offer to archive it as a separate step. False if
    the person left. Raises `CuecardError`.
    """
    given = await screen.app.push_screen_wait(VerdictDialog(report))
    if given is None:
        return False
    verdict, reason = given.verdict, given.reason
    person, task_id = screen.person, report.task_id
    await screen.services.ask(lambda ws: decide(ws, report, person, verdict, reason))
    if verdict != "remove":
        screen.cue_app.tell(_("Recorded. The task stays where it stands."))
        return True
    may = await screen.services.ask(lambda ws: actions_of(ws, task_id, person))
    if Action.RETIRE not in may:
        screen.cue_app.tell(
            _("Recorded. Nothing is removed by itself: an author can archive the task.")
        )
        return True
    await _archive(screen, report, reason)
    return True


async def _archive(screen: CuecardScreen[Any], report: QcReport, reason: str) -> None:
    question = AskLine(
        _("Archive this task too?"),
        _(
            "Your verdict is recorded. The task is only taken out of use if you archive it; esc leaves it."
        ),
        button=_("Archive"),
        value=reason or joined(report.proposal.reasons),
        placeholder=_("Why?"),
    )
    why = await screen.app.push_screen_wait(question)
    if why is None:
        return
    person = screen.person
    await screen.services.ask(lambda ws: retire(ws, report.task_id, person, why))
    screen.cue_app.tell(_("“{task}” is archived.").format(task=one_line(report.title, 60)))

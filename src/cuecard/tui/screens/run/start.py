"""The dialog for a new run: tasks, agents, samples and concurrency, and what it is going to take; beginning it; and where runs
lead to.
"""

from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Annotated, Any, cast

from pydantic import Field

from cuecard.annotate.results.forecast import Taken, forecast, past_trials
from cuecard.core.engine.events import Limits
from cuecard.core.errors import CuecardError
from cuecard.core.evaluation.offering import offer_run
from cuecard.core.evaluation.plans import RunPlan, RunSettings
from cuecard.core.evaluation.runs import create_run
from cuecard.core.i18n import N_, _, beside, ngettext, pgettext
from cuecard.core.players import Part
from cuecard.core.records import RunRecord, RunState, TaskSummary
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.core.worker_archive import Purpose
from cuecard.store.workspace import Workspace
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.kit.forms import AnswerDialog
from cuecard.tui.kit.rows import Row
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.labels import FAMILY, LANGUAGE_LABEL
from cuecard.tui.present.players import PlayerChoices, player_choices
from cuecard.tui.present.runs import forecast_words
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.widgets.inputs import TickList


async def begin_run(screen: CuecardScreen[Any], tasks: Collection[str] = ()) -> None:
    """Ask for the choices of a run, with these tasks chosen or all, and begin it. Raises `CuecardError`."""
    services, person = screen.services, screen.person
    config = await services.config()
    found: list[TaskSummary] = await services.ask(lambda ws: ws.tasks.summaries())
    if not found:
        screen.cue_app.tell(_("There is no task to play yet: 2 goes to Tasks."))
        return
    ticked = [task.id for task in found if task.id in tasks]
    if left := len(tasks) - len(ticked):
        text = ngettext(
            "{n} marked task has no revision in use and is not played.",
            "{n} marked tasks have no revision in use and are not played.",
            left,
        )
        screen.cue_app.tell(text.format(n=left))
        if not ticked:
            return
    alone = await services.ask(why_alone)
    dialog = RunStartDialog(found, player_choices(config), alone, ticked)
    chosen = await screen.app.push_screen_wait(dialog)
    if chosen is None:
        return
    plan = chosen.plan()
    run = await services.ask(lambda ws: create_run(ws, plan, by=person, config=config))
    if chosen.played_by == "workers":
        await offer_to_workers(screen, run.id)
    else:
        workspace = await services.ask(lambda ws: ws)
        services.live_runs.play(
            services.engine, workspace, run.id, config, plan.concurrency, by=person
        )
    open_run(screen, run)


WAIT = N_("The trials wait for workers: `cuecard worker` on any machine.")


async def offer_to_workers(
    screen: CuecardScreen[Any],
    run: int,
    purpose: Purpose = "play",
    only: Collection[int] | None = None,
) -> None:
    """As `offer_run`, and tell that they wait."""
    workspace = await screen.services.ask(lambda ws: ws)
    offer = offer_run(workspace, run, by=screen.person, purpose=purpose, only=only)
    await screen.services.engine.perform(offer)
    screen.cue_app.tell(_(WAIT))


def open_run(screen: CuecardScreen[Any], run: RunRecord) -> None:
    """Show the run on a screen of its own."""
    from cuecard.tui.screens.run.screen import RunScreen

    if run.is_exam:
        from cuecard.tui.screens.exam import ExamScreen

        screen.app.push_screen(ExamScreen(run.id))
        return
    screen.app.push_screen(RunScreen(run.id, over=run.state is RunState.DONE))


class AboutRuns(CuecardScreen[None]):
    """Leads from runs to what they say, each on a screen of its own."""

    def named_runs(self) -> tuple[tuple[int, ...], str] | None:
        """The ids of the runs that are meant, and what they are called together; None while there are none."""
        raise NotImplementedError

    def _lead_to(self, module: str, screen: str) -> None:
        if runs := self.named_runs():
            made = getattr(import_module(f"cuecard.tui.screens.{module}"), screen)
            self.app.push_screen(made(*runs))

    def action_compare(self) -> None:
        self._lead_to("compare", "CompareScreen")

    def action_errors(self) -> None:
        self._lead_to("errors", "ErrorsScreen")

    def action_fidelity(self) -> None:
        self._lead_to("fidelity", "FidelityScreen")

    def action_plan(self) -> None:
        self._lead_to("planning", "PlanScreen")

    def action_plots(self) -> None:
        self._lead_to("plots", "PlotsScreen")

    def action_suspects(self) -> None:
        self._lead_to("suspects", "SuspectsScreen")

    @guarded("report")
    async def action_report(self) -> None:
        from cuecard.tui.screens.figures import write_report

        if runs := self.named_runs():
            await write_report(self, *runs)


KEPT = Row(column=1, remember=True)


class RunForm(Frozen):
    """The choices of a run."""

    tasks: Annotated[tuple[str, ...], Field(title=N_("Tasks"), min_length=1)]
    agents: Annotated[tuple[str, ...], Field(title=N_("Agents"), min_length=1), KEPT]
    user: Annotated[str, Field(title=N_("User")), KEPT]
    world: Annotated[str, Field(title=N_("World")), KEPT]
    judge: Annotated[str, Field(title=N_("Judge")), KEPT]
    played_by: Annotated[str, Field(title=N_("Played by")), Row(column=1)] = "app"
    samples: Annotated[int, Field(title=N_("Samples per task"), ge=1, le=1000), KEPT] = 1
    concurrency: Annotated[int, Field(title=N_("Trials at a time"), ge=1, le=1024), KEPT] = 4
    turns: Annotated[int, Field(title=N_("Turns at most"), ge=1, le=10_000), KEPT] = 60
    budget: Annotated[float | None, Field(title=N_("Budget"), gt=0, lt=1e9), KEPT] = None
    name: Annotated[
        str, Field(title=N_("Name"), description=N_("as its agents")), Row(column=1)
    ] = ""

    def plan(self) -> RunPlan:
        return RunPlan(
            tasks=self.tasks,
            agents=self.agents,
            name=self.name,
            samples=self.samples,
            concurrency=self.concurrency,
            limits=Limits(max_turns=self.turns),
            settings=RunSettings(
                user=self.user, world=self.world, judges=(self.judge,), budget=self.budget
            ),
        )


class RunStartDialog(AnswerDialog[RunForm, RunForm]):
    """Gives the choices. `alone`: why workers cannot play it, "" if they can. The tasks `ticked`, or all, and the agents
    of last time, or the first one, are chosen to begin with.
    """

    DEFAULT_CSS = """
    RunStartDialog {
        FormPane, .column { height: 1fr; }
        .-column-0 { margin-right: 2; }
        FormRow.-choices, TickList { height: 1fr; max-height: 100%; margin: 0; }
        #summary { margin: 0; }
    }
    """
    BINDINGS = keys(
        Key("run_start.all", Means.MARK_ALL, "all", N_("All/none"), N_("Choose all tasks, or none") ),
    )  # fmt: skip
    DEFAULT_CLASSES = "-large"
    REMEMBERS = "run"

    def __init__(
        self,
        tasks: Sequence[TaskSummary],
        choices: PlayerChoices,
        alone: str = "",
        ticked: Sequence[str] = (),
    ) -> None:
        self._choices, self._alone = choices, alone
        self._past = dict[str, list[Taken]]()
        parts = {
            "agents": choices.agents,
            "user": choices.users,
            "world": choices.worlds,
            "judge": choices.judges,
        }
        first = {field: offered[0][0] for field, offered in parts.items()}
        super().__init__(
            _("Start a run"),
            RunForm.model_validate(
                {
                    **first,
                    "tasks": ticked or [task.id for task in tasks],
                    "agents": [first["agents"]],
                }
            ),
            button=pgettext("verb", "Start"),
            options={
                "tasks": [(_task_label(task), task.id) for task in tasks],
                "played_by": [
                    (_("this app"), "app"),
                    (_("workers") if not alone else _("workers: not here"), "workers"),
                ],
                **{
                    field: [(one_line(label, 60), name) for name, label in offered]
                    for field, offered in parts.items()
                },
            },
            tips={"budget": beside(_("none"), choices.currency)},
        )

    def action_all(self) -> None:
        box = cast("TickList[str]", self.query_one("#tasks", TickList))
        box.select_all() if len(box.selected) < box.option_count else box.deselect_all()

    async def summary(self, model: RunForm) -> str:
        """How many trials, and what they are going to take."""
        missing = [agent for agent in model.agents if agent not in self._past]
        if missing:
            self._past |= await self.services.ask(lambda ws: past_trials(ws, missing))
        each = len(model.tasks) * model.samples
        counted = _("tasks: {tasks} · agents: {agents} · trials: {trials}").format(
            tasks=len(model.tasks), agents=len(model.agents), trials=f"{each * len(model.agents):,}"
        )
        taken = forecast(self._past, model.agents, each, model.concurrency)
        if model.played_by == "workers":
            return f"{counted}\n{_('`cuecard worker` on any machine plays them.')}"
        return f"{counted}\n{forecast_words(taken, self._choices.currency)}"

    def problem(self, model: RunForm) -> str:
        return self._alone if model.played_by == "workers" else ""

    async def answer(self, model: RunForm) -> RunForm | None:
        question = ConfirmDialog(
            _("Start without a budget?"),
            hint(
                _(
                    "The run then costs whatever it takes. With a budget it pauses when that is spent, and"
                    " <run.budget> changes it while it goes on."
                )
            ),
            _("Start without"),
        )
        if (
            model.budget is None
            and not self._is_free(model)
            and not await self.app.push_screen_wait(question)
        ):
            self.pane.go_to("budget")
            return None
        return model

    def _is_free(self, model: RunForm) -> bool:
        """Whether nobody in it calls a model."""
        players: list[tuple[Part, str]] = [
            *(("agent", name) for name in model.agents),
            ("user", model.user),
            ("world", model.world),
            ("judge", model.judge),
        ]
        return self._choices.free.issuperset(players)


def why_alone(workspace: Workspace) -> str:
    """Why workers cannot play runs of this workspace; "" if they can."""
    try:
        workspace.workers.check()
    except CuecardError as error:
        return str(error)
    return ""


def _task_label(task: TaskSummary) -> str:
    return f"{FAMILY[task.family][0]} {LANGUAGE_LABEL[task.language]} {one_line(task.title, 60)}"

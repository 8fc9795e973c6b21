"""The dialog for a new run: tasks, agents, samples and concurrency, and what it is going to take."""

from collections.abc import Sequence
from typing import Annotated, cast

from pydantic import Field

from cuecard.annotate.results.forecast import Taken, forecast, past_trials
from cuecard.core.engine.events import Limits
from cuecard.core.evaluation.plans import RunPlan, RunSettings
from cuecard.core.i18n import N_, _, pgettext
from cuecard.core.players import Part
from cuecard.core.records import TaskSummary
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.kit.forms import AnswerDialog
from cuecard.tui.kit.rows import Row
from cuecard.tui.present.labels import FAMILY, LANGUAGE_LABEL
from cuecard.tui.present.players import PlayerChoices
from cuecard.tui.present.runs import forecast_words
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.widgets.lists import TickList

KEPT = Row(column=1, remember=True)


class RunForm(Frozen):
    """The choices of a run."""

    tasks: Annotated[tuple[str, ...], Field(title=N_("Tasks"), min_length=1)]
    agents: Annotated[tuple[str, ...], Field(title=N_("Agents"), min_length=1), KEPT]
    user: Annotated[str, Field(title=N_("User")), KEPT]
    world: Annotated[str, Field(title=N_("World")), KEPT]
    judge: Annotated[str, Field(title=N_("Judge")), KEPT]
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


class RunStartDialog(AnswerDialog[RunForm, RunPlan]):
    """Gives a plan. All tasks and the agents of last time, or the first one, are chosen to begin with."""

    DEFAULT_CSS = """
    RunStartDialog {
        FormPane, .column { height: 1fr; }
        .-column-0 { margin-right: 2; }
        FormRow.-choices, TickList { height: 1fr; max-height: 100%; margin: 0; }
        #summary { margin: 0; }
    }
    """
    BINDINGS = keys(
        Key("run_start.all", "a", "all", N_("All/none"), N_("Choose all tasks, or none")),
    )
    DEFAULT_CLASSES = "-large"
    REMEMBERS = "run"

    def __init__(self, tasks: Sequence[TaskSummary], choices: PlayerChoices) -> None:
        self._choices = choices
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
                {**first, "tasks": [task.id for task in tasks], "agents": [first["agents"]]}
            ),
            button=pgettext("verb", "Start"),
            options={
                "tasks": [(_task_label(task), task.id) for task in tasks],
                **{
                    field: [(one_line(label, 60), name) for name, label in offered]
                    for field, offered in parts.items()
                },
            },
            tips={"budget": f"{_('none')} ({choices.currency})"},
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
            tasks=len(model.tasks), agents=len(model.agents), trials=each * len(model.agents)
        )
        taken = forecast(self._past, model.agents, each, model.concurrency)
        return f"{counted}\n{forecast_words(taken, self._choices.currency)}"

    async def answer(self, model: RunForm) -> RunPlan | None:
        question = ConfirmDialog(
            _("Start without a budget?"),
            _(
                "The run then costs whatever it takes. With a budget it pauses when that is spent, and"
                " the key b changes it while it goes on."
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
        return model.plan()

    def _is_free(self, model: RunForm) -> bool:
        """Whether nobody in it calls a model."""
        players: list[tuple[Part, str]] = [
            *(("agent", name) for name in model.agents),
            ("user", model.user),
            ("world", model.world),
            ("judge", model.judge),
        ]
        return self._choices.free.issuperset(players)


def _task_label(task: TaskSummary) -> str:
    return f"{FAMILY[task.family][0]} {LANGUAGE_LABEL[task.language]} {one_line(task.title, 60)}"

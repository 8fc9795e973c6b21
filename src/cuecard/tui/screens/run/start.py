"""The dialog for a new run: tasks, agents, samples, and concurrency."""

from collections.abc import Sequence
from typing import cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Input, Label, Select, SelectionList
from textual.widgets.selection_list import Selection

from cuecard.core.engine.events import Limits
from cuecard.core.evaluation.plans import RunPlan, RunSettings
from cuecard.core.i18n import N_, NP_, _, pgettext
from cuecard.core.players import Part
from cuecard.core.records import TaskSummary
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardDialog, guarded
from cuecard.tui.present.labels import FAMILY, LANGUAGE_LABEL
from cuecard.tui.present.players import PlayerChoices
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.widgets.lists import TickList

PARTS = {"user": N_("User"), "world": N_("World"), "judge": N_("Judge")}
# field -> (label, default, least, most)
NUMBERS: dict[str, tuple[str, int, int, int]] = {
    "samples": (N_("Samples per task"), 1, 1, 1000),
    "concurrency": (N_("Trials at a time"), 4, 1, 1024),
    "turns": (N_("Turns at most"), 60, 1, 10_000),
}


class RunStartDialog(CuecardDialog[RunPlan | None]):
    """Gives a plan. All tasks and the first agent are preselected."""

    CSS_PATH = "start.tcss"
    BINDINGS = keys(
        Key(
            "run_start.begin",
            "ctrl+s",
            "begin",
            NP_("verb", "Start"),
            N_("Start this run"),
            shown_as="^s",
            priority=True,
        ),
        Key("run_start.all", "a", "all", N_("All/none"), N_("Choose all tasks, or none")),
    )

    def __init__(self, tasks: Sequence[TaskSummary], choices: PlayerChoices) -> None:
        super().__init__()
        self._tasks = tasks
        self._choices = choices

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = _("Start a run")
            with Horizontal(id="choices"):
                tasks = TickList[str](*map(self._task_option, self._tasks), id="tasks")
                tasks.border_title = _("Tasks")
                yield tasks
                with Vertical(id="right"):
                    agents = TickList[str](*self._agent_options(), id="agents")
                    agents.border_title = _("Agents")
                    yield agents
                    for field, label in PARTS.items():
                        with Horizontal(classes="field part"):
                            yield Label(_(label))
                            yield self._part(field)
                    for field, (label, default, _least, _most) in NUMBERS.items():
                        with Horizontal(classes="field"):
                            yield Label(_(label))
                            yield Input(str(default), id=field, type="integer", compact=True)
                    with Horizontal(classes="field"):
                        yield Label(
                            _("Budget ({currency})").format(currency=self._choices.currency)
                        )
                        none = _("none")
                        yield Input(placeholder=none, id="budget", type="number", compact=True)
                    with Horizontal(classes="field"):
                        yield Label(_("Name"))
                        placeholder = _("as its agents")
                        yield Input(placeholder=placeholder, id="name", compact=True)
            with Horizontal(classes="buttons"):
                yield Label("", id="size")
                yield Button(pgettext("verb", "Start"), variant="primary", id="begin", compact=True)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#tasks", SelectionList).focus()
        self._count()

    def on_selection_list_selected_changed(self) -> None:
        self._count()

    def on_input_changed(self) -> None:
        self._count()

    def on_button_pressed(self) -> None:
        self.action_begin()

    def action_all(self) -> None:
        tasks = self._list("tasks")
        if len(tasks.selected) == len(self._tasks):
            tasks.deselect_all()
        else:
            tasks.select_all()

    @guarded("begin")
    async def action_begin(self) -> None:
        plan = self._plan()
        if isinstance(plan, str):
            self.notify(plan, severity="warning", markup=False)
            return
        question = ConfirmDialog(
            _("Start without a budget?"),
            _(
                "The run then costs whatever it takes. With a budget it pauses when that is spent, and"
                " the key b changes it while it goes on."
            ),
            _("Start without"),
        )
        unlimited = plan.settings.budget is None and not self._is_free(plan)
        if not unlimited or await self.app.push_screen_wait(question):
            self.dismiss(plan)
        else:
            self.query_one("#budget", Input).focus()

    def _is_free(self, plan: RunPlan) -> bool:
        """Whether nobody in it calls a model."""
        settings = plan.settings
        players: list[tuple[Part, str]] = [
            *(("agent", name) for name in plan.agents),
            ("user", settings.user),
            ("world", settings.world),
            *(("judge", name) for name in settings.judges),
        ]
        return self._choices.free.issuperset(players)

    def _plan(self) -> RunPlan | str:
        """The plan as it stands, or what is wrong with it."""
        tasks, agents = self._list("tasks").selected, self._list("agents").selected
        if not tasks:
            return _("Choose at least one task.")
        if not agents:
            return _("Choose at least one agent.")
        numbers: dict[str, int] = {}
        for field, (label, _default, least, most) in NUMBERS.items():
            number = self._number(field)
            if number is None or not least <= number <= most:
                return _("{field}: a number from {least} to {most}, please.").format(
                    field=_(label), least=least, most=most
                )
            numbers[field] = number
        chosen = set(tasks)
        budget = self.query_one("#budget", Input).value.strip()
        if budget and not 0 < _amount(budget) < 1e9:
            return _("The budget: an amount above 0, please, or nothing.")
        return RunPlan(
            # In the order of the list, not of the clicks.
            tasks=tuple(task.id for task in self._tasks if task.id in chosen),
            agents=tuple(name for name, _label in self._choices.agents if name in agents),
            name=self.query_one("#name", Input).value,
            samples=numbers["samples"],
            concurrency=numbers["concurrency"],
            limits=Limits(max_turns=numbers["turns"]),
            settings=RunSettings(
                user=self._chosen("user"),
                world=self._chosen("world"),
                judges=(self._chosen("judge"),),
                budget=_amount(budget) if budget else None,
            ),
        )

    def _part(self, field: str) -> Select[str]:
        choices = {
            "user": self._choices.users,
            "world": self._choices.worlds,
            "judge": self._choices.judges,
        }[field]
        options = [(Text(one_line(label, 40)), name) for name, label in choices]
        return Select[str](options, allow_blank=False, id=field, compact=True)

    def _chosen(self, field: str) -> str:
        return str(cast(Select[str], self.query_one(f"#{field}", Select)).value)

    def _count(self) -> None:
        tasks, agents = len(self._list("tasks").selected), len(self._list("agents").selected)
        trials = tasks * agents * (self._number("samples") or 0)
        text = _("tasks: {tasks} · agents: {agents} · trials: {trials}").format(
            tasks=tasks, agents=agents, trials=trials
        )
        self.query_one("#size", Label).update(text)

    def _number(self, field: str) -> int | None:
        value = self.query_one(f"#{field}", Input).value.strip()
        return int(value) if value.isdecimal() and len(value) < 8 else None

    def _list(self, name: str) -> SelectionList[str]:
        return cast(SelectionList[str], self.query_one(f"#{name}", SelectionList))

    def _task_option(self, task: TaskSummary) -> Selection[str]:
        glyph = FAMILY[task.family][0]
        language = LANGUAGE_LABEL[task.language]
        return Selection(Text(f"{glyph} {language} {one_line(task.title, 60)}"), task.id, True)

    def _agent_options(self) -> list[Selection[str]]:
        return [
            Selection(Text(one_line(label, 60)), name, index == 0)
            for index, (name, label) in enumerate(self._choices.agents)
        ]


def _amount(value: str) -> float:
    """0 for what is no number."""
    try:
        return float(value)
    except ValueError:
        return 0.0

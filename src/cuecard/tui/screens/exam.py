"""A judge's exam: its probes with what they tell, the misses of one, and both inputs of a miss side by side."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from textual.app import ComposeResult
from textual.widgets import Static

from cuecard.annotate.results.judge_card import Card, inputs_left
from cuecard.annotate.results.judge_exam import MarkedAnswer, ProbeFigures
from cuecard.annotate.results.rescored_tables import DECISION_WORDS
from cuecard.core.config_schema import Config
from cuecard.core.errors import BudgetSpent
from cuecard.core.evaluation.exam import Exam, ExamPlan, enter_exam, plan_exam
from cuecard.core.exam.probes import ExamInput
from cuecard.core.i18n import N_, _, beside, ngettext, plural, spaced
from cuecard.core.records import TaskSummary
from cuecard.core.tables.table import in_percent, percent, percentage
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.core.verdicts import Decision, Judgement
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.drawing import Container, VerticalScroll
from cuecard.tui.grid import GridCell
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.forms import AnswerDialog
from cuecard.tui.kit.list_screens import ListScreen, RowScreen
from cuecard.tui.live_runs import LiveExam
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.players import player_choices
from cuecard.tui.present.runs import why_it_stands
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import HeadLine, Paragraphs

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class ExamScreen(ListScreen[ProbeFigures]):
    """The probes of the exam that a run is, those with mistakes that count first."""

    TELLS = False
    BINDINGS = keys(
        Key("exam.open", Means.OPEN, "open", N_("Misses"), N_("Each mistake on this probe's items")),
        Key("exam.sit", Means.PLAY, "sit", N_("Go on"), N_("Have the judge judge what is left of its exam")),
        Key("exam.again", Means.PLAY, "again", N_("Sit again"), N_("Have this judge, or another one, sit an exam")),
        Key("exam.stop", Means.STOP, "stop", N_("Stop"), N_("Stop; calls under way get ten seconds")),
        Key("exam.back", Means.UP_ONE, "leave", N_("Back"), N_("Back to where I came from")),
    )  # fmt: skip

    def __init__(self, run_id: int) -> None:
        super().__init__()
        self._run_id = run_id
        self._card: Card | None = None
        self._was_on = False

    @property
    def _live(self) -> LiveExam | None:
        """The exam as it is being sat in this process."""
        live = self.services.live_runs.exams.get(self._run_id)
        return live if live is not None and live.going_on else None

    @property
    def _unfinished(self) -> bool:
        return self._card is None or any(each.judgement is None for each in self._card.exam.answers)

    def on_mount(self) -> None:
        super().on_mount()
        self._was_on = self._live is not None
        self.set_interval(0.5, self._watch)

    def _watch(self) -> None:
        """Show how far it is, and what came out once it is over."""
        was, self._was_on = self._was_on, self._live is not None
        if self._was_on:
            self.tell()
        elif was:
            live = self.services.live_runs.exams[self._run_id]
            stopped = live.stopped_by()
            if isinstance(stopped, BudgetSpent):
                told = _("{title}: {why}. {PLAY} goes on with a larger one.")
                self.cue_app.tell(hint(told, title=stopped.title, why=stopped.message))
            elif stopped is not None:
                self.report(stopped)
            else:
                for why in live.failures[:3]:
                    self.cue_app.tell(_("Some inputs were not judged: {why}").format(why=why))
            self.load()
        if was is not self._was_on:
            self.refresh_bindings()

    def _look(self) -> None:
        # One that is over stays as it is, and is dear to read.
        if self._unfinished:
            super()._look()

    def columns(self) -> Sequence[Column[ProbeFigures]]:
        return (
            Column(N_("Probe"), lambda row: _(row.probe.name), grow=2, least=20),
            Column(N_("Right is"), _right, spare=2),
            Column(N_("Items"), lambda row: str(row.n), right=True, sort=lambda row: -row.n),
            Column(N_("Mistakes %"), _mistakes, right=True, sort=lambda row: -(row.error.value or 0)),
            Column(N_("→yes"), lambda row: "" if row.to_yes is None else percent(row.to_yes), right=True, spare=1),
            Column(N_("→no"), lambda row: "" if row.to_no is None else percent(row.to_no), right=True, spare=1),
            Column(N_("Points"), lambda row: f"{row.points:+.1f}" if row.points else "", right=True, spare=1),
            Column(N_("Code"), lambda row: row.probe.id),
        )  # fmt: skip

    def key(self, row: ProbeFigures) -> str:
        return row.probe.id

    async def read(self) -> Sequence[ProbeFigures]:
        from cuecard.core.evaluation.exam import read_exam

        run_id = self._run_id

        def figures(workspace: Workspace) -> Card:
            card = Card(read_exam(workspace, run_id))
            _ = card.figures
            return card

        card = self._card = await self.services.ask(figures)
        rows = card.figures.probes.values()
        return sorted(rows, key=lambda row: (not row.misses, not row.examined))

    def empty(self) -> EmptyState:
        return EmptyState(_("Nothing is judged yet"), "", ("{PLAY}", _("Go on with the exam")), ("esc", _("Back")))  # fmt: skip

    def title_words(self) -> str:
        card = self._card
        return "" if card is None else f"{_('Exam')} · {card.name} · {card.exam.setting.stamp}"

    def note(self) -> str:
        card, live = self._card, self._live
        if card is None or not (live or self.view.every):
            return ""
        if live is not None:
            told = _("Judging with {judge}: {done} of {total}, {calls} calls")
            return told.format(judge=card.name, done=live.done, total=live.total, calls=live.calls)
        found = card.figures
        figures = _("sensitivity {yes} · specificity {no} · moved {flip}").format(
            yes=percentage(found.sensitivity),
            no=percentage(found.specificity),
            flip=percentage(found.flip),
        )
        lines = [figures, card.sentence()]
        if left := inputs_left(found):
            why = "".join(p.text for line in why_it_stands(card.exam.run, here=False) for p in line)
            lines.append(left + (spaced(left, why) if why else ""))
        return "\n".join(lines)

    def detail(self, row: ProbeFigures) -> Sequence[Paragraph]:
        told = _("{mistakes} on {items} of {tasks}").format(
            mistakes=plural("{n} mistake", "{n} mistakes", len(row.misses)),
            items=plural("{n} item", "{n} items", row.n),
            tasks=plural("{n} task", "{n} tasks", row.tasks),
        )
        fault = _("A judge that fails here: {fault}").format(fault=_(row.probe.fault))
        few = "" if row.examined else _("Too few items: this probe is not examined.")
        return [Paragraph(text) for text in (told, fault, few) if text]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("sit", "again", "stop"):
            on = self._live is not None
            return on if action == "stop" else not on and (action == "sit") is self._unfinished
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        if row := self.row:
            self.app.push_screen(MissesScreen(row.probe.label, row.misses))

    @guarded("sit")
    async def action_sit(self) -> None:
        await begin_exam(self, self._card)

    def action_again(self) -> None:
        self.action_sit()

    def action_stop(self) -> None:
        if (live := self._live) is not None:
            live.control.drain()
            told = _("Stopping. The calls under way get {n} seconds.")
            self.cue_app.tell(told.format(n=f"{live.control.grace:g}"))


class _ExamChoice(Frozen):
    judge: Annotated[str, Field(title=N_("Judge"))]
    tasks: Annotated[tuple[str, ...], Field(title=N_("Tasks"))] = ()
    again: Annotated[bool, Field(title=N_("A new exam, whatever is recorded"))] = False
    budget: Annotated[float | None, Field(title=N_("Budget"), gt=0, lt=1e9)] = None


class ExamDialog(AnswerDialog[_ExamChoice, ExamPlan]):
    """Answers with the plan of an exam that is entered."""

    DEFAULT_CSS = """
    ExamDialog {
        .dialog { height: 100%; max-height: 32; }
        FormPane, .column { height: 1fr; }
        FormRow.-choices, FormPane TickList { height: 1fr; max-height: 100%; margin: 0; }
        #summary { margin: 0; }
    }
    """
    DEFAULT_CLASSES = "-large"

    def __init__(
        self, config: Config, tasks: Sequence[TaskSummary], recorded: Exam | None = None
    ) -> None:
        """`recorded`: the exam that is meant to begin with."""
        choices = player_choices(config)
        judges = [(one_line(label, 60), name) for name, label in choices.judges]
        given = _ExamChoice(judge=judges[0][1])
        if recorded is not None and recorded.setting.judge.name in dict(choices.judges):
            given = _ExamChoice(judge=recorded.setting.judge.name, tasks=recorded.tasks)
        super().__init__(
            _("Which judge sits an exam?"),
            given,
            ask=_(
                "Known answers are made from gold by rule, without a label. Nothing ticked: all tasks in use."
            ),
            button=_("Begin"),
            options={
                "judge": judges,
                "tasks": [(one_line(task.title, 56), task.id) for task in tasks],
            },
            tips={"budget": beside(_("none"), choices.currency)},
        )
        self._config, self._all = config, [task.id for task in tasks]
        self._seed = recorded.setting.seed if recorded else 0

    async def summary(self, model: _ExamChoice) -> str:
        """What the exam takes."""
        plan = await self._plan(model)
        return plan.summary if plan.left else _("Every input is judged: what is recorded is shown.")

    async def answer(self, model: _ExamChoice) -> ExamPlan:
        plan, person = await self._plan(model), self.person
        return await self.services.ask(
            lambda ws: enter_exam(ws, plan, self._config, person, model.budget)
        )

    async def _plan(self, model: _ExamChoice) -> ExamPlan:
        return await self.services.ask(
            lambda ws: plan_exam(
                ws,
                model.judge,
                model.tasks or self._all,
                config=self._config,
                seed=self._seed,
                again=model.again,
            )
        )


async def begin_exam(screen: CuecardScreen[Any], card: Card | None = None) -> None:
    """Ask which judge sits an exam on which tasks, have it begin or go on, and show it. `card`: of the exam that is shown.
    Raises `CuecardError`.
    """
    config, services = await screen.services.config(), screen.services
    tasks = await services.ask(lambda ws: ws.tasks.summaries())
    recorded = card.exam if card else None
    plan = await screen.app.push_screen_wait(ExamDialog(config, tasks, recorded))
    if plan is None or plan.run is None:
        return
    run, exams = plan.run.id, services.live_runs.exams
    if plan.left and not (run in exams and exams[run].going_on):
        workspace = await services.ask(lambda ws: ws)
        exams[run] = LiveExam()
        exams[run].begin(services.engine, workspace, plan, config, screen.person)
    if recorded is None or recorded.run.id != run:
        screen.app.push_screen(ExamScreen(run))


def _right(row: ProbeFigures) -> str:
    if row.probe.right is None:
        return _("unmoved")
    return _("yes") if row.probe.right else _("no")


def _mistakes(row: ProbeFigures) -> GridCell:
    text = in_percent(row.error) if row.examined else percent(row.error.value)
    return GridCell(
        text, "bad" if row.misses and row.examined else "plain" if row.examined else "muted"
    )


class MissesScreen(ListScreen[MarkedAnswer]):
    """The mistakes on one probe's items."""

    LIVE = TELLS = False
    BINDINGS = keys(
        Key("misses.open", Means.OPEN, "open", N_("Read"), N_("Both inputs side by side")),
        Key("misses.back", Means.UP_ONE, "leave", N_("Back"), N_("Back to the probes")),
    )  # fmt: skip

    def __init__(self, title: str, misses: Sequence[MarkedAnswer]) -> None:
        super().__init__()
        self._titled, self._misses = title, tuple(misses)

    def columns(self) -> Sequence[Column[MarkedAnswer]]:
        return (
            Column(N_("Gold"), lambda row: row[1].target.gold, grow=2, least=14),
            Column(N_("Handed in"), lambda row: row[1].target.given or _("(left out)"), grow=3, least=16),
            Column(N_("Judge says"), lambda row: _(DECISION_WORDS[row[1].decision])),
            Column(N_("Task"), lambda row: row[0].given.task.title, grow=1, least=12),
        )  # fmt: skip

    def key(self, row: MarkedAnswer) -> Hashable:
        return row[0].task_id, row[0].given.key, row[1].target.at

    async def read(self) -> Sequence[MarkedAnswer]:
        return self._misses

    def empty(self) -> EmptyState:
        told = _("The judge was right on every item of this probe.")
        return EmptyState(_("No mistake"), told, ("esc", _("Back to the probes")))

    def title_words(self) -> str:
        n = len(self._misses)
        return f"{self._titled} · {ngettext('{n} mistake', '{n} mistakes', n).format(n=n)}"

    def action_open(self) -> None:
        self.read_on(InputsScreen)


class InputsScreen(RowScreen[MarkedAnswer]):
    """Both inputs of a miss beside each other."""

    AUTO_FOCUS = "#right"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    DEFAULT_CSS = """
    InputsScreen {
        #title { height: 1; background: $panel; color: $primary; text-style: bold; padding: 0 1; }
        #sides { height: 1fr; }
        #sides VerticalScroll { width: 1fr; height: 1fr; border-title-color: $primary; }
        &.-wide #sides { layout: horizontal; }
    }
    """
    BINDINGS = keys(
        Key("inputs.next", (Means.NEXT, Means.OPEN), "step(1)", N_("Next"), N_("The next mistake")),
        Key("inputs.before", Means.BEFORE, "step(-1)", N_("Before"), N_("The mistake before")),
        Key("inputs.back", Means.UP_ONE, "leave", N_("Back"), N_("Back to the list")),
    )  # fmt: skip

    def compose(self) -> ComposeResult:
        yield HeadLine("", id="title", markup=False)
        with Container(id="sides"):
            for side in ("left", "right"):
                with VerticalScroll(id=side, classes="pane"):
                    yield Paragraphs()
        yield KeyBar()

    def show(self) -> None:
        title = one_line(f"{self.place} · {_heading(self.row)}")
        self.query_one("#title", Static).update(title)
        for side, (title, told) in zip(("left", "right"), _sides(self.row), strict=True):
            pane = self.query_one(f"#{side}", VerticalScroll)
            pane.border_title = title
            pane.query_one(Paragraphs).load(told)
        super().show()


def _heading(chosen: MarkedAnswer) -> str:
    """Which probe, in which task, and what the judge said of what should be said."""
    each, mark = chosen
    name = each.probe.label if each.probe else each.given.key
    said = _("{said} instead of {expected}").format(
        said=_(DECISION_WORDS[mark.decision]), expected=_(DECISION_WORDS[mark.expected])
    )
    return f"{name} · {each.given.task.title} · {said}"


def _sides(
    chosen: MarkedAnswer,
) -> tuple[tuple[str, Sequence[Paragraph]], tuple[str, Sequence[Paragraph]]]:
    """Both inputs with their titles: gold, or the input that this one is held against, and the input itself."""
    each, mark = chosen
    right = (_("What it was given"), list(_told(each.given, each.judgement, mark.target.at)))
    if each.base is None:
        lines = [Paragraph(mark.target.gold, "strong"), Paragraph("")]
        expected = _("Right is: {decision}").format(decision=_(DECISION_WORDS[mark.expected]))
        asked = each.given.task
        rest = [*map(Paragraph, asked.gold.lines), Paragraph(""), Paragraph(asked.query, "muted")]
        return (_("Gold"), [*lines, Paragraph(expected), Paragraph(""), *rest]), right
    base = list(_told(each.base, each.before, mark.target.at))
    return (_("What it is held against"), base), right


def _told(given: ExamInput, judgement: Judgement | None, at: str) -> Iterator[Paragraph]:
    target = next((target for target in given.targets if target.at == at), None)
    if target is not None:
        yield Paragraph(target.given or _("(left out)"), "strong")
        yield Paragraph("")
        verdicts = judgement.verdicts if judgement else ()
        verdict = next((v for v in verdicts if v.item == target.item), None)
        decision = verdict.decision if verdict else Decision.UNJUDGED
        yield Paragraph(_("The judge: {decision}").format(decision=_(DECISION_WORDS[decision])))
        if verdict is not None and verdict.rationale:
            yield Paragraph(verdict.rationale, "muted")
        yield Paragraph("")
    for line in given.prediction.listing:
        told = target.given.split("; ") if target is not None and target.given else ()
        marked = any(text in line.replace(" · ", " — ") for text in told)
        yield Paragraph(line, "strong" if marked else "plain")

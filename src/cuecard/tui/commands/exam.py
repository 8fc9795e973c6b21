"""`cuecard exam`: a judge sits an exam made from gold by rule; its card, and a gate on it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.i18n import N_, _, headed, plural
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.judging import Progress, config_for, confirm_calls
from cuecard.tui.commands.output import note
from cuecard.tui.commands.verb import TABLES, Budget, DryRun, Help, Page, Result, verb

if TYPE_CHECKING:
    from cuecard.annotate.results.judge_card import Card
    from cuecard.annotate.results.judge_gates import Gate
    from cuecard.core.config import Config
    from cuecard.core.evaluation.exam import ExamPlan
    from cuecard.core.evaluation.judging import JudgeFailure
    from cuecard.core.records import RunRecord


@verb("cuecard exam strict --fail-if 'flip>0.05'", *TABLES, holds=True)
def exam(
    ours: Context,
    judge: Annotated[str, Help(N_("A judge of cuecard.yaml, or an embedded one"), metavar="JUDGE")],
    tasks: Annotated[
        Sequence[str], Help(N_("Ids of tasks; none means all in use"), metavar="TASK")
    ] = (),
    *,
    against: Annotated[
        str, N_("A second judge, or the number of an exam's run, to hold beside it")
    ] = "",
    fail_if: Annotated[
        Sequence[str],
        N_(
            "Exit 1 if this holds, such as flip>0.05, specificity<0.95, V06>0, fault, or a fault's name; may be repeated"
        ),
    ] = (),
    known: Annotated[bool, N_("Only show what is recorded; ask nothing")] = False,
    again: Annotated[bool, N_("A new exam, whatever is recorded of this judge")] = False,
    seed: Annotated[int, Help(N_("Other items are drawn with another seed"), min=0)] = 0,
    yes: Annotated[bool, N_("Call models without asking")] = False,
    budget: Budget = None,
    dry_run: DryRun = False,
) -> Result:
    gates = _gates(fail_if)
    room = _Room(ours, tuple(tasks), seed, known, again, yes, budget)
    if dry_run:
        return Result(room.plan(judge, config_for(ours, [judge])).summary)
    card = room.card(judge)
    other = room.card(against) if against else None
    failed = [(gate, why) for gate in gates if (why := gate.failed(card.figures))]

    def remarks() -> None:
        for line in room.remarks:
            note(line)
        for gate, why in failed:
            note(_("Failed by {gate}: {why}").format(gate=gate.text, why=why))

    return Result(
        _page(card, other),
        lambda: _data(card, other, failed),
        code=1 if failed or room.stopped else 0,
        remarks=remarks,
    )


def _gates(texts: Sequence[str]) -> list[Gate]:
    from cuecard.annotate.results.judge_gates import gate_of

    try:
        return [gate_of(text) for text in texts]
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--fail-if") from None


def _page(card: Card, other: Card | None) -> Page:
    from cuecard.annotate.results.judge_card import compared_table

    if other is None:
        return Page(list(card.tables()), card.title, list(card.facts()))
    facts = [headed(each.name, fact) for each in (card, other) for fact in list(each.facts())[1:]]
    title = _("Exams of {one} and {other}").format(one=card.name, other=other.name)
    return Page([compared_table(card, other)], title, facts)


def _data(card: Card, other: Card | None, failed: Sequence[tuple[Gate, str]]) -> dict[str, object]:
    from cuecard.annotate.results.judge_card import compared_table
    from cuecard.annotate.results.judge_gates import card_json
    from cuecard.core.tables.texts import table_data

    told = card_json(card) | {
        "failed": [{"condition": gate.text, "why": why} for gate, why in failed]
    }
    if other is not None:
        told |= {"against": card_json(other), "compared": table_data(compared_table(card, other))}
    return told


@dataclass
class _Room:
    """Where judges sit exams: what is asked of all of them. `stopped`: whether something is left to be judged."""

    ours: Context
    tasks: tuple[str, ...]
    seed: int
    known: bool
    again: bool
    yes: bool
    budget: float | None
    stopped: bool = False

    def __post_init__(self) -> None:
        self.remarks: list[str] = []

    def card(self, name: str) -> Card:
        """The card of a judge, whose exam is sat first where it is not recorded, or of an exam's run by its number."""
        from cuecard.annotate.results.judge_card import Card
        from cuecard.core.errors import NotFound
        from cuecard.core.evaluation.exam import read_exam

        workspace = self.ours.workspace
        if name.isdigit():
            return Card(read_exam(workspace, int(name), self.tasks))
        config = config_for(self.ours, [name])
        plan = self.plan(name, config)
        run = plan.run
        if self.known and run is None:
            why = _("`cuecard exam {judge}` has it sit one.").format(judge=name)
            raise NotFound(_("This judge, as it is configured now, has sat no exam"), name, why)
        if not self.known and plan.left:
            run = self._sit(name, plan, config)
        assert run is not None
        self.remarks += (headed(task, why) for task, why in plan.skipped.items())
        ids = [sheet.task_id for sheet in plan.sheets]
        return Card(read_exam(workspace, run.id, ids, plan.sheets), config.currency)

    def plan(self, name: str, config: Config) -> ExamPlan:
        from cuecard.core.evaluation.exam import plan_exam

        workspace = self.ours.workspace
        ids = self.tasks or tuple(line.id for line in workspace.tasks.summaries())
        return plan_exam(workspace, name, ids, config=config, seed=self.seed, again=self.again)

    def _sit(self, name: str, plan: ExamPlan, config: Config) -> RunRecord:
        if plan.calls:
            self._ask(plan.summary)
        run, failures = asyncio.run(self._judged(name, plan, config))
        if failures:
            self.stopped = True
            reasons = dict.fromkeys(failure.reason for failure in failures)
            told = plural(
                "{n} input was not judged; the same again goes on there. {why}",
                "{n} inputs were not judged; the same again goes on there. {why}",
                len(failures),
                why=_("; ").join(list(reasons)[:3]),
            )
            self.remarks.append(told)
        return run

    def _ask(self, text: str) -> None:
        """Say what the exam takes, and ask unless that was answered."""
        if self.yes or self.budget is not None:
            note(text)
        else:
            confirm_calls(text)

    async def _judged(
        self, name: str, plan: ExamPlan, config: Config
    ) -> tuple[RunRecord, tuple[JudgeFailure, ...]]:
        from cuecard.core.engine.run_control import RunControl
        from cuecard.core.evaluation.exam import run_exam
        from cuecard.tui.commands.run_output import stopping

        control = RunControl()
        with stopping(control), Progress(config.currency) as progress:
            progress.begin(name)
            found = await run_exam(
                self.ours.workspace,
                plan,
                config=config,
                by=self.ours.person,
                budget=self.budget,
                control=control,
                on_progress=progress.moved,
                on_call=progress.called,
            )
        progress.report()
        return found

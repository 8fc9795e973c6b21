"""Whose fault a failed trial is: parties, proposals by a model or by rule, and what people say, kept as notes on the trial."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, get_args
from uuid import uuid4

from pydantic import BaseModel, Field, ValidationError

from cuecard.core.archive import outlast
from cuecard.core.config import Config, Prompt, find_prompt
from cuecard.core.engine.events import AgentSpoke, Event, ToolAnswered, UserSpoke
from cuecard.core.engine.messages import ModelReply
from cuecard.core.engine.run_control import RunControl
from cuecard.core.engine.step_context import RecordingCalls
from cuecard.core.engine.trial import prediction_of
from cuecard.core.errors import CuecardError
from cuecard.core.evaluation.items import gold_item, predicted_items
from cuecard.core.evaluation.judging import OnProgress, judge_each
from cuecard.core.evaluation.sharing import Meter, within_limits
from cuecard.core.i18n import N_, _
from cuecard.core.records import NoteKind, TrialNote, TrialRecord
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task, TaskLanguage
from cuecard.core.text import normalise, one_line, storable
from cuecard.core.verdicts import Decision, Judgement

if TYPE_CHECKING:
    from cuecard.core.archive import Archive
    from cuecard.core.llm.client import ChatClient


class Party(StrEnum):
    """Who may be at fault when a trial fails. Exactly one is named: the one without whose fault it would have passed."""

    AGENT = "agent"
    USER = "user"
    TASK = "task"
    WORLD = "world"
    JUDGE = "judge"

    @property
    def label(self) -> str:
        return _(_LABELS[self][0])

    @property
    def rule(self) -> str:
        """When it is this one's fault, in a sentence."""
        return _(_LABELS[self][1])


_LABELS = {
    Party.AGENT: (
        N_("Agent"),
        N_("all it needed was there to be asked for or found, and it did not"),
    ),
    Party.USER: (N_("User"), N_("it gave away, withheld or invented what its card says otherwise")),
    Party.TASK: (
        N_("Task"),
        N_("gold is wrong or incomplete, or the wording asks for something else"),
    ),
    Party.WORLD: (N_("World"), N_("tools failed, or what was needed could not be found")),
    Party.JUDGE: (N_("Judge"), N_("what was handed in is right, and was judged as wrong")),
}
_KINDS: tuple[NoteKind, ...] = ("blame", "blame_proposed")
RULE = "rule"
"""The name of the proposer without a model, a baseline."""
_QUOTE, _REASON, _LINE = 300, 600, 1200
_ITEMS = 60
_NAMED = 5000


class Blame(Frozen):
    """One statement. `by`: a person; for a proposal, the model and the hash of its prompt, or `RULE`. `evidence`: quoted
    from the record.
    """

    trial_id: int
    party: Party
    by: str
    proposed: bool = False
    reason: str = ""
    evidence: tuple[str, ...] = ()


class _ProposalNote(Frozen):
    """What a proposal's note holds as its text."""

    by: str
    reason: str = ""
    evidence: tuple[str, ...] = ()


def blames_of(workspace: Archive, trial_ids: Sequence[int]) -> list[Blame]:
    """The newest of each person, and of each proposer, on each of these trials, in the order of trials and names."""
    newest: dict[tuple[int, bool, str], Blame] = {}
    # A query cannot name any number of trials.
    wanted = frozenset(trial_ids)
    few = wanted if len(wanted) <= _NAMED else None
    for note in workspace.trial_notes.of(few, _KINDS):
        if note.trial_id in wanted and (blame := blame_in(note)) is not None:
            newest[blame.trial_id, blame.proposed, blame.by] = blame
    return [newest[key] for key in sorted(newest)]


def blame_in(note: TrialNote) -> Blame | None:
    """What a note of these kinds says; None where no party can be read from it."""
    try:
        party = Party(note.place)
        if note.kind == "blame":
            return Blame(trial_id=note.trial_id, party=party, by=note.person, reason=note.text)
        said = _ProposalNote.model_validate_json(note.text)
    except (ValueError, ValidationError):
        return None
    return Blame(trial_id=note.trial_id, party=party, proposed=True, **said.model_dump())


def by_rule(events: Sequence[Event], judgement: Judgement | None) -> Blame:
    """What can be told without a model, as a baseline: the judge where it left most items open, the user where one of
    its turns carries a fault's mark, the world where most tool calls failed, else the agent. `trial_id` is 0.
    """
    decided = [verdict.decision for verdict in judgement.verdicts] if judgement else []
    if not judgement or 2 * decided.count(Decision.UNJUDGED) > len(decided):
        return Blame(trial_id=0, party=Party.JUDGE, by=RULE, proposed=True)
    for event in events:
        if isinstance(event.body, UserSpoke) and event.body.reply.flags:
            flags = ", ".join(flag.kind for flag in event.body.reply.flags)
            quote = one_line(event.body.reply.text, _QUOTE)
            return Blame(
                trial_id=0,
                party=Party.USER,
                by=RULE,
                proposed=True,
                reason=flags,
                evidence=(quote,),
            )
    calls = [event.body for event in events if isinstance(event.body, ToolAnswered)]
    failed = [call for call in calls if not call.answer.ok]
    if failed and 2 * len(failed) > len(calls):
        quote = one_line(failed[0].answer.text, _QUOTE)
        return Blame(trial_id=0, party=Party.WORLD, by=RULE, proposed=True, evidence=(quote,))
    return Blame(trial_id=0, party=Party.AGENT, by=RULE, proposed=True)


class _Answer(BaseModel):
    """Whose fault it is that the trial failed."""

    evidence: list[str] = Field(default_factory=list[str], description="short verbatim quotations")
    reason: str = ""
    fault: Literal["agent", "user", "task", "world", "judge"]


class BlameProposals(Frozen):
    """The result of `propose`. `before`: trials that this proposer had spoken of earlier; `failures`: reasons by trial;
    `halt`: why asking had to stop, "" if it did not.
    """

    asked: int
    before: int
    failures: dict[int, str] = {}
    halt: str = ""


@dataclass(frozen=True)
class _Case:
    trial: TrialRecord
    task: Task
    events: tuple[Event, ...]
    judgement: Judgement | None


async def propose(
    workspace: Archive,
    trial_ids: Sequence[int],
    person: str,
    judge: str,
    model: str,
    config: Config,
    *,
    concurrency: int = 4,
    budget: float | None = None,
    on_progress: OnProgress | None = None,
) -> BlameProposals:
    """Have the configuration's model `model` (or `RULE`) propose whose fault each of these failed trials is, and keep it
    under the name of `person`, who has it done. `judge`: whose verdicts it is shown. What the same model said with the
    same prompt is not asked again, so a second call goes on where the first stopped. `budget`: what the calls may cost.

    Raises `NotFound`, and `ConfigError` for an unknown model or an unusable prompt.
    """
    from cuecard.core.llm.hub import ModelHub

    control = RunControl()
    meter = Meter(0.0, budget, control)
    hub = ModelHub(config)
    cases, before = await asyncio.to_thread(_cases, workspace, trial_ids, judge, model, config)
    client = None if model == RULE else hub.client(model)

    async def one(case: _Case) -> None:
        control.check()
        blame = by_rule(case.events, case.judgement)
        if client is not None:
            blame, calls = await _asked(case, client, model, config)
            for call in calls:
                meter.add(call.cost)
        said = _ProposalNote(by=blame.by, reason=blame.reason, evidence=blame.evidence)
        note = (case.trial.id, person, "blame_proposed", blame.party.value, said.model_dump_json())
        await outlast(workspace, workspace.trial_notes.add, *note, uuid4().hex)

    try:
        async with within_limits(workspace, hub, control=control):
            failed = await judge_each(cases, one, max(concurrency, 1), on_progress)
    finally:
        await hub.close()
    return BlameProposals(
        asked=len(cases) - len(failed),
        before=before,
        failures={cases[n].trial.id: trouble.reason for n, trouble in failed.items()},
        halt=next((trouble.reason for trouble in failed.values() if trouble.halted), ""),
    )


def _cases(
    workspace: Archive, trial_ids: Sequence[int], judge: str, model: str, config: Config
) -> tuple[list[_Case], int]:
    """The trials that this proposer has not spoken of, and how many it has."""
    known = {(blame.trial_id, blame.by) for blame in blames_of(workspace, trial_ids)}
    proposer = _proposer(model, config)
    cases: list[_Case] = []
    for id_ in dict.fromkeys(trial_ids):
        trial = workspace.runs.trial(id_)
        task = workspace.tasks.revision(trial.task_id, trial.revision).task
        if (id_, proposer) in known:
            continue
        newest = (
            record.judgement
            for record in workspace.verdicts.of_trial(id_)
            if record.judgement.judge.name == judge
        )
        events = tuple(workspace.runs.events(id_))
        cases.append(_Case(trial, task, events, next(newest, None)))
    return cases, len(set(trial_ids)) - len(cases)


def _prompt(task: Task, config: Config) -> Prompt:
    return find_prompt("blame", task.language, config, {})


def _proposer(model: str, config: Config) -> str:
    """One for both languages, whose prompts go together."""
    if model == RULE:
        return RULE
    both = (find_prompt("blame", language, config, {}).hash for language in get_args(TaskLanguage))
    return f"{model} {sha256(''.join(both).encode()).hexdigest()[:8]}"


def _plain(text: str) -> str:
    """A text as it is compared, whether it was taken out of JSON or read in it."""
    return normalise(text.replace("\\n", " ").replace('\\"', '"'))


async def _asked(
    case: _Case, client: ChatClient, model: str, config: Config
) -> tuple[Blame, tuple[ModelReply, ...]]:
    from cuecard.core.llm import wire
    from cuecard.core.llm.structured import ask_structured

    prompt = _prompt(case.task, config)
    material = material_of(case.task, case.events, case.judgement)
    shown = _plain(material)
    context = RecordingCalls()

    def check(answer: _Answer) -> str:
        if any(_plain(quote) and _plain(quote) in shown for quote in answer.evidence):
            return ""
        if case.task.language == "zh":
            return "evidence 中至少要有一处逐字引自材料。"
        return "At least one entry of evidence must be quoted from the material word for word."

    answer = await ask_structured(
        client,
        [wire.user(prompt.render(material=material))],
        _Answer,
        context,
        prompt=prompt,
        language=case.task.language,
        check=check,
    )
    if answer.value is None:
        # What it was told of its answer is in the language of the task.
        why = _("it names no party, quotes nothing of the trial word for word, or was cut")
        raise CuecardError(_("The model gave no usable answer"), why)
    quotes = (one_line(storable(quote), _QUOTE) for quote in answer.value.evidence)
    found = Blame(
        trial_id=case.trial.id,
        party=Party(answer.value.fault),
        by=_proposer(model, config),
        proposed=True,
        reason=one_line(storable(answer.value.reason), _REASON),
        evidence=tuple(quote for quote in quotes if _plain(quote) in shown),
    )
    return found, tuple(context.heard)


def material_of(task: Task, events: Sequence[Event], judgement: Judgement | None) -> str:
    """What a proposer sees, as JSON: the query, the user's card, the dialogue with failed tool calls, what was handed in,
    and the gold items that were not found with the judge's reasons; long texts are cut.
    """
    said: list[dict[str, object]] = []
    for event in events:
        match event.body:
            case UserSpoke(reply=reply, turn=turn):
                said.append({"turn": turn, "user": _cut(reply.text)})
            case AgentSpoke(reply=reply, turn=turn):
                said.append({"turn": turn, "agent": _cut(reply.text)})
            case ToolAnswered(answer=answer, turn=turn, call=call) if not answer.ok:
                said.append({"turn": turn, "tool failed": call.name, "said": _cut(answer.text)})
            case _:
                pass
    prediction = prediction_of(events)
    missed = [
        {"gold": gold_item(task, verdict.item).text, "judge": _cut(verdict.rationale)}
        for verdict in (judgement.verdicts if judgement else ())
        if verdict.decision is not Decision.YES
    ]
    persona = task.persona
    return json.dumps(
        {
            "query": task.query,
            "card": [stage.line for stage in persona.stages] if persona else [],
            "dialogue": said,
            "handed_in": [_cut(item.text) for item in predicted_items(prediction)[:_ITEMS]],
            "missed": missed[:_ITEMS],
        },
        ensure_ascii=False,
        indent=1,
    )


def _cut(text: str) -> str:
    return one_line(text, _LINE)

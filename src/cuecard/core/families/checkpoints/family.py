"""What the engine knows of checkpoint tasks: sub-questions in order, some ambiguous on purpose (DiscoBench).

The offline agent goes one step after the other, and asks where several readings are on record.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from cuecard.core.agents.briefing import ANSWER, ASK, Approach, PublicTask
from cuecard.core.agents.offline_search import Notes, Searcher, answered_value, did_you_mean, say
from cuecard.core.config_players import Settings
from cuecard.core.engine.events import Event
from cuecard.core.engine.messages import Act, AgentReply, Dialogue
from cuecard.core.engine.trial_log import user_turns
from cuecard.core.families import common
from cuecard.core.families.checkpoints.gold import Checkpoint, CheckpointChain
from cuecard.core.families.checkpoints.score import CHECKPOINT_MEASURES, score_checkpoints, steps_of
from cuecard.core.families.registry import CoreFamily
from cuecard.core.i18n import N_
from cuecard.core.predictions import Prediction
from cuecard.core.rescoring import answer_changes
from cuecard.core.scoring.trial_score import StepFigures
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.text import (
    clauses,
    contains_term,
    content_words,
    coverage,
    is_negated,
    keywords,
    normalise,
    shared_words,
    without_terms,
)
from cuecard.core.worlds.background import Secrets
from cuecard.core.worlds.finding import Index
from cuecard.core.worlds.indexes import StepIndex
from cuecard.core.worlds.statements import (
    Form,
    ParsedStatement,
    Statement,
    Step,
    final_answers,
    names_any,
    public_text,
)

_MAX_LEADS = 8
_AND = re.compile(r"\s+and\s+|[和与]|以及")
_REJECTED = re.compile(
    r"\b(?:wrong|incorrect|look again)\b|不对|不是|不符|(?<!没)错|再查", re.IGNORECASE
)
_ACCEPTED = re.compile(r"没错|没问题|\bno (?:problem|doubt)\b", re.IGNORECASE)


@dataclass
class Progress:
    """How far the agent has come, derived from the dialogue.

    `accepted`: the answers that the user accepted, in order. `refused`: those that it refused at the current step.
    `clues`: what it said when the agent asked at this step.
    """

    accepted: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    clues: list[str] = field(default_factory=list)


def progress_of(dialogue: Dialogue, language: TaskLanguage) -> Progress:
    progress = Progress()
    said = dialogue.messages
    for message, following in pairwise(said):
        if message.role != "agent":
            continue
        if message.act is Act.ASK:
            progress.clues.append(following.text)
        elif message.act is Act.ANSWER:
            value = answered_value(language, message.text)
            if _is_rejection(following.text):
                progress.refused.append(value)
            else:
                progress.accepted.append(value)
                progress.refused, progress.clues = [], []
    return progress


def _is_rejection(text: str) -> bool:
    if _REJECTED.search(text):
        return True
    return is_negated(text) and not _ACCEPTED.search(text)


@dataclass(frozen=True)
class _Result:
    """A value, or readings, on record for a topic."""

    topic: str
    value: str = ""
    readings: tuple[str, ...] = ()


async def answer(public: PublicTask, dialogue: Dialogue, searcher: Searcher) -> AgentReply:
    """One turn of the agent: answers with the current step's value, or asks if several readings are on record."""
    language = public.language
    progress = progress_of(dialogue, language)
    results = await _results(searcher, dialogue, progress)
    for result in results:
        if result.value and not _among(result.value, progress.refused):
            return _answer(language, result.topic, result.value)
    for result in results:
        if not result.readings:
            continue
        if not progress.clues:
            text = did_you_mean(language, result.readings)
            return AgentReply(text=text, act=Act.ASK)
        reply = await _by_clue(searcher, language, progress, result)
        if reply is not None:
            return reply
    what = keywords(progress.accepted[-1] if progress.accepted else _opening(dialogue))
    return AgentReply(text=say(language, "stuck", what=what[:80]))


async def _results(searcher: Searcher, dialogue: Dialogue, progress: Progress) -> list[_Result]:
    """The results of searching for the current step, with the latest accepted answer in the queries."""
    anchor = progress.accepted[-1] if progress.accepted else ""
    found: list[_Result] = []
    topics: dict[str, str] = {}

    def sort(told: tuple[ParsedStatement, ...], anchor: str) -> None:
        for said in told:
            if said.form is Form.TOPICS:
                topics.update((item, f"{anchor} {item}".strip()) for item in said.items)
            elif said.form is Form.STATEMENT and not _among(said.value, progress.accepted):
                found.append(_Result(said.attribute, value=said.value))
            elif said.form is Form.READINGS and not _settled(said.items, progress.accepted):
                found.append(_Result(said.attribute, readings=said.items))

    if anchor:
        sort(await searcher.search(anchor), anchor)
    if not topics and not found:
        for lead in _leads(_opening(dialogue)):
            sort(await searcher.search(lead), "")
            if found or topics:
                break
    for query in tuple(topics.values()):
        sort(await searcher.search(" ".join((query, *progress.clues))), anchor)
        if found:
            break
    return found


async def _by_clue(
    searcher: Searcher, language: TaskLanguage, progress: Progress, result: _Result
) -> AgentReply | None:
    """The answer after a clue: search with the clue, or else take the reading that fits it best."""
    anchor = progress.accepted[-1] if progress.accepted else ""
    clue = content_words("\n".join(progress.clues))
    open_readings = [r for r in result.readings if not _among(r, progress.refused)]
    nearest = sorted(open_readings, key=lambda r: -len(shared_words(content_words(r), clue)))
    for query in (" ".join(progress.clues), *nearest):
        for said in await searcher.search(f"{anchor} {result.topic} {query}".strip()):
            fresh = said.form is Form.STATEMENT and not _among(said.value, progress.refused)
            if fresh and not _among(said.value, progress.accepted):
                return _answer(language, result.topic, said.value)
    return _answer(language, result.topic, nearest[0]) if nearest else None


def _answer(language: TaskLanguage, topic: str, value: str) -> AgentReply:
    evidence = say(language, "evidence", topic=topic, value=value)
    text = f"{say(language, 'answer', value=value)}\n{evidence}"
    return AgentReply(text=text, act=Act.ANSWER)


def _opening(dialogue: Dialogue) -> str:
    opened = dialogue.of("user")
    return opened[0].text if opened else ""


def _leads(opening: str) -> list[str]:
    """The opening question as a whole, then its clauses, then their parts."""
    parts = clauses(opening)
    halves = [half for part in parts for half in _AND.split(part) if content_words(half)]
    return list(dict.fromkeys((opening, *parts, *halves)))[:_MAX_LEADS]


def _among(value: str, others: list[str]) -> bool:
    return any(normalise(value) == normalise(other) for other in others)


def _settled(readings: tuple[str, ...], accepted: list[str]) -> bool:
    """Whether one of the readings was accepted already, so that they belong to an earlier step."""
    return any(contains_term(value, reading) for value in accepted for reading in readings)


_BACK_REFERENCE = re.compile(
    r"\b(?:that|this|these|those|it|its|his|her|their|he|she|him|them|there|then|same|former|latter)\b"
    "|[这那该其他她它此]",
    re.IGNORECASE,
)


def _statements(
    chain: CheckpointChain, answers: tuple[str, ...], public: str
) -> Iterator[Statement]:
    banned = {name for step in chain.steps for name in step.names}
    banned.update(name for s in chain.steps if s.ambiguity for name in s.ambiguity.candidates)
    banned.update(answers)
    hidden = [name for name in banned if name in answers or not contains_term(public, name)]
    for index, checkpoint in enumerate(chain.steps):
        topic = keywords(without_terms(checkpoint.question, hidden)) or keywords(
            checkpoint.question
        )
        anchors = _anchors(chain, index)
        ambiguity = checkpoint.ambiguity
        if ambiguity:
            listed = "; ".join(ambiguity.candidates)
            yield Statement(
                key=f"checkpoint/{index}/readings",
                subject=anchors[:1],
                attribute=topic,
                value=listed,
                value_aliases=ambiguity.candidates,
                secret=names_any("\n".join((topic, *ambiguity.candidates)), answers),
                step=Step(
                    index=index, question=checkpoint.question, anchors=anchors, lists_readings=True
                ),
            )
        yield Statement(
            key=f"checkpoint/{index}",
            subject=anchors[:1],
            attribute=topic,
            value=checkpoint.target,
            value_aliases=checkpoint.aliases,
            secret=names_any("\n".join((topic, *checkpoint.names)), answers),
            step=Step(
                index=index,
                question=checkpoint.question,
                anchors=anchors,
                clue=ambiguity.clue if ambiguity else "",
                reading=_meant(checkpoint),
            ),
        )


def _anchors(chain: CheckpointChain, index: int) -> tuple[tuple[str, ...], ...]:
    """The targets of earlier steps that the question of a step refers to; none if it can be asked alone."""
    question = chain.steps[index].question
    earlier = [step.names for step in reversed(chain.steps[:index])]
    named = [names for names in earlier if names_any(question, names)]
    if named or _BACK_REFERENCE.search(question):
        return tuple(dict.fromkeys((*earlier[:1], *named, *earlier)))
    return ()


def _meant(checkpoint: Checkpoint) -> str:
    """The candidate that target and clue point to, if exactly one does."""
    if checkpoint.ambiguity is None:
        return ""
    candidates = checkpoint.ambiguity.candidates
    targets = [c for c in candidates if any(contains_term(n, c) for n in checkpoint.names)]
    if targets:
        return targets[0] if len(targets) == 1 else ""
    evidence = content_words(f"{' '.join(checkpoint.names)} {checkpoint.ambiguity.clue}")
    scored = sorted(((coverage(content_words(c), evidence), c) for c in candidates), reverse=True)
    return scored[0][1] if scored[0][0] > scored[1][0] else ""


_CHECKPOINTS = {
    "neutral": "react_checkpoints",
    "guided": "react_checkpoints_guided",
    "no_search": "react_checkpoints_no_search",
    "no_ask": "react_checkpoints_no_ask",
}


def _approach(_chain: CheckpointChain, settings: Settings) -> Approach:
    """The agent's prompts and tools in DiscoBench's settings: told to ask, not told, without search, without asking."""
    setting = settings.checkpoints
    own = (ANSWER,) if setting == "no_ask" else (ASK, ANSWER)
    return Approach(_CHECKPOINTS[setting], own, world_tools=setting != "no_search")


def _steps(chain: CheckpointChain, events: Sequence[Event]) -> tuple[StepFigures, ...]:
    found: list[StepFigures] = []
    for record in steps_of(chain, events):
        ambiguity = chain.steps[record.checkpoint].ambiguity
        found.append(
            StepFigures(record=record, ambiguity=ambiguity.type.value if ambiguity else "")
        )
    return tuple(found)


def _statuses(events: Sequence[Event]) -> dict[str, int]:
    read = (spoke.reply.status for spoke in user_turns(events) if spoke.turn > 0)
    return dict(Counter(status.value for status in read if status is not None))


def _conclude(public: PublicTask, dialogue: Dialogue, notes: Notes) -> Prediction:
    accepted = progress_of(dialogue, public.language).accepted
    last = next(reversed(notes.facts), None)
    return common.hand_in_answer(accepted[-1] if accepted else last.value if last else "")


def _index(_chain: CheckpointChain, secrets: Secrets) -> Index:
    return StepIndex(secrets.statements)


def _effective(chain: CheckpointChain) -> Mapping[str, object]:
    return {
        N_("the opening question"): chain.opening,
        N_("the checkpoints"): [step.model_copy(update={"sources": ()}) for step in chain.steps],
        N_("what must not be said"): chain.forbidden,
    }


CHECKPOINTS = CoreFamily(
    name="checkpoints",
    gold=CheckpointChain,
    label=N_("Checkpoint tasks"),
    measures=CHECKPOINT_MEASURES,
    headlines=("acc", "cp", "det_f1"),
    main="acc",
    known_by="acc",
    bar=("acc", 1.0),
    judged=CHECKPOINT_MEASURES,
    of_log=(),
    score=lambda _task, chain, _prediction, events, judgement: score_checkpoints(
        chain, events, judgement
    ),
    figures=lambda chain, _prediction, events, _judgement: {
        "steps": _steps(chain, events),
        "statuses": _statuses(events),
    },
    handed_in="answer",
    read=common.read_answer,
    read_json=common.read_json_answer,
    conclusion="conclude_checkpoints",
    from_memory="probe_hand_in_checkpoints",
    judge=lambda _task, chain, prediction: common.judge_by_letters(
        chain, prediction, chain.steps[-1].question
    ),
    ask=common.ask_about_answer,
    judge_prompts=("judge_answer",),
    refuse=common.refuse,
    item=common.answer_item,
    item_text=common.answer_text,
    target=lambda chain: chain.answers,
    approach=_approach,
    columns=common.no_columns,
    offline=answer,
    calls=12,
    conclude=_conclude,
    statements=lambda task, chain: tuple(
        _statements(chain, final_answers(task), public_text(task))
    ),
    index=_index,
    entities=False,
    topics=False,
    chain=lambda chain: chain,
    facts=common.no_facts,
    changes=answer_changes,
    effective=_effective,
    carry=common.carry_whole,
)

"""The offline agent on checkpoint tasks: one step after the other, asking where several readings are on record."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from cuecard.core.agents.briefing import PublicTask
from cuecard.core.agents.offline_search import Searcher, answered_value, did_you_mean, say
from cuecard.core.engine.messages import Act, AgentReply, Dialogue
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.text import (
    clauses,
    contains_term,
    content_words,
    is_negated,
    keywords,
    normalise,
    shared_words,
)
from cuecard.core.worlds.statements import Form, ParsedStatement

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

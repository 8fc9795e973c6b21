"""What the engine knows of facts tasks (Mind-ParaWorld): a closed world of atomic facts, and scores.

The offline agent answers by very simple rules: a weak baseline on purpose.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from cuecard.core.agents.briefing import Approach, PublicTask
from cuecard.core.agents.offline_search import Notes, Searcher, SearchResult
from cuecard.core.config_players import Settings
from cuecard.core.engine.events import Concluded, Event
from cuecard.core.engine.messages import AgentReply, Dialogue
from cuecard.core.engine.trial_log import agent_tool_answers
from cuecard.core.families import common
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.families.graph import play
from cuecard.core.families.registry import CoreFamily
from cuecard.core.i18n import N_, _
from cuecard.core.predictions import Prediction
from cuecard.core.rescoring import answer_changes
from cuecard.core.scoring.trial_score import MAX_K, FactFigures
from cuecard.core.text import content_words, coverage, one_line, questions
from cuecard.core.verdicts import Judgement, Measure, score_answer, share
from cuecard.core.worlds.statements import Statement, final_answers, names_any

_EASY_MOST = 5
_MID_MOST = 10


class Tier(StrEnum):
    """Difficulty by the number of facts."""

    EASY = "easy"
    MID = "mid"
    HARD = "hard"


def tier_of_count(facts: int) -> Tier:
    """The tier of a world (Mind-ParaWorld): easy with 1-5 facts, mid with 6-10, hard with 11 and more."""
    return Tier.EASY if facts <= _EASY_MOST else Tier.MID if facts <= _MID_MOST else Tier.HARD


def score_facts(
    world: FactWorld, events: Sequence[Event], judgement: Judgement
) -> tuple[Measure, ...]:
    """`pass_at_1`, `fcr`, `hit_rate`, `premature_stop` and `unjudged`.

    After Mind-ParaWorld: FCR (fact coverage rate) = distinct facts that the agent's queries matched / all facts; hit
    rate = hits / tool calls. Both are averaged over all instances including zeros, so a trial without tool calls scores
    0 (with n = 0) rather than being left out. Premature stop (its error analysis): 1 if the agent handed in an answer
    while facts were still unfound.
    """
    hits = [answered.answer.hit for answered in agent_tool_answers(events)]
    known = {fact.key for fact in world.facts}
    matched = {key for hit in hits if hit for key in hit.matched_fact_keys} & known
    passed, unjudged = score_answer("pass_at_1", judgement)
    return (
        passed,
        share("fcr", len(matched), len(known), ""),
        share(
            "hit_rate",
            sum(1 for hit in hits if hit and hit.hit),
            len(hits),
            _("no tool was called"),
            zero=True,
        ),
        _premature(events, len(matched), len(known)),
        unjudged,
    )


def _premature(events: Sequence[Event], found: int, known: int) -> Measure:
    if not any(isinstance(event.body, Concluded) for event in events):
        return Measure("premature_stop", None, 0, _("the agent handed nothing in"))
    return Measure("premature_stop", float(found < known), 1)


_NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")
_HOW_MANY = re.compile(r"\bhow (?:many|much|long|far|old|high)\b|多少|多久|几", re.IGNORECASE)
_TOTAL = re.compile(
    r"\b(?:total|altogether|in all|combined|sum)\b|一共|总共|合计|总计", re.IGNORECASE
)
_DIFFERENCE = re.compile(
    r"\b(?:difference|how (?:much|many) (?:\w+ )?(?:more|less|fewer|longer|older))\b"
    "|相差|差多少|多多少|少多少",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"\bwhich\b.*\b(?:larger|largest|more|most|higher|highest|longer|longest|older|oldest|later|latest)\b"
    "|哪.*(?:最|更)(?:大|多|高|长|晚)",
    re.IGNORECASE | re.DOTALL,
)
_LEAST = re.compile(
    r"\bwhich\b.*\b(?:smaller|smallest|fewer|fewest|less|least|lower|lowest|shorter|shortest|earlier|earliest)\b"
    "|哪.*(?:最|更)(?:小|少|低|短|早)",
    re.IGNORECASE | re.DOTALL,
)


def derive_answer(query: str, facts: Sequence[SearchResult]) -> str:
    """The answer that the found facts give by rule; "" if nothing was found."""
    asked = questions(query)
    question = asked[-1] if asked else query
    attribute, numbers = _comparable(question, facts)
    if len(numbers) > 1:
        values = [number for _, number in numbers]
        if _TOTAL.search(question):
            return _written(sum(values), attribute)
        if _DIFFERENCE.search(question) and len(values) == 2:
            return _written(abs(values[0] - values[1]), attribute)
        if _MOST.search(question):
            return max(numbers, key=lambda item: item[1])[0].subject
        if _LEAST.search(question):
            return min(numbers, key=lambda item: item[1])[0].subject
    words = content_words(question)
    counted = [f for f in facts if f.value[:1].isdigit()] if _HOW_MANY.search(question) else []
    best = max(
        counted or facts,
        key=lambda f: coverage(content_words(f"{f.subject} {f.attribute}"), words),
        default=None,
    )
    return best.value if best else ""


def _comparable(
    question: str, facts: Sequence[SearchResult]
) -> tuple[str, list[tuple[SearchResult, float]]]:
    """The attribute that several entities share and that fits the question best, with its facts and their numbers."""
    groups: dict[str, list[tuple[SearchResult, float]]] = {}
    for found in facts:
        number = _NUMBER.search(found.value)
        if number:
            value = float(number[0].replace(",", ""))
            groups.setdefault(found.attribute, []).append((found, value))
    shared = {name: group for name, group in groups.items() if len(group) > 1}
    if not shared:
        return "", []
    words = content_words(question)
    name = max(shared, key=lambda attribute: coverage(content_words(attribute), words))
    return _unit(shared[name][0][0].value), shared[name]


def _unit(value: str) -> str:
    """The text around the number: `130 euros` gives `{} euros`."""
    return _NUMBER.sub("{}", value, count=1) if value.count("{") == 0 else "{}"


def _written(number: float, unit: str) -> str:
    return (unit or "{}").replace("{}", f"{number:.6f}".rstrip("0").rstrip("."))


def _statements(facts: FactWorld, answers: tuple[str, ...]) -> Iterator[Statement]:
    for fact in facts.facts:
        forms = list(dict.fromkeys((f"{fact.value} {fact.unit}".strip(), fact.value)))
        stated = "\n".join((fact.attribute or fact.key, *forms))
        yield Statement(
            key=fact.key,
            subject=((fact.entity.strip(),),) if fact.entity.strip() else (),
            attribute=fact.attribute.strip() or fact.key,
            value=forms[0],
            value_aliases=(*forms[1:], *fact.aliases),
            secret=names_any(stated, answers),
        )


_FACTS = {
    "end_to_end": "react",
    "guided": "react_facts_guided",
    "few_shot": "react_facts_few_shot",
    "oracle": "react_facts_oracle",
}


def _approach(world: FactWorld, settings: Settings) -> Approach:
    """The agent's prompts and tools in Mind-ParaWorld's settings. Only the oracle is given the facts: it measures
    reasoning without search.
    """
    setting = settings.facts
    if setting == "oracle":
        return Approach(_FACTS[setting], world_tools=False, values={"facts": world_text(world)})
    return Approach(_FACTS[setting])


def world_text(world: FactWorld) -> str:
    """The facts and rules of a world, one per line, without its answer and its derivation."""
    return "\n".join(
        f"- {one_line(' '.join(filter(None, (fact.key, '=', fact.value, fact.unit))))}"
        for fact in world.facts
    )


def _counts(world: FactWorld, events: Sequence[Event]) -> FactFigures:
    known = {fact.key for fact in world.facts}
    found: set[str] = set()
    hits: list[bool] = []
    fresh: list[int] = []
    for answered in agent_tool_answers(events)[:MAX_K]:
        hit = answered.answer.hit
        new = (set(hit.matched_fact_keys) & known) - found if hit else set[str]()
        found |= new
        hits.append(bool(hit and hit.hit))
        fresh.append(len(new))
    return FactFigures(facts=len(known), hits=tuple(hits), fresh=tuple(fresh))


async def _offline(public: PublicTask, dialogue: Dialogue, searcher: Searcher) -> AgentReply:
    return AgentReply(text=await play.answer(public, dialogue, searcher))


def _conclude(_public: PublicTask, dialogue: Dialogue, notes: Notes) -> Prediction:
    asked = dialogue.of("user")
    return common.hand_in_answer(derive_answer(asked[0].text if asked else "", tuple(notes.facts)))


def _effective(world: FactWorld) -> Mapping[str, object]:
    facts = [fact.model_copy(update={"sources": ()}) for fact in world.facts]
    return {N_("the facts of the world"): facts}


FACTS = CoreFamily(
    name="facts",
    gold=FactWorld,
    label=N_("Fact tasks"),
    measures=("pass_at_1", "fcr", "hit_rate"),
    headlines=("pass_at_1", "fcr", "hit_rate"),
    main="pass_at_1",
    known_by="pass_at_1",
    bar=("pass_at_1", 1.0),
    judged=("pass_at_1",),
    of_log=("fcr", "hit_rate", "premature_stop"),
    score=lambda _task, world, _prediction, events, judgement: score_facts(
        world, events, judgement
    ),
    figures=lambda world, _prediction, events, _judgement: {"facts": _counts(world, events)},
    handed_in="answer",
    read=common.read_answer,
    read_json=common.read_json_answer,
    conclusion="conclude_facts",
    from_memory="probe_hand_in_facts",
    judge=lambda task, world, prediction: common.judge_by_letters(world, prediction, task.query),
    ask=common.ask_about_answer,
    judge_prompts=("judge_answer",),
    refuse=common.refuse,
    item=common.answer_item,
    item_text=common.answer_text,
    target=lambda world: world.answers,
    approach=_approach,
    columns=common.no_columns,
    offline=_offline,
    calls=12,
    conclude=_conclude,
    statements=lambda task, world: tuple(_statements(world, final_answers(task))),
    index=common.records,
    entities=False,
    topics=True,
    chain=common.no_chain,
    facts=lambda world: world.facts,
    changes=answer_changes,
    effective=_effective,
    carry=common.carry_whole,
)

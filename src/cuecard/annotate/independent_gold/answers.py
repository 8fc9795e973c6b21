"""Checkpoint chains and worlds built twice: aligned by step, fact and answer, and made one."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from cuecard.annotate.authoring.task_data import blank_step
from cuecard.annotate.independent_gold.matching import (
    Alignment,
    Decided,
    Element,
    ElementKind,
    GoldComparer,
    Level,
    Status,
    best_assignment,
    composed,
    named,
    union,
)
from cuecard.core.families.checkpoints.gold import Checkpoint, CheckpointChain
from cuecard.core.families.facts.gold import Fact, FactWorld
from cuecard.core.i18n import _
from cuecard.core.judges.similarity import same_thing
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import normalise
from cuecard.core.users.leaks import chain_things

_ALIKE_QUESTION = 75.0


def align_chains(author: CheckpointChain, second: CheckpointChain) -> Alignment:
    """Pair checkpoints with one target (by name, alias or near spelling), the nearest in position first; then the rest
    by similar questions or equal position.
    """
    last = max(len(author.steps), len(second.steps))
    same = best_assignment(
        {
            (m, n): float(last - abs(m - n))
            for m, mine in enumerate(author.steps)
            for n, theirs in enumerate(second.steps)
            if have_common_name(mine.names, theirs.names)
        }
    )
    pairs = same | _loosely(author, second, same)
    ambiguous = sum(
        _ambiguity(author.steps[m]) == _ambiguity(second.steps[n]) != "" for m, n in same.items()
    )
    answer, level = _answer(
        (author.final_answer, *author.final_aliases), (second.final_answer, *second.final_aliases)
    )
    return Alignment(
        (*named(_steps(author, second, pairs, same)), answer),
        (
            Level("step", len(same), len(author.steps), len(second.steps)),
            Level(
                "ambiguity",
                ambiguous,
                sum(step.ambiguity is not None for step in author.steps),
                sum(step.ambiguity is not None for step in second.steps),
            ),
            level,
        ),
    )


def align_worlds(author: FactWorld, second: FactWorld) -> Alignment:
    """Pair facts by key. The facts are part of the brief; only the answer is built."""
    at = {normalise(fact.key) or fact.key: n for n, fact in enumerate(second.facts)}
    pairs: dict[int, int] = {}
    for m, fact in enumerate(author.facts):
        if (n := at.pop(normalise(fact.key) or fact.key, None)) is not None:
            pairs[m] = n
    same = sum(_same_fact(author.facts[m], second.facts[n]) for m, n in pairs.items())
    answer, level = _answer(
        (author.answer, *author.answer_aliases), (second.answer, *second.answer_aliases)
    )
    return Alignment(
        (*named(_facts(author, second, pairs)), answer),
        (level, Level("fact", same, len(author.facts), len(second.facts), given=True)),
    )


def have_common_name(names: Collection[str], others: Collection[str]) -> bool:
    """Whether a name in one collection matches one in the other, in either direction."""
    return any(
        normalise(one) == normalise(other) or (same_thing(one, other) and same_thing(other, one))
        for one in names
        for other in others
    )


def _loosely(
    author: CheckpointChain, second: CheckpointChain, same: dict[int, int]
) -> dict[int, int]:
    from rapidfuzz import fuzz

    gone = set(same.values())
    edges: dict[tuple[int, int], float] = {}
    for m, mine in enumerate(author.steps):
        for n, theirs in enumerate(second.steps):
            if m in same or n in gone:
                continue
            similarity = fuzz.ratio(normalise(mine.question), normalise(theirs.question))
            if similarity >= _ALIKE_QUESTION or m == n:
                edges[m, n] = similarity
    return best_assignment(edges)


Seen = tuple[Element, object, object]


def _steps(
    author: CheckpointChain, second: CheckpointChain, pairs: dict[int, int], same: dict[int, int]
) -> Iterator[Seen]:
    def why(m: int, n: int) -> str:
        if m not in same:
            return _("another target")
        alike = _ambiguity(author.steps[m]) == _ambiguity(second.steps[n])
        return "" if alike else _("another ambiguity")

    return _side_by_side("step", author.steps, second.steps, pairs, why)


def _facts(author: FactWorld, second: FactWorld, pairs: dict[int, int]) -> Iterator[Seen]:
    def why(m: int, n: int) -> str:
        return "" if _same_fact(author.facts[m], second.facts[n]) else _("another value")

    return _side_by_side("fact", author.facts, second.facts, pairs, why)


def _side_by_side(
    kind: ElementKind,
    author: Sequence[Frozen],
    second: Sequence[Frozen],
    pairs: dict[int, int],
    why: Callable[[int, int], str],
) -> Iterator[Seen]:
    """The author's elements with those of the second that they are paired with, then the second's others. `why` two of them
    differ; "" if they agree.
    """
    for m, mine in enumerate(author):
        said = mine.model_dump(mode="json")
        if m not in pairs:
            yield Element("", kind, "author", m, None), said, None
            continue
        n = pairs[m]
        reason = why(m, n)
        status: Status = "differ" if reason else "agreed"
        told = second[n].model_dump(mode="json")
        yield Element("", kind, status, m, n, why=reason), said, told
    taken = set(pairs.values())
    for n, theirs in enumerate(second):
        if n not in taken:
            yield Element("", kind, "second", None, n), None, theirs.model_dump(mode="json")


def _answer(names: tuple[str, ...], others: tuple[str, ...]) -> tuple[Element, Level]:
    same = have_common_name(names, others)
    element = Element("", "answer", "agreed" if same else "differ", 0, 0)
    why = "" if same else _("another answer")
    (keyed,) = named([(Element("", "answer", element.status, 0, 0, why=why), names, others)])
    return keyed, Level("answer", int(same), 1, 1)


def _ambiguity(step: Checkpoint) -> str:
    return step.ambiguity.type.value if step.ambiguity else ""


def _same_fact(one: Fact, other: Fact) -> bool:
    same = have_common_name((one.value, *one.aliases), (other.value, *other.aliases))
    return same and one.kind is other.kind


def _chain(author: CheckpointChain, second: CheckpointChain, decided: Decided) -> dict[str, Any]:
    data, other = author.model_dump(mode="json"), second.model_dump(mode="json")
    steps = composed(data["steps"], other["steps"], decided.of("step"), _named_too, _sourced)
    return {
        **data,
        "steps": steps,
        **_decided_answer(data, other, decided, "final_answer", "final_aliases"),
    }


def _world(author: FactWorld, second: FactWorld, decided: Decided) -> dict[str, Any]:
    data, other = author.model_dump(mode="json"), second.model_dump(mode="json")
    facts = composed(data["facts"], other["facts"], decided.of("fact"), _named_too, _sourced)
    made = {
        **data,
        "facts": facts,
        **_decided_answer(data, other, decided, "answer", "answer_aliases"),
    }
    if decided.answer() == "second" and other["derivation"]:
        made["derivation"] = other["derivation"]
    return made


def _decided_answer(
    data: Mapping[str, Any], other: Mapping[str, Any], decided: Decided, name: str, aliases: str
) -> dict[str, Any]:
    match decided.answer():
        case "second":
            return {name: other[name], aliases: other[aliases]}
        case "both":
            names = union([data[name], *data[aliases]], [other[name], *other[aliases]])
            return {name: names[0], aliases: names[1:]}
        case _:
            return {name: data[name], aliases: data[aliases]}


def _named_too(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """One thing with the names and sources of both."""
    name = "target" if "target" in one else "value"
    names = union([one[name], *one["aliases"]], [other[name], *other["aliases"]])
    sources = union(one["sources"], other["sources"])
    return {**one, "aliases": names[1:], "sources": sources}


def _sourced(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {**other, "sources": other["sources"] or one["sources"]}


def _blank_chain(chain: CheckpointChain, _cover: Callable[[str], str]) -> dict[str, Any]:
    empty = {"steps": [blank_step()], "final_answer": "", "final_aliases": [], "forbidden": []}
    return {"family": "checkpoints", "opening": chain.opening, **empty}


def _blank_world(world: FactWorld, _cover: Callable[[str], str]) -> dict[str, Any]:
    """The facts are given; the answer is to be found."""
    facts = [fact.model_dump(mode="json") for fact in world.facts]
    return {"family": "facts", "facts": facts, "answer": "", "answer_aliases": [], "derivation": ""}


CHECKPOINTS = GoldComparer(
    blank=_blank_chain,
    given=("opening",),
    secret=chain_things,
    align=align_chains,
    adjudicated=_chain,
)
FACTS = GoldComparer(
    blank=_blank_world,
    secret=lambda world: (world.answers,),
    align=align_worlds,
    adjudicated=_world,
)

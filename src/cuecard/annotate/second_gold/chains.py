"""Two chains of checkpoints, and two closed worlds, side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from cuecard.annotate.second_gold.assignment import best_assignment
from cuecard.annotate.second_gold.elements import Alignment, Element, Level, Status, named
from cuecard.core.i18n import _
from cuecard.core.judges.similarity import same_thing
from cuecard.core.tasks import Checkpoint, CheckpointChain, Fact, FactWorld
from cuecard.core.text import normalise

_ALIKE_QUESTION = 75.0


def align_chains(author: CheckpointChain, second: CheckpointChain) -> Alignment:
    """Pair checkpoints of one target (name, alias or near spelling), the nearest in place first; then,
    of the rest, those whose questions are alike or that stand at the same place.
    """
    last = max(len(author.steps), len(second.steps))
    same = best_assignment(
        {
            (m, n): float(last - abs(m - n))
            for m, mine in enumerate(author.steps)
            for n, theirs in enumerate(second.steps)
            if share_a_name(mine.names, theirs.names)
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
    """Pair facts by key. They are given with the brief; what is built is the answer."""
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


def share_a_name(names: Collection[str], others: Collection[str]) -> bool:
    """Whether any name of the one is, either way, any of the other."""
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
            likeness = fuzz.ratio(normalise(mine.question), normalise(theirs.question))
            if likeness >= _ALIKE_QUESTION or m == n:
                edges[m, n] = likeness
    return best_assignment(edges)


def _steps(
    author: CheckpointChain, second: CheckpointChain, pairs: dict[int, int], same: dict[int, int]
) -> Iterator[tuple[Element, object, object]]:
    for m, mine in enumerate(author.steps):
        said = mine.model_dump(mode="json")
        if m not in pairs:
            yield Element("", "step", "author", m, None), said, None
            continue
        theirs = second.steps[pairs[m]]
        status: Status = "differ"
        why = _("another target")
        if m in same:
            alike = _ambiguity(mine) == _ambiguity(theirs)
            status = "agreed" if alike else "differ"
            why = "" if alike else _("another ambiguity")
        told = theirs.model_dump(mode="json")
        yield Element("", "step", status, m, pairs[m], why=why), said, told
    taken = set(pairs.values())
    for n, theirs in enumerate(second.steps):
        if n not in taken:
            yield Element("", "step", "second", None, n), None, theirs.model_dump(mode="json")


def _facts(
    author: FactWorld, second: FactWorld, pairs: dict[int, int]
) -> Iterator[tuple[Element, object, object]]:
    for m, mine in enumerate(author.facts):
        said = mine.model_dump(mode="json")
        if m not in pairs:
            yield Element("", "fact", "author", m, None), said, None
            continue
        theirs = second.facts[pairs[m]]
        same = _same_fact(mine, theirs)
        status: Status = "agreed" if same else "differ"
        why = "" if same else _("another value")
        told = theirs.model_dump(mode="json")
        yield Element("", "fact", status, m, pairs[m], why=why), said, told
    taken = set(pairs.values())
    for n, theirs in enumerate(second.facts):
        if n not in taken:
            yield Element("", "fact", "second", None, n), None, theirs.model_dump(mode="json")


def _answer(names: tuple[str, ...], others: tuple[str, ...]) -> tuple[Element, Level]:
    same = share_a_name(names, others)
    element = Element("", "answer", "agreed" if same else "differ", 0, 0)
    why = "" if same else _("another answer")
    (keyed,) = named([(Element("", "answer", element.status, 0, 0, why=why), names, others)])
    return keyed, Level("answer", int(same), 1, 1)


def _ambiguity(step: Checkpoint) -> str:
    return step.ambiguity.type.value if step.ambiguity else ""


def _same_fact(one: Fact, other: Fact) -> bool:
    same = share_a_name((one.value, *one.aliases), (other.value, *other.aliases))
    return same and one.kind is other.kind

"""What rules alone can say of a world of facts: that two of them cannot both hold."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.core.i18n import _
from cuecard.core.judges.similarity import same_thing
from cuecard.core.tasks import Fact, FactWorld
from cuecard.core.text import normalise, one_line


def conflicts(world: FactWorld) -> tuple[str, ...]:
    """The pairs of facts that give one key, or one attribute of one entity, two values. Keys and names are
    compared without regard to case, width and punctuation; values and units as the lexical judge does.
    """
    return tuple(_conflicts(world))


def _conflicts(world: FactWorld) -> Iterator[str]:
    first: dict[tuple[str, ...], int] = {}
    told: set[tuple[int, int]] = set()
    for index, fact in enumerate(world.facts):
        for name in _names(fact):
            earlier = first.setdefault(name, index)
            if earlier == index or (earlier, index) in told:
                continue
            other = world.facts[earlier]
            if _same_value(other, fact):
                continue
            told.add((earlier, index))
            yield _("facts {one} and {other} contradict each other: {first} / {second}").format(
                one=earlier + 1, other=index + 1, first=_shown(other), second=_shown(fact)
            )


def _names(fact: Fact) -> Iterator[tuple[str, ...]]:
    if key := normalise(fact.key):
        yield (key,)
    entity, attribute = normalise(fact.entity), normalise(fact.attribute)
    if entity and attribute:
        yield (entity, attribute)


def _same_value(one: Fact, other: Fact) -> bool:
    if normalise(one.unit) == normalise(other.unit):
        values = (one.value, *one.aliases)
        others = (other.value, *other.aliases)
        return any(same_thing(a, b) or same_thing(b, a) for a in values for b in others)
    return same_thing(f"{one.value} {one.unit}", f"{other.value} {other.unit}") is not None


def _shown(fact: Fact) -> str:
    return one_line(f"{fact.key} = {fact.value} {fact.unit}".strip(), 80)

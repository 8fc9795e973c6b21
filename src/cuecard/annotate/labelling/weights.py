"""Weights of labelled items of a set, by which they represent what it was drawn from."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from cuecard.core.label_records import SetItem
from cuecard.core.verdicts import ItemKind

Key = tuple[int, str]
"""Trial and key of an item."""
WeightingClass = tuple[str, ItemKind]
"""Stratum and kind of item. Within such a class, unlabelled items are assumed to be like labelled ones."""


def weights_of(
    items: Iterable[SetItem], labelled: Collection[Key] | None = None
) -> dict[Key, float]:
    """The weights of the `labelled` items (None: all) of a drawn set: the inverse probability of being drawn (Horvitz &
    Thompson 1952), times drawn / labelled items of the stratum and kind (weighting classes, Särndal, Swensson & Wretman
    1992, ch. 15).
    """
    drawn = list(items)
    known = [item for item in drawn if labelled is None or _key(item) in labelled]
    every, have = Counter(map(class_of, drawn)), Counter(map(class_of, known))
    return {
        _key(item): every[class_of(item)] / have[class_of(item)] / item.probability
        for item in known
    }


def bare_classes(
    items: Iterable[SetItem], labelled: Collection[Key]
) -> dict[WeightingClass, float]:
    """Classes without labelled items, with the share of the population that each represents."""
    drawn = list(items)
    have = {class_of(item) for item in drawn if _key(item) in labelled}
    sizes: dict[WeightingClass, float] = defaultdict(float)
    for item in drawn:
        sizes[class_of(item)] += 1 / item.probability
    total = sum(sizes.values())
    return {name: size / total for name, size in sizes.items() if name not in have}


def class_of(item: SetItem) -> WeightingClass:
    return item.stratum, item.item.kind


def _key(item: SetItem) -> Key:
    return item.trial_id, item.item.key

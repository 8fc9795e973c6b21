"""Compares two revisions of a task: their gold items, and whether a trial would have been played differently."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

from cuecard.core.i18n import N_
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.gold import Gold
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Item, ItemKind


class Fate(StrEnum):
    """What happened to a gold item between two revisions. `changed`: a cell with the same key and another text, or a
    triple of which two of three parts stayed.
    """

    SAME = "same"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


class ItemChange(Frozen):
    """One change of the gold. `old` is None for an added item, `new` for a removed one."""

    fate: Fate
    old: Item | None
    new: Item | None


def item_changes(old: Task, new: Task) -> tuple[ItemChange, ...]:
    """Every gold item of either revision once: those of `new` in their order, then what was removed.

    Triples are the same with the same names of head and tail (aliases in any order) and the same relation; cells
    with the same row key and column, the same text and the same rules of comparison; answers with the same text
    and aliases. Raises `ValueError` for tasks of two families.
    """
    if old.family != new.family and not (old.gold.answers and new.gold.answers):
        raise ValueError("gold of two families")
    from cuecard.core.families.registry import family_of

    return family_of(new).changes(old.gold, new.gold)


def answer_changes(old: Gold, new: Gold) -> tuple[ItemChange, ...]:
    """`item_changes` for gold that is one final answer, which is compared with its aliases."""
    (one, *also), (other, *others) = old.answers, new.answers
    same = one == other and set(also) == set(others)
    item = Item(kind=ItemKind.ANSWER)
    return (ItemChange(fate=Fate.SAME if same else Fate.CHANGED, old=item, new=item),)


def changes_in_play(old: Task, new: Task) -> tuple[str, ...]:
    """The parts of the task that shape the user part or the world and that differ, in English. If there are none, only
    gold that judges read has changed, and a trial on one revision can be judged on the other.

    Checkpoints (used by the user part) and facts (used by the world) count; answers, triples, rows, aliases, sources and
    notes do not.
    """
    from cuecard.core.families.registry import family_of

    before, after = family_of(old).effective(old.gold), family_of(new).effective(new.gold)
    common = [name for name, part in _SHAPES.items() if part(old) != part(new)]
    own = (name for name in {**before, **after} if before.get(name) != after.get(name))
    return (*common, *own)


_SHAPES: Final[Mapping[str, Callable[[Task], object]]] = {
    N_("the language"): lambda task: task.language,
    N_("the query"): lambda task: task.query,
    N_("the sub-queries"): lambda task: task.sub_queries,
    N_("the persona"): lambda task: task.persona,
    N_("the family"): lambda task: task.family,
}

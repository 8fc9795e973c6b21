"""Two people's versions of a task made one, field by field and element by element.

What only one of them changed is taken over; what both changed differently is a clash that a person
decides. Every difference can be decided the other way, so that nothing is merged behind anybody's back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cuecard.annotate.authoring.linking import Versions

Side = Literal["mine", "theirs", "both"]


@dataclass(frozen=True)
class Difference:
    """A place where my version or theirs says something else than what both began from.

    `key` names it for choices. `whose` change it is; a `clash` is both's, and not the same. `choice`
    holds: what was chosen from `sides`, or what is taken without a choice. Texts are empty where
    there is nothing.
    """

    key: str
    place: str
    label: str
    about: str
    base: str
    mine: str
    theirs: str
    whose: Literal["mine", "theirs", "clash"]
    sides: tuple[Side, ...]
    choice: Side


@dataclass(frozen=True)
class Merge:
    """`data` as all choices have it. `undecided`: keys of clashes that nobody has decided yet."""

    data: dict[str, Any]
    differences: list[Difference]
    undecided: frozenset[str]

    @property
    def conflicts(self) -> list[Difference]:
        """What both changed, decided or not."""
        return [difference for difference in self.differences if difference.whose == "clash"]


class Merging:
    """`base` is what `mine` and `theirs` began from; things are matched once, choices may change."""

    def __init__(
        self, base: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any]
    ) -> None:
        self._versions = Versions(base, mine, theirs)
        self._used = self._versions.used(1), self._versions.used(2)

    def merge(self, choices: Mapping[str, Side] | None = None) -> Merge:
        """The three made one, with these decisions by `Difference.key`."""
        from cuecard.annotate.authoring.merge_walk import MergeWalk

        chosen = choices or {}
        walk = MergeWalk(self._versions, chosen, self._used)
        data = walk.task()
        stages = walk.order_of(("persona", "stages"), data, self._versions.stage_ids)
        columns = walk.order_of(("gold", "columns"), data, self._versions.column_ids)
        plain = dict(self._versions.unlinked(data, stages, columns))
        clashes = {found.key for found in walk.found if found.whose == "clash"}
        return Merge(plain, walk.found, frozenset(clashes - chosen.keys()))


def merge(
    base: Mapping[str, Any],
    mine: Mapping[str, Any],
    theirs: Mapping[str, Any],
    choices: Mapping[str, Side] | None = None,
) -> Merge:
    """See `Merging`."""
    return Merging(base, mine, theirs).merge(choices)

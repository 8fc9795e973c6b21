"""What gold says by the place at which something else stands, as references that hold wherever that stands: stages, and columns."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from cuecard.annotate.authoring.diff import MatchRule, match, match_by_key
from cuecard.annotate.authoring.schema import Items, Ref, Shape, listed, mapping
from cuecard.core.validation import Place

Data = Mapping[str, Any]
Ids = list[list[int]]
"""For each version, the identities of a list's items."""


def identities(lists: Sequence[Sequence[Any]], match_rule: MatchRule) -> list[list[int]]:
    """For each list, a number for each of its items; equal numbers mean the same item in several lists. Items of the
    first list have their index there, items that it lacks have larger numbers.
    """
    base = lists[0]
    found = [list(range(len(base)))]
    free = len(base)
    for items in lists[1:]:
        ids = [-1] * len(items)
        if items is base:
            ids = list(found[0])
        else:
            for i, j in match(base, items, match_rule).items():
                ids[j] = i
        found.append(ids)
    if len(lists) == 3:
        # What both added on their own is one thing only if it has the same name.
        ours = [j for j, known in enumerate(found[1]) if known < 0]
        theirs = [j for j, known in enumerate(found[2]) if known < 0]
        pairs = match_by_key([lists[1][j] for j in ours], [lists[2][j] for j in theirs], match_rule)
        for i, j in sorted(pairs.items()):
            found[1][ours[i]] = found[2][theirs[j]] = free
            free += 1
    for ids in found[1:]:
        for j, known in enumerate(ids):
            if known < 0:
                ids[j] = free
                free += 1
    return found


class Links:
    """What the gold of two or three versions refers to by number or by position; here only stages, by items of the
    list `staged` ("": none has a stage). `ids`: identities of lists in the gold that others refer to, by their place;
    `fields` describe the gold once its references are linked.
    """

    ids: Mapping[Place, Ids]
    fields: Mapping[str, Shape]

    def __init__(
        self,
        golds: Sequence[Data],
        fields: Mapping[str, Shape],
        staged: str,
        stages: Sequence[Sequence[Ref]],
    ) -> None:
        """`stages`: those of each version's persona."""
        self._golds, self._staged, self._stages = golds, staged, stages
        self.ids, self.fields = {}, fields

    def linked(self, at: int) -> Data:
        """The gold of a version, with references."""
        gold, refs = self._golds[at], self._stages[at]
        if not self._staged:
            return gold
        return {**gold, self._staged: [_linked(item, refs) for item in listed(gold, self._staged)]}

    def unlinked(self, gold: Data, stages: Sequence[int], columns: Sequence[int]) -> Data:
        """Linked gold as plain data again; `stages` and `columns` are the identities in its own order."""
        del columns
        if not self._staged:
            return gold
        numbers = {known: number for number, known in enumerate(stages, start=1)}
        items = [_staged(item, numbers) for item in listed(gold, self._staged)]
        return {**gold, self._staged: items}

    def used(self, old: Data, new: Data) -> tuple[set[int], set[int]]:
        """Stages and columns of which the new one of two linked golds says something that the old one does not."""
        stages = set[int]()
        for before, after in self.pairs(old, new, self._staged) if self._staged else ():
            stage = mapping(after).get("stage")
            if isinstance(stage, Ref) and stage != mapping(before).get("stage"):
                stages.add(stage.id)
        return stages, set()

    def pairs(self, old: Data, new: Data, name: str) -> list[tuple[Any, Any]]:
        """Each new item of a list in the gold with the old item it comes from, None for one that was added."""
        before, after = listed(old, name), listed(new, name)
        shape = cast(Items, self.fields[name])
        ids = identities([before, after], shape.match_rule)[1]
        return [
            (before[known] if known < len(before) else None, item)
            for known, item in zip(ids, after, strict=True)
        ]

    def place(self, path: Place, version: int) -> Place:
        """A path in linked data as it is in a version's own."""
        del version
        return path

    def cell(self, path: Place) -> int | None:
        """Where the last version has the cell that the first has at `path`; None for what is no cell. Raises
        `LookupError` where it is gone.
        """
        del path
        return None


def _linked(item: Any, stages: Sequence[Ref]) -> Any:
    number = mapping(item).get("stage")
    if type(number) is int and 1 <= number <= len(stages):
        return {**item, "stage": stages[number - 1]}
    return item


def _staged(item: Any, numbers: Mapping[int, int]) -> Any:
    fields = mapping(item)
    if isinstance(stage := fields.get("stage"), Ref):
        return {**fields, "stage": numbers.get(stage.id)}
    return item

"""Three-way merge of two people's versions of a task: conflicts for a person to decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from cuecard.annotate.authoring.changes import Versions, described_item, joined, numbered
from cuecard.annotate.authoring.diff import merged_order, moved
from cuecard.annotate.authoring.schema import (
    Items,
    Leaf,
    Record,
    Shape,
    described,
    fields_of,
    label_of,
    mapping,
    same,
)
from cuecard.annotate.authoring.task_data import Path
from cuecard.core.i18n import _, ngettext
from cuecard.core.validation import format_place

Side = Literal["mine", "theirs", "both"]


@dataclass(frozen=True)
class Difference:
    """A place where my version or theirs differs from the common base.

    `key` identifies it for choices. `whose`: who changed it; `clash`: both did, differently. `choice`: the side that
    holds, chosen from `sides` or by default. Texts are "" where there is nothing.
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
    """The result of a merge. `data` follows all choices; `undecided`: keys of clashes without a choice."""

    data: dict[str, Any]
    differences: list[Difference]
    undecided: frozenset[str]

    @property
    def conflicts(self) -> list[Difference]:
        """The places that both changed differently, decided or not."""
        return [difference for difference in self.differences if difference.whose == "clash"]


class Merging:
    """A merge of `mine` and `theirs`, edited from `base`. Items are matched once, for any number of calls of `merge`."""

    def __init__(
        self, base: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any]
    ) -> None:
        self._versions = Versions(base, mine, theirs)
        self._used = self._versions.used(1), self._versions.used(2)

    def merge(self, choices: Mapping[str, Side] | None = None) -> Merge:
        """The merged task, with choices by `Difference.key`."""
        chosen = choices or {}
        walk = MergeWalk(self._versions, chosen, self._used)
        data = walk.task()
        orders = {p: walk.order_of(p, data, ids) for p, ids in self._versions.known.items()}
        plain = dict(self._versions.unlinked(data, orders))
        clashes = {found.key for found in walk.found if found.whose == "clash"}
        return Merge(plain, walk.found, frozenset(clashes - chosen.keys()))


MOST_TITLES = 30
Three = tuple[Any, Any, Any]
Used = tuple[set[int], set[int]]


class _Missing:
    """Marks that a version has nothing at a place."""


MISSING = _Missing()


@dataclass(frozen=True)
class _Here:
    """`path` by field names and indices, `key` by field names and identities."""

    path: Path = ()
    key: str = ""
    label: str = ""
    about: str = ""

    def below(self, name: str, label: str) -> _Here:
        key = f"{self.key}/{name}" if self.key else name
        return _Here((*self.path, name), key, joined(self.label, label), self.about)


@dataclass(frozen=True)
class _Lists:
    """The three versions of a list, with the identities of their items (in the base, their indices)."""

    shape: Items
    here: _Here
    lists: tuple[list[Any], list[Any], list[Any]]
    ids: list[list[int]]
    at: list[dict[int, int]]

    def items(self, known: int) -> Three:
        base, mine, theirs = (
            items[at[known]] if known in at else MISSING
            for items, at in zip(self.lists, self.at, strict=True)
        )
        return base, mine, theirs

    def index(self, known: int) -> int:
        """Where an item stands in mine, or else in theirs, or else in the base."""
        return next(self.at[version][known] for version in (1, 2, 0) if known in self.at[version])


@dataclass
class MergeWalk:
    """Merges place by place. `used`: ids of stages and columns that mine, and theirs, newly refer to."""

    versions: Versions
    choices: Mapping[str, Side]
    used: tuple[Used, Used]
    found: list[Difference] = field(default_factory=list[Difference])
    orders: dict[Path, list[int]] = field(default_factory=dict[Path, list[int]])

    def task(self) -> dict[str, Any]:
        """The merged data, with `Ref`s still in place of numbers."""
        base, mine, theirs = self.versions.trees
        merged = self._merged(self.versions.shape, (base, mine, theirs), _Here())
        return cast(dict[str, Any], merged)

    def order_of(self, path: Path, data: Mapping[str, Any], ids: list[list[int]]) -> Sequence[int]:
        """The identities of a merged list in order, as merged or as in the version it was taken from."""
        if path in self.orders:
            return self.orders[path]
        for version, tree in enumerate(self.versions.trees):
            if tree.get(str(path[0])) is data.get(str(path[0])):
                return ids[version]
        return ids[1]

    def _merged(self, shape: Shape, values: Three, here: _Here) -> Any:
        base, mine, theirs = values
        if _same(mine, theirs):
            return mine
        if isinstance(shape, Record) and isinstance(mine, dict) and isinstance(theirs, dict):
            return self._record(shape, values, here)
        if isinstance(shape, Items) and isinstance(mine, list) and isinstance(theirs, list):
            began = cast(list[Any], base) if isinstance(base, list) else []
            lists = (began, cast(list[Any], mine), cast(list[Any], theirs))
            ids = self.versions.ids(here.path, shape, lists)
            at = [{known: index for index, known in enumerate(listed)} for listed in ids]
            return self._items(_Lists(shape, here, lists, ids, at))
        texts = [described(shape, _value(value)) for value in values]
        joint = shape.joint if isinstance(shape, Leaf) else None
        both = joint is not None and bool(texts[1]) and bool(texts[2])
        here = here if here.label else here.below("", label_of(shape))
        choice = self._decide(here, texts, values, both=both)
        if choice == "both":
            return f"{mine}{joint}{theirs}"
        return values[1] if choice == "mine" else values[2]

    def _record(self, shape: Record, values: Three, here: _Here) -> dict[str, Any]:
        began, ours, others = map(mapping, values)
        result: dict[str, Any] = {}
        for name, inner in fields_of(shape, ours, others).items():
            base, mine, theirs = (side.get(name, MISSING) for side in (began, ours, others))
            label = label_of(inner) if isinstance(inner, Leaf | Record) else ""
            value = self._merged(inner, (base, mine, theirs), here.below(name, label))
            if value is not MISSING:
                result[name] = value
        return result

    def _items(self, lists: _Lists) -> list[Any]:
        kept: dict[int, list[Any]] = {}
        for known in dict.fromkeys((*lists.ids[2], *lists.ids[1])):
            if items := self._item(lists, known):
                kept[known] = items
        order = merged_order(*self._order(lists), kept)
        self.orders[lists.here.path] = [known for known in order for _item in kept[known]]
        return [item for known in order for item in kept[known]]

    def _item(self, lists: _Lists, known: int) -> list[Any]:
        """An item of the merged list: none, one, or, if both versions of a clash are kept, two."""
        shape, values = lists.shape, lists.items(known)
        if lists.here.path == ("gold", "rows"):
            # Who has no such column any more has no opinion on its cells.
            values = (values[0], _filled(values[1], values[0]), _filled(values[2], values[0]))
        base, mine, theirs = values
        if _same(mine, theirs):
            return [mine]
        here = self._here(lists, known, theirs if mine is MISSING else mine)
        if mine is MISSING or theirs is MISSING:
            texts = [_described(shape, value) for value in values]
            who: Side = "theirs" if mine is MISSING else "mine"
            clash = base is not MISSING and self._uses(lists, known, who)
            choice = self._decide(here, texts, values, clash=clash, otherwise=who)
            value = mine if choice == "mine" else theirs
            return [] if value is MISSING else [value]
        if isinstance(shape.item, Record):
            return self._record_item(shape.item, shape, values, here)
        choice = self._decide(here, [_described(shape, v) for v in values], values, both=True)
        return [mine, theirs] if choice == "both" else [mine if choice == "mine" else theirs]

    def _record_item(self, item: Record, shape: Items, values: Three, here: _Here) -> list[Any]:
        """An item that both versions have. Fields listed in `Record.whole` are decided together."""
        base, mine, theirs = values
        if not _clash(item.whole, values):
            return [self._merged(item, values, here)]
        whole = _Here(here.path, f"{here.key}/=", here.label)
        texts = ["" if value is MISSING else shape.title(value) for value in values]
        choice = self._decide(whole, texts, values, both=True, clash=True)
        chosen = cast(dict[str, Any], theirs if choice == "theirs" else mine)
        fields = {name: chosen[name] for name in item.whole if name in chosen}
        first = self._merged(item, (base, {**mine, **fields}, {**theirs, **fields}), here)
        return [first, theirs] if choice == "both" else [first]

    def _order(self, lists: _Lists) -> tuple[list[int], list[int]]:
        """The order that holds, and the other one, from which comes what it lacks."""
        _base, ours, theirs = lists.ids
        common = lists.at[0].keys() & lists.at[1].keys() & lists.at[2].keys()
        orders = tuple([known for known in ids if known in common] for ids in lists.ids)
        if orders[1] == orders[2]:
            return theirs, ours
        size = len(lists.lists[0])
        mine_moved = moved([known for known in ours if known < size])
        both = orders[1] != orders[0] and orders[2] != orders[0]
        here = lists.here.below("order", joined(label_of(lists.shape), _("order")))
        texts = [self._order_text(lists, order) for order in orders]
        choice = self._decide(here, texts, (orders[0], orders[1], orders[2]), both=both)
        if choice == "both":
            return [known for known in theirs if known not in mine_moved], ours
        return (ours, theirs) if choice == "mine" else (theirs, ours)

    def _order_text(self, lists: _Lists, order: Sequence[int]) -> str:
        if len(order) > MOST_TITLES:
            n = len(moved(order))
            return (
                ngettext("{n} item stands elsewhere", "{n} items stand elsewhere", n).format(n=n)
                if n
                else _("as it was")
            )
        titles = [lists.shape.title(lists.lists[0][known]) for known in order]
        return "\n".join(f"{number}. {title}" for number, title in enumerate(titles, start=1))

    def _uses(self, lists: _Lists, known: int, who: Side) -> bool:
        """Whether `who` newly refers to a stage or column that the other side deleted."""
        stages, columns = self.used[0 if who == "mine" else 1]
        match lists.here.path:
            case ("persona", "stages"):
                return known in stages
            case ("gold", "columns"):
                return known in columns
            case _:
                return False

    def _here(self, lists: _Lists, known: int, item: Any) -> _Here:
        here, index = lists.here, lists.index(known)
        label = numbered(lists.shape, here.label, index)
        about = here.about or (lists.shape.title(item) if isinstance(item, dict) else "")
        return _Here((*here.path, index), f"{here.key}/{known}", label, about)

    def _decide(
        self,
        here: _Here,
        texts: Sequence[str],
        values: Three,
        *,
        both: bool = False,
        clash: bool = False,
        otherwise: Side = "mine",
    ) -> Side:
        """Enter a difference; what holds there. `otherwise`: of a clash that nobody has decided."""
        base, mine, theirs = values
        if not clash and same(_value(mine), _value(theirs)):
            # They differ only in how they say nothing.
            return "theirs" if _same(mine, base) else "mine"
        whose: Literal["mine", "theirs", "clash"] = "clash"
        sides: tuple[Side, ...] = ("mine", "theirs", "both") if both else ("mine", "theirs")
        if not clash and _same(mine, base):
            whose = otherwise = "theirs"
        elif not clash and _same(theirs, base):
            whose = otherwise = "mine"
        if whose != "clash":
            sides = ("mine", "theirs")
        choice = self.choices.get(here.key, otherwise)
        if choice not in sides:
            choice = otherwise
        place = format_place(self.versions.place(here.path, 1))
        ours, yours, others = texts
        self.found.append(
            Difference(
                here.key, place, here.label, here.about, ours, yours, others, whose, sides, choice
            )
        )
        return choice


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and one == other)


def _value(value: Any) -> Any:
    return None if value is MISSING else value


def _filled(row: Any, base: Any) -> Any:
    return {**mapping(base), **mapping(row)} if isinstance(row, dict) else row


def _described(shape: Items, value: Any) -> str:
    return "" if value is MISSING else described_item(shape, value)


def _clash(whole: Sequence[str], values: Three) -> bool:
    """Whether both changed one of these fields, and not to the same."""
    base, mine, theirs = map(mapping, values)
    if values[0] is MISSING or not all(isinstance(value, dict) for value in values):
        return False
    return any(
        mine.get(name) != theirs.get(name)
        and mine.get(name) != base.get(name)
        and theirs.get(name) != base.get(name)
        for name in whole
    )

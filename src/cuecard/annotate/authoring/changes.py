"""What differs between two versions of a task's data, field by field and element by element."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from cuecard.annotate.authoring.anatomy import (
    Items,
    Leaf,
    Record,
    Shape,
    described,
    fields_of,
    is_blank,
    label_of,
    same,
)
from cuecard.annotate.authoring.linking import Versions
from cuecard.annotate.authoring.matching import moved
from cuecard.annotate.authoring.trees import Path
from cuecard.core.i18n import _, ngettext
from cuecard.core.validation import format_place

ChangeKind = Literal["added", "removed", "changed", "moved"]
MOST_MOVES = 12
"""More items than this in another order are told as one change."""


@dataclass(frozen=True)
class Change:
    """One difference. `place` is that in the new data, of what was removed that in the old; `label`
    names it for people, `about` says what the item is that it is part of. Of what moved, `before`
    and `after` are its numbers.
    """

    place: str
    label: str
    kind: ChangeKind
    before: str
    after: str
    about: str = ""


def changes_between(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Every difference, in the order of the new data; none when both say the same."""
    if old is new:
        return []
    versions = Versions(old, new)
    before, after = versions.trees
    return list(_Walk(versions).between(versions.shape, before, after, _Here()))


@dataclass(frozen=True)
class _Here:
    """Where the walk is: in the old and in the new data, and what both are called."""

    old: Path = ()
    new: Path = ()
    label: str = ""
    about: str = ""

    def below(self, part: str | int, label: str = "") -> _Here:
        return _Here((*self.old, part), (*self.new, part), joined(self.label, label), self.about)


def joined(*labels: str) -> str:
    """`Stage 3 · Line`."""
    return " · ".join(filter(None, labels))


@dataclass(frozen=True)
class _Walk:
    versions: Versions

    def between(self, shape: Shape, old: Any, new: Any, here: _Here) -> Iterator[Change]:
        if same(old, new):
            return
        if isinstance(shape, Record) and isinstance(old, dict) and isinstance(new, dict):
            fields = fields_of(shape, old, new)
            for name, inner in fields.items():
                label = label_of(inner) if isinstance(inner, Leaf | Record) else ""
                below = here.below(name, label)
                yield from self.between(inner, old.get(name), new.get(name), below)
        elif isinstance(shape, Items) and _is_list(old) and _is_list(new):
            left, right = cast(list[Any], old or []), cast(list[Any], new or [])
            yield from self._items(shape, left, right, here)
        else:
            yield self._change(shape, old, new, here)

    def _items(self, shape: Items, old: list[Any], new: list[Any], here: _Here) -> Iterator[Change]:
        olds, news = self.versions.ids(here.new, shape, [old, new])
        now = {known: index for index, known in enumerate(news)}
        gone = [index for index, known in enumerate(olds) if known not in now]
        shifted = moved([known for known in news if known < len(old)])
        told = shifted if len(shifted) <= MOST_MOVES else set[int]()
        waiting = 0
        for index, known in enumerate(news):
            if known < len(old) and known not in shifted:
                while waiting < len(gone) and gone[waiting] < known:
                    yield self._item(shape, old, None, gone[waiting], here)
                    waiting += 1
            if known >= len(old):
                yield self._item(shape, None, new, index, here)
                continue
            if known in told:
                yield self._moved(shape, new[index], known, index, here)
            label = numbered(shape, here.label, index)
            inner = _Here(
                (*here.old, known), (*here.new, index), label, here.about or shape.title(new[index])
            )
            yield from self.between(shape.item, old[known], new[index], inner)
        for index in gone[waiting:]:
            yield self._item(shape, old, None, index, here)
        if len(shifted) > MOST_MOVES:
            text = ngettext(
                "{n} item stands elsewhere", "{n} items stand elsewhere", len(shifted)
            ).format(n=len(shifted))
            label = joined(here.label, label_of(shape))
            yield Change(format_place(here.new), label, "moved", "", text, here.about)

    def _item(
        self, shape: Items, old: list[Any] | None, new: list[Any] | None, index: int, here: _Here
    ) -> Change:
        """An item that only one of the lists has."""
        item = (old or new or [])[index]
        label = numbered(shape, here.label, index)
        place = format_place((*(here.old if new is None else here.new), index))
        text = described_item(shape, item)
        if new is None:
            return Change(place, label, "removed", text, "", here.about)
        return Change(place, label, "added", "", text, here.about)

    def _moved(self, shape: Items, item: Any, old: int, new: int, here: _Here) -> Change:
        label = numbered(shape, here.label, new)
        place = format_place((*here.new, new))
        about = here.about or shape.title(item)
        return Change(place, label, "moved", str(old + 1), str(new + 1), about)

    def _change(self, shape: Shape, old: Any, new: Any, here: _Here) -> Change:
        kind: ChangeKind = "added" if is_blank(old) else "removed" if is_blank(new) else "changed"
        place = self.versions.place(here.new, 1)
        label = here.label or label_of(shape)
        before, after = described(shape, old), described(shape, new)
        return Change(format_place(place), label, kind, before, after, here.about)


def described_item(shape: Items, item: Any) -> str:
    """All that an item of a list says, beginning with its title."""
    title, text = shape.title(item), described(shape.item, item)
    if isinstance(shape.item, Leaf) or not title:
        return text or title
    spoken = set(title.split(" · "))
    more = [line for line in text.split("\n") if line.partition(": ")[2] not in spoken]
    return "\n".join([title, *more])


def numbered(shape: Items, owner: str, index: int) -> str:
    """`Triple 12`, or `Triple 12 · Source 2`."""
    one = _(shape.one).format(n=index + 1)
    return one if shape.apart else joined(owner, one)


def _is_list(value: Any) -> bool:
    return value is None or isinstance(value, list)

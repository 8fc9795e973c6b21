"""What differs between versions of a task, field by field and item by item, and what each changed place is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from cuecard.annotate.authoring.diff import moved
from cuecard.annotate.authoring.schema import (
    STAGES,
    Data,
    Ids,
    Items,
    Leaf,
    Links,
    Record,
    Ref,
    Shape,
    described,
    fields_of,
    identities,
    is_blank,
    label_of,
    listed,
    mapping,
    part,
    same,
    task_shape,
)
from cuecard.annotate.authoring.task_data import Path, parse_place
from cuecard.annotate.families.registry import ANNOTATE
from cuecard.core.i18n import _, plural
from cuecard.core.validation import format_place


class Versions:
    """Two or three versions of a task prepared for comparison; the first is the common ancestor. `trees`: their data,
    in which references to stages and columns are `Ref`s instead of numbers, so that renumbering is no change; `shape`
    describes all of them.
    """

    def __init__(self, *data: Data) -> None:
        families = {part(tree.get("gold"), "family") for tree in data}
        family = ANNOTATE.get(families.pop()) if len(families) == 1 else None
        stages = [listed(tree.get("persona"), "stages") for tree in data]
        self.stage_ids = identities(stages, STAGES.match_rule)
        self._links: Links | None = None
        if family is not None:
            refs = [_refs(*each) for each in zip(self.stage_ids, stages, strict=True)]
            golds = [mapping(tree.get("gold")) for tree in data]
            self._links = family.links(golds, family.fields, family.staged, refs)
        self.trees = [
            {**tree, "gold": self._links.linked(at) if self._links else tree.get("gold")}
            for at, tree in enumerate(data)
        ]
        self.shape = task_shape(self._links.fields if self._links else None)

    def used(self, version: int) -> tuple[set[int], set[int]]:
        """The ids of stages and columns that items of this version's gold newly refer to."""
        if self._links is None:
            return set(), set()
        return self._links.used(*(mapping(self.trees[at]["gold"]) for at in (0, version)))

    def ids(self, path: Path, shape: Items, lists: Sequence[Sequence[Any]]) -> Ids:
        """The identities of the lists at `path`, in the order of the versions."""
        known = self.known.get(path)
        if known is not None and len(lists) == len(known):
            return known
        return identities(lists, shape.match_rule)

    @property
    def known(self) -> Mapping[Path, Ids]:
        """The identities of lists that other things refer to, by their path."""
        known: dict[Path, Ids] = {("persona", "stages"): self.stage_ids}
        return {**known, **self._links.ids} if self._links else known

    def place(self, path: Path, version: int) -> Path:
        """`path`, with identities of columns, as a path in that version's own data, with positions of cells."""
        return self._links.place(path, version) if self._links else path

    def cell(self, path: Path) -> int | None:
        """See `Links.cell`."""
        return self._links.cell(path) if self._links else None

    def unlinked(self, tree: dict[str, Any], orders: Mapping[Path, Sequence[int]]) -> Data:
        """A tree as plain data: `Ref`s become numbers. `orders`: the identities of `known` lists in its order."""
        if self._links is None:
            return tree
        stages, columns = orders["persona", "stages"], orders.get(("gold", "columns"), ())
        return {**tree, "gold": self._links.unlinked(mapping(tree.get("gold")), stages, columns)}


def _refs(known: Sequence[int], stages: Sequence[Any]) -> list[Ref]:
    titles = [part(stage, "title") for stage in stages]
    return [
        Ref(id, f"{number} · {title}" if title else str(number))
        for number, (id, title) in enumerate(zip(known, titles, strict=True), 1)
    ]


ChangeKind = Literal["added", "removed", "changed", "moved"]
MOST_MOVES = 12
"""If more items than this moved within a list, that is reported as one change."""


@dataclass(frozen=True)
class Change:
    """One difference between two versions. `place`: the path in the new data, of a removed thing in the old data;
    `label` names the place for people, `about` describes the item that it is part of. For a moved item, `before` and
    `after` are its old and new number.
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
    """The current place of the comparison: its paths in the old and the new data, and their label."""

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
            text = plural("{n} item stands elsewhere", "{n} items stand elsewhere", len(shifted))
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
    """All fields of an item of a list as text, beginning with its title."""
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


def shape_of(data: Data) -> Record:
    """The shape of a task's data, whose gold is one value where the family is not known."""
    family = ANNOTATE.get(part(data.get("gold"), "family"))
    return task_shape(family.fields if family else None)


def place_in_words(place: str, data: Mapping[str, Any]) -> str:
    """The label of a place in a task's data: `Stage 3 · Line`. Unknown parts are left out; "" for the whole task."""
    path = parse_place(place)
    shape: Shape | None = shape_of(data)
    label = ""
    for at, step in enumerate(path):
        if isinstance(shape, Items) and isinstance(step, int):
            label, shape = numbered(shape, label, step), shape.item
        elif isinstance(shape, Record) and isinstance(step, str) and step in shape.fields:
            shape = shape.fields[step]
            last = at == len(path) - 1
            if last or not isinstance(shape, Items):
                label = joined(label, label_of(shape)) if label != _("Persona") else label_of(shape)
        elif path[:2] == ("gold", "rows") and isinstance(step, int):
            return joined(label, _column_name(path, data) or str(step + 1))
        else:
            break
    return label


def _column_name(path: Path, data: Mapping[str, Any]) -> str:
    try:
        return str(data["gold"]["columns"][path[3]]["name"])
    except (LookupError, TypeError):
        return ""

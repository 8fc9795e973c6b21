"""The fields of a task's data for comparing and merging: labels, how items of lists are matched, values as text; and
what gold says by the place at which something else stands (stages, columns), as references that hold wherever it stands.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from cuecard.annotate.authoring.diff import MatchRule, match, match_by_key
from cuecard.core.i18n import N_, NP_, _
from cuecard.core.text import normalise
from cuecard.core.validation import Place


@dataclass(frozen=True)
class Ref:
    """A reference to a stage or column by identity instead of number, so that renumbering is no change. `shown`: how it
    reads.
    """

    id: int
    shown: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Leaf:
    """A value that is compared and merged as a whole. `joint`: the text put between two versions that are both kept,
    None if only one can be kept. `raw`: the label is not to be translated.
    """

    label: str
    joint: str | None = None
    raw: bool = False


@dataclass(frozen=True)
class Record:
    """A mapping with known fields. Without a `label`, only its fields are named. `whole`: fields that depend on each
    other, so that a conflict in one is decided for all.
    """

    label: str
    fields: Mapping[str, Shape]
    whole: tuple[str, ...] = ()


@dataclass(frozen=True)
class Items:
    """A list. `one`: the label of an item, with its number `{n}`; `title`: an item in a few words. `apart`: labels of
    items omit the label of what the list is in.
    """

    label: str
    one: str
    item: Shape
    match_rule: MatchRule = field(default_factory=MatchRule)
    title: Callable[[Any], str] = str
    apart: bool = False


Shape = Leaf | Record | Items


def text_of(value: Any) -> str:
    """A value of any type as text; nothing is the empty text."""
    match value:
        case None:
            return ""
        case str():
            return value
        case Ref():
            return value.shown
        case bool() | int() | float():
            return str(value)
        case list() if all(isinstance(part, str | Ref) for part in cast(list[Any], value)):
            return ", ".join(map(text_of, cast(list[Any], value)))
        case _:
            return json.dumps(value, ensure_ascii=False, default=text_of)


def described(shape: Shape, value: Any) -> str:
    """The whole of a value as lines of text, what is empty left out."""
    if isinstance(shape, Record) and isinstance(value, dict):
        lines: list[str] = []
        for name, inner in shape.fields.items():
            if text := described(inner, cast(dict[str, Any], value).get(name)):
                gap = "\n" if "\n" in text else " "
                label = label_of(inner)
                lines.append(f"{label}:{gap}{text}" if label else text)
        return "\n".join(lines)
    if isinstance(shape, Items) and isinstance(value, list):
        parts = [described(shape.item, item) for item in cast(list[Any], value)]
        between = ", " if isinstance(shape.item, Leaf) else "\n"
        return between.join(filter(None, parts))
    return text_of(value)


def fields_of(shape: Record, *values: Any) -> dict[str, Shape]:
    """The fields of a record, and those that the values have beyond what is known of it."""
    fields = dict(shape.fields)
    for value in values:
        for name in mapping(value):
            fields.setdefault(name, Leaf(name, raw=True))
    return fields


def label_of(shape: Shape) -> str:
    """How a thing is called, in the person's language."""
    if not shape.label or (isinstance(shape, Leaf) and shape.raw):
        return shape.label
    return _(shape.label)


def is_blank(value: Any) -> bool:
    """Whether a value is empty, as one that is missing is."""
    return value is None or value == "" or value == [] or value == {}


def same(one: Any, other: Any) -> bool:
    """Whether two values say the same."""
    return one is other or one == other or (is_blank(one) and is_blank(other))


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def part(item: Any, name: str) -> str:
    """A text field of an item, "" where there is none."""
    return text_of(mapping(item).get(name))


def listed(owner: Any, name: str) -> list[Any]:
    """A list in a mapping, an empty one where there is none."""
    value = mapping(owner).get(name)
    return cast(list[Any], value) if isinstance(value, list) else []


PARAGRAPH = "\n\n"


def known_by(*names: str, plain: bool = False) -> Callable[[Any], Hashable | None]:
    """A key of items: known by these fields; `plain`: as compared texts, whatever case and width."""

    def key(item: Any) -> Hashable | None:
        values = tuple(part(item, name) for name in names)
        if plain:
            values = tuple(map(normalise, values))
        return values if any(values) else None

    return key


def words(*names: str) -> Callable[[Any], str]:
    """A text of items: what stands in these fields."""
    return lambda item: " · ".join(part(item, name) for name in names if part(item, name))


def texts(label: str, one: str) -> Items:
    """A list of texts."""
    match_rule = MatchRule(keys=(_plain_text,), text=text_of, least=80)
    return Items(label, one, Leaf(label), match_rule, text_of)


def _plain_text(item: Any) -> Hashable | None:
    return normalise(text_of(item)) or None


LINKS = Items(
    N_("Sources"), N_("Source {n}"), Leaf(N_("Source")), MatchRule(text=text_of, least=85), text_of
)
ALIASES = texts(N_("Aliases"), N_("Alias {n}"))
TERMS = texts(N_("Terms"), N_("Term {n}"))

STAGES = Items(
    N_("Stages"),
    N_("Stage {n}"),
    Record(
        N_("Stage"),
        {
            "title": Leaf(N_("Title")),
            "cue": Record(
                N_("Cue"),
                {"kind": Leaf(N_("Kind")), "text": Leaf(NP_("of a cue", "When")), "terms": TERMS},
            ),
            "line": Leaf(N_("Line"), PARAGRAPH),
            "not_met": Leaf(N_("If not met"), PARAGRAPH),
        },
    ),
    MatchRule(
        keys=(known_by("title"), known_by("line"), known_by("title", plain=True)),
        text=words("title", "line"),
        least=60,
    ),
    words("title"),
    apart=True,
)
_PERSONA = Record(
    N_("Persona"),
    {
        "name": Leaf(N_("Name")),
        "identity": Leaf(N_("Identity"), PARAGRAPH),
        "initial_query": Leaf(N_("First query"), PARAGRAPH),
        "stages": STAGES,
        "behaviour": Leaf(N_("Behaviour"), PARAGRAPH),
    },
)
_SOURCE_LIST = Items(
    N_("Sources"),
    N_("Source {n}"),
    Record(N_("Source"), {"url": Leaf(N_("Address")), "note": Leaf(N_("Note"), PARAGRAPH)}),
    MatchRule(keys=(known_by("url"),), text=words("url", "note"), least=80),
    words("url"),
)
_SILENCED = Items(
    N_("Silenced"),
    N_("Silence {n}"),
    Record(
        N_("Silence"),
        {"code": Leaf(N_("Rule")), "about": Leaf(N_("About")), "reason": Leaf(N_("Reason"))},
    ),
    MatchRule(keys=(known_by("code", "about"),), text=words("code", "about"), least=90),
    words("code", "about"),
)


def task_shape(gold: Mapping[str, Shape] | None) -> Record:
    """The structure of a task with these fields of its gold; None: the gold is one value."""
    return Record(
        "",
        {
            "id": Leaf(N_("Id")),
            "title": Leaf(N_("Title")),
            "domain": Leaf(N_("Domain")),
            "language": Leaf(N_("Language")),
            "difficulty": Leaf(N_("Difficulty")),
            "query": Leaf(N_("Query"), PARAGRAPH),
            "sub_queries": texts(N_("Sub-queries"), N_("Sub-query {n}")),
            "notes": Leaf(N_("Notes"), PARAGRAPH),
            "persona": _PERSONA,
            "gold": Leaf(N_("Gold")) if gold is None else Record("", gold),
            "sources": _SOURCE_LIST,
            "silenced": _SILENCED,
            "foreign": Leaf(N_("Other format's fields")),
        },
    )


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

"""Facts as a grid of cells that is edited and pasted into, and the source URLs that a task lists or its gold cites."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any, Literal, cast

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.ops import SOURCES
from cuecard.annotate.authoring.paste import PastedTable
from cuecard.annotate.authoring.paste_formats import fold
from cuecard.annotate.authoring.task_data import blank_fact, blank_source
from cuecard.core.tasks.base import is_web_address
from cuecard.core.text import normalise

FactField = Literal["key", "value", "kind", "entity", "attribute", "unit", "aliases", "sources"]

# Columns of the grid that are edited in place, in order.
TYPED: tuple[FactField, ...] = ("key", "value", "kind", "entity", "attribute", "unit")
_WORDS: dict[FactField, str] = {
    "key": "key id fact name 键 名称 事实",
    "value": "value val tail object 值 数值",
    "kind": "kind type 类型 种类",
    "entity": "entity subject head 实体 主体",
    "attribute": "attribute property relation predicate 属性 关系",
    "unit": "unit units 单位",
    "aliases": "aliases alias 别名",
    "sources": "sources source url urls evidence 来源 链接 证据",
}
_NAMES: dict[str, FactField] = {
    name: field for field, names in _WORDS.items() for name in names.split()
}
HEADER_NAMES = tuple(_NAMES)
_RULES = ("rule", "convention", "规则", "约定")
# Without a header: what so many columns are taken for.
_BY_WIDTH: dict[int, tuple[FactField, ...]] = {
    1: ("value",),
    2: ("key", "value"),
    3: ("entity", "attribute", "value"),
    4: ("entity", "attribute", "value", "unit"),
}


def fact_text(fact: Mapping[str, Any], field: FactField) -> str:
    """A cell's text; for aliases and sources their number, "" for none."""
    value = fact.get(field)
    if field in ("aliases", "sources"):
        return str(len(value)) if value else ""
    return "" if value is None else str(value)


def write_fact(edit: TaskEdit, row: int, field: FactField, text: str) -> None:
    """Type into a cell. A kind is a rule if the text begins like one, else a fact."""
    value = read_kind(text) if field == "kind" else text
    edit.set((*ops.FACTS, row, field), value, typing=True)


def read_kind(text: str) -> str:
    """`rule` for what begins like the word for it in English or Chinese, else `fact`."""
    plain = normalise(text)
    return "rule" if plain and any(word.startswith(plain) or plain.startswith(word) for word in _RULES) else "fact"  # fmt: skip


def used(edit: TaskEdit, field: FactField, but: int = -1) -> list[str]:
    """The values that facts have in `field`, the most frequent first; the fact with index `but` is not counted."""
    counts = Counter(
        text
        for index, fact in enumerate(edit.items(ops.FACTS))
        if index != but and (text := fact_text(fact, field).strip())
    )
    return [text for text, _count in counts.most_common()]


def duplicate_keys(edit: TaskEdit) -> dict[int, int]:
    """For each fact whose key another fact has too, the index of the first (or, for that one, the next) of them."""
    places: dict[str, list[int]] = {}
    for index, fact in enumerate(edit.items(ops.FACTS)):
        if key := str(fact.get("key") or "").strip():
            places.setdefault(key, []).append(index)
    return {
        index: alike[0] if index != alike[0] else alike[1]
        for alike in places.values()
        if len(alike) > 1
        for index in alike
    }


@dataclass(frozen=True)
class FactsPaste:
    """What pasting would do. `updated`: for each existing fact with a pasted key, by index, the fact as it would
    become; `same`: how many would not change; `left_out`: pasted columns that no field is named like.
    """

    added: tuple[dict[str, Any], ...]
    updated: dict[int, dict[str, Any]]
    same: int
    left_out: tuple[str, ...]
    replaces_blank: bool


def plan_facts(edit: TaskEdit, pasted: PastedTable) -> FactsPaste:
    """Pasted rows as facts. A header names the fields; without one, two columns are key and value,
    three entity, attribute and value. A fact without a key gets one of its entity and attribute.
    """
    fields, left_out = fields_of(pasted)
    facts = edit.items(ops.FACTS)
    blank = not any(str(fact.get("key") or fact.get("value") or "").strip() for fact in facts)
    places = {str(fact.get("key") or "").strip(): i for i, fact in enumerate(facts)}
    added: list[dict[str, Any]] = []
    updated: dict[int, dict[str, Any]] = {}
    same = 0
    for row in pasted.rows:
        given = _given(row, fields)
        if not given:
            continue
        key = given.setdefault("key", _key(given))
        place = places.get(str(key))
        if place is None or not key:
            added.append({**blank_fact(), **given})
            continue
        old: dict[str, Any] = updated.get(place) or facts[place]
        new = {**old, **given}
        if new == old:
            same += 1
        else:
            updated[place] = new
    return FactsPaste(tuple(added), updated, same, left_out, blank)


def apply_facts(edit: TaskEdit, plan: FactsPaste, below: int) -> int:
    """Put the new facts below the fact `below` and update the others, in one step. Returns where
    the first new one is.
    """
    facts = [] if plan.replaces_blank else list(edit.items(ops.FACTS))
    at = min(below + 1, len(facts))
    with edit.together((*ops.FACTS, at if plan.added else min(plan.updated, default=0))):
        for index, fact in plan.updated.items():
            facts[index] = fact
        edit.set(ops.FACTS, [*facts[:at], *plan.added, *facts[at:]])
    return at


def fields_of(pasted: PastedTable) -> tuple[list[FactField | None], tuple[str, ...]]:
    if pasted.header is None:
        by_order = _BY_WIDTH.get(pasted.width, (*TYPED, "aliases", "sources"))
        return [by_order[i] if i < len(by_order) else None for i in range(pasted.width)], ()
    fields: list[FactField | None] = []
    for name in pasted.header:
        field = _NAMES.get(fold(name))
        fields.append(field if field not in fields else None)
    left_out = [name for name, field in zip(pasted.header, fields, strict=True) if field is None]
    return fields, tuple(left_out)


def _given(row: tuple[str, ...], fields: list[FactField | None]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for field, text in zip(fields, row, strict=True):
        if field is None or not text:
            continue
        if field in ("aliases", "sources"):
            given[field] = [part for piece in text.split(";") if (part := piece.strip())]
        else:
            given[field] = read_kind(text) if field == "kind" else text
    return given


def _key(given: Mapping[str, Any]) -> str:
    return " ".join(str(given[f]) for f in ("entity", "attribute") if f in given)


CitedBy = Literal["triples", "steps", "facts"]
_CITING: tuple[CitedBy, ...] = ("triples", "steps", "facts")


@dataclass(frozen=True)
class Evidence:
    """One source address. `index`: its place in the task's list, None if only the gold cites it. `cited`: the indices
    of gold items that cite it, by kind of item.
    """

    url: str
    note: str = ""
    index: int | None = None
    cited: Mapping[CitedBy, tuple[int, ...]] = dataclass_field(
        default_factory=dict[CitedBy, tuple[int, ...]]
    )

    @property
    def sound(self) -> bool:
        """Whether it is a well-formed web address."""
        return is_web_address(self.url)

    @property
    def count(self) -> int:
        """How many items of the gold cite it."""
        return sum(map(len, self.cited.values()))


def evidence_of(data: Mapping[str, Any]) -> list[Evidence]:
    """The list of sources in its order, then what is only cited, as it comes up in the gold."""
    cited: dict[str, dict[CitedBy, list[int]]] = {}
    for kind, number, url in _citations(data):
        numbers = cited.setdefault(url, {}).setdefault(kind, [])
        if not numbers or numbers[-1] != number:
            numbers.append(number)
    found: list[Evidence] = []
    listed: set[str] = set()
    for index, source in enumerate(_dicts(data.get("sources"))):
        url = str(source.get("url") or "").strip()
        listed.add(url)
        found.append(Evidence(url, str(source.get("note") or ""), index, _frozen(cited.get(url))))
    only = (url for url in cited if url not in listed)
    return [*found, *(Evidence(url, cited=_frozen(cited[url])) for url in only)]


def add_to_sources(edit: TaskEdit, *urls: str) -> None:
    """Put addresses that are only cited on the list of sources, as one step for undo."""
    known = {str(source.get("url", "")).strip() for source in _dicts(edit.items(SOURCES))}
    new = [url for url in dict.fromkeys(urls) if url not in known]
    if new:
        with edit.together(SOURCES):
            more = [{**blank_source(), "url": url} for url in new]
            edit.set(SOURCES, [*edit.items(SOURCES), *more])


def _citations(data: Mapping[str, Any]) -> Iterator[tuple[CitedBy, int, str]]:
    gold = data.get("gold")
    if not isinstance(gold, dict):
        return
    for kind in _CITING:
        for number, item in enumerate(_dicts(cast(dict[str, Any], gold).get(kind))):
            urls = item.get("sources")
            for url in cast(list[Any], urls) if isinstance(urls, list) else []:
                if str(url).strip():
                    yield kind, number, str(url).strip()


def _frozen(cited: Mapping[CitedBy, list[int]] | None) -> dict[CitedBy, tuple[int, ...]]:
    return {kind: tuple(numbers) for kind, numbers in (cited or {}).items()}


def _dicts(value: Any) -> list[dict[str, Any]]:
    items = cast(list[Any], value) if isinstance(value, list) else []
    return [cast(dict[str, Any], item) if isinstance(item, dict) else {} for item in items]

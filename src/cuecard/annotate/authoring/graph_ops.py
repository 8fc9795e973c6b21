"""Editing many triples at once, and pasting rows of text as triples after checking them."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.graph_names import GraphIndex, NameKind, TripleKey, key_of
from cuecard.annotate.authoring.task_data import blank_triple
from cuecard.core.i18n import _, listed
from cuecard.core.text import one_line

TextField = Literal["head", "relation", "tail"]
SourceMode = Literal["replace", "add", "remove"]

Triple = dict[str, Any]


def write_text(edit: TaskEdit, index: int, field: TextField, text: str) -> None:
    """Write a cell's text; consecutive edits of one cell are one undo step."""
    edit.set((*ops.TRIPLES, index, field), text, typing=True)


def new_triple(above: Mapping[str, Any] | None) -> Triple:
    """An empty triple with the same stage as the one above it."""
    return {**blank_triple(), "stage": above.get("stage") if above else None}


def insert_triples(
    edit: TaskEdit, at: int, triples: Sequence[Mapping[str, Any]], *, instead: bool = False
) -> None:
    """Put triples before the one at `at`, or in its place."""
    if triples:
        now = edit.items(ops.TRIPLES)
        with edit.together((*ops.TRIPLES, at)):
            edit.arrange(ops.TRIPLES, [*now[:at], *triples, *now[at + instead :]])


def fill(edit: TaskEdit, indices: Collection[int], field: TextField, text: str) -> int:
    """Write the same into a field of several triples; returns how many changed."""
    return change(edit, indices, lambda triple: {**triple, field: text})


def assign_stage(edit: TaskEdit, indices: Collection[int], stage: int | None) -> int:
    """Set the stage of these triples, None for none; gives how many changed."""
    return change(edit, indices, lambda triple: {**triple, "stage": stage})


def assign_sources(
    edit: TaskEdit, indices: Collection[int], urls: Sequence[str], mode: SourceMode
) -> int:
    """Give triples these sources instead of theirs, beside theirs, or take these away. Returns how
    many triples changed.
    """

    def changed(triple: Triple) -> Triple:
        given = list(dict.fromkeys(urls))
        old = list(triple.get("sources", ()))
        match mode:
            case "replace":
                new = given
            case "add":
                new = [*old, *(url for url in given if url not in old)]
            case "remove":
                new = [url for url in old if url not in given]
        return {**triple, "sources": new}

    return change(edit, indices, changed)


def delete_triples(edit: TaskEdit, indices: Collection[int]) -> int:
    """Take triples out; returns how many."""
    now, gone = edit.items(ops.TRIPLES), set(indices)
    kept = [triple for index, triple in enumerate(now) if index not in gone]
    if len(kept) < len(now):
        with edit.together((*ops.TRIPLES, min(gone))):
            edit.arrange(ops.TRIPLES, kept)
    return len(now) - len(kept)


def duplicate_triples(edit: TaskEdit, indices: Collection[int]) -> int:
    """Put copies of triples below the last of them; returns where the first copy stands."""
    now = edit.items(ops.TRIPLES)
    chosen = sorted(index for index in indices if 0 <= index < len(now))
    if not chosen:
        return len(now)
    at = chosen[-1] + 1
    insert_triples(edit, at, [dict(now[index]) for index in chosen])
    return at


def move_triples(edit: TaskEdit, indices: Collection[int], by: int) -> list[int]:
    """Move triples up (`by` < 0) or down past their neighbours, keeping their order; they stop at
    the ends of the list. Returns where they stand afterwards.
    """
    items = list(edit.items(ops.TRIPLES))
    chosen = sorted({index for index in indices if 0 <= index < len(items)})
    if not chosen or not by:
        return chosen
    by = max(by, -chosen[0]) if by < 0 else min(by, len(items) - 1 - chosen[-1])
    moved = {index + by: items[index] for index in chosen}
    rest = iter([item for index, item in enumerate(items) if index not in set(chosen)])
    with edit.together((*ops.TRIPLES, chosen[0] + by)):
        edit.arrange(
            ops.TRIPLES,
            [moved[place] if place in moved else next(rest) for place in range(len(items))],
        )
    return sorted(moved)


def change(edit: TaskEdit, indices: Collection[int], new: Callable[[Triple], Triple]) -> int:
    """Put `new(triple)` for each of these; returns how many are different now."""
    items = list(edit.items(ops.TRIPLES))
    count, first = 0, len(items)
    for index in indices:
        if 0 <= index < len(items) and (changed := new(items[index])) != items[index]:
            items[index] = changed
            count += 1
            first = min(first, index)
    if count:
        with edit.together((*ops.TRIPLES, first)):
            edit.arrange(ops.TRIPLES, items)
    return count


Target = Literal["head", "relation", "tail", "stage", "sources", "note"]
TARGETS: tuple[Target, ...] = ("head", "relation", "tail", "stage", "sources", "note")
MOST_COMPARED = 2000
PasteState = Literal["new", "near", "duplicate", "bad"]

_NAMES: dict[Target, str] = {
    "head": "head subject subj source_node from entity1 entity s h 头 头实体 主语 主体 实体 头节点",
    "relation": "relation predicate pred property edge label rel r p 关系 谓语 谓词 属性",
    "tail": "tail object obj target to entity2 value o t 尾 尾实体 宾语 客体 值 尾节点",
    "stage": "stage step turn 阶段 步骤 轮次",
    "sources": "source sources url urls link links reference references evidence 来源 出处 链接 网址",
    "note": "note notes remark comment sentence quote 备注 注释 说明 原文",
}  # fmt: skip
_HEADERS = {target: frozenset(names.split()) for target, names in _NAMES.items()}
HEADER_WORDS = frozenset[str]().union(*_HEADERS.values())
# Up to a blank, a mark that no address holds, or the next address.
_URLS = re.compile(r"https?://(?:(?![;,|，；、]*https?://)[^\s|<>\"，；、])+", re.IGNORECASE)
_TRAILING = re.compile(r"[;,，；。]+$")


@dataclass(frozen=True)
class PastedTriple:
    """One pasted row as a triple. `like`: the index of an existing triple that it resembles, None if it resembles an
    earlier pasted row. `reason` says what is wrong or noteworthy.
    """

    triple: dict[str, Any]
    state: PasteState
    reason: str = ""
    like: int | None = None


@dataclass(frozen=True)
class PastePlan:
    """What pasting would do. `columns`: the part of a triple that each pasted column is read as, None for ignored ones."""

    columns: tuple[Target | None, ...]
    triples: tuple[PastedTriple, ...]
    problems: tuple[str, ...] = field(default=())

    def of(self, *states: PasteState) -> list[dict[str, Any]]:
        """The triples in these states, in order."""
        return [row.triple for row in self.triples if row.state in states]

    def count(self, state: PasteState) -> int:
        return sum(row.state == state for row in self.triples)


def columns_of(
    header: Sequence[str] | None, rows: Sequence[Sequence[str]]
) -> tuple[Target | None, ...]:
    """What each column is: by the header's names; without a header by position, and by its content
    after the third.
    """
    width = max((len(row) for row in rows), default=len(header or ()))
    if header is not None:
        named = _by_name(header, width)
        if {"head", "tail"} <= set(named):
            return tuple(named)
    guessed: list[Target | None] = [None] * width
    for position, target in enumerate(TARGETS[:3]):
        if position < width:
            guessed[position] = target
    for position in range(3, width):
        texts = [row[position].strip() for row in rows if len(row) > position]
        target = _by_content([text for text in texts if text])
        guessed[position] = target if target not in guessed else None
    return tuple(guessed)


def plan_paste(
    index: GraphIndex,
    header: Sequence[str] | None,
    rows: Sequence[Sequence[str]],
    *,
    stages: int,
    stage: int | None = None,
    columns: Sequence[Target | None] | None = None,
) -> PastePlan:
    """What pasting these rows would add. A row without a stage of its own gets `stage`; `stages` is
    how many the persona has, 0 when there is none. Slow enough for a thread: 1,000 rows of new names
    beside 5,000 triples take about half a second.
    """
    targets = tuple(columns) if columns is not None else columns_of(header, rows)
    planner = _Planner(index, stages)
    planned = [
        planner.planned(*_triple(row, targets, stage))
        for row in rows
        if any(cell.strip() for cell in row)
    ]
    return PastePlan(targets, tuple(planned))


class _Planner:
    def __init__(self, index: GraphIndex, stages: int) -> None:
        self._index, self._stages = index, stages
        self._ends = index.ends()
        self._seen: set[TripleKey] = set()
        self._near: dict[tuple[NameKind, str], str] = {}

    def planned(self, triple: dict[str, Any], wrong: str) -> PastedTriple:
        """Look at one triple, of which something may be `wrong` already."""
        if wrong := wrong or _missing(triple):
            return PastedTriple(triple, "bad", wrong)
        key = key_of(triple)
        if key in self._seen:
            return PastedTriple(triple, "duplicate", _("twice in what you paste"))
        self._seen.add(key)
        if (like := self._index.like(triple, ends=self._ends)) is not None:
            same = like.how == "same"
            text = _("the same as triple {n}") if same else _("like triple {n}")
            text = text.format(n=like.index + 1)
            return PastedTriple(triple, "duplicate" if same else "near", text, like.index)
        if triple["stage"] is not None and triple["stage"] > self._stages:
            text = _("there is no stage {n}").format(n=triple["stage"])
            return PastedTriple({**triple, "stage": None}, "near", text)
        for kind, name in _named(triple):
            if other := self._near_name(kind, name):
                text = _("“{name}” is like “{other}”").format(name=name, other=other)
                return PastedTriple(triple, "near", text)
        return PastedTriple(triple, "new")

    def _near_name(self, kind: NameKind, name: str) -> str:
        """An existing name that a new one resembles, "" for none; with very many new names only some are checked."""
        if self._index.uses(kind, name):
            return ""
        if (kind, name) not in self._near:
            if len(self._near) >= MOST_COMPARED:
                return ""
            near = self._index.near(kind, name, limit=1)
            self._near[kind, name] = near[0] if near else ""
        return self._near[kind, name]


def _named(triple: Mapping[str, Any]) -> tuple[tuple[NameKind, str], ...]:
    return ("entity", triple["head"]), ("relation", triple["relation"]), ("entity", triple["tail"])


def _missing(triple: Mapping[str, Any]) -> str:
    names = {"head": _("head"), "relation": _("relation"), "tail": _("tail")}
    missing = [label for part, label in names.items() if not triple[part]]
    return _("no {parts}").format(parts=listed(missing)) if missing else ""


def _triple(
    row: Sequence[str], targets: Sequence[Target | None], stage: int | None
) -> tuple[dict[str, Any], str]:
    """The triple, and what is wrong with it."""
    triple, wrong = {**blank_triple(), "stage": stage}, ""
    for cell, target in zip(row, targets, strict=False):
        text = one_line(cell)
        match target:
            case None:
                pass
            case "stage":
                number = re.search(r"\d+", text)
                if number and len(number[0]) < 6 and int(number[0]) > 0:
                    triple["stage"] = int(number[0])
                elif text not in ("", "-", "–"):
                    wrong = _("“{text}” is no stage").format(text=text[:40])
            case "sources":
                triple["sources"], bad = read_urls(text)
                if bad:
                    wrong = _("“{text}” is no web address").format(text=bad[0][:60])
            case _:
                triple[target] = text
    return triple, wrong


def read_urls(text: str) -> tuple[list[str], list[str]]:
    """Web addresses in a text, in order and each once, and what else there was that is none."""
    urls: dict[str, None] = {}
    for match in _URLS.findall(text):
        urls.setdefault(_TRAILING.sub("", match))
    rest = _URLS.sub(" ", text)
    return list(urls), [word for word in re.split(r"[\s,;|，；、]+", rest) if len(word) > 1]


def _by_name(header: Sequence[str], width: int) -> list[Target | None]:
    named: list[Target | None] = []
    for cell in [*header, *[""] * (width - len(header))]:
        word = re.sub(r"[\s_-]+(id|name|text|名称)$", "", cell.strip().casefold())
        target: Target | None = next((t for t in TARGETS if word in _HEADERS[t]), None)
        named.append(target if target not in named else None)
    return named


def _by_content(texts: Sequence[str]) -> Target | None:
    if not texts:
        return None
    if all(_URLS.search(text) for text in texts[:50]):
        return "sources"
    if all(text.isdecimal() or text in ("-", "–") for text in texts):
        return "stage"
    return "note"

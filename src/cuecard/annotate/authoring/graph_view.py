"""Which triples a list shows and in what order: filtered, sorted, and steady while one is typed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cuecard.annotate.authoring.graph_names import key_of
from cuecard.annotate.authoring.likeness import plain
from cuecard.annotate.authoring.splices import splice_between

SortKey = Literal["head", "relation", "tail", "stage", "sources"]
SORT_KEYS: tuple[SortKey, ...] = ("head", "relation", "tail", "stage", "sources")

_STAGE = re.compile(r"(?:stage|阶段)[:：](\d+|-|none|无)", re.IGNORECASE)
_UNSOURCED = frozenset(("no:source", "no:sources", "无来源"))
_PROBLEMS = frozenset(("problem", "problems", "有问题", "!"))


@dataclass(frozen=True)
class GraphFilter:
    """Triples that hold every word of `words`, and whatever else is asked. `stage` 0: without one.
    `entity`: as head or tail, written just so.
    """

    words: tuple[str, ...] = ()
    stage: int | None = None
    unsourced: bool = False
    problems: bool = False
    entity: str = ""

    @property
    def active(self) -> bool:
        return self != GraphFilter()


def parse_filter(text: str) -> GraphFilter:
    """What a person types: words, `stage:3`, `stage:-`, `no:source`, `problem`, and `=Entity` to the
    end of the line.
    """
    text, equals, entity = text.partition("=") if text.startswith("=") else _split_entity(text)
    words: list[str] = []
    stage: int | None = None
    unsourced = problems = False
    for word in text.split():
        if match := _STAGE.fullmatch(word):
            stage = int(match[1]) if match[1].isdecimal() else 0
        elif word.casefold() in _UNSOURCED:
            unsourced = True
        elif word.casefold() in _PROBLEMS:
            problems = True
        elif found := plain(word):
            words.append(found)
    return GraphFilter(tuple(words), stage, unsourced, problems, entity.strip() if equals else "")


def _split_entity(text: str) -> tuple[str, str, str]:
    before, equals, entity = text.partition(" =")
    return before, equals, entity


class GraphView:
    """Rows are positions in the list, indices those of triples in the task.

    `apply` filters and sorts anew. `follow` only makes room for triples that came and takes out
    those that went, so that a row that is being typed stays where it is, whatever it says now.
    """

    def __init__(self) -> None:
        self.filter = GraphFilter()
        self.sort: SortKey | None = None
        self.descending = False
        self._triples: Sequence[Mapping[str, Any]] = ()
        self._rows: Sequence[int] = range(0)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def plain(self) -> bool:
        """Whether every triple is shown, in the task's order."""
        return not self.filter.active and self.sort is None

    @property
    def rows(self) -> Sequence[int]:
        """The indices of triples, row by row."""
        return self._rows

    def index(self, row: int) -> int:
        """The triple in a row. Raises `IndexError`."""
        if row < 0:
            raise IndexError(row)
        return self._rows[row]

    def row(self, index: int) -> int | None:
        """The row of a triple; None when it is not shown."""
        if isinstance(self._rows, range):
            return index if 0 <= index < len(self._rows) else None
        try:
            return self._rows.index(index)
        except ValueError:
            return None

    def indices(self, rows: Collection[int]) -> list[int]:
        """The triples in these rows, in the task's order."""
        return sorted(self._rows[row] for row in rows if 0 <= row < len(self._rows))

    def apply(
        self, triples: Sequence[Mapping[str, Any]], *, problems: Collection[int] = ()
    ) -> None:
        """Filter and sort; `problems` are the triples of which something is wrong."""
        self._triples = triples
        if self.plain:
            self._rows = range(len(triples))
            return
        found = [
            index
            for index, triple in enumerate(triples)
            if (not self.filter.problems or index in problems) and matches(triple, self.filter)
        ]
        if self.sort is not None:
            key = self.sort
            found.sort(key=lambda index: _order(triples[index], key), reverse=self.descending)
        self._rows = found

    def follow(self, triples: Sequence[Mapping[str, Any]]) -> None:
        """The list of triples is another now: keep rows where they are. What is new comes below the
        triple that it follows.
        """
        splice = splice_between(self._triples, triples)
        self._triples = triples
        if splice is None:
            return
        start, old_end, new_end = splice
        if self.plain:
            self._rows = range(len(triples))
        elif old_end != new_end:
            self._rows = _spliced(self._rows, start, old_end, new_end)

    def place(self, index: int, row: int) -> None:
        """Show triple `index`, wherever `follow` has put it, at `row`."""
        now = self.row(index)
        if now is not None and now != row and not self.plain:
            rows = [shown for shown in self._rows if shown != index]
            rows.insert(row, index)
            self._rows = rows

    def sort_by(self, key: SortKey) -> None:
        """By this column; the same again turns it round, and a third time ends it. Then `apply`."""
        if self.sort != key:
            self.sort, self.descending = key, False
        elif not self.descending:
            self.descending = True
        else:
            self.sort, self.descending = None, False


def matches(triple: Mapping[str, Any], wanted: GraphFilter) -> bool:
    """Whether a triple is one that the filter lets through, `problems` aside."""
    if wanted.stage is not None and (triple.get("stage") or 0) != wanted.stage:
        return False
    if wanted.unsourced and triple.get("sources"):
        return False
    if wanted.entity and wanted.entity not in (triple.get("head"), triple.get("tail")):
        return False
    if not wanted.words:
        return True
    text = " ".join((*key_of(triple), *map(str, triple.get("sources", ()))))
    if note := triple.get("note"):
        text = f"{text} {plain(str(note))}"
    return all(word in text for word in wanted.words)


def _order(triple: Mapping[str, Any], key: SortKey) -> tuple[int, str]:
    """Empty ones first: they are what is still to be done."""
    if key == "stage":
        stage = triple.get("stage")
        return (stage if isinstance(stage, int) else 0, "")
    if key == "sources":
        return (len(triple.get("sources", ())), "")
    return (0, plain(str(triple.get(key, ""))))


def _spliced(rows: Sequence[int], start: int, old_end: int, new_end: int) -> list[int]:
    """Triples that only changed keep their rows; the rest of what came gets rows of its own."""
    kept_end = max(start, min(old_end, new_end))
    shift = new_end - old_end
    kept = [
        index if index < kept_end else index + shift
        for index in rows
        if index < kept_end or index >= old_end
    ]
    if new := list(range(kept_end, new_end)):
        before = kept_end - 1
        at = kept.index(before) + 1 if before in kept else len(kept)
        kept[at:at] = new
    return kept

"""Views of a graph: its triples filtered and sorted, the neighbourhood of an entity, and counts of size and depth."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cuecard.annotate.authoring.diff import list_diff, plain
from cuecard.annotate.authoring.graph_names import key_of

SortKey = Literal["head", "relation", "tail", "stage", "sources"]
_STAGE = re.compile(r"(?:stage|阶段)[:：](\d+|-|none|无)", re.IGNORECASE)
_UNSOURCED = frozenset(("no:source", "no:sources", "无来源"))
_PROBLEMS = frozenset(("problem", "problems", "有问题", "!"))


@dataclass(frozen=True)
class GraphFilter:
    """A filter of triples: `words` that must all occur, and the other conditions. `stage` 0: those without a stage.
    `entity`: exactly this name as head or tail.
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
    """The filter a person typed: words, `stage:3`, `stage:-` (none), `no:source`, `problem`, and `=Entity` up to the
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
    """The triples of a graph as rows of a grid, filtered and sorted. A row is a position in the grid, an index one in
    the task.

    `apply` filters and sorts anew. `follow` only inserts and removes rows for triples that were added or deleted, so
    that a row being typed in stays where it is.
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
        """Adjust to a changed list of triples without moving rows; a new triple comes below the one it follows."""
        diff = list_diff(self._triples, triples)
        self._triples = triples
        if diff is None:
            return
        start, old_end, new_end = diff
        if self.plain:
            self._rows = range(len(triples))
        elif old_end != new_end:
            self._rows = _rows_after(self._rows, start, old_end, new_end)

    def place(self, index: int, row: int) -> None:
        """Move triple `index` to `row`."""
        now = self.row(index)
        if now is not None and now != row and not self.plain:
            rows = [shown for shown in self._rows if shown != index]
            rows.insert(row, index)
            self._rows = rows

    def sort_by(self, key: SortKey) -> None:
        """Sort by this column; again, in reverse; a third time, no more. Call `apply` afterwards."""
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
    """The sort key: empty values first."""
    if key == "stage":
        stage = triple.get("stage")
        return (stage if isinstance(stage, int) else 0, "")
    if key == "sources":
        return (len(triple.get("sources", ())), "")
    return (0, plain(str(triple.get(key, ""))))


def _rows_after(rows: Sequence[int], start: int, old_end: int, new_end: int) -> list[int]:
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


MOST = 40
"""How many branches of one entity are shown; the rest are only counted."""


@dataclass(frozen=True)
class Branch:
    """The triple `index` leads from the parent entity to `entity`, or with `inward` the other way. `again`: `entity`
    stands elsewhere in the tree, and has no branches here.
    """

    entity: str
    relation: str
    inward: bool
    index: int
    branches: tuple[Branch, ...] = ()
    hidden: int = 0
    again: bool = False


@dataclass(frozen=True)
class Neighbourhood:
    """The tree of triples around `entity`; `hidden` branches are not shown."""

    entity: str
    branches: tuple[Branch, ...]
    hidden: int = 0


class TripleIndex:
    """An index of a list of triples by entity, for neighbourhoods."""

    def __init__(self, triples: Sequence[Mapping[str, Any]]) -> None:
        self._triples = triples
        touching: defaultdict[str, list[int]] = defaultdict(list)
        for index, triple in enumerate(triples):
            head, tail = triple["head"], triple["tail"]
            touching[head].append(index)
            if tail != head:
                touching[tail].append(index)
        self._touching = touching

    def is_of(self, triples: Sequence[Mapping[str, Any]]) -> bool:
        return triples is self._triples

    def degree(self, entity: str) -> int:
        """How many triples name the entity."""
        return len(self._touching.get(entity, ()))

    def around(self, entity: str, depth: int = 2, most: int = MOST) -> Neighbourhood:
        """The tree from `entity`, triples from it before those to it, `depth` triples deep."""
        seen = {entity}
        branches, hidden = self._branches(entity, None, depth, most, seen)
        return Neighbourhood(entity, branches, hidden)

    def _branches(
        self, entity: str, via: int | None, depth: int, most: int, seen: set[str]
    ) -> tuple[tuple[Branch, ...], int]:
        if depth <= 0:
            return (), 0
        touching = [i for i in self._touching.get(entity, ()) if i != via]
        touching.sort(key=lambda index: self._triples[index]["head"] != entity)
        shown: list[tuple[int, str, bool, bool]] = []
        for index in touching[:most]:
            triple = self._triples[index]
            inward = triple["head"] != entity
            other = str(triple["head"] if inward else triple["tail"])
            if other:
                shown.append((index, other, inward, other in seen))
                seen.add(other)
        made: list[Branch] = []
        for index, other, inward, again in shown:
            below: tuple[Branch, ...] = ()
            hidden = 0
            if not again:
                below, hidden = self._branches(other, index, depth - 1, max(4, most // 4), seen)
            relation = str(self._triples[index]["relation"])
            made.append(Branch(other, relation, inward, index, below, hidden, again))
        return tuple(made), max(0, len(touching) - most)


Edges = dict[str, list[str]]


@dataclass(frozen=True)
class Figures:
    """Counts of a graph. `depth`: in triples, see `depth`; `sourced`: triples with a source; `components`: connected
    parts; `loose`: entities outside the largest of them; `unused`: listed nodes that no triple names; `stages`: triples
    by stage number.
    """

    nodes: int = 0
    triples: int = 0
    relations: int = 0
    depth: int = 0
    sourced: int = 0
    components: int = 0
    loose: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    incomplete: int = 0
    stages: Mapping[int, int] | None = None
    without_stage: int = 0


def figures(
    triples: Sequence[Mapping[str, Any]], nodes: Sequence[Mapping[str, Any]] = ()
) -> Figures:
    """Count a graph; triples with an empty part count as triples only. 5,000 take about 20 ms."""
    whole = [t for t in triples if t["head"] and t["relation"] and t["tail"]]
    out: Edges = {}
    for triple in whole:
        out.setdefault(str(triple["head"]), []).append(str(triple["tail"]))
        out.setdefault(str(triple["tail"]), [])
    pieces = components(out)
    stages = Counter(t.get("stage") for t in triples)
    without = stages.pop(None, 0)
    listed = [str(node.get("id", "")) for node in nodes]
    unused = tuple(dict.fromkeys(name for name in listed if name and name not in out))
    return Figures(
        nodes=len(out) + len(unused),
        triples=len(triples),
        relations=len({t["relation"] for t in whole}),
        depth=depth(out),
        sourced=sum(bool(t.get("sources")) for t in triples),
        components=len(pieces),
        loose=tuple(name for piece in pieces[1:] for name in piece),
        unused=unused,
        incomplete=len(triples) - len(whole),
        stages=dict(sorted((n, count) for n, count in stages.items() if isinstance(n, int))),
        without_stage=without,
    )


def depth(out: Edges) -> int:
    """The depth of a graph: the greatest distance, in triples, of an entity from its nearest root. A chain of n triples
    has depth n.

    A root is an entity that is no other entity's tail. A part that only cycles lead into has no root; its first entity
    stands in for one, so a lone cycle of n triples has depth n - 1.
    """
    aimed = {tail for head, tails in out.items() for tail in tails if tail != head}
    reached = _spread((name for name in out if name not in aimed), out, {})
    for name in out:
        if name not in reached:
            _spread([name], out, reached)
    return max(reached.values(), default=0)


def components(out: Edges) -> list[list[str]]:
    """The connected components of the graph, ignoring directions, the largest first."""
    both: Edges = {name: list(tails) for name, tails in out.items()}
    for head, tails in out.items():
        for tail in tails:
            both[tail].append(head)
    seen: dict[str, int] = {}
    pieces: list[list[str]] = []
    for name in both:
        if name not in seen:
            before = len(seen)
            _spread([name], both, seen)
            pieces.append(list(seen)[before:] if not before else [*_last(seen, before)])
    return sorted(pieces, key=len, reverse=True)


def _last(names: dict[str, int], before: int) -> list[str]:
    fresh: list[str] = []
    for name in reversed(names):
        if len(names) - len(fresh) == before:
            break
        fresh.append(name)
    return fresh[::-1]


def _spread(starts: Iterable[str], edges: Edges, reached: dict[str, int]) -> dict[str, int]:
    """Breadth first from all starts at once, over what is not reached yet."""
    queue = deque(starts)
    for name in queue:
        reached[name] = 0
    while queue:
        name = queue.popleft()
        for other in edges[name]:
            if other not in reached:
                reached[other] = reached[name] + 1
                queue.append(other)
    return reached

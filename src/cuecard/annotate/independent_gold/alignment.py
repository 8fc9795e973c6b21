"""Aligning two golds of one task: tables by row and cell, checkpoint chains by step, worlds by fact, and graphs."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from cuecard.annotate.independent_gold.graphs import align_graphs
from cuecard.annotate.independent_gold.matching import (
    Alignment,
    Element,
    Level,
    Status,
    best_assignment,
    canonical,
    named,
)
from cuecard.core.families.checkpoints.gold import Checkpoint, CheckpointChain
from cuecard.core.families.facts.gold import Fact, FactWorld
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.table.gold import Metric, Table
from cuecard.core.families.table.score import failing_metric, norm_column, row_key
from cuecard.core.i18n import _
from cuecard.core.judges.similarity import same_thing
from cuecard.core.tasks.models import Gold
from cuecard.core.text import normalise

Row = tuple[str, ...]
_READ_LOOSELY = frozenset((Metric.EXACT_MATCH, Metric.LLM_JUDGE))
_LEAST_LIKE, _NEAR_KEY = 80.0, 75.0


def in_columns_of(table: Table, second: Table) -> tuple[Row, ...]:
    """The rows of `second` in the columns of `table`, by name; a column it lacks is empty."""
    names = [norm_column(name) for name in second.column_names]
    at = [
        names.index(name) if (name := norm_column(column)) in names else None
        for column in table.column_names
    ]
    return tuple(
        tuple(row[index] if index is not None else "" for index in at) for row in second.rows
    )


def align_tables(author: Table, second: Table) -> Alignment:
    """Join rows of equal keys, then of keys that mean the same, then of similar keys if most cells agree, one to one. A
    row agrees if all its cells do. Cells agree if the column's metric holds with either one as gold (a metric such as
    `in_match` has a direction, agreement has none); for `llm_judge`, texts are compared as names are.
    """
    return _Laying(author, in_columns_of(author, second)).alignment()


class _Laying:
    def __init__(self, table: Table, second: Sequence[Row]) -> None:
        self._table = table
        self._rows, self._others = table.rows, tuple(second)
        self._left, self._right = canonical(self._rows), canonical(self._others)
        self._keys = [row_key(table, self._rows[index]) for index in self._left]
        self._other_keys = [row_key(table, self._others[index]) for index in self._right]
        self._checked: dict[tuple[int, int, int], bool] = {}

    def alignment(self) -> Alignment:
        joined = self._joined()
        width = len(self._table.columns)
        right_rows = right_cells = 0
        for m, n in joined.items():
            agreeing = sum(self._agree(m, n, column) for column in range(width))
            right_cells += agreeing
            right_rows += agreeing == width
        mine, theirs = len(self._rows), len(self._others)
        return Alignment(
            named(self._elements(joined)),
            (
                Level("row", right_rows, mine, theirs),
                Level("key", self._same_keys(joined), mine, theirs),
                Level("cell", right_cells, mine * width, theirs * width),
            ),
        )

    def _joined(self) -> dict[int, int]:
        """The rows that are joined, by their places in the order of `canonical`."""
        by_key: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for n, key in enumerate(self._other_keys):
            by_key[key].append(n)
        joined = best_assignment(
            {
                (m, n): self._alike(m, n)
                for m, key in enumerate(self._keys)
                for n in by_key.get(key, ())
            }
        )
        for close in (False, True):
            gone = set(joined.values())
            lefts = [m for m in range(len(self._keys)) if m not in joined]
            rights = [n for n in range(len(self._other_keys)) if n not in gone]
            joined |= best_assignment(self._loosely(lefts, rights, close=close))
        return joined

    def _loosely(
        self, lefts: list[int], rights: list[int], *, close: bool
    ) -> dict[tuple[int, int], float]:
        if not lefts or not rights:
            return {}
        from rapidfuzz import fuzz, process

        least = _NEAR_KEY if close else _LEAST_LIKE
        texts = [" ".join(self._other_keys[n]) for n in rights]
        edges: dict[tuple[int, int], float] = {}
        for m in lefts:
            hits = process.extract_iter(
                " ".join(self._keys[m]), texts, scorer=fuzz.WRatio, score_cutoff=least
            )
            for _text, score, at in hits:
                n = rights[at]
                if self._mostly_agree(m, n) if close else self._keys_agree(m, n):
                    edges[m, n] = score + 100 * self._alike(m, n)
        return edges

    def _keys_agree(self, m: int, n: int) -> bool:
        return all(self._agree(m, n, column) for column in self._table.key_indices)

    def _mostly_agree(self, m: int, n: int) -> bool:
        rest = [c for c in range(len(self._table.columns)) if c not in self._table.key_indices]
        agreeing = sum(self._agree(m, n, column) for column in rest)
        return bool(rest) and 2 * agreeing >= len(rest)

    def _same_keys(self, joined: dict[int, int]) -> int:
        return sum(self._keys_agree(m, n) for m, n in joined.items())

    def _alike(self, m: int, n: int) -> float:
        """How many cells of two rows agree."""
        return sum(self._agree(m, n, column) for column in range(len(self._table.columns)))

    def _agree(self, m: int, n: int, column: int) -> bool:
        known = self._checked.get((m, n, column))
        if known is None:
            known = self._checked[m, n, column] = self._compare(m, n, column)
        return known

    def _compare(self, m: int, n: int, column: int) -> bool:
        one, other = self._rows[self._left[m]][column], self._others[self._right[n]][column]
        if one == other:
            return True
        keys = self._table.key_indices
        spec = self._table.columns[column]
        if column in keys:
            at = keys.index(column)
            if self._keys[m][at] == self._other_keys[n][at]:
                return True
            if _READ_LOOSELY & set(spec.metric):
                return _one_thing(one, other)
        return any(
            failing_metric(spec, *pair, lambda a, b, _criterion: _one_thing(a, b)) is None
            for pair in ((one, other), (other, one))
        )

    def _elements(self, joined: dict[int, int]) -> Iterator[tuple[Element, object, object]]:
        partner = {self._left[m]: (m, n) for m, n in joined.items()}
        width = range(len(self._table.columns))
        for index, row in enumerate(self._rows):
            if index not in partner:
                yield Element("", "row", "author", index, None), row, None
                continue
            m, n = partner[index]
            other = self._right[n]
            told = self._others[other]
            wrong = [column for column in width if not self._agree(m, n, column)]
            if not wrong:
                yield Element("", "row", "agreed", index, other), row, told
            for column in wrong:
                key = column in self._table.key_indices
                why = _("another key") if key else _("another value")
                yield Element("", "cell", "differ", index, other, column, why), row, told
        taken = {self._right[n] for n in joined.values()}
        for index, row in enumerate(self._others):
            if index not in taken:
                yield Element("", "row", "second", None, index), None, row


def _one_thing(one: str, other: str) -> bool:
    if not one.strip() or not other.strip():
        return one.strip() == other.strip()
    return same_thing(one, other) is not None and same_thing(other, one) is not None


_ALIKE_QUESTION = 75.0


def align_chains(author: CheckpointChain, second: CheckpointChain) -> Alignment:
    """Pair checkpoints with one target (by name, alias or near spelling), the nearest in position first; then the rest
    by similar questions or equal position.
    """
    last = max(len(author.steps), len(second.steps))
    same = best_assignment(
        {
            (m, n): float(last - abs(m - n))
            for m, mine in enumerate(author.steps)
            for n, theirs in enumerate(second.steps)
            if share_a_name(mine.names, theirs.names)
        }
    )
    pairs = same | _loosely(author, second, same)
    ambiguous = sum(
        _ambiguity(author.steps[m]) == _ambiguity(second.steps[n]) != "" for m, n in same.items()
    )
    answer, level = _answer(
        (author.final_answer, *author.final_aliases), (second.final_answer, *second.final_aliases)
    )
    return Alignment(
        (*named(_steps(author, second, pairs, same)), answer),
        (
            Level("step", len(same), len(author.steps), len(second.steps)),
            Level(
                "ambiguity",
                ambiguous,
                sum(step.ambiguity is not None for step in author.steps),
                sum(step.ambiguity is not None for step in second.steps),
            ),
            level,
        ),
    )


def align_worlds(author: FactWorld, second: FactWorld) -> Alignment:
    """Pair facts by key. The facts are part of the brief; only the answer is built."""
    at = {normalise(fact.key) or fact.key: n for n, fact in enumerate(second.facts)}
    pairs: dict[int, int] = {}
    for m, fact in enumerate(author.facts):
        if (n := at.pop(normalise(fact.key) or fact.key, None)) is not None:
            pairs[m] = n
    same = sum(_same_fact(author.facts[m], second.facts[n]) for m, n in pairs.items())
    answer, level = _answer(
        (author.answer, *author.answer_aliases), (second.answer, *second.answer_aliases)
    )
    return Alignment(
        (*named(_facts(author, second, pairs)), answer),
        (level, Level("fact", same, len(author.facts), len(second.facts), given=True)),
    )


def share_a_name(names: Collection[str], others: Collection[str]) -> bool:
    """Whether a name in one collection matches one in the other, in either direction."""
    return any(
        normalise(one) == normalise(other) or (same_thing(one, other) and same_thing(other, one))
        for one in names
        for other in others
    )


def _loosely(
    author: CheckpointChain, second: CheckpointChain, same: dict[int, int]
) -> dict[int, int]:
    from rapidfuzz import fuzz

    gone = set(same.values())
    edges: dict[tuple[int, int], float] = {}
    for m, mine in enumerate(author.steps):
        for n, theirs in enumerate(second.steps):
            if m in same or n in gone:
                continue
            similarity = fuzz.ratio(normalise(mine.question), normalise(theirs.question))
            if similarity >= _ALIKE_QUESTION or m == n:
                edges[m, n] = similarity
    return best_assignment(edges)


def _steps(
    author: CheckpointChain, second: CheckpointChain, pairs: dict[int, int], same: dict[int, int]
) -> Iterator[tuple[Element, object, object]]:
    for m, mine in enumerate(author.steps):
        said = mine.model_dump(mode="json")
        if m not in pairs:
            yield Element("", "step", "author", m, None), said, None
            continue
        theirs = second.steps[pairs[m]]
        status: Status = "differ"
        why = _("another target")
        if m in same:
            alike = _ambiguity(mine) == _ambiguity(theirs)
            status = "agreed" if alike else "differ"
            why = "" if alike else _("another ambiguity")
        told = theirs.model_dump(mode="json")
        yield Element("", "step", status, m, pairs[m], why=why), said, told
    taken = set(pairs.values())
    for n, theirs in enumerate(second.steps):
        if n not in taken:
            yield Element("", "step", "second", None, n), None, theirs.model_dump(mode="json")


def _facts(
    author: FactWorld, second: FactWorld, pairs: dict[int, int]
) -> Iterator[tuple[Element, object, object]]:
    for m, mine in enumerate(author.facts):
        said = mine.model_dump(mode="json")
        if m not in pairs:
            yield Element("", "fact", "author", m, None), said, None
            continue
        theirs = second.facts[pairs[m]]
        same = _same_fact(mine, theirs)
        status: Status = "agreed" if same else "differ"
        why = "" if same else _("another value")
        told = theirs.model_dump(mode="json")
        yield Element("", "fact", status, m, pairs[m], why=why), said, told
    taken = set(pairs.values())
    for n, theirs in enumerate(second.facts):
        if n not in taken:
            yield Element("", "fact", "second", None, n), None, theirs.model_dump(mode="json")


def _answer(names: tuple[str, ...], others: tuple[str, ...]) -> tuple[Element, Level]:
    same = share_a_name(names, others)
    element = Element("", "answer", "agreed" if same else "differ", 0, 0)
    why = "" if same else _("another answer")
    (keyed,) = named([(Element("", "answer", element.status, 0, 0, why=why), names, others)])
    return keyed, Level("answer", int(same), 1, 1)


def _ambiguity(step: Checkpoint) -> str:
    return step.ambiguity.type.value if step.ambiguity else ""


def _same_fact(one: Fact, other: Fact) -> bool:
    same = share_a_name((one.value, *one.aliases), (other.value, *other.aliases))
    return same and one.kind is other.kind


def align(author: Gold, second: Gold) -> Alignment:
    """Align two golds of one family. How much agrees does not depend on the order of triples or rows, nor on which gold
    comes first. Raises `ValueError` for golds of two families.
    """
    match author, second:
        case Graph(), Graph():
            return align_graphs(author, second)
        case Table(), Table():
            return align_tables(author, second)
        case CheckpointChain(), CheckpointChain():
            return align_chains(author, second)
        case FactWorld(), FactWorld():
            return align_worlds(author, second)
        case _:
            raise ValueError("two golds of one family can be compared")

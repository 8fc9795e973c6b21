"""What the two sides of an element say, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.annotate.second_gold.tables import in_columns_of
from cuecard.core.i18n import _
from cuecard.core.tasks import (
    Checkpoint,
    CheckpointChain,
    Fact,
    FactWorld,
    Gold,
    Graph,
    Table,
    Triple,
)
from cuecard.core.text import normalise
from cuecard.tui.state.entries import Paragraph

if TYPE_CHECKING:
    from cuecard.annotate.second_gold.comparing import Comparison
    from cuecard.annotate.second_gold.elements import Element

_BETWEEN = " — "


@dataclass(frozen=True)
class Side:
    """One version: a line of it, and all of it. Empty where that side has nothing."""

    text: str = ""
    more: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        if not self.text:
            return ()
        lines = [Paragraph(line, "muted") for line in (*self.more, *self.sources)]
        return (Paragraph(self.text), *lines)


@dataclass(frozen=True)
class Told:
    """`label` names the element. `parts`: of both versions, where they are best compared part by part."""

    label: str
    author: Side
    second: Side
    parts: tuple[Sequence[str], Sequence[str]] | None = None

    @property
    def line(self) -> tuple[str, str, str]:
        """What it is and both versions, in one line: what they share is said once."""
        if self.parts is None:
            return self.label, self.author.text, self.second.text
        pairs = list(zip(*self.parts, strict=True))
        same = [one if _alike(one, other) else "…" for one, other in pairs]
        apart = [pair for pair, shared in zip(pairs, same, strict=True) if shared == "…"]
        author, second = (_BETWEEN.join(side) for side in zip(*apart, strict=True))
        return _BETWEEN.join(same), author, second


class Words:
    """Both versions of each element of a comparison."""

    def __init__(self, comparison: Comparison) -> None:
        self._author, self._second = comparison.task.gold, comparison.second.gold
        self._rows: tuple[tuple[str, ...], ...] = ()
        if isinstance(self._author, Table) and isinstance(self._second, Table):
            self._rows = in_columns_of(self._author, self._second)

    def told(self, element: Element) -> Told:
        number = (element.author if element.author is not None else element.second or 0) + 1
        match element.kind:
            case "triple":
                label = _("Triple {n}").format(n=number)
            case "node":
                label = _("Names of a node")
            case "row":
                label = _("Row {n}").format(n=number)
            case "cell":
                return self._cell(element)
            case "step":
                label = _("Checkpoint {n}").format(n=number)
            case "fact":
                label = _("Fact {n}").format(n=number)
            case "answer":
                label = _("Answer")
        author = self._side(self._author, element, element.author)
        second = self._side(self._second, element, element.second)
        return Told(label, author, second, parts=self._parts(element))

    def _parts(self, element: Element) -> tuple[Sequence[str], Sequence[str]] | None:
        i, j = element.author, element.second
        mine, theirs = self._author, self._second
        if element.kind != "triple" or element.status != "differ" or i is None or j is None:
            return None
        if not isinstance(mine, Graph) or not isinstance(theirs, Graph):
            return None
        parts = mine.named(mine.triples[i]), theirs.named(theirs.triples[j])
        return None if all(map(_alike, *parts)) else parts

    def _side(self, gold: Gold, element: Element, index: int | None) -> Side:
        if index is None:
            return Side()
        match gold:
            case Graph() if element.kind == "node":
                return Side(" = ".join(gold.names_of(gold.node_ids[index])))
            case Graph():
                return _triple(gold, gold.triples[index])
            case Table():
                rows = gold.rows if gold is self._author else self._rows
                return Side(" | ".join(rows[index]))
            case CheckpointChain() if element.kind == "answer":
                return Side(" = ".join((gold.final_answer, *gold.final_aliases)))
            case CheckpointChain():
                return _step(gold.steps[index])
            case FactWorld() if element.kind == "answer":
                names = " = ".join((gold.answer, *gold.answer_aliases))
                return Side(names, _kept(gold.derivation))
            case FactWorld():
                return _fact(gold.facts[index])

    def _cell(self, element: Element) -> Told:
        table, at, other, column = self._author, element.author, element.second, element.column
        if not isinstance(table, Table) or at is None or other is None or column is None:
            return Told("", Side(), Side())
        rows = table.rows[at], self._rows[other]
        one, two = (Side(row[column] or _("(empty)"), (" | ".join(row),)) for row in rows)
        label = f"{' | '.join(table.key_of(rows[0]))} · {table.column_names[column]}"
        return Told(label, one, two)


def _triple(graph: Graph, triple: Triple) -> Side:
    stage = _("stage {n}").format(n=triple.stage) if triple.stage else ""
    return Side(_BETWEEN.join(graph.named(triple)), _kept(stage, triple.note), triple.sources)


def _step(step: Checkpoint) -> Side:
    lines: Sequence[str] = ()
    if step.ambiguity is not None:
        found = step.ambiguity
        lines = (
            _("ambiguous: {kind}").format(kind=found.type.value),
            f"{_('candidates')}: {', '.join(found.candidates)}",
            f"{_('clue')}: {found.clue}",
        )
    return Side(f"{' = '.join(step.names)}", (step.question, *lines), step.sources)


def _fact(fact: Fact) -> Side:
    values = " = ".join((fact.value, *fact.aliases))
    return Side(f"{fact.key}: {values}", _kept(fact.unit, fact.kind.value), fact.sources)


def _alike(one: str, other: str) -> bool:
    return normalise(one) == normalise(other)


def _kept(*texts: str) -> tuple[str, ...]:
    return tuple(filter(None, texts))

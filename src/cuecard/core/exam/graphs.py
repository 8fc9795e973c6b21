"""The exam of a judge in graph tasks: which of the triples of gold a prediction covers."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from cuecard.core.exam import texts
from cuecard.core.exam.lists import Listed
from cuecard.core.exam.probes import (
    MOST_TARGETS,
    PADDING,
    Draw,
    ExamFamily,
    ExamInput,
    Target,
    window,
)
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.predictions import PredictedTriple, TriplesPrediction
from cuecard.core.tasks.models import Task, TaskLanguage
from cuecard.core.text import normalise
from cuecard.core.verdicts import Item, ItemKind

Named = tuple[str, str, str]
_NEVER = ("K28", "K29", "K30", "K31", "K32")
_END, _HEAD = 2, 0


@dataclass(frozen=True)
class _Exam:
    task: Task
    graph: Graph
    draw: Draw
    others: Sequence[Task]

    @property
    def triples(self) -> tuple[Triple, ...]:
        return self.graph.triples

    def named(self, index: int) -> Named:
        return self.graph.named(self.triples[index])

    # What a probe makes of one triple: the triples that stand for it, or None where it does not apply.

    def changes(self) -> Mapping[str, Callable[[int], Sequence[Named] | None]]:
        by_text: dict[str, texts.Change] = {
            "K04": texts.number_otherwise,
            "K05": texts.date_otherwise,
            "K06": texts.unit_converted,
            "K08": texts.more_said,
        }
        wrong: dict[str, texts.Change] = {"K24": texts.shifted, "K25": texts.unit_wrong}
        never: dict[str, texts.Change] = {"K26": texts.negated, "K27": texts.filler}
        return {
            "K01": lambda index: [self.named(index)],
            "K02": self._alias,
            "K03": self._person,
            "K07": self._split,
            "K20": lambda _index: [],
            "K21": self.sibling_tail,
            "K22": self._sibling_head,
            "K23": self._turned,
            **{id: self._by_text(id, change) for id, change in by_text.items()},
            **{id: self._wrong(id, change, near=False) for id, change in wrong.items()},
            **{id: self._wrong(id, change, near=True) for id, change in never.items()},
        }

    def _by_text(self, id: str, change: texts.Change) -> Callable[[int], Sequence[Named] | None]:
        def changed(index: int) -> Sequence[Named] | None:
            head, relation, tail = self.named(index)
            other = change(tail, self.task.language, self.draw.number(id, index))
            return None if other is None or other == tail else [(head, relation, other)]

        return changed

    def _wrong(
        self, id: str, change: texts.Change, *, near: bool
    ) -> Callable[[int], Sequence[Named] | None]:
        """`near`: it holds the name on purpose, as in `not X`; it only must not be a name."""
        made = self._by_text(id, change)

        def changed(index: int) -> Sequence[Named] | None:
            found = made(index)
            return found if found and self._surely_wrong(index, found[0], near=near) else None

        return changed

    def _surely_wrong(self, index: int, triple: Named, *, near: bool = False) -> bool:
        """Whether a triple that stands for a gold one is no gold triple, and its ends are not near the names of gold's."""
        if tuple(map(normalise, triple)) in self.spellings:
            return False
        gold = self.triples[index]
        tail, tails = triple[_END], self.graph.names_of(gold.tail)
        head, heads = triple[_HEAD], self.graph.names_of(gold.head)
        if near:
            return not texts.same(tail, tails)
        other_tail = not texts.alike(tail, tails)
        other_head = not texts.alike(head, heads)
        return other_tail or other_head

    @cached_property
    def spellings(self) -> frozenset[Named]:
        """Every way to write a gold triple with its nodes' names, normalised."""
        return frozenset(
            (normalise(head), normalise(triple.relation), normalise(tail))
            for triple in self.triples
            for head in self.graph.names_of(triple.head)
            for tail in self.graph.names_of(triple.tail)
        )

    @cached_property
    def _relations(self) -> dict[str, list[str]]:
        """What is said of each head, in the order of gold."""
        found: dict[str, list[str]] = {}
        for triple in self.triples:
            found.setdefault(triple.head, []).append(triple.relation)
        return found

    def _alias(self, index: int) -> Sequence[Named] | None:
        gold = self.triples[index]
        head, relation, tail = self.named(index)
        tails = self.graph.names_of(gold.tail)[1:]
        heads = self.graph.names_of(gold.head)[1:]
        turn = self.draw.number("K02", index)
        if tails:
            return [(head, relation, tails[turn % len(tails)])]
        return [(heads[turn % len(heads)], relation, tail)] if heads else None

    def _person(self, index: int) -> Sequence[Named] | None:
        head, relation, tail = self.named(index)
        if other := texts.name_otherwise(tail, relation if " " in relation else f"{relation} by"):
            return [(head, relation, other)]
        said = " ".join(self._relations[self.triples[index].head])
        other = (
            texts.name_otherwise(head, said)
            if "born" in said or "died" in said or "·" in head
            else None
        )
        return [(other, relation, tail)] if other else None

    def _split(self, index: int) -> Sequence[Named] | None:
        head, relation, tail = self.named(index)
        return [(head, relation, part) for part in texts.parts_of(tail)] or None

    def siblings(self, index: int) -> Iterator[int]:
        """Triples of the same relation, then those of the same head, numbers first for a number, in an order of chance."""
        own = self.triples[index]
        order = self.draw.order(f"sibling/{index}", range(len(self.triples)))
        yield from (i for i in order if i != index and self.triples[i].relation == own.relation)
        number = _has_number(own.tail)
        near = (
            i
            for i in order
            if self.triples[i].head == own.head and self.triples[i].relation != own.relation
        )
        yield from sorted(near, key=lambda i: _has_number(self.triples[i].tail) != number)

    def sibling_tail(self, index: int) -> Sequence[Named] | None:
        head, relation, _tail = self.named(index)
        for other in self.siblings(index):
            found = (head, relation, self.named(other)[_END])
            if self._surely_wrong(index, found):
                return [found]
        return None

    def _sibling_head(self, index: int) -> Sequence[Named] | None:
        _head, relation, tail = self.named(index)
        for other in self.siblings(index):
            found = (self.named(other)[_HEAD], relation, tail)
            if self.triples[other].relation == self.triples[index].relation and self._surely_wrong(
                index, found
            ):
                return [found]
        return None

    def _turned(self, index: int) -> Sequence[Named] | None:
        head, relation, tail = self.named(index)
        found = (tail, relation, head)
        if texts.is_symmetric(relation) or not self._surely_wrong(index, found):
            return None
        # The reverse of another relation between the two would make it true.
        ends = {self.triples[index].head, self.triples[index].tail}
        between = (t for i, t in enumerate(self.triples) if i != index)
        return None if any({t.head, t.tail} == ends for t in between) else [found]

    # Inputs.

    def inputs(self) -> Iterator[ExamInput]:
        for id, change in self.changes().items():
            chosen: dict[int, Sequence[Named]] = {}
            for index in self.draw.order(id, range(len(self.triples))):
                if len(chosen) < MOST_TARGETS and (made := change(index)) is not None:
                    chosen[index] = made
            if chosen:
                right = id < "K20"
                yield self._input(id, window(len(self.triples), list(chosen)), chosen, right)
        yield from self._unmoved()

    def _input(
        self, key: str, places: Sequence[int], changed: Mapping[int, Sequence[Named]], right: bool
    ) -> ExamInput:
        handed_in = [named for i in places for named in changed.get(i, (self.named(i),))]
        targets = [self._target(places, i, right, changed[i]) for i in sorted(changed)]
        return self._made(key, places, handed_in, targets)

    def _target(
        self, places: Sequence[int], index: int, right: bool, given: Sequence[Named]
    ) -> Target:
        return Target(
            at=str(index),
            item=Item(kind=ItemKind.TRIPLE, index=list(places).index(index)),
            right=right,
            gold=_line(self.named(index)),
            given="; ".join(map(_line, given)),
        )

    def _made(
        self,
        key: str,
        places: Sequence[int],
        handed_in: Iterable[Named],
        targets: Iterable[Target],
        base: str = "",
        task: Task | None = None,
    ) -> ExamInput:
        gold = self.graph.model_copy(update={"triples": tuple(self.triples[i] for i in places)})
        triples = tuple(PredictedTriple(head=h, relation=r, tail=t) for h, r, t in handed_in)
        return ExamInput(
            key,
            (task or self.task).model_copy(update={"gold": gold}),
            TriplesPrediction(triples=triples),
            tuple(targets),
            base,
        )

    def _unmoved(self) -> Iterator[ExamInput]:
        order = self.draw.order("V00", range(len(self.triples)))
        wrong = next((i for i in order if self.sibling_tail(i)), None)
        right = next((i for i in order if i != wrong), None)
        if wrong is None or right is None:
            return
        told = {wrong: (self.sibling_tail(wrong) or [self.named(wrong)])[0]}
        places = window(len(self.triples), [right, wrong])
        language = self.task.language

        def make(
            key: str,
            gold: Sequence[int],
            handed_in: Sequence[Named],
            only: Sequence[int],
            given: Mapping[int, Named],
            base: str,
            task: Task | None = None,
        ) -> ExamInput:
            targets = [self._target(gold, i, i == right, (given[i],)) for i in only]
            return self._made(key, gold, handed_in, targets, base, task)

        words = "note" if language == "en" else "说明"
        yield from Listed(
            self.task,
            self.draw,
            {i: told.get(i, self.named(i)) for i in places},
            right,
            wrong,
            make,
            changed=lambda line, change: (line[0], line[1], change(line[2])),
            respelled=lambda line, turn: _respelled(line, language, turn),
            padding=self._padding(),
            words=(self.named(right)[_HEAD], words, texts.neutral(language)),
        ).inputs()

    def _padding(self) -> list[Named]:
        own = self.spellings
        found: list[Named] = []
        for other in self.others:
            if isinstance(other.gold, Graph):
                found += [
                    named
                    for named in map(other.gold.named, other.gold.triples)
                    if tuple(map(normalise, named)) not in own
                ]
            if len(found) >= PADDING["triples"]:
                break
        return found[: PADDING["triples"]]


def _has_number(text: str) -> bool:
    return any(char.isdigit() for char in text)


def _respelled(triple: Named, language: TaskLanguage, turn: int) -> Named:
    head, relation, tail = (texts.other_spelling(text, language, turn) for text in triple)
    return head, relation, tail


def _line(triple: Named) -> str:
    return " — ".join(triple)


def _inputs(task: Task, graph: Graph, draw: Draw, others: Sequence[Task]) -> Iterator[ExamInput]:
    return _Exam(task, graph, draw, others).inputs()


def _calls(given: ExamInput, batch: int) -> int:
    gold = given.task.gold
    return -(-len(gold.items) // batch) if given.prediction.lines else 0


GRAPH: Final[ExamFamily[Graph]] = ExamFamily(_inputs, _calls, _NEVER)

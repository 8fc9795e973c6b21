"""One task under the linter: what several rules look at, worked out once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import NamedTuple

from cuecard.annotate.lint.naming import NameFinder
from cuecard.core.tasks import CheckpointChain, FactWorld, Graph, Stage, Table, Task, Triple


class Written(NamedTuple):
    """A text at its place. `about`: what it is, in the task's own words or a field's name."""

    place: str
    text: str
    about: str


@dataclass(frozen=True)
class Case:
    """`complete`: whether the task is one, or a draft read loosely, with empty texts in it."""

    task: Task
    today: date
    complete: bool = True

    @property
    def graph(self) -> Graph | None:
        return self.task.gold if isinstance(self.task.gold, Graph) else None

    @property
    def table(self) -> Table | None:
        return self.task.gold if isinstance(self.task.gold, Table) else None

    @property
    def chain(self) -> CheckpointChain | None:
        return self.task.gold if isinstance(self.task.gold, CheckpointChain) else None

    @property
    def world(self) -> FactWorld | None:
        return self.task.gold if isinstance(self.task.gold, FactWorld) else None

    @property
    def stages(self) -> tuple[Stage, ...]:
        return self.task.stages

    @cached_property
    def triples(self) -> tuple[tuple[int, Triple], ...]:
        """The triples that are written out, with their index."""
        triples = self.graph.triples if self.graph else ()
        return tuple((i, t) for i, t in enumerate(triples) if t.head and t.relation and t.tail)

    @cached_property
    def node_names(self) -> NameFinder[str]:
        """Finds the graph's nodes by name and alias."""
        graph = self.graph
        nodes = graph.node_ids if graph else ()
        return NameFinder((node, graph.names_of(node)) for node in nodes if graph)

    @cached_property
    def first_dealt_with(self) -> dict[str, int]:
        """Each node with the first stage whose triples name it; 0 for triples of no stage."""
        first: dict[str, int] = {}
        for _index, triple in self.triples:
            stage = triple.stage or 0
            for node in (triple.head, triple.tail):
                first[node] = min(first.get(node, stage), stage)
        return first

    @cached_property
    def first_found(self) -> dict[str, int]:
        """Each node that is a tail with the first stage that asks for it; 0 for no stage."""
        first: dict[str, int] = {}
        for _index, triple in self.triples:
            stage = triple.stage or 0
            first[triple.tail] = min(first.get(triple.tail, stage), stage)
        return first

    @cached_property
    def heads_of_stage(self) -> dict[int, frozenset[str]]:
        """What each stage asks about and does not itself ask for."""
        heads: dict[int, set[str]] = {}
        tails: dict[int, set[str]] = {}
        for _index, triple in self.triples:
            heads.setdefault(triple.stage or 0, set()).add(triple.head)
            tails.setdefault(triple.stage or 0, set()).add(triple.tail)
        return {stage: frozenset(heads[stage] - tails[stage]) for stage in heads}

    def texts(self) -> Iterator[Written]:
        """Every prose text of the task that is written, at its place."""
        return (written for written in self._all_texts() if written.text.strip())

    def _all_texts(self) -> Iterator[Written]:
        task = self.task
        yield Written("title", task.title, "title")
        yield Written("query", task.query, "query")
        for index, query in enumerate(task.sub_queries):
            yield Written(f"sub_queries[{index}]", query, query)
        if persona := task.persona:
            yield Written("persona.identity", persona.identity, "identity")
            yield Written("persona.initial_query", persona.initial_query, "initial_query")
            yield Written("persona.behaviour", persona.behaviour, "behaviour")
            for index, stage in enumerate(persona.stages):
                place, name = f"persona.stages[{index}]", name_of(stage)
                yield Written(f"{place}.title", stage.title, name)
                yield Written(f"{place}.cue.text", stage.cue.text, name)
                yield Written(f"{place}.line", stage.line, name)
                yield Written(f"{place}.not_met", stage.not_met, name)
        if chain := self.chain:
            yield Written("gold.opening", chain.opening, "opening")
            for index, step in enumerate(chain.steps):
                place = f"gold.steps[{index}]"
                yield Written(f"{place}.question", step.question, step.question)
                if step.ambiguity:
                    inner = f"{place}.ambiguity"
                    yield Written(f"{inner}.logic", step.ambiguity.logic, step.question)
                    yield Written(f"{inner}.clue", step.ambiguity.clue, step.question)
        if self.world:
            yield Written("gold.derivation", self.world.derivation, "derivation")


def name_of(stage: Stage) -> str:
    """A stage in the task's own words."""
    return stage.title or stage.cue.text or stage.line


def said_by(graph: Graph, triple: Triple) -> str:
    """A triple in the task's own words."""
    return " | ".join(graph.named(triple))

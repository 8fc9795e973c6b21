"""The gold of a graph task: a schema-free directed graph of triples."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, model_validator

from cuecard.core.i18n import _, plural
from cuecard.core.tasks.base import Frozen, Name, Url
from cuecard.core.tasks.gold import Gold


class Node(Frozen):
    """An entity with other names. Only nodes with aliases, or with an id unlike their name, need
    be listed; any other head or tail of a triple is a node of its own name.
    """

    id: Name
    name: str = ""
    aliases: tuple[Name, ...] = ()


class Triple(Frozen):
    """head -relation-> tail. `head` and `tail` are node ids; `stage` counts from 1. `note` is for
    people: the sentence of a source that says so, or a remark.
    """

    head: Name
    relation: Name
    tail: Name
    stage: Annotated[int, Field(ge=1)] | None = None
    sources: tuple[Url, ...] = ()
    note: str = ""


class Graph(Gold, frozen=True):
    family: Literal["graph"] = "graph"
    nodes: tuple[Node, ...] = ()
    triples: Annotated[tuple[Triple, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _unique_node_ids(self) -> Graph:
        seen: set[str] = set()
        for index, node in enumerate(self.nodes):
            if node.id in seen:
                raise ValueError(
                    f"nodes[{index}].id: " + _("{name!r} is listed twice").format(name=node.id)
                )
            seen.add(node.id)
        return self

    @cached_property
    def _by_id(self) -> dict[str, Node]:
        return {node.id: node for node in self.nodes}

    def name_of(self, node_id: str) -> str:
        """The name of a node; an unlisted id is its own name."""
        node = self._by_id.get(node_id)
        return (node.name or node.id) if node else node_id

    def names_of(self, node_id: str) -> tuple[str, ...]:
        """The name of a node and its aliases."""
        node = self._by_id.get(node_id)
        return (node.name or node.id, *node.aliases) if node else (node_id,)

    @cached_property
    def node_ids(self) -> tuple[str, ...]:
        """All nodes: the listed ones, then those that only triples name, each once."""
        ids = dict.fromkeys(node.id for node in self.nodes)
        for triple in self.triples:
            ids.setdefault(triple.head)
            ids.setdefault(triple.tail)
        return tuple(ids)

    def named(self, triple: Triple) -> tuple[str, str, str]:
        return self.name_of(triple.head), triple.relation, self.name_of(triple.tail)

    @property
    def items(self) -> tuple[Triple, ...]:
        return self.triples

    @property
    def field(self) -> str:
        return "triples"

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(" — ".join(self.named(triple)) for triple in self.triples)

    @property
    def answers(self) -> tuple[str, ...]:
        return ()

    @property
    def things(self) -> tuple[tuple[str, ...], ...]:
        return tuple(self.names_of(node) for node in self.node_ids)

    @property
    def opens_with(self) -> str:
        return ""

    def problem(self, stages: int) -> str:
        for index, triple in enumerate(self.triples):
            if triple.stage is not None and triple.stage > stages:
                reason = plural(
                    "the persona has {n} stage, not {stage}",
                    "the persona has {n} stages, not {stage}",
                    stages,
                    stage=triple.stage,
                )
                return f"triples[{index}].stage: {reason}"
        return ""

"""One task as the linter's rules see it: what several rules need, computed once, and how they find and compare names."""

import re
import unicodedata
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from typing import Generic, NamedTuple, TypeVar

from cuecard.annotate.authoring.diff import alike, squeezed
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.families.table.gold import Table
from cuecard.core.tasks.models import Stage, Task
from cuecard.core.text import is_cjk
from cuecard.core.users.leaks import bare_number, counts, fold

Thing = TypeVar("Thing", bound=Hashable)

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+")

folded = lru_cache(maxsize=65536)(fold)
"""`fold` with a cache: the same names come again whenever a key is pressed."""


@lru_cache(maxsize=65536)
def forms_of(name: str) -> tuple[str, ...]:
    """The folded forms by which a name is found in a text, as the simulators' check for leaks does it; none for names
    too short or common to tell anything.
    """
    if not counts(name):
        return ()
    whole = folded(name)
    number = bare_number(whole)
    return (whole, number) if number and number != whole else (whole,)


class NameFinder(Generic[Thing]):
    """Finds names in texts and gives what they belong to. A name within a longer name that matches there is not found."""

    def __init__(self, things: Iterable[tuple[Thing, Iterable[str]]]) -> None:
        self._things: dict[str, dict[Thing, str]] = {}
        for thing, names in things:
            for name in names:
                for form in forms_of(name):
                    self._things.setdefault(form, {}).setdefault(thing, name)
        # Only runs of as many tokens as some name with this first token has are looked up.
        lengths: dict[str, set[int]] = {}
        for form in self._things:
            tokens = _TOKEN.findall(form)
            lengths.setdefault(tokens[0], set()).add(len(tokens))
        self._lengths = {token: sorted(found, reverse=True) for token, found in lengths.items()}

    def find(self, text: str) -> list[tuple[str, Collection[Thing]]]:
        """Each name in `text`, as the task writes it, with the things that have it; in the order of the text, each name
        once.
        """
        said = fold(text)
        spans = [match.span() for match in _TOKEN.finditer(said)]
        found: dict[str, tuple[str, Collection[Thing]]] = {}
        at = 0
        while at < len(spans):
            start, end = spans[at]
            step = 1
            for length in self._lengths_at(said[start:end]):
                if at + length <= len(spans):
                    form = self._form(said[start : spans[at + length - 1][1]])
                    if form:
                        things = self._things[form]
                        found.setdefault(form, (next(iter(things.values())), things.keys()))
                        step = length
                        break
            at += step
        return list(found.values())

    def _lengths_at(self, token: str) -> Iterable[int]:
        own = self._lengths.get(token)
        # A plural or possessive s belongs to the name before it.
        if own is None and len(token) > 1 and token.endswith("s"):
            own = self._lengths.get(token[:-1])
        return own or ()

    def _form(self, said: str) -> str:
        if said in self._things:
            return said
        if said.endswith("s") and said[:-1] in self._things and said[-2].isalpha():
            return said[:-1]
        return ""


class TaskText(NamedTuple):
    """A text of the task and its place. `about`: what it is, in the task's own words or as a field's name."""

    place: str
    text: str
    about: str


@dataclass(frozen=True)
class Case:
    """A task with what several rules need, computed once. `today`: later dates are in the future. `complete`: False for
    a draft that may hold empty texts.
    """

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
        """The triples without empty parts, with their indices."""
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
        """For each node, the number of the first stage whose triples name it; 0 for triples without a stage."""
        first: dict[str, int] = {}
        for _index, triple in self.triples:
            stage = triple.stage or 0
            for node in (triple.head, triple.tail):
                first[node] = min(first.get(node, stage), stage)
        return first

    @cached_property
    def first_found(self) -> dict[str, int]:
        """For each node that is a tail, the number of the first stage that asks for it; 0 for no stage."""
        first: dict[str, int] = {}
        for _index, triple in self.triples:
            stage = triple.stage or 0
            first[triple.tail] = min(first.get(triple.tail, stage), stage)
        return first

    @cached_property
    def heads_of_stage(self) -> dict[int, frozenset[str]]:
        """By stage number, the heads of its triples that are not tails of its triples."""
        heads: dict[int, set[str]] = {}
        tails: dict[int, set[str]] = {}
        for _index, triple in self.triples:
            heads.setdefault(triple.stage or 0, set()).add(triple.head)
            tails.setdefault(triple.stage or 0, set()).add(triple.tail)
        return {stage: frozenset(heads[stage] - tails[stage]) for stage in heads}

    def texts(self) -> Iterator[TaskText]:
        """Every text in prose of the task that is not empty, with its place."""
        return (written for written in self._all_texts() if written.text.strip())

    def _all_texts(self) -> Iterator[TaskText]:
        task = self.task
        yield TaskText("title", task.title, "title")
        yield TaskText("query", task.query, "query")
        for index, query in enumerate(task.sub_queries):
            yield TaskText(f"sub_queries[{index}]", query, query)
        if persona := task.persona:
            yield TaskText("persona.identity", persona.identity, "identity")
            yield TaskText("persona.initial_query", persona.initial_query, "initial_query")
            yield TaskText("persona.behaviour", persona.behaviour, "behaviour")
            for index, stage in enumerate(persona.stages):
                place, name = f"persona.stages[{index}]", name_of(stage)
                yield TaskText(f"{place}.title", stage.title, name)
                yield TaskText(f"{place}.cue.text", stage.cue.text, name)
                yield TaskText(f"{place}.line", stage.line, name)
                yield TaskText(f"{place}.not_met", stage.not_met, name)
        if chain := self.chain:
            yield TaskText("gold.opening", chain.opening, "opening")
            for index, step in enumerate(chain.steps):
                place = f"gold.steps[{index}]"
                yield TaskText(f"{place}.question", step.question, step.question)
                if step.ambiguity:
                    inner = f"{place}.ambiguity"
                    yield TaskText(f"{inner}.logic", step.ambiguity.logic, step.question)
                    yield TaskText(f"{inner}.clue", step.ambiguity.clue, step.question)
        if self.world:
            yield TaskText("gold.derivation", self.world.derivation, "derivation")


def name_of(stage: Stage) -> str:
    """A stage in the task's own words."""
    return stage.title or stage.cue.text or stage.line


def said_by(graph: Graph, triple: Triple) -> str:
    """A triple in the task's own words."""
    return " | ".join(graph.named(triple))


# What tells C from C++, 1.5 from 15 and 5 % from 5.
_TELLING = re.compile(r"[%‰+#°$€£¥&@]|(?<!\w)[-−](?=\d)|(?<=\d)[.:/,](?=\d)")
_WORDS = re.compile(r"[^\W_]+")
# World War I and II, type A and B: what counts like a number is no slip.
_COUNTER = re.compile(r"\b(?:[ivxlcdm]+|[a-z])\b")
_SHORTEST, _LONGEST = 5, 60


@lru_cache(maxsize=65536)
def same_name(name: str) -> str:
    """A form that is equal for names that differ only in case, width, accents, blanks or punctuation; "" for a name
    without letters and digits.
    """
    tight = squeezed(name)
    if not tight:
        return ""
    signs = _TELLING.findall(unicodedata.normalize("NFKC", name))
    return f"{tight}\0{''.join(signs)}" if signs else tight


def pairs_alike(names: Iterable[str]) -> Iterator[tuple[str, str, bool]]:
    """Pairs (earlier, later, same) of different names that are probably one: `same` if they differ only as `same_name`
    ignores, else they look like a typing error or an abbreviation. Each later name occurs once.
    """
    first: dict[str, str] = {}
    near: dict[str, str] = {}
    for name in names:
        key = same_name(name)
        if not key:
            continue
        if key in first:
            yield first[key], name, True
            continue
        first[key] = name
        marks = _marks(name)
        for mark in marks:
            # Of several names with one mark the first will do: they are alike among themselves.
            other = near.get(mark)
            if other is not None and _counters(other) == _counters(name) and alike(other, name):
                yield other, name, False
                break
        for mark in marks:
            near.setdefault(mark, name)


def _counters(name: str) -> list[str]:
    return _COUNTER.findall(name.casefold())


@lru_cache(maxsize=65536)
def _marks(name: str) -> tuple[str, ...]:
    """Keys that two names share if one has a letter mistyped or words abbreviated: the name without each of its
    letters, and the beginnings of its words. None for numbers and Chinese names, in which one character makes another
    name.
    """
    tight = squeezed(name)
    if is_cjk(name) or not any(char.isalpha() for char in tight):
        return ()
    words = _WORDS.findall(name.casefold())
    marks: dict[str, None] = {}
    if 1 < len(words) <= _LONGEST:
        starts = (word if any(c.isdigit() for c in word) else word[:3] for word in words)
        marks.setdefault("\1".join(starts))
    if _SHORTEST <= len(tight) <= _LONGEST:
        marks.setdefault(tight)
        for at, char in enumerate(tight):
            if not char.isdigit():
                marks.setdefault(tight[:at] + tight[at + 1 :])
    return tuple(marks)

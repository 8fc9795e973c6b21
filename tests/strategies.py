"""Hypothesis strategies for the domain, shared by all tests: `import strategies`."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from cuecard.core.families.checkpoints.gold import (
    Ambiguity,
    AmbiguityType,
    Checkpoint,
    CheckpointChain,
)
from cuecard.core.families.facts.gold import Fact, FactKind, FactWorld
from cuecard.core.families.graph.gold import Graph, Node, Triple
from cuecard.core.families.table.gold import Column, Metric, Preprocess, Table
from cuecard.core.tasks.base import id_problem
from cuecard.core.tasks.gold import FAMILIES, Family
from cuecard.core.tasks.models import Cue, CueKind, Foreign, Persona, Silenced, Source, Stage, Task

# What editors, pages and models really put into text, and what YAML, CSV and Markdown stumble over.
ODD = [
    *("\t", "\n", "\r", "\r\n", "\x0b", "\x0c", "\x1b[31m", "\x7f", "\x85", "\xa0", "\ufeff"),
    *("\u2028", "\u2029", "\u200b", "\u202e", "\u3000", "\ufffd", "😀", "é", "中文", "：", "，"),
    *("  ", " #", ": ", "- ", "? ", "|", ">", "&a", "*a", "!t", "%", "@", "`", "'", '"', "\\"),
    *("{", "}", "[", "]", ",", "null", "~", "true", "1e3", "0x1f", "2020-01-01", "<<", "=", "---"),
    *("...", "# ", "### ", "**", "> ", "\n\n", " \n", "\n ", "[red]", "[/]"),
]
_CHARS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
_PIECES = st.one_of(st.sampled_from(ODD), st.text(_CHARS, max_size=6), st.just("word " * 30))


def any_text(max_pieces: int = 6) -> st.SearchStrategy[str]:
    """Any text that can be stored, blank ones included."""
    return st.lists(_PIECES, max_size=max_pieces).map("".join)


def texts() -> st.SearchStrategy[str]:
    """Text that is not blank, kept exactly."""
    return any_text().filter(lambda text: text.strip() != "")


def names() -> st.SearchStrategy[str]:
    """Text that is not blank and has no blanks around it."""
    return texts().map(str.strip)


def plain_names() -> st.SearchStrategy[str]:
    """Short names of letters and digits."""
    return st.text("abcdefgh 0123456789éß中文字", min_size=1, max_size=10).map(
        lambda text: "x" + "_".join(text.split())
    )


def urls() -> st.SearchStrategy[str]:
    return plain_names().map(lambda name: f"https://example.org/{name}?q=1#{name}")


def tuples(items: st.SearchStrategy[Any], low: int = 0, high: int = 3) -> st.SearchStrategy[Any]:
    return st.lists(items, min_size=low, max_size=high).map(tuple)


def json_values() -> st.SearchStrategy[Any]:
    leaves = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**20), 10**20),
        st.floats(allow_nan=False, allow_infinity=False),
        any_text(3),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(any_text(2), inner, max_size=3)
        ),
        max_leaves=6,
    )


def stages() -> st.SearchStrategy[Stage]:
    cue = st.builds(Cue, kind=st.sampled_from(CueKind), text=names(), terms=tuples(names()))
    return st.builds(Stage, title=names(), cue=cue, line=texts(), not_met=any_text())


def personas() -> st.SearchStrategy[Persona]:
    return st.builds(
        Persona,
        name=any_text(2),
        identity=texts(),
        initial_query=texts(),
        stages=tuples(stages(), 1, 3),
        behaviour=any_text(),
    )


@st.composite
def graphs(draw: st.DrawFn, stage_count: int = 0) -> Graph:
    ids = draw(st.lists(names(), min_size=1, max_size=4, unique=True))
    listed = draw(st.lists(st.sampled_from(ids), unique=True))
    nodes = tuple(
        Node(id=id_, name=draw(any_text(2)), aliases=draw(tuples(names()))) for id_ in listed
    )
    stage = st.none() if not stage_count else st.none() | st.integers(1, stage_count)
    triple = st.builds(
        Triple,
        head=st.sampled_from(ids),
        relation=names(),
        tail=st.sampled_from(ids),
        stage=stage,
        sources=tuples(urls(), 0, 2),
        note=any_text(2),
    )
    return Graph(nodes=nodes, triples=draw(tuples(triple, 1, 4)))


@st.composite
def tables(draw: st.DrawFn) -> Table:
    found = draw(st.lists(names(), min_size=1, max_size=4, unique=True))
    columns = tuple(
        Column(
            name=name,
            preprocess=draw(tuples(st.sampled_from(Preprocess))),
            metric=draw(tuples(st.sampled_from(Metric), 1, 2)),
            criterion=draw(st.sampled_from(["", "0.05", "31", "1e-3"]) | any_text(2)),
        )
        for name in found
    )
    unique = draw(st.lists(st.sampled_from(found), min_size=1, max_size=2, unique=True))
    row = st.tuples(*[any_text(2) for _ in found])
    rows = draw(tuples(row, 1, 4))
    return Table(columns=columns, unique_columns=tuple(unique), rows=rows)


def chains() -> st.SearchStrategy[CheckpointChain]:
    ambiguity = st.builds(
        Ambiguity,
        type=st.sampled_from(AmbiguityType),
        logic=texts(),
        candidates=tuples(names(), 2, 3),
        clue=texts(),
        terms=tuples(names()),
    )
    step = st.builds(
        Checkpoint,
        question=texts(),
        target=names(),
        aliases=tuples(names()),
        ambiguity=st.none() | ambiguity,
        sources=tuples(urls(), 0, 1),
    )
    return st.builds(
        CheckpointChain,
        opening=texts(),
        steps=tuples(step, 1, 3),
        final_answer=names(),
        final_aliases=tuples(names()),
        forbidden=tuples(names()),
    )


@st.composite
def fact_worlds(draw: st.DrawFn) -> FactWorld:
    keys = draw(st.lists(names(), min_size=1, max_size=4, unique=True))
    facts = tuple(
        Fact(
            key=key,
            value=draw(names()),
            kind=draw(st.sampled_from(FactKind)),
            entity=draw(any_text(2)),
            attribute=draw(any_text(2)),
            unit=draw(st.sampled_from(["", "km", "升"])),
            aliases=draw(tuples(names())),
            sources=draw(tuples(urls(), 0, 1)),
        )
        for key in keys
    )
    return FactWorld(
        facts=facts,
        answer=draw(names()),
        answer_aliases=draw(tuples(names())),
        derivation=draw(any_text()),
    )


def silences() -> st.SearchStrategy[Silenced]:
    return st.builds(
        Silenced, code=st.sampled_from(["L001", "T042"]), about=any_text(2), reason=names()
    )


@st.composite
def tasks(draw: st.DrawFn, family: Family | None = None) -> Task:
    """A task of one family, or of any."""
    chosen = family or draw(st.sampled_from(FAMILIES))
    persona = draw(st.none() | personas())
    gold: Any
    match chosen:
        case "graph":
            gold = draw(graphs(len(persona.stages) if persona else 0))
        case "table":
            gold = draw(tables())
        case "checkpoints":
            gold = draw(chains())
        case "facts":
            gold = draw(fact_worlds())
        case _:
            raise LookupError(f"there is no strategy for gold of the family {chosen!r}")
    fields = st.dictionaries(any_text(2), json_values(), max_size=3)
    return Task(
        id=draw(st.from_regex(r"\A[a-z0-9][a-zA-Z0-9_.\-中文]{0,20}\Z").filter(_is_id)),
        title=draw(names()),
        language=draw(st.sampled_from(["en", "zh"])),
        domain=draw(any_text(2)),
        difficulty=draw(st.sampled_from([None, "easy", "medium", "hard"])),
        query=draw(texts()),
        sub_queries=draw(tuples(names())),
        persona=persona,
        gold=gold,
        sources=draw(tuples(st.builds(Source, url=urls(), note=any_text(2)), 0, 2)),
        notes=draw(any_text()),
        silenced=draw(tuples(silences(), 0, 2)),
        foreign=draw(st.none() | st.builds(Foreign, format=plain_names(), fields=fields)),
    )


def _is_id(text: str) -> bool:
    return not id_problem(text)

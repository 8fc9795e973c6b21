"""RDF: a graph task as Turtle or JSON-LD, through rdflib (the extra `rdf`).

Each triple of the gold is a triple of the file, between IRIs that hold the names. What RDF has no
place for (order, repetition, stage, sources, notes) stands in a statement about it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from cuecard.core.formats.base import Format, TasksRead, check_family
from cuecard.core.formats.file_names import file_names
from cuecard.core.formats.graph_files import graph_of, keep_header, read_graph_task, rest_of
from cuecard.core.formats.json_files import write_text
from cuecard.core.formats.rdf_library import rdflib
from cuecard.core.formats.rdf_names import NODE, RELATION, TASK, TERM, iri_of
from cuecard.core.formats.rdf_reading import load_json_ld, load_turtle
from cuecard.core.i18n import N_
from cuecard.core.tasks.models import Task

FAMILIES = ("graph",)
Syntax = Literal["turtle", "json-ld"]
_PREFIXES = {
    "cue": TERM,
    "rel": RELATION,
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "dcterms": "http://purl.org/dc/terms/",
}


def dump_rdf(task: Task, syntax: Syntax) -> str:
    """The task in RDF; reading it gives the same graph and header. Raises `CuecardError`."""
    library = rdflib()
    graph, terms = library.Graph(), library.Namespace(TERM)
    rdf, rdfs = library.RDF, library.RDFS
    for prefix, space in _PREFIXES.items():
        graph.bind(prefix, space)
    text = library.Literal

    def say(subject: Any, predicate: Any, value: str) -> None:
        if value:
            graph.add((subject, predicate, text(value)))

    root = library.URIRef(iri_of(task.id, TASK))
    graph.add((root, rdf.type, terms.Task))
    say(root, library.DCTERMS.identifier, task.id)
    say(root, library.DCTERMS.title, task.title)
    say(root, library.DCTERMS.language, task.language)
    say(root, terms.query, task.query)
    say(root, terms.task, rest_of(task))
    gold = graph_of(task)
    iris = {id_: library.URIRef(iri_of(id_, NODE)) for id_ in gold.node_ids}
    places = {node.id: (index, node) for index, node in enumerate(gold.nodes)}
    for id_, iri in iris.items():
        say(iri, rdfs.label, gold.name_of(id_))
        if id_ not in places:
            continue
        position, node = places[id_]
        say(iri, terms.position, str(position))
        if node.name == id_:
            say(iri, terms.named, "1")
        for alias in node.aliases:
            say(iri, library.SKOS.altLabel, alias)
        say(iri, terms.aliases, _ordered(node.aliases))
    for position, triple in enumerate(gold.triples):
        relation = library.URIRef(iri_of(triple.relation, RELATION))
        graph.add((iris[triple.head], relation, iris[triple.tail]))
        about = library.URIRef(f"{root}:triple:{position}")
        graph.add((about, rdf.type, rdf.Statement))
        graph.add((about, rdf.subject, iris[triple.head]))
        graph.add((about, rdf.predicate, relation))
        graph.add((about, rdf.object, iris[triple.tail]))
        say(about, terms.position, str(position))
        say(about, terms.stage, str(triple.stage or ""))
        say(about, rdfs.comment, triple.note)
        for source in triple.sources:
            say(about, library.DCTERMS.source, source)
        say(about, terms.sources, _ordered(triple.sources))
    if syntax == "json-ld":
        data = json.loads(graph.serialize(format=syntax, context=_PREFIXES))
        return json.dumps(_sorted(data), ensure_ascii=False, indent=2) + "\n"
    return str(graph.serialize(format=syntax)).rstrip("\n") + "\n"


def _sorted(value: Any) -> Any:
    """JSON-LD in an order that is the same each time: its lists are sets."""
    if isinstance(value, dict):
        return {key: _sorted(inner) for key, inner in sorted(cast(dict[str, Any], value).items())}
    if isinstance(value, list):
        items = [_sorted(item) for item in cast(list[Any], value)]
        return sorted(items, key=_sort_key)
    return value


def _sort_key(item: Any) -> tuple[object, ...]:
    name = str(cast(dict[str, Any], item).get("@id", "")) if isinstance(item, dict) else ""
    stem, _colon, number = name.rpartition(":")
    # The tenth triple after the ninth.
    place = (stem, int(number)) if number.isdecimal() and len(number) < 10 else (name, -1)
    return (*place, json.dumps(item, sort_keys=True))


def _ordered(texts: Sequence[str]) -> str:
    """The texts as JSON where a set would lose their order or number."""
    plain = sorted(set(texts))
    return "" if plain == list(texts) else json.dumps(list(texts), ensure_ascii=False)


def _format(
    name: str, title: str, suffix: str, syntax: Syntax, load: Callable[[bytes], Any]
) -> Format:
    def read_file(path: Path) -> TasksRead:
        rdflib()
        return read_graph_task(path, load)

    def write_tasks(tasks: Sequence[Task], folder: Path) -> list[Path]:
        check_family(tasks, name, FAMILIES)
        names = file_names([task.id for task in tasks], suffix)
        texts = [dump_rdf(task, syntax) for task in tasks]
        return [write_text(folder / file, text) for file, text in zip(names, texts, strict=True)]

    return Format(
        name=name,
        title=title,
        families=FAMILIES,
        suffixes=(suffix,),
        deep=True,
        read_file=read_file,
        join=keep_header,
        write_tasks=write_tasks,
    )


TURTLE = _format(
    "turtle", N_("RDF as Turtle, one graph a file (extra: rdf)"), ".ttl", "turtle", load_turtle
)
JSON_LD = _format(
    "jsonld",
    N_("RDF as JSON-LD, one graph a file (extra: rdf)"),
    ".jsonld",
    "json-ld",
    load_json_ld,
)

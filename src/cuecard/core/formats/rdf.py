"""RDF: a graph task as Turtle or JSON-LD, and files of any program read back, through rdflib (the extra `rdf`)."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from cuecard.core.formats import graph_files as graphs
from cuecard.core.formats.base import Format, TasksRead, check_family
from cuecard.core.formats.files import Obj, file_names, parse_json
from cuecard.core.i18n import N_, _
from cuecard.core.system import write_text
from cuecard.core.tasks.models import Task

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_DC = "http://purl.org/dc/terms/"
_LABELS = (
    f"{_RDFS}label",
    f"{_SKOS}prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
)
_ALIAS = f"{_SKOS}altLabel"
_TYPE = f"{_RDF}type"
_HEADER = {
    "id": f"{_DC}identifier",
    "title": f"{_DC}title",
    "language": f"{_DC}language",
    "query": f"{graphs.TERM}query",
}


class _Facts:
    """The statements of a file by subject, in the order of the file. Terms are rdflib's."""

    def __init__(self, triples: Iterable[tuple[Any, Any, Any]]) -> None:
        library = graphs.rdflib()
        self.all = list(triples)
        self._by_subject: dict[Any, dict[str, list[Any]]] = {}
        self._blank: dict[Any, int] = {}
        for subject, predicate, value in self.all:
            about = self._by_subject.setdefault(subject, {})
            about.setdefault(str(predicate), []).append(value)
            for term in (subject, value):
                if isinstance(term, library.BNode):
                    self._blank.setdefault(term, len(self._blank) + 1)

    def values(self, subject: Any, *predicates: str) -> list[Any]:
        about = self._by_subject.get(subject, {})
        return [value for predicate in predicates for value in about.get(predicate, ())]

    def text(self, subject: Any, *predicates: str) -> str:
        """The text of a property; of several the one without a language tag, else the first by language."""
        found = self.values(subject, *predicates[:1])
        if not found:
            return self.text(subject, *predicates[1:]) if predicates[1:] else ""
        return str(min(found, key=lambda v: (str(getattr(v, "language", "") or ""), str(v))))

    def id(self, term: Any) -> str:
        """The node id of a term. Blank nodes are numbered, since parsers name them differently each time."""
        if hasattr(term, "datatype"):
            return str(term)
        if term in self._blank:
            return f"_:{self._blank[term]}"
        return graphs.name_of(str(term), graphs.NODE)

    def of_type(self, kind: str) -> list[Any]:
        return [
            s for s, about in self._by_subject.items() if kind in map(str, about.get(_TYPE, ()))
        ]


def load_turtle(data: bytes) -> graphs.GraphFile:
    """The graph of a Turtle file. Raises `Unreadable`."""
    graph = graphs.recording_graph()
    from rdflib.plugins.parsers.notation3 import BadSyntax

    try:
        graph.parse(data=data.decode("utf-8-sig"), format="turtle", publicID=graphs.BASE)
    except UnicodeDecodeError as error:
        raise graphs.Unreadable(_("is not UTF-8 text; save it as UTF-8")) from error
    except BadSyntax as error:
        line = int(error.lines) + 1
        reason = str(error._why)  # pyright: ignore[reportPrivateUsage]
        raise graphs.Unreadable(_("is not Turtle: {error}").format(error=reason), line) from error
    except RecursionError:
        raise
    except Exception as error:
        raise graphs.Unreadable(_("is not Turtle: {error}").format(error=_said(error))) from error
    return _graph_file(_Facts(graph.said))


def load_json_ld(data: bytes) -> graphs.GraphFile:
    """The graph of a JSON-LD file. Raises `Unreadable`, also for a context that lies elsewhere."""
    graph = graphs.recording_graph()
    from rdflib.plugins.parsers.jsonld import to_rdf

    try:
        value = parse_json(data.decode("utf-8-sig"))
        _check_contexts(value)
    except UnicodeDecodeError as error:
        raise graphs.Unreadable(_("is not UTF-8 text; save it as UTF-8")) from error
    except ValueError as error:
        raise graphs.Unreadable(str(error)) from error
    try:
        to_rdf(value, graph, base=graphs.BASE)
    except RecursionError:
        raise
    except Exception as error:
        raise graphs.Unreadable(_("is not JSON-LD: {error}").format(error=_said(error))) from error
    return _graph_file(_Facts(graph.said))


def _check_contexts(value: object) -> None:
    """Refuses a context given by its address, since it would be fetched from wherever the file says."""
    if isinstance(value, dict):
        for key, inner in cast(dict[str, object], value).items():
            if (key == "@context" and _remote(inner)) or key == "@import":
                raise graphs.Unreadable(
                    _("names a context elsewhere; write it into the file"), place=key
                )
            _check_contexts(inner)
    elif isinstance(value, list):
        for inner in cast(list[object], value):
            _check_contexts(inner)


def _remote(context: object) -> bool:
    parts = cast(list[object], context) if isinstance(context, list) else [context]
    return any(isinstance(part, str) for part in parts)


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def _graph_file(facts: _Facts) -> graphs.GraphFile:
    roots = facts.of_type(f"{graphs.TERM}Task")
    if len(roots) > 1:
        raise graphs.Unreadable(_("holds more than one task"))
    file = graphs.GraphFile()
    skipped: set[Any] = set(roots)
    said: set[tuple[Any, Any, Any]] = set()
    if roots:
        file.header = {key: facts.text(roots[0], _HEADER[key]) for key in graphs.PLAIN}
        file.rest = facts.text(roots[0], f"{graphs.TERM}task")
        statements = _placed(facts, facts.of_type(f"{_RDF}Statement"))
        skipped.update(statements)
        for about in statements:
            parts = [facts.values(about, f"{_RDF}{p}") for p in ("subject", "predicate", "object")]
            if any(len(part) != 1 for part in parts):
                place = f"triple {len(file.triples)}"
                raise graphs.Unreadable(_("has not one subject, predicate and object"), place=place)
            spoken = (parts[0][0], parts[1][0], parts[2][0])
            said.add(spoken)
            file.triples.append(_triple(facts, *spoken, about=about))
    ends: list[Any] = []
    for subject, predicate, value in facts.all:
        relation = str(predicate)
        about_node = relation in (*_LABELS, _ALIAS, _TYPE) or relation.startswith(graphs.TERM)
        if subject in skipped:
            continue
        ends += [subject] if about_node else [subject, value]
        if not about_node and (subject, predicate, value) not in said:
            file.triples.append(_triple(facts, subject, predicate, value))
    _add_nodes(file, facts, list(dict.fromkeys(ends)))
    return file


def _placed(facts: _Facts, subjects: list[Any]) -> list[Any]:
    """Those with a position, in its order."""
    found: list[tuple[int, Any]] = []
    for subject in subjects:
        position = facts.text(subject, f"{graphs.TERM}position")
        if position.isascii() and position.isdecimal() and len(position) < 10:
            found.append((int(position), subject))
    return [subject for _position, subject in sorted(found, key=lambda pair: pair[0])]


def _triple(facts: _Facts, head: Any, relation: Any, tail: Any, about: Any = None) -> Obj:
    name = graphs.name_of(str(relation), graphs.RELATION)
    if name == str(relation):
        name = facts.text(relation, *_LABELS) or graphs.local_name(name)
    triple: Obj = {"head": facts.id(head), "relation": name, "tail": facts.id(tail)}
    if about is not None:
        triple["note"] = facts.text(about, f"{_RDFS}comment")
        stage = facts.text(about, f"{graphs.TERM}stage")
        if stage:
            triple["stage"] = stage
        sources = sorted({str(value) for value in facts.values(about, f"{_DC}source")})
        triple["sources"] = _ordered(facts.text(about, f"{graphs.TERM}sources"), sources)
    return triple


def _add_nodes(file: graphs.GraphFile, facts: _Facts, ends: list[Any]) -> None:
    placed = _placed(facts, ends) if file.header else []
    for end in placed:
        aliases = sorted({str(value) for value in facts.values(end, _ALIAS)})
        aliases = _ordered(facts.text(end, f"{graphs.TERM}aliases"), aliases)
        node, name = facts.id(end), facts.text(end, *_LABELS)
        if name == node and not facts.values(end, f"{graphs.TERM}named"):
            name = ""
        file.nodes.append({"id": node, "name": name, "aliases": aliases})
    known = set(placed)
    for end in ends:
        if end in known or hasattr(end, "datatype"):
            continue
        node = facts.id(end)
        label = facts.text(end, *_LABELS) or (graphs.local_name(node) if "://" in node else "")
        aliases = sorted({str(value) for value in facts.values(end, _ALIAS)})
        if (label and label != node) or aliases:
            file.nodes.append({"id": node, "name": label, "aliases": aliases})


def _ordered(text: str, plain: list[str]) -> list[str]:
    """The order that a JSON text gives to the same texts; without one, `plain`."""
    if not text:
        return plain
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return plain
    items = cast(list[object], value) if isinstance(value, list) else []
    texts = [item for item in items if isinstance(item, str)]
    return texts if set(texts) == set(plain) else plain


FAMILIES = ("graph",)
Syntax = Literal["turtle", "json-ld"]
_PREFIXES = {
    "cue": graphs.TERM,
    "rel": graphs.RELATION,
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "dcterms": "http://purl.org/dc/terms/",
}


def dump_rdf(task: Task, syntax: Syntax) -> str:
    """The task in RDF; reading it gives the same graph and header. Raises `CuecardError`."""
    library = graphs.rdflib()
    graph, terms = library.Graph(), library.Namespace(graphs.TERM)
    rdf, rdfs = library.RDF, library.RDFS
    for prefix, space in _PREFIXES.items():
        graph.bind(prefix, space)
    text = library.Literal

    def say(subject: Any, predicate: Any, value: str) -> None:
        if value:
            graph.add((subject, predicate, text(value)))

    root = library.URIRef(graphs.iri_of(task.id, graphs.TASK))
    graph.add((root, rdf.type, terms.Task))
    say(root, library.DCTERMS.identifier, task.id)
    say(root, library.DCTERMS.title, task.title)
    say(root, library.DCTERMS.language, task.language)
    say(root, terms.query, task.query)
    say(root, terms.task, graphs.rest_of(task))
    gold = graphs.graph_of(task)
    iris = {id_: library.URIRef(graphs.iri_of(id_, graphs.NODE)) for id_ in gold.node_ids}
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
        say(iri, terms.aliases, _rdf_ordered(node.aliases))
    for position, triple in enumerate(gold.triples):
        relation = library.URIRef(graphs.iri_of(triple.relation, graphs.RELATION))
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
        say(about, terms.sources, _rdf_ordered(triple.sources))
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


def _rdf_ordered(texts: Sequence[str]) -> str:
    """The texts as JSON where a set would lose their order or number."""
    plain = sorted(set(texts))
    return "" if plain == list(texts) else json.dumps(list(texts), ensure_ascii=False)


def _format(
    name: str, title: str, suffix: str, syntax: Syntax, load: Callable[[bytes], Any]
) -> Format:
    def read_file(path: Path) -> TasksRead:
        graphs.rdflib()
        return graphs.read_graph_task(path, load)

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
        join=graphs.keep_header,
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

"""What GraphML and RDF files of graph tasks share; names as IRIs; and rdflib, an optional dependency."""

import json
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, unquote

from pydantic import ValidationError

from cuecard.core.errors import CuecardError, FileProblem, install_hint, system_words
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.formats.base import TasksRead, language_of, make_task, title_of
from cuecard.core.formats.files import Obj, parse_json
from cuecard.core.i18n import _
from cuecard.core.tasks.gold import narrow
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import MAX_FILE_BYTES, task_dialect
from cuecard.core.text import is_cjk, slug
from cuecard.core.validation import Place, problems_of

PLAIN = ("id", "title", "language", "query")
"""The task fields that a graph file stores separately; the others are stored together as JSON."""
_PLACEHOLDER = {"en": "(query not written yet)", "zh": "（尚未写查询）"}


class Unreadable(Exception):
    """A file that is no readable graph: the place, the reason and the line."""

    def __init__(self, reason: str, line: int | None = None, place: str = "") -> None:
        super().__init__(reason)
        self.reason, self.line, self.place = reason, line, place


@dataclass
class GraphFile:
    """The contents of a graph file. `nodes` and `triples` have the fields of `Node` and `Triple`; `header` those of a
    `Task`, empty for files of other programs; `rest`: the JSON of the task's other fields.
    """

    nodes: list[Obj] = field(default_factory=list[Obj])
    triples: list[Obj] = field(default_factory=list[Obj])
    header: dict[str, str] = field(default_factory=dict[str, str])
    rest: str = ""
    title: str = ""
    lines: dict[Place, int] = field(default_factory=dict[Place, int])


def read_graph_task(path: Path, load: Callable[[bytes], GraphFile]) -> TasksRead:
    """The one task in a file. `load` parses its bytes and may raise `Unreadable`."""
    file = GraphFile()
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise Unreadable(_("is larger than 32 MB; split it or remove pasted pages"))
        file = load(path.read_bytes())
        return [_task(file, path)], []
    except Unreadable as error:
        return [], [FileProblem(str(path), error.place, error.reason, error.line)]
    except OSError as error:
        return [], [FileProblem(str(path), "", system_words(error))]
    except RecursionError:
        return [], [FileProblem(str(path), "", _("is nested too deeply"))]
    except ValidationError as error:
        return [], problems_of(error, str(path), file.lines, task_dialect())


def rest_of(task: Task) -> str:
    """The header's other fields as JSON, empty when each has its default."""
    data = task.model_dump(mode="json", exclude_defaults=True, exclude={"gold", *PLAIN})
    return json.dumps(data, ensure_ascii=False) if data else ""


def graph_of(task: Task) -> Graph:
    return narrow(task.gold, Graph)


def keep_header(given: Task, newest: Task) -> Task:
    """`given` merged into the newest revision: a graph file without a header changes nodes and triples only."""
    if not given.query.endswith(tuple(_PLACEHOLDER.values())) or given.query == newest.query:
        return given
    graph, old = graph_of(given), graph_of(newest)
    known = {(t.head, t.relation, t.tail): t for t in reversed(old.triples)}
    triples = tuple(
        triple if triple.note or triple.sources else known.get(_ends(triple), triple)
        for triple in graph.triples
    )
    listed = {node.id for node in graph.nodes}
    used = {end for triple in triples for end in (triple.head, triple.tail)}
    kept = (node for node in old.nodes if node.id in used and node.id not in listed)
    gold = Graph(nodes=(*graph.nodes, *kept), triples=triples)
    return newest.model_copy(update={"gold": gold})


def _ends(triple: Triple) -> tuple[str, str, str]:
    return triple.head, triple.relation, triple.tail


def _task(file: GraphFile, path: Path) -> Task:
    gold = {"family": "graph", "nodes": file.nodes, "triples": file.triples}
    if not file.triples:
        raise Unreadable(_("holds no edges"))
    if file.header:
        return Task.model_validate({**_rest(file.rest), **file.header, "gold": gold})
    names = [str(node.get("name") or node["id"]) for node in file.nodes]
    names += [str(triple["head"]) for triple in file.triples]
    title = title_of(file.title, path.stem)
    language = "zh" if sum(map(is_cjk, names)) * 2 > len(names) else language_of(None, title)
    return make_task(
        {
            "id": slug(path.stem)[:120],
            "title": title,
            "language": language,
            "query": f"{title} {_PLACEHOLDER[language]}",
            "gold": gold,
        }
    )


def _rest(text: str) -> Obj:
    if not text:
        return {}
    try:
        data = parse_json(text)
    except ValueError as error:
        raise Unreadable(str(error), place="task") from error
    if not isinstance(data, dict):
        raise Unreadable(_("must be an object with named fields"), place="task")
    return {key: value for key, value in cast(dict[str, Any], data).items() if key not in PLAIN}


OURS = "urn:cuecard:"
TERM = f"{OURS}term:"
NODE = f"{OURS}node:"
RELATION = f"{OURS}relation:"
TASK = f"{OURS}task:"
# Relative addresses in a file are below this one, which leads nowhere.
BASE = "http://file.invalid/"

_IRI = re.compile(r"(?:https?|urn):[^\s<>\"{}|\\^`\x00-\x20\x7f-\xa0\ue000-\uf8ff\ufff0-\uffff]+")
_LOCAL = re.compile(r"[#/:]([^#/:]+)[#/:]?$")


def iri_of(name: str, space: str) -> str:
    """The IRI of a name: the name itself if it is an IRI, else the quoted name within `space`."""
    if _IRI.fullmatch(name) and name.isascii() and not name.startswith((OURS, BASE)):
        return name
    # IRIs may contain letters of all scripts, which people can read better than escapes.
    return space + "".join(char if _readable(char) else quote(char, safe="") for char in name)


def name_of(iri: str, space: str) -> str:
    """The name that became this IRI; any other IRI is its own name."""
    if iri.startswith(space):
        return unquote(iri.removeprefix(space), errors="replace")
    return unquote(iri.removeprefix(BASE)) if iri.startswith(BASE) else iri


def local_name(iri: str) -> str:
    """The last part of an IRI, as a person would read it."""
    found = _LOCAL.search(iri)
    name = unquote(found[1], errors="replace") if found else iri
    return name.replace("_", " ").strip() or iri


def _readable(char: str) -> bool:
    return char.isalnum() and (char.isascii() or "\u00bf" < char < "\ud800")


def rdflib() -> Any:
    """The library. Raises `CuecardError` where it is not installed."""
    try:
        import rdflib as library
    except ImportError as error:
        raise CuecardError(
            _("Turtle and JSON-LD need one more package"),
            "rdflib",
            install_hint("rdf"),
        ) from error
    # rdflib logs odd addresses to stderr, where the app draws.
    logger = logging.getLogger("rdflib")
    if logger.propagate:
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
        # A number or a date is the text that stands in the file.
        library.NORMALIZE_LITERALS = False
    return library


def recording_graph() -> Any:
    """An empty graph that keeps in `said` what is added to it, in the order of the file: rdflib's own
    order changes from run to run. Raises `CuecardError`.
    """
    library = rdflib()

    class Recording(library.Graph):
        def __init__(self) -> None:
            super().__init__()
            self.said: dict[Any, None] = {}

        def add(self, triple: Any) -> Any:
            self.said.setdefault(triple)
            super().add(triple)
            return self

    graph: Any = Recording()
    return graph

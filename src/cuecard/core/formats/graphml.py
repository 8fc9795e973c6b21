"""GraphML: a graph task as the XML that Gephi, yEd, Cytoscape and networkx read, and files of any program read back."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast
from xml.parsers import expat
from xml.sax.saxutils import escape

from cuecard.core.formats.base import Format, check_family
from cuecard.core.formats.files import Obj, file_names
from cuecard.core.formats.graph_files import (
    PLAIN,
    GraphFile,
    Unreadable,
    graph_of,
    keep_header,
    read_graph_task,
    rest_of,
)
from cuecard.core.i18n import N_, _
from cuecard.core.system import write_text
from cuecard.core.tasks.models import Task

MARK = "cuecard"
_MAX_DEPTH = 60
_LABELS = ("label", "name", "title", "NodeLabel", "EdgeLabel")
_RELATIONS = ("label", "relation", "predicate", "EdgeLabel", "type", "name", "interaction")
_SOURCES = ("sources", "source", "url", "urls")
_NOTES = ("note", "notes", "description", "comment")
_ESCAPED = re.compile(r"\\(\\|u[0-9a-f]{4})")


@dataclass
class _Element:
    """A graph, node or edge, with its data by name. `ends`: the nodes of an edge."""

    id: str
    line: int
    ends: tuple[str, str] = ("", "")
    data: dict[str, str] = field(default_factory=dict[str, str])

    def get(self, *names: str) -> str:
        return next((self.data[name] for name in names if self.data.get(name)), "")


class _Reader:
    """Handlers for the XML parser expat, whose `Parse` passes their exceptions on."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.graphs: list[_Element] = []
        self.nodes: list[_Element] = []
        self.edges: list[_Element] = []
        self._names: dict[str, str] = {}
        self._open: list[_Element] = []
        self._depth = 0
        self._collecting: tuple[_Element, str, list[str]] | None = None

    @property
    def line(self) -> int:
        return self.parser.CurrentLineNumber

    def _doctype(self, *_declared: object) -> None:
        # Entities are declared there, which could expand without bound or read files and addresses.
        raise Unreadable(_("has a DOCTYPE; remove it"), self.line)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(" ")[2]
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Unreadable(_("is nested too deeply"), self.line)
        if self._depth == 1 and name != "graphml":
            reason = _("is not GraphML: its outermost element is {name!r}")
            raise Unreadable(reason.format(name=name[:80]), self.line)
        match name:
            case "key":
                label = attributes.get("attr.name") or attributes.get("id", "")
                self._names[attributes.get("id", "")] = label
            case "graph" | "node" | "edge":
                self._begin(name, attributes)
            case "data" if self._open:
                key = attributes.get("key", "")
                self._collecting = (self._open[-1], self._names.get(key, key), [])
            case "NodeLabel" | "EdgeLabel" if self._collecting is not None:
                # yEd stores the drawing of a node or edge, with its label, inside its data.
                self._collecting = (self._collecting[0], name, [])
            case _:
                pass

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        thing = _Element(attributes.get("id", ""), self.line)
        if name == "graph":
            self.graphs.append(thing)
        elif name == "node":
            if not thing.id:
                raise Unreadable(_("is missing"), self.line, f"node[{len(self.nodes)}].id")
            self.nodes.append(thing)
        else:
            thing.ends = (attributes.get("source", ""), attributes.get("target", ""))
            self.edges.append(thing)
        self._open.append(thing)

    def _end(self, tag: str) -> None:
        name = tag.rpartition(" ")[2]
        self._depth -= 1
        if name in ("graph", "node", "edge"):
            self._open.pop()
        elif self._collecting is not None and name in ("data", "NodeLabel", "EdgeLabel"):
            thing, key, texts = self._collecting
            text = "".join(texts)
            if text.strip() or name == "data":
                thing.data.setdefault(key, text)
            if name == "data":
                self._collecting = None
            else:
                self._collecting = (thing, "", [])

    def _text(self, text: str) -> None:
        if self._collecting is not None:
            self._collecting[2].append(text)


def load_graphml(data: bytes) -> GraphFile:
    """The graph of a file, its edges in their order. Raises `Unreadable`."""
    reader = _Reader()
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = _("is not XML: {error}").format(error=expat.ErrorString(error.code))
        raise Unreadable(reason, error.lineno) from error
    except (ValueError, LookupError) as error:
        # An encoding that Python does not know, or that XML may not have.
        raise Unreadable(_("is not XML: {error}").format(error=error)) from error
    roots = reader.graphs
    ours = bool(roots) and roots[0].get(MARK) == "1"
    return _ours(reader, roots[0]) if ours else _theirs(reader)


def _ours(reader: _Reader, graph: _Element) -> GraphFile:
    file = GraphFile()
    for thing in (graph, *reader.nodes, *reader.edges):
        thing.data = {key: _plain(text) for key, text in thing.data.items()}
    for name in PLAIN:
        key = "task_id" if name == "id" else name
        if key in graph.data:
            file.header[name] = graph.data[key]
    file.rest = graph.get("task")
    ids = {node.id: node.get("id") or node.id for node in reader.nodes}
    for node in reader.nodes:
        listed = node.get("listed")
        if not listed:
            continue
        file.lines["gold", "nodes", len(file.nodes)] = node.line
        item: Obj = {"id": ids[node.id]}
        if listed == "name":
            item["name"] = node.get("label")
        if node.get("aliases"):
            item["aliases"] = _texts(node.get("aliases"), node)
        file.nodes.append(item)
    for edge in reader.edges:
        _add_edge(file, edge, ids, edge.get("label"), edge.get("note"))
    return file


def _theirs(reader: _Reader) -> GraphFile:
    """If every node has a unique label, the labels become the ids, since ids of other programs mean nothing."""
    labels = [node.get(*_LABELS).strip() for node in reader.nodes]
    named = all(labels) and len(set(labels)) == len(labels)
    ids: dict[str, str] = {}
    file = GraphFile(title=reader.graphs[0].get("title", "name", "label") if reader.graphs else "")
    for node, label in zip(reader.nodes, labels, strict=True):
        ids[node.id] = label if named else node.id.strip()
        if not named and label and label != node.id:
            file.lines["gold", "nodes", len(file.nodes)] = node.line
            file.nodes.append({"id": node.id.strip(), "name": label})
    for index, edge in enumerate(reader.edges):
        relation = edge.get(*_RELATIONS).strip()
        if not relation:
            reason = _("has no label, which would be the relation")
            raise Unreadable(reason, edge.line, f"edge[{index}]")
        _add_edge(file, edge, ids, relation, edge.get(*_NOTES).strip())
    return file


def _add_edge(
    file: GraphFile, edge: _Element, ids: dict[str, str], relation: str, note: str
) -> None:
    index = len(file.triples)
    for end, key in zip(edge.ends, ("source", "target"), strict=True):
        if end not in ids:
            reason = _("{id!r} is no node of this task").format(id=end[:80])
            raise Unreadable(reason, edge.line, f"edge[{index}].{key}")
    file.lines["gold", "triples", index] = edge.line
    head, tail = (ids[end] for end in edge.ends)
    triple: Obj = {"head": head, "relation": relation, "tail": tail, "note": note}
    sources = edge.get(*_SOURCES).split()
    if file.header:
        if edge.get("stage").strip():
            triple["stage"] = edge.get("stage").strip()
    else:
        # Without a persona there are no stages; and what others call a source may be anything.
        sources = [source for source in sources if source.startswith(("http://", "https://"))]
    if sources:
        triple["sources"] = sources
    file.triples.append(triple)


def _texts(text: str, node: _Element) -> list[object]:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(_("must be a list"), node.line, "aliases") from error
    if not isinstance(value, list):
        raise Unreadable(_("must be a list"), node.line, "aliases")
    return cast(list[object], value)


def _plain(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPED.sub(
        lambda found: "\\" if found[1] == "\\" else chr(int(found[1][1:], 16)), text
    )


NAME = "graphml"
FAMILIES = ("graph",)
# What no XML can hold, and the backslash that stands for it.
_UNFIT = re.compile("[\\\\\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_KEYS = {
    "graph": (MARK, "task_id", "title", "language", "query", "task"),
    "node": ("id", "label", "listed", "aliases"),
    "edge": ("label", "stage", "sources", "note"),
}


def dump_graphml(task: Task) -> str:
    """The task as GraphML; `load_graphml` reads the same graph and header from it."""
    return "".join(f"{line}\n" for line in _lines(task))


def write_tasks(tasks: Sequence[Task], folder: Path) -> list[Path]:
    """One `{id}.graphml` a task. Raises `CuecardError`."""
    check_family(tasks, NAME, FAMILIES)
    names = file_names([task.id for task in tasks], ".graphml")
    return [
        write_text(folder / name, dump_graphml(task))
        for task, name in zip(tasks, names, strict=True)
    ]


def _lines(task: Task) -> Iterator[str]:
    graph = graph_of(task)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for owner, names in _KEYS.items():
        for name in names:
            kind = "int" if name == "stage" else "string"
            attributes = f'for="{owner}" attr.name="{name}" attr.type="{kind}"'
            yield f'  <key id="{owner}_{name}" {attributes}/>'
    yield '  <graph id="G" edgedefault="directed">'
    header = {
        MARK: "1",
        # Not "id": networkx takes that for the id of the element.
        "task_id": task.id,
        "title": task.title,
        "language": task.language,
        "query": task.query,
        "task": rest_of(task),
    }
    for name, text in header.items():
        yield from _data("    ", "graph", name, text)
    numbers = {id_: f"n{index}" for index, id_ in enumerate(graph.node_ids)}
    listed = {node.id: node for node in graph.nodes}
    for id_, number in numbers.items():
        node = listed.get(id_)
        yield f'    <node id="{number}">'
        yield from _data("      ", "node", "id", id_)
        yield from _data("      ", "node", "label", graph.name_of(id_))
        if node is not None:
            yield from _data("      ", "node", "listed", "name" if node.name else "id")
            if node.aliases:
                yield from _data(
                    "      ", "node", "aliases", json.dumps(list(node.aliases), ensure_ascii=False)
                )
        yield "    </node>"
    for index, triple in enumerate(graph.triples):
        ends = f'source="{numbers[triple.head]}" target="{numbers[triple.tail]}"'
        yield f'    <edge id="e{index}" {ends}>'
        yield from _data("      ", "edge", "label", triple.relation)
        yield from _data("      ", "edge", "stage", str(triple.stage or ""))
        yield from _data("      ", "edge", "sources", " ".join(triple.sources))
        yield from _data("      ", "edge", "note", triple.note)
        yield "    </edge>"
    yield "  </graph>"
    yield "</graphml>"


def _data(indent: str, owner: str, name: str, text: str) -> Iterator[str]:
    if text:
        text = _UNFIT.sub(lambda found: _escaped(found[0]), text)
        # A bare carriage return would come back as a line feed.
        text = escape(text, {"\r": "&#13;"})
        yield f'{indent}<data key="{owner}_{name}">{text}</data>'


def _escaped(char: str) -> str:
    return "\\\\" if char == "\\" else f"\\u{ord(char):04x}"


FORMAT = Format(
    name=NAME,
    title=N_("GraphML: one graph a file, for Gephi, yEd, Cytoscape, networkx"),
    families=FAMILIES,
    suffixes=(".graphml",),
    deep=True,
    read_file=lambda path: read_graph_task(path, load_graphml),
    join=keep_header,
    write_tasks=write_tasks,
)

"""GraphML: a graph task as the XML that Gephi, yEd, Cytoscape and networkx read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from cuecard.core.formats.base import Format, TasksRead, check_family
from cuecard.core.formats.file_names import file_names
from cuecard.core.formats.graph_files import graph_of, keep_header, read_graph_task, rest_of
from cuecard.core.formats.graphml_reading import MARK, load_graphml
from cuecard.core.formats.json_files import write_text
from cuecard.core.i18n import N_
from cuecard.core.tasks.models import Task

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


def _read_file(path: Path) -> TasksRead:
    return read_graph_task(path, load_graphml)


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
                yield from _data("      ", "node", "aliases", _json(node.aliases))
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


def _json(texts: Sequence[str]) -> str:
    return json.dumps(list(texts), ensure_ascii=False)


FORMAT = Format(
    name=NAME,
    title=N_("GraphML: one graph a file, for Gephi, yEd, Cytoscape, networkx"),
    families=FAMILIES,
    suffixes=(".graphml",),
    deep=True,
    read_file=_read_file,
    join=keep_header,
    write_tasks=write_tasks,
)

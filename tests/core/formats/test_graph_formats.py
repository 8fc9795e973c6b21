from __future__ import annotations

import builtins
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import strategies
from budget import examples
from cuecard.core.errors import CuecardError
from cuecard.core.families.graph.gold import Graph, Node, Triple
from cuecard.core.formats.base import FORMATS, detect
from cuecard.core.formats.graph_files import (
    NODE,
    GraphFile,
    Unreadable,
    iri_of,
    keep_header,
    name_of,
    rdflib,
    read_graph_task,
)
from cuecard.core.formats.graphml import dump_graphml, load_graphml
from cuecard.core.formats.rdf import dump_rdf, load_json_ld, load_turtle
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import load_task

few = settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
ESPRESSO = load_task(Path("sample_tasks/espresso.yaml"))
HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'


@few
@given(strategies.tasks("graph"))
def test_any_task_comes_back_from_every_graph_format(task: Task) -> None:
    for text, load in (
        (dump_graphml(task), load_graphml),
        (dump_rdf(task, "turtle"), load_turtle),
        (dump_rdf(task, "json-ld"), load_json_ld),
    ):
        assert back(load, text) == task


@settings(max_examples=examples(50), deadline=None)
@given(strategies.names())
def test_any_name_is_an_iri_and_comes_back(name: str) -> None:
    iri = iri_of(name, NODE)
    assert name_of(iri, NODE) == name
    assert not set(iri) & set(' <>"{}|\\^`\n')


def back(load: Any, text: str) -> Task:
    file = load(text.encode())
    return read_graph_task(_holding(text), lambda _data: file)[0][0]


def _holding(text: str) -> Path:
    # The reader looks at size and bytes of a real file; what it would read is given already.
    return Path(__file__)


@pytest.mark.parametrize("name", ["graphml", "turtle", "jsonld"])
def test_files_are_found_written_the_same_and_read_back(name: str, tmp_path: Path) -> None:
    found = FORMATS[name]
    (path,) = found.write_tasks([ESPRESSO], tmp_path / "out")
    assert detect(path) == detect(tmp_path / "out") == name
    assert found.read_tasks(tmp_path / "out") == ([ESPRESSO], [])
    (again,) = found.write_tasks([ESPRESSO], tmp_path / "again")
    assert again.read_bytes() == path.read_bytes()
    table = load_task(Path("sample_tasks/table-us-states.yaml"))
    with pytest.raises(CuecardError, match="table-us-states"):
        found.write_tasks([table], tmp_path / "none")


def graphml(body: str) -> bytes:
    keys = '<key id="d0" for="node" attr.name="label"/><key id="d1" for="edge" attr.name="label"/>'
    return f"{HEAD}{keys}\n<graph edgedefault='directed'>\n{body}</graph></graphml>".encode()


def test_graphml_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "My pets.graphml"
    body = (
        "<node id='n0'><data key='d0'> Cat </data></node>"
        "<node id='n1'><data key='d0'><y:ShapeNode xmlns:y='u'><y:NodeLabel>Mouse</y:NodeLabel>"
        "</y:ShapeNode></data></node><node id='n2'><data key='d0'>Dog</data></node>\n"
        "<edge source='n0' target='n1'><data key='d1'>eats</data><data key='source'>"
        "https://example.org/a some book</data><data key='stage'>4</data></edge>"
        "<edge source='n2' target='n0'><data key='d1'>chases</data></edge>"
    )
    path.write_bytes(graphml(body))
    (task,), problems = FORMATS["graphml"].read_tasks(path)
    assert problems == []
    assert (task.id, task.title, task.language) == ("my-pets", "My pets", "en")
    assert "not written yet" in task.query
    assert task.gold == Graph(
        triples=(
            Triple(head="Cat", relation="eats", tail="Mouse", sources=("https://example.org/a",)),
            Triple(head="Dog", relation="chases", tail="Cat"),
        )
    )
    path.write_bytes(graphml(body.replace(">Dog<", ">Cat<")))
    (task,), _problems = FORMATS["graphml"].read_tasks(path)
    assert isinstance(task.gold, Graph)
    assert task.gold.named(task.gold.triples[1]) == ("Cat", "chases", "Cat")
    assert task.gold.node_ids == ("n0", "n1", "n2")


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    f"{HEAD}<graph><node id='n0'><data key='x'>&b;</data></node></graph></graphml>"
)
OUTSIDE = (
    f'<!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/passwd">]>{HEAD}<graph>&x;</graph></graphml>'
)


@pytest.mark.parametrize(
    ("data", "reason", "line"),
    [
        (BOMB.encode(), "has a DOCTYPE", 1),
        (OUTSIDE.encode(), "has a DOCTYPE", 1),
        (b"<svg/>", "is not GraphML", 1),
        (f"{HEAD}\n<graph>".encode(), "is not XML", 2),
        (b"", "is not XML", 1),
        (b"\xff\xfe\x00", "is not XML", 1),
        (HEAD.encode() + b"<a>" * 500, "nested too deeply", 1),
        (b'<?xml version="1.0" encoding="klingon"?>' + HEAD.encode(), "is not XML", None),
        (graphml("<node/>"), "is missing", 3),
        (graphml("<node id='a'/>\n<edge source='a' target='b'><data key='d1'>r</data></edge>"), "'b' is no node", 4),
        (graphml("<node id='a'/>\n<edge source='a' target='a'/>"), "has no label", 4),
    ],
)  # fmt: skip
def test_what_is_no_graphml(data: bytes, reason: str, line: int | None) -> None:
    with pytest.raises(Unreadable, match=reason) as caught:
        load_graphml(data)
    assert line is None or caught.value.line == line


def test_rdf_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "pets.ttl"
    path.write_text(
        "@prefix : <https://example.org/#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        '@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n:cat rdfs:label "Katze"@de, "Cat" ;'
        ' skos:altLabel "Kitty" ; :eats_up :mouse, "007"^^<http://www.w3.org/2001/XMLSchema#integer> ; :near [ rdfs:label "a dog" ] .',
        encoding="utf-8",
    )
    (task,), problems = FORMATS["turtle"].read_tasks(path)
    assert problems == []
    gold = task.gold
    assert isinstance(gold, Graph)
    assert [gold.named(triple) for triple in gold.triples] == [
        ("Cat", "eats up", "mouse"),
        ("Cat", "eats up", "007"),
        ("Cat", "near", "a dog"),
    ]
    assert gold.names_of("https://example.org/#cat") == ("Cat", "Kitty")
    assert FORMATS["turtle"].read_tasks(path)[0] == [task]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"@context": "https://example.org/c.jsonld", "@id": "x"}', "names a context elsewhere"),
        ('{"@context": [{"a": {"@id": "urn:a", "@context": "file:///etc/passwd"}}]}', "elsewhere"),
        ('{"@context": {"@import": "https://example.org/"}}', "elsewhere"),
        ("{", "is not JSON"),
        ('{"@id": 5, "@type": {"a": []}}', "JSON-LD|no edges"),
        ("[]", "holds no edges"),
        ('"text"', "JSON-LD|no edges"),
    ],
)
def test_json_ld_that_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonld"
    path.write_text(text)
    tasks, (problem,) = FORMATS["jsonld"].read_tasks(path)
    assert tasks == []
    assert any(part in problem.reason for part in reason.split("|")), problem.reason


def test_turtle_that_is_refused_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text("@prefix : <urn:x:> .\n:a :b :c .\n:a :b ;;; oops\n")
    _tasks, (problem,) = FORMATS["turtle"].read_tasks(path)
    assert (problem.line, "is not Turtle" in problem.reason) == (3, True)
    path.write_text("@prefix : <urn:x:> . :a :b " + "[:c " * 5000)
    _tasks, (problem,) = FORMATS["turtle"].read_tasks(path)
    assert problem.reason


def test_a_graph_without_a_header_leaves_the_task_its_own() -> None:
    assert isinstance(ESPRESSO.gold, Graph)
    first = ESPRESSO.gold.triples[0]
    bare = Triple(head=first.head, relation=first.relation, tail=first.tail)
    new = Triple(head=first.head, relation="is new to", tail="Somebody")
    given = ESPRESSO.model_copy(
        update={
            "title": "x",
            "persona": None,
            "query": "x (query not written yet)",
            "gold": Graph(nodes=(Node(id="Somebody", name="S."),), triples=(new, bare)),
        }
    )
    result = keep_header(given, ESPRESSO)
    assert (result.persona, result.title) == (ESPRESSO.persona, ESPRESSO.title)
    assert isinstance(result.gold, Graph)
    assert result.gold.triples == (new, first)
    edited = given.model_copy(update={"query": "Mine"})
    assert keep_header(edited, ESPRESSO) is edited


def test_the_library_is_imported_late_and_missed_politely(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys, cuecard.core.formats.base; sys.exit('rdflib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "rdflib":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(CuecardError, match=r"install .*\[rdf\]"):
        rdflib()


def test_an_empty_graph_file_is_no_task() -> None:
    tasks, (problem,) = read_graph_task(Path(__file__), lambda _data: GraphFile())
    assert (tasks, problem.reason) == ([], "holds no edges")
    text = json.dumps([1])
    file = load_graphml(dump_graphml(ESPRESSO).replace('{"domain', f'{text}{{"domain').encode())
    _tasks, (problem,) = read_graph_task(Path(__file__), lambda _data: file)
    assert problem.place == "task"

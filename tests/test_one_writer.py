"""Files are written by `core/system.py` alone: in one move, so that what stood there is whole until the new is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuecard.core.system import replace_file

SOURCE = Path(__file__).parent.parent / "src" / "cuecard"
ALLOWED = {
    "core/system.py": "the writer, and the file of a lock",
    "core/evaluation/run_exports.py": "lines, in a folder that gets its name when it is whole",
    "core/evaluation/run_export_formats.py": "an archive, in such a folder",
    "core/worlds/python_cage.py": "what the kernel reads in /proc",
    "tui/commands/output.py": "the null device, in place of a stream that is closed",
}
WRITING = set("wax+")
FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT"}
OPENERS = ("open", "fdopen", "ZipFile", "TarFile", "GzipFile")
WRITERS = ("NamedTemporaryFile", "mkstemp", "copyfile", "copy2", "copytree")
NAMED = re.compile(rf"\b(?:{'|'.join((*OPENERS, *WRITERS, 'write_text', 'write_bytes'))})\b")


def names(node: ast.AST) -> set[str]:
    return {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}


def texts(call: ast.Call) -> Iterator[str]:
    """The texts that a call is given, the modes among them."""
    for given in (*call.args, *(keyword.value for keyword in call.keywords)):
        if isinstance(given, ast.Constant) and isinstance(given.value, str):
            yield given.value


def writes(text: str) -> list[int]:
    """The lines of a module on which a file is opened for writing, or written whole."""
    if not NAMED.search(text):
        return []
    tree = ast.parse(text)
    modules = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    found: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Attribute(value=ast.Name(id="os"), attr="open"):
                wrote = any(FLAGS & names(flag) for flag in node.args[1:])
            case ast.Name(id=called) | ast.Attribute(attr=called) if called in OPENERS:
                wrote = any(
                    len(mode) < 4 and WRITING & set(mode) and set(mode) <= WRITING | set("rbt")
                    for mode in texts(node)
                )
            case ast.Attribute(value=ast.Name(id=owner), attr="write_text" | "write_bytes"):
                wrote = owner not in modules
            case ast.Attribute(attr="write_text" | "write_bytes"):
                wrote = True
            case ast.Name(id=called) | ast.Attribute(attr=called):
                wrote = called in WRITERS
            case _:
                wrote = False
        if wrote:
            found.add(node.lineno)
    return sorted(found)


def test_no_other_module_opens_files_for_writing() -> None:
    found = {
        path.relative_to(SOURCE).as_posix(): lines
        for path in SOURCE.rglob("*.py")
        if (lines := writes(path.read_text(encoding="utf-8")))
    }
    assert found.keys() - ALLOWED.keys() == set(), found
    assert ALLOWED.keys() - found.keys() == set(), "these write no file any more"


@pytest.mark.parametrize(
    "line",
    [
        'open(path, "w", encoding="utf-8")',
        'path.open("ab")',
        'path.open(mode="x")',
        "path.write_text(text)",
        "folder.joinpath(name).write_bytes(data)",
        "os.open(path, os.O_WRONLY | os.O_CREAT)",
        'zipfile.ZipFile(path, "w")',
        "tempfile.NamedTemporaryFile()",
    ],
)
def test_each_way_to_write_is_seen(line: str) -> None:
    assert writes(f"def f():\n    {line}\n") == [2]


def test_reading_is_not() -> None:
    text = "from authoring import graph_ops\ngraph_ops.write_text(edit)\npath.open('rb')\nopen(p)\n"
    assert writes(text) == []


def test_what_must_be_new_is_refused_where_something_stands(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    replace_file(file, "first", new=True)
    with pytest.raises(FileExistsError):
        replace_file(file, "second", new=True)
    assert file.read_text() == "first"
    assert [each.name for each in tmp_path.iterdir()] == ["labels.csv"]
    replace_file(file, "third")
    assert file.read_text() == "third"

"""Import files that were damaged on the way, in every format: what an import must survive.

`rounds` damages files and imports them. Whatever happens, it is an error that names the file, never a
traceback; and unless tasks came in, the workspace is as it was, to the last byte of its content.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuecard.annotate.task_files import ImportReport, import_path
from cuecard.core.errors import CuecardError
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.table.gold import Table
from cuecard.core.formats.base import FORMATS
from cuecard.core.formats.files import SUFFIXES, Entry, read_objects
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import dump_task, load_task, parse_task
from cuecard.store.workspace import Workspace

SAMPLES = Path(__file__).parent.parent / "sample_tasks"
PUBLISHED = ("vibesearch", "widesearch", "paraworld", "discobench")
# A workspace is made anew after so many rounds: what came in makes it larger and slower.
FRESH = 100

ODD_TEXTS = [
    "", " ", "\0", "\ud800", "\u202e", "\x1b[31m", "\ufeff", "\u2028", "x" * 70_000, "[/red]",
    "../../etc/passwd", "CON", "null", "1e999", "-0", "𝔘𝔫𝔦", "e\u0301", "\r", "\t\t", "'\"<>&;",
]  # fmt: skip
ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 10**400, 1.5, 1e308, [], {}, [[]], [None], {"": ""}, [1, "a", {}],
    {"a": {"b": {"c": []}}}, *ODD_TEXTS,
]  # fmt: skip
BOMBS_YAML = [
    b"a: &a [x,x,x,x,x,x,x,x,x,x]\n"
    + b"".join(
        b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 10)) for i in range(8)
    ),
    b"x: !!python/object/apply:os.system ['true']\n",
    b"x: !!python/name:os.system\n",
    b"<<: &b {id: y}\nz: *b\n",
    b"? [complex, key]\n: value\n",
    b"--- \nid: two\n...\n---\nid: three\n",
    b"%YAML 9.9\n---\nid: x\n",
    b"x: &x\n  y: *x\n",
    b"\tid: tab\n",
    b"x: !!binary aGVsbG8=\ny: !!timestamp 2020-13-45\nz: !!set {a, b}\n",
    b"x: *nowhere\n",
    b"x: {{{{{{{{{{\n",
]
BOMBS_XML = [
    b'<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>',
    b'<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    b'<!DOCTYPE l SYSTEM "http://127.0.0.1:9/x.dtd">',
    b"&undefined;", b"&#0;", b"&#xFFFF;", b"<![CDATA[ ]]>", b"<!-- -- -->", b"<?xml version='1.0'?>",
    b"<a><b><c>", b"</graph>", b"<node id='n0'/>", b"<edge source='n0' target='nowhere'/>",
    b"<x:y/>", b"<data key='graph_cuecard'>2</data>",
]  # fmt: skip
BOMBS_RDF = [
    b"@base <file:///etc/> .\n", b"@prefix : <http://127.0.0.1:9/> .\n", b"@prefix a: <a> . a:b", b"[ ",
    b"( ", b'"""', b"<a b>", b"<urn:x> <urn:y> \"z\"^^<urn:t> .\n", b"1e400", b"@prefix x",
    b"<urn:x> a <urn:cuecard:term:Task> .\n", b"= => {}", b"<urn:a> <urn:b> 1, 2.5, true, <> .\n",
]  # fmt: skip


def spoilt_bytes(data: bytes, chance: random.Random) -> bytes:
    """Damage that knows nothing of the format."""
    at, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    match chance.randrange(10):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + data[min(end, at + 200) :]
        case 2:
            return data[:end] + data[at:]
        case 3:
            found = bytearray(data)
            for _ in range(chance.choice([1, 3, 30])):
                found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)
            return bytes(found)
        case 4:
            junk = bytes(chance.randrange(256) for _ in range(chance.choice([1, 8, 64])))
            return data[:at] + junk + data[at:]
        case 5:
            name = chance.choice(["utf-16", "utf-32", "gb18030", "latin-1", "utf-8-sig", "utf-7"])
            return data.decode().encode(name, errors="replace")
        case 6:
            lines = data.split(b"\n")
            chance.shuffle(lines)
            return b"\n".join(lines)
        case 7:
            lines = data.split(b"\n")
            line = chance.randrange(len(lines))
            indent = chance.choice([b"  ", b"\t", b"    - "])
            return b"\n".join([*lines[:line], indent + lines[line], *lines[line:]])
        case 8:
            deep = chance.choice([20, 80, 3000])
            opening = chance.choice([b"[", b"{", b"(", b"<a>", b"- ", b'{"a":'])
            return data[:at] + opening * deep + data[at:]
        case _:
            return data[:at] + chance.choice([b"", b"\0", b"9" * 5000, b'"', b"'"]) + data[end:]


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, part in inner:
        yield from _places(part, (*place, key))


def spoilt_json(obj: Any, chance: random.Random) -> str:
    """Damage that leaves it JSON, or nearly."""
    obj = json.loads(json.dumps(obj))
    for _ in range(chance.choice([1, 1, 3])):
        places = list(_places(obj))
        if not places:
            break
        *way, last = chance.choice(places)
        part = obj
        for key in way:
            part = part[key]
        match chance.randrange(6):
            case 0:
                del part[last]
            case 1 if isinstance(part, list):
                part.append(part[last])
            case 2 if isinstance(part, dict):
                part[chance.choice([*ODD_TEXTS[4:8], "cuecard:order", "id", "x"])] = part.pop(last)
            case 3:
                inner: Any = part[last]
                for _level in range(chance.choice([5, 70, 300])):
                    inner = [inner] if chance.random() < 0.5 else {"a": inner}
                part[last] = inner
            case _:
                part[last] = chance.choice(ODD_VALUES)
    text = json.dumps(obj, ensure_ascii=chance.random() < 0.5)
    match chance.randrange(8):
        case 0:
            return text.replace("{", '{"task_id": 1, "id": "a", "id": "b", ', 1)
        case 1:
            return text.replace(
                ": ", f": {chance.choice(['NaN', '-Infinity', '1e999', '9' * 5000])}, ", 1
            )
        case _:
            return text


def spoilt(path: Path, name: str, chance: random.Random) -> bytes:
    """The bytes of a good file, damaged as its format is likely to be."""
    data = path.read_bytes()
    if chance.random() < 0.4:
        return spoilt_bytes(data, chance)
    at = chance.choice([0, chance.randrange(len(data) + 1), len(data)])
    match path.suffix:
        case ".jsonl":
            lines = data.decode().splitlines()
            line = chance.randrange(len(lines))
            lines[line] = spoilt_json(json.loads(lines[line]), chance)
            return ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")
        case ".json" | ".jsonld":
            obj = json.loads(data)
            if path.suffix == ".jsonld" and chance.random() < 0.2:
                obj["@context"] = chance.choice(
                    [
                        "http://127.0.0.1:9/c",
                        {"@import": "file:///etc/passwd"},
                        [{"@vocab": 5}],
                        "x",
                    ]
                )
            return spoilt_json(obj, chance).encode("utf-8", "surrogatepass")
        case ".yaml":
            if chance.random() < 0.5:
                return data[:at] + chance.choice(BOMBS_YAML) + data[at:]
            return spoilt_yaml(data.decode(), chance).encode("utf-8", "surrogatepass")
        case ".graphml":
            return data[:at] + chance.choice(BOMBS_XML) + data[at:]
        case ".ttl":
            return data[:at] + chance.choice(BOMBS_RDF) + data[at:]
        case _:
            return spoilt_bytes(data, chance)


def spoilt_yaml(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    full = [i for i, line in enumerate(lines) if ":" in line]
    at = chance.choice(full)
    key, _colon, value = lines[at].partition(":")
    odd = chance.choice(ODD_VALUES)
    replacements: list[Callable[[], list[str]]] = [
        list,
        lambda: [lines[at], lines[at]],
        lambda: [f"{key}: {json.dumps(odd)}"],
        lambda: [f"{key}_x:{value}"],
        lambda: [f"{key}: &anchor{value}", f"{key}2: *anchor"],
        lambda: [f"{key}: !!int{value}"],
        lambda: [f"{key}: {'[' * chance.choice([50, 500])}"],
        lambda: [f"{key}: |2", value],
        lambda: [f"{key}:{value * 300}"],
    ]
    return "\n".join([*lines[:at], *chance.choice(replacements)(), *lines[at + 1 :]])


@dataclass
class Findings:
    """What the rounds came to. `wrong` holds what must not happen, with the seed that shows it."""

    outcomes: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])


def samples(short: bool) -> list[Task]:
    """The sample tasks, or the beginnings of them, which are read sooner."""
    tasks = [load_task(path) for path in sorted(SAMPLES.glob("*.yaml"))]
    return [_shortened(task) for task in tasks] if short else tasks


def _shortened(task: Task) -> Task:
    gold = task.gold
    if isinstance(gold, Graph):
        gold = gold.model_copy(update={"nodes": gold.nodes[:4], "triples": gold.triples[:6]})
    elif isinstance(gold, Table):
        gold = gold.model_copy(update={"rows": gold.rows[:6]})
    return task.model_copy(update={"gold": gold})


def good_files(folder: Path, tasks: list[Task]) -> list[tuple[str, Path, Path]]:
    """Files in every format: its name, what is imported, and the file in it that is to be damaged."""
    found: list[tuple[str, Path, Path]] = []
    for name, format_ in FORMATS.items():
        fitting = [task for task in tasks if task.family in format_.families]
        for path in format_.write_tasks(fitting, folder / name):
            whole = folder / name / "widesearch.jsonl" if name == "widesearch" else path
            found.append((name, whole, path))
    return found


def content(db: Path) -> str:
    """A hash of all that stands in the workspace."""
    connection = sqlite3.connect(db)
    found = hashlib.sha256()
    try:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
        found.update(repr(names).encode())
        for (table,) in tables:
            found.update(repr(connection.execute(f'SELECT * FROM "{table}"').fetchall()).encode())
    finally:
        connection.close()
    return found.hexdigest()


def rounds(folder: Path, seeds: range, *, short: bool = False) -> Findings:
    """One damaged file a seed. Everything that is made is below `folder`."""
    tasks = samples(short)
    files = good_files(folder / "good", tasks)
    fresh = folder / "fresh.db"
    with Workspace.open(fresh) as workspace:
        workspace.tasks.save_all(tasks[::2], author="ann")
    findings = Findings()
    db = folder / "used.db"
    for start in range(seeds.start, seeds.stop, FRESH):
        shutil.copy(fresh, db)
        with Workspace.open(db) as workspace:
            for seed in range(start, min(start + FRESH, seeds.stop)):
                _round(workspace, db, folder / "bad", files, seed, findings)
        for left in folder.glob("used.db*"):
            left.unlink()
    return findings


def _round(
    workspace: Workspace,
    db: Path,
    folder: Path,
    files: list[tuple[str, Path, Path]],
    seed: int,
    findings: Findings,
) -> None:
    chance = random.Random(seed)
    name, whole, target = files[chance.randrange(len(files))]
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole.parent, folder) if name == "widesearch" else folder.mkdir()
    path = folder / target.relative_to(whole.parent)
    path.write_bytes(spoilt(target, name, chance))
    before = content(db)
    what = f"seed {seed} ({name}, {target.name})"
    try:
        dry = import_path(workspace, folder / whole.name, format=name, by="bob", dry=True)
        report = import_path(workspace, folder / whole.name, format=name, by="bob")
    except CuecardError:
        findings.outcomes["refused"] += 1
        report = dry = ImportReport(format=name, tasks=(), problems=())
    except Exception as error:  # noqa: BLE001 - just this is looked for
        findings.wrong.append(f"{what}: {type(error).__name__}: {error}"[:400])
        return
    else:
        findings.outcomes["problems" if report.problems else "imported"] += 1
    if dry.tasks != report.tasks or dry.problems != report.problems:
        findings.wrong.append(f"{what}: the dry run said something else")
    changed = [task for task in report.tasks if task.outcome != "unchanged"]
    if not changed and content(db) != before:
        findings.wrong.append(f"{what}: the workspace changed")
    if report.problems and changed:
        findings.wrong.append(f"{what}: half of it was imported")
    for problem in report.problems:
        if not problem.reason.strip() or str(folder) not in problem.file:
            findings.wrong.append(f"{what}: a problem says too little: {problem!r}"[:300])
    if not report.problems and name in PUBLISHED:
        found = _not_the_same(path if name != "widesearch" else folder / whole.name, name, folder)
        findings.wrong.extend(f"{what}: {line}" for line in found)
    for task in changed:
        _check_saved(workspace.tasks.revision(task.task_id).task, what, findings)


def _not_the_same(path: Path, name: str, folder: Path) -> Iterator[str]:
    """A damaged file that is a good one all the same comes back as it was, field by field."""
    format_ = FORMATS[name]
    tasks, _problems = format_.read_tasks(path)
    tasks = [parse_task(dump_task(task)) for task in tasks]
    written = format_.write_tasks(tasks, folder / "again")
    objects = [e.data for e in read_objects(path) if isinstance(e, Entry)]
    others = [
        entry.data
        for file in written
        if file.suffix in SUFFIXES
        for entry in read_objects(file)
        if isinstance(entry, Entry)
    ]
    for left, right in zip(objects, others, strict=True):
        if json.dumps(left) != json.dumps(right):
            keys = [k for k in {**left, **right} if left.get(k) != right.get(k)]
            yield f"does not come back as it was: {keys or 'the order of keys'}"


def _check_saved(task: Task, what: str, findings: Findings) -> None:
    """What came in is as good a task as any: it goes out as YAML and comes back."""
    if parse_task(dump_task(task)) != task:
        findings.wrong.append(f"{what}: what was imported does not survive YAML")

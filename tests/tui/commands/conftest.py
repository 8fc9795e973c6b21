"""The command line from outside (a process of its own) and from inside (the same entry point)."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer.main

from apart import fresh
from cuecard.core.i18n import current_language, set_language
from cuecard.tui.commands.main import run

TASK = """\
id: {id}
title: A ferry in 2090
family: facts
language: en
query: {query}
sources: [{{url: "https://example.org/ferry"}}]
gold:
  facts:
    - {{key: ferry ticket, value: "10", unit: euros}}
    - {{key: ferry surcharge, value: "2", unit: euros}}
  answer: 12 euros
"""


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The JSON on stdout, which is all there is on stdout."""

        def refuse(name: str) -> object:
            raise AssertionError(f"{name} is no JSON")

        return json.loads(self.out, parse_constant=refuse)


Call = Callable[..., Outcome]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """As on a fresh machine: an empty home, nothing chosen, no model configured."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CUECARD_")}
    return {**kept, "HOME": str(tmp_path), "LANG": "C.UTF-8", "LC_ALL": "", "COLUMNS": "80"}


@pytest.fixture
def program(tmp_path: Path, environment: dict[str, str]) -> Call:
    """`cuecard ...` in a process of its own, in `tmp_path`."""

    def call(*words: str, **more: str) -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", "cuecard", *words],
            cwd=tmp_path,
            env={**environment, **more},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture(scope="session")
def signatures_once() -> Iterator[None]:
    """Typer reads the signature of every verb at every start, which takes longer than most verbs do.
    Here it reads them at the first start within this process, once for each language of their help.
    """
    read = typer.main.get_params_from_function

    @functools.cache
    def remembered(function: Callable[..., Any], _language: str) -> dict[str, Any]:
        return read(function)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            typer.main,
            "get_params_from_function",
            lambda function: remembered(function, current_language()),
        )
        yield


@pytest.fixture
def cuecard(
    tmp_path: Path,
    environment: dict[str, str],
    signatures_once: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Call]:
    """The same entry point within this process, in `tmp_path`."""
    monkeypatch.chdir(tmp_path)
    for name in ("CUECARD_DB", "CUECARD_USER", "CUECARD_LANG"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "LANG", "LC_ALL", "COLUMNS"):
        monkeypatch.setenv(name, environment[name])
    language = current_language()

    def call(*words: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["cuecard", *words])
        code = run()
        written = capsys.readouterr()
        return Outcome(code, written.out, written.err)

    yield call
    set_language(language)


@pytest.fixture
def begun(cuecard: Call, tmp_path: Path) -> Call:
    """`cuecard`, where `cuecard init --no-samples` has made a workspace."""
    fresh(tmp_path / "cuecard.db").close()
    return cuecard


@pytest.fixture(scope="session")
def samples_once(made_once: Callable[..., Path]) -> Path:
    from cuecard.annotate.samples import import_samples

    def make(path: Path) -> None:
        with fresh(path) as workspace:
            import_samples(workspace, "Ann")

    return made_once("samples", make)


@pytest.fixture
def samples(cuecard: Call, tmp_path: Path, samples_once: Path) -> Call:
    """`cuecard`, where `cuecard init` has made a workspace with the sample tasks."""
    shutil.copy(samples_once, tmp_path / "cuecard.db")
    return cuecard


@pytest.fixture
def task_file(tmp_path: Path) -> Callable[..., Path]:
    def write(id: str, query: str = "What does the ferry cost?", folder: str = ".") -> Path:
        path = tmp_path / folder / f"{id}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(TASK.format(id=id, query=query), encoding="utf-8")
        return path

    return write


def write_lines(path: Path, *objects: object) -> Path:
    text = "".join(json.dumps(o, ensure_ascii=False) + "\n" for o in objects)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def lines() -> Callable[..., Path]:
    """Write JSON lines."""
    return write_lines

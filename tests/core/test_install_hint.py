"""The command that installs an extra, as a program sees it that was installed in one way or another."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import cuecard

SOURCE = Path(cuecard.__file__).parent.parent
COMMIT = "0a" * 20
GIT = {"url": "https://git.example/us/it.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python of its own, without pip."""
    home = tmp_path_factory.mktemp("python")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    return home / "bin" / "python"


def hint(python: Path, tmp_path: Path, direct_url: object, language: str = "en") -> str:
    """`install_hint("rdf")` of a program whose installer left this record; None: it left none."""
    record = tmp_path / "cuecard-0.1.0.dist-info"
    record.mkdir(exist_ok=True)
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: cuecard\nVersion: 0.1.0\n")
    if direct_url is not None:
        (record / "direct_url.json").write_text(json.dumps(direct_url))
    code = (
        "from cuecard.core import errors, i18n\n"
        f"i18n.set_language({language!r})\nprint(errors.install_hint('rdf'))"
    )
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{SOURCE}", "PYTHONIOENCODING": "utf-8"}
    command = [python, "-c", code]
    return subprocess.run(
        command, env=environment, check=True, capture_output=True, encoding="utf-8"
    ).stdout.strip()


def words(told: str) -> list[str]:
    head, _, command = told.partition(": ")
    assert head == "Install it"
    return shlex.split(command)


def test_a_checkout_is_installed_again_in_place(python, tmp_path):
    folder = tmp_path / "my checkout"
    folder.mkdir()
    record = {"url": folder.as_uri(), "dir_info": {"editable": True}}
    here = words(hint(python, tmp_path, record))
    assert here == ["uv", "pip", "install", "--python", str(python), "-e", f"{folder}[rdf]"]
    with_pip = words(hint(Path(sys.executable), tmp_path, record))
    assert with_pip == [sys.executable, "-m", "pip", "install", "-e", f"{folder}[rdf]"]
    copied = words(hint(python, tmp_path, {**record, "dir_info": {}}))
    assert copied == [*here[:5], f"{folder}[rdf]"]


@pytest.mark.parametrize(
    ("receipt", "command"),
    [("uv-receipt.toml", ["uv", "tool"]), ("pipx_metadata.json", ["pipx"])],
)
def test_a_tool_is_installed_by_what_installed_it(python, tmp_path, receipt, command):
    left = python.parent.parent / receipt
    left.touch()
    told = words(hint(python, tmp_path, GIT))
    left.unlink()
    assert told == [*command, "install", "--force", f"cuecard[rdf] @ git+{GIT['url']}@{COMMIT}"]


def test_a_wheel_is_named_by_its_address_without_passwords(python, tmp_path):
    record = {"url": "https://me:hunter2@host.example/cuecard.whl", "archive_info": {}}
    told = words(hint(python, tmp_path, record))
    assert told[-1] == "cuecard[rdf] @ https://me:***@host.example/cuecard.whl"


@pytest.mark.parametrize("record", [None, {"url": "file:///nowhere/at/all", "dir_info": {}}])
def test_without_a_record_both_ways_are_told_and_no_index_is_named(python, tmp_path, record):
    told = hint(python, tmp_path, record)
    assert "pip install -e '.[rdf]'" in told
    assert "'cuecard[rdf] @ git+https://…'" in told
    assert "检出目录" in hint(python, tmp_path, record, "zh")

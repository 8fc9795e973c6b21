from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from cuecard.core.errors import CuecardError
from cuecard.tui.outside_programs import SavedText, editor_command, run_editor, same_text


@pytest.fixture
def kept(home: Path) -> SavedText:
    os.environ["XDG_STATE_HOME"] = str(home / "state")
    return SavedText("sqlite:///a.db", "task 浓缩/../x")


def script(home: Path, body: str) -> list[str]:
    file = home / "my editor.sh"
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return [str(file), "--wait"]


def test_the_editor_is_the_persons_own(home: Path) -> None:
    command = script(home, "true")[0]
    path = os.environ["PATH"]
    assert editor_command({"EDITOR": f"'{command}' -w", "PATH": path}) == [command, "-w"]
    assert editor_command({"VISUAL": "sh", "EDITOR": "cat", "PATH": path}) == ["sh"]
    vi = home / "vi"
    vi.write_text("#!/bin/sh\n")
    vi.chmod(0o755)
    assert editor_command({"VISUAL": " ", "PATH": str(home)}) == ["vi"]


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"EDITOR": "no-such-editor -w"}, "no-such-editor"),
        ({"VISUAL": "'vi"}, "'vi"),
        ({}, "$EDITOR"),
    ],
)
def test_without_an_editor_it_is_said_what_to_set(home: Path, environ, named) -> None:
    with pytest.raises(CuecardError) as caught:
        editor_command({**environ, "PATH": str(home)})
    assert named in caught.value.message
    assert caught.value.hint


def test_what_the_editor_writes_comes_back(home: Path, kept: SavedText) -> None:
    path = kept.write("before 中文\n")
    assert path.is_relative_to(home / "state")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    run_editor(script(home, 'printf "after\\r\\n" >> "$2"'), path)
    assert kept.read() == "before 中文\nafter\n"
    assert kept.load().text == kept.read()
    kept.discard()
    assert kept.load() is None
    assert same_text("a", "a\n")
    assert not same_text("a", "a\n\n")


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("exit 3", "gave up"),
        ('rm "$2"', "gone"),
        ('printf "\\377\\376x" > "$2"', "UTF-8"),
    ],
)
def test_an_editor_that_goes_wrong_is_told(home: Path, kept: SavedText, body, title) -> None:
    def edit() -> None:
        run_editor(script(home, body), kept.write("text"))
        kept.read()

    with pytest.raises(CuecardError) as caught:
        edit()
    assert title in caught.value.title


def test_two_tasks_never_share_a_file(home: Path) -> None:
    one, other = SavedText("sqlite:///a.db", "t"), SavedText("sqlite:///b.db", "t")
    assert one.path != other.path
    assert one.path != SavedText("sqlite:///a.db", "T").path
    assert "/" not in SavedText("u", "../../etc").path.name


def test_a_place_that_cannot_be_written_is_told(home: Path) -> None:
    (home / "state").write_text("a file where the folder should be")
    os.environ["XDG_STATE_HOME"] = str(home / "state")
    with pytest.raises(CuecardError) as caught:
        SavedText("u", "t").write("x")
    assert "state" in caught.value.message

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuecard.core.engine.messages import Dialogue, Evidence, Message
from cuecard.core.families.facts.gold import Fact, FactWorld
from cuecard.core.tasks.models import Task
from cuecard.tui.present.drafts import UnsentFile, UnsentMessage, restore, unsent_of
from cuecard.tui.present.play import PlayState
from cuecard.tui.present.play_decisions import Mark, Reading


@pytest.fixture(autouse=True)
def _home(tmp_path: Path) -> Iterator[None]:
    before = dict(os.environ)
    os.environ["XDG_STATE_HOME"] = str(tmp_path)
    yield
    os.environ.clear()
    os.environ.update(before)


def state(*spoken: str) -> PlayState:
    task = Task(
        id="f",
        title="F",
        language="en",
        query="q",
        gold=FactWorld(facts=(Fact(key="k", value="v"),), answer="a"),
    )
    roles = ("user", "agent")
    messages = tuple(
        Message(role=roles[i % 2], turn=i // 2, text=text) for i, text in enumerate(spoken)
    )
    return PlayState(task, Dialogue(messages))


def test_words_marks_and_readings_come_back() -> None:
    before = state("q", "hm?")
    before.mark, before.reading, before.inserted = Mark.NOT_MET, Reading.WRONG, "line"
    file = UnsentFile("sqlite:///x.db", "trial 1")
    file.save(unsent_of(before, "half [red] a \ud800 thought 想"))
    after = state("q", "hm?")
    assert restore(after, file.load()) == "half [red] a \ud800 thought 想"
    assert (after.mark, after.reading, after.inserted) == (Mark.NOT_MET, Reading.WRONG, "line")


def test_a_mark_of_an_earlier_reply_does_not_come_back_but_the_words_do() -> None:
    after = state("q", "hm?", "x", "oh")
    assert restore(after, UnsentMessage(turn=2, text="wait", mark="met")) == "wait"
    assert after.mark is None


def test_a_draft_below_the_history_and_the_evidence_come_back() -> None:
    before = state("q", "hm, which one?")
    before.evidence = Evidence(start=4, end=13, text="which one")
    file = UnsentFile("sqlite:///x.db", "trial 1")
    file.save(unsent_of(before, "", "draft"))
    kept = file.load()
    assert kept
    assert kept.draft == "draft"
    after = state("q", "hm, which one?")
    assert restore(after, kept) == ""
    assert after.evidence == before.evidence
    # What was said stood in the input again: the draft is what was being written.
    assert restore(state("q", "hm?"), UnsentMessage(turn=2, text="q", draft="draft")) == "draft"


def test_what_was_sent_before_a_crash_is_not_offered_again() -> None:
    assert restore(state("q", "hm?", "wait"), UnsentMessage(turn=2, text="wait ")) == ""


def test_workspaces_and_trials_are_apart_and_nothing_typed_removes_the_file(
    tmp_path: Path,
) -> None:
    one, other = UnsentFile("a", "trial 1"), UnsentFile("b", "trial 1")
    one.save(UnsentMessage(turn=0, text="mine"))
    assert other.load() is None
    one.save(UnsentMessage(turn=0, text=""))
    assert one.load() is None
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"turn": "x", "mark": 7}', '{"turn": 1, "evidence": "9-x"}', "\x00"]
)
def test_a_damaged_file_harms_nobody(tmp_path: Path, content: str) -> None:
    file = UnsentFile("a", "trial 1")
    file.save(UnsentMessage(turn=0, text="x"))
    (path,) = tmp_path.rglob("*.json")
    path.write_text(content)
    assert restore(state("q"), file.load()) == ""


def test_a_home_that_cannot_be_written_only_forgets(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    os.environ["XDG_STATE_HOME"] = str(blocked)
    UnsentFile("a", "trial 1").save(UnsentMessage(turn=0, text="x"))
    assert UnsentFile("a", "trial 1").load() is None

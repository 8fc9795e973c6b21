"""Two trials side by side: what belongs together, by hand and for any sequences."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.annotate.authoring.diff import spans
from cuecard.annotate.results.trial_pairs import (
    PairLine,
    align,
    align_calls,
    dialogue_pairs,
    load_pair,
)
from cuecard.core.engine.events import AgentSpoke, Event, EventBody, ToolAnswered, UserSpoke
from cuecard.core.engine.messages import AgentReply, ToolAnswer, ToolCall, UserReply
from cuecard.core.errors import NotAllowed
from cuecard.store.workspace import Workspace
from effect_runs import judged_run, judgement

STAGES = st.lists(st.one_of(st.none(), st.integers(1, 6)), max_size=12)
CALLS = st.lists(st.sampled_from("abcd"), max_size=12)


def told(lines: list[PairLine]) -> list[tuple[str, ...]]:
    return [
        (line.part, *(each.text if each else "–" for each in (line.left, line.right)))
        for line in lines
    ]


@given(STAGES, STAGES)
def test_every_turn_stands_once_and_in_order(
    left: list[int | None], right: list[int | None]
) -> None:
    pairs = align(left, right)
    assert [one for one, _other in pairs if one is not None] == [*range(len(left))]
    assert [other for _one, other in pairs if other is not None] == [*range(len(right))]
    assert (None, None) not in pairs
    assert [(other, one) for one, other in pairs] == align(right, left)


@given(st.sets(st.integers(1, 9)), st.sets(st.integers(1, 9)), st.data())
def test_a_stage_that_both_reach_stands_side_by_side(
    ours: set[int], theirs: set[int], data: st.DataObject
) -> None:
    left, right = ([*sorted(each)] for each in (ours, theirs))
    both: list[list[int | None]] = []
    for stages in (left, right):
        turns: list[int | None] = []
        for stage in stages:
            turns += [None] * data.draw(st.integers(0, 2))
            turns.append(stage)
        both.append(turns)
    pairs = align(both[0], both[1])
    for stage in ours & theirs:
        assert (both[0].index(stage), both[1].index(stage)) in pairs


@given(CALLS, CALLS)
def test_equal_calls_stand_side_by_side(left: list[str], right: list[str]) -> None:
    pairs = align_calls(left, right)
    assert [one for one, _other in pairs if one is not None] == [*range(len(left))]
    assert [other for _one, other in pairs if other is not None] == [*range(len(right))]
    assert align_calls(left, left) == [(at, at) for at in range(len(left))]


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_character_is_lost_in_marking_words(before: str, after: str) -> None:
    old, new = spans(before, after)
    assert "".join(run.text for run in old) == before
    assert "".join(run.text for run in new) == after


def test_chinese_differs_by_characters() -> None:
    old, new = spans("第一项专利是什么时候批准的", "第一项专利是在哪里批准的")
    assert [run.text for run in old if run.changed] == ["什么时候"]
    assert [run.text for run in new if run.changed] == ["在哪里"]


def events(*bodies: EventBody) -> tuple[Event, ...]:
    at = datetime(2026, 11, 22, tzinfo=UTC)
    return tuple(Event(seq=seq, at=at, body=body) for seq, body in enumerate(bodies))


def user(turn: int, text: str, **reply: object) -> UserSpoke:
    return UserSpoke(turn=turn, reply=UserReply.model_validate({"text": text, **reply}))


def agent(turn: int, text: str) -> AgentSpoke:
    return AgentSpoke(turn=turn, reply=AgentReply(text=text))


def asked(turn: int, query: str) -> ToolAnswered:
    call = ToolCall(name="search", arguments={"query": query})
    return ToolAnswered(part="agent", turn=turn, step=0, call=call, answer=ToolAnswer(text="…"))


def test_turns_are_aligned_by_the_stages_that_the_user_told() -> None:
    quick = events(
        user(0, "Coffee?"),
        asked(0, "espresso"),
        agent(0, "Which?"),
        user(1, "The first patent.", stage=1),
        asked(1, "patent 1884"),
        agent(1, "1884."),
        user(2, "Bye.", done=True),
    )
    slow = events(
        user(0, "Coffee?"),
        asked(0, "espresso"),
        agent(0, "Which one?"),
        user(1, "Go on.", cue_met=False),
        agent(1, "Do you mean the patent?"),
        user(2, "The first patent.", stage=1),
        asked(2, "moka"),
        asked(2, "patent 1884"),
        agent(2, "1884."),
    )
    lines = dialogue_pairs(quick, slow)
    assert told(lines) == [
        ("user", "Coffee?", "Coffee?"),
        ("call", "search: espresso", "search: espresso"),
        ("agent", "Which?", "Which one?"),
        ("user", "–", "Go on."),
        ("agent", "–", "Do you mean the patent?"),
        ("user", "The first patent.", "The first patent."),
        ("call", "–", "search: moka"),
        ("call", "search: patent 1884", "search: patent 1884"),
        ("agent", "1884.", "1884."),
        ("user", "Bye.", "–"),
    ]
    first = next(line for line in lines if line.differs)
    assert first.part == "agent"
    assert first.left
    assert first.left.turn == 0
    assert [line.differs for line in lines[5:9]] == [False, True, False, False]


def test_two_trials_and_two_judges_of_one(tmp_path: Path) -> None:
    with Workspace.open(tmp_path / "cuecard.db") as workspace:
        _run, trials = judged_run(workspace, {"alpha": ("yyn", "yyy"), "beta": ("yny", "yyy")})
        left, right = trials["alpha", 0], trials["beta", 0]
        pair = load_pair(workspace, left, right)
        assert pair.judges == (("strict", "strict"),)
        found = pair.verdicts(pair.judges[0])
        assert [each.differs for each in found] == [False, True, True]
        amounts = {(one.payer, one.name): one for one in pair.amounts(pair.judges[0])}
        recall = amounts["", "triplet_recall"]
        assert (recall.left, recall.right) == (2 / 3, 2 / 3)
        assert not recall.differs
        assert not any(line.differs for line in pair.lines if line.part == "handed")
        ended = next(line for line in pair.lines if line.part == "end")
        assert not ended.differs
        lenient = judgement("yyy")
        judge = lenient.judge.model_copy(update={"name": "lenient"})
        workspace.verdicts.add(left, lenient.model_copy(update={"judge": judge}))
        same = load_pair(workspace, left, left)
        assert same.same_trial
        assert not same.lines
        (judges,) = same.judges
        assert set(judges) == {"strict", "lenient"}
        assert [each.differs for each in same.verdicts(judges)] == [False, False, True]
        workspace.verdicts.add(right, lenient.model_copy(update={"judge": judge}))
        for first, other in (("strict", "lenient"), ("lenient", "strict")):
            both = load_pair(workspace, left, right)
            plan = {"judges": [first, other]}
            run = both.left.opened.run.model_copy(update={"plan": plan})
            opened = replace(both.left.opened, run=run)
            both = replace(both, left=replace(both.left, opened=opened))
            assert both.judges == ((first, first), (other, other))
        with pytest.raises(NotAllowed):
            load_pair(workspace, left, trials["alpha", 1])

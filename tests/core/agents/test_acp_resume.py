"""Trials of a harness that were left open: the session is loaded, or the trial starts over."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cuecard.core.engine.events import AgentSpoke, Event, ModelReplied, Termination, effective_log
from cuecard.core.predictions import TriplesPrediction
from harness_bench import HarnessBench
from scripted_harness import SAID


def upto(events: Sequence[Event], kind: type, turn: int = 0) -> list[Event]:
    """The log up to and with the body of this kind and turn."""
    for n, event in enumerate(events):
        if isinstance(event.body, kind) and getattr(event.body, "turn", 0) == turn:
            return list(events[: n + 1])
    raise LookupError(kind)


def counted(bench: HarnessBench) -> int:
    return len(bench.prompts)


async def test_a_complete_turn_is_taken_up_by_a_harness_that_can(bench: HarnessBench) -> None:
    await bench.play("loads")
    past = upto(bench.events, AgentSpoke)
    whole = len(bench.events)
    bench.trim_session(turns=1)

    result = await bench.play("loads", past=past)

    assert result.termination is Termination.USER_DONE
    assert isinstance(result.prediction, TriplesPrediction)
    assert bench.bodies("trial_reopened") == []
    first, second = bench.marks("harness_session")
    assert not first.restored
    assert second.restored
    assert (second.session, second.cwd) == (first.session, first.cwd)
    assert len(bench.events) == whole + 1
    # What the session told again is nobody's reply.
    assert [b.reply.text for b in bench.bodies("agent_spoke")] == [SAID, SAID]


async def test_an_answered_prompt_is_never_sent_again(bench: HarnessBench) -> None:
    await bench.play("loads")
    past = upto(bench.events, ModelReplied)
    bench.trim_session(turns=1)
    before = counted(bench)

    await bench.play("loads", past=past)

    assert [words for _, words in bench.prompts[before:]] == [
        "Where was he from?",
        bench.prompts[-1][1],
    ]


@pytest.mark.parametrize("tricks", [(), ("loads", "forgets")])
async def test_a_harness_that_cannot_starts_over_and_the_record_says_so(
    bench: HarnessBench, tricks: Sequence[str]
) -> None:
    await bench.play(*tricks)
    past = upto(bench.events, AgentSpoke)
    if "forgets" in tricks:
        bench.forget_sessions()

    result = await bench.play(*tricks, past=past)

    assert result.termination is Termination.USER_DONE
    (retried,) = bench.bodies("trial_reopened")
    assert not retried.keep
    assert "session" in retried.reason
    effective = effective_log(bench.events)
    assert {event.take for event in effective} == {1}
    assert len([e for e in effective if isinstance(e.body, AgentSpoke)]) == 2


async def test_a_turn_that_was_under_way_starts_the_trial_over(bench: HarnessBench) -> None:
    await bench.play("loads", "tools")
    past = upto(bench.events, ModelReplied)[:-1]  # Its tool was told of; its end was not.

    result = await bench.play("loads", "tools", past=past)

    assert result.termination is Termination.USER_DONE
    assert "in the middle of a turn" in bench.bodies("trial_reopened")[0].reason


async def test_a_prompt_that_went_out_unrecorded_starts_the_trial_over(
    bench: HarnessBench,
) -> None:
    await bench.play("loads")
    past = upto(bench.events, AgentSpoke)
    bench.trim_session(turns=2)  # The session knows the second turn, the log does not.

    await bench.play("loads", past=past)

    assert "in the middle of a turn" in bench.bodies("trial_reopened")[0].reason


async def test_an_ended_trial_starts_no_harness(bench: HarnessBench) -> None:
    result = await bench.play("loads")
    before = counted(bench)

    again = await bench.play("loads", past=list(bench.events))

    assert again.prediction == result.prediction
    assert counted(bench) == before

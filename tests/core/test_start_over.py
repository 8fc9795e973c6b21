"""A player that cannot take a trial up where it was left."""

from __future__ import annotations

from dataclasses import dataclass

from cuecard.core.engine.events import Event, Termination, TrialRetried, effective_log
from cuecard.core.engine.messages import AgentReply, Dialogue, PlayerRef, StartOver
from cuecard.core.engine.step_context import StepContext
from cuecard.core.engine.trial import TrialResult, TrialSetup, play
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.predictions import AnswerPrediction, Prediction
from cuecard.core.users.scripted import scripted_user_for
from cuecard.core.worlds.closed import ClosedWorld
from react_bench import GRAPH

REF = PlayerRef(name="forgetful", kind="acp")


@dataclass
class Forgetful:
    """Knows only what it lived through; `stubborn` not even that."""

    began: bool = False
    stubborn: bool = False

    @property
    def ref(self) -> PlayerRef:
        return REF

    async def reply(self, dialogue: Dialogue, context: StepContext) -> AgentReply:
        if self.stubborn or (dialogue.turn and not self.began):
            raise StartOver("The session is lost")
        self.began = True
        return AgentReply(text="Angelo Moriondo")

    async def conclude(self, dialogue: Dialogue, context: StepContext) -> Prediction:
        return AnswerPrediction(answer="x")


async def played(agent: Forgetful, past: list[Event]) -> tuple[TrialResult, list[Event]]:
    sink = MemorySink()
    sink.events.extend(past)
    setup = TrialSetup(
        task=GRAPH, agent=agent, user=scripted_user_for(GRAPH), world=ClosedWorld(GRAPH)
    )
    return await play(setup, TrialLog(sink, past)), sink.events


async def past_of_one_turn() -> list[Event]:
    _, events = await played(Forgetful(), [])
    keys = [event.body.key for event in events]
    return events[: keys.index("user/1") + 1]


async def test_the_trial_is_played_again_in_a_new_attempt() -> None:
    past = await past_of_one_turn()

    result, events = await played(Forgetful(), past)

    assert result.termination is Termination.USER_DONE
    retried = events[len(past)].body
    assert isinstance(retried, TrialRetried)
    assert (retried.keep, retried.reason) == (False, "The session is lost")
    effective = effective_log(events)
    assert [event.take for event in effective] == [1] * len(effective)
    assert effective[0].body.key == "start"
    assert [event.seq for event in events] == list(range(len(events)))
    # Resuming what was started over needs no further take.
    assert (await played(Forgetful(), events))[1] == events


async def test_it_starts_over_only_once() -> None:
    past = await past_of_one_turn()

    result, events = await played(Forgetful(stubborn=True), past)

    assert result.termination is Termination.INTERNAL_ERROR
    assert "The session is lost" in result.detail
    assert len([e for e in events if isinstance(e.body, TrialRetried)]) == 1


async def test_a_trial_that_has_no_past_cannot_start_over() -> None:
    result, events = await played(Forgetful(stubborn=True), [])

    assert result.termination is Termination.INTERNAL_ERROR
    assert not [e for e in events if isinstance(e.body, TrialRetried)]

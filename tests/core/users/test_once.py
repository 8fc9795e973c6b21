"""Simulators that are asked once a turn: words and decisions as the model gave them, and flags."""

from __future__ import annotations

import pytest

from cuecard.core.engine.messages import Act, Dialogue, FlagKind
from cuecard.core.engine.messages import CheckpointStatus as Status
from cuecard.core.engine.players import build_user
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.llm.hub import ModelHub
from cuecard.core.users.faults import FaultKind, faults_in
from offline_trials import CHAIN, FACTS, GRAPH, TASKS, QuietContext, heard, told
from simulator_bench import ToldContext, config_at, met, move, unmet

assert isinstance(CHAIN.gold, CheckpointChain)
AMBIGUITY = CHAIN.gold.steps[0].ambiguity
assert AMBIGUITY is not None
LINES = [stage.line for stage in GRAPH.stages]


def once(task):
    config = config_at("http://127.0.0.1:9/v1")
    return build_user("sim", config, task, ModelHub(config), once=True)


async def one_turn(answer, said="It was Morag Sill.", task=GRAPH, act=Act.REPLY, disclosed=1):
    """The reply to an agent that said this, and the dialogue before it; one call, whatever comes of it."""
    user, context = once(task), ToldContext(answer)
    opened = await user.open(QuietContext())
    if task is GRAPH:
        opened = opened.model_copy(update={"stage": 1})
    dialogue = heard(Dialogue(), opened)
    for number in range(2, disclosed + 1):
        dialogue = told(dialogue, "Well.")
        said_line = opened.model_copy(update={"text": LINES[number - 1], "stage": number})
        dialogue = heard(dialogue, said_line)
    dialogue = told(dialogue, said, act)
    reply = await user.reply(dialogue, context)
    assert context.calls == 1
    return reply, dialogue


def kinds(flags):
    return [flag.kind for flag in flags]


@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.id)
def test_who_is_asked_once_is_recorded_as_who_plays(task):
    config = config_at("http://127.0.0.1:9/v1")
    assert once(task).ref == build_user("sim", config, task, ModelHub(config)).ref


async def test_words_of_a_persona_stay_what_they_are():
    reply, _ = await one_turn(met("**Which** lens does Brackness Light have?", reason="named"))
    assert reply.text == "**Which** lens does Brackness Light have?"
    assert (reply.stage, reply.cue_met, reply.reason, reply.flags) == (2, True, "named", ())
    reply, dialogue = await one_turn(met("Fine, thank you.", stage=7))
    assert (reply.text, reply.stage, reply.flags) == ("Fine, thank you.", 2, ())
    assert [f.kind for f in faults_in(GRAPH, dialogue, reply)] == [FaultKind.MISSING_LINE]
    reply, _ = await one_turn(met("Which lens does Brackness Light have, the Vesta optic?"))
    assert "Vesta optic" in reply.text
    assert kinds(reply.flags) == [FlagKind.LEAK]


async def test_what_a_persona_says_of_an_unmet_cue_is_flagged_and_not_replaced():
    reply, _ = await one_turn(unmet(LINES[1]))
    assert (reply.text, reply.stage, reply.cue_met) == (LINES[1], None, False)
    assert kinds(reply.flags) == [FlagKind.LEAK]
    reply, _ = await one_turn(unmet("- one\n- two", done=True))
    assert reply.text == "- one\n- two"
    assert reply.done
    assert kinds(reply.flags) == [FlagKind.FORMAT, FlagKind.UNUSABLE]
    reply, _ = await one_turn(unmet(""))
    assert (reply.text, reply.cue_met, kinds(reply.flags)) == ("", False, [FlagKind.UNUSABLE])


async def test_the_end_of_a_persona():
    answer = {"reason": "all said", "reply": "Thank you!", "done": True}
    reply, _ = await one_turn(answer, disclosed=3)
    assert (reply.text, reply.done, reply.cue_met, reply.stage) == ("Thank you!", True, None, None)


@pytest.mark.parametrize(("task", "disclosed"), [(GRAPH, 1), (GRAPH, 3), (CHAIN, 1)])
async def test_an_answer_that_cannot_be_read_is_no_answer(task, disclosed):
    reply, dialogue = await one_turn("not JSON at all", task=task, disclosed=disclosed)
    assert (reply.text, reply.cue_met, reply.status) == ("", None, None)
    assert (reply.stage, reply.checkpoint, reply.done) == (None, None, False)
    assert kinds(reply.flags) == [FlagKind.UNUSABLE]
    assert faults_in(task, dialogue, reply) == ()


async def test_a_responder_is_taken_at_its_word():
    said = "Silent or in colour?"
    reply, _ = await one_turn(move("asks_rightly", "Hm."), said, CHAIN, Act.ASK)
    assert (reply.text, reply.status) == (AMBIGUITY.clue, Status.AMBIGUITY_DETECTED)
    # The tool only asks: whoever plays would be corrected.
    reply, _ = await one_turn(move("nothing", "Go on."), said, CHAIN, Act.ASK)
    assert (reply.text, reply.status) == ("Go on.", Status.SEARCH_ONLY)
    reply, dialogue = await one_turn(move("wrong", "No, it was Ines Holt."), "Bell.", CHAIN)
    assert (reply.text, reply.status) == (
        "No, it was Ines Holt.",
        Status.MISSED_AMBIGUITY_WRONG,
    )
    assert kinds(reply.flags) == [FlagKind.LEAK]
    assert [f.kind for f in faults_in(CHAIN, dialogue, reply)] == [FaultKind.FORBIDDEN]


async def test_nobody_asks_rightly_where_nothing_is_ambiguous():
    user = once(CHAIN)
    dialogue = heard(Dialogue(), await user.open(QuietContext()))
    dialogue = told(dialogue, "It was Holt.", Act.ANSWER)
    dialogue = heard(dialogue, await user.reply(dialogue, ToldContext(move("right", "Yes."))))
    dialogue = told(dialogue, "Which one?", Act.ASK)
    reply = await user.reply(dialogue, ToldContext(move("asks_rightly", "I don't mind.")))
    assert (reply.checkpoint, reply.status) == (1, Status.WRONG_AMBIGUITY_DETECTED)
    assert reply.text == "I don't mind."


async def test_who_needs_no_model_is_asked_without_one():
    user, context = once(FACTS), ToldContext("")
    dialogue = told(heard(Dialogue(), await user.open(QuietContext())), "It costs 12 euros.")
    assert (await user.reply(dialogue, context)).done
    assert context.calls == 0

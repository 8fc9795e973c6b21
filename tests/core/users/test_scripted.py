import pytest

from cuecard.core.engine.messages import Dialogue
from cuecard.core.tasks.models import CueKind, Persona
from cuecard.core.users.scripted import ScriptedUser
from offline_trials import CHAIN, GRAPH, QuietContext, heard, stage, told

CONTEXT = QuietContext()


def with_stages(*stages, query="A vague question."):
    return GRAPH.model_copy(
        update={
            "persona": Persona(identity="x", initial_query=query, stages=stages),
            "gold": GRAPH.gold.model_copy(update={"triples": GRAPH.gold.triples[:1]}),
        }
    )


async def converse(user, *replies):
    """What the user says when the agent says these things."""
    dialogue = Dialogue()
    said = [await user.open(CONTEXT)]
    dialogue = heard(dialogue, said[0])
    for reply in replies:
        dialogue = told(dialogue, reply)
        said.append(await user.reply(dialogue, CONTEXT))
        dialogue = heard(dialogue, said[-1])
    return said


async def test_a_whole_conversation():
    said = await converse(
        ScriptedUser(GRAPH),
        "I do not know.",
        "It was Morag Sill.",
        "Nice weather?",
        "Shall I look into the Vesta lens?",
        "Made by Orlin.",
    )
    assert said[0].text.startswith("I want to paint Brackness Light.")
    assert said[0].text.endswith("Who was the keeper of Brackness Light?")
    assert [r.stage for r in said] == [1, None, 2, None, 3, None]
    assert [r.cue_met for r in said] == [True, False, True, False, True, None]
    assert said[1].text == "I asked who kept it."
    assert said[3].text.startswith("I don't mind either way")
    assert [r.done for r in said] == [False] * 5 + [True]
    assert not said[-1].answered


async def test_a_first_stage_that_does_not_start_waits_for_its_cue():
    user = ScriptedUser(with_stages(stage(CueKind.ASKS, "Blue.", "colour")))
    said = await converse(user, "Which colour?")
    assert (said[0].text, said[0].stage) == ("A vague question.", None)
    assert (said[1].text, said[1].stage, said[1].cue_met) == ("Blue.", 1, True)


async def test_a_starting_line_is_not_said_twice():
    user = ScriptedUser(with_stages(stage(CueKind.START, "a vague question")))
    assert (await user.open(CONTEXT)).text == "A vague question."
    longer = ScriptedUser(with_stages(stage(CueKind.START, "Hello! A vague question. Please.")))
    assert (await longer.open(CONTEXT)).text == "Hello! A vague question. Please."


async def test_one_stage_a_turn_even_if_the_next_cue_is_met_too():
    stages = (stage(CueKind.MENTIONS, "One.", "a"), stage(CueKind.MENTIONS, "Two.", "a"))
    said = await converse(ScriptedUser(with_stages(*stages)), "a", "a", "a")
    assert [r.stage for r in said] == [None, 1, 2, None]


@pytest.mark.parametrize("patience", [0, 1, 3])
async def test_patience_moves_on_and_says_so(patience):
    stages = (stage(CueKind.MENTIONS, "One.", "never"), stage(CueKind.MENTIONS, "Two.", "never"))
    user = ScriptedUser(with_stages(*stages), patience=patience)
    said = await converse(user, *["Nothing."] * (patience + 1) * 2)
    moved = [r for r in said if r.stage]
    assert [(r.stage, r.cue_met, r.reason) for r in moved] == [
        (1, False, "patience"),
        (2, False, "patience"),
    ]
    assert [r.stage for r in said] == [None, *[*[None] * patience, 1], *[*[None] * patience, 2]]


async def test_a_question_that_a_stage_covers_is_pushed_without_indifference():
    covered = stage(CueKind.MENTIONS, "The roof must be slate.", "beam", not_met="Go on.")
    said = await converse(ScriptedUser(with_stages(covered)), "Should the roof be slate?")
    assert said[1].text == "Go on."
    said = await converse(ScriptedUser(with_stages(covered)), "Do you like jazz?")
    assert said[1].text == "I don't mind either way; please decide yourself. Go on."


def test_a_task_without_a_persona_is_refused():
    with pytest.raises(ValueError):
        ScriptedUser(CHAIN)

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.engine.messages import Dialogue, FlagKind, UserReply
from cuecard.core.errors import BudgetSpent
from cuecard.core.tasks.models import CueKind
from cuecard.core.text import contains_term, normalise
from cuecard.core.users.scripted import OneShotUser
from cuecard.core.users.simulators import PersonaUser
from offline_trials import FACTS, GRAPH, QuietContext, heard, sample_tasks, stage, told
from simulator_bench import ToldContext, met, unmet, user_of

STAGES = GRAPH.stages
ASTRONOMY = next(task for task in sample_tasks() if task.id == "graph-astronomy-zh")


async def one_turn(*answers, said="It was Morag Sill.", task=GRAPH, before=()):
    """The user's reply to an agent that said this, the model answering so; and the step context."""
    user = user_of(task)
    dialogue = heard(Dialogue(), await user.open(QuietContext()))
    for earlier, answer in before:
        dialogue = told(dialogue, earlier)
        dialogue = heard(dialogue, await user.reply(dialogue, ToldContext(answer)))
    context = ToldContext(*answers)
    return await user.reply(told(dialogue, said), context), context


ALL_SAID = (("Morag Sill.", met(STAGES[1].line)), ("The lens?", met(STAGES[2].line)))


async def test_it_opens_without_a_model_as_a_script_does():
    user = user_of(GRAPH)
    assert isinstance(user, PersonaUser)
    opened = await user.open(QuietContext())
    assert (opened.stage, opened.cue_met) == (1, True)
    assert opened.text.startswith(GRAPH.opening)
    assert user.ref.kind == "persona"
    assert (user.ref.name, user.ref.model, user.ref.baseline) == ("sim", "player", False)


async def test_a_met_cue_discloses_the_next_stage_in_the_models_words():
    words = "Ah, good. So which lens does Brackness Light have?"
    reply, context = await one_turn(met(words, stage=2, reason="It names her."))
    assert (reply.text, reply.stage, reply.cue_met, reply.done) == (words, 2, True, False)
    assert (reply.reason, reply.flags, context.calls) == ("It names her.", (), 1)
    assert len(context.prompts[0]) == 64


@pytest.mark.parametrize("claimed", [1, 3, 99, -1, None, "three", 2.5, True])
async def test_whatever_stage_the_model_claims_the_engine_counts(claimed):
    reply, _context = await one_turn(met(STAGES[1].line, stage=claimed))
    assert (reply.stage, reply.cue_met) == (2, True)
    reply, _context = await one_turn(unmet("Who was it?", stage=claimed))
    assert (reply.stage, reply.cue_met) == (None, False)


@pytest.mark.parametrize("words", ["", "Fine.", "Tell me more, please.", "x" * 50_000])
async def test_the_line_itself_is_said_where_the_reply_lacks_it(words):
    reply, context = await one_turn(met(words))
    assert (reply.text, reply.stage, reply.flags, context.calls) == (STAGES[1].line, 2, (), 1)


async def test_an_unmet_cue_is_answered_in_the_models_words():
    reply, _context = await one_turn(unmet("I'd rather hear who kept it."))
    assert (reply.text, reply.stage, reply.cue_met) == ("I'd rather hear who kept it.", None, False)


async def test_a_line_given_away_is_asked_for_again_and_then_not_said():
    early = f"Never mind. {STAGES[1].line}"
    reply, context = await one_turn(unmet(early), unmet("Who kept it, please?"))
    assert (reply.text, reply.flags, context.calls) == ("Who kept it, please?", (), 2)
    reply, context = await one_turn(unmet(early), said="I see.")
    assert (reply.text, reply.stage, context.calls) == ("I asked who kept it.", None, 2)
    assert [(f.kind, f.found) for f in reply.flags] == [(FlagKind.LEAK, "stage")]


async def test_a_later_line_beside_the_one_whose_turn_it_is():
    both = f"{STAGES[1].line} {STAGES[2].line}"
    reply, context = await one_turn(met(both, stage=3))
    assert (reply.text, reply.stage, context.calls) == (STAGES[1].line, 2, 2)
    assert [f.kind for f in reply.flags] == [FlagKind.LEAK] * len(reply.flags)
    assert reply.flags


@pytest.mark.parametrize("name", ["Orlin and Daughters", "Vesta optic", "amber"])
async def test_gold_that_nobody_has_said_is_asked_for_again_once_and_then_flagged(name):
    leaky = unmet(f"Is it about {name}?")
    reply, context = await one_turn(leaky, unmet("Who was it?"))
    assert (reply.text, reply.flags, context.calls) == ("Who was it?", (), 2)
    reply, context = await one_turn(leaky)
    assert (reply.text, context.calls) == (f"Is it about {name}?", 2)
    assert [(f.kind, f.found) for f in reply.flags] == [(FlagKind.LEAK, name)]
    reply, context = await one_turn(leaky, said=f"I found {name}.")
    assert (reply.flags, context.calls) == ((), 1)


async def test_markdown_is_asked_for_again_then_spoken_and_flagged():
    reply, context = await one_turn(unmet("# Who\n- kept it?\n- and when?"))
    assert (reply.text, context.calls) == ("Who\nkept it?\nand when?", 2)
    assert [f.kind for f in reply.flags] == [FlagKind.FORMAT]
    reply, _context = await one_turn(unmet("Go on. Give me triples as JSON."))
    assert reply.text == "Go on."
    assert [(f.kind, f.found) for f in reply.flags] == [(FlagKind.FORMAT, "triples, JSON")]


async def test_it_is_done_only_when_all_is_disclosed_and_answered():
    reply, context = await one_turn(unmet("Thanks, that is all. Goodbye!", done=True))
    assert (reply.text, reply.done, context.calls) == ("I asked who kept it.", False, 2)
    assert [f.kind for f in reply.flags] == [FlagKind.UNUSABLE]
    reply, _context = await one_turn(met(STAGES[1].line, done=True))
    assert (reply.stage, reply.done) == (2, False)
    wait = {"reason": "x", "reply": "But who made it?", "done": False}
    reply, _context = await one_turn(wait, before=ALL_SAID)
    assert (reply.text, reply.stage, reply.cue_met, reply.done) == (
        wait["reply"],
        None,
        None,
        False,
    )
    bye = {"reason": "x", "reply": "", "done": True}
    reply, _context = await one_turn(bye, before=ALL_SAID)
    assert (reply.done, reply.answered, reply.cue_met) == (True, False, None)
    assert reply.text == "Thank you, that is all I wanted to know."


@pytest.mark.parametrize("broken", ["", "no", "{", "[]", '{"reply": "Who?"}', '{"cue_met": true}'])
async def test_without_a_usable_answer_the_script_takes_the_turn(broken):
    reply, context = await one_turn(broken)
    assert (reply.text, reply.stage, reply.cue_met) == (STAGES[1].line, 2, True)
    assert [f.kind for f in reply.flags] == [FlagKind.UNUSABLE]
    assert context.calls == 2
    reply, _context = await one_turn(broken, said="Hm.")
    assert (reply.text, reply.stage, reply.cue_met) == ("I asked who kept it.", None, False)
    reply, _context = await one_turn(broken, before=ALL_SAID)
    assert reply.done


@pytest.mark.parametrize("value", ["true", "yes", "是", 1, True])
async def test_what_cannot_be_misread_is_read(value):
    answer = json.dumps({"cue_met": value, "reply": STAGES[1].line, "more": [1], "done": None})
    reply, _context = await one_turn(f"Sure!\n```json\n{answer}\n```")
    assert (reply.stage, reply.flags) == (2, ())


async def test_a_later_stage_that_starts_needs_no_cue():
    free = GRAPH.persona.model_copy(
        update={
            "stages": (STAGES[0], stage(CueKind.START, "And now for the Vesta lens?"), STAGES[2])
        }
    )
    reply, _context = await one_turn(unmet("no"), task=GRAPH.model_copy(update={"persona": free}))
    assert (reply.text, reply.stage, reply.cue_met) == ("And now for the Vesta lens?", 2, True)


class HaltingContext(ToldContext):
    async def call_model(self, model, perform, *, prompt=""):
        raise BudgetSpent("The budget is used up")


async def test_a_halt_passes_through():
    user = user_of(GRAPH)
    dialogue = told(heard(Dialogue(), await user.open(QuietContext())), "I see.")
    with pytest.raises(BudgetSpent):
        await user.reply(dialogue, HaltingContext())


def test_ones_own_prompt_makes_another_player(tmp_path):
    own = tmp_path / "mine.md"
    own.write_text("You are {{identity}}. {{dialogue}}", encoding="utf-8")
    user = user_of(GRAPH, prompts={"persona": str(own)})
    assert isinstance(user, PersonaUser)
    assert user.ref.version != user_of(GRAPH).ref.version
    assert user.asked(Dialogue()) == "You are A painter.. "


async def test_half_characters_and_nul_are_made_visible():
    reply, _context = await one_turn(
        '{"cue_met": false, "reason": "\\ud800", "reply": "a\\u0000b \\udc00?"}'
    )
    assert reply.text == "a\ufffdb \ufffd?"
    assert reply.reason == "\ufffd"


@pytest.mark.parametrize("task", [t for t in sample_tasks() if t.persona], ids=lambda t: t.id)
def test_the_model_sees_titles_of_later_stages_but_no_more(task):
    user = user_of(task)
    opened = Dialogue()
    for number in range(1, len(task.stages)):
        reply = UserReply(text=task.stages[number - 1].line, stage=number, cue_met=True)
        opened = told(heard(opened, reply), "I see.")
        prompt = user.asked(opened)
        current, later = task.stages[number], task.stages[number + 1 :]
        assert current.line in prompt
        assert current.cue.text in prompt
        assert all(term in prompt for term in current.cue.terms)
        for stage_ in later:
            assert f"- {stage_.title}" in prompt
            assert stage_.line not in prompt
            assert stage_.cue.text not in prompt
            if stage_.not_met:
                assert stage_.not_met not in prompt


async def test_a_task_without_a_persona_is_asked_once():
    assert isinstance(user_of(FACTS), OneShotUser)


def answers(task):
    """Anything a model may come up with, cheating by preference."""
    lines = [s.line for s in task.stages] + [s.not_met for s in task.stages if s.not_met]
    names = [name for node in task.gold.node_ids for name in task.gold.names_of(node)]
    pieces = [
        *lines,
        *names,
        *(s.title for s in task.stages),
        "# A",
        "- b",
        "| c |",
        "**d**",
        "JSON",
    ]
    words = st.lists(st.sampled_from([*pieces, "Go on?", "好的。", " "]), max_size=4).map(" ".join)
    shaped = st.fixed_dictionaries(
        {
            "cue_met": st.booleans(),
            "stage": st.none() | st.integers(-2, 20) | st.just("all"),
            "reply": words,
            "done": st.booleans(),
        }
    ).map(lambda answer: json.dumps(answer, ensure_ascii=False))
    return st.one_of(shaped, shaped, shaped, st.sampled_from(["", "{", "null", "[1]", "x" * 9000]))


@pytest.mark.parametrize("task", [GRAPH, ASTRONOMY], ids=lambda t: t.id)
@settings(max_examples=examples(10), deadline=None)
@given(data=st.data())
async def test_whatever_the_model_answers_stages_come_in_order_and_nothing_comes_early(task, data):
    user = user_of(task)
    persona = task.persona
    dialogue = heard(Dialogue(), await user.open(QuietContext()))
    agent = st.sampled_from(
        ["I see.", "Shall I go on?", *(t for s in task.stages for t in s.cue.terms)]
    )
    for _turn in range(12):
        dialogue = told(dialogue, data.draw(agent))
        context = ToldContext(*data.draw(st.lists(answers(task), min_size=1, max_size=3)))
        reply = await user.reply(dialogue, context)
        check_reply(task, persona, dialogue, reply)
        assert context.calls <= 4
        dialogue = heard(dialogue, reply)
        assert dialogue.stages_disclosed == tuple(range(1, len(dialogue.stages_disclosed) + 1))
        if reply.done:
            break


def check_reply(task, persona, dialogue, reply):
    disclosed = len(dialogue.stages_disclosed)
    assert reply.text.strip()
    assert reply.stage in (None, disclosed + 1)
    assert not reply.done or disclosed == len(persona.stages)
    shown = disclosed + (reply.stage is not None)
    own = persona.stages[reply.stage - 1].line if reply.stage else ""
    if not own and disclosed < len(persona.stages):
        own = persona.stages[disclosed].not_met
    for later in persona.stages[shown:]:
        assert normalise(later.line) not in normalise(reply.text)
    known = [persona.identity, persona.initial_query, own, *(m.text for m in dialogue.messages)]
    known += [s.line for s in persona.stages[:shown]]
    told_all = "\n".join(known)
    caught = any(flag.kind is FlagKind.LEAK for flag in reply.flags)
    for node in task.gold.node_ids:
        names = task.gold.names_of(node)
        if caught or any(contains_term(told_all, name) for name in names):
            continue
        assert not any(contains_term(reply.text, name) for name in names if len(name) > 2)

import pytest

from cuecard.core.agents.briefing import public_task
from cuecard.core.agents.offline import OfflineAgent
from cuecard.core.engine.messages import Dialogue, UserReply
from cuecard.core.engine.players import HumanUser
from cuecard.core.tasks.models import CueKind, Persona
from cuecard.core.users.scripted import OneShotUser, scripted_user_for
from cuecard.core.worlds.closed import ClosedWorld
from offline_trials import CHAIN, FACTS, GRAPH, TABLE, QuietContext, heard, stage, told

CONTEXT = QuietContext()


async def test_one_shot_leaves_questions_to_the_agent_and_takes_the_first_answer():
    user = OneShotUser(TABLE)
    opened = await user.open(CONTEXT)
    assert opened.text == TABLE.query
    dialogue = told(heard(Dialogue(), opened), "要不要接着查？")
    second = await user.reply(dialogue, CONTEXT)
    assert not second.done
    assert "您来定" in second.text
    dialogue = told(heard(dialogue, second), "要查吗？查到了。")
    third = await user.reply(dialogue, CONTEXT)
    assert (third.done, third.answered) == (True, True)


async def test_one_shot_does_not_answer_questions_for_ever():
    user = OneShotUser(FACTS, max_questions=2)
    dialogue = heard(Dialogue(), await user.open(CONTEXT))
    replies = []
    for _ in range(3):
        dialogue = told(dialogue, "Shall I go on?")
        replies.append(await user.reply(dialogue, CONTEXT))
        dialogue = heard(dialogue, replies[-1])
    assert [r.done for r in replies] == [False, False, True]


async def test_a_human_says_what_the_screen_returns():
    seen = []

    async def ask(dialogue):
        seen.append(dialogue)
        return UserReply(text="typed", stage=1, cue_met=True, edited=True)

    user = HumanUser("Lin", ask)
    assert (await user.open(CONTEXT)).edited
    dialogue = told(heard(Dialogue(), UserReply(text="a")), "b")
    assert (await user.reply(dialogue, CONTEXT)).text == "typed"
    assert seen == [None, dialogue]
    assert (user.ref.name, user.ref.kind, user.ref.baseline) == ("Lin", "human", False)


def test_who_plays_what():
    kinds = {task.id: scripted_user_for(task).ref.kind for task in (GRAPH, TABLE, FACTS, CHAIN)}
    assert kinds == {
        "lighthouse": "scripted",
        "ferries": "oneshot",
        "bakery": "oneshot",
        "film": "responder",
    }
    for task in (GRAPH, CHAIN):
        for player in (scripted_user_for(task), ClosedWorld(task), OfflineAgent(public_task(task))):
            assert player.ref.baseline


@pytest.mark.parametrize(("count", "pushes"), [(3, 3), (14, 3), (20, 1), (60, 0)])
async def test_many_stages_leave_less_patience(count, pushes):
    stages = tuple(stage(CueKind.MENTIONS, f"Line {n}.", "never") for n in range(count))
    persona = Persona(identity="x", initial_query="Hello.", stages=stages)
    user = scripted_user_for(FACTS.model_copy(update={"persona": persona}))
    dialogue = heard(Dialogue(), await user.open(CONTEXT))
    turns = 0
    while 1 not in dialogue.stages_disclosed:
        turns += 1
        dialogue = told(dialogue, "Nothing.")
        dialogue = heard(dialogue, await user.reply(dialogue, CONTEXT))
    assert turns == pushes + 1

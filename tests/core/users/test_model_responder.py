import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.engine.messages import Act, Dialogue, FlagKind, UserReply
from cuecard.core.engine.messages import CheckpointStatus as Status
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.text import contains_term, normalise
from cuecard.core.users.responder import ADVANCING
from cuecard.core.users.simulators import ModelResponder
from offline_trials import CHAIN, QuietContext, heard, sample_tasks, told
from simulator_bench import ToldContext, move, user_of

GOLD = CHAIN.gold
assert isinstance(GOLD, CheckpointChain)
ASK, ANSWER, REPLY = Act.ASK, Act.ANSWER, Act.REPLY
CLUE = GOLD.steps[0].ambiguity.clue
BRIDGE = next(task for task in sample_tasks() if task.id == "checkpoints-old-bridge-zh")


async def converse(*turns, task=CHAIN):
    """What the user says; each turn is an act, the agent's words and the model's answers to it."""
    user = user_of(task)
    said, contexts = [await user.open(QuietContext())], []
    dialogue = heard(Dialogue(), said[0])
    for act, words, *answers in turns:
        dialogue = told(dialogue, words, act)
        contexts.append(ToldContext(*answers))
        said.append(await user.reply(dialogue, contexts[-1]))
        dialogue = heard(dialogue, said[-1])
    return said, contexts


async def test_from_the_question_to_the_end():
    said, contexts = await converse(
        (ASK, "Silent or in colour?", move("asks_rightly", "The remake, of course.")),
        (ANSWER, "The one called Holt.", move("right", "Yes, go on.")),
        (REPLY, "It is the bay named for Marlowe.", move("right", "Exactly, thanks!")),
    )
    assert [r.status for r in said] == [
        None,
        Status.AMBIGUITY_DETECTED,
        Status.CORRECT_ANSWER,
        Status.TASK_COMPLETED,
    ]
    assert [r.text for r in said] == [GOLD.opening, CLUE, "Yes, go on.", "Exactly, thanks!"]
    assert [r.checkpoint for r in said] == [None, 0, 0, 1]
    assert [(r.done, r.answered) for r in said[2:]] == [(False, False), (True, True)]
    assert all(r.flags == () for r in said)
    assert said[1].reason == "so"
    assert [d.calls for d in contexts] == [1, 1, 1]


async def test_who_it_is():
    user = user_of(CHAIN)
    assert isinstance(user, ModelResponder)
    assert (user.ref.kind, user.ref.name, user.ref.model) == ("responder", "sim", "player")
    assert user.ref.version != user_of(BRIDGE).ref.version


@pytest.mark.parametrize(
    ("act", "given", "status"),
    [
        (ASK, "right", Status.WRONG_AMBIGUITY_DETECTED),
        (ASK, "nothing", Status.WRONG_AMBIGUITY_DETECTED),
        (ASK, "asks_otherwise", Status.WRONG_AMBIGUITY_DETECTED),
        (ANSWER, "nothing", Status.MISSED_AMBIGUITY_WRONG),
        (ANSWER, "asks_rightly", Status.MISSED_AMBIGUITY_WRONG),
        (ANSWER, "wrong", Status.MISSED_AMBIGUITY_WRONG),
        (ANSWER, "right", Status.MISSED_AMBIGUITY_CORRECT),
        (REPLY, "right", Status.MISSED_AMBIGUITY_CORRECT),
        (REPLY, "nothing", Status.SEARCH_ONLY),
        (REPLY, "Asks Rightly", Status.AMBIGUITY_DETECTED),
    ],
)
async def test_the_tool_says_what_a_turn_can_be(act, given, status):
    said, _contexts = await converse((act, "Hm, what about that?", move(given, "Well.")))
    assert said[1].status is status
    assert (said[1].text == CLUE) is (status is Status.AMBIGUITY_DETECTED)


async def test_nobody_asks_rightly_about_a_plain_step():
    said, _contexts = await converse(
        (ANSWER, "Holt", move("right", "Yes.")),
        (ASK, "Which town?", move("asks_rightly", "Marlowe Bay!")),
    )
    assert said[2].status is Status.WRONG_AMBIGUITY_DETECTED
    assert said[2].text == "I have no special wish there; take it as it stands."


@pytest.mark.parametrize(
    "words",
    [
        "No, it was Ines Holt.",
        "Better look at Marlowe Bay.",
        "Which of them, the silent film or the colour remake?",
        "Yes! In which town is that director buried?",
        "I mean the remake, the one with colour and sound.",
        "# No\n- not so",
        "",
        "x" * 2000,
    ],
)
async def test_words_that_break_a_hard_rule_are_never_said(words):
    said, contexts = await converse((ANSWER, "Bo Reed", move("wrong", words), move("wrong", "No.")))
    assert (said[1].text, said[1].flags, contexts[0].calls) == ("No.", (), 2)
    said, contexts = await converse((ANSWER, "Bo Reed", move("wrong", words)))
    assert said[1].text == "That does not seem right to me. Please look again."
    assert said[1].status is Status.MISSED_AMBIGUITY_WRONG
    assert said[1].flags
    assert contexts[0].calls == 2


async def test_forbidden_names_are_not_repeated_either():
    said, _contexts = await converse((REPLY, "It is Ines Holt.", move("right", "Yes, Ines Holt.")))
    assert said[1].text == "That fits, go on."
    assert [(f.kind, f.found) for f in said[1].flags] == [(FlagKind.LEAK, "Ines Holt")]


async def test_the_whole_answer_completes_the_task_from_any_step():
    said, _contexts = await converse((ANSWER, "Marlowe Bay", move("wrong", "No.")))
    assert (said[1].checkpoint, said[1].status) == (1, Status.TASK_COMPLETED)
    assert said[1].text == "Yes, that is what I was looking for. Thank you!"
    assert said[1].answered


async def test_at_the_last_step_the_model_has_the_last_word():
    said, _contexts = await converse(
        (ANSWER, "Holt", move("right", "Yes.")),
        (ANSWER, "Anywhere but in Marlowe Bay.", move("wrong", "No.")),
    )
    assert (said[2].status, said[2].text) == (Status.WRONG_ANSWER, "No.")


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"move": "maybe", "reply": "x"}'])
async def test_without_a_usable_answer_the_turn_is_read_as_a_script_reads_it(broken):
    said, contexts = await converse((ASK, "Which version?", broken), (ANSWER, "Ines Holt", broken))
    assert [r.status for r in said[1:]] == [Status.AMBIGUITY_DETECTED, Status.CORRECT_ANSWER]
    assert said[1].text == CLUE
    assert [[f.kind for f in r.flags] for r in said[1:]] == [[FlagKind.UNUSABLE]] * 2
    assert [d.calls for d in contexts] == [2, 2]


async def test_it_does_not_give_up():
    said, _contexts = await converse(*[(REPLY, "Searching.", move("nothing", "Go on."))] * 9)
    assert not any(r.done for r in said)


async def test_a_clue_is_released_without_what_is_forbidden():
    gold = GOLD.model_copy(update={"forbidden": ("colour",)})
    said, _contexts = await converse(
        (ASK, "Which?", move("asks_rightly")), task=CHAIN.model_copy(update={"gold": gold})
    )
    assert said[1].text == "I mean the remake, the one with … and sound."


@pytest.mark.parametrize("task", [CHAIN, BRIDGE], ids=lambda t: t.id)
def test_the_model_sees_its_step_and_no_clue(task):
    user = user_of(task)
    assert isinstance(user, ModelResponder)
    for index, step in enumerate(task.gold.steps[:-1]):
        advanced = UserReply(text="Go on.", checkpoint=index - 1, status=Status.CORRECT_ANSWER)
        dialogue = heard(Dialogue(), advanced if index else UserReply(text="A question."))
        dialogue = told(dialogue, "I am searching.")
        prompt = user.asked(dialogue).replace(task.opening, "")
        assert step.question in prompt
        assert all(f"- {name}" in prompt for name in step.names)
        for other in task.gold.steps[index:]:
            assert not other.ambiguity or other.ambiguity.clue not in prompt
        for later in task.gold.steps[index + 1 :]:
            assert later.question not in prompt


def answers(gold):
    names = [n for step in gold.steps for n in step.names]
    candidates = [c for step in gold.steps if step.ambiguity for c in step.ambiguity.candidates]
    clues = [step.ambiguity.clue for step in gold.steps if step.ambiguity]
    pieces = [*names, *candidates, *clues, *gold.forbidden, *(s.question for s in gold.steps)]
    words = st.lists(st.sampled_from([*pieces, "No.", "# A", "**b**"]), max_size=3).map(" ".join)
    moves = ["asks_rightly", "asks_otherwise", "right", "wrong", "nothing", "perhaps"]
    shaped = st.builds(move, st.sampled_from(moves), words).map(json.dumps)
    return st.one_of(shaped, shaped, shaped, st.sampled_from(["", "{", "null", "x" * 3000]))


@pytest.mark.parametrize("task", [CHAIN, BRIDGE], ids=lambda t: t.id)
@settings(max_examples=examples(15), deadline=None)
@given(data=st.data())
async def test_whatever_the_model_answers_the_hard_rules_hold(task, data):
    user, gold = user_of(task), task.gold
    dialogue = heard(Dialogue(), await user.open(QuietContext()))
    step, detected = 0, set()
    names = [n for s in gold.steps for n in s.names]
    speech = st.sampled_from(["Searching.", "Which one?", "哪一部？", *names])
    for _turn in range(8):
        dialogue = told(dialogue, data.draw(speech), data.draw(st.sampled_from(list(Act))))
        context = ToldContext(*data.draw(st.lists(answers(gold), min_size=1, max_size=3)))
        reply = await user.reply(dialogue, context)
        assert context.calls <= 4
        assert reply.text.strip()
        if reply.status is Status.TASK_COMPLETED:
            assert reply.done
            assert reply.answered
            break
        assert not reply.done
        assert reply.checkpoint == step
        ambiguity = gold.steps[step].ambiguity
        if reply.status is Status.AMBIGUITY_DETECTED:
            assert ambiguity
            detected.add(step)
        else:
            unasked = (s.ambiguity for n, s in enumerate(gold.steps) if n not in detected)
            for hidden in filter(None, unasked):
                assert normalise(hidden.clue) not in normalise(reply.text)
        for name in gold.forbidden:
            assert not contains_term(reply.text, name)
        for later in gold.steps[step + 1 :]:
            assert normalise(later.question) not in normalise(reply.text)
        step = min(step + (reply.status in ADVANCING), len(gold.steps) - 1)
        dialogue = heard(dialogue, reply)

import pytest

from cuecard.core.engine.messages import Act, Dialogue, Message
from cuecard.core.engine.messages import CheckpointStatus as Status
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.text import contains_term
from cuecard.core.users.responder import CurrentStep, Move, ScriptedResponder, read_move, status_of
from offline_trials import CHAIN, TABLE, QuietContext, heard, told

CONTEXT = QuietContext()
GOLD = CHAIN.gold
assert isinstance(GOLD, CheckpointChain)
ASK, ANSWER, REPLY = Act.ASK, Act.ANSWER, Act.REPLY


@pytest.mark.parametrize(
    ("step", "act", "text", "move"),
    [
        (0, ASK, "The silent film or the colour remake?", Move.ASKS_RIGHTLY),
        (0, ASK, "Which version do you mean?", Move.ASKS_RIGHTLY),
        (0, ASK, "Did you mean Ines Holt, of the colour remake?", Move.ASKS_RIGHTLY),
        (0, ASK, "How old are you?", Move.ASKS_OTHERWISE),
        (1, ASK, "Which version do you mean?", Move.ASKS_OTHERWISE),
        (0, ANSWER, "It is Holt.", Move.RIGHT),
        (0, ANSWER, "Is it Ines Holt?", Move.RIGHT),
        (0, ANSWER, "Ines Holt, not the silent film.", Move.RIGHT),
        (0, ANSWER, "The silent film's, so not Ines Holt.", Move.WRONG),
        (0, ANSWER, "Somebody else.", Move.WRONG),
        (0, REPLY, "I found that Ines Holt directed it.", Move.RIGHT),
        (0, REPLY, "Ines Holt directed it. Shall I go on?", Move.RIGHT),
        (
            0,
            REPLY,
            "There are the silent film and the colour remake. Which one?",
            Move.ASKS_RIGHTLY,
        ),
        (0, REPLY, "It must be the silent film.", Move.WRONG),
        (0, REPLY, "Could you tell me more?", Move.ASKS_OTHERWISE),
        (0, REPLY, "I am still searching.", Move.NOTHING),
        (1, REPLY, "The grave is at Marlowe Bay.", Move.RIGHT),
    ],
)
def test_how_a_turn_reads(step, act, text, move):
    message = Message(role="agent", turn=0, text=text, act=act)
    assert read_move(message, GOLD.steps[step]) is move


AMBIGUOUS = CurrentStep(ambiguous=True, clue_given=False, last=False)
CLUED = CurrentStep(ambiguous=True, clue_given=True, last=False)
PLAIN = CurrentStep(ambiguous=False, clue_given=False, last=False)


@pytest.mark.parametrize(
    ("situation", "move", "status"),
    [
        (AMBIGUOUS, Move.ASKS_RIGHTLY, Status.AMBIGUITY_DETECTED),
        (AMBIGUOUS, Move.ASKS_OTHERWISE, Status.WRONG_AMBIGUITY_DETECTED),
        (AMBIGUOUS, Move.RIGHT, Status.MISSED_AMBIGUITY_CORRECT),
        (AMBIGUOUS, Move.WRONG, Status.MISSED_AMBIGUITY_WRONG),
        (AMBIGUOUS, Move.NOTHING, Status.SEARCH_ONLY),
        (CLUED, Move.RIGHT, Status.CORRECT_ANSWER),
        (CLUED, Move.WRONG, Status.WRONG_ANSWER),
        (CLUED, Move.ASKS_OTHERWISE, Status.WRONG_AMBIGUITY_DETECTED),
        (PLAIN, Move.RIGHT, Status.CORRECT_ANSWER),
        (PLAIN, Move.WRONG, Status.WRONG_ANSWER),
        (PLAIN, Move.ASKS_OTHERWISE, Status.WRONG_AMBIGUITY_DETECTED),
        (PLAIN, Move.NOTHING, Status.SEARCH_ONLY),
        (
            CurrentStep(ambiguous=True, clue_given=False, last=True),
            Move.RIGHT,
            Status.TASK_COMPLETED,
        ),
        (
            CurrentStep(ambiguous=False, clue_given=False, last=True),
            Move.WRONG,
            Status.WRONG_ANSWER,
        ),
    ],
)
def test_the_decision_table(situation, move, status):
    assert status_of(move, situation) is status


def test_every_move_has_a_status():
    for situation in (AMBIGUOUS, CLUED, PLAIN):
        for move in Move:
            assert isinstance(status_of(move, situation), Status)


async def converse(task, *turns, patience=3):
    user = ScriptedResponder(task, patience=patience)
    said = [await user.open(CONTEXT)]
    dialogue = heard(Dialogue(), said[0])
    for act, text in turns:
        dialogue = told(dialogue, text, act)
        said.append(await user.reply(dialogue, CONTEXT))
        dialogue = heard(dialogue, said[-1])
    return said


async def test_asking_then_answering_to_the_end():
    said = await converse(
        CHAIN, (ASK, "Which version?"), (ANSWER, "Ines Holt."), (REPLY, "She lies in Marlowe Bay.")
    )
    assert said[0].text == GOLD.opening
    assert [r.status for r in said] == [
        None,
        Status.AMBIGUITY_DETECTED,
        Status.CORRECT_ANSWER,
        Status.TASK_COMPLETED,
    ]
    assert [r.checkpoint for r in said] == [None, 0, 0, 1]
    assert said[1].text == "I mean the remake, the one with colour and sound."
    assert [r.done for r in said] == [False, False, False, True]
    assert [r.answered for r in said] == [False, False, False, True]


async def test_no_clue_without_a_question_about_it():
    said = await converse(
        CHAIN, (ANSWER, "Nobody."), (ASK, "Do you like films?"), (ANSWER, "Ines Holt.")
    )
    assert [r.status for r in said[1:]] == [
        Status.MISSED_AMBIGUITY_WRONG,
        Status.WRONG_AMBIGUITY_DETECTED,
        Status.MISSED_AMBIGUITY_CORRECT,
    ]
    assert not any("remake" in r.text for r in said)


async def test_the_whole_answer_completes_the_task_from_any_step():
    said = await converse(CHAIN, (ANSWER, "In Marlowe Bay."))
    assert (said[1].checkpoint, said[1].status) == (1, Status.TASK_COMPLETED)
    assert said[1].done
    assert said[1].answered


async def test_a_plain_reply_that_names_it_by_the_way_does_not():
    said = await converse(CHAIN, (REPLY, "I read about Marlowe Bay."))
    assert said[1].status is Status.SEARCH_ONLY


@pytest.mark.parametrize("turn", [(ANSWER, "No idea."), (REPLY, "Searching."), (ASK, "Tea?")])
async def test_patience_ends_it(turn):
    said = await converse(CHAIN, *[turn] * 3)
    assert [r.done for r in said] == [False, False, False, True]
    assert said[-1].reason == "patience"
    assert not said[-1].answered
    assert said[-1].status is not None


async def test_asking_again_for_the_same_clue_uses_up_patience():
    said = await converse(CHAIN, *[(ASK, "Which version?")] * 4)
    assert [r.done for r in said] == [False, False, False, False, True]
    assert said[2].text == said[1].text


async def test_progress_renews_patience():
    lost = (REPLY, "Searching.")
    said = await converse(CHAIN, lost, lost, (ANSWER, "Ines Holt"), lost, lost)
    assert not any(r.done for r in said)


async def test_nothing_forbidden_is_said():
    gold = GOLD.model_copy(update={"forbidden": ("Ines Holt", "Marlowe Bay", "colour")})
    task = CHAIN.model_copy(update={"gold": gold})
    said = await converse(
        task,
        (ASK, "Which version?"),
        (ANSWER, "x"),
        (ANSWER, "Ines Holt"),
        (REPLY, "hm"),
        (ANSWER, "Marlowe Bay"),
    )
    for reply in said[1:]:
        for name in gold.forbidden:
            assert not contains_term(reply.text, name)


def test_other_families_are_refused():
    with pytest.raises(ValueError):
        ScriptedResponder(TABLE)

"""Faults of words: none in what scripts say, each planted one found once and as what it is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strategies as any_
from budget import examples
from cuecard.core.engine.events import AgentSpoke, UserSpoke
from cuecard.core.engine.messages import Act, CheckpointStatus, Dialogue, Message, UserReply
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.tasks.models import Task
from cuecard.core.users.faults import FaultKind, coached_in, faults_in, is_left_open, questions_put
from cuecard.core.users.leaks import Secrets, counts, gold_things, known_texts
from cuecard.core.users.responder import ChainRules
from cuecard.core.users.scripted import next_stage, phrase, pushes
from offline_trials import CHAIN, FACTS, GRAPH, TABLE, odd_tasks, play_offline, sample_tasks

Kind = FaultKind
TASKS = {task.id: task for task in (*sample_tasks(), CHAIN, FACTS, GRAPH, TABLE)}
PLANTED: dict[str, dict[Kind, tuple[str, ...]]] = {
    "en": {
        Kind.MARKDOWN: ("Thanks!\n\n- the first one\n- the second one",),
        Kind.STRUCTURE: ("Please give me all of that as JSON.",),
        Kind.COACHED: ("You should ask me about that first.", "Ask me which one I mean."),
    },
    "zh": {
        Kind.MARKDOWN: ("谢谢！\n\n- 第一个\n- 第二个",),
        Kind.STRUCTURE: ("请把这些整理成三元组给我。",),
        Kind.COACHED: ("你应该问我要哪一个。", "您怎么不问问我想去哪里？"),
    },
}
ASKED = {"en": "Which decade do you care about most?", "zh": "您最关心哪个年代？"}
UNMOVED = {"en": "That's interesting. Please go on.", "zh": "这个挺有意思的，请继续说吧。"}
THANKS = {"en": "Thanks, that helps a lot.", "zh": "谢谢，很有帮助。"}


@cache
def trial_of(task_id: str) -> tuple[tuple[Dialogue, UserReply], ...]:
    """Each turn of the scripted user in a trial of this task, with the dialogue before it."""
    return tuple(_turns(TASKS[task_id]))


def _turns(task: Task) -> Iterator[tuple[Dialogue, UserReply]]:
    import asyncio

    _result, events = asyncio.run(play_offline(task))
    dialogue = Dialogue()
    for event in events:
        if isinstance(event.body, UserSpoke):
            yield dialogue, event.body.reply
        if isinstance(event.body, UserSpoke | AgentSpoke):
            dialogue = dialogue.plus(event.body.message)


def kinds(task: Task, before: Dialogue, text: str, **more: object) -> list[Kind]:
    reply = UserReply(text=text).model_copy(update=more)
    return [fault.kind for fault in faults_in(task, before, reply)]


def asks(before: Dialogue, text: str, act: Act = Act.REPLY) -> Dialogue:
    """The dialogue with a last reply of the agent that ends so."""
    *rest, last = before.messages
    return Dialogue((*rest, last.model_copy(update={"text": f"{last.text}\n\n{text}", "act": act})))


@pytest.mark.parametrize("task_id", TASKS)
def test_scripts_make_no_fault(task_id: str):
    task = TASKS[task_id]
    for before, reply in trial_of(task_id):
        assert faults_in(task, before, reply) == ()
        if not before.messages:
            continue
        number = next_stage(task.persona, before) if task.persona else None
        card = task.stages[number - 1].not_met if number else ""
        for said in filter(None, (card, phrase(task.language, "no_preference"))):
            assert kinds(task, before, said, cue_met=False) == []
        if task.family != "checkpoints":
            for said in pushes(task.language):
                assert kinds(task, before, said, cue_met=False) == []


@pytest.mark.parametrize("task_id", [task.id for task in sample_tasks()])
def test_every_planted_error_is_found_once(task_id: str):
    task = TASKS[task_id]
    language, played = task.language, [turn for turn in trial_of(task_id) if turn[0].messages]
    for before, _reply in played[1::4]:
        told = known_texts(task, before)
        for kind, texts in PLANTED[language].items():
            for text in texts:
                assert kinds(task, before, text, cue_met=False) == [kind]
        asked = asks(before, ASKED[language])
        assert kinds(task, asked, UNMOVED[language], cue_met=False) == [Kind.IGNORED]
        for thing in gold_things(task.gold)[::5]:
            if counts(thing[0]) and Secrets([thing]).named(thing[0], told):
                found = kinds(task, before, f"{thing[0]}, {THANKS[language]}", cue_met=False)
                assert found in ([Kind.LEAK], [Kind.FORBIDDEN])
        done, number = (
            set(before.stages_disclosed),
            next_stage(task.persona, before) if task.persona else 0,
        )
        for n, stage in enumerate(task.stages, start=1):
            marked = {"stage": n, "cue_met": True}
            unmarked = kinds(task, before, stage.line, cue_met=False)
            beside = ""
            if number:
                first = task.stages[number - 1].line
                assert kinds(task, before, first, stage=number, cue_met=True) == []
                beside = f"{first} {stage.line}"
            if n == number:
                assert unmarked == [Kind.AHEAD]
                assert kinds(task, before, THANKS[language], **marked) == [Kind.MISSING_LINE]
                kept = {**marked, "edited": True, "meaning": "kept"}
                assert kinds(task, before, THANKS[language], **kept) == []
                continue
            again = n in done
            assert unmarked == [Kind.DOUBLED if again else Kind.AHEAD]
            found = kinds(task, before, stage.line, **marked)
            assert found == [Kind.DOUBLED if again else Kind.SKIPPED]
            if number:
                assert kinds(task, before, beside, stage=number, cue_met=True) == [Kind.DOUBLED]


@pytest.mark.parametrize("task_id", [t for t in TASKS if TASKS[t].family == "checkpoints"])
def test_clues_questions_and_forbidden_words_of_a_chain(task_id: str):
    task = TASKS[task_id]
    assert isinstance(task.gold, CheckpointChain)
    rules = ChainRules(task, None)
    detected = CheckpointStatus.AMBIGUITY_DETECTED
    for before, _reply in trial_of(task_id):
        if not before.messages:
            continue
        place = rules.place(before)
        for n, step in enumerate(rules.steps):
            if n > place.index:
                assert kinds(task, before, step.question) == [Kind.AHEAD]
            given = any(m.checkpoint == n and m.status is detected for m in before.messages)
            if step.ambiguity and not given:
                clue = step.ambiguity.clue
                assert kinds(task, before, clue) == [Kind.AHEAD]
                released = kinds(task, before, clue, checkpoint=n, status=detected)
                assert released == ([] if n == place.index else [Kind.SKIPPED])
                if n == place.index:
                    words = phrase(task.language, "no_wish")
                    found = kinds(task, before, words, checkpoint=n, status=detected)
                    assert found == [Kind.MISSING_LINE]
        for name in task.gold.forbidden:
            assert kinds(task, before, f"{name}?") == [Kind.FORBIDDEN]


@pytest.mark.parametrize(
    "text",
    [
        "If you ask me, that is too much.",
        "What would you like to ask me?",
        "You don't need to ask me that. Don't ask me about dates.",
        "Could you ask the museum how they did it?",
        "Thanks for asking me about it. You did ask me which one.",
        "When they ask me what it is, what do I say?",
        "Visitors could ask me how it works, so I need the facts.",
        "请问我应该怎么去？",
        "你可以问问博物馆吗？",
        "您问我喜欢什么，我都可以。不用问我，您来定吧。",
        "观众一定会问今天去哪儿看。",
        "你问我哪个版本？我说的是文津阁本。",
        "请换一种方式解释。",
    ],
)
def test_words_about_asking_that_coach_nobody(text: str):
    assert coached_in(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Why not ask me what I already know?",
        "You never asked me which one.",
        "A better question would be where it was made.",
        "Ask me one question at a time.",
        "Before you search, you should first ask me what I mean.",
        "Please rephrase your question.",
        "您最好先问清楚我指的是哪一座桥。",
        "为什么不问问我喜欢哪个？",
        "你还没问我是哪个版本。",
        "换个问法吧。",
        "你应该问的是哪一年。",
        "一次只问一个问题好吗？",
    ],
)
def test_words_that_coach(text: str):
    assert coached_in(text) == text


@pytest.mark.parametrize(
    ("said", "reply", "open"),
    [
        ("Which one do you mean, the film or the book?", "Please go on.", True),
        ("Which one do you mean, the film or the book?", "The book.", False),
        ("Which period interests you?", "The nineteenth century.", False),
        ("Which period interests you?", "I don't mind.", False),
        ("Which period interests you?", "Let me come to that later.", False),
        ("Which period interests you?", "Great! Could you tell me more?", True),
        ("Do you drink it at home?", "Yes.", False),
        ("Shall I go on?", "Hm, not quite.", False),
        ("Would you like me to look further?", "Thanks.", False),
        ("Anything else?", "Thanks.", False),
        ("Let me know if you have questions.", "Thanks.", False),
        ("## Who made it?\nIt was made in 1901.", "Please go on.", False),
        ("Who made it? It was Bell.", "Please go on.", False),
        ("需要我继续吗？", "嗯，还不是我要的。", False),
        ("您想看哪一年的？", "请继续。", True),
        ("您想看哪一年的？", "都可以。", False),
        ("您想看哪一年的？", "一九八四年的那个。", False),
        ("您要看小说还是电影？", "谢谢，请再查一查。", True),
    ],
)
def test_which_questions_are_left_open(said: str, reply: str, open: bool):
    asked = questions_put(Message(role="agent", turn=0, text=said))
    assert bool(asked and is_left_open(asked, reply)) is open


@pytest.mark.parametrize(
    ("task_id", "stage", "words"),
    [
        (
            "espresso",
            2,
            "Oh, Angelo Moriondo! Born in which year and which city, died when? And his family"
            " business please, the hotel, bar and chocolate firm.",
        ),
        (
            "espresso",
            4,
            "Let's do Bezzera first: his home city, when his patent was filed and granted, who"
            ' bought it, and at what fair he showed his "caffè espresso", and when.',
        ),
        (
            "graph-astronomy-zh",
            2,
            "张衡的生卒年、籍贯、官职和天文著作分别是什么？地动仪是哪年做出来的？",
        ),
    ],
)
def test_a_line_in_a_persons_own_words_is_not_missing(task_id: str, stage: int, words: str):
    before = next(before for before, reply in trial_of(task_id) if reply.stage == stage)
    assert kinds(TASKS[task_id], before, words, stage=stage, cue_met=True) == []


@pytest.mark.parametrize(
    ("task_id", "words"),
    [
        ("espresso", "Hmm, I'm not sure that helps. What else have you got on the early machines?"),
        ("espresso", "I like that. My colleague at the museum says hello, by the way."),
        (
            "espresso",
            "I meant the machine itself, not the drink. Could you double-check that year?",
        ),
        ("espresso", "My lender wants captions by Friday, so names, years and places please."),
        ("graph-astronomy-zh", "嗯，这个年份您能再核对一下吗？"),
        ("graph-astronomy-zh", "馆长催得急，请尽量给我名字、年份和地点。"),
        ("graph-astronomy-zh", "先后顺序我无所谓，您看着讲就行。我说的是仪器，不是历法。"),
    ],
)
def test_what_people_say_in_between_is_no_fault(task_id: str, words: str):
    for before, _reply in trial_of(task_id):
        if before.messages:
            assert kinds(TASKS[task_id], before, words, cue_met=False) == []


def test_a_benchmarks_own_sub_queries_are_no_fault():
    task = TASKS["espresso"]
    before = trial_of("espresso")[1][0]
    for query in task.sub_queries:
        assert kinds(task, before, query) == []


@settings(max_examples=examples(15), deadline=None)
@given(
    odd_tasks(),
    st.lists(any_.any_text(), max_size=4),
    any_.any_text(),
    st.integers(-2, 9),
    st.data(),
)
def test_nothing_is_too_odd(
    task: Task, said: list[str], text: str, number: int, data: st.DataObject
):
    roles = ("user", "agent")
    before = Dialogue(
        tuple(Message(role=roles[n % 2], turn=n // 2, text=t) for n, t in enumerate(said))
    )
    status = data.draw(st.sampled_from([None, *CheckpointStatus]))
    reply = UserReply(text=text, stage=number, checkpoint=number, status=status)
    found = faults_in(task, before, reply)
    assert len({fault.kind for fault in found}) == len(found)
    assert all("\n" not in fault.found for fault in found)


def test_the_line_of_a_stage_marked_as_not_met_is_early():
    task = TASKS["espresso"]
    before, reply = next(turn for turn in trial_of("espresso") if turn[1].stage == 3)
    line = task.stages[2].line
    (fault,) = faults_in(task, before, reply.model_copy(update={"cue_met": False, "text": line}))
    assert (fault.kind, fault.found) == (Kind.EARLY, f"3 · {task.stages[2].title}")
    assert kinds(task, before, line, stage=3, cue_met=True) == []
    assert kinds(task, before, line, stage=3, unsure=True) == []


def test_the_opening_is_no_fault_however_its_author_ended_the_line() -> None:
    assert isinstance(CHAIN.gold, CheckpointChain)
    last = CHAIN.gold.steps[-1].question
    task = CHAIN.model_copy(
        update={"gold": CHAIN.gold.model_copy(update={"opening": f"\n{last}\n"})}
    )
    assert faults_in(task, Dialogue(), UserReply(text=last)) == ()

import pytest

from cuecard.core.tasks.models import Cue, CueKind
from cuecard.core.text import is_question, questions, sentences, statements_in
from cuecard.core.users.scripted import cue_met


def cue(kind, *terms, text="the agent says something"):
    return Cue(kind=kind, text=text, terms=terms)


@pytest.mark.parametrize(
    ("kind", "terms", "reply", "met"),
    [
        ("start", (), "", True),
        ("mentions", ("Morag",), "Morag Sill kept it.", True),
        ("mentions", ("Morag",), "Moragh kept it.", False),
        ("mentions", ("Morag", "keeper"), "The keeper is unknown.", True),
        ("mentions", ("张衡",), "地动仪由张衡制成。", True),
        ("completes", ("crema",), "That gives the crema.", True),
        ("completes", ("crema",), "Shall I look it up?", False),
        ("asks", ("budget",), "What is your budget?", True),
        ("asks", ("budget",), "The budget is fine. Anything else?", False),
        ("asks", ("budget",), "Tell me your budget.", True),
        ("asks", ("预算",), "您的预算是多少", True),
        ("asks", ("预算",), "是否有预算要求", True),
        ("asks", ("预算",), "预算不高。还有别的吗？", False),
        ("asks", (), "Anything else?", True),
        ("asks", (), "That is all.", False),
        ("completes", (), "Here is the list. Anything else?", True),
        ("completes", (), "Which one do you mean?", False),
    ],
)
def test_cues(kind, terms, reply, met):
    assert cue_met(cue(CueKind(kind), *terms), reply) is met


def test_mentions_without_terms_goes_by_the_words_of_the_cue():
    light = cue(CueKind.MENTIONS, text="the reply names the keeper of the lighthouse")
    assert cue_met(light, "Its keeper was Morag Sill; the lighthouse stands on a rock.")
    assert not cue_met(light, "I found nothing.")
    person = cue(CueKind.MENTIONS, text="回复说出了灯塔守护人的名字")
    assert cue_met(person, "灯塔守护人叫莫拉格。")
    assert not cue_met(person, "没有查到。")


def test_sentences_keep_decimals_and_addresses_whole():
    assert sentences("It is 1.5 bar. See example.org! Is it?\n好的。是吗") == (
        "It is 1.5 bar.",
        "See example.org!",
        "Is it?",
        "好的。",
        "是吗",
    )


def test_questions_and_the_rest():
    text = "I found A. Shall I go on? Let me know which one you mean."
    assert questions(text) == ("Shall I go on?", "Let me know which one you mean.")
    assert statements_in(text) == ("I found A.",)
    assert not is_question("That is what I wanted.")
    assert is_question("它在哪里呢。")

import pytest
from hypothesis import given, settings

import strategies as any_
from budget import examples
from cuecard.core.users.leaks import (
    KnownTexts,
    Secrets,
    carries,
    counts,
    fold,
    gives_away,
    gold_things,
)
from offline_trials import CHAIN, FACTS, GRAPH, TABLE, odd_tasks, sample_tasks


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Angelo Moriondo", "Was it angelo MORIONDO?", True),
        ("Angelo Moriondo", "Was it Angelo\nMoriondo's?", True),
        ("Angelo Moriondo", "Was it An\u200bgelo Moriondo?", True),
        ("Delfo Cabrera Gómez", "Delfo Cabrera Gomez!", True),
        ("Grand-Hotel Ligure", "the Grand Hotel Ligure", True),
        ("York", "In Yorkshire", False),
        ("Rome", "The gnomes of chrome", False),
        ("张衡", "是 张 衡 吗", True),
        ("张衡", "张先生", False),
        ("衡", "平衡", False),
        ("SN 1054", "那颗SN 1054", True),
        ("132年", "是132年吗", True),
        ("132年", "是不是公元132", True),
        ("132年", "一共1132块", False),
        ("365.2428日", "365.2428 days", True),
        ("365.2428日", "一年365天", False),
        ("1948", "in 1948.", True),
        ("8848", "8,848 metres", True),
        ("355/113", "密率是355/113", True),
        ("06:12", "at 06:12!", True),
        ("7", "7 of them", False),
        ("7号", "7号", False),
        ("42", "42 of them", False),
        ("Yes", "Yes, please", False),
        ("May", "you may go on", False),
        ("red", "a red one", False),
        ("amber", "Is it amber?", True),
        ("M1", "on the M1", False),
    ],
)
def test_what_counts_as_naming(name, text, found):
    assert bool(Secrets([[name]]).named(text, KnownTexts(()))) is found


def test_what_was_told_is_no_secret_and_one_name_tells_the_thing():
    secrets = Secrets([["Angelo Moriondo", "Moriondo"], ["Turin", "Torino"]])
    assert secrets.named("Moriondo of Torino", KnownTexts(())) == ("Moriondo", "Torino")
    assert secrets.named("Angelo Moriondo of Turin", KnownTexts(["It was Moriondo."])) == ("Turin",)
    assert secrets.named("Turin", KnownTexts(["the Turin General Exposition"])) == ()
    assert secrets.named("Turin", KnownTexts(["Turing was there"])) == ("Turin",)


def test_the_gold_of_every_family():
    assert ("Vesta lens", "Vesta optic") in gold_things(GRAPH.gold)
    assert ("周望",) in gold_things(TABLE.gold)
    assert ("340",) in gold_things(FACTS.gold)
    assert ("Dunmore Bakery",) in gold_things(FACTS.gold)
    assert ("Ines Holt", "Holt") in gold_things(CHAIN.gold)
    assert ("Marlowe Bay",) in gold_things(CHAIN.gold)


@settings(max_examples=examples(25), deadline=None)
@given(task=odd_tasks(), text=any_.any_text())
def test_odd_text_harms_nothing(task, text):
    secrets = Secrets(gold_things(task.gold))
    assert secrets.named(text, KnownTexts([text])) == ()
    for names in gold_things(task.gold):
        for name in names:
            if counts(name):
                assert secrets.named(f"x {name} x", KnownTexts(()))
    assert fold(fold(text)) == fold(text)


LINE = (
    "Luigi Bezzera first. Which was his home city, in which years was his patent filed and granted, "
    'and who bought it? I also read that he showed his "caffè espresso" in 1906.'
)


@pytest.mark.parametrize(
    ("text", "carried"),
    [
        (LINE, True),
        (f"Thanks!\n\n{LINE.upper()}", True),
        (
            "Now Luigi Bezzera: his home city, the years in which his patent was filed and granted,"
            " and who bought the patent? They say he showed caffe espresso in 1906.",
            True,
        ),
        (LINE.replace("1906", "a fair"), False),
        (LINE.replace("Bezzera", "him"), False),
        (LINE.replace("and who bought it", "please"), False),
        ("Tell me about Luigi Bezzera and his caffè espresso in 1906.", False),
        ("", False),
    ],
)
def test_whether_a_reply_carries_a_line(text, carried):
    assert carries(text, LINE) is carried


@pytest.mark.parametrize(
    ("text", "carried"),
    [
        ("谢谢。那接着说一行吧，他的俗名和去世年份是什么？颁行年份也给我。", True),
        ("接着说一行：俗名是什么？颁行年份也给我一个。", False),
        ("一行是谁？", False),
    ],
)
def test_a_chinese_line(text, carried):
    line = "好，接着说一行：他的俗名和去世年份是什么？颁行年份也给我一个。"
    assert carries(text, line) is carried


def test_giving_a_line_away():
    told = KnownTexts(["I want to paint Brackness Light. It has a keeper."])
    line = "And which lens does Brackness Light have, and where was it ground?"
    assert gives_away(f"Well. {line}", line, told)
    assert gives_away(
        "Where was its lens ground, and sold?", "Which lens, ground where, and sold?", told
    )
    assert not gives_away("I want to know more about Brackness Light.", line, told)
    assert not gives_away("Go on.", "Go on.", told)
    assert not gives_away(line, line, KnownTexts([line]))


def test_no_sample_persona_names_its_gold_before_the_agent_could():
    """What authors wrote is mostly clean: the check does not cry wolf over openings."""
    for task in sample_tasks():
        if task.persona:
            told = KnownTexts([task.persona.identity])
            named = Secrets(gold_things(task.gold)).named(task.persona.behaviour, told)
            assert named == ()

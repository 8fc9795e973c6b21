import pytest

from cuecard.core.engine.messages import FlagKind
from cuecard.core.users.checks import (
    markdown_in,
    spoken,
    structures_in,
    well_formed,
    without_emphasis,
)
from cuecard.core.users.leaks import KnownTexts

NOTHING = KnownTexts(())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Hello\n\nWho was it?", "Hello\nWho was it?"),
        ("- one\n- two", "one\ntwo"),
        ("1. one\n2. two", "one\ntwo"),
        ("1、一\n2、二", "一\n二"),
        ("> quoted", "quoted"),
        ("| a | b |\n|---|---|\n| c | d |", "a, b\nc, d"),
        ("```\ncode\n```", "code"),
        ("See [the page](https://example.org).", "See the page."),
        ("Well\n***\nthen", "Well\nthen"),
    ],
)
def test_what_is_laid_out_can_be_spoken(text, said):
    assert markdown_in(text)
    assert spoken(text) == said
    assert not markdown_in(said)


@pytest.mark.parametrize("text", ['{"head": "a"}', '[{"head": "a"}]', 'So: ["a", "b"]', "[[1]]"])
def test_json_cannot_be_spoken(text):
    assert markdown_in(text)
    words = well_formed(text, 100, NOTHING, "", "en")
    assert (words.text, [f.kind for f in words.flags]) == ("", [FlagKind.FORMAT])


@pytest.mark.parametrize(
    "text",
    [
        "1948. That was the year - or was it?",
        "I know *nothing*, {really} [sic] of it; 3 * 4 * 5, snake_case_word, 'a|b'.",
        "那是1. 5米吗？好的。",
        "Two dashes -- and so on... > 5",
    ],
)
def test_plain_words_are_left_alone(text):
    assert not markdown_in(text)


def test_emphasis_goes_silently():
    assert without_emphasis("**Who** was `it`, __really__? *Hm.*") == "Who was it, really? Hm."
    assert without_emphasis("3 * 4 * 5 and a_b__c__d") == "3 * 4 * 5 and a_b__c__d"
    words = well_formed("**Who** was it?", 100, NOTHING, "", "en")
    assert (words.text, words.complaints) == ("Who was it?", ())


def test_asking_for_structures():
    assert structures_in("Give me JSON triples in a neat table.") == (
        "JSON",
        "triples",
        "in a neat table",
    )
    assert structures_in("请整理成表格，给我三元组") == ("表格", "三元组")
    assert not structures_in("The kitchen table, tripled.")
    words = well_formed("Go on. Then list it as a table.", 100, NOTHING, "", "en")
    assert words.text == "Go on."
    assert [f.found for f in words.flags] == ["as a table"]
    asked = KnownTexts(["Shall I put it as a table?"])
    assert not well_formed("No, not as a table.", 100, asked, "", "en").complaints


def test_the_tasks_own_words_may_be_as_they_are():
    own = "- **Who**?\n- As a table, please."
    assert well_formed(f"Thanks. {own}", 100, KnownTexts([own]), own, "en").text == f"Thanks. {own}"


@pytest.mark.parametrize(("text", "limit"), [("x" * 101, 100), ("  ", 100), (" … ", 100), ("", 9)])
def test_nothing_and_far_too_much_cannot_be_said(text, limit):
    words = well_formed(text, limit, NOTHING, "", "zh")
    assert words.text == ""
    assert [f.kind for f in words.flags] == [FlagKind.UNUSABLE]
    assert len(words.complaints) == 1


@pytest.mark.parametrize("piece", ["**", "`", "-", "| ", "[[", "*", "#", "(", "「", "《", "\n- "])
def test_odd_text_takes_no_time(piece):
    text = piece * 4000
    well_formed(text, len(text), NOTHING, "", "en")

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.core.judges.lexical import judge_answer
from cuecard.core.verdicts import Decision

EUROS = ("36 euros", "36", "€36", "thirty-six euros")
RUNNER = ("Delfo Cabrera", "Delfo Cabrera Gómez", "Cabrera")


@pytest.mark.parametrize(
    ("names", "answer"),
    [
        (EUROS, "€ 36.00"),
        (EUROS, "The answer is 36 euros."),
        (EUROS, "**Answer:** 36 euros (40% of 180 euros, halved)"),
        (EUROS, "Half of that, so the passenger gets 36 EUR."),
        (EUROS, "36 euros, not 72 euros"),
        (EUROS, "Boreal owes her thirty-six euros"),
        (EUROS, "Therefore 36."),
        (RUNNER, "delfo cabrera gomez"),
        (RUNNER, "It was Delfo Cabrera who won."),
        (RUNNER, "Not Gailly but Delfo Cabrera"),
        (RUNNER, "Answer: Delfo Cabrera. Gailly came in third."),
        (("茅以升", "茅唐臣"), "设计者不是李文骥，而是茅以升。"),
        (("茅以升",), "最终答案：茅以升"),
        (("St. Louis",), "It is in St. Louis, of course"),
        (("1948 Summer Olympics", "1948 Olympics"), "the 1948 Olympics in London"),
        (("12万",), "共有120000人"),
        (("2020年5月",), "答案是 2020-05"),
    ],
)
def test_right_answers(names, answer):
    assert judge_answer(names, answer).decision is Decision.YES


@pytest.mark.parametrize(
    ("names", "answer"),
    [
        (EUROS, ""),
        (EUROS, "   "),
        (EUROS, "72 euros"),
        (EUROS, "36 dollars"),
        (EUROS, "37.60 euros"),
        (EUROS, "36 euros or 72 euros"),
        (EUROS, "It is not 36 euros"),
        (EUROS, "nothing"),
        (RUNNER, "Etienne Gailly"),
        (RUNNER, "It was not Delfo Cabrera, it was Gailly"),
        (RUNNER, "不是 Delfo Cabrera，而是 Gailly"),
        (RUNNER, "Delfo"),
        (RUNNER, "x " * 200 + "Delfo Cabrera"),
    ],
)
def test_wrong_answers(names, answer):
    verdict = judge_answer(names, answer)
    assert verdict.decision is Decision.NO
    assert verdict.rationale


def test_the_item_is_the_answer():
    assert judge_answer(RUNNER, "x").item.key == "answer/0"


@given(st.text(max_size=400))
def test_any_text_is_judged(text):
    judge_answer(EUROS, text)
    judge_answer(RUNNER, text)

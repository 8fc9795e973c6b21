import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.core.judges.similarity import Rule, best_similarity, form, same_thing


@pytest.mark.parametrize(
    ("gold", "predicted", "rule"),
    [
        ("Timișoara", "TIMISOARA", Rule.SAME),
        ("ＳＮ １００６", "SN1006", Rule.SAME),
        ("《宋会要》", "宋会要", Rule.SAME),
        ("Moriondo and Gariglio", "Moriondo & Gariglio", Rule.SAME),
        ("Grand-Hotel Ligure", "grand hotel ligure.", Rule.SAME),
        ("1884", "1884年", Rule.VALUE),
        ("25 ml", "25 毫升", Rule.VALUE),
        ("2020-05", "2020年5月", Rule.DATE),
        ("1884", "May 5, 1884", Rule.DATE),
        ("Ferenc Illy", "Illy, Ferenc", Rule.WORDS),
        ("The Beatles", "Beatles", Rule.WORDS),
        ("Apple Inc.", "Apple", Rule.WORDS),
        ("London", "London, England", Rule.QUALIFIED),
        ("Mercury (planet)", "Mercury", Rule.QUALIFIED),
        ("河南", "河南省", Rule.QUALIFIED),
        ("杭州市", "杭州", Rule.QUALIFIED),
        ("Angelo Moriondo", "Angelo Moriondi", Rule.SPELLING),
        ("登封观星台", "登封古观星台", Rule.SPELLING),
    ],
)
def test_one_thing(gold, predicted, rule):
    similarity = same_thing(gold, predicted)
    assert similarity is not None
    assert similarity.rule is rule


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        ("SN 1006", "SN 1054"),
        ("Henry IV", "Henry V"),
        ("North Carolina", "South Carolina"),
        ("东汉", "西汉"),
        ("第十九次全国代表大会", "第二十次全国代表大会"),
        ("C", "C++"),
        ("-5", "5"),
        ("12 km", "12 m"),
        ("May 5, 1884", "1884"),
        ("1884", "May 5, 1885"),
        ("Paris, Texas", "Paris, France"),
        ("Mercury (planet)", "Mercury (element)"),
        ("Berlin", "Berlin, 1936"),
        ("か", "が"),
        ("河南省", "河南县"),
        ("Cabrera", "Delfo Cabrera"),
        ("", "x"),
        ("x", ""),
        ("", ""),
    ],
)
def test_two_things(gold, predicted):
    assert same_thing(gold, predicted) is None


def test_a_firm_similarity_wins_over_a_near_spelling():
    similarity = best_similarity(("Angelo Moriondi", "Angelo  Moriondo"), "Angelo Moriondo")
    assert similarity is not None
    assert similarity.rule is Rule.SAME
    assert best_similarity((), "x") is None


@given(st.text(min_size=1, max_size=40))
def test_everything_with_a_letter_is_like_itself(text):
    if form(text).compact:
        assert same_thing(text, text) is not None


@given(st.text(max_size=30), st.text(max_size=30))
def test_whatever_is_alike_but_for_spelling_shares_a_block(left, right):
    similarity = same_thing(left, right)
    if similarity and similarity.rule is not Rule.SPELLING:
        assert form(left).blocks & form(right).blocks


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        ("1884", "May 5, 1884"),
        ("1884", "1884年"),
        ("London, England", "London"),
        ("Mercury (planet)", "Mercury"),
        ("河南", "河南省"),
        ("Ferenc Illy", "Illy Ferenc"),
        ("36 euros", "€36.00"),
        ("120万", "1.2 million"),
    ],
)
def test_blocks_find_each_kind_of_similarity(gold, predicted):
    assert form(gold).blocks & form(predicted).blocks


def test_ten_thousand_characters_are_compared():
    assert same_thing("(" * 10_000 + "a", " " * 10_000 + "b") is None
    assert same_thing("word " * 2_000, "word " * 2_000 + "x") is None

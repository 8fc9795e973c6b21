import pytest

from cuecard.core.families.graph.relations import RelationRule, relation, same_relation


@pytest.mark.parametrize(
    ("gold", "predicted", "rule"),
    [
        ("founded by", "was founded by", RelationRule.SAME),
        ("founded by", "founder", RelationRule.WORD),
        ("first_patented_by", "patented by", RelationRule.WORD),
        ("颁行年份", "颁行于", RelationRule.WORD),
        ("born in the year", "birth year", RelationRule.MEANING),
        ("出生年份", "born in", RelationRule.MEANING),
        ("bought by the group", "acquired by", RelationRule.MEANING),
        ("born in the year", "year", RelationRule.GENERAL),
        ("遗迹", "remnant", RelationRule.UNREADABLE),
    ],
)
def test_one_relation(gold, predicted, rule):
    assert same_relation(gold, predicted) is rule


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        ("born in the year", "died in the year"),
        ("出生年份", "去世年份"),
        ("出生年份", "died in"),
        ("编成年份", "施行年份"),
        ("上层仪器", "中层仪器"),
        ("scheduled arrival", "actual arrival"),
        ("contains", "does not contain"),
        ("属于", "不属于"),
        ("defeated", "was defeated by"),
        ("sponsor", "birthplace"),
    ],
)
def test_two_relations(gold, predicted):
    assert same_relation(gold, predicted) is None


@pytest.mark.parametrize(
    ("gold", "predicted", "inverse"),
    [
        ("founded by", "founder", True),
        ("founded by", "founded", True),
        ("制造者", "制造", True),
        ("father", "father of", True),
        ("spouse", "spouse", True),
        ("defeated", "was defeated by", True),
        ("founded by", "was founded by", False),
        ("father", "father", False),
        ("located in", "located in", False),
        ("born in", "in", False),
    ],
)
def test_inverse_relations(gold, predicted, inverse):
    assert (same_relation(gold, predicted, swapped=True) is not None) is inverse


def test_relations_that_can_be_put_together():
    assert relation("also known as").identity
    assert relation("别名").identity
    assert not relation("is").identity
    assert not relation("known for").identity
    assert relation("located in").inclusion
    assert not relation("born in").inclusion

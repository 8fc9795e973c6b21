import pytest

from cuecard.core.families.facts.family import Tier, score_facts, tier_of_count
from cuecard.core.families.facts.gold import FactWorld


def world(n: int) -> FactWorld:
    facts = [{"key": f"k{i}", "value": f"v{i}"} for i in range(n)]
    return FactWorld.model_validate({"facts": facts, "answer": "x"})


def test_known_answer(build, values):
    log = build.log(
        build.user(0),
        build.search(0, 0, ("k0",)),
        build.search(0, 1, ("k0",)),
        build.search(0, 2, ()),
        build.search(0, 3, ok=False),
        build.search(0, 4, ("k2", "elsewhere")),
        build.search(0, 0, ("k3",), part="user"),
        build.concluded("x"),
    )
    measures = score_facts(world(4), log, build.answer("yes"))
    assert values(measures) == {
        "pass_at_1": 1.0,
        "fcr": 2 / 4,
        "hit_rate": 3 / 5,
        "premature_stop": 1,
        "unjudged": 0.0,
    }
    assert [m.n for m in measures] == [1, 4, 5, 1, 1]


def test_no_tool_call_is_a_zero_that_is_averaged_in(build, values):
    got = values(score_facts(world(3), build.log(build.user(0)), build.answer("no")))
    assert got["premature_stop"] is None
    assert {**got, "premature_stop": 0.0} == dict.fromkeys(got, 0.0)


def test_an_unjudged_answer_is_not_a_wrong_one(build, values):
    got = values(score_facts(world(3), (), build.answer("unjudged")))
    assert got["pass_at_1"] is None
    assert got["unjudged"] == 1


@pytest.mark.parametrize(
    ("facts", "tier"),
    [
        (1, Tier.EASY),
        (5, Tier.EASY),
        (6, Tier.MID),
        (10, Tier.MID),
        (11, Tier.HARD),
        (30, Tier.HARD),
    ],
)
def test_tiers(facts, tier):
    assert tier_of_count(facts) is tier

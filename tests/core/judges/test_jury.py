"""Several judges as one: votes on items, support, rows of tables, and what its version follows from."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from cuecard.core.config import EMBEDDED, load_config
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.engine.players import build_judge
from cuecard.core.engine.step_context import FreshCalls
from cuecard.core.errors import ConfigError
from cuecard.core.judges.jury import Jury, Weights, by_majority
from cuecard.core.judges.lexical import LexicalJudge
from cuecard.core.llm.hub import ModelHub
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, TableMatch, Verdict
from judged_trials import GOLD, graph_task, triples

YES, NO, OPEN = Decision.YES, Decision.NO, Decision.UNJUDGED


def lexical(*kinds: str) -> tuple[LexicalJudge, ...]:
    return tuple(LexicalJudge(f"lexical{kind}") for kind in kinds)


THREE = Jury("board", lexical(":strict", "", ":lenient"))


def judgement(*verdicts: tuple[Decision, tuple[int, ...]], table: TableMatch | None = None):
    return Judgement(
        judge=PlayerRef(name="j", kind="model"),
        verdicts=tuple(
            Verdict(item=Item(kind=ItemKind.TRIPLE, index=n), decision=decision, supporting=support)
            for n, (decision, support) in enumerate(verdicts)
        ),
        table=table,
    )


@pytest.mark.parametrize("votes", [*product(Decision, repeat=3), *product(Decision, repeat=4)])
def test_a_majority_is_of_all_members(votes: tuple[Decision, ...]) -> None:
    said = by_majority({str(n): vote for n, vote in enumerate(votes)})
    if said is OPEN:
        assert max(votes.count(YES), votes.count(NO)) <= len(votes) / 2
    else:
        assert votes.count(said) > len(votes) / 2


def test_weights_add_up() -> None:
    rule = Weights({"a": (2.0, -1.0), "b": (0.5, -0.5), "c": (0.5, -0.5)}, start=-0.5)
    assert rule({"a": YES, "b": NO, "c": NO}) is YES
    assert rule({"a": NO, "b": YES, "c": YES}) is NO
    # At zero it is no yes.
    assert rule({"a": NO, "b": YES, "c": YES, "d": YES}) is NO
    assert rule({"a": YES, "b": YES, "c": OPEN}) is OPEN


def test_a_verdict_names_every_vote_and_what_most_take_for_support() -> None:
    made = THREE.combined(
        [
            judgement((YES, (1, 2)), (NO, ()), (YES, ())),
            judgement((YES, (2, 3)), (YES, (4,)), (OPEN, ())),
            judgement((NO, (9,)), (NO, ()), (NO, ())),
        ]
    )
    assert [verdict.decision for verdict in made.verdicts] == [YES, NO, OPEN]
    # Who said no has no say in what supports; nor has who was outvoted.
    assert [verdict.supporting for verdict in made.verdicts] == [(2,), (), ()]
    told = [verdict.rationale for verdict in made.verdicts]
    assert told[0] == "lexical:strict: yes, lexical: yes, lexical:lenient: no"
    assert told[2] == "lexical:strict: yes, lexical: left open, lexical:lenient: no"


def test_rows_are_joined_as_most_join_them() -> None:
    def laid(*pairs: tuple[int, int]) -> Judgement:
        return judgement(table=TableMatch(usable=True, predicted_rows=4, joined=pairs))

    unusable = judgement(table=TableMatch(usable=False, reason="no table"))
    made = THREE.combined([laid((0, 0), (1, 1)), laid((0, 0), (1, 2)), laid((0, 3))])
    assert made.table == TableMatch(usable=True, predicted_rows=4, joined=((0, 0),))
    assert THREE.combined([unusable, laid((0, 0)), unusable]).table == unusable.table
    made = THREE.combined([laid((0, 0)), unusable, laid((0, 0))])
    assert made.table is not None
    assert made.table.joined == ((0, 0),)


def test_its_version_follows_from_its_members() -> None:
    others = (
        replace(THREE, members=THREE.members[:2]),
        replace(THREE, members=(*lexical(":noisy"), *THREE.members[1:])),
        replace(THREE, weights=Weights({})),
        replace(THREE, weights=Weights({}, 0.1)),
    )
    assert len({jury.ref.version for jury in (THREE, *others)}) == 5
    assert replace(THREE, name="court").ref.version == THREE.ref.version
    assert (THREE.ref.kind, THREE.ref.baseline) == ("jury", True)


async def test_it_judges_what_stands_in_no_workspace() -> None:
    made = await THREE.judge(graph_task(), triples(*GOLD[:3]), FreshCalls())
    alone = await LexicalJudge().judge(graph_task(), triples(*GOLD[:3]), FreshCalls())
    assert [v.decision for v in made.verdicts] == [v.decision for v in alone.verdicts]
    assert made.revision_hash == alone.revision_hash


def written(tmp_path, judges: str):
    path = tmp_path / "cuecard.yaml"
    path.write_text(f"judges:\n{judges}", encoding="utf-8")
    return load_config(path)


def test_it_is_made_from_the_configuration(tmp_path) -> None:
    config = written(
        tmp_path,
        "  board: {kind: jury, members: ['lexical:strict', lexical, 'lexical:lenient']}\n"
        "  two: {kind: jury, members: [lexical, 'lexical:noisy'], start: 0.5,"
        " weights: {lexical: [1, -1], 'lexical:noisy': [0.2, -0.2]}}\n",
    )
    assert build_judge("board", config, ModelHub(config)).ref == THREE.ref
    two = build_judge("two", config, ModelHub(config))
    assert isinstance(two, Jury)
    assert two.weights == Weights({"lexical": (1.0, -1.0), "lexical:noisy": (0.2, -0.2)}, 0.5)
    assert config.judges_behind(["two", "lexical"]) == ("two", "lexical", "lexical:noisy")
    assert "board" not in EMBEDDED.judges


@pytest.mark.parametrize(
    ("jury", "why"),
    [
        ("members: [lexical, moon, 'lexical:noisy']", "there is no judge moon here"),
        ("members: [lexical, 'lexical:noisy']", "an even number of votes can tie"),
        ("members: [lexical, lexical, 'lexical:noisy']", "lexical is listed twice"),
        ("members: [lexical, other, 'lexical:noisy']", "a jury cannot be a member"),
        ("members: [lexical, 'lexical:noisy'], weights: {lexical: [1, 0]}", "every member needs"),
        ("members: [lexical]", "members"),
    ],
)
def test_what_makes_no_jury_is_told(tmp_path, jury: str, why: str) -> None:
    other = "  other: {kind: jury, members: [lexical, 'lexical:strict', 'lexical:noisy']}\n"
    with pytest.raises(ConfigError) as found:
        written(tmp_path, f"{other}  board: {{kind: jury, {jury}}}\n")
    assert why in str(found.value)

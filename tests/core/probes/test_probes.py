"""What probes mean, without playing them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pydantic import ValidationError

from cuecard.core.config import EMBEDDED
from cuecard.core.config_models import ModelConfig
from cuecard.core.config_players import WebWorldConfig
from cuecard.core.config_schema import QcConfig
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.families.facts.gold import Fact, FactWorld
from cuecard.core.llm.structured import read_shape, schema_of
from cuecard.core.predictions import AnswerPrediction, UnusablePrediction
from cuecard.core.probes.examiner import ExaminedLaws, Foreseen, KnownNeed, KnownStep, UnseenStep
from cuecard.core.probes.findings import conflicts, finding_of, score_of_attempt
from cuecard.core.probes.results import (
    PROBES,
    ChainExamined,
    Examination,
    LawsExamined,
    NeedExamined,
    ProbeName,
    ProbeResult,
    StageGuessed,
    StepExamined,
    ambiguous_steps,
    later_stages,
    models_of,
    not_applicable,
    read_examination,
    says_nothing,
    world_of,
    written,
)
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict


def world(*facts: Mapping[str, object]) -> FactWorld:
    made = tuple(Fact.model_validate({"value": "1", **fact}) for fact in facts)
    return FactWorld(facts=made, answer="1")


def task(*facts: Mapping[str, object]) -> Task:
    return Task(id="t", title="T", language="en", query="How many?", gold=world(*facts))


def test_two_values_for_one_thing_are_a_conflict() -> None:
    fine = (
        {"key": "Height", "value": "165 cm"},
        {"key": "height.", "value": "165cm"},
        {"key": "a", "entity": "BN 7", "attribute": "fare", "value": "1,000", "unit": "euros"},
        {"key": "b", "entity": "BN 7", "attribute": "Fare", "value": "1000", "unit": "euros"},
        {"key": "c", "entity": "BN 7", "attribute": "tax", "value": "5"},
        {"key": "d", "entity": "BN 8", "attribute": "fare", "value": "7"},
    )
    assert conflicts(world(*fine).facts) == ()
    bad = (
        {"key": "Height", "value": "165 cm"},
        {"key": "height.", "value": "2 m", "entity": "x", "attribute": "height"},
        {"key": "q", "entity": "X", "attribute": "Height", "value": "3 m"},
        {"key": "r", "entity": "x", "attribute": "height", "value": "2", "unit": "m"},
    )
    told = conflicts(world(*bad).facts)
    assert len(told) == 2
    assert told[0].startswith(
        "facts 1 and 2 contradict each other: Height = 165 cm / height. = 2 m"
    )
    assert told[1].startswith("facts 2 and 3")


def test_each_family_has_one_score() -> None:
    judge = PlayerRef(name="lexical", kind="lexical")
    for decision, score in ((Decision.YES, 1.0), (Decision.NO, 0.0), (Decision.UNJUDGED, None)):
        verdict = Verdict(item=Item(kind=ItemKind.ANSWER), decision=decision)
        judged = Judgement(judge=judge, verdicts=(verdict,))
        measure = score_of_attempt(task({"key": "a"}), AnswerPrediction(answer="1"), judged)
        assert measure.value == score
    assert measure.reason == "1 item was not judged"
    assert UnusablePrediction(reason="\x1b[2Jno").reported(99) == "handed in nothing usable: no"


def step(number: int, **found: object) -> StepExamined:
    return StepExamined.model_validate({"step": number, "candidates": ["a", "b"], **found})


KNOWN = {"enumerable": False, "error_recognisable": False, "error_found": False}
SEEN = {"readings": ("z",), "named": ()}
TWO = {"readings": ("a", "b"), "named": ("a", "b")}


@pytest.mark.parametrize(
    ("steps", "right", "score"),
    [
        ((step(1, **SEEN, **KNOWN),), False, 0.0),
        ((step(1, readings=("a", "b"), named=("a", "b"), **KNOWN),), True, 1.0),
        ((step(1, readings=("a",), named=("a",), **KNOWN),), False, 0.5),
        # Who knows the candidates finds them obvious: that alone does not count, a choice unseen does.
        ((step(1, **SEEN, **{**KNOWN, "enumerable": True}),), False, 0.0),
        ((step(1, candidates=tuple("abcde"), **TWO, **{**KNOWN, "enumerable": True}),), True, 0.4),
        ((step(1, candidates=tuple("abcde"), **TWO, **KNOWN),), False, 0.4),
        # An error is one only where the ambiguity is of that kind.
        ((step(1, **SEEN, **{**KNOWN, "error_recognisable": True}),), False, 0.0),
        ((step(1, factual=True, **SEEN, **{**KNOWN, "error_recognisable": True}),), True, 0.0),
        ((step(1, factual=True, error="x", **SEEN, **{**KNOWN, "error_found": True}),), True, 0.0),
        ((step(1, factual=True, **SEEN, **{**KNOWN, "error_found": True}),), False, 0.0),
        # One step is enough to say so; an unread one leaves it open otherwise.
        ((step(1, **SEEN, **KNOWN), step(2, factual=True, error_recognisable=True)), True, 0.0),
        ((step(1, **SEEN, **KNOWN), step(2)), None, 0.0),
        ((step(1, **KNOWN),), None, None),
        ((step(1, enumerable=True),), None, None),
    ],
)
def test_what_the_examination_of_steps_means(
    steps: tuple[StepExamined, ...], right: bool | None, score: float | None
) -> None:
    found = finding_of(ChainExamined(steps=steps), task({"key": "a"}), 0.8)
    assert (found.right, found.score) == (right, score)
    assert found.told


def test_examinations_are_recorded_as_text() -> None:
    all_of_them: tuple[Examination, ...] = (
        ChainExamined(steps=(step(1, **SEEN, **KNOWN),)),
        NeedExamined(stages=(2, 3), guesses=("眼镜",), guessed=(StageGuessed(stage=3, by="眼镜"),)),
        LawsExamined(contradictions=(), implausible=()),
    )
    for examination in all_of_them:
        assert read_examination(written(examination)) == examination
        assert not says_nothing(examination)
    assert all(map(says_nothing, (ChainExamined(steps=(step(1),)), LawsExamined())))
    assert read_examination("{}") is read_examination("what?") is None


def test_answers_of_weak_models_are_read() -> None:
    unseen, _ = read_shape('{"readings": "Everest", "error": "None."}', UnseenStep)
    assert unseen == UnseenStep(readings=["Everest"], error="")
    unseen, _ = read_shape(
        '{"readings": ["…", null, "\\ud83d a", " a "], "error": null}', UnseenStep
    )
    assert unseen == UnseenStep(readings=["\ufffd a", "a"], error="")
    known, _ = read_shape('{"enumerable": "Yes", "error_found": null}', KnownStep)
    assert known == KnownStep(enumerable=True)
    pairs = '[{"request": "3", "guess": [2]}, {"request": true, "guess": 1}, 4, {"request": 1}]'
    need, _ = read_shape(f'{{"foreseen": {pairs}}}', KnownNeed)
    assert need == KnownNeed(foreseen=[Foreseen(request=3, guess=2)])
    laws, _ = read_shape('{"contradictions": [{"facts": "1"}], "implausible": [3]}', ExaminedLaws)
    assert laws == ExaminedLaws(contradictions=[], implausible=[])
    for text in ('{"enumerable": "perhaps"}', '{"foreseen": null', "no"):
        assert read_shape(text, KnownStep)[0] is None
    with pytest.raises(ValidationError):
        UnseenStep.model_validate({})


def test_lists_are_bounded_for_servers_that_keep_to_a_schema() -> None:
    for shape in (UnseenStep, KnownStep, KnownNeed, ExaminedLaws):
        properties = schema_of(shape)["properties"]
        assert isinstance(properties, dict)
        lists = [p for p in properties.values() if isinstance(p, dict) and p["type"] == "array"]
        assert lists
        assert all("maxItems" in each for each in lists)


def test_what_speaks_against_a_task() -> None:
    against = {p: ProbeResult(probe=p, right=True).flagged for p in PROBES}
    bad: set[ProbeName] = {"closed_book", "open_book", "ambiguity"}
    assert {probe for probe, flagged in against.items() if flagged} == bad
    assert all(ProbeResult(probe=p, right=False).flagged is (p not in bad) for p in PROBES)
    assert ProbeResult(probe="laws", skipped="why").flagged is None


def test_what_applies() -> None:
    facts = task({"key": "a"})
    assert not not_applicable("laws", facts)
    assert not not_applicable("closed_book", facts)
    assert "full query" in not_applicable("open_book", facts)
    assert ambiguous_steps(facts) == later_stages(facts) == ()


def test_who_tries_and_where() -> None:
    web = WebWorldConfig(kind="web", engine="tavily")
    models = {name: ModelConfig(base_url="http://x", model=name) for name in ("a", "b", "c")}
    config = EMBEDDED.model_copy(update={"models": models, "worlds": {**EMBEDDED.worlds, "w": web}})
    named = config.model_copy(
        update={"qc": QcConfig(models=("b", "c"), examiner="c", world="closed")}
    )
    assert models_of("closed_book", config) == ("a", "b", "c")
    assert models_of("with_facts", named) == ("b", "c")
    assert (models_of("laws", config), models_of("laws", named)) == (("a",), ("c",))
    assert models_of("ambiguity", EMBEDDED) == models_of("closed_book", EMBEDDED) == ()
    assert [world_of("open_book", c) for c in (config, named, EMBEDDED)] == [
        "w",
        "closed",
        "closed",
    ]
    assert world_of("closed_book", config) == "closed"

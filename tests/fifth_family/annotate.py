"""A fifth family as authors, reviewers and evaluators see it."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.annotate.authoring.diff import MatchRule
from cuecard.annotate.authoring.schema import Items, Leaf, Links, Record, known_by, words
from cuecard.annotate.families.common import NO_ANSWERS, as_replaced, no_strata
from cuecard.annotate.families.registry import AnnotateFamily, Cause, Dimension, Errors, GoldElement
from cuecard.annotate.lint.case import Case
from cuecard.annotate.lint.codes import Finding, warning
from cuecard.annotate.lint.rules import written
from cuecard.annotate.results import PaperTable, averages
from cuecard.annotate.results.trial_against_gold import AnswerAgainst
from cuecard.annotate.results.trial_record import HitLog
from cuecard.core.predictions import Prediction, TablePrediction
from cuecard.core.verdicts import Decision, Item, Judgement
from fifth_family.core import Ranking


def _lint(case: Case) -> Iterator[Finding]:
    gold = case.task.gold
    if not isinstance(gold, Ranking):
        return
    for at, (above, below) in enumerate(zip(gold.ranked, gold.ranked[1:], strict=False)):
        if below.grade > above.grade:
            place = f"gold.ranked[{at + 1}]"
            yield warning("L090", place, "stands below what is worth less", "Change the order.")


def _against(
    gold: Ranking, prediction: Prediction, judgement: Judgement | None, hits: HitLog
) -> AnswerAgainst:
    del hits
    given = None
    if isinstance(prediction, TablePrediction):
        given = " > ".join(row[0] for row in prediction.rows)
    whole = judgement is not None and all(v.decision is Decision.YES for v in judgement.verdicts)
    return AnswerAgainst(
        gold=" > ".join(each.name for each in gold.ranked),
        also=(),
        given=given,
        decision=Decision.YES if whole else Decision.NO,
    )


def _terms(gold: Ranking, item: Item, prediction: Prediction) -> tuple[str, ...]:
    del prediction
    return gold.ranked[item.index].name, gold.ranked[item.index].figure


RANKING = AnnotateFamily(
    drafts=("translation",),
    persona=False,
    blank=lambda: {"by": "", "ranked": [{"name": "", "figure": "", "grade": 1, "sources": []}]},
    independent=None,
    written=lambda gold: written(Ranking, gold),
    fields={
        "by": Leaf("Order"),
        "ranked": Items(
            "Things",
            "Thing {n}",
            Record(
                "Thing",
                {"name": Leaf("Name"), "figure": Leaf("Figure"), "grade": Leaf("Grade")},
            ),
            MatchRule(keys=(known_by("name"),), text=words("name")),
            words("name"),
        ),
    },
    staged="",
    links=Links,
    guidelines=lambda language: "Order things by one figure.",
    lint=(_lint,),
    dimensions=(Dimension(key="order", label="Order is right", help="By the figures given."),),
    stratum=no_strata,
    element=lambda gold, item: GoldElement(("gold", "ranked", item.index)),
    terms=_terms,
    answers=NO_ANSWERS,
    decided=lambda gold, events, judgement: {},
    corrected=as_replaced,
    cause=lambda figures: Cause.WRONG_ANSWER,
    against=_against,
    compared=("ndcg",),
    paper=PaperTable(by=("agent",), figures=averages("ndcg"), split="language"),
    errors=Errors(lambda judged, k: {}, tuple),
)

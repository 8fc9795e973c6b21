"""What authors, reviewers and evaluators know of fact tasks."""

from collections.abc import Sequence

from cuecard.annotate.authoring import schema
from cuecard.annotate.authoring.diff import MatchRule
from cuecard.annotate.authoring.schema import Links
from cuecard.annotate.authoring.session import shipped_guidelines
from cuecard.annotate.authoring.task_data import blank_fact
from cuecard.annotate.families import common
from cuecard.annotate.families.registry import (
    AnnotateFamily,
    Answers,
    Dimension,
    Errors,
    GoldAnswer,
)
from cuecard.annotate.independent_gold import answers
from cuecard.annotate.lint.gold import lint_world
from cuecard.annotate.lint.rules import written
from cuecard.annotate.results import PaperTable, averages
from cuecard.annotate.results.errors.causes import cause_by_facts
from cuecard.annotate.results.errors.error_tables import Columns
from cuecard.annotate.results.errors.rates import share
from cuecard.annotate.results.errors.report import search_errors
from cuecard.annotate.results.trial_against_gold import AnswerAgainst, FactResult
from cuecard.annotate.results.trial_record import HitLog, first_hits
from cuecard.core.engine.events import Event
from cuecard.core.engine.trial_log import agent_tool_answers
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.i18n import N_, _
from cuecard.core.predictions import Prediction
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.verdicts import Judgement


def _against(
    world: FactWorld, prediction: Prediction, judgement: Judgement | None, hits: HitLog
) -> AnswerAgainst:
    """The answer beside the world's, and which of its facts were found."""
    first = first_hits(hits)
    facts = tuple(
        FactResult(
            key=fact.key,
            value=f"{fact.value} {fact.unit}".strip(),
            rule=fact.kind.value == "rule",
            call=first[fact.key].call if fact.key in first else None,
            seq=first[fact.key].seq if fact.key in first else None,
        )
        for fact in world.facts
    )
    return common.answer_against(world.answer, world.answer_aliases, prediction, judgement, facts)


def _gold_answers(world: FactWorld) -> tuple[GoldAnswer, ...]:
    facts = tuple(
        GoldAnswer(
            key=f"fact/{index}",
            path=("gold", "facts", index),
            asked=fact.key,
            values=(fact.value, *fact.aliases),
            beside=(fact.entity,) if fact.entity else (),
            sources=fact.sources,
        )
        for index, fact in enumerate(world.facts)
    )
    return (*facts, common.final_answer(world, "answer", _("the answer")))


def _played(world: FactWorld, events: Sequence[Event]) -> dict[str, bool]:
    """Of each fact whether a query of the agent matched it."""
    hits = (answered.answer.hit for answered in agent_tool_answers(events))
    matched = {key for hit in hits if hit for key in hit.matched_fact_keys}
    return {f"fact/{index}": fact.key in matched for index, fact in enumerate(world.facts)}


_FACTS = schema.Items(
    N_("Facts"),
    N_("Fact {n}"),
    schema.Record(
        N_("Fact"),
        {
            "key": schema.Leaf(N_("Key")),
            "value": schema.Leaf(N_("Value")),
            "kind": schema.Leaf(N_("Kind")),
            "entity": schema.Leaf(N_("Entity")),
            "attribute": schema.Leaf(N_("Attribute")),
            "unit": schema.Leaf(N_("Unit")),
            "aliases": schema.ALIASES,
            "sources": schema.LINKS,
        },
    ),
    MatchRule(
        keys=(
            schema.known_by("key"),
            schema.known_by("key", plain=True),
            schema.known_by("entity", "attribute", "value"),
        ),
        text=schema.words("key"),
        least=75,
    ),
    schema.words("key"),
)


def _columns() -> Columns:
    return ((_("Stopped too early"), lambda arm: share(arm.facts and arm.facts.premature)),)


FACTS = AnnotateFamily(
    drafts=("facts", "translation"),
    persona=False,
    blank=lambda: {"facts": [blank_fact()], "answer": "", "answer_aliases": [], "derivation": ""},
    independent=answers.FACTS,
    written=lambda gold: written(FactWorld, gold),
    fields={
        "facts": _FACTS,
        "answer": schema.Leaf(N_("Answer")),
        "answer_aliases": schema.ALIASES,
        "derivation": schema.Leaf(N_("Derivation"), schema.PARAGRAPH),
    },
    staged="",
    links=Links,
    guidelines=shipped_guidelines("facts"),
    lint=(lint_world,),
    dimensions=(
        Dimension(
            key="laws",
            label=N_("Facts and rules are consistent"),
            help=N_("No fact contradicts another, and the rules say how to combine them."),
        ),
        Dimension(
            key="sufficiency",
            label=N_("Facts and rules suffice"),
            help=N_("The answer follows from them, and each one that it needs is there."),
        ),
        Dimension(
            key="uniqueness",
            label=N_("Answer is unique"),
            help=N_("Nobody who knows all facts could reach another answer with good reason."),
        ),
        Dimension(
            key="atomicity",
            label=N_("Facts are atomic"),
            help=N_("One search finds one fact; no fact is the answer or half of the reasoning."),
        ),
        Dimension(
            key="novelty",
            label=N_("Memory does not help"),
            help=N_("What the world says cannot be known beforehand, and the question is clear."),
        ),
    ),
    terms=common.answer_terms,
    stratum=lambda world, at: (world.facts[at].kind.value, world.facts[at].entity),
    element=common.answer_element("answer"),
    answers=Answers(_gold_answers, common.answer_told, _played),
    decided=common.answer_decided,
    corrected=common.as_replaced,
    cause=cause_by_facts,
    against=_against,
    compared=("pass_at_1", "fcr", "hit_rate"),
    # Mind-ParaWorld: pass rate, coverage of facts, hits, by setting and tier.
    paper=PaperTable(
        by=("setting", "agent"),
        figures=(
            ("pass_at_1", Taken.AVG),
            ("pass_at_1", Taken.PASS),
            *averages("fcr", "hit_rate", "tool_calls"),
        ),
        split="tier",
    ),
    errors=Errors(lambda judged, k: {"facts": search_errors(judged, k)}, _columns),
)

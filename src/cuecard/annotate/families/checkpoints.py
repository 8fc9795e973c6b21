"""What authors, reviewers and evaluators know of checkpoint tasks."""

from collections.abc import Sequence
from typing import Any

from cuecard.annotate.authoring import schema
from cuecard.annotate.authoring.diff import MatchRule
from cuecard.annotate.authoring.schema import Links
from cuecard.annotate.authoring.session import shipped_guidelines
from cuecard.annotate.authoring.task_data import blank_ambiguity, blank_step
from cuecard.annotate.families import common
from cuecard.annotate.families.registry import (
    AnnotateFamily,
    Answers,
    Dimension,
    Errors,
    GoldAnswer,
)
from cuecard.annotate.independent_gold import answers
from cuecard.annotate.lint.gold import lint_chain
from cuecard.annotate.lint.rules import written
from cuecard.annotate.results import PaperTable, averages
from cuecard.annotate.results.errors.causes import cause_by_steps
from cuecard.annotate.results.errors.report import chain_errors
from cuecard.core.engine.events import Event
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.checkpoints.score import DETECTION_MEASURES, steps_of
from cuecard.core.i18n import N_
from cuecard.core.scoring.aggregate import Statistic as Taken


def _gold_answers(chain: CheckpointChain) -> tuple[GoldAnswer, ...]:
    steps = tuple(
        GoldAnswer(
            key=f"step/{index}",
            path=("gold", "steps", index),
            asked=step.question,
            values=step.names,
            sources=step.sources,
        )
        for index, step in enumerate(chain.steps)
    )
    return (*steps, common.final_answer(chain, "final_answer", chain.opening))


def _played(chain: CheckpointChain, events: Sequence[Event]) -> dict[str, bool]:
    """Of each checkpoint that was reached whether the agent passed it."""
    return {f"step/{step.checkpoint}": step.advanced for step in steps_of(chain, events)}


def _blank_chain() -> dict[str, Any]:
    first = {**blank_step(), "ambiguity": blank_ambiguity("entity")}
    return {
        "opening": "",
        "steps": [first, blank_step()],
        "final_answer": "",
        "final_aliases": [],
        "forbidden": [],
    }


def _step_text(item: Any) -> str:
    return schema.part(item, "question") or schema.part(item, "target")


_STEPS = schema.Items(
    N_("Checkpoints"),
    N_("Checkpoint {n}"),
    schema.Record(
        N_("Checkpoint"),
        {
            "question": schema.Leaf(N_("Question")),
            "target": schema.Leaf(N_("Target")),
            "aliases": schema.ALIASES,
            "ambiguity": schema.Record(
                N_("Ambiguity"),
                {
                    "type": schema.Leaf(N_("Kind")),
                    "logic": schema.Leaf(N_("Logic"), schema.PARAGRAPH),
                    "candidates": schema.texts(N_("Candidates"), N_("Candidate {n}")),
                    "clue": schema.Leaf(N_("Clue"), schema.PARAGRAPH),
                    "terms": schema.TERMS,
                },
            ),
            "sources": schema.LINKS,
        },
    ),
    MatchRule(
        keys=(schema.known_by("question"), schema.known_by("target")), text=_step_text, least=55
    ),
    _step_text,
)


CHECKPOINTS = AnnotateFamily(
    drafts=("checkpoints", "translation"),
    persona=False,
    blank=_blank_chain,
    independent=answers.CHECKPOINTS,
    written=lambda gold: written(CheckpointChain, gold),
    fields={
        "opening": schema.Leaf(N_("Opening"), schema.PARAGRAPH),
        "steps": _STEPS,
        "final_answer": schema.Leaf(N_("Final answer")),
        "final_aliases": schema.ALIASES,
        "forbidden": schema.texts(N_("Forbidden"), N_("Forbidden {n}")),
    },
    staged="",
    links=Links,
    guidelines=shipped_guidelines("checkpoints"),
    lint=(lint_chain,),
    dimensions=(
        Dimension(
            key="uniqueness",
            label=N_("Question constrains the answer"),
            help=N_("With all clues given, only one answer fits the question."),
        ),
        Dimension(
            key="ambiguity",
            label=N_("Ambiguity can be noticed"),
            help=N_("Who searches will come across the candidates and can tell that they differ."),
        ),
        Dimension(
            key="clue",
            label=N_("Clues are natural and sufficient"),
            help=N_("Each clue sounds like an answer, decides between the candidates, names none."),
        ),
        Dimension(
            key="chain",
            label=N_("Steps lead to the answer"),
            help=N_("Each step needs the one before, and the last gives the final answer."),
        ),
        Dimension(
            key="gold",
            label=N_("Targets are correct"),
            help=N_("Targets, aliases and candidates are true and supported by the sources."),
        ),
    ),
    terms=common.answer_terms,
    stratum=common.no_strata,
    element=common.answer_element("final_answer"),
    answers=Answers(_gold_answers, common.answer_told, _played),
    decided=common.answer_decided,
    corrected=common.as_replaced,
    cause=cause_by_steps,
    against=lambda chain, prediction, judgement, _hits: common.answer_against(
        chain.final_answer, chain.final_aliases, prediction, judgement
    ),
    compared=("acc", "cp", "det_accuracy", "det_f1", "ce_a", "ce_b", "asks"),
    # DiscoBench: the outcome, what was asked, and what it took, by difficulty.
    paper=PaperTable(
        by=("agent",),
        figures=(
            *averages("acc", "cp"),
            *((name, Taken.POOLED) for name in DETECTION_MEASURES),
            *averages("asks", "tool_calls", "tokens"),
        ),
        split="difficulty",
    ),
    errors=Errors(lambda judged, _k: {"chain": chain_errors(judged)}, tuple),
)

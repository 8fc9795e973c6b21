"""What authors, reviewers and evaluators know of the four families that ship with us."""

from collections.abc import Callable
from typing import Any

from cuecard.annotate.authoring.session import shipped_guidelines
from cuecard.annotate.authoring.task_data import (
    blank_ambiguity,
    blank_column,
    blank_fact,
    blank_step,
    blank_triple,
)
from cuecard.annotate.families import AnnotateFamily, Dimension
from cuecard.annotate.labelling.views import given_answer
from cuecard.annotate.lint.gold import lint_chain, lint_table, lint_world
from cuecard.annotate.lint.graphs import lint_graph, lint_graph_consistency, lint_graph_leaks
from cuecard.annotate.lint.rules import written_chain, written_graph, written_table, written_world
from cuecard.annotate.results.errors.causes import (
    cause_by_facts,
    cause_by_graph,
    cause_by_steps,
    cause_by_table,
)
from cuecard.annotate.results.trial_against_gold import (
    answer_against,
    facts_against,
    graph_against,
    table_against,
)
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.table.gold import Table
from cuecard.core.i18n import N_
from cuecard.core.tasks.gold import Gold
from cuecard.core.verdicts import Item, Prediction

Cover = Callable[[str], str]


def _blind_graph(graph: Graph, cover: Cover) -> dict[str, Any]:
    del graph, cover
    return {"family": "graph", "nodes": [], "triples": [blank_triple()]}


def _graph_terms(graph: Graph, item: Item, prediction: Prediction) -> tuple[str, ...]:
    del prediction
    triple = graph.triples[item.index]
    return *graph.names_of(triple.tail), *graph.names_of(triple.head)


GRAPH = AnnotateFamily(
    drafts=("triples", "persona", "translation"),
    persona=True,
    blank=lambda: {"nodes": [], "triples": [{**blank_triple(), "stage": 1}]},
    blind=_blind_graph,
    written=written_graph,
    guidelines=shipped_guidelines("graph"),
    lint=(lint_graph, lint_graph_leaks, lint_graph_consistency),
    dimensions=(
        Dimension(
            key="scenario",
            label=N_("Scenario is realistic"),
            help=N_("A person like this one could really want to know this, for this reason."),
        ),
        Dimension(
            key="interaction",
            label=N_("Interaction is natural"),
            help=N_("The lines sound like somebody who talks, and each follows from the reply."),
        ),
        Dimension(
            key="disclosure",
            label=N_("Disclosure is reasonable"),
            help=N_("Every cue can be met by a good agent, and no line gives away what it seeks."),
        ),
        Dimension(
            key="gold",
            label=N_("Gold is correct"),
            help=N_("The triples are true, complete and supported by their sources."),
        ),
        Dimension(
            key="consistency",
            label=N_("Persona and gold agree"),
            help=N_(
                "Every stage is answered by triples, and every triple is asked for by a stage."
            ),
        ),
    ),
    terms=_graph_terms,
    cause=cause_by_graph,
    against=lambda graph, prediction, judgement, _hits: graph_against(graph, prediction, judgement),
    compared=("node_f1", "triplet_precision", "triplet_recall", "triplet_f1", "user_turns"),
)


def _blind_table(table: Table, cover: Cover) -> dict[str, Any]:
    columns = [
        {**column.model_dump(mode="json"), "criterion": cover(column.criterion)}
        for column in table.columns
    ]
    keys = list(table.unique_columns)
    rows = [[""] * len(columns)]
    return {"family": "table", "columns": columns, "unique_columns": keys, "rows": rows}


def _table_terms(table: Table, item: Item, prediction: Prediction) -> tuple[str, ...]:
    del prediction
    row = table.rows[item.index]
    return *table.key_of(row), *row


TABLE = AnnotateFamily(
    drafts=("persona", "translation"),
    persona=False,
    blank=lambda: {"columns": [blank_column()], "unique_columns": [""], "rows": [[""]]},
    blind=_blind_table,
    written=written_table,
    guidelines=shipped_guidelines("table"),
    lint=(lint_table,),
    dimensions=(
        Dimension(
            key="question",
            label=N_("Question is unambiguous"),
            help=N_("It says which rows belong to the table and what goes into each column."),
        ),
        Dimension(
            key="completeness",
            label=N_("Table is complete"),
            help=N_("Every row that belongs is there, and none that does not."),
        ),
        Dimension(
            key="gold",
            label=N_("Cells are correct"),
            help=N_("The values are true and supported by the sources."),
        ),
        Dimension(
            key="stability",
            label=N_("Table is stable over time"),
            help=N_("Nothing in it changes next year, or the question fixes the date."),
        ),
        Dimension(
            key="comparison",
            label=N_("Comparison is fair"),
            help=N_(
                "Keys tell rows apart; each column's metric accepts every right way to write it."
            ),
        ),
    ),
    terms=_table_terms,
    cause=cause_by_table,
    against=lambda table, prediction, judgement, _hits: table_against(table, prediction, judgement),
    compared=("success", "row_f1", "item_f1"),
)


def _answer_terms(gold: Gold, item: Item, prediction: Prediction) -> tuple[str, ...]:
    del item
    return *gold.answers, *given_answer(prediction)


def _blank_chain() -> dict[str, Any]:
    first = {**blank_step(), "ambiguity": blank_ambiguity("entity")}
    return {
        "opening": "",
        "steps": [first, blank_step()],
        "final_answer": "",
        "final_aliases": [],
        "forbidden": [],
    }


def _blind_chain(chain: CheckpointChain, cover: Cover) -> dict[str, Any]:
    del cover
    empty = {"steps": [blank_step()], "final_answer": "", "final_aliases": [], "forbidden": []}
    return {"family": "checkpoints", "opening": chain.opening, **empty}


CHECKPOINTS = AnnotateFamily(
    drafts=("checkpoints", "translation"),
    persona=False,
    blank=_blank_chain,
    blind=_blind_chain,
    written=written_chain,
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
    terms=_answer_terms,
    cause=cause_by_steps,
    against=lambda chain, prediction, judgement, _hits: answer_against(
        chain.final_answer, chain.final_aliases, prediction, judgement
    ),
    compared=("acc", "cp", "det_accuracy", "det_f1", "ce_a", "ce_b", "asks"),
)


def _blind_world(world: FactWorld, cover: Cover) -> dict[str, Any]:
    """The facts are given; the answer is to be found."""
    del cover
    facts = [fact.model_dump(mode="json") for fact in world.facts]
    return {"family": "facts", "facts": facts, "answer": "", "answer_aliases": [], "derivation": ""}


FACTS = AnnotateFamily(
    drafts=("facts", "translation"),
    persona=False,
    blank=lambda: {"facts": [blank_fact()], "answer": "", "answer_aliases": [], "derivation": ""},
    blind=_blind_world,
    written=written_world,
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
    terms=_answer_terms,
    cause=cause_by_facts,
    against=facts_against,
    compared=("pass_at_1", "fcr", "hit_rate"),
)

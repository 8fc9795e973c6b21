"""What the screens know of the four families that ship with us."""

from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.table.gold import Table
from cuecard.core.i18n import N_, _, ngettext, plural
from cuecard.tui.families import TuiFamily, each_by
from cuecard.tui.present.independent_gold import (
    chain_side,
    given_columns,
    graph_versions,
    table_versions,
    world_side,
)
from cuecard.tui.present.tasks import chain_elements, graph_elements, table_elements, world_elements
from cuecard.tui.present.wizard_of_oz import answer_typed, table_typed, triples_typed


def _graph_counts(gold: Graph) -> list[str]:
    triples = ngettext("{n} triple", "{n} triples", len(gold.triples))
    nodes = ngettext("{n} node", "{n} nodes", len(gold.node_ids))
    return [triples.format(n=len(gold.triples)), nodes.format(n=len(gold.node_ids))]


def _graph_values(gold: Graph) -> dict[str, str]:
    return {f"triple/{index}": line for index, line in enumerate(gold.lines)}


GRAPH = TuiFamily(
    badge=("◆", "family-graph", N_("graph")),
    about=N_("graph: triples, disclosed in stages"),
    counts=_graph_counts,
    gold=graph_elements,
    tabs=("graph", "nodes"),
    first_tab=("triples",),
    asked=N_(
        "{user} wants to find something out and says more of it as you talk. Look things up, tell what you found, and ask back where a detail is missing."
    ),
    ends=N_("At the end you hand in all facts that belong to it as triples: head, relation, tail."),
    hint=N_("One triple a line: head | relation | tail. Pasted CSV, tables or JSON will do."),
    read=triples_typed,
    build=N_("Find all triples that a complete answer has, with their sources, and type them."),
    versions=graph_versions,
    values=_graph_values,
)


def _table_counts(gold: Table) -> list[str]:
    rows = ngettext("{n} row", "{n} rows", len(gold.rows))
    return [rows.format(n=len(gold.rows)), plural("{n} column", "{n} columns", len(gold.columns))]


TABLE = TuiFamily(
    badge=("▦", "family-table", N_("table")),
    about=N_("table: rows and columns"),
    counts=_table_counts,
    gold=table_elements,
    tabs=("table", "columns"),
    first_tab=("rows",),
    asked=N_(
        "{user} wants a table and says more of what is to be in it as you talk. Look things up, tell what you found, and ask back where a detail is missing."
    ),
    ends=N_("At the end you hand in one table with exactly the columns that were asked for."),
    hint=N_(
        "Paste or type a table: a line of column names, then the rows. CSV, Markdown or cells of a spreadsheet."
    ),
    read=table_typed,
    build=N_("Find all rows that a complete answer has, and type them into the given columns."),
    given=given_columns,
    versions=table_versions,
    values=lambda gold: {},
)


def _chain_counts(gold: CheckpointChain) -> list[str]:
    ambiguous = sum(step.ambiguity is not None for step in gold.steps)
    steps = ngettext("{n} checkpoint", "{n} checkpoints", len(gold.steps))
    return [steps.format(n=len(gold.steps)), _("{n} ambiguous").format(n=ambiguous)]


CHECKPOINTS = TuiFamily(
    badge=("≡", "family-checkpoints", N_("checkpoints")),
    about=N_("checkpoints: ambiguous sub-questions"),
    counts=_chain_counts,
    gold=chain_elements,
    tabs=("steps", "chain"),
    first_tab=("steps",),
    asked=N_(
        "{user} leads you through a chain of questions; each answer is needed for the next. End every turn with the answer to the present question, or with a question of your own where it can mean several things."
    ),
    ends=N_("At the end you hand in the answer to the last question."),
    hint=N_("The answer to the last question, in a few words."),
    read=answer_typed,
    build=N_("Find the steps that lead to the answer, with their targets, and the answer."),
    versions=each_by(chain_side),
    values=lambda gold: {},
)


def _world_counts(gold: FactWorld) -> list[str]:
    rules = sum(fact.kind.value == "rule" for fact in gold.facts)
    parts = [plural("{n} fact", "{n} facts", len(gold.facts))]
    if rules:
        parts.append(ngettext("{n} rule", "{n} rules", rules).format(n=rules))
    return parts


def _world_values(gold: FactWorld) -> dict[str, str]:
    return {fact.key: f"{fact.value} {fact.unit}".strip() for fact in gold.facts}


FACTS = TuiFamily(
    badge=("◎", "family-facts", N_("facts")),
    about=N_("facts: a closed world and one answer"),
    counts=_world_counts,
    gold=world_elements,
    tabs=("facts", "answer"),
    first_tab=("facts",),
    asked=N_(
        "{user} asks something that must be worked out from several facts. Look them up one by one: this world may differ from the one you know."
    ),
    ends=N_("At the end you hand in the answer alone."),
    hint=N_("The answer alone."),
    read=answer_typed,
    build=N_("The facts of this world are given. Find the answer, and say how it follows."),
    versions=each_by(world_side),
    values=_world_values,
)

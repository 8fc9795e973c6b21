"""All rules and their codes."""

from __future__ import annotations

from cuecard.annotate.lint.chain import lint_chain
from cuecard.annotate.lint.facts import lint_facts
from cuecard.annotate.lint.finding import Finding, warning
from cuecard.annotate.lint.graph import lint_graph
from cuecard.annotate.lint.persona import lint_persona
from cuecard.annotate.lint.table import lint_table
from cuecard.core.i18n import N_, _
from cuecard.core.tasks import CheckpointChain, FactWorld, Graph, Table, Task

CODES: dict[str, str] = {
    "L001": N_("The first cue is the start of the conversation, and no later one is"),
    "L002": N_("Every triple is listed once"),
    "L003": N_("Every key of a table is listed once"),
    "L004": N_("A chain has ambiguous steps, as many as its difficulty says"),
    "L005": N_("Every stage is answered by a triple"),
    "L006": N_("A line gives away nothing that is still to be found"),
    "L007": N_("The final answer is not a fact of the world"),
    "L008": N_("A triple's tail is a thing, not yes or no"),
    "L009": N_("The user never says a forbidden string"),
    "L010": N_("The gold answer has a source"),
    "L011": N_("A clue does not name the target"),
    "L012": N_("No key cell of a table is empty"),
}
"""What each code asks for; translate with `_()` when shown."""


def lint(task: Task) -> tuple[Finding, ...]:
    """All findings for one task, in the order of codes and places."""
    findings = [*lint_persona(task), *_sources(task)]
    match task.gold:
        case Graph() as graph:
            findings += lint_graph(task, graph)
        case Table() as table:
            findings += lint_table(table)
        case CheckpointChain() as chain:
            findings += lint_chain(task, chain)
        case FactWorld() as world:
            findings += lint_facts(world)
    return tuple(sorted(findings, key=lambda finding: finding.code))


def _sources(task: Task) -> list[Finding]:
    cited: bool = bool(task.sources)
    match task.gold:
        case Graph(triples=items) | CheckpointChain(steps=items) | FactWorld(facts=items):
            cited = cited or any(item.sources for item in items)
        case Table():
            pass
    if cited:
        return []
    return [
        warning(
            "L010",
            "sources",
            _("nothing says where the gold answer comes from"),
            _("Add at least one page by which a reviewer can check it."),
        )
    ]

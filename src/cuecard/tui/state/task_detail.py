"""What the list tells of the task under the cursor."""

from __future__ import annotations

from cuecard.core.i18n import _, ngettext
from cuecard.core.tasks import CheckpointChain, FactWorld, Graph, Task


def counts_of(task: Task) -> str:
    """How much there is of what this family is made of."""
    gold = task.gold
    if isinstance(gold, Graph):
        triples = ngettext("{n} triple", "{n} triples", len(gold.triples))
        nodes = ngettext("{n} node", "{n} nodes", len(gold.node_ids))
        parts = [triples.format(n=len(gold.triples)), nodes.format(n=len(gold.node_ids))]
    elif isinstance(gold, CheckpointChain):
        ambiguous = sum(step.ambiguity is not None for step in gold.steps)
        steps = ngettext("{n} checkpoint", "{n} checkpoints", len(gold.steps))
        parts = [steps.format(n=len(gold.steps)), _("{n} ambiguous").format(n=ambiguous)]
    elif isinstance(gold, FactWorld):
        rules = sum(fact.kind.value == "rule" for fact in gold.facts)
        facts = ngettext("{n} fact", "{n} facts", len(gold.facts))
        parts = [facts.format(n=len(gold.facts))]
        if rules:
            parts.append(ngettext("{n} rule", "{n} rules", rules).format(n=rules))
    else:
        rows = ngettext("{n} row", "{n} rows", len(gold.rows))
        columns = ngettext("{n} column", "{n} columns", len(gold.columns))
        parts = [rows.format(n=len(gold.rows)), columns.format(n=len(gold.columns))]
    if task.stages:
        stages = ngettext("{n} stage", "{n} stages", len(task.stages))
        parts.append(stages.format(n=len(task.stages)))
    return " · ".join(parts)


def sections_of(task: Task) -> list[tuple[str, str]]:
    """Heading and text of each part; empty parts are left out."""
    parts = [
        (_("Query"), task.query),
        (_("Opening"), task.opening if task.opening != task.query else ""),
        (_("Gold"), counts_of(task)),
        (_("Sources"), "\n".join(f"{s.url}  {s.note}".strip() for s in task.sources)),
        (_("Notes"), task.notes),
    ]
    return [(heading, text.strip()) for heading, text in parts if text.strip()]

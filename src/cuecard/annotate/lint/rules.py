"""All rules over one task."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from itertools import chain

from cuecard.annotate.lint.case import Case
from cuecard.annotate.lint.consistency_gold import lint_gold_consistency
from cuecard.annotate.lint.consistency_graph import lint_graph_consistency
from cuecard.annotate.lint.dates import lint_dates
from cuecard.annotate.lint.disclosure_cues import lint_cues
from cuecard.annotate.lint.disclosure_gold import lint_gold_disclosure
from cuecard.annotate.lint.disclosure_lines import lint_lines
from cuecard.annotate.lint.finding import Finding
from cuecard.annotate.lint.leaks_graph import lint_graph_leaks
from cuecard.annotate.lint.leaks_other import lint_other_leaks
from cuecard.annotate.lint.silences import silence
from cuecard.annotate.lint.sources import lint_sources
from cuecard.annotate.lint.structure_gold import lint_chain, lint_world
from cuecard.annotate.lint.structure_graph import lint_graph
from cuecard.annotate.lint.structure_stages import lint_stages
from cuecard.annotate.lint.structure_table import lint_table
from cuecard.annotate.lint.texts import lint_texts
from cuecard.core.tasks import Task

_RULES: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    lint_stages,
    lint_graph,
    lint_table,
    lint_chain,
    lint_world,
    lint_graph_leaks,
    lint_other_leaks,
    lint_gold_disclosure,
    lint_cues,
    lint_lines,
    lint_graph_consistency,
    lint_gold_consistency,
    lint_sources,
    lint_dates,
    lint_texts,
)


def lint(task: Task, today: date | None = None, *, complete: bool = True) -> tuple[Finding, ...]:
    """All findings for one task, in the order of codes, silenced ones included. `today`: what is in
    the future is after it. `complete`: False for a draft read `loosely`.
    """
    case = Case(task, today or date.today(), complete)
    found = chain.from_iterable(rule(case) for rule in _RULES)
    silenced = silence(found, task.silenced, complete=complete)
    return tuple(sorted(silenced, key=lambda finding: finding.code))

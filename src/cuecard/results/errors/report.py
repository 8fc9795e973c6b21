"""What goes wrong, agent by agent and family by family."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.core.tasks import FAMILIES, Family
from cuecard.core.tasks.base import Frozen
from cuecard.results.errors.chains import ChainErrors, chain_errors
from cuecard.results.errors.graphs import GraphFindings, graph_findings
from cuecard.results.errors.groups import BY, By, Group, groups_of, notes_of
from cuecard.results.errors.handed import Unreadable, unread, unreadable
from cuecard.results.errors.rates import Rate, counted, flagged
from cuecard.results.errors.searching import SearchErrors, search_errors
from cuecard.results.errors.tables import TableErrors, table_errors
from cuecard.results.pool import Dimension, Pool


class ArmErrors(Frozen):
    """One arm: trials of one family that share the values of `by`. `trials`: all, `ended` and `judged` of them,
    `judged_trials` their ids; everything else is about the judged ones. `baseline`: an embedded offline player took
    part. `format_failure`: what was handed in could not be read; `nothing`: nothing was handed in. `name` is what it is called where it stands beside others.
    """

    family: Family
    group: tuple[tuple[Dimension, str], ...]
    name: str
    trials: int
    ended: int
    judged: int
    judged_trials: tuple[int, ...]
    tasks: int
    baseline: bool
    format_failure: Rate
    nothing: Rate
    unreadable: tuple[Unreadable, ...]
    graph: GraphFindings | None = None
    table: TableErrors | None = None
    facts: SearchErrors | None = None
    chain: ChainErrors | None = None


class ErrorReport(Frozen):
    """Arms with a judged trial, family by family. `notes`: what is not counted, and who is no model."""

    by: tuple[Dimension, ...]
    arms: tuple[ArmErrors, ...]
    notes: dict[Family, tuple[str, ...]] = {}


def error_report(
    pool: Pool,
    by: By = BY,
    families: Sequence[Family] = FAMILIES,
    *,
    k_trunc: int | None = None,
) -> ErrorReport:
    """Errors of each arm (`by`, and family), with intervals by task. Point values are those of `core.scoring`
    (`GraphErrors`, `FactCurves`, `behaviour_profiles`) over the arm's judged trials. `k_trunc`: see
    `searching.search_errors`.
    """
    groups = [group for group in groups_of(pool, by, families) if group.judged]
    return ErrorReport(
        by=groups[0].by if groups else by,
        arms=tuple(_arm(group, k_trunc) for group in groups),
        notes=notes_of(pool, groups),
    )


def _arm(group: Group, k_trunc: int | None) -> ArmErrors:
    judged = group.judged
    rates = counted(
        {
            "format": flagged("format_failure", ((r, unread(group.family, f)) for r, f in judged)),
            "nothing": flagged("nothing", ((r, f.handed_in == "nothing") for r, f in judged)),
        }
    )
    return ArmErrors(
        family=group.family,
        group=group.group,
        name=group.name,
        trials=len(group.rows),
        ended=group.ended,
        judged=len(judged),
        judged_trials=tuple(row.trial.id for row, _figures in judged),
        tasks=group.tasks,
        baseline=group.baseline,
        format_failure=rates["format"],
        nothing=rates["nothing"],
        unreadable=unreadable(group.family, judged),
        graph=graph_findings(judged) if group.family == "graph" else None,
        table=table_errors(judged) if group.family == "table" else None,
        facts=search_errors(judged, k_trunc) if group.family == "facts" else None,
        chain=chain_errors(judged) if group.family == "checkpoints" else None,
    )

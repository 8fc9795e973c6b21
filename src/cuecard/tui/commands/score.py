"""`cuecard score`: scores of runs, as tables or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cuecard.core.i18n import N_, _, plural
from cuecard.core.players import DEFAULT_JUDGE
from cuecard.tui.commands.context import Context, pool_of
from cuecard.tui.commands.output import note
from cuecard.tui.commands.verb import TABLES, Only, Page, Result, Runs, verb

if TYPE_CHECKING:
    from cuecard.annotate.results.pool import Dimension, Pool
    from cuecard.annotate.results.scores import ScoreTable
    from cuecard.core.records import RunRecord


@verb("cuecard score 4 5 --by agent --by language", *TABLES)
def score(
    ours: Context,
    runs: Runs,
    *,
    judge: Annotated[str, N_("Whose judgements; none means the first of the run's judges")] = "",
    by: Annotated[
        Sequence[str],
        N_(
            "What lines are told apart by; may be repeated: agent, run, model, scaffold, setting, memory, user,"
            " world, judge, family, language, difficulty, domain, tier, compacted, task"
        ),
    ] = (),
    measure: Annotated[Sequence[str], N_("Only this measure; may be repeated")] = (),
    only: Only = (),
    sort: Annotated[str, N_("Sort by a figure, highest first: triplet_f1, cost, trials")] = "",
    across: Annotated[
        str, N_("Put the values of this dimension across, a table for each figure")
    ] = "",
) -> Result:
    from cuecard.annotate.results.scores import interval_groups, run_scores
    from cuecard.annotate.task_feedback import disputed_runs
    from cuecard.tui.commands.run_output import spent_line
    from cuecard.tui.commands.score_json import results_json
    from cuecard.tui.commands.score_output import print_scores

    pool = pool_of(ours.workspace, runs, (judge,) if judge else (), only)
    usage = [used for run in pool.runs for used in ours.workspace.runs.usage(run.id)]
    if only:
        kept = {row.trial.id for row in pool.rows}
        usage = [used for used in usage if used.trial_id in kept]
    disputed = disputed_runs(ours.workspace)
    cut = Cut.of(by, measure, sort, across)
    plain = len(pool.runs) == 1 and not (by or measure or across or (ours.form and not ours.json))
    groups = interval_groups(pool) if ours.json or plain else ()

    def show() -> None:
        if len({group.scores.agent for group in groups}) > 1:
            page_of(pool, cut).print()
        print_scores(
            run_scores(pool, groups, usage),
            {(g.scores.agent, g.scores.family): g.figures for g in groups},
        )

    def remarks() -> None:
        for run in pool.runs:
            mine = [row for row in pool.rows if row.trial.run_id == run.id]
            ended = [row for row in mine if row.trial.termination is not None]
            remark(
                run,
                ours,
                judge=mine[0].judged_by if mine else judge,
                unjudged=sum(row.judge is None for row in ended),
                scored=bool(mine) or bool(only),
                disputed=disputed.get(run.id, 0),
            )
        if spent := spent_line(usage, ours.config().currency):
            note(spent)

    return Result(
        show if plain else page_of(pool, cut, title=_("Scores") if ours.form else ""),
        lambda: {
            **results_json(pool, groups, usage, tables_of(pool, cut)),
            "gold_disputed": sum(disputed.get(run.id, 0) for run in pool.runs),
        },
        remarks=remarks,
    )


def remark(
    run: RunRecord, ours: Context, *, judge: str, unjudged: int, scored: bool, disputed: int
) -> None:
    """What is missing from the scores, and what to do about it, on stderr. `disputed`: how many items of its gold
    adjudication found wrong.
    """
    if run.trials > run.finished:
        note(
            plural(
                "{n} trial is still open. Go on with: {command}",
                "{n} trials are still open. Go on with: {command}",
                run.trials - run.finished,
                command=ours.command("run", "--resume", str(run.id)),
            )
        )
    if disputed:
        note(
            plural(
                "Gold disputed: {n} item of the revisions played was found wrong by adjudication.",
                "Gold disputed: {n} items of the revisions played were found wrong by adjudication.",
                disputed,
            )
        )
    if run.trials and not scored:
        note(_("Examinations of tasks have no scores."))
    if unjudged:
        named = () if judge == DEFAULT_JUDGE else ("--judge", judge)
        note(
            plural(
                "{n} trial is not judged by {judge}. Judge it with: {command}",
                "{n} trials are not judged by {judge}. Judge them with: {command}",
                unjudged,
                judge=judge,
                command=ours.command("judge", "--run", str(run.id), *named),
            )
        )


@dataclass(frozen=True)
class Cut:
    """How scores are grouped and sorted. `by`: without the family, which always has its own table; `sort`: a measure, a
    score (`triplet_f1.best`), a count or a dimension, "" for the default order.
    """

    by: tuple[Dimension, ...]
    measures: tuple[str, ...] | None
    sort: str
    across: Dimension | None

    @classmethod
    def of(cls, by: Sequence[str], measures: Sequence[str], sort: str, across: str) -> Cut:
        """Raises `NotFound` for a dimension there is not."""
        from cuecard.annotate.results.comparisons import dimension_named

        told: list[Dimension] = [dimension_named(name) for name in by] or [dimension_named("agent")]
        over = dimension_named(across) if across else None
        if over and over not in told:
            told.append(over)
        return cls(tuple(told), tuple(measures) or None, sort, over)


def tables_of(pool: Pool, cut: Cut) -> ScoreTable:
    """One table over all families, for JSON. Raises `NotFound` for a measure that no trial has."""
    from cuecard.annotate.results.scores import score_table

    _check(pool, cut)
    by: tuple[Dimension, ...] = tuple(dict.fromkeys((*cut.by, "family")))
    return _sorted(score_table(pool, by, cut.measures), cut)


def page_of(pool: Pool, cut: Cut, title: str = "") -> Page:
    """A table for each family, or with `across` for each of its figures."""
    from cuecard.annotate.results.score_tables import pivoted, table_of_scores
    from cuecard.annotate.results.scores import tables_by_family

    _check(pool, cut)
    scores = [_sorted(t, cut) for t in tables_by_family(pool, cut.by, cut.measures)]
    if cut.across is None:
        tables = [table_of_scores(each) for each in scores]
    else:
        tables = [pivoted(t, cut.across, column.key) for t in scores for column in t.columns]
    return Page(tables, title, share=True)


def _check(pool: Pool, cut: Cut) -> None:
    from cuecard.annotate.results.comparisons import measures_in
    from cuecard.annotate.results.scores import Counts, unknown

    known = measures_in(pool)
    for name in cut.measures or ():
        if known and name not in known:
            raise unknown(_("No such measure"), name, known)
    sort = cut.sort.partition(".")[0]
    if sort and known and sort not in (*known, *Counts.model_fields, *cut.by):
        raise unknown(_("Nothing to sort by"), cut.sort, [*cut.by, *Counts.model_fields, *known])


def _sorted(table: ScoreTable, cut: Cut) -> ScoreTable:
    """A table that has no such figure keeps its order: another family has it."""
    from cuecard.annotate.results.scores import sorted_by
    from cuecard.core.errors import NotFound

    if not cut.sort:
        return table
    columns = [column.key for column in table.columns]
    key = next((key for key in columns if key.partition(".")[0] == cut.sort), cut.sort)
    try:
        return sorted_by(table, key)
    except NotFound:
        return table

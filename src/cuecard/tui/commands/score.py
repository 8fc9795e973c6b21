"""`cuecard score` and `cuecard rescore`: scores of runs, and updating them after gold was corrected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cuecard.core.i18n import N_, _, plural
from cuecard.core.players import DEFAULT_JUDGE
from cuecard.tui.commands.context import Context, pool_of
from cuecard.tui.commands.judging import ByWorkers, Progress, by_workers, config_for, with_judges
from cuecard.tui.commands.output import note, prose, say, table
from cuecard.tui.commands.verb import TABLES, Help, Only, Page, Result, Reveal, Runs, verb

if TYPE_CHECKING:
    from cuecard.annotate.labelling.corrections import Corrections
    from cuecard.annotate.results.pool import Dimension, Pool
    from cuecard.annotate.results.rescored import RescoreReport
    from cuecard.annotate.results.scores import ScoreTable
    from cuecard.core.engine.messages import PlayerRef
    from cuecard.core.engine.step_context import Judge
    from cuecard.core.evaluation.rescoring import RescoreOutcome, RescorePlan
    from cuecard.core.records import RunRecord
    from cuecard.core.tables.table import Table
    from cuecard.store.workspace import Workspace


@verb("cuecard score 4 5 --by agent --by language", *TABLES, holds=True)
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
    interval: Annotated[
        Literal["kind", "these"],
        N_("Intervals that tell of tasks of this kind, or of other samples of these tasks"),
    ] = "kind",
) -> Result:
    from cuecard.annotate.results.scores import interval_groups, run_scores
    from cuecard.annotate.task_feedback import disputed_runs
    from cuecard.tui.commands.run_output import spent_line
    from cuecard.tui.commands.score_json import results_json
    from cuecard.tui.commands.score_output import print_scores

    pool = pool_of(ours.workspace, runs, (judge,) if judge else (), only)
    usage = pool.usage
    if only:
        kept = {row.trial.id for row in pool.rows}
        usage = [used for used in usage if used.trial_id in kept]
    disputed = disputed_runs(ours.workspace)
    cut = Cut.of(by, measure, sort, across, these=interval == "these")
    asked = by or measure or across or cut.these or (ours.form and not ours.json)
    plain = len(pool.runs) == 1 and not asked
    groups = interval_groups(pool, whole=ours.json) if ours.json or plain else ()
    corrections: Corrections | None = None
    if ours.workspace.verdicts.labelled_trials([run.id for run in pool.runs]):
        # What corrects scores takes a while to be loaded.
        from cuecard.annotate.results.corrected import corrections_in

        corrections = corrections_in(ours.workspace, pool)
    extra = corrected_page(pool, cut, corrections)

    def show() -> None:
        if len({group.scores.agent for group in groups}) > 1:
            page_of(pool, cut).print()
        print_scores(
            run_scores(pool, groups, usage),
            {(g.scores.agent, g.scores.family): g.figures for g in groups},
        )
        if extra:
            Page(extra, share=True).print()

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
        show if plain else page_of(pool, cut, title=_("Scores") if ours.form else "", more=extra),
        lambda: {
            **results_json(pool, groups, usage, tables_of(pool, cut), corrections),
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
    score (`triplet_f1.best`), a count or a dimension, "" for the default order; `these`: intervals on these tasks alone.
    """

    by: tuple[Dimension, ...]
    measures: tuple[str, ...] | None
    sort: str
    across: Dimension | None
    these: bool

    @classmethod
    def of(
        cls, by: Sequence[str], measures: Sequence[str], sort: str, across: str, *, these: bool
    ) -> Cut:
        """Raises `NotFound` for a dimension there is not."""
        from cuecard.annotate.results.comparisons import dimension_named

        told: list[Dimension] = [dimension_named(name) for name in by] or [dimension_named("agent")]
        over = dimension_named(across) if across else None
        if over and over not in told:
            told.append(over)
        return cls(tuple(told), tuple(measures) or None, sort, over, these)


def tables_of(pool: Pool, cut: Cut) -> ScoreTable:
    """One table over all families, for JSON. Raises `NotFound` for a measure that no trial has."""
    from cuecard.annotate.results.scores import score_table

    _check(pool, cut)
    by: tuple[Dimension, ...] = tuple(dict.fromkeys((*cut.by, "family")))
    return _sorted(score_table(pool, by, cut.measures), cut)


def corrected_page(pool: Pool, cut: Cut, corrections: Corrections | None) -> Sequence[Table]:
    """What labels tell of the figures of `page_of`; nothing where nobody labelled."""
    if not corrections:
        return ()
    from cuecard.annotate.results.corrected import corrected_tables
    from cuecard.annotate.results.scores import tables_by_family

    scores = [_sorted(t, cut) for t in tables_by_family(pool, cut.by, cut.measures)]
    return corrected_tables(scores, pool, corrections)


def page_of(pool: Pool, cut: Cut, title: str = "", more: Sequence[Table] = ()) -> Page:
    """A table for each family, or with `across` for each of its figures; then `more`."""
    from cuecard.annotate.results.repeats import of_these_tasks
    from cuecard.annotate.results.score_tables import pivoted, table_of_scores
    from cuecard.annotate.results.scores import tables_by_family

    _check(pool, cut)
    scores = [_sorted(t, cut) for t in tables_by_family(pool, cut.by, cut.measures)]
    scores = [of_these_tasks(each) for each in scores] if cut.these else scores
    if cut.across is None:
        tables = [table_of_scores(each) for each in scores]
    else:
        tables = [pivoted(t, cut.across, column.key) for t in scores for column in t.columns]
    return Page([*tables, *more], title, share=True)


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


_SHOWN = 10


@verb("cuecard rescore 2 --dry-run", *TABLES, json=N_("Print JSON, with every item"))
def rescore(
    ours: Context,
    run: Annotated[int, Help(N_("The run"), metavar="RUN")],
    *,
    revisions: Annotated[
        Sequence[str],
        Help(
            N_("Judge on this revision instead of the newest; may be repeated"),
            "--revision",
            metavar="[TASK@]N",
        ),
    ] = (),
    names: Annotated[
        Sequence[str], Help(N_("Only this judge's verdicts; may be repeated"), "--judge")
    ] = (),
    anew: Annotated[bool, N_("Judge everything again; nothing is kept")] = False,
    dry_run: Annotated[bool, N_("Say what would be judged; call and save nothing")] = False,
    workers: ByWorkers = False,
    reveal: Reveal = False,
) -> Result:
    from cuecard.annotate.results.rescored import report_on
    from cuecard.annotate.results.rescored_tables import figure_tables, item_tables
    from cuecard.core.evaluation.rescoring import plan_rescoring

    if workers and dry_run:
        raise typer.BadParameter(_("give one of them"), param_hint=["--workers", "--dry-run"])
    workspace = ours.workspace
    targets = _targets(workspace, run, revisions)
    plan = plan_rescoring(workspace, run, targets=targets, judges=tuple(names))
    if not plan.changed and not plan.left:
        return Result(
            _("No gold has changed since {run}.").format(run=plan.run.name),
            lambda: {"changed": False, "run": {"name": plan.run.name, "uid": plan.run.uid}},
        )
    outcome = None
    if not plan.changed:
        report = report_on(workspace, plan, None)
    else:
        if not dry_run:
            outcome = _perform(ours, plan, anew=anew, workers=workers)
        elif not anew:
            _check_revisions(ours, plan)
        run_now = outcome.run if outcome else None
        report = report_on(workspace, plan, run_now, anew=anew, sight=ours.sight(reveal=reveal))

    def remarks() -> None:
        if outcome:
            _tell(outcome, quiet=bool(ours.form))

    return Result(
        Page([*figure_tables(report), *item_tables(report)])
        if ours.form
        else lambda: _print(report),
        lambda: {"changed": True, **report.model_dump(mode="json")},
        code=1 if plan.left or (outcome and outcome.failed) else 0,
        remarks=remarks,
    )


def _targets(workspace: Workspace, run: int, revisions: Sequence[str]) -> dict[str, int]:
    """`3` for a run of one task, `TASK@3` for any. Raises `BadParameter`, and `NotFound` for the run."""
    found: dict[str, int] = {}
    for text in revisions:
        task, at, number = text.rpartition("@")
        if not number.isdecimal() or int(number) < 1:
            what = _("{text!r} names no revision; it reads like 3 or task@3").format(text=text)
            raise typer.BadParameter(what, param_hint="--revision")
        if not at:
            tasks = {trial.task_id for trial in workspace.runs.trials(run)}
            if len(tasks) != 1:
                what = _("the run has several tasks: write task@{n}").format(n=number)
                raise typer.BadParameter(what, param_hint="--revision")
            (task,) = tasks
        found[task] = int(number)
    return found


def _perform(ours: Context, plan: RescorePlan, *, anew: bool, workers: bool) -> RescoreOutcome:
    from cuecard.core.evaluation.judging import OnProgress
    from cuecard.core.evaluation.rescoring import RescoreOutcome, enter_rescoring, rescore_run
    from cuecard.core.evaluation.sharing import within_limits

    config, workspace, person = config_for(ours, plan.judges), ours.workspace, ours.person
    if workers:
        workspace.workers.check()

        async def enter(judges: Sequence[Judge]) -> RunRecord:
            return await enter_rescoring(workspace, plan, judges, by=person, anew=anew)

        run = with_judges(config, plan.judges, enter)
        failed = by_workers(ours, run.id, plan.judges, config)
        left = tuple(each for found in failed.values() for each in found)
        return RescoreOutcome(run=ours.outlasting(workspace.runs.get, run.id), failed=left)
    with Progress(config.currency) as progress:

        def begin(judge: str) -> OnProgress:
            progress.begin(judge)
            return progress.moved

        async def work(judges: Sequence[Judge]) -> RescoreOutcome:
            return await rescore_run(
                workspace,
                plan,
                judges,
                by=person,
                anew=anew,
                on_progress=begin,
                on_call=progress.called,
            )

        outcome = with_judges(config, plan.judges, work, lambda hub: within_limits(workspace, hub))
    progress.report()
    return outcome


def _check_revisions(ours: Context, plan: RescorePlan) -> None:
    """Raises `NotAllowed` and `ConfigError` as the rescoring itself would."""
    from cuecard.core.evaluation.rescoring import check_judges

    refs = with_judges(config_for(ours, plan.judges), plan.judges, _refs)
    check_judges(ours.workspace, plan, refs)


async def _refs(judges: Sequence[Judge]) -> list[PlayerRef]:
    return [judge.ref for judge in judges]


def _print(report: RescoreReport) -> None:
    from cuecard.annotate.results.rescored_tables import figure_tables, item_tables
    from cuecard.tui.commands.output import print_tables

    print_tables(figure_tables(report))
    for each in item_tables(report):
        # Texts, not figures: they wrap.
        table(each.title, each.headings, [[cell.text for cell in line] for line in each.lines])
        for remark in each.notes:
            prose(remark)


def _tell(outcome: RescoreOutcome, *, quiet: bool) -> None:
    for failure in outcome.failed[:_SHOWN]:
        note(
            _("trial {id} is not judged: {reason}").format(
                id=failure.trial_id, reason=failure.reason
            )
        )
    if not quiet:
        say(
            _("The rescored trials are run {id}, “{name}”.").format(
                id=outcome.run.id, name=outcome.run.name
            )
        )

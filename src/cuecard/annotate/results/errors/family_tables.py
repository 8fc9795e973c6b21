"""Error tables of single families: behaviour at ambiguous checkpoints, fact tasks by size, facts found by call."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from cuecard.annotate.results.errors.behaviour_tables import mean_cell, means_of
from cuecard.annotate.results.errors.groups import (
    By,
    Group,
    arm_heading,
    groups_of,
    notes_of,
    title,
)
from cuecard.annotate.results.errors.rates import across, level, number, share, share_of
from cuecard.annotate.results.errors.report import (
    ArmErrors,
    ChainErrors,
    CohortAt,
    CurveAt,
    ProfileRate,
    error_report,
)
from cuecard.annotate.results.pool import Pool
from cuecard.annotate.results.words import dimension_word, value_word
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.families.checkpoints.gold import AMBIGUITY_WORDS, AmbiguityType
from cuecard.core.families.checkpoints.score import Profile
from cuecard.core.i18n import N_, _, joined, listed
from cuecard.core.scoring.breakdowns import FEWEST, LEAST
from cuecard.core.scoring.measures import PROFILE_LABELS, measure_label
from cuecard.core.tables.table import Cell, Shown, Statistic, Table

STATUS_WORDS: dict[CheckpointStatus, str] = {
    CheckpointStatus.AMBIGUITY_DETECTED: N_("asked about the ambiguity"),
    CheckpointStatus.WRONG_AMBIGUITY_DETECTED: N_("asked about something else"),
    CheckpointStatus.CORRECT_ANSWER: N_("right answer"),
    CheckpointStatus.WRONG_ANSWER: N_("wrong answer"),
    CheckpointStatus.MISSED_AMBIGUITY_CORRECT: N_("missed the ambiguity, right answer"),
    CheckpointStatus.MISSED_AMBIGUITY_WRONG: N_("missed the ambiguity, wrong answer"),
    CheckpointStatus.SEARCH_ONLY: N_("searched only"),
    CheckpointStatus.TASK_COMPLETED: N_("task completed"),
}
_Of = Callable[[ProfileRate], Cell]


def profile_tables(pool: Pool) -> tuple[Table, ...]:
    """Shares of the behaviour profiles and their pass rates, the same by ambiguity and by difficulty, and the statuses
    of agents' turns. Empty without checkpoint tasks.
    """
    report = error_report(pool, families=("checkpoints",))
    arms = [(arm, arm.chain) for arm in report.arms if arm.chain]
    return tuple(_tables(arms, report.by, report.notes.get("checkpoints", ()))) if arms else ()


def _tables(
    arms: Sequence[tuple[ArmErrors, ChainErrors]], by: By, notes: tuple[str, ...]
) -> Iterator[Table]:
    heading = arm_heading(by)
    limits = listed(f"{arm.name} {chain.k:g}" for arm, chain in arms)
    divide = _("Guesses after more than K searches are long ones; K: {limits}.").format(
        limits=limits
    )
    yield _table(
        _("how ambiguities are met"),
        heading,
        [(arm.name, chain.profiles) for arm, chain in arms],
        lambda each: share(each.share),
        (_("Percent of reached ambiguous checkpoints, intervals 95%, by task."), divide, *notes),
    )
    passes = _("Percent of the checkpoints with this profile that were advanced, and their number.")
    yield _table(
        _("pass rate by profile"),
        heading,
        [(arm.name, chain.profiles) for arm, chain in arms],
        lambda each: share_of(each.passed),
        (passes, divide),
    )
    kinds: tuple[tuple[str, str, Mapping[str, Mapping[str, tuple[ProfileRate, ...]]]], ...] = (
        (
            _("pass rate by kind of ambiguity"),
            _("Ambiguity"),
            {
                arm.name: {
                    _(AMBIGUITY_WORDS[AmbiguityType(n)]): p for n, p in chain.by_ambiguity.items()
                }
                for arm, chain in arms
            },
        ),
        (
            _("pass rate by difficulty"),
            dimension_word("difficulty"),
            {
                arm.name: {value_word("difficulty", n): p for n, p in chain.by_difficulty.items()}
                for arm, chain in arms
            },
        ),
    )
    for words, second, found in kinds:
        lines = [
            (f"{name} · {kind}", profiles)
            for name, by_kind in found.items()
            for kind, profiles in by_kind.items()
        ]
        if lines:
            yield _table(
                words, f"{heading} · {second}", lines, lambda each: share_of(each.passed), (passes,)
            )
    if any(status.rate.of for _arm, chain in arms for status in chain.statuses):
        yield _read(arms)


def _table(
    words: str,
    heading: str,
    lines: Sequence[tuple[str, tuple[ProfileRate, ...]]],
    of: _Of,
    notes: Sequence[str],
) -> Table:
    found: list[Sequence[Shown]] = []
    for name, profiles in lines:
        whole = profiles[0].share
        trials = dict.fromkeys(trial for each in profiles for trial in each.share.trials)
        found.append((name, number(whole.of, tuple(trials)), *map(of, profiles)))
    labels = [_(PROFILE_LABELS[profile]) for profile in Profile]
    return Table.of(
        title=title("checkpoints", words),
        headings=(heading, _("Ambiguities"), *labels),
        lines=found,
        notes=notes,
    )


def _read(arms: Sequence[tuple[ArmErrors, ChainErrors]]) -> Table:
    by_name = [(arm.name, {s.status: s.rate for s in chain.statuses}) for arm, chain in arms]
    present = [
        status for status in CheckpointStatus if any(rates[status].count for _n, rates in by_name)
    ]
    return across(
        title("checkpoints", _("how turns were read")),
        _("Status"),
        by_name,
        [
            (_("turns"), lambda rates: number(next(iter(rates.values())).of)),
            *(
                (_(STATUS_WORDS[status]), lambda rates, status=status: share(rates[status]))
                for status in present
            ),
        ],
        (_("Percent of the agent's turns that the responder read so, intervals 95%, by task."),),
    )


MEASURES = ("pass_at_1", "fcr", "hit_rate", "tool_calls", "premature_stop")


def tier_tables(pool: Pool) -> tuple[Table, ...]:
    """A line for each arm and tier, and one for all tiers if an arm has several. Means over tasks of the mean over
    samples; as in FORMATS, paraworld, trials without tool calls count zeros. Empty without fact tasks.
    """
    whole = {group.values: group for group in groups_of(pool, families=("facts",)) if group.judged}
    if not whole:
        return ()
    arms = next(iter(whole.values())).by
    tiers = groups_of(pool, (*arms, "tier"), ("facts",))
    lines: list[Sequence[Shown]] = []
    for values, group in whole.items():
        mine = [tier for tier in tiers if tier.values[:-1] == values and tier.judged]
        lines += [_line(tier) for tier in mine]
        lines += [_line(group, _("{arm} · all").format(arm=group.name))] if len(mine) > 1 else []
    notes = notes_of(pool, tuple(whole.values())).get("facts", ())
    return (
        Table.of(
            title=title("facts", _("by tier")),
            headings=(
                f"{arm_heading(arms)} · {dimension_word('tier')}",
                _("Trials"),
                _("Tasks"),
                *map(measure_label, MEASURES),
            ),
            lines=lines,
            notes=(
                _("Easy: 1 to 5 facts, medium: 6 to 10, hard: 11 and more."),
                _("Means over tasks, intervals 95%, by task; shares in percent."),
                *notes,
            ),
        ),
    )


def _line(group: Group, name: str = "") -> Sequence[Shown]:
    found: Mapping[str, Statistic] = means_of(group, MEASURES)
    return (
        name or group.name,
        number(len(group.judged), group.trials),
        number(group.tasks),
        *(mean_cell(group, measure, found.get(measure)) for measure in MEASURES),
    )


FIRST = 10
EVERY = 5


def curve_tables(pool: Pool, *, k_trunc: int | None = None) -> tuple[Table, ...]:
    """New facts, coverage and hit precision at the k-th tool call, for each arm over a fixed cohort and over all
    trials: the first `FIRST` calls, then every fifth and the last. `k_trunc`: the last call of the cohort. Empty
    without fact tasks.
    """
    report = error_report(pool, families=("facts",), k_trunc=k_trunc)
    below = (
        _("Coverage and precision in percent; intervals 95%, by task."),
        *report.notes.get("facts", ()),
    )
    tables: list[Table] = []
    for arm in report.arms:
        if arm.facts is None or not arm.facts.points:
            continue
        cohort = arm.facts.cohort
        tables += [
            _curve_table(
                arm.name, cohort_words(cohort.trials), cohort.points, (cohort_note(cohort), *below)
            ),
            _curve_table(arm.name, all_words(), arm.facts.points, (*_of_all(), *below)),
        ]
    return tuple(tables)


def cohort_words(*trials: int) -> str:
    """The title of the paper's curves, with the number of trials of each arm."""
    return _("fixed cohort (paper), n = {n}").format(n=listed(f"{n:,}" for n in trials))


def all_words() -> str:
    return _("all trials (ours)")


def cohort_note(cohort: CohortAt) -> str:
    """Which trials the cohort consists of, and why."""
    told = _("The trials with at least {k} calls, the same at every call.").format(k=cohort.k_trunc)
    match cohort.rule:
        case "asked":
            return told if cohort.trials else _("No trial made {k} calls.").format(k=cohort.k_trunc)
        case "least":
            why = _("It is the largest number that {n} trials reach.").format(n=LEAST)
        case "share":
            why = _(
                "Fewer than {n} trials made a call: it is the largest number that {percent}% of them reach."
            ).format(n=LEAST, percent=FEWEST)
    return joined((told, why)) if cohort.trials else why


def _of_all() -> tuple[str, ...]:
    return (
        _("Cohort: trials with at least k calls; new facts and hit precision are means over them."),
        _("Fact coverage is the mean over all trials: one that stopped keeps what it had."),
    )


def _curve_table(arm: str, words: str, points: Sequence[CurveAt], notes: tuple[str, ...]) -> Table:
    return Table.of(
        title=_("Fact tasks: {arm}, call by call, {which}").format(arm=arm, which=words),
        headings=(_("Call"), _("Cohort"), _("New facts"), _("Fact coverage"), _("Hit precision")),
        lines=map(_curve_row, chosen(points)),
        notes=notes,
    )


def chosen(points: Sequence[CurveAt]) -> tuple[CurveAt, ...]:
    """The points that a table shows."""
    return tuple(
        point for point in points if point.k <= FIRST or point.k % EVERY == 0 or point is points[-1]
    )


def _curve_row(point: CurveAt) -> Sequence[Shown]:
    return (
        str(point.k),
        number(point.cohort, point.new_facts.trials),
        level(point.new_facts),
        share(point.fcr),
        share(point.hit_precision),
    )

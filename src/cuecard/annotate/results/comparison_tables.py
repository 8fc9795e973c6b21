"""Tables of comparisons between arms (agents, runs, settings, judges)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS
from cuecard.annotate.results.pairing import Comparison, Contrast, LeftOut
from cuecard.annotate.results.score_tables import cell_of
from cuecard.annotate.results.scores import column_label
from cuecard.annotate.results.words import (
    NAMED,
    amount,
    dimension_word,
    in_sentence,
    shown,
    value_word,
)
from cuecard.core.i18n import _, headed, listed
from cuecard.core.scoring.measures import COUNTS, measure_label
from cuecard.core.tables.table import Cell, Row, Shown, Table, cell, difference

WORST = 10


def comparison_tables(found: Sequence[Comparison], *, tasks: int = WORST) -> tuple[Table, ...]:
    """For each family: differences (a line for each measure and arm) with wins, ties and losses, cost and tokens, what
    was left out, and the `tasks` that differ most in the first measure.
    """
    tables: list[Table] = []
    for family in dict.fromkeys(one.family for one in found):
        mine = [one for one in found if one.family == family]
        tables.append(difference_table(mine))
        if any(map(_calls_models, mine[0].contrasts)):
            tables.append(spending_table(mine))
        if any(anything_left_out(contrast.left_out) for contrast in mine[0].contrasts):
            tables.append(left_out_table(mine[0]))
        if tasks:
            tables += worst_tables(mine[0], tasks)
    return tuple(tables)


def arm_word(found: Comparison, name: str) -> str:
    return value_word(found.dimension, name, found.names)


def against(found: Comparison, contrast: Contrast) -> str:
    """`beta against alpha`."""
    return _("{arm} against {base}").format(
        arm=arm_word(found, contrast.arm), base=arm_word(found, contrast.base)
    )


def difference_table(
    found: Sequence[Comparison],
    *,
    percent: bool = False,
    parts: Sequence[tuple[str, Comparison]] = (),
) -> Table:
    """Comparisons of one family: both means, the paired difference, wins/ties/losses and number of tasks; if there are
    any, what else differs between the arms and how many trials are unpaired. `parts`: comparisons of parts of the
    trials (of each agent) to append, by name.
    """
    every = [("", one) for one in found] + list(parts)
    contrasts = [contrast for _part, one in every for contrast in one.contrasts]
    several = any(len(one.contrasts) > 1 for _part, one in every)
    lines: list[Sequence[Shown]] = []
    notes: dict[str, None] = {}
    for part, one in every:
        own = [note for note in one.notes if note not in notes]
        notes |= dict.fromkeys(headed(part, note) for note in own)
        label = f"{part} · {_label(one)}" if part else _label(one)
        for contrast in one.contrasts:
            base, arm = _trials(contrast)
            lines.append(
                (
                    cell(
                        f"{label} · {arm_word(one, contrast.arm)}{alone_text(one, contrast)}",
                        trials=base + arm,
                    ),
                    difference(
                        contrast.difference,
                        count_text(one.measure, contrast) if one.measure in COUNTS else "",
                        percent=percent,
                        trials=base + arm,
                    ),
                    f"{contrast.wins}/{contrast.ties}/{contrast.losses}",
                    cell_of(one.measure, contrast.arm_mean, percent=percent, trials=arm),
                    cell_of(one.measure, contrast.base_mean, percent=percent, trials=base),
                    _chance(contrast.sign_test),
                    *((_chance(contrast.sign_test_holm),) if several else ()),
                    contrast.difference.n,
                    *_circumstances(contrast, contrasts),
                )
            )
    notes[
        _(
            "Differences are paired by task; intervals are 95%, by resampling tasks, each by itself, however many there"
            " are. Win, tie and loss count tasks."
        )
    ] = None
    if several:
        notes[
            _("p, Holm: adjusted for how many arms are held against the base by one measure.")
        ] = None
    return Table.of(
        _("{family}: compared by {dimension}, against {base}").format(
            family=_(FAMILY_WORDS[found[0].family]),
            dimension=in_sentence(found[0].dimension),
            base=arm_word(found[0], found[0].base),
        ),
        (
            _("Measure"),
            _("difference"),
            _("win/tie/loss"),
            _("mean"),
            _("mean of base"),
            _("sign test p"),
            *((_("p, Holm"),) if several else ()),
            _("n tasks"),
            *((_("also differ in"),) if any(one.differs for one in contrasts) else ()),
            *((_("unpaired trials"),) if any(one.unpaired for one in contrasts) else ()),
        ),
        lines,
        notes,
    )


def _chance(p: float | None) -> Cell:
    least = 0.0005
    return Cell("–" if p is None else f"{p:.3f}" if p >= least else "<0.001", value=p)


def alone_text(found: Comparison, contrast: Contrast) -> str:
    """` (beta alone)`, a suffix for a result that is based on one agent of several."""
    if not contrast.alone:
        return ""
    agent = value_word("agent", contrast.alone, found.names)
    return " " + _("({agent} alone)").format(agent=agent)


def _circumstances(contrast: Contrast, contrasts: Sequence[Contrast]) -> Iterator[str | int]:
    """What else differs between the arms, and the number of unpaired trials: each if any of `contrasts` has some."""
    if any(one.differs for one in contrasts):
        yield listed(map(dimension_word, contrast.differs)) or "–"
    if any(one.unpaired for one in contrasts):
        yield contrast.unpaired


def count_text(measure: str, contrast: Contrast) -> str:
    """A difference of counts or amounts with its sign: `+120 [+31, +204]`."""
    found = contrast.difference
    if found.value is None:
        return "–"

    def signed(value: float) -> str:
        text = amount(measure, abs(value))
        if not any(digit in text for digit in "123456789"):
            return text
        return ("+" if value > 0 else "-") + text

    if found.interval is None:
        return signed(found.value)
    low, high = map(signed, found.interval)
    return f"{signed(found.value)} [{low}, {high}]"


def spending_table(found: Sequence[Comparison]) -> Table:
    """Cost and tokens of a trial's agent over the paired tasks of the first measure, and cost per point of each."""
    lines: list[Sequence[Shown]] = []
    first = found[0]
    for at, contrast in enumerate(first.contrasts):
        base, arm = _trials(contrast)
        spent = contrast.spending
        lines.append(
            (
                arm_word(first, contrast.arm),
                cell_of("cost", spent.arm_cost, trials=arm),
                cell_of("cost", spent.base_cost, trials=base),
                cell_of("tokens", spent.arm_tokens, trials=arm),
                cell_of("tokens", spent.base_tokens, trials=base),
                *(_point(one.contrasts[at]) for one in found),
            )
        )
    return Table.of(
        _("{family}: cost of a trial, against {base}").format(
            family=_(FAMILY_WORDS[first.family]), base=arm_word(first, first.base)
        ),
        (
            dimension_word(first.dimension),
            _("cost"),
            _("cost of base"),
            _("tokens"),
            _("tokens of base"),
            *(_("cost per point of {measure}").format(measure=_label(one)) for one in found),
        ),
        lines,
        (
            _("Cost per point: what a trial costs more for each percentage point gained."),
            _("Cost and tokens of the agent's own calls, over all attempts of a trial."),
        ),
    )


def _calls_models(contrast: Contrast) -> bool:
    spent = contrast.spending
    told = (spent.arm_tokens, spent.base_tokens, spent.arm_cost, spent.base_cost)
    return any(each.value for each in told)


def anything_left_out(out: LeftOut) -> bool:
    return out != LeftOut()


def left_out_table(found: Comparison) -> Table:
    """What each contrast is not based on."""
    lines: list[Sequence[Shown]] = []
    notes: list[str] = []
    for contrast in found.contrasts:
        out = contrast.left_out
        name = against(found, contrast)
        lines.append(
            (
                name,
                len(out.arm_only),
                len(out.base_only),
                len(out.other_revisions),
                len(out.undefined),
                contrast.unpaired,
                out.unjudged_arm + out.unjudged_base,
                out.open_arm + out.open_base,
            )
        )
        notes += _left_out_notes(name, contrast)
    return Table.of(
        _("{family}: what was left out").format(family=_(FAMILY_WORDS[found.family])),
        (
            dimension_word(found.dimension),
            _("tasks of the arm only"),
            _("tasks of the base only"),
            _("other revisions"),
            _("without a value"),
            _("unpaired trials"),
            _("unjudged trials"),
            _("open trials"),
        ),
        lines,
        notes,
    )


def worst_tables(found: Comparison, tasks: int = WORST) -> tuple[Table, ...]:
    """For each contrast, the tasks with the largest differences, where any differs."""
    apart = (one for one in found.contrasts if any(task.difference for task in one.tasks))
    return tuple(worst_table(found, one, tasks) for one in apart)


def worst_table(
    found: Comparison, contrast: Contrast, tasks: int, titles: Mapping[str, str] | None = None
) -> Table:
    """The tasks with the largest differences; with `titles` by id, by their titles, and the ids last."""
    return Table.of(
        _("{family}: tasks that differ most in {measure}, {arms}").format(
            family=_(FAMILY_WORDS[found.family]),
            measure=_label(found),
            arms=against(found, contrast),
        ),
        (
            _("Task"),
            arm_word(found, contrast.arm),
            arm_word(found, contrast.base),
            _("difference"),
            *((_("Id"),) if titles else ()),
        ),
        _worst(found, contrast, tasks, titles or {}),
    )


def _worst(
    found: Comparison, contrast: Contrast, tasks: int, titles: Mapping[str, str]
) -> Iterator[Row]:
    # Numbers of revisions are a workspace's own; they are told only where a task has several.
    revisions = Counter(one.task for one in contrast.tasks)
    for one in contrast.tasks[:tasks]:
        name = titles.get(one.task) or one.task
        name = name if revisions[one.task] == 1 else f"{name} r{one.revision}"
        both = one.arm_trials + one.base_trials
        figures = ((one.arm, one.arm_trials), (one.base, one.base_trials), (one.difference, both))
        yield (
            cell(name, trials=both),
            *(
                Cell(number(found.measure, value), value=value, trials=trials)
                for value, trials in figures
            ),
            *((cell(one.task, trials=both),) if titles else ()),
        )


def number(measure: str, value: float) -> str:
    """A value without an interval, as figures of its measure are written."""
    return amount(measure, value) if measure in COUNTS else f"{value:.3f}"


def _left_out_notes(name: str, contrast: Contrast) -> Iterator[str]:
    out = contrast.left_out
    told: Iterable[tuple[str, tuple[str, ...]]] = (
        (_("{arms}: only the arm has {tasks}."), out.arm_only),
        (_("{arms}: only the base has {tasks}."), out.base_only),
        (_("{arms}: of other revisions: {tasks}."), out.other_revisions),
    )
    for text, tasks in told:
        if tasks:
            yield text.format(arms=name, tasks=listed(tasks, NAMED))


def _point(contrast: Contrast) -> Cell:
    statistic = contrast.spending.cost_per_point
    base, arm = _trials(contrast)
    return Cell(shown("cost", statistic), statistic=statistic, trials=base + arm)


def _trials(contrast: Contrast) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return contrast.base_trials, contrast.arm_trials


def _label(found: Comparison) -> str:
    if not found.taken.of_several:
        return measure_label(found.measure)
    samples = max(arm.counts.samples for arm in found.arms)
    return column_label(found.measure, found.taken, samples)

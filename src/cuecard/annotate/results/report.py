"""Builds a report from a workspace and runs: summary, tables and plots, method, and prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, get_args

from cuecard import __version__
from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS
from cuecard.annotate.results import judge_card, report_method
from cuecard.annotate.results.comparisons import Comparison, Contrast, compare
from cuecard.annotate.results.contamination import contamination_tables, exposures
from cuecard.annotate.results.corrected import corrections_in, tables_of_labels
from cuecard.annotate.results.papers import PAPER_TABLES, keyed, paper_table
from cuecard.annotate.results.plots.builders import plots_of
from cuecard.annotate.results.plots.model import plot_table
from cuecard.annotate.results.pool import Pool, Row, gather
from cuecard.annotate.results.report_formats import (
    HUMAN,
    PAYER,
    Block,
    ParagraphBlock,
    PlotBlock,
    Report,
    Section,
    TableBlock,
    Term,
    TermsBlock,
    listed,
)
from cuecard.annotate.results.row_samples import figure_key
from cuecard.annotate.results.score_tables import one_each, runs_table
from cuecard.annotate.results.scores import score_table
from cuecard.annotate.results.words import in_sentence
from cuecard.core.config import load_prompt, prompt_names
from cuecard.core.config_schema import ContaminationConfig
from cuecard.core.errors import CuecardError, NotAllowed
from cuecard.core.evaluation.scores import OnCount
from cuecard.core.i18n import N_, _, current_language, ngettext
from cuecard.core.records import PromptUse
from cuecard.core.scoring.aggregate import statistics_of
from cuecard.core.scoring.measures import COUNTS, HEADLINES, measure_label
from cuecard.core.tables.table import Statistic, Table
from cuecard.core.tasks.models import FAMILIES, Family, TaskLanguage

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


NBSP = "\u00a0"
_MINUS = str.maketrans("-", "\u2212")


def summary_terms(pool: Pool) -> TermsBlock:
    """An entry for each family and judge of the pool, in the order of families."""
    judges = pool.values("judge")
    found: list[Term] = []
    for family in FAMILIES:
        for judge in judges:
            mine = Pool(
                runs=pool.runs,
                rows=tuple(r for r in pool.rows if (r.family, r.judged_by) == (family, judge)),
            )
            if mine.rows:
                found.append(_of_family(mine, family, judge if len(judges) > 1 else ""))
    return TermsBlock("", tuple(found))


def caution() -> str:
    """A caveat for all sentences that name the best of several."""
    return _(
        "Where an agent was chosen for its mean among several, the comparisons are somewhat too favourable to it;"
        " intervals are not adjusted for how many comparisons there are. They tell of the choice of tasks, not of other"
        " prompts, simulators or judges."
    )


def _of_family(pool: Pool, family: Family, judge: str) -> Term:
    measure = HEADLINES[family][0]
    head = _("{family}, {measure}").format(
        family=_(FAMILY_WORDS[family]), measure=measure_label(measure)
    )
    if judge:
        head = _("{head}, by judge {judge}").format(head=head, judge=judge)
    agents = sorted({row.value("agent") for row in pool.rows if row.figures})
    if not agents:
        return Term(head, (_("No trial has been judged, so nothing can be said."),))
    means = {
        line.value("agent"): line.figures.get(figure_key(measure, statistics_of(measure)[0]))
        for line in score_table(pool, ("agent",), (measure,)).lines
    }
    if len(agents) == 1:
        told = _("{agent} alone was run: {mean}. There is nothing to compare it with.")
        mean = _mean(means.get(agents[0]), measure)
        return Term(head, (told.format(agent=agents[0], mean=mean),))
    leader = max(agents, key=lambda agent: _height(means.get(agent)))
    try:
        found = compare(pool, "agent", leader, family=family, measure=measure)
    except CuecardError as error:
        why = _("The agents cannot be compared. {reason}")
        return Term(head, (why.format(reason=error.message or error.title),))
    return Term(head, tuple(_compared(found, means.get(leader))))


def _height(mean: Statistic | None) -> float:
    """What agents are ordered by; those without a mean last."""
    return -1.0 if mean is None or mean.value is None else mean.value


def _compared(found: Comparison, best: Statistic | None) -> Iterator[str]:
    """Sentences that compare the arm with the highest mean, `best`, with each other one."""
    tied = [c for c in found.contrasts if c.difference.value == 0]
    if len(tied) == len(found.contrasts):
        names = listed((found.base, *(contrast.arm for contrast in found.contrasts)))
        yield _("{agents} have the same mean, {mean}.").format(
            agents=names, mean=_mean(best, found.measure)
        )
    else:
        yield _("Of {n} agents {agent} has the highest mean, {mean}.").format(
            n=len(found.contrasts) + 1, agent=found.base, mean=_mean(best, found.measure)
        )
        yield from (_contrast(contrast, found) for contrast in found.contrasts)
    if found.differs:
        yield _("The agents differ also in {what}, so a difference may be due to that.").format(
            what=in_sentence(*found.differs)
        )


def _contrast(contrast: Contrast, found: Comparison) -> str:
    # Told from the leader's side, so that a lead is positive.
    gap = contrast.difference
    n = len(contrast.tasks)
    beside = ngettext(
        "Against {other} on {n} shared task", "Against {other} on {n} shared tasks", n
    ).format(other=contrast.arm, n=n)
    if gap.value is None:
        return _("{beside} there is no difference to tell: {reason}.").format(
            beside=beside, reason=gap.reason
        )
    told = _points(found.measure).format(n=_signed(-gap.value, found.measure))
    tally = _("better on {wins}, worse on {losses}, level on {ties}").format(
        wins=contrast.losses, losses=contrast.wins, ties=contrast.ties
    )
    if gap.interval is None:
        return _(
            "{beside}: {told} ({tally}); without an interval ({reason}) it cannot be told from noise."
        ).format(beside=beside, told=told, tally=tally, reason=gap.no_interval)
    low, high = -gap.interval[1], -gap.interval[0]
    between = f"[{_signed(low, found.measure)}, {_signed(high, found.measure)}]"
    if low > 0:
        verdict = _(
            "the interval lies above zero, so the choice of tasks alone hardly explains the lead"
        )
    elif high < 0:
        verdict = _("the interval lies below zero: on these tasks the other is better")
    else:
        verdict = _(
            "the interval includes zero, so this may be noise: these tasks do not tell which is better"
        )
    return _("{beside}: {told} {between} ({tally}); {verdict}.").format(
        beside=beside, told=told, between=between, tally=tally, verdict=verdict
    )


def _points(measure: str) -> str:
    return "{n}" if measure in COUNTS else _("{n} points")


def _mean(mean: Statistic | None, measure: str) -> str:
    """`61.3% [55.0, 67.2] (n = 12)`."""
    if mean is None or mean.value is None:
        return "–"
    told = _plain(mean.value, measure) + ("" if measure in COUNTS else "%")
    if mean.interval:
        low, high = mean.interval
        told += f" [{_plain(low, measure)}, {_plain(high, measure)}]"
    return f"{told} (n{NBSP}={NBSP}{mean.n:,})"


def _plain(value: float, measure: str) -> str:
    return f"{value:,.2f}" if measure in COUNTS else f"{100 * value:.1f}"


def _signed(value: float, measure: str) -> str:
    """With its sign; a zero has none."""
    text = f"{value:+,.2f}" if measure in COUNTS else f"{100 * value:+.1f}"
    zero = not float(text.replace(",", ""))
    return text.lstrip("+-") if zero else text.translate(_MINUS)


def prompts_table(workspace: Workspace, pool: Pool) -> Table | None:
    """Each prompt with its users and their numbers of calls; None if no call has one."""
    calls: Counter[tuple[str, str, str]] = Counter()
    for run in pool.runs:
        for use in workspace.prompts.used(run.id):
            calls[use.payer, _player(use), use.hash] += use.calls
    if not calls:
        return None
    names = _embedded()
    return Table.of(
        title=_("Prompts"),
        headings=(_("Used by"), _("for"), _("prompt"), _("calls"), _("hash (SHA-256)")),
        lines=[
            (
                player,
                _(PAYER[payer]) if payer in PAYER else payer,
                names.get(digest, _("a prompt of the project's own")),
                f"{n:,}",
                digest,
            )
            for (payer, player, digest), n in sorted(calls.items())
        ],
        notes=(
            _("Calls of all attempts. The hash is of the prompt's text before anything is put in."),
        ),
    )


def _player(use: PromptUse) -> str:
    return use.player if use.payer in ("agent", "conclusion", "judge") else "–"


def _embedded() -> dict[str, str]:
    """Name and language by hash."""
    return {
        load_prompt(name, language).hash: f"{name}.{language}"
        for name in sorted(prompt_names())
        for language in get_args(TaskLanguage)
    }


Doing = Callable[[str], None]
PLOTS = "plots"
TRIALS = "trials"
TITLES: dict[str, str] = {
    "main": N_("Main results"),
    "leaderboard": N_("Leaderboard"),
    "repeats": N_("Samples of the same tasks"),
    "differences": N_("Paired differences"),
    "settings": N_("Settings compared"),
    "interaction": N_("Interaction"),
    "errors": N_("Errors"),
    "causes": N_("Why trials failed"),
    "compactions": N_("Compactions"),
    "profiles": N_("Behaviour profiles"),
    "tiers": N_("Tiers"),
    "curves": N_("Call by call"),
    "tools": N_("Tools"),
}
"""Paper tables as sections, in their order."""


def report_of(
    workspace: Workspace,
    runs: Sequence[int],
    *,
    title: str = "",
    judges: Sequence[str] = (),
    plots: bool = True,
    contamination: ContaminationConfig | None = None,
    made_on: date | None = None,
    on_count: OnCount | None = None,
    doing: Doing = lambda what: None,
) -> Report:
    """The report on these runs, by the first judge that each was entered with or by `judges`. `contamination`: what
    else gives the benchmark away besides its questions and gold. `made_on`: the date in it, by default today in UTC;
    nothing else depends on when or where it is made. `doing` is called with what is being done.

    Reads many logs, so call it off the screen's thread. Raises `NotFound` for an unknown run, `NotAllowed` if no trial
    has ended.
    """
    doing(_("Reading trials"))
    pool = gather(workspace, runs, judges, on_count=on_count)
    if not any(row.trial.termination for row in pool.rows):
        raise NotAllowed(
            _("There is nothing to report yet"),
            _("No trial of these runs has ended."),
            _("Play them first, or name runs that have been played."),
        )
    people = report_method.people_in(pool)
    corrected = keyed("corrected", tables_of_labels(pool, corrections_in(workspace, pool)))
    pool = _unnamed(pool)
    doing(_("Looking for pages that give the benchmark away"))
    met = exposures(workspace, pool, contamination or ContaminationConfig())
    doing(_("Counting"))
    sections = (
        Section("summary", _("Summary"), tuple(_summary(pool))),
        Section("corrected", _("Scores corrected by labels"), tuple(map(TableBlock, corrected))),
        *(
            Section(name, _(TITLES.get(name, name)), tuple(_tables(pool, name)))
            for name in _order()
        ),
        Section(
            "contamination",
            _("Contamination"),
            tuple(TableBlock(table) for table in contamination_tables(pool, met)),
        ),
        Section(PLOTS, _("Plots"), tuple(_plots(pool)) if plots else ()),
        Section(TRIALS, _("Trials and cost"), tuple(_tables(pool, TRIALS))),
        Section("method", _("Method"), tuple(_method(workspace, pool, people, doing))),
        Section(
            "revisions",
            _("Revisions"),
            (TableBlock(report_method.revisions_table(pool), folded=True),),
        ),
    )
    return Report(
        title=title.strip() or listed(dict.fromkeys(run.name for run in pool.runs)),
        language=current_language(),
        program=__version__,
        made_on=made_on or datetime.now(UTC).date(),
        sections=tuple(section for section in sections if section.blocks),
    )


def _unnamed(pool: Pool) -> Pool:
    """The pool with all people who played the user as one user without a name."""
    if all(row.trial.user.kind != HUMAN for row in pool.kinds):
        return pool
    rows: list[Row] = []
    for row in pool.rows:
        user = row.trial.user
        if user.kind == HUMAN:
            nobody = user.model_copy(update={"name": HUMAN})
            trial = row.trial._replace(user=nobody)
            rows.append(row.of_trial(trial))
        else:
            rows.append(row)
    return Pool(runs=pool.runs, rows=tuple(rows))


def _summary(pool: Pool) -> Iterator[Block]:
    if line := report_method.baselines_line(pool):
        yield ParagraphBlock(line)
    yield summary_terms(pool)
    if len(pool.runs) > 1:
        yield ParagraphBlock(
            _("Here the runs are taken together; the tables keep their settings apart.")
        )
    if len(pool.values("agent")) > 2:
        yield ParagraphBlock(caution())
    yield TableBlock(runs_table(pool))


def _order() -> tuple[str, ...]:
    """The paper tables that are sections of their own: those that are known here, then the others."""
    known = [name for name in TITLES if name in PAPER_TABLES]
    others = [name for name in PAPER_TABLES if name not in (*TITLES, PLOTS, TRIALS)]
    return (*known, *others)


def _tables(pool: Pool, name: str) -> Iterator[Block]:
    for table in paper_table(pool, name):
        if table.lines:
            yield TableBlock(table)


def _plots(pool: Pool) -> Iterator[Block]:
    plots = plots_of(pool)
    tables = keyed(PLOTS, [plot_table(plot) for plot in plots])
    for plot, table in zip(plots, tables, strict=True):
        if not plot.missing:
            yield PlotBlock(plot, table)


def _method(workspace: Workspace, pool: Pool, people: int, doing: Doing) -> Iterator[Block]:
    yield TableBlock(report_method.tasks_table(pool))
    agents, users, worlds, judges = report_method.players(pool, people)
    yield agents
    yield report_method.course_terms(pool)
    yield users
    doing(_("Looking for what people decided of the simulator's turns"))
    yield _agreement(
        report_method.simulator_fidelity(workspace, pool),
        _("Fidelity of the simulator"),
        _("Simulator"),
        _(
            "Fidelity of the simulator: none was measured. No person played, re-played or labelled the same turns for this"
            " version of it."
        ),
    )
    yield worlds
    yield judges
    doing(_("Looking for blind labels"))
    yield _agreement(
        report_method.judge_agreement(workspace, pool),
        _("Agreement of the judge with people"),
        _("Judge"),
        _(
            "Agreement of the judge with people: none was measured. Nobody labelled its decisions blind."
        ),
    )
    yield from judge_card.blocks(workspace, pool)
    doing(_("Reading prompts"))
    if table := prompts_table(workspace, pool):
        yield TableBlock(table)
    else:
        yield ParagraphBlock(_("Prompts: no model was called with one."))
    yield _counting(pool)


def _agreement(
    found: Sequence[report_method.AgreementLine], title: str, first: str, without: str
) -> ParagraphBlock | TableBlock:
    return (
        TableBlock(report_method.table_of_agreement(title, first, found))
        if found
        else ParagraphBlock(without)
    )


def _counting(pool: Pool) -> TermsBlock:
    played = len(one_each(pool))
    return report_method.counting_terms(pool, sum(run.trials for run in pool.runs) - played)

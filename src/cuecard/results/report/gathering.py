"""A report from a workspace and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from cuecard import __version__
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import N_, _, current_language
from cuecard.lab.figures import OnCount
from cuecard.results.papers import PAPER_TABLES, keyed, paper_table
from cuecard.results.plots.builders import plots_of
from cuecard.results.plots.tables import plot_sheet
from cuecard.results.pool import Pool, Row, gather
from cuecard.results.report import measuring, method
from cuecard.results.report.model import Block, Drawn, Prose, Report, Section, Tabled, Terms
from cuecard.results.report.prompting import prompts_sheet
from cuecard.results.report.summary import caution, summary_terms
from cuecard.results.report.words import HUMAN, listed
from cuecard.results.trial_counts import one_each, runs_sheet

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

Doing = Callable[[str], None]
PLOTS = "plots"
TRIALS = "trials"
TITLES: dict[str, str] = {
    "main": N_("Main results"),
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
    made_on: date | None = None,
    on_count: OnCount | None = None,
    doing: Doing = lambda what: None,
) -> Report:
    """All that the runs say, by the first judge that each was entered with or by `judges`. `made_on`: the day to put
    on it, today in UTC by default; nothing else in it depends on when or where it was made. `doing` hears what is
    done now.

    Reads many logs; call it off the screen's thread. Raises `NotFound` for an unknown run, `NotAllowed` where no
    trial has ended.
    """
    doing(_("Reading trials"))
    pool = gather(workspace, runs, judges, on_count=on_count)
    if not any(row.trial.termination for row in pool.rows):
        raise NotAllowed(
            _("There is nothing to report yet"),
            _("No trial of these runs has ended."),
            _("Play them first, or name runs that have been played."),
        )
    people = method.people_in(pool)
    pool = _unnamed(pool)
    doing(_("Counting"))
    sections = (
        Section("summary", _("Summary"), tuple(_summary(pool))),
        *(
            Section(name, _(TITLES.get(name, name)), tuple(_tables(pool, name)))
            for name in _order()
        ),
        Section(PLOTS, _("Plots"), tuple(_plots(pool)) if plots else ()),
        Section(TRIALS, _("Trials and cost"), tuple(_tables(pool, TRIALS))),
        Section("method", _("Method"), tuple(_method(workspace, pool, people, doing))),
        Section("revisions", _("Revisions"), (Tabled(method.revisions_sheet(pool), folded=True),)),
    )
    return Report(
        title=title.strip() or listed(dict.fromkeys(run.name for run in pool.runs)),
        language=current_language(),
        program=__version__,
        made_on=made_on or datetime.now(UTC).date(),
        sections=tuple(section for section in sections if section.blocks),
    )


def _unnamed(pool: Pool) -> Pool:
    """People who played the user are one user without a name, as where people and simulators are compared."""
    rows: list[Row] = []
    for row in pool.rows:
        user = row.trial.user
        if user.kind == HUMAN:
            nobody = user.model_copy(update={"name": HUMAN})
            trial = row.trial.model_copy(update={"user": nobody})
            rows.append(row.model_copy(update={"trial": trial}))
        else:
            rows.append(row)
    return Pool(runs=pool.runs, rows=tuple(rows))


def _summary(pool: Pool) -> Iterator[Block]:
    if line := method.baselines_line(pool):
        yield Prose(line)
    yield summary_terms(pool)
    if len(pool.runs) > 1:
        yield Prose(_("Here the runs are taken together; the tables keep their settings apart."))
    if len(pool.values("agent")) > 2:
        yield Prose(caution())
    yield Tabled(runs_sheet(pool))


def _order() -> tuple[str, ...]:
    """The paper tables that are sections of their own: those that are known here, then the others."""
    known = [name for name in TITLES if name in PAPER_TABLES]
    others = [name for name in PAPER_TABLES if name not in (*TITLES, PLOTS, TRIALS)]
    return (*known, *others)


def _tables(pool: Pool, name: str) -> Iterator[Block]:
    for sheet in paper_table(pool, name):
        if sheet.lines:
            yield Tabled(sheet)


def _plots(pool: Pool) -> Iterator[Block]:
    plots = plots_of(pool)
    sheets = keyed(PLOTS, [plot_sheet(plot) for plot in plots])
    for plot, sheet in zip(plots, sheets, strict=True):
        if not plot.missing:
            yield Drawn(plot, sheet)


def _method(workspace: Workspace, pool: Pool, people: int, doing: Doing) -> Iterator[Block]:
    yield Tabled(method.tasks_sheet(pool))
    agents, users, worlds, judges = method.players(pool, people)
    yield agents
    yield method.course_terms(pool)
    yield users
    doing(_("Looking for what people decided of the simulator's turns"))
    yield _agreement(
        measuring.simulator_fidelity(workspace, pool),
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
        measuring.judge_agreement(workspace, pool),
        _("Agreement of the judge with people"),
        _("Judge"),
        _(
            "Agreement of the judge with people: none was measured. Nobody labelled its decisions blind."
        ),
    )
    doing(_("Reading prompts"))
    if sheet := prompts_sheet(workspace, pool):
        yield Tabled(sheet)
    else:
        yield Prose(_("Prompts: no model was called with one."))
    yield _counting(pool)


def _agreement(
    found: Sequence[measuring.Agreeing], title: str, first: str, without: str
) -> Prose | Tabled:
    return Tabled(measuring.agreement_sheet(title, first, found)) if found else Prose(without)


def _counting(pool: Pool) -> Terms:
    played = len(one_each(pool))
    return method.counting_terms(pool, sum(run.trials for run in pool.runs) - played)

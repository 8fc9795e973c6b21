"""What is known of a run's judges and simulators: how far they agree with people who decided blind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.agreement import AgreementTable, Statistic, agreement_table
from cuecard.annotate.agreement.bootstrap import RESAMPLES
from cuecard.annotate.fidelity import agreeing, material
from cuecard.annotate.fidelity.gathering import gather as gather_turns
from cuecard.annotate.fidelity.words import SUBJECT_WORDS as TURN_WORDS
from cuecard.annotate.labelling.comparison import Scope, Subject, columns_of, gather
from cuecard.annotate.labelling.comparison.raters import Rater, references_of
from cuecard.annotate.labelling.comparison.sheets import Cell, Line, Sheet, cell
from cuecard.annotate.labelling.comparison.words import SUBJECT_WORDS, statistic_word
from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen
from cuecard.results.pool import Pool
from cuecard.results.report.words import HUMAN

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

OF_JUDGES: tuple[Subject, ...] = ("gold", "predicted", "row")
STATISTICS = ("percent", "cohen_kappa", "ac1")


class Agreeing(Frozen):
    """A judge or simulator `name` against people, on `n` items of `tasks` tasks. `about`: what was decided, in
    words; `people`: how many of them decided.
    """

    name: str
    about: str
    people: int
    n: int
    tasks: int
    figures: tuple[Statistic | None, ...]


def judge_agreement(
    workspace: Workspace, pool: Pool, *, resamples: int = RESAMPLES
) -> tuple[Agreeing, ...]:
    """Each judge of the pool against what most people said blind (with one person: that person), on the labelled
    items of these runs.
    """
    runs = tuple(run.id for run in pool.runs)
    found: list[Agreeing] = []
    known = gather(workspace, Scope(runs=runs, subject=OF_JUDGES[0]))
    for subject in OF_JUDGES:
        if not known.subjects.get(subject):
            continue
        labelled = (
            known
            if subject == known.subject
            else gather(workspace, Scope(runs=runs, subject=subject))
        )
        references = references_of(labelled)
        for judge in sorted(pool.values("judge")):
            if judge not in labelled.judges or not references:
                continue
            columns = columns_of(labelled, (Rater(role="judge", name=judge), references[0]))
            if columns.cases:
                table = agreement_table(
                    columns.ratings, columns.groups, columns.weights, resamples=resamples
                )
                found.append(
                    Agreeing(
                        name=judge,
                        about=_(SUBJECT_WORDS[subject]),
                        people=len({who for case in columns.cases for who in case.labels}),
                        n=table.paired,
                        tasks=table.groups or 0,
                        figures=tuple(_row(table, name) for name in STATISTICS),
                    )
                )
    return tuple(found)


def simulator_fidelity(
    workspace: Workspace, pool: Pool, *, resamples: int = RESAMPLES
) -> tuple[Agreeing, ...]:
    """Each simulator of the pool, in the very version that played, against what people decided of the same turns of the
    pool's tasks, wherever in the workspace that was.
    """
    players = [row.trial.user for row in pool.rows if row.trial.user.kind != HUMAN]
    if not players:
        return ()
    scope = material.Scope(
        tasks=tuple(sorted(set(pool.values("task")))),
        simulators=tuple(sorted({player.name for player in players})),
    )
    turns = gather_turns(workspace, scope)
    return tuple(
        Agreeing(
            name=each.simulator.name,
            about=_(TURN_WORDS[each.subject]),
            people=len(turns.people),
            n=each.n,
            tasks=each.tasks,
            figures=(each.percent, each.cohen_kappa, each.ac1),
        )
        for each in agreeing.agreements(turns, resamples=resamples)
        if each.by is None and each.simulator in players
    )


def agreement_sheet(title: str, first: str, found: Sequence[Agreeing]) -> Sheet:
    lines: list[Line] = [
        (
            Cell(each.name),
            Cell(each.about),
            Cell(f"{each.people:,}"),
            Cell(f"{each.n:,} ({each.tasks:,})"),
            *(cell(figure) for figure in each.figures),
        )
        for each in found
    ]
    return Sheet(
        view="results",
        title=title,
        headings=(
            first,
            _("decides on"),
            _("people"),
            _("n (tasks)"),
            *(statistic_word(name) for name in STATISTICS),
        ),
        lines=tuple(lines),
        notes=(_("Against what most people said who decided blind; 95% intervals by task."),),
    )


def _row(table: AgreementTable, name: str) -> Statistic | None:
    row = table.row(name)
    return row.statistic if row else None

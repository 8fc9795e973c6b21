"""A report of fidelity laid out as tables, for the screen, the command line and Markdown alike. The view of a
sheet is its section: `cues`, `findings`, `worst`, `outcome` or `meaning`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cuecard.annotate.agreement import Statistic
from cuecard.annotate.fidelity.material import Subject
from cuecard.annotate.fidelity.model import Agreement, Correlation, Fidelity, PeopleAgreement
from cuecard.annotate.fidelity.turns import Turns
from cuecard.annotate.fidelity.words import (
    GROUP_WORDS,
    SUBJECT_WORDS,
    decision_word,
    group_word,
    simulator_word,
)
from cuecard.annotate.labelling.comparison.sheets import Cell, Line, Sheet
from cuecard.annotate.labelling.comparison.words import figure, statistic_word
from cuecard.core.i18n import _

WORST = 10


@dataclass(frozen=True)
class TurnCell(Cell):
    """`turns`: those that it is about; `correlation`: the sessions that it is about."""

    turns: Turns | None = None
    correlation: Correlation | None = None


def fidelity_sheets(found: Fidelity, worst: int = WORST) -> tuple[Sheet, ...]:
    """Every table that has anything to say, section by section; of the worst turns so many."""
    from cuecard.annotate.fidelity.finding_sheets import finding_sheets, worst_sheets
    from cuecard.annotate.fidelity.score_sheets import meaning_sheets, outcome_sheets

    return (
        *cue_sheets(found),
        *finding_sheets(found),
        *worst_sheets(found, worst),
        *outcome_sheets(found),
        *meaning_sheets(found),
    )


def figure_cell(statistic: Statistic | None, turns: Turns | None = None) -> TurnCell:
    return TurnCell(figure(statistic), statistic=statistic, turns=turns)


def count_cell(n: int, turns: Turns | None = None, tasks: int | None = None) -> TurnCell:
    """`120 (8)`: with `tasks`, on how many."""
    return TurnCell(f"{n:,}" if tasks is None else f"{n:,} ({tasks:,})", turns=turns)


def cue_sheets(found: Fidelity) -> Iterator[Sheet]:
    """Agreement on decisions: simulators beside each other and beside people, then what each is made of."""
    for subject, title in SUBJECT_WORDS.items():
        whole = [a for a in found.agreements if a.subject == subject and a.by is None]
        lines = [
            *(_agreement(simulator_word(each.simulator, found.simulators), each) for each in whole),
            *(_of_people(each) for each in found.among_people if each.subject == subject),
        ]
        if not lines:
            continue
        yield Sheet(
            view="cues",
            title=_("{subject}: simulators and people").format(subject=_(title)),
            headings=_headings(_("Simulator")),
            lines=tuple(lines),
        )
        yield from _beside(found, subject)
        for each in whole:
            yield from _parts(found, each)
            yield from _confusion(found, each)


def _headings(first: str) -> tuple[str, ...]:
    names = ("percent", "cohen_kappa", "ac1")
    return (first, _("n (tasks)"), *(statistic_word(name) for name in names))


def _agreement(name: str, each: Agreement) -> Line:
    turns = Turns(
        simulator=each.simulator,
        subject=each.subject,
        by=each.by,
        value=each.value,
        decided=True,
    )
    return (
        TurnCell(name),
        count_cell(each.n, turns, each.tasks),
        *(figure_cell(one, turns) for one in (each.percent, each.cohen_kappa, each.ac1)),
    )


def _of_people(each: PeopleAgreement) -> Line:
    return (
        TurnCell(_("people among themselves")),
        count_cell(each.n, None, each.tasks),
        *(figure_cell(one) for one in (each.percent, each.cohen_kappa, each.ac1)),
    )


def _beside(found: Fidelity, subject: Subject) -> Iterator[Sheet]:
    lines: list[Line] = []
    for each in found.ceilings:
        if each.subject != subject:
            continue
        table, turns = each.table, Turns(simulator=each.simulator, subject=subject, decided=True)
        name = simulator_word(each.simulator, found.simulators)
        rows = (table.judge_people, table.people_people, table.difference)
        for three in zip(*rows, strict=True):
            lines.append(
                (
                    TurnCell(f"{name}: {statistic_word(three[0].name)}"),
                    count_cell(table.n, turns, table.groups),
                    *(figure_cell(row.statistic, turns) for row in three),
                )
            )
    if lines:
        yield Sheet(
            view="cues",
            title=_("{subject}: as near to people as people are to each other").format(
                subject=_(SUBJECT_WORDS[subject])
            ),
            headings=(
                _("Simulator"),
                _("n (tasks)"),
                _("with people"),
                _("people alone"),
                _("difference"),
            ),
            lines=tuple(lines),
            notes=(_("Means over pairs of raters, on turns that two people or more decided."),),
        )


def _parts(found: Fidelity, whole: Agreement) -> Iterator[Sheet]:
    for by, title in GROUP_WORDS.items():
        parts = [
            each
            for each in found.agreements
            if each.by == by and each.subject == whole.subject and each.simulator == whole.simulator
        ]
        if parts:
            yield Sheet(
                view="cues",
                title=_("{simulator}: {group}").format(
                    simulator=simulator_word(whole.simulator, found.simulators), group=_(title)
                ),
                headings=_headings(_("Turns")),
                lines=tuple(_agreement(group_word(by, each.value), each) for each in parts),
            )


def _confusion(found: Fidelity, each: Agreement) -> Iterator[Sheet]:
    """Only the decisions that were made at all."""
    matrix = each.confusion
    if matrix is None or not each.n:
        return

    def turns(row: str = "", column: str = "") -> Turns:
        return Turns(
            simulator=each.simulator, subject=each.subject, decided=True, row=row, column=column
        )

    sums = [sum(column) for column in zip(*matrix.counts, strict=True)]
    used = [
        at
        for at, counts in enumerate(matrix.counts)
        if sum(counts) or sums[at] or each.subject == "cue"
    ]
    labels = matrix.labels
    words = {at: decision_word(each.subject, labels[at]) for at in used}
    lines: list[Line] = [
        (
            TurnCell(words[row]),
            *(count_cell(matrix.counts[row][at], turns(labels[row], labels[at])) for at in used),
            count_cell(sum(matrix.counts[row]), turns(labels[row])),
        )
        for row in used
    ]
    totals = [count_cell(sums[at], turns("", labels[at])) for at in used]
    lines.append((TurnCell(_("together")), *totals, count_cell(matrix.n, turns())))
    yield Sheet(
        view="cues",
        title=_("{simulator} (down) and what is held for right (across)").format(
            simulator=simulator_word(each.simulator, found.simulators)
        ),
        headings=("", *words.values(), _("together")),
        lines=tuple(lines),
    )

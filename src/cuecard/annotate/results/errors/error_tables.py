"""The error analysis as tables: for each family one of counts, then tables of its particular errors."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from cuecard.annotate.families.registry import ANNOTATE
from cuecard.annotate.results.errors.groups import arm_heading, title
from cuecard.annotate.results.errors.predictions import Coverage, GraphFindings, TableErrors
from cuecard.annotate.results.errors.rates import (
    TrialClass,
    across,
    figure_cell,
    number,
    share,
    share_of,
)
from cuecard.annotate.results.errors.report import ArmErrors, ErrorReport
from cuecard.core.i18n import _, ngettext
from cuecard.core.tables.table import Cell, Row, Shown, Table, cell
from cuecard.core.tasks.models import FAMILIES, Family
from cuecard.core.text import one_line

MOST = 20
"""How many relations, columns and reasons a table shows, the most frequent ones."""
RAW = 80
Columns = Sequence[tuple[str, Callable[[ArmErrors], Cell]]]


Part = Literal["whole", "unreadable", "relations", "compaction", "turns", "calls", "tables"]
"""What a table is about: counts of everything, raw texts, relations and stages, F1 by class, rows and columns."""


def error_tables(report: ErrorReport) -> tuple[Table, ...]:
    """Tables of each family that occurs. Shares are percentages with 95% intervals by task."""
    return tuple(table for _part, table in error_parts(report))


def error_parts(report: ErrorReport) -> Iterator[tuple[Part, Table]]:
    """The same tables, each with what it is about."""
    for family in FAMILIES:
        arms = [arm for arm in report.arms if arm.family == family]
        if not arms:
            continue
        yield "whole", _whole(report, family, arms)
        yield from _as("unreadable", _unreadable(family, arms))
        graphs = [(arm.name, arm.graph) for arm in arms if arm.graph]
        if graphs:
            yield from _graphs(graphs)
        tables = [(arm.name, arm.table) for arm in arms if arm.table]
        if tables:
            yield from _as("tables", _tables(tables))


def _as(part: Part, tables: Iterable[Table]) -> Iterator[tuple[Part, Table]]:
    for table in tables:
        yield part, table


def _whole(report: ErrorReport, family: Family, arms: Sequence[ArmErrors]) -> Table:
    errors = ANNOTATE[family].errors
    columns: Columns = (*_always(), *errors.columns())
    notes = [_("Shares in percent of judged trials, intervals 95%, by task.")]
    notes += errors.notes()
    return Table.of(
        title=title(family, _("what goes wrong")),
        headings=(arm_heading(report.by), *(name for name, _of in columns)),
        lines=[(arm.name, *(of(arm) for _name, of in columns)) for arm in arms],
        notes=(*notes, *report.notes.get(family, ())),
    )


def _always() -> Columns:
    return (
        (_("Trials"), lambda arm: number(arm.judged, arm.judged_trials)),
        (_("Tasks"), lambda arm: number(arm.tasks, arm.judged_trials)),
        (_("Format failures"), lambda arm: share(arm.format_failure)),
        (_("Nothing handed in"), lambda arm: share(arm.nothing)),
    )


def _unreadable(family: Family, arms: Sequence[ArmErrors]) -> Iterator[Table]:
    """What could not be read, by its reason, with the beginning of one such text."""
    reasons: dict[str, list[tuple[str, int, str]]] = {}
    for arm in arms:
        for each in arm.unreadable:
            if not each.nothing:
                reasons.setdefault(one_line(each.reason, RAW), []).append(
                    (arm.name, each.trial, one_line(each.raw, RAW))
                )
    if not reasons:
        return
    ordered = sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0]))
    lines: list[Sequence[Shown]] = []
    for reason, found in ordered[:MOST]:
        mine = {
            arm.name: [trial for name, trial, _raw in found if name == arm.name] for arm in arms
        }
        lines.append(
            (
                cell(reason or "–", trials=[trial for _name, trial, _raw in found]),
                *(number(len(trials), trials) for trials in mine.values()),
                cell(found[0][2] or "–", trials=[found[0][1]]),
            )
        )
    yield Table.of(
        title=title(family, _("what could not be read")),
        headings=(_("Reason"), *(arm.name for arm in arms), _("Begins with")),
        lines=lines,
        notes=(_("Trials by reason; the beginning is of the first of them."), *_more(ordered)),
    )


def _graphs(arms: Sequence[tuple[str, GraphFindings]]) -> Iterator[tuple[Part, Table]]:
    relations = [(name, found.relations) for name, found in arms]
    by_relation = _coverage(_("coverage by relation"), _("Relation"), relations, MOST)
    stages = [(name, found.stages) for name, found in arms]
    by_stage = _coverage(_("coverage by stage"), _("Stage"), stages)
    yield from _as("relations", (*by_relation, *by_stage, *_invalid(arms)))
    named = {"with": _("with"), "without": _("without")}
    cut = _("F1 with and without compaction")
    yield (
        "compaction",
        _by_class(cut, _("Compaction"), [(n, g.by_compaction) for n, g in arms], named),
    )
    yield from _as("turns", _turns(arms))
    calls = [(name, found.by_tool_calls) for name, found in arms]
    yield "calls", _by_class(_("F1 by tool calls"), _("Tool calls"), calls)


def _turns(arms: Sequence[tuple[str, GraphFindings]]) -> Iterator[Table]:
    """F1 by user turns: the paper's classes with the correlation, then finer ones."""
    paper = _by_class(
        _("F1 by user turns"),
        _("User turns"),
        [(name, found.by_user_turns) for name, found in arms],
    )
    together: Row = (
        cell(_("Pearson's r")),
        *(
            figure_cell(found.turns_f1, [t for c in found.by_user_turns for t in c.mean.trials], 3)
            for _name, found in arms
        ),
    )
    yield replace(
        paper,
        lines=(*paper.lines, together),
        notes=(
            *paper.notes,
            _("Pearson's r: correlation of user turns and triplet F1 over trials."),
        ),
    )
    yield _by_class(
        _("F1 by user turns, finer classes (ours)"),
        _("User turns"),
        [(name, found.by_user_turns_fine) for name, found in arms],
    )


def _by_class(
    words: str,
    heading: str,
    arms: Sequence[tuple[str, tuple[TrialClass, ...]]],
    named: Mapping[str, str] | None = None,
) -> Table:
    """A table of the classes that contain a trial of any arm."""
    found = [(name, {each.name: each.mean for each in mine}) for name, mine in arms]
    present = [n for n in found[0][1] if any(rates[n].of for _name, rates in found)]
    return across(
        title("graph", words),
        heading,
        found,
        [((named or {}).get(n, n), lambda rates, n=n: share_of(rates[n])) for n in present],
        (_("Mean triplet F1 in percent, with the number of trials."),),
    )


def _coverage(
    words: str, heading: str, arms: Sequence[tuple[str, tuple[Coverage, ...]]], most: int = 0
) -> Iterator[Table]:
    """A table of coverage. `most`: how many lines, those with most gold triples first; 0: all, in their own order."""
    by_name = [(name, {each.name: each for each in mine}) for name, mine in arms]
    gold: dict[str, int] = {}
    for each in (each for _name, mine in arms for each in mine):
        # Arms play the same tasks: the one with most trials says how often a relation occurs.
        gold[each.name] = max(gold.get(each.name, 0), each.gold)
    if not gold:
        return
    names = sorted(gold, key=lambda n: (-gold[n], n)) if most else sorted(gold, key=int)
    open_ones = sum(each.unjudged for _name, mine in arms for each in mine)
    notes = [_("Covered gold triples in percent of the judged ones, and how many were judged.")]
    if open_ones:
        notes.append(
            ngettext(
                "{n} gold triple was not judged and is left out.",
                "{n} gold triples were not judged and are left out.",
                open_ones,
            ).format(n=open_ones)
        )
    yield across(
        title("graph", words),
        heading,
        by_name,
        [
            (one_line(n), lambda mine, n=n: share_of(mine[n].rate if n in mine else None))
            for n in names[: most or None]
        ],
        (*notes, *_more(names, most or len(names))),
    )


def _invalid(arms: Sequence[tuple[str, GraphFindings]]) -> Iterator[Table]:
    by_name = [(name, {each.relation: each for each in found.invalid}) for name, found in arms]
    totals: dict[str, int] = {}
    for _name, mine in by_name:
        for each in mine.values():
            totals[each.relation] = totals.get(each.relation, 0) + each.count
    names = sorted(totals, key=lambda n: (-totals[n], n))
    if not names:
        return
    yield across(
        title("graph", _("relations that support nothing")),
        _("Relation"),
        by_name,
        [
            (
                one_line(n),
                lambda mine, n=n: number(mine[n].count, mine[n].trials) if n in mine else number(0),
            )
            for n in names[:MOST]
        ],
        (
            _("Predicted triples that support no covered gold triple, by their relation."),
            *_more(names),
        ),
    )


def _tables(arms: Sequence[tuple[str, TableErrors]]) -> Iterator[Table]:
    reasons = [(name, {r.reason: r.trials for r in found.reasons}) for name, found in arms]
    every = {
        r: sum(len(mine.get(r, ())) for _name, mine in reasons) for _n, m in reasons for r in m
    }
    if every:
        ordered = sorted(every, key=lambda r: (-every[r], r))
        yield across(
            title("table", _("why tables were unusable")),
            _("Reason"),
            reasons,
            [
                (
                    one_line(r, RAW) or "–",
                    lambda mine, r=r: number(len(mine.get(r, ())), mine.get(r, ())),
                )
                for r in ordered[:MOST]
            ],
            (_("Trials by what the judge said of them."), *_more(ordered)),
        )
    columns = [(name, {c.column: c for c in found.columns}) for name, found in arms]
    wrong: dict[str, float] = {}
    for _name, mine in columns:
        for each in mine.values():
            wrong[each.column] = wrong.get(each.column, 0) + each.rate.count
    names = sorted(wrong, key=lambda n: (-wrong[n], n))
    if names:
        yield across(
            title("table", _("wrong cells by column")),
            _("Column"),
            columns,
            [
                (one_line(n), lambda mine, n=n: share_of(mine[n].rate if n in mine else None))
                for n in names[:MOST]
            ],
            (
                _(
                    "Wrong cells of joined rows in percent of the judged ones, and their number; most wrong cells first."
                ),
                *_more(names),
            ),
        )


def _more(every: Sequence[object], most: int = MOST) -> tuple[str, ...]:
    if len(every) <= most:
        return ()
    return (_("The first {n} of {all}.").format(n=most, all=len(every)),)

"""What rescoring changed, as tables."""

from collections.abc import Iterator, Sequence
from typing import Final

from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS
from cuecard.annotate.results.rescored import ItemMove, JudgeMoves, MeasureMove, RescoreReport
from cuecard.core.i18n import N_, _, listed, ngettext, plural
from cuecard.core.rescoring import GoldChange
from cuecard.core.scoring.aggregate import statistic_label
from cuecard.core.scoring.measures import measure_label, pooled_notes
from cuecard.core.tables.table import Shown, Table, cell, difference
from cuecard.core.tasks.models import Family
from cuecard.core.text import one_line
from cuecard.core.verdicts import Decision

FATE_WORDS: Final[dict[GoldChange, str]] = {
    GoldChange.SAME: N_("same"),
    GoldChange.CHANGED: N_("changed"),
    GoldChange.ADDED: N_("added"),
    GoldChange.REMOVED: N_("removed"),
}
DECISION_WORDS: Final[dict[Decision, str]] = {
    Decision.YES: N_("yes"),
    Decision.NO: N_("no"),
    Decision.UNJUDGED: N_("not judged"),
}
_LINES = 40
_TEXT = 60
_NOTHING = 1e-12


def figure_tables(report: RescoreReport) -> tuple[Table, ...]:
    """What changed in the gold, what was left out, what was asked, and every measure that moved."""
    measures = [table for judge in report.judges for table in _measures(judge)]
    return (
        _gold(report),
        *([_left(report)] if report.left else ()),
        *([_judges(report)] if report.judges else ()),
        *measures,
    )


def item_tables(report: RescoreReport) -> tuple[Table, ...]:
    """The items that changed, for each judge; of many the first."""
    return tuple(_items(judge) for judge in report.judges if judge.items)


def _gold(report: RescoreReport) -> Table:
    notes: list[str] = []
    if report.closed_worlds:
        notes.append(
            ngettext(
                "In {n} trial a closed world answered from the gold as it was then; nothing is played again.",
                "In {n} trials a closed world answered from the gold as it was then; nothing is played again.",
                report.closed_worlds,
            ).format(n=report.closed_worlds)
        )
    if report.open:
        notes.append(
            ngettext(
                "{n} trial that has not ended is left out.",
                "{n} trials that have not ended are left out.",
                report.open,
            ).format(n=report.open)
        )
    return Table.of(
        _("Changes of the gold"),
        (_("Task"), _("Revisions"), *(_(word) for word in FATE_WORDS.values())),
        [
            (one.task_id, f"{one.old} → {one.new}", *(one.counts[fate] for fate in FATE_WORDS))
            for one in report.gold
        ],
        notes,
    )


def _left(report: RescoreReport) -> Table:
    return Table.of(
        _("Left out: more than the gold has changed, so these trials would have gone another way"),
        (_("Task"), _("Revisions"), _("Trials"), _("Changed")),
        [
            (
                one.task_id,
                f"{one.old} → {one.new}",
                one.trials,
                listed(_(what) for what in one.changed),
            )
            for one in report.left
        ],
    )


def _judges(report: RescoreReport) -> Table:
    done = bool(report.new)
    headings = [_("Judge"), _("Verdicts kept"), _("Asked about"), _("Dropped")]
    headings += (
        [_("Not judged"), _("Calls made"), _("Calls saved")] if done else [_("Calls before")]
    )
    lines: list[Sequence[Shown]] = []
    for judge in report.judges:
        name = _("{judge} (baseline)").format(judge=judge.judge) if judge.baseline else judge.judge
        calls = (judge.unjudged, judge.calls, judge.saved) if done else (judge.calls_before,)
        lines.append((name, judge.kept, judge.asked, judge.removed, *calls))
    missing = sum(judge.missing for judge in report.judges)
    note = ngettext(
        "{n} trial is left without a judgement; run the command again.",
        "{n} trials are left without a judgement; run the command again.",
        missing,
    ).format(n=missing)
    return Table.of(_("Verdicts"), headings, lines, (note,) if missing else ())


def _measures(judge: JudgeMoves) -> Iterator[Table]:
    """A table for each agent and family, of the measures that moved."""
    groups: dict[tuple[str, Family], list[MeasureMove]] = {}
    for one in judge.measures:
        groups.setdefault((one.agent, one.family), []).append(one)
    for (agent, family), its in groups.items():
        moved = [one for one in its if _moved(one)]
        still = len(its) - len(moved)
        notes = [_("Differences are paired by task; intervals are 95%, by task.")] if moved else []
        if still:
            notes.append(
                plural("{n} measure is where it was.", "{n} measures are where they were.", still)
            )
        notes += pooled_notes(one.name for one in moved)
        yield Table.of(
            _("Moved by {judge}: {agent}, {family}").format(
                judge=judge.judge, agent=agent, family=_(FAMILY_WORDS[family])
            ),
            (_("Measure"), _("Tasks"), _("Before"), _("After"), _("Difference")),
            [
                (
                    f"{measure_label(one.name)} {statistic_label(one.taken, one.samples)}",
                    one.new.n,
                    one.old,
                    one.new,
                    difference(one.difference),
                )
                for one in moved
            ],
            notes,
        )


def _moved(one: MeasureMove) -> bool:
    if one.difference.value is None:
        return one.old.value != one.new.value
    return abs(one.difference.value) > _NOTHING


def _items(judge: JudgeMoves) -> Table:
    """Those that are decided otherwise first."""
    items = sorted(judge.items, key=lambda one: one.was is one.now)
    shown = items[:_LINES]
    left = len(items) - len(shown)
    more = ngettext("{n} more; --json lists all.", "{n} more; --json lists all.", left)
    return Table.of(
        _("Items by judge {judge}").format(judge=judge.judge),
        (_("Trial"), _("Item"), _("Gold"), _("Before"), _("After"), _("Why")),
        [
            (
                cell(
                    _(", ").join((one.task_id, f"{one.agent} #{one.sample}")), trials=(one.trial,)
                ),
                one_line(one.new_text or one.old_text, _TEXT),
                _(FATE_WORDS[one.fate]),
                _decision(one.was),
                _decision(one.now),
                _why(one),
            )
            for one in shown
        ],
        (more.format(n=left),) if left else (),
    )


def _why(move: ItemMove) -> str:
    if move.fate is GoldChange.REMOVED:
        return _("dropped")
    return _("judged again") if move.asked else _("follows without asking")


def _decision(decision: Decision | None) -> str:
    return "–" if decision is None else _(DECISION_WORDS[decision])

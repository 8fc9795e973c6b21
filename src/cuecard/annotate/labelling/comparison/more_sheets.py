"""The tables beyond judge x statistic: groups, judges compared, the ceiling, anchoring, causes."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.annotate.adjudication.deciding import CAUSES
from cuecard.annotate.agreement import Row
from cuecard.annotate.labelling.comparison.drilling import Place
from cuecard.annotate.labelling.comparison.material import GROUPINGS
from cuecard.annotate.labelling.comparison.model import Comparison
from cuecard.annotate.labelling.comparison.raters import Rater
from cuecard.annotate.labelling.comparison.sheets import Cell, Line, Sheet, cell, count, judge_word
from cuecard.annotate.labelling.comparison.words import (
    GROUP_WORDS,
    rater_word,
    statistic_word,
)
from cuecard.core.i18n import _

_SHORT = ("percent", "cohen_kappa", "ac1")


def more_sheets(found: Comparison) -> Iterator[Sheet]:
    yield from _groups(found)
    yield from _differences(found)
    yield from _ceilings(found)
    yield from _anchoring(found)
    yield from _causes(found)


def _groups(found: Comparison) -> Iterator[Sheet]:
    for judge in found.judges:
        for by in GROUPINGS:
            groups = [group for group in found.groups if (group.judge, group.by) == (judge, by)]
            if not groups:
                continue
            lines: list[Line] = []
            for group in groups:
                place = Place(
                    left=Rater(role="judge", name=judge),
                    right=group.reference,
                    by=by,
                    value=group.value,
                )
                lines.append(
                    (
                        Cell(group.value or "–", place),
                        Cell(f"{group.n:,} ({group.tasks:,})", place),
                        *(cell(group.statistic(name), place) for name in _SHORT),
                    )
                )
            yield Sheet(
                view="groups",
                title=_("{group}: {judge} against {reference}").format(
                    group=_(GROUP_WORDS[by]),
                    judge=judge_word(found, judge),
                    reference=rater_word(groups[0].reference),
                ),
                headings=(
                    _(GROUP_WORDS[by]),
                    _("n (tasks)"),
                    *(statistic_word(name) for name in _SHORT),
                ),
                lines=tuple(lines),
            )


def _differences(found: Comparison) -> Iterator[Sheet]:
    for each in found.differences:
        one, other = Rater.of_key(each.one), Rater.of_key(each.other)
        reference = Rater.of_key(each.reference)
        lines: list[Line] = [
            (
                Cell(statistic_word(row.name, found.subject)),
                cell(left.statistic, Place(left=one, right=reference)),
                cell(right.statistic, Place(left=other, right=reference)),
                cell(row.statistic, Place(left=one, right=other)),
            )
            for row, left, right in zip(each.rows, each.ones, each.others, strict=True)
            if row.name != "fleiss_kappa"
        ]
        yield Sheet(
            view="judges",
            title=_("Two judges on the same {n} items, against {reference}").format(
                n=f"{each.n:,}", reference=rater_word(reference)
            ),
            headings=(
                _("Statistic"),
                judge_word(found, one.name),
                judge_word(found, other.name),
                _("difference"),
            ),
            lines=tuple(lines),
            notes=(_("Intervals of the difference draw the same tasks for both judges."),),
        )


def _ceilings(found: Comparison) -> Iterator[Sheet]:
    for each in found.ceilings:
        judge = Rater.of_key(each.judge)
        rows: list[tuple[Row, Row, Row]] = list(
            zip(each.judge_people, each.people_people, each.difference, strict=True)
        )
        yield Sheet(
            view="judges",
            title=_("{judge} beside people, on {n} items that two people labelled").format(
                judge=judge_word(found, judge.name), n=f"{each.n:,}"
            ),
            headings=(
                _("Mean over pairs"),
                _("judge and people"),
                _("among people"),
                _("difference"),
            ),
            lines=tuple(
                (Cell(statistic_word(row[0].name)), *(cell(side.statistic) for side in row))
                for row in rows
            ),
        )


def _anchoring(found: Comparison) -> Iterator[Sheet]:
    if not found.anchoring:
        return
    yield Sheet(
        view="judges",
        title=_("Labels given again with the decision in view"),
        headings=(
            _("Person"),
            "n",
            _("changed"),
            _("to the judge's"),
            _("away from it"),
        ),
        lines=tuple(
            (
                Cell(each.person or _("all people")),
                count(each.looked),
                cell(each.changed),
                cell(each.towards),
                cell(each.away),
            )
            for each in found.anchoring
        ),
        notes=(
            _(
                "Only blind labels enter agreement. “To the judge's” is a share of the labels that were"
                " not the judge's before, “away from it” of those that were."
            ),
        ),
    )


def _causes(found: Comparison) -> Iterator[Sheet]:
    if not found.causes:
        return
    names = {str(cause): name for cause, (_letter, name, _meaning) in CAUSES.items()}
    total = sum(n for _cause, n in found.causes)
    yield Sheet(
        view="judges",
        title=_("Causes found in adjudication"),
        headings=(_("Cause"), "n", _("share")),
        lines=tuple(
            (Cell(_(names.get(cause, cause))), count(n), Cell(f"{n / total:.3f}"))
            for cause, n in found.causes
        ),
    )

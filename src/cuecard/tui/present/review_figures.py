"""Statistics of reviews as a table: everybody, pairs and people by measures."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from cuecard.annotate.review.board import (
    STATISTICS,
    Labels,
    figure,
    measure_label,
    minutes,
    reasons_text,
    remark,
    who,
)
from cuecard.annotate.review.figures import (
    ALL_DIMENSIONS,
    DECISION,
    DecidedRound,
    FiguresReport,
    GivenReview,
    MeasureAgreement,
    Reason,
    ReviewFigures,
)
from cuecard.core.contributions import ReviewDecision
from cuecard.core.i18n import N_, _, ngettext, plural
from cuecard.core.tables.statistic import Statistic
from cuecard.tui.grid import GridCell, GridColumn
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.present.labels import RATING, VOTE

Cells = tuple[str | GridCell, ...]
Shown = Literal["percent", "kappa", "ac1"]
SHOWN: tuple[Shown, ...] = ("percent", "kappa", "ac1")

WHO, RETURNED, TIME, REASONS = "who", "returned", "time", "reasons"
_HEADS = {
    WHO: N_("Between"),
    RETURNED: N_("Returned"),
    TIME: N_("Minutes"),
    REASONS: N_("Most failed"),
}
_WIDTHS = {WHO: 16, RETURNED: 19, TIME: 21, REASONS: 24}
_FIGURE = 20


@dataclass
class FiguresView:
    """`statistic`: which of the three the columns of agreement show."""

    report: FiguresReport
    labels: Labels = field(default_factory=dict[str, tuple[str, ...]])
    statistic: Shown = "percent"

    @cached_property
    def rows(self) -> tuple[ReviewFigures, ...]:
        """Everybody, then pairs, then people."""
        return (self.report.overall, *self.report.pairs, *self.report.people)

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """What the columns measure."""
        together = (ALL_DIMENSIONS,) if self.report.dimensions else ()
        return (WHO, DECISION, *together, RETURNED, TIME, REASONS, *self.report.dimensions)

    @property
    def columns(self) -> tuple[GridColumn, ...]:
        return tuple(self._column(measure) for measure in self.measures)

    @property
    def title(self) -> str:
        n = len(self.report.rounds)
        told = ngettext("{n} decided revision", "{n} decided revisions", n).format(n=n)
        return _("{statistic} · 95% intervals resampled by task · {rounds}").format(
            statistic=_(STATISTICS[self.statistic]), rounds=told
        )

    def next_statistic(self) -> None:
        self.statistic = SHOWN[(SHOWN.index(self.statistic) + 1) % len(SHOWN)]

    def cells(self) -> list[Cells]:
        return [
            tuple(self._cell(figures, measure) for measure in self.measures)
            for figures in self.rows
        ]

    def head(self, row: int, column: int) -> str:
        """Whose figure, and of what."""
        figures, measure = self.rows[row], self.measures[column]
        if measure == WHO:
            return who(figures)
        label = _(_HEADS[measure]) if measure in _HEADS else measure_label(measure, self.labels)
        return f"{who(figures)} · {label}"

    def about(self, row: int, column: int) -> list[Paragraph]:
        """The figure under the cursor in full: every statistic, or why there is none."""
        if not 0 <= row < len(self.rows):
            return []
        figures, measure = self.rows[row], self.measures[column]
        lines = [Paragraph(self.head(row, column), "strong")]
        if measure == WHO:
            return [*lines, Paragraph(_base(figures), "muted"), *self._in_short(figures)]
        if measure == RETURNED:
            return [*lines, *_statistics([figures.returned])]
        if measure == TIME:
            return [*lines, _time(figures)]
        if measure == REASONS:
            return [*lines, *(Paragraph(self._reason(reason)) for reason in figures.reasons)]
        found = figures.on(measure)
        if found is None:
            told = (
                _("Agreement is between two people or more.")
                if len(figures.who) == 1
                else _("Never rated by these people.")
            )
            return [*lines, Paragraph(told, "muted")]
        return [*lines, Paragraph(_items(found), "muted"), *_statistics(found.statistics)]

    def rounds(self, row: int, column: int) -> list[DecidedRound]:
        """What the figure under the cursor counts; where agreement is measured, disagreement first."""
        if not 0 <= row < len(self.rows):
            return []
        figures, measure = self.rows[row], self.measures[column]
        found: list[DecidedRound] = []
        for round_ in self.report.rounds:
            given = [round_.by(name) for name in figures.who]
            if all(given):
                reviews = tuple(filter(None, given)) if figures.who else round_.reviews
                found.append(round_.model_copy(update={"reviews": reviews}))
        if measure in self.report.dimensions:
            found = [r for r in found if any(measure in g.ratings for g in r.reviews)]
        elif measure == RETURNED:
            found = [r for r in found if any(_returns(g) for g in r.reviews)]
        elif measure == REASONS:
            found = [r for r in found if any(_failed(g) for g in r.reviews)]
        return sorted(found, key=lambda round_: not self.differ(round_, measure))

    def differ(self, round_: DecidedRound, measure: str) -> bool:
        """Whether the reviewers of a round disagree about `measure`."""
        if measure in self.report.dimensions:
            return len({g.ratings.get(measure) for g in round_.reviews} & {"pass", "fail"}) > 1
        if measure == ALL_DIMENSIONS:
            return any(self.differ(round_, key) for key in self.report.dimensions)
        return len({g.decision for g in round_.reviews}) > 1

    def said(self, given: GivenReview, measure: str) -> str:
        """What a review says about `measure`, in a few words."""
        if measure in self.report.dimensions:
            glyph, _colour, label = RATING[given.ratings.get(measure, "")]
            return f"{glyph} {_(label)}"
        glyph, _colour, label = VOTE[given.decision.value]
        if measure == TIME:
            return _("{n:.1f} min").format(n=given.seconds / 60) if given.seconds else "–"
        if measure in (ALL_DIMENSIONS, REASONS):
            keys = [key for key, rating in given.ratings.items() if rating == "fail"]
            failed = ", ".join(measure_label(key, self.labels, short=True) for key in keys)
            return f"✗ {failed}" if keys else f"✓ {_('nothing failed')}"
        return f"{glyph} {_(label)}"

    def _column(self, measure: str) -> GridColumn:
        if measure in _HEADS:
            return GridColumn(_(_HEADS[measure]), _WIDTHS[measure], raw=True)
        return GridColumn(measure_label(measure, self.labels, short=True), _FIGURE, raw=True)

    def _cell(self, figures: ReviewFigures, measure: str) -> str | GridCell:
        match measure:
            case "who":
                return GridCell(who(figures), "plain" if figures.who else "strong")
            case "returned":
                return figure(figures.returned)
            case "time":
                return minutes(figures.seconds)
            case "reasons":
                return reasons_text(figures, self.labels, 2)
            case _:
                found = figures.on(measure)
                if found is None:
                    return ""
                statistic = found.of(self.statistic)
                return GridCell(figure(statistic), "plain" if statistic.interval else "muted")

    def _in_short(self, figures: ReviewFigures) -> list[Paragraph]:
        lines = [
            Paragraph(f"{_('Returned')}{_(': ')}{figure(figures.returned)}"),
            Paragraph(f"{_('Minutes')}{_(': ')}{minutes(figures.seconds)}"),
        ]
        spread = self.report.approvals.rounds
        if not figures.who and spread.median is not None:
            told = _("Rounds until approval: median {median:g} ({lower:g}–{upper:g}), n={n}")
            lines.append(
                Paragraph(
                    told.format(
                        median=spread.median, lower=spread.lower, upper=spread.upper, n=spread.n
                    )
                )
            )
        return lines

    def _reason(self, reason: Reason) -> str:
        return _("{dimension}: failed in {failed} of {rated} reviews, {n} with a comment").format(
            dimension=measure_label(reason.dimension, self.labels),
            failed=reason.failed,
            rated=reason.rated,
            n=reason.commented,
        )


def _statistics(statistics: Sequence[Statistic]) -> list[Paragraph]:
    lines: list[Paragraph] = []
    for statistic in statistics:
        text = f"{_(STATISTICS[statistic.name])}{_(': ')}{figure(statistic)}"
        why = remark(statistic)
        lines.append(Paragraph(f"{text} — {why}" if why else text))
    return lines


def _time(figures: ReviewFigures) -> Paragraph:
    untimed = figures.reviews - figures.seconds.n
    text = _("median (quartiles): {minutes}").format(minutes=minutes(figures.seconds))
    if untimed:
        text += " · " + plural("{n} review without a time", "{n} reviews without a time", untimed)
    return Paragraph(text)


def _base(figures: ReviewFigures) -> str:
    parts = (
        ngettext("{n} review", "{n} reviews", figures.reviews).format(n=figures.reviews),
        ngettext("{n} revision", "{n} revisions", figures.revisions).format(n=figures.revisions),
        ngettext("{n} task", "{n} tasks", figures.tasks).format(n=figures.tasks),
    )
    return " · ".join(parts)


def _items(found: MeasureAgreement) -> str:
    text = ngettext(
        "{n} item judged by two people or more", "{n} items judged by two people or more", found.n
    )
    parts = [text.format(n=found.n)]
    if found.unsure:
        told = ngettext("{n} rating “cannot judge”", "{n} ratings “cannot judge”", found.unsure)
        parts.append(told.format(n=found.unsure))
    return " · ".join(parts)


def _returns(given: GivenReview) -> bool:
    return given.decision is ReviewDecision.RETURN


def _failed(given: GivenReview) -> bool:
    return "fail" in given.ratings.values()

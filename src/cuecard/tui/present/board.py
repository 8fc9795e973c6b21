"""The board without widgets: the tasks of a state or a person, what is open with whom, and figures of the review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Literal, cast

from rich.text import Text

from cuecard.annotate.review.board import (
    STATES,
    STATISTICS,
    TOLD,
    Board,
    BoardTask,
    Labels,
    PersonLoad,
    figure,
    measure_label,
    minutes,
    reasons_text,
    remark,
    waiting,
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
from cuecard.core.contributions import ReviewDecision, TaskState
from cuecard.core.i18n import N_, _, age, beside, headed, listed, ngettext, plural
from cuecard.core.tables.table import Cell, Statistic, Table
from cuecard.core.text import one_line
from cuecard.tui.grid import GridCell
from cuecard.tui.present.entries import Paragraph, ink
from cuecard.tui.present.labels import RATING, TASK_STATE, VOTE, badge
from cuecard.tui.present.tables import Tab, TablesView
from cuecard.tui.present.tasks import moment


def waits_cell(task: BoardTask, reader: str) -> GridCell:
    """Whom a task waits for."""
    tone = "accent" if reader in task.waits_for else "warn" if task.forks else "plain"
    return GridCell(waiting(task, reader), tone)


def name_cell(load: PersonLoad, reader: str) -> GridCell:
    name = _("{name} (you)").format(name=load.name) if load.name == reader else load.name
    return GridCell(name, "strong" if load.open else "muted")


def number_cell(number: int) -> GridCell:
    return GridCell(str(number), "plain" if number else "muted")


@dataclass(frozen=True)
class BoardView:
    """The board narrowed to a `state`, a `person`, or not."""

    board: Board
    now: datetime
    state: TaskState | None = None
    person: str = ""

    @property
    def tasks(self) -> tuple[BoardTask, ...]:
        return self.board.of(self.state, self.person)

    def of_person(self, name: str) -> BoardView:
        return replace(self, person=name, state=None)

    def next_state(self) -> BoardView:
        """Only the next state that has tasks, after the last of them all."""
        counts = replace(self, state=None).counts()
        there = [state for state in STATES if counts[state]]
        at = there.index(self.state) + 1 if self.state is not None and self.state in there else 0
        return replace(self, state=there[at] if at < len(there) else None)

    def counts(self) -> dict[TaskState, int]:
        """Of the person, if there is one."""
        tasks = self.board.of(None, self.person)
        return {state: sum(task.state is state for task in tasks) for state in STATES}

    def heading(self, variables: Mapping[str, str]) -> Text:
        """How many tasks there are of each state; the one that is shown stands out."""
        parts: list[Text] = []
        if self.person:
            parts.append(Text(one_line(self.person), "bold"))
        for state, count in self.counts().items():
            part = badge(TASK_STATE, state.value, variables)
            part.append(f" {count}")
            if self.state is state:
                part.stylize("reverse")
            elif self.state is not None or not count:
                part.stylize(ink(variables, "muted"))
            parts.append(part)
        return Text("  ").join(parts)

    def about_task(self, task: BoardTask) -> list[Paragraph]:
        """A task in words, below the list."""
        facts = [
            _("{state} · {age}").format(
                state=_(TASK_STATE[task.state.value][2]), age=age(task.since, self.now)
            ),
            _("revision {n}").format(n=task.task.revision),
            task.task.domain,
        ]
        lines = [
            Paragraph(task.task.title, "strong"),
            Paragraph(" · ".join(filter(None, facts)), "muted"),
            Paragraph(self._author(task)),
        ]
        if task.state is TaskState.IN_REVIEW:
            lines.append(Paragraph(_round(task, self.board.reader)))
        if task.forks:
            n = task.forks
            told = ngettext(
                "{n} revision made elsewhere waits to be merged: open the task.",
                "{n} revisions made elsewhere wait to be merged: open the task.",
                n,
            )
            lines.append(Paragraph(told.format(n=n), "bad"))
        if task.latest:
            lines += [Paragraph(""), Paragraph(_("What happened"), "strong")]
        for one in task.latest:
            who = _("you") if one.by == self.board.reader else one_line(one.by, 30)
            said = _("revision {n}").format(n=one.revision)
            told = " · ".join(filter(None, (moment(one.at), who, _(TOLD[one.kind]), said)))
            lines.append(Paragraph(told))
            if one.text:
                lines.append(Paragraph(one_line(one.text, 300), "muted", 2))
        return lines

    def about_person(self, load: PersonLoad) -> list[Paragraph]:
        lines = [Paragraph(load.name, "strong")]
        if not load.open:
            lines.append(Paragraph(_("Nothing is open."), "muted"))
        elif load.oldest:
            lines.append(
                Paragraph(
                    _("The longest waits for {age}.").format(age=age(load.oldest, self.now)),
                    "muted",
                )
            )
        if not self.board.complete and load.name != self.board.reader:
            lines.append(
                Paragraph(_("Without what you must not know while tasks are in review."), "muted")
            )
        return lines

    def _author(self, task: BoardTask) -> str:
        if not task.authors:
            return _("Its author is hidden from those who may review it.")
        names = (_("you") if name == self.board.reader else name for name in task.authors)
        return _("By {names}").format(names=listed(names))


def _round(task: BoardTask, reader: str) -> str:
    """How far the reviews of a task are; who gives them only as far as the reader may know."""

    def told(names: Sequence[str]) -> str:
        return listed(_("you") if name == reader else name for name in names)

    parts = [_("{n} of {needed} reviews in").format(n=task.reviews, needed=task.needed)]
    if task.reviewed:
        parts[0] = beside(parts[0], told(task.reviewed))
    if task.claims:
        part = plural("{n} has it to review", "{n} have it to review", task.claims)
        parts.append(beside(part, told(task.reviewing)))
    if task.free:
        parts.append(ngettext("{n} place free", "{n} places free", task.free).format(n=task.free))
    if task.third:
        parts.append(_("two disagree, a third decides"))
    return " · ".join(parts)


Shown = Literal["percent", "kappa", "ac1"]
SHOWN: dict[Shown, Tab] = {
    "percent": Tab("board.percent", "f", STATISTICS["percent"], N_("How often they say the same")),
    "kappa": Tab(
        "board.kappa",
        "k",
        STATISTICS["kappa"],
        N_("What of it is more than chance: Cohen's of two, Fleiss' of several"),
    ),
    "ac1": Tab(
        "board.ac1", "g", STATISTICS["ac1"], N_("The same, steady where nearly all say one thing")
    ),
}

WHO, RETURNED, TIME, REASONS = "who", "returned", "time", "reasons"
_HEADS = {
    WHO: N_("Between"),
    RETURNED: N_("Returned"),
    TIME: N_("Minutes"),
    REASONS: N_("Most failed"),
}


@dataclass
class FiguresView(TablesView[Shown]):
    """Everybody, then pairs, then people by measures; a section for each of the statistics of agreement."""

    report: FiguresReport
    labels: Labels = field(default_factory=dict[str, tuple[str, ...]])
    section: Shown = "percent"
    plotted: bool = False
    _at: dict[Shown, int] = field(default_factory=dict["Shown", int])

    @property
    def named(self) -> Mapping[Shown, Tab]:
        return SHOWN

    @property
    def anything(self) -> bool:
        return bool(self.report.rounds)

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """What the columns measure."""
        together = (ALL_DIMENSIONS,) if self.report.dimensions else ()
        return (WHO, DECISION, *together, RETURNED, TIME, REASONS, *self.report.dimensions)

    def of(self, section: Shown) -> Sequence[Table]:
        n = len(self.report.rounds)
        told = ngettext("{n} decided revision", "{n} decided revisions", n).format(n=n)
        title = _("{statistic} · 95% intervals resampled by task · {rounds}").format(
            statistic=_(STATISTICS[section]), rounds=told
        )
        every = (self.report.overall, *self.report.pairs, *self.report.people)
        rows = ([self._cell(each, measure, section) for measure in self.measures] for each in every)
        return [Table.of(title, map(self._heading, self.measures), rows)]

    @property
    def heading(self) -> str:
        return self.table.title if self.table else ""

    def opens(self, row: int, column: int) -> bool:
        return bool(self.rounds(row, column))

    def looked_up(self, row: int, column: int) -> tuple[ReviewFigures, str] | None:
        """Whose figure stands there, and of what."""
        cell = self.cell(row, column)
        return cast("tuple[ReviewFigures, str]", cell.place) if cell else None

    def head(self, figures: ReviewFigures, measure: str) -> str:
        """Whose figure it is, and of what."""
        if measure == WHO:
            return who(figures)
        label = _(_HEADS[measure]) if measure in _HEADS else measure_label(measure, self.labels)
        return f"{who(figures)} · {label}"

    def details(self, row: int, column: int) -> list[str]:
        """Every statistic, or why there is none."""
        found = self.looked_up(row, column)
        return [self.head(*found), *self._about(*found)] if found else []

    def _about(self, figures: ReviewFigures, measure: str) -> list[str]:
        if measure == WHO:
            return [_base(figures), *self._in_short(figures)]
        if measure == RETURNED:
            return _statistics([figures.returned])
        if measure == TIME:
            return [_time(figures)]
        if measure == REASONS:
            return [self._reason(reason) for reason in figures.reasons]
        found = figures.on(measure)
        if found is None:
            if len(figures.who) == 1:
                return [_("Agreement is between two people or more.")]
            return [_("Never rated by these people.")]
        return [_items(found), *_statistics(found.statistics)]

    def rounds(self, row: int, column: int) -> list[DecidedRound]:
        """What the figure under the cursor counts; where agreement is measured, disagreement first."""
        looked_up = self.looked_up(row, column)
        if looked_up is None:
            return []
        figures, measure = looked_up
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
            failed = listed(measure_label(key, self.labels, short=True) for key in keys)
            return f"✗ {failed}" if keys else f"✓ {_('nothing failed')}"
        return f"{glyph} {_(label)}"

    def _heading(self, measure: str) -> str:
        if measure in _HEADS:
            return _(_HEADS[measure])
        return measure_label(measure, self.labels, short=True)

    def _cell(self, figures: ReviewFigures, measure: str, shown: Shown) -> Cell:
        place = figures, measure
        match measure:
            case "who":
                return Cell(who(figures), place)
            case "returned":
                return Cell(figure(figures.returned), place, figures.returned)
            case "time":
                return Cell(minutes(figures.seconds), place)
            case "reasons":
                return Cell(reasons_text(figures, self.labels, 2), place)
            case _:
                found = figures.on(measure)
                statistic = found.of(shown) if found else None
                return Cell(figure(statistic) if statistic else "", place, statistic)

    def _in_short(self, figures: ReviewFigures) -> list[str]:
        lines = [
            headed(_("Returned"), figure(figures.returned)),
            headed(_("Minutes"), minutes(figures.seconds)),
        ]
        spread = self.report.approvals.rounds
        if not figures.who and spread.median is not None:
            told = _("Rounds until approval: median {median:g} ({lower:g}–{upper:g}), n={n}")
            lines.append(
                told.format(
                    median=spread.median, lower=spread.lower, upper=spread.upper, n=spread.n
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


def _statistics(statistics: Sequence[Statistic]) -> list[str]:
    lines: list[str] = []
    for statistic in statistics:
        text = headed(_(STATISTICS[statistic.name]), figure(statistic))
        why = remark(statistic)
        lines.append(f"{text} — {why}" if why else text)
    return lines


def _time(figures: ReviewFigures) -> str:
    untimed = figures.reviews - figures.seconds.n
    text = _("median (quartiles): {minutes}").format(minutes=minutes(figures.seconds))
    if untimed:
        told = ngettext("{n} review without a time", "{n} reviews without a time", untimed)
        text += " · " + told.format(n=untimed)
    return text


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

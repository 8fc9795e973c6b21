"""The board: every task by state, since when and whom it waits for; and statistics of review in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Literal

from cuecard.annotate.review.figures import ALL_DIMENSIONS, DECISION, Spread
from cuecard.core.contributions import (
    REVIEWS_NEEDED,
    Answered,
    Claimed,
    Commented,
    Contribution,
    TaskState,
)
from cuecard.core.i18n import N_, _, listed, ngettext
from cuecard.core.records import OpenRound, TaskSummary
from cuecard.core.review import Standing, TaskLog, claims_of, standing_of
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    from cuecard.annotate.review.figures import ReviewFigures
    from cuecard.annotate.review.workflow import Protocol
    from cuecard.core.tables.table import Statistic
    from cuecard.store.workspace import Workspace


STATES = (
    TaskState.IN_REVIEW,
    TaskState.RETURNED,
    TaskState.DRAFT,
    TaskState.APPROVED,
    TaskState.RETIRED,
)
"""The states in the order of the board: those that wait for others first."""


LATEST = 20
"""How many entries of a task's log the board tells."""
TOLD: dict[str, str] = {
    "submitted": N_("handed in for review"),
    "withdrawn": N_("taken back"),
    "reopened": N_("reopened"),
    "retired": N_("archived"),
    "restored": N_("restored"),
    "third_asked": N_("a third reviewer is asked"),
    "reviewed": N_("review handed in"),
    "claimed": N_("taken to review"),
    "assigned": N_("given to a reviewer"),
    "commented": N_("comment"),
    "answered": N_("answer to a comment"),
}
"""What the board tells of a log, by kind. The rest says what reviewers must not know before they hand in."""


class LogLine(Frozen):
    """An entry of a task's log. `by` is "" where the reader must not know; `text`: of a comment or an answer, or to whom the
    task was given.
    """

    at: datetime
    revision: int
    kind: str
    by: str = ""
    text: str = ""


class BoardTask(Frozen):
    """A task as the board's reader may know it.

    `authors` (of the newest revision), `reviewed` and `reviewing` (claimed it) contain only names that the reader may
    know; `reviews` of `needed` are in and `claims` people have it, named or not. `since`: when it came into its state.
    `forks`: concurrent newest revisions. `mine`: the reader's part in it. `latest`: what happened, the newest first.
    """

    task: TaskSummary
    since: datetime
    authors: tuple[str, ...] = ()
    reviews: int = 0
    needed: int = 0
    claims: int = 0
    reviewed: tuple[str, ...] = ()
    reviewing: tuple[str, ...] = ()
    forks: int = 0
    mine: Literal["", "wrote", "reviewing", "reviewed"] = ""
    latest: tuple[LogLine, ...] = ()

    @property
    def state(self) -> TaskState:
        return self.task.state

    @property
    def free(self) -> int:
        """How many places for reviewers nobody has claimed."""
        return max(self.needed - self.reviews - self.claims, 0)

    @property
    def third(self) -> bool:
        """Two reviewers disagree, a third decides."""
        return self.needed > REVIEWS_NEEDED

    @property
    def waits_for(self) -> tuple[str, ...]:
        """Who has to act next, as far as the reader may know."""
        match self.state:
            case TaskState.DRAFT | TaskState.RETURNED:
                return self.authors
            case TaskState.IN_REVIEW:
                return self.reviewing
            case _:
                return ()

    @property
    def people(self) -> tuple[str, ...]:
        """Everybody named."""
        return tuple(dict.fromkeys((*self.authors, *self.reviewed, *self.reviewing)))


class PersonLoad(Frozen):
    """A person's open work: drafts and returned tasks of their own, and reviews to do; and own tasks in review with
    others. `oldest`: since when the longest of the first three waits.
    """

    name: str
    drafts: int = 0
    returned: int = 0
    reviews: int = 0
    with_reviewers: int = 0
    oldest: datetime | None = None

    @property
    def open(self) -> int:
        return self.drafts + self.returned + self.reviews


class Board(Frozen):
    """`tasks` by state, the longest waiting first. `people`: those with most open work first. `complete`: the reader, a
    coordinator, sees all of it; else others' loads contain only what the reader may know.
    """

    reader: str
    complete: bool
    tasks: tuple[BoardTask, ...]
    people: tuple[PersonLoad, ...]

    def counts(self) -> dict[TaskState, int]:
        """Tasks by state, in the order of the board, zeros included."""
        found = Counter(task.state for task in self.tasks)
        return {state: found[state] for state in STATES}

    def of(self, state: TaskState | None = None, person: str = "") -> tuple[BoardTask, ...]:
        """The tasks in a state, and those in which a person is named."""
        return tuple(
            task
            for task in self.tasks
            if (state is None or task.state is state) and (not person or person in task.people)
        )


def load_board(
    workspace: Workspace, reader: str, coordinators: Collection[str], now: datetime
) -> Board:
    """The board as `reader` may see it. Coordinators see who reviews, except for what they wrote themselves. `now`
    decides which claims hold.
    """
    tasks = workspace.tasks.summaries(viewer=reader, include_retired=True)
    logs = seen_by(workspace, reader, coordinators)
    moved = {
        task.id: workspace.reviews.history(task.id)[-1].at
        for task in tasks
        if standing_of(logs[task.id]).state is not task.state
    }
    return board_of(
        tasks,
        logs,
        workspace.reviews.open_rounds(reader, now),
        reader,
        now,
        moved=moved,
        complete=reader in coordinators,
    )


def seen_by(workspace: Workspace, reader: str, coordinators: Collection[str]) -> dict[str, TaskLog]:
    """The logs of all tasks as `reader` may see them; coordinators see all but their own tasks in full."""
    logs = workspace.reviews.seen_logs(reader)
    if reader not in coordinators:
        return logs
    own = workspace.tasks.written_by(reader)
    others = {id_: log for id_, log in workspace.reviews.logs().items() if id_ not in own}
    return logs | others


def board_of(
    tasks: Sequence[TaskSummary],
    logs: Mapping[str, TaskLog],
    rounds: Sequence[OpenRound],
    reader: str,
    now: datetime,
    *,
    moved: Mapping[str, datetime] | None = None,
    complete: bool = False,
) -> Board:
    """The board from `logs` as the reader may see them. `rounds`: the counts of every task in review. `moved`: when
    tasks whose last step is hidden from the reader took it.
    """
    open_rounds = {round_.task.id: round_ for round_ in rounds}
    times = moved or {}
    found = [
        _task(task, logs[task.id], open_rounds.get(task.id), reader, now, times.get(task.id))
        for task in tasks
        if task.id in logs
    ]
    found.sort(key=lambda task: (STATES.index(task.state), task.since, task.task.id))
    return Board(reader=reader, complete=complete, tasks=tuple(found), people=_loads(found))


def _task(
    task: TaskSummary,
    log: TaskLog,
    round_: OpenRound | None,
    reader: str,
    now: datetime,
    moved: datetime | None,
) -> BoardTask:
    standing = standing_of(log)
    head = next(node for node in log.revisions if node.number == standing.head)
    authors = tuple(name for name in head.authors if name)
    reviewed = tuple(name for name in standing.now.reviewers if name)
    reviewing: tuple[str, ...] = ()
    if task.state is TaskState.IN_REVIEW:
        held = claims_of(log, standing.head, now)
        reviewing = tuple(name for name in held if name not in reviewed)
    wrote = any(reader in node.authors for node in log.revisions)
    return BoardTask(
        task=task.model_copy(update={"author": authors[0] if authors else ""}),
        since=moved or _since(log, standing),
        authors=authors,
        reviews=round_.reviews if round_ else len(reviewed),
        needed=round_.needed if round_ else 0,
        claims=round_.claims + (round_.mine is not None) if round_ else 0,
        reviewed=reviewed,
        reviewing=reviewing,
        forks=len(standing.forks),
        mine="wrote"
        if wrote
        else "reviewing"
        if reader in reviewing
        else "reviewed"
        if reader in reviewed
        else "",
        latest=_latest(log),
    )


def _latest(log: TaskLog) -> tuple[LogLine, ...]:
    entries = [one for one in log.contributions if one.body.kind in TOLD]
    entries.sort(key=lambda one: one.order, reverse=True)
    return tuple(map(_log_line, entries[:LATEST]))


def _log_line(one: Contribution) -> LogLine:
    kind, text = one.body.kind, ""
    match one.body:
        case Commented(text=text) | Answered(text=text):
            pass
        case Claimed(person=person) if person != one.by:
            kind, text = "assigned", person
        case _:
            pass
    return LogLine(at=one.at, revision=one.revision, kind=kind, by=one.by, text=text)


def _since(log: TaskLog, standing: Standing) -> datetime:
    if standing.history:
        return standing.history[-1].at
    return min(node.at for node in log.revisions)


def _loads(tasks: Sequence[BoardTask]) -> tuple[PersonLoad, ...]:
    counts: dict[str, Counter[str]] = {}
    oldest: dict[str, datetime] = {}
    kinds = {TaskState.DRAFT: "drafts", TaskState.RETURNED: "returned"}
    for task in tasks:
        for name in task.people:
            counts.setdefault(name, Counter())
        for name in task.waits_for:
            counts[name][kinds.get(task.state, "reviews")] += 1
            oldest[name] = min(task.since, oldest.get(name, task.since))
        if task.state is TaskState.IN_REVIEW:
            for name in task.authors:
                counts[name]["with_reviewers"] += 1
    loads = [
        PersonLoad(name=name, oldest=oldest.get(name), **found) for name, found in counts.items()
    ]
    return tuple(sorted(loads, key=lambda load: (-load.open, load.name)))


STATISTICS: dict[str, str] = {
    "percent": N_("Percent agreement"),
    "kappa": N_("Kappa"),
    "cohen_kappa": N_("Cohen's kappa"),
    "fleiss_kappa": N_("Fleiss' kappa"),
    "ac1": N_("Gwet's AC1"),
    "return_rate": N_("Share returned"),
}
Labels = Mapping[str, tuple[str, ...]]
_SHARES = ("percent", "return_rate")


def figure(statistic: Statistic, *, n: bool = True) -> str:
    """`0.67 [0.33, 1.00] n=6`; a share as `67% [33, 100] n=6`; a dash where it is undefined."""
    shares = statistic.name in _SHARES
    text = "–" if statistic.value is None else _number(statistic.value, shares)
    if statistic.value is not None and shares:
        text += "%"
    if statistic.interval:
        low, high = statistic.interval
        text += f" [{_number(low, shares)}, {_number(high, shares)}]"
    return f"{text} n={statistic.n}" if n else text


def remark(statistic: Statistic) -> str:
    """Why there is no value, or no interval; "" if there is."""
    if statistic.value is None:
        return _("undefined (–): {reason}").format(reason=statistic.reason)
    if statistic.no_interval:
        return _("no interval: {reason}").format(reason=statistic.no_interval)
    return ""


def minutes(spread: Spread) -> str:
    """`3.5 (2.3–4.8) n=6`: the median of seconds in minutes, with the quartiles."""
    if spread.median is None or spread.lower is None or spread.upper is None:
        return f"– n={spread.n}"
    median, lower, upper = (_minutes(x) for x in (spread.median, spread.lower, spread.upper))
    return f"{median} ({lower}–{upper}) n={spread.n}"


def dimension_labels(protocol: Protocol, rated: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
    """The labels of each dimension's key, translated; several if families use one key for different questions. Of families of
    which nothing is left out in `rated`, where that tells them.
    """
    every = protocol.by_family.values()
    there = [asked for asked in every if {dimension.key for dimension in asked} <= set(rated)]
    found: dict[str, dict[str, None]] = {}
    for dimension in chain.from_iterable(every):
        said = [each for asked in there for each in asked if each.key == dimension.key]
        for each in said or [dimension]:
            found.setdefault(dimension.key, {})[_(each.label)] = None
    return {key: tuple(labels) for key, labels in found.items()}


def measure_label(measure: str, labels: Labels, *, short: bool = False) -> str:
    """The label of what is agreed on: the decision, all dimensions, or one; with `short` only the first of several."""
    if measure == DECISION:
        return _("Decision")
    if measure == ALL_DIMENSIONS:
        return _("All dimensions")
    known = labels.get(measure, (measure,))
    return f"{known[0]} …" if short and len(known) > 1 else " / ".join(known)


def reasons_text(figures: ReviewFigures, labels: Labels, most: int = 3) -> str:
    """The dimensions that failed most often, each with how often."""
    return listed(
        f"{measure_label(reason.dimension, labels, short=True)} {reason.failed}"
        for reason in figures.reasons[:most]
        if reason.failed
    )


def who(figures: ReviewFigures) -> str:
    """Whose statistics they are."""
    return " / ".join(figures.who) or _("everybody")


def waiting(task: BoardTask, reader: str) -> str:
    """Whom a task waits for, as far as its reader may know; "" for nobody."""
    if task.state is not TaskState.IN_REVIEW:
        return listed(_("you") if name == reader else name for name in task.waits_for)
    names = [_("you") if name == reader else name for name in task.reviewing]
    unnamed = task.claims - len(names)
    if unnamed > 0:
        names.append(
            ngettext("{n} reviewer", "{n} reviewers", unnamed).format(n=unnamed)
            if not names
            else ngettext("{n} other", "{n} others", unnamed).format(n=unnamed)
        )
    parts = [listed(names)] if names else []
    if task.free:
        parts.append(_("{n} free").format(n=task.free))
    parts.append(_("{n}/{needed} in").format(n=task.reviews, needed=task.needed))
    return " · ".join(parts)


def _number(value: float, share: bool) -> str:
    if share:
        return f"{100 * value:.0f}"
    # Rounding must not leave a minus before a zero.
    return f"{round(value, 2) + 0.0:.2f}"


def _minutes(seconds: float) -> str:
    value = seconds / 60
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"

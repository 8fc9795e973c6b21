"""Statistics of dual review over decided rounds: agreement of reviewers, time taken, and what is returned and why."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import combinations

from cuecard.annotate.agreement.coefficients import (
    ac1_coefficient,
    cohen_coefficient,
    fleiss_coefficient,
    percent_coefficient,
)
from cuecard.annotate.agreement.intervals import with_intervals
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.core.contributions import Action, Rating, ReviewDecision, Reviewed
from cuecard.core.review import RevisionStanding, Standing, TaskLog, standing_of
from cuecard.core.tables.table import Coefficient, Statistic, pooled, share
from cuecard.core.tasks.base import Frozen


class GivenReview(Frozen):
    """One review. `commented`: the dimensions that its comments name; `seconds`: 0 if unknown."""

    reviewer: str
    decision: ReviewDecision
    ratings: dict[str, Rating]
    commented: frozenset[str] = frozenset()
    seconds: float = 0
    at: datetime


class DecidedRound(Frozen):
    """The reviews of one revision in the order in which they came in; no more will come."""

    task_id: str
    revision: int
    reviews: tuple[GivenReview, ...]

    def by(self, reviewer: str) -> GivenReview | None:
        return next((given for given in self.reviews if given.reviewer == reviewer), None)


def is_decided(standing: RevisionStanding) -> bool:
    """Whether all reviews that the revision needs are in: open to all, or to its party because two
    disagree and no third was asked.
    """
    split = standing.seen == "party" and len(standing.reviewers) >= standing.needed
    return standing.seen == "all" or split


def decided_rounds(logs: Mapping[str, TaskLog]) -> tuple[DecidedRound, ...]:
    """By task and revision. Only reviews that count: each reviewer's first, none of an author's own."""
    found: list[DecidedRound] = []
    for task_id, log in sorted(logs.items()):
        if log.revisions:
            found += _rounds_of(task_id, log, standing_of(log))
    return tuple(found)


def rounds_until_approval(standing: Standing) -> int | None:
    """How many revisions were decided until one was approved for the first time, that one included;
    None for a task that never was.
    """
    decided: set[int] = set()
    for move in standing.history:
        if move.action in (Action.RETURN, Action.APPROVE):
            decided.add(move.revision)
        if move.action is Action.APPROVE:
            return len(decided)
    return None


def _rounds_of(task_id: str, log: TaskLog, standing: Standing) -> Iterable[DecidedRound]:
    entries = sorted(log.contributions, key=lambda entry: entry.order)
    for revision in standing.revisions:
        if not is_decided(revision):
            continue
        given: dict[str, GivenReview] = {}
        for entry in entries:
            counts = entry.revision == revision.number and entry.by in revision.reviewers
            if counts and isinstance(entry.body, Reviewed):
                given.setdefault(entry.by, _given(entry.by, entry.at, entry.body))
        yield DecidedRound(task_id=task_id, revision=revision.number, reviews=tuple(given.values()))


def _given(by: str, at: datetime, body: Reviewed) -> GivenReview:
    return GivenReview(
        reviewer=by,
        decision=body.decision,
        ratings=body.ratings,
        commented=frozenset(c.dimension for c in body.comments if c.dimension),
        seconds=body.seconds,
        at=at,
    )


DECISION = "decision"
ALL_DIMENSIONS = "*"
_DECISIONS = tuple(decision.value for decision in ReviewDecision)
_RATINGS = ("pass", "fail")


class Spread(Frozen):
    """Median and quartiles of `n` numbers (interpolated linearly); None where there are none."""

    n: int
    median: float | None = None
    lower: float | None = None
    upper: float | None = None


class MeasureAgreement(Frozen):
    """Agreement on `measure`: `DECISION`, `ALL_DIMENSIONS` together, or the key of a dimension.

    `statistics`: `percent`, kappa (Cohen's for two reviewers, Fleiss' for all) and `ac1`. `unsure`: how
    many ratings were "cannot judge", which count as missing.
    """

    measure: str
    statistics: tuple[Statistic, ...]
    unsure: int = 0

    @property
    def n(self) -> int:
        """Items that two people judged."""
        return self.statistics[0].n

    def of(self, name: str) -> Statistic:
        """Raises `KeyError`."""
        for statistic in self.statistics:
            if statistic.name == name or (name == "kappa" and statistic.name.endswith("kappa")):
                return statistic
        raise KeyError(name)


class Reason(Frozen):
    """How often a dimension `failed` among `rated` reviews, and in how many a comment names it."""

    dimension: str
    failed: int
    commented: int
    rated: int


class ReviewFigures(Frozen):
    """Statistics of everybody (`who` empty), one person, or a pair (over their common rounds). `returned`: the share of
    reviews that return. `reasons`: the most frequent first. `agreement` is empty for one person.
    """

    who: tuple[str, ...]
    tasks: int
    revisions: int
    reviews: int
    seconds: Spread
    returned: Statistic
    reasons: tuple[Reason, ...]
    agreement: tuple[MeasureAgreement, ...] = ()

    def on(self, measure: str) -> MeasureAgreement | None:
        return next((found for found in self.agreement if found.measure == measure), None)


class Approvals(Frozen):
    """`rounds`: how many decided revisions tasks took until their first approval; `counts`: (rounds, tasks)."""

    rounds: Spread
    counts: tuple[tuple[int, int], ...]


class FiguresReport(Frozen):
    """`pairs` and `people` by name, alphabetically. `dimensions`: the keys that were rated."""

    overall: ReviewFigures
    pairs: tuple[ReviewFigures, ...]
    people: tuple[ReviewFigures, ...]
    approvals: Approvals
    dimensions: tuple[str, ...]
    rounds: tuple[DecidedRound, ...]

    def pair(self, left: str, right: str) -> ReviewFigures | None:
        wanted = tuple(sorted((left, right)))
        return next((found for found in self.pairs if found.who == wanted), None)


def figures_of(logs: Mapping[str, TaskLog], *, dimensions: Sequence[str] = ()) -> FiguresReport:
    """All statistics, from the logs by task id; what a log hides from its reader is not counted. `dimensions`: the
    order of keys; others follow by name.

    A third reviewer judges only what two disagreed about, so pairs with one are no sample of all tasks.
    """
    rounds = decided_rounds(logs)
    rated = {key for round_ in rounds for given in round_.reviews for key in given.ratings}
    known = [key for key in dict.fromkeys(dimensions) if key in rated]
    order = (*known, *sorted(rated.difference(known)))
    names = sorted({given.reviewer for round_ in rounds for given in round_.reviews})
    pairs: list[ReviewFigures] = []
    for pair in combinations(names, 2):
        shared = [_only(round_, pair) for round_ in rounds if all(map(round_.by, pair))]
        if shared:
            pairs.append(_figures(pair, shared, order))
    people = [
        _figures((name,), [_only(r, (name,)) for r in rounds if r.by(name)], order)
        for name in names
    ]
    return FiguresReport(
        overall=_figures((), rounds, order),
        pairs=tuple(pairs),
        people=tuple(people),
        approvals=_approvals(logs),
        dimensions=order,
        rounds=rounds,
    )


def _figures(
    who: tuple[str, ...], rounds: Sequence[DecidedRound], dimensions: Sequence[str]
) -> ReviewFigures:
    tasks = [round_.task_id for round_ in rounds for _given in round_.reviews]
    reviews = [given for round_ in rounds for given in round_.reviews]
    returns = [given.decision is ReviewDecision.RETURN for given in reviews]
    return ReviewFigures(
        who=who,
        tasks=len(set(tasks)),
        revisions=len(rounds),
        reviews=len(reviews),
        seconds=spread([given.seconds for given in reviews if given.seconds > 0]),
        returned=with_intervals([share("return_rate", returns)], tasks)[0],
        reasons=_reasons(reviews),
        agreement=() if len(who) == 1 else _agreement(rounds, dimensions, bool(who)),
    )


def _agreement(
    rounds: Sequence[DecidedRound], dimensions: Sequence[str], of_pair: bool
) -> tuple[MeasureAgreement, ...]:
    """The decision, all dimensions together, then each that was rated in these rounds."""
    rated = {key for round_ in rounds for given in round_.reviews for key in given.ratings}
    keys = [key for key in dimensions if key in rated]
    on_decision = _coefficients(
        rounds,
        [{g.reviewer: g.decision.value for g in r.reviews} for r in rounds],
        _DECISIONS,
        of_pair,
    )
    on_dimension = [
        _coefficients(
            rounds,
            [{g.reviewer: g.ratings.get(key, "") for g in r.reviews} for r in rounds],
            _RATINGS,
            of_pair,
        )
        for key in keys
    ]
    together = [pooled(parts) for parts in zip(*on_dimension, strict=True)]
    measures = [DECISION, *([ALL_DIMENSIONS] if keys else []), *keys]
    sets = [on_decision, *([together] if keys else []), *on_dimension]
    statistics = with_intervals(
        [coefficient for coefficients in sets for coefficient in coefficients],
        [round_.task_id for round_ in rounds],
    )
    unsure = Counter(
        key
        for round_ in rounds
        for given in round_.reviews
        for key, rating in given.ratings.items()
        if rating == "cannot_judge"
    )
    unsure[ALL_DIMENSIONS] = unsure.total()
    return tuple(
        MeasureAgreement(
            measure=measure, statistics=statistics[3 * i : 3 * i + 3], unsure=unsure[measure]
        )
        for i, measure in enumerate(measures)
    )


def _coefficients(
    rounds: Sequence[DecidedRound],
    given: Sequence[Mapping[str, str]],
    domain: tuple[str, ...],
    of_pair: bool,
) -> tuple[Coefficient, Coefficient, Coefficient]:
    """Percent, kappa and AC1 over what reviewers said in each round; values outside `domain` are missing."""
    names = sorted({given.reviewer for round_ in rounds for given in round_.reviews})
    index = {label: code for code, label in enumerate(domain)}
    ratings = Ratings(
        items=tuple(f"{r.task_id}/{r.revision}" for r in rounds),
        raters=tuple(names),
        labels=domain,
        codes=tuple(tuple(index.get(said.get(name, ""), -1) for name in names) for said in given),
    )
    kappa = cohen_coefficient if of_pair else fleiss_coefficient
    return percent_coefficient(ratings), kappa(ratings), ac1_coefficient(ratings)


def _reasons(reviews: Sequence[GivenReview]) -> tuple[Reason, ...]:
    rated = Counter(key for given in reviews for key in given.ratings)
    failed = Counter(
        key for given in reviews for key, rating in given.ratings.items() if rating == "fail"
    )
    commented = Counter(key for given in reviews for key in given.commented)
    found = [
        Reason(dimension=key, failed=failed[key], commented=commented[key], rated=rated[key])
        for key in failed.keys() | commented.keys()
    ]
    return tuple(sorted(found, key=lambda r: (-r.failed, -r.commented, r.dimension)))


def _approvals(logs: Mapping[str, TaskLog]) -> Approvals:
    standings = [standing_of(log) for log in logs.values() if log.revisions]
    found = [rounds_until_approval(standing) for standing in standings]
    rounds = [number for number in found if number is not None]
    return Approvals(rounds=spread(rounds), counts=tuple(sorted(Counter(rounds).items())))


def spread(numbers: Sequence[float]) -> Spread:
    """Median and quartiles."""
    if not numbers:
        return Spread(n=0)
    import numpy as np

    lower, median, upper = (float(x) for x in np.quantile(numbers, [0.25, 0.5, 0.75]))
    return Spread(n=len(numbers), median=median, lower=lower, upper=upper)


def _only(round_: DecidedRound, people: Sequence[str]) -> DecidedRound:
    reviews = tuple(given for given in round_.reviews if given.reviewer in people)
    return round_.model_copy(update={"reviews": reviews})

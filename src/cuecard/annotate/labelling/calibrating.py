"""A judge's rates on runs without labels, corrected by how often it errs on labels from elsewhere: other runs, or a set of
other tasks.

The point is Rogan & Gladen's (1978), the interval that of Lee et al. (arXiv 2511.21140), which counts what is not known of
the judge's sensitivity and specificity, too. One rate at a time: F1 and success cannot be corrected so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import sqrt
from typing import TYPE_CHECKING

from cuecard.annotate.estimation.allocation import (
    UNKNOWN_ICC,
    Z95,
    design_effect,
    intraclass_correlation,
)
from cuecard.annotate.labelling.comparison_inputs import Case, Scope, Subject, gather
from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS, KIND_WORDS
from cuecard.annotate.labelling.labelling_sets import population_of
from cuecard.annotate.labelling.sampling import SamplingPlan
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _, listed, ngettext
from cuecard.core.tables.table import Statistic, Table
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family
from cuecard.core.verdicts import Decision, ItemKind

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


_SUBJECTS: tuple[Subject, ...] = ("gold", "predicted", "row")
"""What judges say yes or no to, so that a rate can be corrected."""


class AgentRate(Frozen):
    """The share of an agent's items of one kind that the judge accepts, and corrected; `n` items, `assumed` where how much
    items of a task are alike could not be told.
    """

    agent: str
    family: Family
    kind: ItemKind
    n: int
    rate: CorrectedRate
    assumed: bool


class NothingLabelled(CuecardError):
    """Nobody labelled elsewhere what the judge decided there."""


class Calibration(Frozen):
    """Rates by `judge`, corrected by its errors on labels of other `runs`, or of a labelling set."""

    judge: str
    runs: tuple[int, ...]
    set_id: int | None
    rates: tuple[AgentRate, ...]


def calibrate(
    workspace: Workspace,
    runs: Sequence[int],
    judge: str,
    *,
    from_runs: Sequence[int] = (),
    from_set: int | None = None,
) -> Calibration:
    """The rates of these runs, corrected by how the same judge did on labels from elsewhere. Raises `CuecardError` if these
    are on the same runs, or on nothing that this judge decided; `NotFound`.
    """
    scope = Scope(runs=tuple(from_runs), set_id=from_set)
    elsewhere = set(from_runs)
    cases: dict[ItemKind, list[tuple[Case, float]]] = defaultdict(list)
    for subject in _SUBJECTS:
        inputs = gather(workspace, scope.model_copy(update={"subject": subject}))
        decided = [case for case in inputs.cases if judge in case.decisions and _truth(case)]
        weights = inputs.weights(decided, lambda case: bool(_truth(case))) or [1.0] * len(decided)
        for case, weight in zip(decided, weights, strict=True):
            cases[case.item.kind].append((case, weight))
    if from_set is not None:
        trials = {item.trial_id for item in workspace.label_sets.items(from_set)}
        elsewhere = {workspace.runs.trial(trial).run_id for trial in trials}
    if both := sorted(elsewhere & set(runs)):
        raise CuecardError(
            _("These labels are not from elsewhere"),
            _("they are on run {run} itself").format(run=both[0]),
            _("Labels on a run correct it by themselves, and better: leave out the option"),
        )
    if not cases:
        raise NothingLabelled(
            _("There is nothing to calibrate by"),
            _("people labelled nothing there that {judge} decided").format(judge=judge),
            _("Have the same judge judge it (`cuecard judge`), and label it."),
        )
    errors = {kind: _errors(found, judge) for kind, found in cases.items()}
    return Calibration(
        judge=judge,
        runs=tuple(from_runs),
        set_id=from_set,
        rates=tuple(_rates(workspace, runs, judge, errors)),
    )


def calibrate_elsewhere(workspace: Workspace, runs: Sequence[int]) -> tuple[Calibration, ...]:
    """The rates of these runs by each of their judges, corrected by labels on all other runs; without judges of which
    nothing was labelled there. Exams and probes are nothing to be corrected, or to correct by.
    """
    played = {run.id for run in workspace.runs.all() if run.kind != "probe"}
    runs = [run for run in runs if run in played]
    labelled = workspace.verdicts.labelled_trials(played.difference(runs)) if runs else ()
    from_runs = sorted({workspace.runs.trial(trial).run_id for trial in labelled})
    judges = sorted({head.judge.name for run in runs for head in workspace.verdicts.heads(run)})
    found: list[Calibration] = []
    for judge in judges if from_runs else ():
        with suppress(NothingLabelled):
            found.append(calibrate(workspace, runs, judge, from_runs=from_runs))
    return tuple(found)


def _truth(case: Case) -> str:
    return case.adjudicated or case.majority


def _errors(cases: Sequence[tuple[Case, float]], judge: str) -> tuple[JudgeErrors, bool]:
    """How the judge did, and whether how much items of a task are alike had to be assumed for it."""
    sides = [
        _share(
            [
                (float(case.decisions[judge] == truth), weight, case.task)
                for case, weight in cases
                if _truth(case) == truth
            ]
        )
        for truth in (Decision.YES.value, Decision.NO.value)
    ]
    (sensitivity, true, first), (specificity, false, second) = sides
    errors = JudgeErrors(sensitivity=sensitivity, specificity=specificity, true=true, false=false)
    return errors, first or second


def _share(flags: Sequence[tuple[float, float, str]]) -> tuple[float, float, bool]:
    """The share of flagged items, given with weight and task; how many count as independent; and whether how much those of
    a task are alike had to be assumed.
    """
    if not flags:
        return 0.0, 0.0, False
    values, weights, tasks = zip(*flags, strict=True)
    total = sum(weights)
    share = sum(v * w for v, w in zip(values, weights, strict=True)) / total
    alike = intraclass_correlation(values, tasks)
    effect = design_effect(len(flags) / len(set(tasks)), UNKNOWN_ICC if alike is None else alike)
    return share, total**2 / sum(w**2 for w in weights) / effect, alike is None


def _rates(
    workspace: Workspace,
    runs: Sequence[int],
    judge: str,
    errors: Mapping[ItemKind, tuple[JudgeErrors, bool]],
) -> Iterator[AgentRate]:
    found: dict[tuple[Family, str, ItemKind], list[tuple[float, float, str]]] = defaultdict(list)
    plan = SamplingPlan(runs=tuple(runs), n=1, kinds=tuple(errors), judge=judge)
    for unit in population_of(workspace, plan) if errors else ():
        if unit.decision != Decision.UNJUDGED:
            flag = float(unit.decision == Decision.YES)
            found[unit.family, unit.agent, unit.item.kind].append((flag, 1.0, unit.task))
    for (family, agent, kind), flags in sorted(found.items()):
        judged, items, assumed = _share(flags)
        known, there = errors[kind]
        yield AgentRate(
            agent=agent,
            family=family,
            kind=kind,
            n=len(flags),
            rate=corrected_rate(kind.value, judged, items, known, n=len(flags)),
            assumed=assumed or there,
        )


def calibration_table(found: Calibration) -> Table:
    """Each rate by the judge and corrected, with what it rests on, always with the assumption."""
    rows = [
        (
            f"{one.agent} · {_(KIND_WORDS[one.kind])} · {_(FAMILY_WORDS[one.family])}",
            one.n,
            f"{one.rate.judged:.3f}",
            one.rate.corrected,
            _of(one.rate.errors.sensitivity, one.rate.errors.true),
            _of(one.rate.errors.specificity, one.rate.errors.false),
        )
        for one in found.rates
    ]
    return Table.of(
        _("Shares of items that are right, corrected by labels from elsewhere"),
        (
            _("Share"),
            "n",
            found.judge,
            _("corrected [95% interval]"),
            _("sensitivity there"),
            _("specificity there"),
        ),
        rows,
        tuple(_notes(found)),
        view="calibration",
    )


def _of(share: float, m: float) -> str:
    return _("{share} of {n}").format(share=f"{share:.3f}", n=f"{m:.1f}") if m else "–"


def _notes(found: Calibration) -> Iterator[str]:
    where = (
        _("set {n}").format(n=found.set_id)
        if found.set_id is not None
        else ngettext("run {runs}", "runs {runs}", len(found.runs)).format(
            runs=listed(map(str, found.runs))
        )
    )
    yield _(
        "Assumes that {judge} errs here as often as on {where}, item by item; nothing here can tell whether it does. The"
        " interval counts what is not known of its errors, too."
    ).format(judge=found.judge, where=where)
    yield _(
        "A share over all items. F1 and success cannot be corrected so. Numbers of items there are those that count as"
        " independent, since items of one task are alike."
    )
    if any(one.assumed for one in found.rates):
        yield _("Where it could not be told how much they are alike, {icc:g} is assumed.").format(
            icc=UNKNOWN_ICC
        )
    yield from dict.fromkeys(one.rate.warning for one in found.rates if one.rate.warning)
    wide = [one.rate for one in found.rates if one.rate.corrected.defined]
    if wide:
        widest = max(wide, key=lambda rate: (rate.corrected.high or 0) - (rate.corrected.low or 0))
        n = true_items_to_label(widest.judged, widest.errors, 100)
        yield _(
            "Of 100 labels more there, about {n:.0f} on right items and the others on wrong ones narrow the widest most."
        ).format(n=n)


_LEAST_SKILL = 0.1
"""By how much sensitivity and specificity together have to be above 1."""


class JudgeErrors(Frozen):
    """How a judge did on labels from elsewhere: of `true` items by people it accepted the share `sensitivity`, of `false`
    ones it refused the share `specificity`. Numbers of items are those that count as independent, so they may be broken.
    """

    sensitivity: float
    specificity: float
    true: float
    false: float


class CorrectedRate(Frozen):
    """A rate `judged` by the judge on `items` that count as independent, and corrected. `warning`: what makes the corrected
    one doubtful though it is there, "" for nothing.
    """

    name: str
    judged: float
    items: float
    errors: JudgeErrors
    corrected: Statistic
    warning: str = ""


def corrected_rate(
    name: str, judged: float, items: float, errors: JudgeErrors, *, n: int = 0
) -> CorrectedRate:
    """The rate that people would have found, if the judge errs here as often as there. `judged`: the share of `items` that
    the judge accepts; `items`, and those of `errors`, are divided by the design effect where items come in tasks. `n`: how
    many items there are before that.

    Undefined where one side of the calibration is empty, and where the judge hardly tells true from false.
    """
    n = n or round(items)
    why = _undefined(items, errors)
    if why:
        corrected = Statistic(name=name, value=None, n=n, reason=why)
        return CorrectedRate(
            name=name, judged=judged, items=items, errors=errors, corrected=corrected
        )
    q1, q0 = errors.sensitivity, errors.specificity
    point = _cut((judged + q0 - 1) / (q0 + q1 - 1))
    low, high = uncut_interval(judged, items, errors)
    warning = ""
    if judged in (0.0, 1.0):
        warning = _(
            "The judge decides alike on all of these: the corrected rate stands at its bound, and says next to nothing."
        )
    elif point in (0.0, 1.0):
        warning = _(
            "The judge accepts fewer or more of these than its errors there allow: it errs otherwise here, or by chance."
        )
    return CorrectedRate(
        name=name,
        judged=judged,
        items=items,
        errors=errors,
        corrected=Statistic(name=name, value=point, n=n, low=_cut(low), high=_cut(high)),
        warning=warning,
    )


def _undefined(items: float, errors: JudgeErrors) -> str:
    if not items:
        return _("the judge decided nothing here")
    if not errors.true:
        return _("no true items among the labels from elsewhere")
    if not errors.false:
        return _("no false items among the labels from elsewhere")
    raw = errors.sensitivity + errors.specificity - 1
    if raw <= _LEAST_SKILL + 1e-12 or _smoothed_skill(errors) <= 0:
        return _("the judge hardly tells true from false")
    return ""


def _smoothed(share: float, m: float) -> float:
    return (m * share + 1) / (m + 2)


def _smoothed_skill(errors: JudgeErrors) -> float:
    return (
        _smoothed(errors.sensitivity, errors.true) + _smoothed(errors.specificity, errors.false) - 1
    )


def uncut_interval(judged: float, items: float, errors: JudgeErrors) -> tuple[float, float]:
    """The 95% interval before it is cut to [0, 1]. The point need not be in its middle."""
    z2 = Z95**2
    p, n = (items * judged + z2 / 2) / (items + z2), items + z2
    q1, m1 = _smoothed(errors.sensitivity, errors.true), errors.true + 2
    q0, m0 = _smoothed(errors.specificity, errors.false), errors.false + 2
    skill = q0 + q1 - 1
    theta = (p + q0 - 1) / skill
    of_false, of_true = q0 * (1 - q0) / m0, q1 * (1 - q1) / m1
    centre = theta + 2 * z2 * (theta * of_true - (1 - theta) * of_false)
    se = sqrt(p * (1 - p) / n + (1 - theta) ** 2 * of_false + theta**2 * of_true) / skill
    return centre - Z95 * se, centre + Z95 * se


def true_items_to_label(judged: float, errors: JudgeErrors, n: float) -> float:
    """Of `n` items to label next elsewhere, how many true ones make the interval narrowest; the others are false ones."""
    if not judged:
        return 0.0
    misses = 1 - _smoothed(errors.sensitivity, errors.true)
    alarms = 1 - _smoothed(errors.specificity, errors.false)
    return n / (1 + (1 / judged - 1) * sqrt(alarms / misses))


def _cut(value: float) -> float:
    return min(1.0, max(0.0, value))

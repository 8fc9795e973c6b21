"""Trials put into classes by what happened in them, and the mean of a measure in each class."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cuecard.core.i18n import _
from cuecard.core.scoring.trial_figures import TrialFigures
from cuecard.core.tasks.base import Frozen
from cuecard.results.errors.groups import Judged
from cuecard.results.errors.rates import Part, Rate, counted, plan

_CALLS = {"0": 0, "1-5": 5, "6-10": 10, "11-20": 20, "21-50": 50, "51-100": 100}
"""Classes and the most calls in them."""
_MORE = "101+"
CALL_CLASSES = (*_CALLS, _MORE)


class TrialClass(Frozen):
    """Trials of one class, and the mean of a measure over those that have a value."""

    name: str
    mean: Rate


def calls_class(calls: int) -> str:
    """`0`, `1-5`, `6-10`, `11-20`, `21-50`, `51-100`, `101+`: the agent's tool calls in a trial. Ours: about as wide
    as the numbers of calls that one answer, one stage and one whole dialogue take.
    """
    return next((name for name, most in _CALLS.items() if calls <= most), _MORE)


def classes(
    judged: Judged,
    class_of: Callable[[TrialFigures], str],
    names: Sequence[str],
    measure: str = "triplet_f1",
) -> tuple[TrialClass, ...]:
    """The mean of a measure over the trials of each class."""
    parts: dict[str, list[Part]] = {name: [] for name in names}
    for row, figures in judged:
        value = figures.value(measure)
        if value is not None:
            parts[class_of(figures)].append((row, value, 1.0))
    rates = counted(
        {name: plan(measure, mine, empty=_("no such trial")) for name, mine in parts.items()}
    )
    return tuple(TrialClass(name=name, mean=rates[name]) for name in names)

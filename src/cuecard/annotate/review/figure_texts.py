"""Figures and waiting in words: the same on the board's screen and on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cuecard.annotate.review.figures import ALL_DIMENSIONS, DECISION, Spread
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.review import TaskState

if TYPE_CHECKING:
    from cuecard.annotate.agreement import Statistic
    from cuecard.annotate.review.board import BoardTask
    from cuecard.annotate.review.figures import ReviewFigures
    from cuecard.annotate.review.protocol import Protocol

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


def dimension_labels(protocol: Protocol) -> dict[str, tuple[str, ...]]:
    """What the dimensions' keys stand for, translated; several where families use one key for
    different questions.
    """
    found: dict[str, dict[str, None]] = {}
    for dimensions in protocol.by_family.values():
        for dimension in dimensions:
            found.setdefault(dimension.key, {})[_(dimension.label)] = None
    return {key: tuple(labels) for key, labels in found.items()}


def measure_label(measure: str, labels: Labels, *, short: bool = False) -> str:
    """What is agreed on: the decision, all dimensions, or one; in `short` its key if families differ."""
    if measure == DECISION:
        return _("Decision")
    if measure == ALL_DIMENSIONS:
        return _("All dimensions")
    known = labels.get(measure, ())
    return measure if not known or (short and len(known) > 1) else " / ".join(known)


def reasons_text(figures: ReviewFigures, labels: Labels, most: int = 3) -> str:
    """The dimensions that failed most often, each with how often."""
    return ", ".join(
        f"{measure_label(reason.dimension, labels, short=True)} {reason.failed}"
        for reason in figures.reasons[:most]
        if reason.failed
    )


def who(figures: ReviewFigures) -> str:
    """Whose figures they are."""
    return " / ".join(figures.who) or _("everybody")


def waiting(task: BoardTask, reader: str) -> str:
    """Whom a task waits for, as its reader may know, in a few words; "" for nobody."""
    if task.state is not TaskState.IN_REVIEW:
        return ", ".join(_("you") if name == reader else name for name in task.waits_for)
    names = [_("you") if name == reader else name for name in task.reviewing]
    unnamed = task.claims - len(names)
    if unnamed > 0:
        names.append(
            ngettext("{n} reviewer", "{n} reviewers", unnamed).format(n=unnamed)
            if not names
            else ngettext("{n} other", "{n} others", unnamed).format(n=unnamed)
        )
    parts = [", ".join(names)] if names else []
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

"""Which agent is better, by how much, and whether it may be noise: one careful sentence or two for each family."""

from __future__ import annotations

from cuecard.annotate.agreement import Statistic
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _, ngettext
from cuecard.core.scoring.labels import COUNTS, HEADLINES, measure_label
from cuecard.core.tasks import FAMILIES, Family
from cuecard.results.comparing import Comparison, Contrast, compare
from cuecard.results.pool import Pool
from cuecard.results.report.words import FAMILY, listed
from cuecard.results.score_table import score_table


def summary_lines(pool: Pool) -> tuple[str, ...]:
    """A paragraph for each family of the pool, in the order of families."""
    return tuple(_of_family(pool, family) for family in FAMILIES if family in pool.families)


def _of_family(pool: Pool, family: Family) -> str:
    measure = HEADLINES[family][0]
    head = _("{family}, {measure}").format(family=_(FAMILY[family]), measure=measure_label(measure))
    mine = pool.where(lambda row: row.family == family)
    if not any(row.figures for row in mine.rows):
        return _("{head}: no trial has been judged, so nothing can be said.").format(head=head)
    agents = sorted({row.value("agent") for row in mine.rows if row.figures})
    if len(agents) == 1:
        return _alone(mine, head, measure, agents[0])
    try:
        found = compare(mine, "agent", family=family, measure=measure)
        leader = _leader(found)
        if leader != found.base:
            found = compare(mine, "agent", leader, family=family, measure=measure)
    except CuecardError as error:
        return _("{head}: the agents cannot be compared. {reason}").format(
            head=head, reason=error.message or error.title
        )
    return _compared(found, head)


def _alone(pool: Pool, head: str, measure: str, agent: str) -> str:
    (line,) = score_table(pool, ("agent",), (measure,)).lines[:1]
    mean = line.figures.get(f"{measure}.avg")
    return _("{head}: {agent} alone was run: {mean}. There is nothing to compare it with.").format(
        head=head, agent=agent, mean=_mean(mean, measure)
    )


def _leader(found: Comparison) -> str:
    """The arm with the highest mean; of equals the first."""
    means = {found.base: found.contrasts[0].base_mean.value}
    means |= {contrast.arm: contrast.arm_mean.value for contrast in found.contrasts}
    return max(means, key=lambda name: -1.0 if means[name] is None else means[name] or 0.0)


def _compared(found: Comparison, head: str) -> str:
    """Of the arm with the highest mean against each other one."""
    best = found.contrasts[0].base_mean
    parts = [
        _("{head}: of {n} agents {agent} has the highest mean, {mean}.").format(
            head=head,
            n=len(found.contrasts) + 1,
            agent=found.base,
            mean=_mean(best, found.measure),
        ),
        *(_contrast(contrast, found) for contrast in found.contrasts),
    ]
    if len(found.contrasts) > 1:
        parts.append(
            _(
                "The agent was chosen for its mean and the intervals are not adjusted for several comparisons, so"
                " they are somewhat too favourable to it."
            )
        )
    if found.differs:
        parts.append(
            _("The agents differ also in {what}, so a difference may be due to that.").format(
                what=listed(found.differs)
            )
        )
    return " ".join(parts)


def _contrast(contrast: Contrast, found: Comparison) -> str:
    # Told from the leader's side, so that a lead is positive.
    gap = contrast.difference
    n = len(contrast.tasks)
    beside = ngettext(
        "Against {other} on {n} shared task",
        "Against {other} on {n} shared tasks",
        n,
    ).format(other=contrast.arm, n=n)
    if gap.value is None:
        return _("{beside} there is no difference to tell: {reason}.").format(
            beside=beside, reason=gap.reason
        )
    told = _signed(-gap.value, found.measure)
    tally = _("better on {wins}, worse on {losses}, level on {ties}").format(
        wins=contrast.losses, losses=contrast.wins, ties=contrast.ties
    )
    if gap.interval is None:
        return _(
            "{beside}: {told} ({tally}); without an interval ({reason}) it cannot be told from noise."
        ).format(beside=beside, told=told, tally=tally, reason=gap.no_interval)
    low, high = -gap.interval[1], -gap.interval[0]
    between = f"[{_signed(low, found.measure)}, {_signed(high, found.measure)}]"
    verdict = (
        _("the interval lies above zero, so the choice of tasks alone hardly explains the lead")
        if low > 0
        else _("the interval lies below zero: on these tasks the other is better")
        if high < 0
        else _(
            "the interval includes zero, so this may be noise: these tasks do not tell which is better"
        )
    )
    return _("{beside}: {told} {between} ({tally}); {verdict}.").format(
        beside=beside, told=told, between=between, tally=tally, verdict=verdict
    )


def _mean(mean: Statistic | None, measure: str) -> str:
    """`61.3 [55.0, 67.2] (n = 12)`: shares in percent."""
    if mean is None or mean.value is None:
        return "–"
    told = _plain(mean.value, measure)
    if mean.interval:
        low, high = mean.interval
        told += f" [{_plain(low, measure)}, {_plain(high, measure)}]"
    return f"{told} (n = {mean.n:,})"


def _plain(value: float, measure: str) -> str:
    return f"{value:,.2f}" if measure in COUNTS else f"{100 * value:.1f}"


def _signed(value: float, measure: str) -> str:
    """With its sign; a zero has none."""
    text = f"{value:+,.2f}" if measure in COUNTS else f"{100 * value:+.1f}"
    return text.lstrip("+-") if not float(text.replace(",", "")) else text

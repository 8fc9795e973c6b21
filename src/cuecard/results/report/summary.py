"""Which agent is better, by how much, and whether it may be noise: one careful sentence or two for each family."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.annotate.agreement import Statistic
from cuecard.annotate.effect.sheets import FAMILY_WORDS
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _, ngettext
from cuecard.core.scoring.aggregate import statistics_of
from cuecard.core.scoring.labels import COUNTS, HEADLINES, measure_label
from cuecard.core.tasks import FAMILIES, Family
from cuecard.results.comparing import Comparison, Contrast, compare
from cuecard.results.pool import Pool
from cuecard.results.report.model import Term, Terms
from cuecard.results.report.words import listed
from cuecard.results.score_table import score_table
from cuecard.results.taking import figure_key
from cuecard.results.words import dimension_word

NBSP = "\u00a0"
_MINUS = str.maketrans("-", "\u2212")


def summary_terms(pool: Pool) -> Terms:
    """An entry for each family and judge of the pool, in the order of families."""
    judges = pool.values("judge")
    found: list[Term] = []
    for family in FAMILIES:
        for judge in judges:
            mine = Pool(
                runs=pool.runs,
                rows=tuple(r for r in pool.rows if (r.family, r.judged_by) == (family, judge)),
            )
            if mine.rows:
                found.append(_of_family(mine, family, judge if len(judges) > 1 else ""))
    return Terms("", tuple(found))


def caution() -> str:
    """What holds of all sentences that name the best of several."""
    return _(
        "Where an agent was chosen for its mean among several, the comparisons are somewhat too favourable to it;"
        " intervals are not adjusted for how many comparisons there are. They tell of the choice of tasks, not of other"
        " prompts, simulators or judges."
    )


def _of_family(pool: Pool, family: Family, judge: str) -> Term:
    measure = HEADLINES[family][0]
    head = _("{family}, {measure}").format(
        family=_(FAMILY_WORDS[family]), measure=measure_label(measure)
    )
    if judge:
        head = _("{head}, by judge {judge}").format(head=head, judge=judge)
    agents = sorted({row.value("agent") for row in pool.rows if row.figures})
    if not agents:
        return Term(head, (_("No trial has been judged, so nothing can be said."),))
    means = {
        line.value("agent"): line.figures.get(figure_key(measure, statistics_of(measure)[0]))
        for line in score_table(pool, ("agent",), (measure,)).lines
    }
    if len(agents) == 1:
        told = _("{agent} alone was run: {mean}. There is nothing to compare it with.")
        mean = _mean(means.get(agents[0]), measure)
        return Term(head, (told.format(agent=agents[0], mean=mean),))
    leader = max(agents, key=lambda agent: _height(means.get(agent)))
    try:
        found = compare(pool, "agent", leader, family=family, measure=measure)
    except CuecardError as error:
        why = _("The agents cannot be compared. {reason}")
        return Term(head, (why.format(reason=error.message or error.title),))
    return Term(head, tuple(_compared(found, means.get(leader))))


def _height(mean: Statistic | None) -> float:
    """What agents are ordered by; those without a mean last."""
    return -1.0 if mean is None or mean.value is None else mean.value


def _compared(found: Comparison, best: Statistic | None) -> Iterator[str]:
    """Of the arm with the highest mean, `best`, against each other one."""
    tied = [c for c in found.contrasts if c.difference.value == 0]
    if len(tied) == len(found.contrasts):
        names = listed((found.base, *(contrast.arm for contrast in found.contrasts)))
        yield _("{agents} have the same mean, {mean}.").format(
            agents=names, mean=_mean(best, found.measure)
        )
    else:
        yield _("Of {n} agents {agent} has the highest mean, {mean}.").format(
            n=len(found.contrasts) + 1, agent=found.base, mean=_mean(best, found.measure)
        )
        yield from (_contrast(contrast, found) for contrast in found.contrasts)
    if found.differs:
        yield _("The agents differ also in {what}, so a difference may be due to that.").format(
            what=listed(dimension_word(each) for each in found.differs)
        )


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
    told = _points(found.measure).format(n=_signed(-gap.value, found.measure))
    tally = _("better on {wins}, worse on {losses}, level on {ties}").format(
        wins=contrast.losses, losses=contrast.wins, ties=contrast.ties
    )
    if gap.interval is None:
        return _(
            "{beside}: {told} ({tally}); without an interval ({reason}) it cannot be told from noise."
        ).format(beside=beside, told=told, tally=tally, reason=gap.no_interval)
    low, high = -gap.interval[1], -gap.interval[0]
    between = f"[{_signed(low, found.measure)}, {_signed(high, found.measure)}]"
    if low > 0:
        verdict = _(
            "the interval lies above zero, so the choice of tasks alone hardly explains the lead"
        )
    elif high < 0:
        verdict = _("the interval lies below zero: on these tasks the other is better")
    else:
        verdict = _(
            "the interval includes zero, so this may be noise: these tasks do not tell which is better"
        )
    return _("{beside}: {told} {between} ({tally}); {verdict}.").format(
        beside=beside, told=told, between=between, tally=tally, verdict=verdict
    )


def _points(measure: str) -> str:
    return "{n}" if measure in COUNTS else _("{n} points")


def _mean(mean: Statistic | None, measure: str) -> str:
    """`61.3% [55.0, 67.2] (n = 12)`."""
    if mean is None or mean.value is None:
        return "–"
    told = _plain(mean.value, measure) + ("" if measure in COUNTS else "%")
    if mean.interval:
        low, high = mean.interval
        told += f" [{_plain(low, measure)}, {_plain(high, measure)}]"
    return f"{told} (n{NBSP}={NBSP}{mean.n:,})"


def _plain(value: float, measure: str) -> str:
    return f"{value:,.2f}" if measure in COUNTS else f"{100 * value:.1f}"


def _signed(value: float, measure: str) -> str:
    """With its sign; a zero has none."""
    text = f"{value:+,.2f}" if measure in COUNTS else f"{100 * value:+.1f}"
    zero = not float(text.replace(",", ""))
    return text.lstrip("+-") if zero else text.translate(_MINUS)

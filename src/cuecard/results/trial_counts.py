"""How many trials stand behind the figures, how they ended, and what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from cuecard.annotate.effect.sheets import FAMILY_WORDS
from cuecard.annotate.labelling.comparison.sheets import Cell, Line, Sheet
from cuecard.core.i18n import N_, _, pgettext
from cuecard.core.text import one_line
from cuecard.core.words import ENDING_WORDS
from cuecard.results.cells import ResultCell
from cuecard.results.pool import Pool, Row, Spent
from cuecard.results.words import amount

KIND: dict[str, str] = {
    "grid": N_("automated run"),
    "play": N_("play session"),
    "probe": N_("quality probe"),
}


def one_each(pool: Pool) -> tuple[Row, ...]:
    """A row for each trial: the first judge's."""
    return tuple({row.trial.id: row for row in reversed(pool.rows)}.values())[::-1]


def trial_sheets(pool: Pool) -> tuple[Sheet, ...]:
    """Counts, endings, and costs where models were called."""
    costs = costs_sheet(pool)
    return (counts_sheet(pool), endings_sheet(pool), *((costs,) if costs else ()))


def runs_sheet(pool: Pool) -> Sheet:
    lines: list[Line] = []
    for run in pool.runs:
        mine = [row for row in one_each(pool) if row.run.id == run.id]
        ended = sum(row.trial.termination is not None for row in mine)
        lines.append(
            (
                Cell(one_line(run.name, 80)),
                Cell(run.uid[:8]),
                Cell(f"{run.created_at:%Y-%m-%d}"),
                Cell(_(KIND[run.kind])),
                Cell(run.state.label),
                Cell(f"{run.samples:,}"),
                Cell(f"{ended:,} / {len(mine):,}"),
            )
        )
    return Sheet(
        view="results",
        title=_("The runs of this report"),
        headings=(
            _("Run"),
            pgettext("of a run", "Identity"),
            _("Entered"),
            _("Kind"),
            _("State"),
            _("Samples"),
            _("Trials ended"),
        ),
        lines=tuple(lines),
        notes=(
            _(
                "The identity is the beginning of the number that names a run in every copy of its workspace."
            ),
        ),
    )


def counts_sheet(pool: Pool) -> Sheet:
    """By agent, family and judge: what of the grid stands behind the figures."""
    judges = pool.values("judge")
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in pool.rows:
        groups.setdefault((row.trial.agent.name, row.family, row.judged_by), []).append(row)
    lines: list[Line] = []
    order = {family: at for at, family in enumerate(FAMILY_WORDS)}
    for (agent, family, judge), rows in sorted(
        groups.items(), key=lambda item: (item[0][0], order[item[1][0].family], item[0][2])
    ):
        ended = [row for row in rows if row.trial.termination is not None]
        judged = sum(row.figures is not None for row in ended)
        failed = sum(bool(r.trial.termination and r.trial.termination.is_failure) for r in ended)
        numbers = {
            "trials": len(rows),
            "open": len(rows) - len(ended),
            "ended": len(ended),
            "failed": failed,
            "judged": judged,
            "unjudged": len(ended) - judged,
        }
        told = {"trials", "ended", "failed", "judged"}
        alone = len(judges) == 1 and len(pool.runs) == 1
        lines.append(
            (
                Cell(agent),
                Cell(_(FAMILY_WORDS[rows[0].family])),
                *((Cell(judge),) if len(judges) > 1 else ()),
                *(
                    ResultCell(
                        f"{n:,}",
                        value=n,
                        trials=tuple(row.trial.id for row in rows),
                        key=f"groups/{agent}/{family}/{name}" if alone and name in told else "",
                    )
                    for name, n in numbers.items()
                ),
            )
        )
    return Sheet(
        view="results",
        title=_("Trials behind the figures"),
        headings=(
            _("Agent"),
            _("Family"),
            *((_("Judge"),) if len(judges) > 1 else ()),
            _("trials"),
            _("open"),
            _("ended"),
            _("failed"),
            _("judged"),
            _("not judged"),
        ),
        lines=tuple(lines),
        notes=(
            _(
                "A trial that ended by a failure is scored like any other. Open trials and those that are not"
                " judged are in no figure."
            ),
        ),
    )


def endings_sheet(pool: Pool) -> Sheet:
    """How the trials of each agent ended."""
    agents = pool.values("agent")
    counts = Counter(
        (row.trial.agent.name, row.trial.termination)
        for row in one_each(pool)
        if row.trial.termination
    )
    ends = [end for end in ENDING_WORDS if any(counts[agent, end] for agent in agents)]
    return Sheet(
        view="results",
        title=_("How trials ended"),
        headings=(_("Agent"), *(_(ENDING_WORDS[end]) for end in ends)),
        lines=tuple(
            (Cell(agent), *(_count(counts[agent, end]) for end in ends)) for agent in sorted(agents)
        ),
    )


def costs_sheet(pool: Pool) -> Sheet | None:
    """What each agent's trials took, everybody's calls in them and the agent's own, and these by ended trial; None
    where no model was called.
    """
    rows = one_each(pool)
    if not any(row.spent.calls for row in rows):
        return None
    lines: list[Line] = []
    for agent in sorted(pool.values("agent")):
        mine = [row for row in rows if row.trial.agent.name == agent]
        alone = len(pool.runs) == 1
        ended = [row for row in mine if row.trial.termination is not None]
        whole, own = summed(r.spent for r in mine), summed(r.agent_spent for r in mine)
        # Those that are still open have not spent all of theirs.
        spent = summed(row.agent_spent for row in ended).cost
        each = None if spent is None else spent / len(ended)
        key = f"totals/agents/{agent}/" if alone else ""
        lines.append(
            (
                Cell(agent),
                _count(whole.calls, key and f"{key}calls"),
                _count(whole.usage.prompt, key and f"{key}prompt"),
                _count(whole.usage.completion, key and f"{key}completion"),
                _cost(whole),
                _cost(own),
                ResultCell("–" if each is None else amount("cost", each), value=each),
            )
        )
    unpriced = sum(row.spent.unpriced for row in rows)
    note = _("Sums over all takes of all trials, in the currency of the configuration's prices.")
    missing = _("{n} calls had no price and are in no cost.").format(n=f"{unpriced:,}")
    return Sheet(
        view="results",
        title=_("Model calls and their cost"),
        headings=(
            _("Agent"),
            _("calls"),
            _("prompt tokens"),
            _("completion tokens"),
            _("cost"),
            _("the agent's own"),
            _("its own, a trial"),
        ),
        lines=tuple(lines),
        notes=(note, missing) if unpriced else (note,),
    )


def summed(spent: Iterable[Spent]) -> Spent:
    """All of it together; `cost` None where nothing had a price."""
    total, costs = Spent(), list[float]()
    for each in spent:
        total = Spent(
            calls=total.calls + each.calls,
            usage=total.usage.plus(each.usage),
            unpriced=total.unpriced + each.unpriced,
        )
        costs += [each.cost] if each.cost is not None else []
    return total.model_copy(update={"cost": sum(costs) if costs else None})


def several_revisions(pool: Pool) -> Sequence[tuple[str, tuple[str, ...]]]:
    """Tasks of which the runs have more than one revision, with their content hashes."""
    found: dict[str, set[str]] = {}
    for row in pool.rows:
        found.setdefault(row.trial.task_id, set()).add(row.traits.hash)
    return [(task, tuple(sorted(each))) for task, each in sorted(found.items()) if len(each) > 1]


def _count(n: int, key: str = "") -> ResultCell:
    return ResultCell(f"{n:,}", value=n, key=key)


def _cost(spent: Spent) -> ResultCell:
    text = "–" if spent.cost is None else amount("cost", spent.cost)
    return ResultCell(text, value=spent.cost)

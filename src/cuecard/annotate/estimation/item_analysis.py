"""Items of gold by who found them: difficulty, discrimination, rival values, and flags of items whose gold may be wrong.

Respondents are judged trials (agent x sample); agents are the independent ones. A flag is a reason to look, never a change of
score. Sources: item analysis of classical test theory (Allen & Yen 1979); 2605.30504, 2511.04689.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from cuecard.core.i18n import N_, _
from cuecard.core.tables.table import Statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


LEAST_RIVAL_AGENTS, LEAST_OPENED, LEAST_CLOSED, LEAST_SPLITS = 3, 3, 2, 2
LEAST_RESPONDENTS = 6
"""So many trials, in which an item was decided, its discrimination takes."""
INVERSE, INVERSE_AGENTS, INVERSE_TRIALS = -0.2, 6, 12
REDUNDANT = 0.95
"""Items whose found-vectors correlate so much tell the same of the agents."""
RESAMPLES = 400


class Flag(StrEnum):
    """Why an item's gold may be wrong, in the order of the queue; `GIVEN_AWAY` tells of contamination instead."""

    PEOPLE = "people"
    RIVAL = "rival"
    UNFOUND = "unfound"
    INVERSE = "inverse"
    GIVEN_AWAY = "given_away"

    @property
    def label(self) -> str:
        return _(_FLAGS[self][0])

    @property
    def help(self) -> str:
        return _(_FLAGS[self][1])


_FLAGS = {
    Flag.PEOPLE: (
        N_("people doubt it"),
        N_(
            "Somebody labelled the gold wrong; or judges and labellers are split evenly on it, in 2 trials and half of all that several decided."
        ),
    ),
    Flag.RIVAL: (
        N_("rival value"),
        N_("At least 3 agents, and more than found the gold, say the same other thing there."),
    ),
    Flag.UNFOUND: (
        N_("opened, not found"),
        N_("Nobody found it, though at least 3 agents opened a page that names it."),
    ),
    Flag.INVERSE: (
        N_("inverse"),
        N_("Those who find it find less of the rest, with an interval below 0."),
    ),
    Flag.GIVEN_AWAY: (
        N_("found without search"),
        N_("At least 2 agents found it without a search: no error of gold, but perhaps known."),
    ),
}
QUEUE = (Flag.PEOPLE, Flag.RIVAL, Flag.UNFOUND, Flag.INVERSE)


@dataclass(frozen=True, eq=False)
class Block:
    """The judged trials of one task. `agents`: of each trial; `items`: keys, in the order of gold; `found`: trials x items,
    1 found, 0 not found, NaN undecided. By item, where there is something to tell: `told`: by trial what it says at the item's
    place other than gold, normalised; `opened`: trials that opened its page (an item that is not here was not looked for);
    `wrong`: how many labels say that gold is wrong; `split`: in how many trials decisions of several are split evenly, of
    how many in which several decided. `unsearched`: trials
    without a call of a tool.
    """

    task: str
    agents: tuple[str, ...]
    items: tuple[str, ...]
    found: NDArray[np.float64]
    told: Mapping[int, Mapping[int, Collection[str]]] = field(
        default_factory=dict[int, Mapping[int, Collection[str]]]
    )
    opened: Mapping[int, Collection[int]] = field(default_factory=dict[int, Collection[int]])
    wrong: Mapping[int, int] = field(default_factory=dict[int, int])
    split: Mapping[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    unsearched: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Rival:
    """A value other than gold that agents give at the item's place: `agents` say it in `share` of its trials."""

    value: str
    agents: int
    share: float
    trials: tuple[int, ...]


@dataclass(frozen=True)
class ItemFigures:
    """What trials tell of item `at` of a block. `n`: trials in which it was decided, of `agents`; `found`: p, the share that
    found it, None where n is 0; `found_by`: agents that did at least once; `discrimination`: Pearson's correlation with the
    trial's share of the task's other items; `opened`: agents that opened its page, None where that was not looked for;
    `closed`: agents that found it without a search. `same_as`: the first item of the task that it is found together with.
    """

    at: int
    key: str
    n: int
    agents: int
    found: float | None
    found_by: int
    discrimination: Statistic
    rival: Rival | None = None
    opened: int | None = None
    closed: int = 0
    wrong: int = 0
    split: tuple[int, int] = (0, 0)
    same_as: int | None = None
    flags: tuple[Flag, ...] = ()

    @property
    def difficulty(self) -> float | None:
        return None if self.found is None else 1 - self.found

    @property
    def extreme(self) -> str:
        """`floor` where nobody finds it, `ceiling` where everybody does, in 2 trials or more; they tell agents not apart."""
        if self.n < 2 or self.found not in (0, 1):
            return ""
        return "ceiling" if self.found else "floor"

    @property
    def rank(self) -> tuple[float, ...]:
        """Its place in the queue of suspects: by flag, then by how much speaks against it."""
        place = next((n for n, flag in enumerate(QUEUE) if flag in self.flags), len(QUEUE))
        p = self.found or 0.0
        against = 0.0
        if place == QUEUE.index(Flag.PEOPLE):
            against = -float(self.wrong)
        elif place == QUEUE.index(Flag.RIVAL) and self.rival:
            against = p - self.rival.share
        elif place == QUEUE.index(Flag.UNFOUND):
            against = -float(self.opened or 0)
        elif place == QUEUE.index(Flag.INVERSE):
            against = self.discrimination.value or 0.0
        return place, against, p


@dataclass(frozen=True, eq=False)
class _Columns:
    """Of every item of a block: decided trials, those that found it, agents by what they did; `r` NaN where undefined."""

    n: NDArray[np.int_]
    hits: NDArray[np.float64]
    found_by: NDArray[np.int_]
    deciding: NDArray[np.int_]
    closed: NDArray[np.int_]
    valid: NDArray[np.int_]
    r: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def analyse(block: Block) -> list[ItemFigures]:
    """The figures of every item of a task, in the order of gold."""
    columns = _columns(block)
    same = _redundant(block.found)
    return [_item(block, columns, at, same.get(at)) for at in range(len(block.items))]


def suspicious(block: Block) -> list[ItemFigures]:
    """Those of `analyse` that have a flag: of many thousand items few do, and no other's figures are made."""
    import numpy as np

    if not _anything(block):
        return []
    columns = _columns(block)
    inverse = _inverse(columns.r, columns.deciding, columns.valid)
    doubted = inverse | (columns.closed >= LEAST_CLOSED)
    doubted[[*block.wrong, *block.split, *block.told, *block.opened]] = True
    every = (_item(block, columns, int(at), None) for at in np.flatnonzero(doubted))
    found = [one for one in every if one.flags]
    same = _redundant(block.found) if found else {}
    return [replace(one, same_as=same.get(one.at)) for one in found]


def may_have_flags(block: Block) -> bool:
    """Whether an item may have a flag, whatever trials turn out to say and to have opened; the block may have more items than
    gold has.
    """
    # What nobody found is also missed by enough agents for a rival.
    return _anything(block) or bool(rival_places(block))


def _anything(block: Block) -> bool:
    """Whether there is anything of which a flag could come."""
    few = len(block.agents) < INVERSE_TRIALS or len(set(block.agents)) < INVERSE_AGENTS
    known = block.wrong or block.split or block.told or block.opened or block.unsearched
    return not few or bool(known)


def rival_places(block: Block, *, flagged: bool = True) -> list[int]:
    """Items that enough agents missed for a rival value, which counts in such trials only; `flagged`: for a flag, too."""
    import numpy as np

    member = _members(block.agents)
    missed = ((member @ (block.found == 0)) > 0).sum(axis=0)
    found_by = ((member @ (block.found == 1)) > 0).sum(axis=0)
    least = np.maximum(LEAST_RIVAL_AGENTS, found_by + 1) if flagged else LEAST_RIVAL_AGENTS
    return [int(at) for at in np.flatnonzero(missed >= least)]


def asked_first(block: Block, places: Sequence[int]) -> list[int]:
    """Trials that tell whether these `rival_places` may have a flag: of the agents that missed an item all but one less than
    it takes, those with the fewest trials. Where none of them says anything else, too few agents are left.
    """
    import numpy as np

    member, found = _members(block.agents), block.found[:, places]
    missed = member @ (found == 0)
    found_by = ((member @ (found == 1)) > 0).sum(axis=0)
    most = (missed > 0).sum(axis=0) - np.maximum(LEAST_RIVAL_AGENTS, found_by + 1) + 1
    order = missed.sum(axis=1).argsort(kind="stable")
    asked = np.zeros(missed.shape)
    asked[order] = (missed[order] > 0) & ((missed[order] > 0).cumsum(axis=0) <= most)
    return [int(at) for at in np.flatnonzero(((found == 0) & (member.T @ asked > 0)).any(axis=1))]


def unfound(block: Block) -> NDArray[np.bool_]:
    """Of every item whether enough agents were judged on it and none found it."""
    import numpy as np

    deciding = ((_members(block.agents) @ ~np.isnan(block.found)) > 0).sum(axis=0)
    return (deciding >= LEAST_OPENED) & ~(np.nan_to_num(block.found) > 0).any(axis=0)


def _columns(block: Block) -> _Columns:
    import numpy as np

    trials, _width = block.found.shape
    known = ~np.isnan(block.found)
    yes = np.where(known, block.found, 0.0)
    member = _members(block.agents)
    deciding = ((member @ known) > 0).sum(axis=0)
    without = np.array([trial in block.unsearched for trial in range(trials)], dtype=bool)
    closed = np.zeros(len(block.items), int)
    if without.any():
        closed = ((member[:, without] @ yes[without]) > 0).sum(axis=0)
    valid, r, low, high = _discrimination(member, known, yes, deciding)
    return _Columns(
        n=known.sum(axis=0),
        hits=yes.sum(axis=0),
        found_by=((member @ yes) > 0).sum(axis=0),
        deciding=deciding,
        closed=closed,
        valid=valid,
        r=r,
        low=low,
        high=high,
    )


def _members(agents: Sequence[str]) -> NDArray[np.float64]:
    """Agents x trials, 1 where it is the agent's."""
    import numpy as np

    names = {name: at for at, name in enumerate(dict.fromkeys(agents))}
    member = np.zeros((len(names), len(agents)))
    member[[names[name] for name in agents], np.arange(len(agents))] = 1
    return member


def _item(block: Block, columns: _Columns, at: int, same_as: int | None) -> ItemFigures:
    count = int(columns.n[at])
    seen = block.opened.get(at)
    return flagged(
        ItemFigures(
            at=at,
            key=block.items[at],
            n=count,
            agents=int(columns.deciding[at]),
            found=float(columns.hits[at] / count) if count else None,
            found_by=int(columns.found_by[at]),
            discrimination=_told_discrimination(columns, at),
            rival=_rival(block, at, count),
            opened=None if seen is None else len({block.agents[trial] for trial in seen}),
            closed=int(columns.closed[at]),
            wrong=block.wrong.get(at, 0),
            split=block.split.get(at, (0, 0)),
            same_as=same_as,
        )
    )


def flagged(one: ItemFigures) -> ItemFigures:
    """With its flags, each only where there is enough to tell."""
    r, rival = one.discrimination, one.rival
    holds = {
        Flag.PEOPLE: one.wrong > 0
        or (one.split[0] >= LEAST_SPLITS and 2 * one.split[0] >= one.split[1]),
        Flag.RIVAL: rival is not None and rival.agents >= max(LEAST_RIVAL_AGENTS, one.found_by + 1),
        Flag.UNFOUND: one.found == 0 and (one.opened or 0) >= LEAST_OPENED,
        Flag.INVERSE: r.value is not None
        and r.value < INVERSE
        and one.agents >= INVERSE_AGENTS
        and one.n >= INVERSE_TRIALS
        and r.high is not None
        and r.high < 0,
        Flag.GIVEN_AWAY: one.closed >= LEAST_CLOSED,
    }
    flags = tuple(flag for flag in Flag if holds[flag])
    return one if flags == one.flags else replace(one, flags=flags)


def queue(
    every: Iterable[tuple[str, ItemFigures]], of: Collection[Flag] = QUEUE
) -> list[tuple[str, ItemFigures]]:
    """Pairs of a task and an item with one of these flags, most suspect first; ties by the share that found it, then place."""
    flagged_ones = (pair for pair in every if any(flag in of for flag in pair[1].flags))
    return sorted(flagged_ones, key=lambda pair: (*pair[1].rank, pair[0], pair[1].at))


def _rival(block: Block, at: int, n: int) -> Rival | None:
    by_value: defaultdict[str, list[int]] = defaultdict(list)
    for trial, values in block.told.get(at, {}).items():
        for value in set(values):
            by_value[value].append(trial)
    if not by_value or not n:
        return None
    agents = {v: len({block.agents[t] for t in trials}) for v, trials in by_value.items()}
    best = min(by_value, key=lambda v: (-agents[v], -len(by_value[v]), v))
    trials = tuple(sorted(by_value[best]))
    return Rival(best, agents[best], min(1.0, len(trials) / n), trials)


def _discrimination(
    member: NDArray[np.float64],
    known: NDArray[np.bool_],
    yes: NDArray[np.float64],
    deciding: NDArray[np.int_],
) -> tuple[NDArray[np.int_], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Of every item its trials, r, and the ends of an interval, agents resampled, where an `INVERSE` flag may depend on it."""
    import numpy as np

    others = known.sum(axis=1, keepdims=True) - known
    rest = (yes.sum(axis=1, keepdims=True) - yes) / np.maximum(others, 1)
    valid = known & (others > 0)
    n = valid.sum(axis=0)
    r = _weighted(np.ones((1, len(yes))), yes, rest, valid)[0]
    low, high = np.full(len(n), np.nan), np.full(len(n), np.nan)
    doubtful = np.flatnonzero(_inverse(r, deciding, n))
    if doubtful.size:
        rng = np.random.default_rng(0)
        drawn = rng.multinomial(len(member), np.full(len(member), 1 / len(member)), RESAMPLES)
        weights = drawn @ member
        again = _weighted(weights, yes[:, doubtful], rest[:, doubtful], valid[:, doubtful])
        for column, at in enumerate(doubtful):
            values = again[:, column][~np.isnan(again[:, column])]
            if values.size >= RESAMPLES / 2:
                low[at], high[at] = np.quantile(values, (0.025, 0.975))
    return n, r, low, high


def _inverse(
    r: NDArray[np.float64], deciding: NDArray[np.int_], n: NDArray[np.int_]
) -> NDArray[np.bool_]:
    """Where an item may be inverse, by all but its interval."""
    return (r < INVERSE) & (deciding >= INVERSE_AGENTS) & (n >= INVERSE_TRIALS)


def _told_discrimination(columns: _Columns, at: int) -> Statistic:
    import numpy as np

    count, r, low = int(columns.valid[at]), columns.r[at], columns.low[at]
    few = count < LEAST_RESPONDENTS
    if few or np.isnan(r):
        reason = (
            _("too few respondents to tell") if few else _("one side is the same in all trials")
        )
        return Statistic(name="discrimination", value=None, n=count, reason=reason)
    ends = (None, None) if np.isnan(low) else (float(low), float(columns.high[at]))
    return Statistic(name="discrimination", value=float(r), n=count, low=ends[0], high=ends[1])


def _weighted(
    weights: NDArray[np.float64],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    valid: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Pearson's correlation of the columns of `x` and `y` (trials x items) under each row of weights; NaN where undefined."""
    import numpy as np

    held = valid.astype(float)
    n = weights @ held
    with np.errstate(invalid="ignore", divide="ignore"):
        mx, my = (weights @ (held * x)) / n, (weights @ (held * y)) / n
        xx = (weights @ (held * x * x)) / n - mx**2
        yy = (weights @ (held * y * y)) / n - my**2
        xy = (weights @ (held * x * y)) / n - mx * my
        r = xy / np.sqrt(xx * yy)
    return np.where((xx > 1e-9) & (yy > 1e-9), np.clip(r, -1, 1), np.nan)


def _redundant(found: NDArray[np.float64]) -> dict[int, int]:
    """By item the first one of its task that is found in the same trials: found-vectors that correlate by `REDUNDANT`.

    The plain correlation of 0 and 1 (phi) reaches 1 only where both are found equally often, so that it holds items of
    different difficulty apart, as it should here; items found by all or none, and under `INVERSE_TRIALS` trials, are left out.
    """
    import numpy as np

    if len(found) < INVERSE_TRIALS:
        return {}
    # Neither holds where a trial left it undecided: NaN.
    varied = np.flatnonzero(found.max(axis=0) > found.min(axis=0))
    if len(varied) < 2:
        return {}
    alike = np.corrcoef(found[:, varied], rowvar=False) >= REDUNDANT
    first = alike.argmax(axis=1)
    return {int(varied[at]): int(varied[to]) for at, to in enumerate(first) if to != at}

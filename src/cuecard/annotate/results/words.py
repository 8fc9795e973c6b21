"""Names of dimensions, values and measures for display, and notes on how scores were computed."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS
from cuecard.annotate.results.pool import Dimension, Pool, Row, kinds_of
from cuecard.core.evaluation.plans import settings_of
from cuecard.core.i18n import N_, _, listed, ngettext
from cuecard.core.scoring.measures import COUNTS
from cuecard.core.tables.table import Statistic, figure, in_percent
from cuecard.core.tasks.models import DIFFICULTY_WORDS, FAMILIES, LANGUAGE_WORDS
from cuecard.core.text import one_line

DIMENSION_WORDS: Final[dict[Dimension, str]] = {
    "run": N_("Run"),
    "agent": N_("Agent"),
    "model": N_("Model"),
    "scaffold": N_("Scaffold"),
    "setting": N_("Setting"),
    "memory": N_("Memory"),
    "user": N_("User"),
    "world": N_("World"),
    "judge": N_("Judge"),
    "family": N_("Family"),
    "language": N_("Language"),
    "difficulty": N_("Difficulty"),
    "domain": N_("Domain"),
    "tier": N_("Tier"),
    "compacted": N_("Compaction"),
    "task": N_("Task"),
}
SETTINGS: Final[dict[str, str]] = {
    "oracle": N_("oracle facts"),
    "neutral": N_("neutral"),
    "guided": N_("guided"),
    "few_shot": N_("few-shot"),
    "end_to_end": N_("end to end"),
    "no_search": N_("without search"),
    "no_ask": N_("without asking"),
    "direct": N_("direct"),
    "staged": N_("staged"),
    "simulated": N_("simulated"),
    "single": N_("single"),
    "team": N_("team"),
}
"""In the order of the papers' tables."""
_VALUES: Final[dict[Dimension, dict[str, str]]] = {
    "setting": SETTINGS,
    "scaffold": {"single": N_("single"), "team": N_("team")},
    "memory": {
        "none": N_("without memory"),
        "local": N_("local memory"),
        "lifelong": N_("lifelong memory"),
    },
    "family": {family: FAMILY_WORDS[family] for family in FAMILIES},
    "language": LANGUAGE_WORDS,
    "difficulty": DIFFICULTY_WORDS,
    "tier": {"easy": N_("easy"), "mid": N_("medium"), "hard": N_("hard")},
    "user": {"human": N_("people")},
    "compacted": {"without": N_("without compaction"), "with": N_("with compaction")},
}
LOWER_IS_BETTER: Final = frozenset(
    (
        "cost",
        "tokens",
        "prompt_tokens",
        "completion_tokens",
        "reasoning_tokens",
        "format_failure",
        "premature_stop",
        "dismissive",
        "redirects",
        "unjudged",
    )
)
_NO_PLACE = 99
_SMALL = 0.1


def dimension_word(dimension: Dimension) -> str:
    return _(DIMENSION_WORDS[dimension])


def in_sentence(*dimensions: Dimension) -> str:
    """Their words, listed, as they stand within a sentence: English writes them small, Chinese as they are."""
    return listed(dimension_word(each).lower() for each in dimensions)


def value_word(dimension: Dimension, value: str, names: Mapping[str, str] | None = None) -> str:
    """A value for display; `names`: see `names_of`; a dash if it is unknown."""
    if not value:
        return "–"
    named = (names or {}).get(f"{dimension}/{value}")
    if named is not None:
        return one_line(named, 60)
    known = _VALUES.get(dimension, {})
    return _(known[value]) if value in known else one_line(value, 60)


def names_of(pool: Pool) -> dict[str, str]:
    """Display names by `dimension/value` for values that have no fixed word: runs by name (with the beginning of the
    uid if names are equal), and offline baselines, marked as such.
    """
    told = [run.name for run in pool.runs]
    found: dict[str, str] = {}
    for run in pool.runs:
        short = run.uid[:8]
        name = run.name if told.count(run.name) == 1 else f"{run.name} {short}".strip()
        found[f"run/{short}"] = name or short
    for row in pool.kinds:
        trial = row.trial
        players = {"agent": trial.agent, "user": trial.user, "judge": row.judge}
        for part, player in players.items():
            if player is not None and player.baseline:
                found[f"{part}/{player.name}"] = _("{name} (baseline)").format(name=player.name)
    return found


def place_of(dimension: Dimension, value: str) -> tuple[int, str]:
    """The sort key of values: their fixed order if there is one, else by name; unknown ones last."""
    if not value:
        return _NO_PLACE + 1, ""
    known = list(_VALUES.get(dimension, ()))
    return (known.index(value) if value in known else _NO_PLACE), value


def shown(measure: str, statistic: Statistic | None, *, percent: bool = False) -> str:
    """A statistic with its interval: shares with three decimals or in percent, counts with one, costs as needed."""
    if statistic is None or statistic.value is None:
        return "–"
    if measure not in COUNTS:
        return in_percent(statistic) if percent else figure(statistic)
    if statistic.interval is None:
        return amount(measure, statistic.value)
    low, high = (amount(measure, end) for end in statistic.interval)
    return f"{amount(measure, statistic.value)} [{low}, {high}]"


def amount(measure: str, value: float) -> str:
    """A count or cost: `12.3`, `4,120`, `0.0041`."""
    if measure == "cost":
        return f"{value:,.2f}" if abs(value) >= 1 or not value else f"{value:.4f}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= _SMALL or not value else f"{value:.2f}"


MIXED: tuple[Dimension, ...] = ("setting", "memory", "model", "user", "world", "scaffold")
"""Dimensions in which trials of one agent and family may differ unnoticed."""
NAMED = 5


def notes_on(
    pool: Pool, by: Sequence[Dimension], groups: Sequence[Sequence[Row]]
) -> tuple[str, ...]:
    """Notes on lines over these groups of rows: what is missing, and what was pooled."""
    twice = () if "run" in by else counted_twice(pool)
    return (
        *pool.once(("missing",), lambda: tuple(_missing(pool))),
        *_together(pool, by, groups),
        *twice,
        *(_revisions(groups) if pool.once(("revisions",), lambda: _replayed(pool)) else ()),
        *baselines(pool),
    )


def _missing(pool: Pool) -> Iterator[str]:
    ended = [row for row in pool.rows if row.trial.termination is not None]
    still_open = len({row.trial.id for row in pool.rows if row.trial.termination is None})
    failed = len(
        {
            row.trial.id
            for row in ended
            if row.trial.termination and row.trial.termination.is_failure
        }
    )
    unjudged = sum(row.figures is None for row in ended)
    items = int(sum(row.measure("unjudged") or 0 for row in ended))
    if failed:
        yield ngettext(
            "{n} trial ended by a failure; it counts as what it scored.",
            "{n} trials ended by a failure; they count as what they scored.",
            failed,
        ).format(n=f"{failed:,}")
    if still_open:
        yield ngettext(
            "{n} trial is still open and in no score.",
            "{n} trials are still open and in no score.",
            still_open,
        ).format(n=f"{still_open:,}")
    if unjudged:
        yield ngettext(
            "{n} trial is not judged and in no score.",
            "{n} trials are not judged and in no score.",
            unjudged,
        ).format(n=f"{unjudged:,}")
    if items:
        yield ngettext(
            "{n} item of judged trials has no decision and is in no score.",
            "{n} items of judged trials have no decision and are in no score.",
            items,
        ).format(n=f"{items:,}")


def _together(
    pool: Pool, by: Sequence[Dimension], groups: Sequence[Sequence[Row]]
) -> Iterator[str]:
    """Notes on lines that pool trials of one agent and family which differ in a dimension not shown."""
    names = names_of(pool)
    groups = [kinds_of(group) for group in groups]
    agents = [{row.trial.agent.name for row in group} for group in groups]
    if any(len(found) > 1 for found in agents):
        yield _("Trials of several agents are taken together: {agents}.").format(
            agents=listed(
                sorted(
                    {
                        value_word("agent", name, names)
                        for found in agents
                        for name in found
                        if len(found) > 1
                    }
                )
            )
        )
    for dimension in ("run", *MIXED):
        if dimension in by:
            continue
        found: dict[tuple[str, ...], set[str]] = {}
        for group in groups:
            mine: dict[str, set[str]] = defaultdict(set)
            for row in group:
                mine[f"{row.trial.agent.name}/{row.family}"].add(row.value(dimension))
            for key, values in mine.items():
                if len(values) > 1:
                    agent = key.partition("/")[0]
                    said = tuple(sorted(value_word(dimension, value, names) for value in values))
                    found.setdefault(said, set()).add(agent)
        for said, agents in sorted(found.items()):
            yield _(
                "{agents}: trials with different values of {dimension} are taken together: {values}."
            ).format(
                agents=listed(sorted(agents)),
                dimension=in_sentence(dimension),
                values=listed(said),
            )


def _replayed(pool: Pool) -> bool:
    """Whether any task was played in several revisions."""
    units = {row.unit for row in pool.rows}
    return len({task for task, _revision in units}) < len(units)


def _revisions(groups: Sequence[Sequence[Row]]) -> Iterator[str]:
    several: set[str] = set()
    for group in groups:
        found: dict[str, set[int]] = defaultdict(set)
        for row in group:
            found[row.trial.task_id].add(row.trial.revision)
        several |= {task for task, revisions in found.items() if len(revisions) > 1}
    if several:
        yield ngettext(
            "{n} task was played in several revisions, taken together: {tasks}.",
            "{n} tasks were played in several revisions, taken together: {tasks}.",
            len(several),
        ).format(n=len(several), tasks=listed(sorted(several), NAMED))


def counted_twice(pool: Pool) -> Iterator[str]:
    """Runs of the pool that contain the same trials, because one was rescored or replayed from the other."""
    if len(pool.runs) < 2:
        return
    names = names_of(pool)
    origins = _origins(pool)
    found: dict[str, list[str]] = defaultdict(list)
    for run in pool.runs:
        uid, seen = run.uid, set[str]()
        while origins.get(uid, uid) != uid and uid not in seen:
            seen.add(uid)
            uid = origins[uid]
        found[uid].append(names[f"run/{run.uid[:8]}"])
    for runs in found.values():
        if len(runs) > 1:
            yield _(
                "{runs} hold the same trials, judged or played again: taken together, each counts more than once."
            ).format(runs=listed(runs))


def _origins(pool: Pool) -> dict[str, str]:
    """By run, the uid of the run whose trials it contains."""
    cells: dict[int, set[tuple[object, ...]]] = defaultdict(set)
    for row in pool.rows:
        trial = row.trial
        cells[row.run.id].add((trial.task_id, trial.agent.name, trial.sample, trial.seed))
    by_id = {run.id: run for run in pool.runs}
    found: dict[str, str] = {}
    for run in pool.runs:
        settings = settings_of(run)
        # The number of the run that was replayed is another run's where this one came in a bundle.
        other = by_id.get(settings.replay or 0)
        replayed = other is not None and cells[other.id] == cells[run.id]
        found[run.uid] = settings.rescored or (other.uid if other and replayed else run.uid)
    return found


def baselines(pool: Pool) -> Iterator[str]:
    """Notes on players that are offline baselines."""
    found: dict[str, None] = {}
    for row in pool.kinds:
        players = [("agent", row.trial.agent), ("user", row.trial.user), ("world", row.trial.world)]
        players += [("judge", row.judge)] if row.judge else []
        for part, player in players:
            if player.baseline:
                found[f"{_PARTS_OF[part]()} {player.name}"] = None
    if found:
        yield _("Offline baselines, not results of models: {players}.").format(
            players=listed(sorted(found))
        )
    uncaged = sorted({row.trial.world.name for row in pool.kinds if row.trial.world.uncaged})
    if uncaged:
        yield _("Programs of the tool python ran without a cage: {worlds}.").format(
            worlds=listed(uncaged)
        )


_PARTS_OF = {
    "agent": lambda: _("agent"),
    "user": lambda: _("user"),
    "world": lambda: _("world"),
    "judge": lambda: _("judge"),
}

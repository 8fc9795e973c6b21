"""What dimensions, their values and figures of results are called and how they are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cuecard.annotate.agreement import Statistic
from cuecard.annotate.effect.sheets import FAMILY_WORDS
from cuecard.annotate.labelling.comparison.words import figure
from cuecard.core.i18n import N_, _
from cuecard.core.scoring.labels import COUNTS
from cuecard.core.tasks import FAMILIES
from cuecard.core.text import one_line
from cuecard.results.cells import in_percent
from cuecard.results.pool import Dimension, Pool

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
"""In the order in which the papers tell them."""
_VALUES: Final[dict[Dimension, dict[str, str]]] = {
    "setting": SETTINGS,
    "scaffold": {"single": N_("single"), "team": N_("team")},
    "memory": {
        "none": N_("without memory"),
        "local": N_("local memory"),
        "lifelong": N_("lifelong memory"),
    },
    "family": {family: FAMILY_WORDS[family] for family in FAMILIES},
    "language": {"en": N_("English"), "zh": N_("Chinese")},
    "difficulty": {"easy": N_("easy"), "medium": N_("medium"), "hard": N_("hard")},
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


def value_word(dimension: Dimension, value: str, names: Mapping[str, str] | None = None) -> str:
    """What a value is called; `names`: see `names_of`; a dash where it is not known."""
    if not value:
        return "–"
    named = (names or {}).get(f"{dimension}/{value}")
    if named is not None:
        return one_line(named, 60)
    known = _VALUES.get(dimension, {})
    return _(known[value]) if value in known else one_line(value, 60)


def names_of(pool: Pool) -> dict[str, str]:
    """What values are called that are no words, by `dimension/value`: runs by their names (those of the same name with
    the beginning of their uid), and embedded offline players, which are told from models wherever they stand.
    """
    told = [run.name for run in pool.runs]
    found: dict[str, str] = {}
    for run in pool.runs:
        short = run.uid[:8]
        name = run.name if told.count(run.name) == 1 else f"{run.name} {short}".strip()
        found[f"run/{short}"] = name or short
    for row in pool.rows:
        trial = row.trial
        players = {"agent": trial.agent, "user": trial.user, "judge": row.judge}
        for part, player in players.items():
            if player is not None and player.baseline:
                found[f"{part}/{player.name}"] = _("{name} (baseline)").format(name=player.name)
    return found


def place_of(dimension: Dimension, value: str) -> tuple[int, str]:
    """What values are sorted by: their order where there is one, else their name; unknown ones last."""
    if not value:
        return _NO_PLACE + 1, ""
    known = list(_VALUES.get(dimension, ()))
    return (known.index(value) if value in known else _NO_PLACE), value


def shown(measure: str, statistic: Statistic | None, *, percent: bool = False) -> str:
    """A figure with its interval: shares with three decimals or in percent, counts with one, cost as it needs."""
    if statistic is None or statistic.value is None:
        return "–"
    if measure not in COUNTS:
        return in_percent(statistic) if percent else figure(statistic)
    if statistic.interval is None:
        return amount(measure, statistic.value)
    low, high = (amount(measure, end) for end in statistic.interval)
    return f"{amount(measure, statistic.value)} [{low}, {high}]"


def amount(measure: str, value: float) -> str:
    """A count or what was spent: `12.3`, `4,120`, `0.0041`."""
    if measure == "cost":
        return f"{value:,.2f}" if abs(value) >= 1 or not value else f"{value:.4f}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= _SMALL or not value else f"{value:.2f}"

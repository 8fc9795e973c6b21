"""What measures are called on screens and in reports. The names in JSON never change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cuecard.core.i18n import N_, _
from cuecard.core.scoring.aggregate import POOLED_MEASURES, Statistic, measured_as
from cuecard.core.scoring.profiles import Profile
from cuecard.core.tasks import Family

MEASURE_LABELS: Final[dict[str, str]] = {
    "triplet_precision": N_("Triplet precision"),
    "triplet_recall": N_("Triplet recall"),
    "triplet_f1": N_("Triplet F1"),
    "node_precision": N_("Node precision"),
    "node_recall": N_("Node recall"),
    "node_f1": N_("Node F1"),
    "success": N_("Success"),
    "row_precision": N_("Row precision"),
    "row_recall": N_("Row recall"),
    "row_f1": N_("Row F1"),
    "item_precision": N_("Item precision"),
    "item_recall": N_("Item recall"),
    "item_f1": N_("Item F1"),
    "acc": N_("Accuracy"),
    "cp": N_("Checkpoint progress"),
    "det_accuracy": N_("Detection accuracy"),
    "det_precision": N_("Detection precision"),
    "det_recall": N_("Detection recall"),
    "det_f1": N_("Detection F1"),
    "ce_a": N_("Right asks (CE-A)"),
    "ce_b": N_("Fruitful asks (CE-B)"),
    "asks": N_("Asks"),
    "pass_at_1": N_("Pass@1"),
    "fcr": N_("Fact coverage"),
    "hit_rate": N_("Hit rate"),
    "tool_calls": N_("Tool calls"),
    "agent_turns": N_("Agent turns"),
    "user_turns": N_("User turns"),
    "agent_messages": N_("Agent messages"),
    "message_ratio": N_("Messages per user turn"),
    "compactions": N_("Compactions"),
    "done": N_("User had nothing left to say"),
    "dismissive": N_("Questions that got nothing"),
    "redirects": N_("User pushed on"),
    "premature_stop": N_("Stopped too early"),
    "format_failure": N_("Format failure"),
    "generation_ratio": N_("Handed in / gold"),
    "stages_disclosed": N_("Stages disclosed"),
    "stage_share": N_("Share of stages"),
    "prompt_tokens": N_("Prompt tokens"),
    "completion_tokens": N_("Completion tokens"),
    "cached_tokens": N_("Cached tokens"),
    "reasoning_tokens": N_("Reasoning tokens"),
    "unjudged": N_("Not judged"),
    "cost": N_("Cost"),
    "tokens": N_("Tokens"),
}
HEADLINES: Final[dict[Family, tuple[str, ...]]] = {
    "graph": ("triplet_f1", "node_f1"),
    "table": ("success", "row_f1", "item_f1"),
    "checkpoints": ("acc", "cp", "det_f1"),
    "facts": ("pass_at_1", "fcr", "hit_rate"),
}
"""What a table of results shows of each family; all measures are in the JSON."""
COUNTS: Final = frozenset(
    (
        "asks",
        "tool_calls",
        "agent_turns",
        "user_turns",
        "stages_disclosed",
        "agent_messages",
        "message_ratio",
        "compactions",
        "generation_ratio",
        "prompt_tokens",
        "completion_tokens",
        "cached_tokens",
        "reasoning_tokens",
        "unjudged",
        "cost",
        "tokens",
    )
)
"""Measures that count or compare counts; all others are shares between 0 and 1."""

PROFILE_LABELS: Final[dict[Profile, str]] = {
    Profile.DIRECT_GUESS: N_("Guesses at once"),
    Profile.SEARCH_HEAVY_GUESS: N_("Searches long, then guesses"),
    Profile.DIRECT_ASK: N_("Asks at once"),
    Profile.SEARCH_THEN_ASK: N_("Searches, then asks"),
}


def measure_label(name: str) -> str:
    """The translated name of a measure; an unknown one is its own name."""
    base = measured_as(name)
    if base != name:
        return _("{measure}, mean over tasks").format(measure=measure_label(base))
    return _(MEASURE_LABELS[name]) if name in MEASURE_LABELS else name


def pooled_notes(measures: Iterable[str]) -> tuple[str, ...]:
    """What belongs below figures of these measures, if some of them are pooled."""
    if not any(name in POOLED_MEASURES for name in measures):
        return ()
    return (
        _(
            "Detection, CE-A and CE-B: pooled, after eq. 6-13 of the DiscoBench paper: counts of reached checkpoints"
            " summed over all tasks, where each of a task's n trials weighs 1/n. The others are means over tasks."
        ),
    )


def statistic_label(statistic: Statistic, samples: int) -> str:
    """`Avg@3`, `Best@3`, `Max@3`, `Pass@3`, `pooled`."""
    match statistic:
        case Statistic.AVG:
            text = _("Avg@{n}")
        case Statistic.BEST:
            text = _("Best@{n}")
        case Statistic.MAX:
            text = _("Max@{n}")
        case Statistic.PASS:
            text = _("Pass@{n}")
        case Statistic.POOLED:
            text = _("pooled")
    return text.format(n=samples)

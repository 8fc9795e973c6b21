"""What measures there are, other packages' too, and what people call them, behaviour profiles and the ends of trials."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from cuecard.core.engine.events import Event, Termination
from cuecard.core.families.checkpoints.score import DETECTION_MEASURES, Profile
from cuecard.core.families.registry import CORE
from cuecard.core.i18n import N_, _
from cuecard.core.plugins import PluginError, Registry
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Judgement, Measure

PASS_MEASURES = ("success", "acc", "pass_at_1")
MAX_MEASURES = ("row_f1", "item_f1")
POOLED_MEASURES = DETECTION_MEASURES
"""Ratios whose aggregate is the sum of numerators over the sum of denominators of all tasks, not a mean of ratios
(DiscoBench, equations 6-13)."""

_MEAN = "_mean"


def mean_name(measure: str) -> str:
    """The name of a pooled measure's mean over the tasks' own ratios: `ce_a` gives `ce_a_mean`."""
    return f"{measure}{_MEAN}"


def measured_as(name: str) -> str:
    """The measure of trials behind the aggregate called `name`: `ce_a` for `ce_a_mean`, otherwise `name` itself."""
    base = name.removesuffix(_MEAN)
    return base if base in POOLED_MEASURES else name


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
HEADLINES: Final = CORE.each(lambda family: family.headlines)
"""The measures that result tables show, by family; JSON output has all of them."""


@dataclass(frozen=True)
class OwnMeasure:
    """A measure of another package, registered in `cuecard.measures` under its name. `of` gives it for a trial, from its
    effective log, in which long texts may be cut, and a judgement. `share`: it is between 0 and 1, not a count.
    """

    label: str
    of: Callable[[Task, Sequence[Event], Judgement], Measure]
    share: bool = True


MEASURES: Final[Registry[OwnMeasure]] = Registry(
    "cuecard.measures", {}, fits="cuecard.core.scoring.measures:OwnMeasure"
)


def _own(name: object) -> OwnMeasure | None:
    try:
        return MEASURES.get(str(name))
    except PluginError:
        return None


class _Counts(frozenset[str]):
    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or ((own := _own(name)) is not None and not own.share)


COUNTS: Final = _Counts(
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
"""Measures that are counts or ratios of counts; all others are shares between 0 and 1."""

PROFILE_LABELS: Final[dict[Profile, str]] = {
    Profile.DIRECT_GUESS: N_("Guesses at once"),
    Profile.SEARCH_HEAVY_GUESS: N_("Searches long, then guesses"),
    Profile.DIRECT_ASK: N_("Asks at once"),
    Profile.SEARCH_THEN_ASK: N_("Searches, then asks"),
}


def measure_label(name: str) -> str:
    """The translated name of a measure; that of an unknown measure is `name` itself."""
    base = measured_as(name)
    if base != name:
        return _("{measure}, mean over tasks").format(measure=measure_label(base))
    if name in MEASURE_LABELS:
        return _(MEASURE_LABELS[name])
    own = _own(name)
    return own.label if own else name


def pooled_notes(measures: Iterable[str]) -> tuple[str, ...]:
    """The notes to print below a table of these measures, if some of them are pooled."""
    if not any(name in POOLED_MEASURES for name in measures):
        return ()
    return (
        _(
            "Detection, CE-A and CE-B: pooled, after eq. 6-13 of the DiscoBench paper: counts of reached checkpoints"
            " summed over all tasks, where each of a task's n trials weighs 1/n. The others are means over tasks."
        ),
    )


ENDING_WORDS: Final[dict[Termination, str]] = {
    Termination.USER_DONE: N_("user done"),
    Termination.ANSWERED: N_("answered"),
    Termination.MAX_TURNS: N_("turn limit"),
    Termination.CONTEXT_OVERFLOW: N_("context overflow"),
    Termination.ERROR_LOOP: N_("error loop"),
    Termination.EMPTY_RESPONSE: N_("empty reply"),
    Termination.API_ERROR: N_("API error"),
    Termination.INTERNAL_ERROR: N_("internal error"),
    Termination.CANCELLED: N_("cancelled"),
}

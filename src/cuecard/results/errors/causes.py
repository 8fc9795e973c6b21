"""Why a trial failed: one cause each, the first that holds in a fixed order."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from cuecard.core.events import Termination
from cuecard.core.scoring.trial_figures import FactFigures, TableFigures, TrialFigures
from cuecard.core.tasks import Family
from cuecard.results.errors.handed import unread
from cuecard.results.pool import Row

Bars = Mapping[Family, tuple[str, float]]

BARS: Bars = {
    "graph": ("triplet_f1", 0.5),
    "table": ("success", 1.0),
    "checkpoints": ("acc", 1.0),
    "facts": ("pass_at_1", 1.0),
}
"""The measure of each family and what it must reach: a trial below that has failed."""
LAST_CALLS = 3
"""A search that found no new fact in so many calls has dried up."""


class Cause(StrEnum):
    """In the order in which they are asked about; `UNJUDGED` is no failure."""

    API_ERROR = "api_error"
    CONTEXT_OVERFLOW = "context_overflow"
    ERROR_LOOP = "error_loop"
    EMPTY_RESPONSE = "empty_response"
    CANCELLED = "cancelled"
    INTERNAL_ERROR = "internal_error"
    UNJUDGED = "unjudged"
    FORMAT_FAILURE = "format_failure"
    NOTHING_HANDED_IN = "nothing_handed_in"
    OUT_OF_TURNS = "out_of_turns"
    COLUMNS_UNMAPPED = "columns_unmapped"
    GUESSED = "guessed"
    ASKED_WRONGLY = "asked_wrongly"
    NEVER_FOUND = "never_found"
    STOPPED_EARLY = "stopped_early"
    WRONG_ANSWER = "wrong_answer"
    MISSING_ROWS = "missing_rows"
    WRONG_CELLS = "wrong_cells"
    TOO_LITTLE = "too_little"
    TOO_MUCH = "too_much"


MACHINERY: Mapping[Termination, Cause] = {
    end: Cause(end.value) for end in Termination if end.is_failure
}


def failed(row: Row, bars: Bars = BARS) -> bool | None:
    """Whether the trial fell short: it ended by a failure of the machinery, or its family's measure is below the
    bar. None: that cannot be said, since it has not ended or its measure has no value.
    """
    end = row.trial.termination
    if end is None:
        return None
    name, least = bars[row.family]
    value = row.measure(name)
    if end.is_failure and (value is None or value < least):
        return True
    return None if value is None else value < least


def cause_of(row: Row, bars: Bars = BARS) -> Cause | None:
    """The one cause of a failed trial; None where it has not ended or has not failed.

    In this order: the machinery failed; what was handed in could not be read, or nothing was handed in; it ran
    out of turns; then what its family's figures say (`_of_table`, `_of_steps`, `_of_facts`, `_of_graph`). A trial
    whose measure has no value is `UNJUDGED`.
    """
    end = row.trial.termination
    short = failed(row, bars)
    if end is None or short is False:
        return None
    if short and end in MACHINERY:
        return MACHINERY[end]
    figures = row.figures
    if figures is None or short is None:
        return Cause.UNJUDGED
    if unread(row.family, figures):
        return Cause.FORMAT_FAILURE
    if figures.handed_in == "nothing":
        return Cause.NOTHING_HANDED_IN
    if end is Termination.MAX_TURNS:
        return Cause.OUT_OF_TURNS
    match row.family:
        case "table":
            return _of_table(figures.table, figures)
        case "checkpoints":
            return _of_steps(figures)
        case "facts":
            return _of_facts(figures.facts, figures)
        case "graph":
            return _of_graph(figures)


def _of_table(table: TableFigures | None, figures: TrialFigures) -> Cause:
    """Columns that do not map; else whichever costs most cells: rows of the gold that are missing, wrong cells,
    or rows too many. Of equals the first.
    """
    if table is None or table.usable is False:
        return Cause.COLUMNS_UNMAPPED
    width = max(1, len(table.columns))
    lost = {
        Cause.MISSING_ROWS: (table.gold_rows - table.joined) * width,
        Cause.WRONG_CELLS: sum(tally.no for tally in table.columns.values()),
        Cause.TOO_MUCH: (table.predicted_rows - table.joined) * width,
    }
    return max(lost, key=lambda cause: lost[cause]) if any(lost.values()) else Cause.WRONG_CELLS


def _of_steps(figures: TrialFigures) -> Cause:
    """What happened at the first reached checkpoint that was not advanced: an ambiguity about which nothing was
    asked was guessed, one about which no ask was right was asked about wrongly, else the answer was never found.
    With all reached ones advanced it stopped early, or, with all checkpoints advanced, answered wrongly.
    """
    stuck = next((s.record for s in figures.steps or () if not s.record.advanced), None)
    if stuck is not None:
        if stuck.ambiguous and not stuck.asks:
            return Cause.GUESSED
        if stuck.ambiguous and not stuck.right_asks:
            return Cause.ASKED_WRONGLY
        return Cause.NEVER_FOUND
    progress = figures.value("cp")
    return Cause.WRONG_ANSWER if progress is None or progress >= 1 else Cause.STOPPED_EARLY


def _of_facts(facts: FactFigures | None, figures: TrialFigures) -> Cause:
    """With every fact found the answer is wrong. Else it was never found if the last `LAST_CALLS` tool calls
    matched no new fact, and stopped early if they did, or if there were fewer.
    """
    coverage = figures.value("fcr")
    if facts is None or coverage is None or coverage >= 1:
        return Cause.WRONG_ANSWER
    last = facts.fresh[-LAST_CALLS:]
    dried = len(last) == LAST_CALLS and not any(last)
    # Calls beyond those that figures keep have long ceased to find anything.
    beyond = (figures.value("tool_calls") or 0) > len(facts.fresh)
    return Cause.NEVER_FOUND if dried or beyond else Cause.STOPPED_EARLY


def _of_graph(figures: TrialFigures) -> Cause:
    """Too little where recall is not above precision, else too much that is invalid."""
    recall, precision = figures.value("triplet_recall"), figures.value("triplet_precision")
    return Cause.TOO_LITTLE if (recall or 0) <= (precision or 0) else Cause.TOO_MUCH

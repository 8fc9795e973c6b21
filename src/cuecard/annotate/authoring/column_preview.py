"""What a column's settings make of its cells, shown while they are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from cuecard.annotate.authoring.table_types import CellChecks, type_of
from cuecard.core.i18n import N_
from cuecard.core.scoring.cells import preprocess, tolerance
from cuecard.core.tasks import Column, Preprocess

METRIC_HELP: dict[str, str] = {
    "exact_match": N_("Right if the prepared texts are equal but for case; after extract_number, if the numbers are: 5.0 counts as 5."),
    "number_near": N_("Right if the numbers are equal within the criterion: 5% or 0.05 of the gold number; without one they must be equal."),
    "date_near": N_("Right if the dates are at most 31 days apart."),
    "url_match": N_("Right if both name the same hosts; what follows the host does not count."),
    "in_match": N_("Right if the answer's text stands somewhere in the gold cell."),
    "llm_judge": N_("A model decides by the criterion; without a model, by likeness of the words."),
}  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """A cell, what is compared in its place, and why it does not fit the column, if so."""

    raw: str
    prepared: str
    misfit: str


@dataclass(frozen=True)
class ColumnPreview:
    """`odd` of `filled` cells do not fit; `samples` begin with those. `tolerance` is the relative one
    of `number_near`, None where the column has no such metric.
    """

    filled: int
    empty: int
    odd: int
    samples: tuple[Sample, ...]
    tolerance: float | None


def preview_column(rows: Sequence[Sequence[Any]], column: Mapping[str, Any], index: int, most: int = 8) -> ColumnPreview:  # fmt: skip
    """The preview of one column. Reads every different cell once: for use off the screen's thread."""
    texts = [str(row[index]).strip() if index < len(row) else "" for row in rows]
    kind, checks = type_of(column), CellChecks()
    distinct = list(dict.fromkeys(text for text in texts if text))
    for text in distinct:
        checks.misfit(kind, text)
    checks.settle()
    reasons = {text: checks.misfit(kind, text) for text in distinct}
    odd = sum(bool(reasons.get(text)) for text in texts)
    shown = sorted(distinct, key=lambda text: not reasons[text])[:most]
    model = _as_column(column)
    samples = tuple(Sample(text, preprocess(model, text), reasons[text]) for text in shown)
    filled = sum(map(bool, texts))
    near = "number_near" in (column.get("metric") or ())
    allowed = tolerance(str(column.get("criterion") or "")) if near else None
    return ColumnPreview(filled, len(texts) - filled, odd, samples, allowed)


def _as_column(column: Mapping[str, Any]) -> Column:
    """The column's preprocessing, whatever else is wrong with it."""
    steps = cast(list[Any], column.get("preprocess") or [])
    known = [Preprocess(step) for step in steps if step in list(Preprocess)]
    return Column.model_construct(preprocess=tuple(known))

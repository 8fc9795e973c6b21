"""The gold of a table task."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from cuecard.core.i18n import N_, _, plural
from cuecard.core.tasks.base import Frozen, Name
from cuecard.core.tasks.gold import Gold


class Preprocess(StrEnum):
    """How a cell is normalised before it is compared (WideSearch's names)."""

    NORM_STR = "norm_str"
    EXTRACT_NUMBER = "extract_number"
    NORM_DATE = "norm_date"


class Metric(StrEnum):
    """How two cells are compared (WideSearch's names)."""

    EXACT_MATCH = "exact_match"
    NUMBER_NEAR = "number_near"
    DATE_NEAR = "date_near"
    URL_MATCH = "url_match"
    IN_MATCH = "in_match"
    LLM_JUDGE = "llm_judge"


STEP_WORDS: Final[dict[str, str]] = {
    Preprocess.NORM_STR: N_("without case, blanks and *"),
    Preprocess.EXTRACT_NUMBER: N_("the first number"),
    Preprocess.NORM_DATE: N_("as a date"),
}
METRIC_WORDS: Final[dict[str, str]] = {
    Metric.EXACT_MATCH: N_("the same text"),
    Metric.NUMBER_NEAR: N_("within a relative tolerance"),
    Metric.DATE_NEAR: N_("within 31 days"),
    Metric.URL_MATCH: N_("the same hosts"),
    Metric.IN_MATCH: N_("contained in the gold cell"),
    Metric.LLM_JUDGE: N_("a model decides by the criterion"),
}


class Column(Frozen):
    """A required column. `criterion` is a tolerance for `number_near`, an instruction for
    `llm_judge`, unused otherwise.
    """

    name: Name
    preprocess: tuple[Preprocess, ...] = (Preprocess.NORM_STR,)
    metric: Annotated[tuple[Metric, ...], Field(min_length=1)] = (Metric.EXACT_MATCH,)
    criterion: str = ""


class Table(Gold, frozen=True):
    """Rows in column order; `unique_columns` are the key by which rows are joined."""

    family: Literal["table"] = "table"
    columns: Annotated[tuple[Column, ...], Field(min_length=1)]
    unique_columns: Annotated[tuple[Name, ...], Field(min_length=1)]
    rows: Annotated[tuple[tuple[str, ...], ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Table:
        names = self.column_names
        for index, name in enumerate(names):
            if name in names[:index]:
                raise ValueError(
                    f"columns[{index}].name: " + _("{name!r} is listed twice").format(name=name)
                )
        for index, name in enumerate(self.unique_columns):
            if name not in names:
                raise ValueError(
                    f"unique_columns[{index}]: " + _("{name!r} is not a column").format(name=name)
                )
        for index, row in enumerate(self.rows):
            if len(row) != len(names):
                reason = plural(
                    "has {n} cell, not {expected}",
                    "has {n} cells, not {expected}",
                    len(row),
                    expected=len(names),
                )
                raise ValueError(f"rows[{index}]: {reason}")
        return self

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def key_indices(self) -> tuple[int, ...]:
        names = self.column_names
        return tuple(names.index(name) for name in self.unique_columns)

    def key_of(self, row: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(row[index] for index in self.key_indices)

    @property
    def items(self) -> tuple[tuple[str, ...], ...]:
        return self.rows

    @property
    def field(self) -> str:
        return "rows"

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(" | ".join(row) for row in self.rows)

    @property
    def answers(self) -> tuple[str, ...]:
        return ()

    @property
    def things(self) -> tuple[tuple[str, ...], ...]:
        return tuple((cell,) for cell in dict.fromkeys(c for row in self.rows for c in row))

    @property
    def opens_with(self) -> str:
        return ""

    def problem(self, stages: int) -> str:
        return ""

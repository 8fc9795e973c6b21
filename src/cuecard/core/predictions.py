"""What agents hand in: predictions, by family, and those that cannot be used."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from random import Random
from typing import Annotated, Literal, Self

from pydantic import Field

from cuecard.core.i18n import _, ngettext
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line


class PredictedTriple(Frozen):
    """A triple as the agent handed it in; names are the agent's, not gold's."""

    head: str
    relation: str
    tail: str


class PredictionBase(Frozen):
    """The interface of predictions of every kind; an unusable one answers as an empty one. Each has `raw`, the agent's
    text as it came, kept for audit.
    """

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each triple or row, or the answer."""
        return ()

    def cells(self, column: str) -> tuple[str, ...]:
        """For each of `lines` the cell in this column; "" if there is no column of this name."""
        del column
        return ("",) * len(self.lines)

    @property
    def listing(self) -> tuple[str, ...]:
        """All of it as numbered lines for people, and the text that it was parsed from, if that differs."""
        return self.lines

    @property
    def spellings(self) -> tuple[str, ...]:
        """Texts that an agent might have written to hand it in; the last one is the most reliable to parse."""
        return ()

    def padded(self, dice: Random, share: float, values: Sequence[str]) -> Self:
        """With this share of guesses besides, for agents that say too much. `values`: what was found of other things."""
        del dice, share, values
        return self

    def summary(self, limit: int) -> str:
        """A short description such as `3 triples`; of a long answer at most `limit` characters."""
        raise NotImplementedError

    def reported(self, limit: int) -> str:
        """`summary` as part of a sentence: `handed in 3 triples`."""
        return _("handed in {what}").format(what=self.summary(limit))


class TriplesPrediction(PredictionBase):
    """The triples that an agent handed in."""

    kind: Literal["triples"] = "triples"
    triples: tuple[PredictedTriple, ...]
    raw: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(" — ".join((t.head, t.relation, t.tail)) for t in self.triples)

    @property
    def listing(self) -> tuple[str, ...]:
        numbered = enumerate(self.triples, 1)
        rows = (f"{i}. {t.head} · {t.relation} · {t.tail}" for i, t in numbered)
        return (*rows, *_as_it_came(self.raw))

    @property
    def spellings(self) -> tuple[str, ...]:
        listed = [triple.model_dump(mode="json") for triple in self.triples]
        return (json.dumps(listed, ensure_ascii=False),)

    def padded(self, dice: Random, share: float, values: Sequence[str]) -> Self:
        more = [
            t.model_copy(update={"tail": dice.choice(values or [t.head])})
            for t in self.triples
            if dice.random() < share
        ]
        return self.model_copy(update={"triples": (*self.triples, *more)})

    def summary(self, limit: int) -> str:
        n = len(self.triples)
        return ngettext("{n} triple", "{n} triples", n).format(n=n)


class TablePrediction(PredictionBase):
    """The table that an agent handed in. Cells of a row are in the order of `columns`, one for each."""

    kind: Literal["table"] = "table"
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    raw: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(" | ".join(row) for row in self.rows)

    def cells(self, column: str) -> tuple[str, ...]:
        names = [*map(plain_column, self.columns)]
        wanted = plain_column(column)
        at = names.index(wanted) if wanted in names else None
        return tuple("" if at is None else row[at] for row in self.rows)

    @property
    def listing(self) -> tuple[str, ...]:
        return (" | ".join(self.columns), *self.lines, *_as_it_came(self.raw))

    @property
    def spellings(self) -> tuple[str, ...]:
        lines = (self.columns, ["---"] * len(self.columns), *self.rows)
        table = "\n".join(f"| {' | '.join(map(_markdown_cell, line))} |" for line in lines)
        return (f"```markdown\n{table}\n```",)

    def padded(self, dice: Random, share: float, values: Sequence[str]) -> Self:
        doubts = share / 2
        rows = [(*r[:-1], f"{r[-1]} (?)") if dice.random() < doubts else r for r in self.rows]
        more = [(f"{row[0]} (2)", *row[1:]) for row in rows if dice.random() < doubts / 2]
        return self.model_copy(update={"rows": (*rows, *more)})

    def summary(self, limit: int) -> str:
        n = len(self.rows)
        return ngettext("a table of {n} row", "a table of {n} rows", n).format(n=n)


class AnswerPrediction(PredictionBase):
    """A final answer."""

    kind: Literal["answer"] = "answer"
    answer: str
    raw: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        return (self.answer,)

    @property
    def spellings(self) -> tuple[str, ...]:
        return self.answer, f"<answer>{self.answer}</answer>"

    def padded(self, dice: Random, share: float, values: Sequence[str]) -> Self:
        if not values or dice.random() >= share:
            return self
        return self.model_copy(update={"answer": f"{self.answer} / {dice.choice(values)}"})

    def summary(self, limit: int) -> str:
        return one_line(self.answer, limit)

    def reported(self, limit: int) -> str:
        return _("answered: {answer}").format(answer=self.summary(limit))


class UnusablePrediction(PredictionBase):
    """The agent's text held no triples, table or answer: a format failure, which scores 0. `reason` is marked for
    translation.
    """

    kind: Literal["unusable"] = "unusable"
    reason: str
    raw: str = ""

    @property
    def listing(self) -> tuple[str, ...]:
        return _as_it_came(self.raw)

    def summary(self, limit: int) -> str:
        return _("nothing usable: {reason}").format(reason=one_line(_(self.reason), limit))

    def reported(self, limit: int) -> str:
        return _("handed in nothing usable: {reason}").format(
            reason=one_line(_(self.reason), limit)
        )


def plain_column(name: str) -> str:
    """The name as it is compared: lower case, without blanks (WideSearch)."""
    return "".join(name.lower().split())


def _as_it_came(raw: str) -> tuple[str, ...]:
    return ("", _("As it came:"), raw) if raw else ()


_ENTITY_START = re.compile(r"&(?=[#\w]+;)")


def _markdown_cell(text: str) -> str:
    plain = _ENTITY_START.sub("&amp;", text).replace("|", "\\|")
    return "<br>".join(plain.splitlines())


Prediction = Annotated[
    TriplesPrediction | TablePrediction | AnswerPrediction | UnusablePrediction,
    Field(discriminator="kind"),
]


def triples_of(prediction: Prediction) -> tuple[PredictedTriple, ...] | None:
    """The triples of a prediction; None if it is of another kind or unusable."""
    return prediction.triples if isinstance(prediction, TriplesPrediction) else None


def answer_of(prediction: Prediction) -> str | None:
    """The final answer of a prediction; None if it is of another kind or unusable."""
    return prediction.answer if isinstance(prediction, AnswerPrediction) else None

"""A judge's decisions on the gold items of one trial."""

from __future__ import annotations

from enum import StrEnum

from cuecard.core.parts import PlayerRef
from cuecard.core.tasks.base import Frozen


class ItemKind(StrEnum):
    TRIPLE = "triple"
    CELL = "cell"
    ANSWER = "answer"


class Item(Frozen):
    """One thing that is judged: gold triple `index`, gold row `index` and `column`, or the answer."""

    kind: ItemKind
    index: int = 0
    column: str = ""

    @property
    def key(self) -> str:
        """`triple/17`, `cell/3/Year`, `answer/0`."""
        return "/".join(filter(None, (self.kind.value, str(self.index), self.column)))


class Decision(StrEnum):
    """`yes`: covered or equivalent. `unjudged` is never counted as `no`."""

    YES = "yes"
    NO = "no"
    UNJUDGED = "unjudged"


class Verdict(Frozen):
    """`supporting`: indices of predicted triples or rows, from 0, out-of-range ones included."""

    item: Item
    decision: Decision
    supporting: tuple[int, ...] = ()
    rationale: str = ""


class TableMatch(Frozen):
    """How a predicted table was laid over the gold one.

    `predicted_rows`: rows after duplicates by key were dropped; `joined`: pairs of (gold row,
    predicted row). Not `usable`: no table, or its columns do not map onto the required ones.
    """

    usable: bool
    predicted_rows: int = 0
    joined: tuple[tuple[int, int], ...] = ()
    reason: str = ""


class Judgement(Frozen):
    """All verdicts of one judge on one trial, stamped with what made them and what they are about.

    `prompt_hash`: of the prompts that were used. `trial_hash`: of what the trial handed in.
    """

    judge: PlayerRef
    revision_hash: str = ""
    prompt_hash: str = ""
    trial_hash: str = ""
    verdicts: tuple[Verdict, ...]
    table: TableMatch | None = None

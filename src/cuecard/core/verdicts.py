"""A judge's decisions on the gold items of one trial."""

from __future__ import annotations

from enum import StrEnum

from cuecard.core.parts import PlayerRef
from cuecard.core.tasks.base import Frozen


class ItemKind(StrEnum):
    """What a decision is about. Judges decide on gold triples, cells and answers; people also label rows,
    whether a predicted triple is right (precision), and what the user part decided in a turn: the status
    of a checkpoint, whether a cue was met, whether a reply gave gold away.
    """

    TRIPLE = "triple"
    CELL = "cell"
    ANSWER = "answer"
    ROW = "row"
    PREDICTED = "predicted"
    STATUS = "status"
    CUE = "cue"
    LEAK = "leak"


class Item(Frozen):
    """One thing that is decided on: gold triple `index`, gold row `index` (and `column`), the answer,
    predicted triple `index`, or what the user part decided in turn `index`.
    """

    kind: ItemKind
    index: int = 0
    column: str = ""

    @property
    def key(self) -> str:
        """`triple/17`, `cell/3/Year`, `answer/0`."""
        return "/".join(filter(None, (self.kind.value, str(self.index), self.column)))

    @classmethod
    def of_key(cls, key: str) -> Item:
        """The item of this key. Raises `ValueError` for what is none."""
        kind, _slash, rest = key.partition("/")
        index, _slash, column = rest.partition("/")
        return cls(kind=ItemKind(kind), index=int(index), column=column)


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

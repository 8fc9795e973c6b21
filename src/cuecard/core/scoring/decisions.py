"""Verdicts looked up by item."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cuecard.core.verdicts import Decision, Item, ItemKind, Verdict


@dataclass(frozen=True)
class Decisions:
    """What a judge decided, by item. An item without a verdict is unjudged; of two verdicts on one
    item the later counts.
    """

    by_item: dict[str, Verdict]

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> Decisions:
        return cls({verdict.item.key: verdict for verdict in verdicts})

    def verdict(self, kind: ItemKind, index: int = 0, column: str = "") -> Verdict | None:
        return self.by_item.get(Item(kind=kind, index=index, column=column).key)

    def decision(self, kind: ItemKind, index: int = 0, column: str = "") -> Decision:
        verdict = self.verdict(kind, index, column)
        return verdict.decision if verdict else Decision.UNJUDGED

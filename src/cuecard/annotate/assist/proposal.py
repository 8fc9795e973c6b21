"""What a model proposes for a task, item by item, and what each item was found to be worth by rule."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from cuecard.core.parts import Usage
from cuecard.core.tasks import OriginKind, TaskLanguage
from cuecard.core.tasks.base import Frozen

Deed = Literal["set", "add", "remove", "name"]
Link = tuple[str, str, str]


class ProposedItem(Frozen):
    """One thing to accept or reject.

    `deed`: `set` what stands at `place`; `add` to, or `remove` from, the list at `place`; in a
    translation, call `before` `after` wherever it is a `name`. `before` and `after` are JSON as the
    task holds it. `evidence`: the words of a source. `why`: the model's reason. `checked`: what is
    wrong with it by rule, in the interface's language; `remarks`: what else the linter would say of it;
    `ticked`: whether it was meant to be suggested.
    `links`: of a stage, the triples (head, relation, tail) that answer it.
    """

    id: str
    label: str
    place: str
    deed: Deed = "set"
    before: JsonValue = None
    after: JsonValue = None
    evidence: str = ""
    why: str = ""
    checked: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    ticked: bool = True
    links: tuple[Link, ...] = ()

    @property
    def suggested(self) -> bool:
        """Whether it is ticked before the person has looked at it: what deletes never is, and nothing
        against which there is a reason.
        """
        return self.ticked and self.deed != "remove" and not self.checked

    def flagged(self, reasons: Iterable[str]) -> ProposedItem:
        """The item with more `reasons` against it."""
        told = tuple(dict.fromkeys((*self.checked, *reasons)))
        return self if told == self.checked else self.model_copy(update={"checked": told})


class Spent(Frozen):
    """What a proposal cost. `cost` is None where the model has no price."""

    calls: int = 0
    usage: Usage = Usage()
    cost: float | None = None


class Proposal(Frozen):
    """`model`: its name in the configuration. `notes`: about the whole, for people. `raw`: replies
    that nothing could be read from. `language`: of a translation, the other one.
    """

    kind: OriginKind
    model: str
    prompt_hash: str = ""
    items: tuple[ProposedItem, ...] = ()
    notes: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()
    spent: Spent = Spent()
    language: TaskLanguage | None = None
    at: datetime

    def without(self, ids: Iterable[str]) -> Proposal:
        """The proposal without these items."""
        gone = frozenset(ids)
        return self.model_copy(update={"items": tuple(i for i in self.items if i.id not in gone)})

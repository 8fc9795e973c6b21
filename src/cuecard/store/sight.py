"""What one person may be told of decisions on the items of trials, whichever verb tells it.

The rule is the Trial screen's: what a person is still to label in a labelling set (`visible.waits_for`) stays covered,
and whatever they are told is remembered, so that labels which they give on it later are not blind.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from cuecard.core.verdicts import Item

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class Sight:
    """Asked before something is told of an item; `record` remembers what was. Decisions are a judge's, the user part's, an
    adjudicator's, and another person's label with its comment. `reveal`: the person asked to see everything. `person` "":
    nobody looks, for figures and for programs that show nothing.
    """

    def __init__(self, workspace: Workspace, person: str = "", *, reveal: bool = False) -> None:
        self._workspace = workspace
        self.person = person
        self._reveal = reveal
        self._told: set[tuple[int, Item]] = set()
        self._hidden: set[tuple[int, str]] = set()

    @property
    def hidden(self) -> int:
        """How many items were asked about and must not be told of."""
        return len(self._hidden)

    @property
    def told(self) -> int:
        return len(self._told)

    def may_tell(self, trial_id: int, item: Item) -> bool:
        """Whether decisions on the item may be told now; they then count as seen."""
        if (trial_id, item.key) in self._waiting:
            self._hidden.add((trial_id, item.key))
            return False
        if self.person:
            self._told.add((trial_id, item))
        return True

    def hide(self, trial_id: int, item: Item) -> None:
        """It is not told, for a reason of the caller's."""
        self._hidden.add((trial_id, item.key))

    def may_open(self, trial_id: int) -> bool:
        """Whether all of a trial may be told: nothing of it waits to be labelled."""
        waiting = self._by_trial.get(trial_id, ())
        self._hidden.update((trial_id, key) for key in waiting)
        return not waiting

    def record(self) -> None:
        """Remember what was told. Where nothing can be written, nothing can be labelled either, and an uncovering
        raises `CuecardError`.
        """
        if self._told and (self._reveal or not self._workspace.read_only):
            self._workspace.verdicts.note_reveals(self._told, self.person)

    @cached_property
    def _waiting(self) -> frozenset[tuple[int, str]]:
        if self._reveal or not self.person:
            return frozenset()
        return self._workspace.label_sets.waiting_everywhere(self.person)

    @cached_property
    def _by_trial(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for trial_id, key in self._waiting:
            found.setdefault(trial_id, []).append(key)
        return found

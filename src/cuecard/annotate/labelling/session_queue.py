"""Where the items of a session come from: the verdicts of a run or trial, a labelling set, or a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from cuecard.annotate.labelling.session_views import Target

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class Source(Protocol):
    """`judge`: whose decisions are shown, "" for the first there is."""

    judge: str

    def waiting(self) -> int:
        """How many items wait for the person."""
        ...

    def next(self, limit: int) -> list[Target]:
        """The first `limit` items that wait, in the person's own order."""
        ...


class VerdictSource:
    """Items that judges decided on and `person` has not labelled."""

    judge = ""

    def __init__(
        self, workspace: Workspace, person: str, run_id: int | None, trial_id: int | None
    ) -> None:
        self._verdicts, self._person = workspace.verdicts, person
        self._run_id, self._trial_id = run_id, trial_id

    def waiting(self) -> int:
        return self._verdicts.waiting(self._person, run_id=self._run_id, trial_id=self._trial_id)

    def next(self, limit: int) -> list[Target]:
        found = self._verdicts.queue(
            self._person, run_id=self._run_id, trial_id=self._trial_id, limit=limit
        )
        return [Target(trial_id=v.trial_id, item=v.item, verdict_id=v.verdict_id) for v in found]


class SetSource:
    """The items of a labelling set that wait for `person`."""

    def __init__(self, workspace: Workspace, person: str, set_id: int) -> None:
        self._sets, self._person, self._set_id = workspace.label_sets, person, set_id
        judge = self._sets.get(set_id).plan.get("judge")
        self.judge = judge if isinstance(judge, str) else ""

    def waiting(self) -> int:
        return self._sets.progress(self._set_id, self._person).left

    def next(self, limit: int) -> list[Target]:
        found = self._sets.queue(self._set_id, self._person, limit=limit)
        return [Target(trial_id=s.trial_id, item=s.item) for s in found]


class ListSource:
    """Items that somebody picked, in their order, labelled or not."""

    judge = ""

    def __init__(self, targets: Sequence[Target]) -> None:
        self._targets = list(dict.fromkeys(targets))

    def waiting(self) -> int:
        return len(self._targets)

    def next(self, limit: int) -> list[Target]:
        return self._targets[:limit]

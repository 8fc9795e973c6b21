"""Which recorded players are one simulator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from cuecard.core.parts import PlayerRef
from cuecard.store.records import TrialRecord

if TYPE_CHECKING:
    from cuecard.store.play_records import Shadow
    from cuecard.store.workspace import Workspace

HUMAN = "human"
UNFAITHFUL = frozenset({"oneshot", "staged"})
"""Kinds of users that do not play the persona at all: settings to compare with, no simulators."""
Same = tuple[str, str, bool]


class Simulators:
    """Takes a configured simulator as one, by name and model: its recorded version, a hash of its prompts,
    differs between languages and between personas and checkpoints though nothing was changed. Where two
    versions for the same language and kind occur, its prompts were changed, and each version stands by
    itself. `seen`: players with the language of the task that they played.
    """

    def __init__(self, seen: Iterable[tuple[PlayerRef, str]]) -> None:
        self._kinds: dict[Same, set[str]] = defaultdict(set)
        self._versions: dict[Same, dict[tuple[str, str], set[str]]] = defaultdict(
            lambda: defaultdict(set)
        )
        for player, language in seen:
            same = _same(player)
            self._kinds[same].add(player.kind)
            self._versions[same][player.kind, language].add(player.version)

    def one(self, player: PlayerRef) -> PlayerRef:
        """Who it is in a report: the version is "" where several are one."""
        same = _same(player)
        by_place = self._versions.get(same, {})
        if not by_place or any(len(versions) > 1 for versions in by_place.values()):
            return player
        versions = {version for found in by_place.values() for version in found}
        return player.model_copy(
            update={
                "kind": min(self._kinds[same]),
                "version": player.version if len(versions) == 1 else "",
            }
        )


def is_simulated(trial: TrialRecord) -> bool:
    """Whether a simulator played the user."""
    return trial.user.kind not in (HUMAN, *UNFAITHFUL)


def simulators_in(
    workspace: Workspace, trials: Collection[TrialRecord], shadows: Iterable[Shadow]
) -> Simulators:
    """Those that played these trials or were asked about them."""
    language = {
        task.id: str(task.language) for task in workspace.tasks.summaries(include_retired=True)
    }
    of_trial = {trial.id: language.get(trial.task_id, "") for trial in trials}
    played = [(t.user, of_trial[t.id]) for t in trials if is_simulated(t)]
    asked = [(s.player, of_trial[s.trial_id]) for s in shadows if s.trial_id in of_trial]
    return Simulators([*played, *asked])


def _same(player: PlayerRef) -> Same:
    return player.name, player.model, player.baseline

"""The data behind a fidelity report: user turns with everybody's decisions, and which players are one simulator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import Field

from cuecard.annotate.agreement.ratings import most_said
from cuecard.core.engine.messages import Dialogue, PlayerRef, UserReply
from cuecard.core.i18n import N_
from cuecard.core.records import TrialRecord
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import CueKind, Family, Task, TaskLanguage
from cuecard.core.verdicts import Decision

if TYPE_CHECKING:
    from cuecard.core.records import Shadow
    from cuecard.store.workspace import Workspace


Subject = Literal["cue", "status"]
"""Whether the cue of the next stage is met (personas), or how the agent's turn reads (checkpoints)."""
Source = Literal["played", "live", "later"]
"""Where a simulator's reply comes from: it played the trial; as a shadow it was asked while somebody else
played; or it was asked afterwards.
"""
GroupBy = Literal["cue", "stage", "language", "agent", "source"]
GROUPINGS: tuple[GroupBy, ...] = get_args(GroupBy)


class Scope(Frozen):
    """Which trials count: of these runs, of these tasks, with these ids; empty means all. `simulators` and `people`:
    whose decisions count, by name; empty means everybody's.
    """

    simulators: Annotated[tuple[str, ...], Field(title=N_("Simulators"))] = ()
    people: Annotated[tuple[str, ...], Field(title=N_("People"))] = ()
    runs: Annotated[tuple[int, ...], Field(title=N_("Runs"))] = ()
    tasks: tuple[str, ...] = ()
    trials: tuple[int, ...] = ()


def decision_of(reply: UserReply) -> str:
    """What a reply decides of the agent's last words: a checkpoint status, else `yes` or `no` (whether the
    cue is met); "" where it decides nothing or is unsure.
    """
    if reply.status is not None:
        return reply.status.value
    if reply.cue_met is None:
        return ""
    return Decision.YES.value if reply.cue_met else Decision.NO.value


@dataclass(frozen=True)
class Voice:
    """A simulator's reply in a turn, said or only asked for."""

    player: PlayerRef
    source: Source
    reply: UserReply


@dataclass(frozen=True)
class Case:
    """One user turn (from 1) of a trial's effective log. `before`: the dialogue up to it, which ends with the agent's
    reply that is decided on.

    `stage`: the next stage, from 1 (None: all are disclosed, or no persona), and `cue` its cue's kind; `checkpoint`:
    the step, from 0. `player` and `person`: the name and words of the person who played, "" and None if a simulator
    did. `voices`: one for each simulator. `labels`: blind decisions of people who re-played or labelled the turn,
    without "cannot tell". `adjudicated`: "" if it was not.
    """

    trial_id: int
    turn: int
    run_id: int
    task: Task
    revision: int
    agent: PlayerRef
    before: Dialogue
    subject: Subject
    stage: int | None = None
    cue: str = ""
    checkpoint: int | None = None
    player: str = ""
    person: UserReply | None = None
    voices: tuple[Voice, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    adjudicated: str = ""

    @property
    def name(self) -> str:
        return f"{self.trial_id}/{self.turn}"

    @property
    def family(self) -> Family:
        return self.task.family

    @property
    def language(self) -> TaskLanguage:
        return self.task.language

    @property
    def agent_text(self) -> str:
        """The reply that is decided on."""
        last = self.before.last("agent")
        return last.text if last else ""

    @property
    def decides(self) -> bool:
        """Whether there is something to decide: a cue other than the start's, or a status."""
        return self.subject == "status" or (
            self.stage is not None and self.cue != CueKind.START.value
        )

    @property
    def played(self) -> str:
        """The decision of the person who played; "" if nobody did, or it was left open."""
        return decision_of(self.person) if self.person and self.decides else ""

    @property
    def people(self) -> dict[str, str]:
        """Each person's own decision by name: of the one who played, and of others their blind labels."""
        return {**({self.player: self.played} if self.played else {}), **self.labels}

    def said(self, player: PlayerRef) -> str:
        """This simulator's decision; "" if it was not asked, or left it open."""
        voice = self.voice(player)
        return decision_of(voice.reply) if voice and self.decides else ""

    @property
    def reference(self) -> str:
        """The decision taken as the truth: the adjudicated one; else that of the person who played; else the majority
        of those who re-played or labelled the turn. "" if there is none, or a tie.
        """
        return self.adjudicated or self.played or most_said(self.labels.values())

    def voice(self, player: PlayerRef) -> Voice | None:
        return next((voice for voice in self.voices if voice.player == player), None)

    def group(self, by: GroupBy, player: PlayerRef) -> str:
        """The value of a grouping; stages count from 1, and so do steps."""
        match by:
            case "cue":
                return self.cue
            case "stage":
                place = self.stage if self.checkpoint is None else self.checkpoint + 1
                return "" if place is None else str(place)
            case "language":
                return self.language
            case "agent":
                return self.agent.name
            case "source":
                voice = self.voice(player)
                return voice.source if voice else ""


@dataclass(frozen=True)
class FidelityInputs:
    """`cases` by trial and turn; `simulators` by name. `trials`: how many were read, `played` of them by people.
    `stale`: shadow replies left out because their turn was taken back or is another trial's. `unsure`, `undecided`:
    decisions left open by people, and by simulators.
    """

    scope: Scope
    cases: tuple[Case, ...]
    simulators: tuple[PlayerRef, ...]
    people: tuple[str, ...]
    trials: int = 0
    played: int = 0
    stale: int = 0
    unsure: int = 0
    undecided: int = 0


HUMAN = "human"
UNFAITHFUL = frozenset({"oneshot", "staged"})
"""Kinds of users that do not play the persona: baselines to compare with, not simulators."""
Same = tuple[str, str, bool]


class Simulators:
    """Which recorded players count as one simulator: those of equal name and model, although the recorded version (a
    hash of the prompts) differs between languages and task families. If two versions occur for the same language and
    kind, the prompts were changed, and each version counts by itself. `seen`: players with the language of the task
    that they played.
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
        """The simulator that a player counts as; its version is "" if it stands for several."""
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
    """The simulators that played these trials or have shadow replies in them."""
    language = {
        task.id: str(task.language) for task in workspace.tasks.summaries(include_retired=True)
    }
    of_trial = {trial.id: language.get(trial.task_id, "") for trial in trials}
    played = [(t.user, of_trial[t.id]) for t in trials if is_simulated(t)]
    asked = [(s.player, of_trial[s.trial_id]) for s in shadows if s.trial_id in of_trial]
    return Simulators([*played, *asked])


def _same(player: PlayerRef) -> Same:
    return player.name, player.model, player.baseline

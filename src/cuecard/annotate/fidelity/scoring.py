"""What trials scored, by the judge that judged most of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.errors import NotFound
from cuecard.core.i18n import _
from cuecard.core.parts import PlayerRef
from cuecard.core.scoring.interaction import score_interaction
from cuecard.core.scoring.measures import Measure
from cuecard.core.scoring.trial_score import score_trial
from cuecard.core.tasks import Task
from cuecard.core.verdicts import Judgement
from cuecard.store.records import TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class Scored:
    """A trial with its measures. `judge` None: it was not judged by the judge that counts, and has those of its
    interaction only.
    """

    trial: TrialRecord
    scores: tuple[Measure, ...]
    judge: PlayerRef | None

    @property
    def measures(self) -> dict[str, float]:
        """The values of the defined ones by name."""
        return {one.name: one.value for one in self.scores if one.value is not None}


@dataclass(frozen=True)
class Scores:
    """Trials by id. `judge`: whose judgements count, "" where there are none."""

    judge: str
    trials: dict[int, Scored]


def scores_of(workspace: Workspace, trials: Iterable[TrialRecord], judge: str = "") -> Scores:
    """The ended trials' measures by `judge`; "": by whoever judged most of them (of equals, the first by
    name), so that no two trials are compared by different judges. Reads their logs. Raises `NotFound` for a
    judge that judged none of them.
    """
    ended = [trial for trial in trials if trial.termination is not None]
    judged: dict[int, dict[str, Judgement]] = {}
    counts: Counter[str] = Counter()
    for trial in ended:
        # Newest first: the newest of each judge counts.
        records = reversed(workspace.verdicts.of_trial(trial.id))
        judged[trial.id] = {r.judgement.judge.name: r.judgement for r in records}
        counts.update(judged[trial.id].keys())
    name = judge or min(counts, key=lambda name: (-counts[name], name), default="")
    if judge and ended and judge not in counts:
        raise NotFound(
            _("None of these trials is judged by {judge}").format(judge=judge),
            _("judges here: {names}").format(names=", ".join(sorted(counts)) or "-"),
        )
    tasks: dict[tuple[str, int], Task] = {}
    found: dict[int, Scored] = {}
    for trial in ended:
        version = (trial.task_id, trial.revision)
        if version not in tasks:
            tasks[version] = workspace.tasks.revision(*version).task
        events = workspace.runs.outline(trial.id).events
        judgement = judged[trial.id].get(name)
        measures = (
            score_trial(tasks[version], events, judgement)
            if judgement
            else score_interaction(tasks[version], events)
        )
        found[trial.id] = Scored(trial, measures, judgement.judge if judgement else None)
    return Scores(name, found)


def baselines_among(trials: Iterable[Scored]) -> tuple[str, ...]:
    """The agents, worlds and judges of these trials that are embedded offline players."""
    players = [
        player
        for scored in trials
        for player in (scored.trial.agent, scored.trial.world, scored.judge)
        if player is not None and player.baseline
    ]
    return tuple(sorted({player.name for player in players}))


def shown_measures(names: Collection[str]) -> list[str]:
    """Of these measures, those that reports show, in their order: what tasks are scored by, then stages
    reached and turns. What only counts the cost of a trial is left out.
    """
    from cuecard.annotate.effect.figures import MEASURES

    ordered = [name for family in MEASURES.values() for name in family]
    ordered += ["stage_share", "user_turns", "agent_turns"]
    return [name for name in dict.fromkeys(ordered) if name in names]

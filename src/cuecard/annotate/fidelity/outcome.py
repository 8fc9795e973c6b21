"""The same tasks and agents, played by people and by simulators: what came of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from cuecard.annotate.agreement import difference, with_intervals
from cuecard.annotate.agreement.bootstrap import RESAMPLES
from cuecard.annotate.effect.figures import figure_over
from cuecard.annotate.fidelity.model import Outcome, OutcomeCell, OutcomeMeasure
from cuecard.annotate.fidelity.scoring import (
    Scored,
    Scores,
    baselines_among,
    shown_measures,
)
from cuecard.annotate.fidelity.simulators import HUMAN, Simulators, is_simulated
from cuecard.core.parts import PlayerRef
from cuecard.core.scoring.aggregate import (
    POOLED_MEASURES,
    Key,
    Part,
    TrialScore,
    by_task,
    statistics_of,
)
from cuecard.store.records import TrialRecord

Place = tuple[str, int, PlayerRef, PlayerRef]
"""Task, revision, agent and world: what a person's trial and a simulator's must have in common."""


def place_of(trial: TrialRecord) -> Place:
    return trial.task_id, trial.revision, trial.agent, trial.world


def comparable(trials: Iterable[TrialRecord]) -> list[TrialRecord]:
    """The ended trials of people and of simulators on tasks that people played at all."""
    ended = [trial for trial in trials if trial.termination is not None]
    played = {trial.task_id for trial in ended if trial.user.kind == HUMAN}
    return [
        trial
        for trial in ended
        if trial.user.kind == HUMAN or (is_simulated(trial) and trial.task_id in played)
    ]


def outcomes(
    trials: Sequence[TrialRecord],
    scores: Scores,
    simulators: Simulators,
    *,
    resamples: int = RESAMPLES,
) -> Iterator[Outcome]:
    """Each simulator that played, against people: all agents together, then each agent where there are
    several. A cell's value is the mean over its trials, so a cell with many trials weighs as much as one with
    few; ratios that are pooled are pooled over cells, the trials of a cell weighing as much as one.
    """
    people = _by_place(scores.trials[t.id] for t in trials if t.user.kind == HUMAN)
    played: dict[PlayerRef, list[Scored]] = defaultdict(list)
    for trial in trials:
        if is_simulated(trial):
            played[simulators.one(trial.user)].append(scores.trials[trial.id])
    for player in sorted(played, key=lambda p: (p.name, p.model, p.version, p.kind)):
        theirs = _by_place(played[player])
        agents = sorted({place[2].name for place in people.keys() & theirs.keys()})
        for agent in ("", *(agents if len(agents) > 1 else ())):
            yield _outcome(player, agent, people, theirs, scores.judge, resamples)


Cells = dict[Place, list[Scored]]
Parts = dict[str, dict[str, Part]]
"""By measure, by cell."""


def _by_place(trials: Iterable[Scored]) -> Cells:
    found: Cells = defaultdict(list)
    for scored in trials:
        found[place_of(scored.trial)].append(scored)
    return found


def _outcome(
    player: PlayerRef, agent: str, people: Cells, theirs: Cells, judge: str, resamples: int
) -> Outcome:
    def of_agent(cells: Cells) -> Cells:
        return {place: t for place, t in cells.items() if not agent or place[2].name == agent}

    people, theirs = of_agent(people), of_agent(theirs)
    shared = sorted(people.keys() & theirs.keys(), key=_sorted_by)
    sides = _parts(people, shared), _parts(theirs, shared)
    cells = tuple(
        _cell(place, people[place], theirs[place], str(at), sides)
        for at, place in enumerate(shared)
    )
    return Outcome(
        simulator=player,
        agent=agent,
        judge=judge,
        baselines=baselines_among(s for place in shared for s in (*people[place], *theirs[place])),
        cells=cells,
        tasks=len({cell.task_id for cell in cells}),
        people_trials=sum(cell.people_trials for cell in cells),
        simulator_trials=sum(cell.simulator_trials for cell in cells),
        only_people=len(people.keys() - theirs.keys()),
        only_simulator=len(theirs.keys() - people.keys()),
        measures=tuple(_measures(sides, [cell.task_id for cell in cells], resamples)),
        people_ends=_ends(people[place] for place in shared),
        simulator_ends=_ends(theirs[place] for place in shared),
    )


def _sorted_by(place: Place) -> tuple[str, int, str, str]:
    task, revision, agent, world = place
    return task, revision, agent.model_dump_json(), world.model_dump_json()


def _parts(trials: Cells, places: Sequence[Place]) -> Parts:
    """What each cell, by the number of its place, adds to each measure that reports show."""
    scores = [
        TrialScore(str(at), sample, scored.scores)
        for at, place in enumerate(places)
        for sample, scored in enumerate(trials[place])
    ]
    found = {key[0]: parts for key, parts in by_task(scores).items() if key == _key(key[0])}
    return {name: found[name] for name in shown_measures(found)}


def _key(name: str) -> Key:
    return name, statistics_of(name)[0]


def _cell(
    place: Place,
    people: Sequence[Scored],
    theirs: Sequence[Scored],
    number: str,
    sides: tuple[Parts, Parts],
) -> OutcomeCell:
    task, revision, agent, world = place
    return OutcomeCell(
        task_id=task,
        revision=revision,
        agent=agent,
        world=world,
        people_trials=len(people),
        simulator_trials=len(theirs),
        people=_values(sides[0], number),
        simulator=_values(sides[1], number),
    )


def _values(parts: Parts, number: str) -> dict[str, float]:
    found = {name: own[number].value for name, own in parts.items() if number in own}
    return {name: value for name, value in found.items() if value is not None}


def _ends(cells: Iterable[Sequence[Scored]]) -> dict[str, int]:
    ends = (s.trial.termination for trials in cells for s in trials)
    return dict(Counter(end.value for end in ends if end is not None).most_common())


def _measures(
    sides: tuple[Parts, Parts], groups: Sequence[str], resamples: int
) -> Iterator[OutcomeMeasure]:
    """Over cells with a value on both sides; of pooled ratios over all that have the measure."""
    people, theirs = sides
    keys = [str(number) for number in range(len(groups))]
    for name in people:
        if name not in theirs:
            continue
        left, right = people[name], theirs[name]
        pooled = name in POOLED_MEASURES
        paired = {
            key
            for key in left.keys() & right.keys()
            if pooled or (left[key].value is not None and right[key].value is not None)
        }
        if not any(left[key].value is not None and right[key].value is not None for key in paired):
            continue
        one, other = (
            figure_over(_key(name), {key: side[key] for key in paired}, keys)
            for side in (left, right)
        )
        apart = replace(difference(other, one), name=name)
        found = with_intervals((one, other, apart), groups, resamples=resamples)
        yield OutcomeMeasure(name=name, people=found[0], simulator=found[1], difference=found[2])

"""Scores of trials for the fidelity report: with people and with simulators, and correlated with people's ratings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficients import difference
from cuecard.annotate.agreement.intervals import RESAMPLES, with_intervals
from cuecard.annotate.fidelity.correlation import design_effect, rank_correlations
from cuecard.annotate.fidelity.inputs import HUMAN, Simulators, is_simulated
from cuecard.annotate.fidelity.model import (
    Correlation,
    Meaning,
    Outcome,
    OutcomeCell,
    OutcomeMeasure,
    Point,
)
from cuecard.annotate.labelling.effect_figures import figure_over
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.evaluation.scores import judged_nothing
from cuecard.core.families.registry import CORE
from cuecard.core.records import SessionForm, TrialRecord
from cuecard.core.scoring.aggregate import Key, Part, TrialScore, by_task, statistics_of
from cuecard.core.scoring.measures import POOLED_MEASURES
from cuecard.core.scoring.trial_score import score_interaction, score_trial
from cuecard.core.tasks.base import FormQuestion
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Judgement, Measure

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class Scored:
    """A trial with its measures. `judge` None: the judge that counts has not judged it, so it has only measures of its
    interaction.
    """

    trial: TrialRecord
    scores: tuple[Measure, ...]
    judge: PlayerRef | None

    @property
    def measures(self) -> dict[str, float]:
        """The defined measures by name."""
        return {one.name: one.value for one in self.scores if one.value is not None}


@dataclass(frozen=True)
class Scores:
    """Scored trials by id. `judge`: whose judgements count, "" if there are none."""

    judge: str
    trials: dict[int, Scored]


def scores_of(workspace: Workspace, trials: Iterable[TrialRecord], judge: str = "") -> Scores:
    """The ended trials' measures by `judge`; "": the one who judged most of them (in a tie, the first by name), so that
    all trials are compared by one judge. Reads their logs. Raises `NotFound` for a judge that judged none of them.
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
        raise judged_nothing(judge, counts)
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
    """The agents, worlds and judges of these trials that are offline baselines."""
    players = [
        player
        for scored in trials
        for player in (scored.trial.agent, scored.trial.world, scored.judge)
        if player is not None and player.baseline
    ]
    return tuple(sorted({player.name for player in players}))


def shown_measures(names: Collection[str]) -> list[str]:
    """Those of these measures that reports show, in their order: what tasks are scored by, then stages reached and
    turns.
    """
    ordered = [name for family in CORE.values() for name in family.judged]
    ordered += ["stage_share", "user_turns", "agent_turns"]
    return [name for name in dict.fromkeys(ordered) if name in names]


Place = tuple[str, int, PlayerRef, PlayerRef]
"""Task, revision, agent and world: what trials of people and of simulators are paired by."""


def place_of(trial: TrialRecord) -> Place:
    return trial.task_id, trial.revision, trial.agent, trial.world


def comparable(trials: Iterable[TrialRecord]) -> list[TrialRecord]:
    """The ended trials of people and of simulators on tasks that people played."""
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
    """Each simulator compared with people: all agents together, then each agent if there are several. A cell's value is
    the mean over its trials, so all cells weigh the same; pooled ratios are pooled over cells, a cell's trials together
    weighing as one.
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
    """Measures over cells with a value on both sides; pooled ratios over all cells that have the measure."""
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


SATISFACTION = "satisfaction"


def meaning_of(
    forms: Sequence[SessionForm], scores: Scores, *, resamples: int = RESAMPLES
) -> Meaning | None:
    """Every scale of the forms correlated with every measure, over the sessions that have both; None without forms. The
    scale `satisfaction` comes first.
    """
    if not forms:
        return None
    scored = [form for form in forms if _score(form, scores) is not None]
    trials = [found for form in scored if (found := _score(form, scores)) is not None]
    return Meaning(
        judge=scores.judge,
        sessions=len(forms),
        scored=sum(found.judge is not None for found in trials),
        people=tuple(sorted({form.person for form in forms})),
        baselines=baselines_among(trials),
        correlations=tuple(_correlations(scored, scores, resamples)),
    )


def _correlations(
    forms: Sequence[SessionForm], scores: Scores, resamples: int
) -> Iterator[Correlation]:
    names = {name for form in forms for name in scores.trials[form.trial_id].measures}
    measures = shown_measures(names)
    for question in _scales(forms):
        for measure in measures:
            points = tuple(_points(forms, scores, question.key, measure))
            if points:
                yield _correlation(question, measure, points, resamples)


def _correlation(
    question: FormQuestion, measure: str, points: tuple[Point, ...], resamples: int
) -> Correlation:
    x, y = [point.x for point in points], [point.y for point in points]
    tasks = [point.task_id for point in points]
    found = rank_correlations(x, y, tasks, resamples=resamples)
    return Correlation.from_fields(
        found,
        scale=question.key,
        label=question.label,
        measure=measure,
        sessions=len(points),
        tasks=len(set(tasks)),
        design_effect=design_effect(x, y, tasks),
        points=points,
    )


def _points(
    forms: Sequence[SessionForm], scores: Scores, scale: str, measure: str
) -> Iterator[Point]:
    for form in forms:
        answer = form.answers.get(scale)
        scored = scores.trials[form.trial_id]
        if isinstance(answer, int) and measure in scored.measures:
            yield Point(
                trial_id=form.trial_id,
                task_id=scored.trial.task_id,
                person=form.person,
                x=answer,
                y=scored.measures[measure],
            )


def _scales(forms: Sequence[SessionForm]) -> list[FormQuestion]:
    """Each scale that was asked, as it was asked last."""
    found = {
        question.key: question
        for form in sorted(forms, key=lambda form: form.at)
        for question in form.questions
        if question.kind == "scale"
    }
    return sorted(found.values(), key=lambda question: question.key != SATISFACTION)


def _score(form: SessionForm, scores: Scores) -> Scored | None:
    return scores.trials.get(form.trial_id)

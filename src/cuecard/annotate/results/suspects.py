"""Gold that may be wrong, by what all judged trials of runs say of it, and figures of every item and task.

Verdicts and labels are read of all trials, what was handed in only where a rival may be, logs only of candidates.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cuecard.annotate.estimation.item_analysis import (
    LEAST_OPENED,
    LEAST_RIVAL_AGENTS,
    Block,
    Flag,
    ItemFigures,
    analyse,
    queue,
)
from cuecard.annotate.families.registry import ANNOTATE, GoldAnswer
from cuecard.annotate.results.pages_seen import Seen, logs, pages
from cuecard.annotate.results.pool import Pool, Row
from cuecard.core.families.registry import CORE
from cuecard.core.text import normalise
from cuecard.core.verdicts import Decision, Item

if TYPE_CHECKING:
    from cuecard.core.tasks.models import Task
    from cuecard.store.workspace import Sight, Workspace

MOST_LOGS = 300
"""So many trials' logs are read for a survey at most,"""
PER_AGENT = 2
"""of a task so many of each agent."""
_AS_DECIDED = {Decision.YES.value: 1.0, Decision.NO.value: 0.0}


@dataclass(frozen=True)
class Surveyed:
    """One revision of a task with its judged trials, `rows` in the order of the block's trials, and figures of its items.
    `spelled`: how values that were told were first written, by the value normalised.
    """

    task: Task
    revision: int
    answers: tuple[GoldAnswer, ...]
    rows: tuple[Row, ...]
    block: Block
    items: tuple[ItemFigures, ...]
    spelled: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Suspect:
    """An item of gold with flags. `found_by`, `not_by`: agents by name, by whether they found it at least once."""

    of: Surveyed
    answer: GoldAnswer
    figures: ItemFigures

    @property
    def key(self) -> tuple[str, int, str]:
        return self.of.task.id, self.of.revision, self.answer.key

    @property
    def gold(self) -> str:
        return self.answer.values[0] if self.answer.values else ""

    @property
    def rival(self) -> str:
        """As it was first written by an agent; "" where no rival is flagged."""
        rival = self.figures.rival
        return (
            self.of.spelled.get(rival.value, rival.value)
            if rival and Flag.RIVAL in self.figures.flags
            else ""
        )

    @property
    def found_by(self) -> tuple[str, ...]:
        return self._agents(1.0)

    @property
    def not_by(self) -> tuple[str, ...]:
        found = self.found_by
        return tuple(agent for agent in self._agents(0.0) if agent not in found)

    def _agents(self, value: float) -> tuple[str, ...]:
        column = self.of.block.found[:, self.figures.at]
        chosen = (a for a, v in zip(self.of.block.agents, column, strict=True) if v == value)
        return tuple(dict.fromkeys(chosen))


@dataclass(frozen=True)
class Survey:
    """What trials of a pool say of gold. `unread`: tasks with items that nobody found, of which no log was read; `hidden`: how
    many suspects are left out because the reader has still to label one of their verdicts.
    """

    tasks: tuple[Surveyed, ...]
    suspects: tuple[Suspect, ...]
    given_away: tuple[Suspect, ...]
    unread: int = 0
    hidden: int = 0
    scores: Mapping[str, Mapping[str, Sequence[float]]] = field(
        default_factory=dict[str, Mapping[str, Sequence[float]]]
    )


def survey(workspace: Workspace, pool: Pool, sight: Sight | None = None) -> Survey:
    """Of the pool's judged trials, each by the first judge that judged it. With `sight` without what its reader is to label.

    Blocks for the database.
    """
    first: dict[int, Row] = {}
    for row in pool.rows:
        if row.figures is not None:
            first.setdefault(row.trial.id, row)
    units: defaultdict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in first.values():
        units[row.unit].append(row)
    marks: defaultdict[int, dict[str, list[tuple[str, str]]]] = defaultdict(dict)
    for trial, judge, decided in workspace.verdict_pages.marks([run.id for run in pool.runs]):
        if trial in first:
            marks[trial][judge] = decided
    people = _people(workspace, first)
    budget = MOST_LOGS
    unread, done = 0, list[Surveyed]()
    for unit, rows in units.items():
        one = _surveyed(workspace, unit, rows, marks, people)
        wanted = _to_read(one)
        if wanted and len(wanted) <= budget:
            budget -= len(wanted)
            one = _with_logs(workspace, one, wanted)
        elif wanted:
            unread += 1
        done.append(one)
    every = {(one.task.id, one.revision): one for one in done}
    pairs = [(f"{o.task.id}\n{o.revision}", item) for o in done for item in o.items]

    def of(flags: Collection[Flag]) -> list[Suspect]:
        found: list[Suspect] = []
        for name, item in queue(pairs, flags):
            task_id, _line, revision = name.partition("\n")
            one = every[task_id, int(revision)]
            found.append(Suspect(one, one.answers[item.at], item))
        return found

    suspects, known = of([flag for flag in Flag if flag is not Flag.GIVEN_AWAY]), of([Flag.GIVEN_AWAY])  # fmt: skip
    shown = [one for one in suspects if _may_tell(one, sight)]
    return Survey(
        tasks=tuple(done),
        suspects=tuple(shown),
        given_away=tuple(one for one in known if _may_tell(one, sight)),
        unread=unread,
        hidden=len(suspects) - len(shown),
        scores=_scores(first.values()),
    )


def _scores(rows: Collection[Row]) -> dict[str, dict[str, list[float]]]:
    """By task and agent the main measure of its family."""
    found: dict[str, dict[str, list[float]]] = {}
    main = CORE.each(lambda family: family.main)
    for row in rows:
        if (value := row.measure(main[row.family])) is not None:
            by = found.setdefault(row.trial.task_id, {})
            by.setdefault(row.trial.agent.name, []).append(value)
    return found


def _may_tell(one: Suspect, sight: Sight | None) -> bool:
    if sight is None:
        return True
    try:
        item = Item.of_key(one.answer.key)
    except ValueError:  # found in play: no verdict of a judge
        return True
    trials = [row.trial.id for row in one.of.rows]
    if any(sight.waits(trial, item) for trial in trials):
        return False
    return all(sight.may_tell(trial, item) for trial in trials)


@dataclass
class _People:
    """What people decided on items of one trial, by key: their labels counted, and how many hold the gold for wrong."""

    labels: defaultdict[str, Counter[str]] = field(
        default_factory=lambda: defaultdict[str, Counter[str]](Counter)
    )
    wrong: Counter[str] = field(default_factory=Counter[str])


def _people(workspace: Workspace, trials: Collection[int]) -> dict[int, _People]:
    found: defaultdict[int, _People] = defaultdict(_People)
    for label in workspace.verdicts.item_labels():
        if label.trial_id in trials:
            mine = found[label.trial_id]
            mine.labels[label.item_key][label.value.value] += 1
            if label.gold_wrong:
                mine.wrong[label.item_key] += 1
    for dispute in workspace.adjudications.gold_wrong():
        if dispute.trial_id in trials:
            found[dispute.trial_id].wrong[dispute.item_key] += 1
    return dict(found)


def _split(
    by_judge: Mapping[str, Sequence[tuple[str, str]]], labels: Mapping[str, Counter[str]]
) -> Iterator[tuple[str, bool]]:
    """Of each item on which several judges and people decided, its key and whether as many say yes as no."""
    votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for decided in by_judge.values():
        for key, decision in decided:
            votes[key][decision] += 1
    for key, said in labels.items():
        votes[key] += said
    for key, said in votes.items():
        yes, no = said[Decision.YES.value], said[Decision.NO.value]
        if yes + no > 1:
            yield key, yes == no


def _surveyed(
    workspace: Workspace,
    unit: tuple[str, int],
    rows: Sequence[Row],
    marks: Mapping[int, Mapping[str, Sequence[tuple[str, str]]]],
    people: Mapping[int, _People],
) -> Surveyed:
    import numpy as np

    task = workspace.tasks.revision(*unit).task
    answers = ANNOTATE[task.family].answers.gold(task.gold)
    place = {answer.key: at for at, answer in enumerate(answers)}
    found = np.full((len(rows), len(answers)), np.nan)
    wrong, split, voted = Counter[int](), Counter[int](), Counter[int]()
    nobody = _People()
    for number, row in enumerate(rows):
        by_judge, said = marks.get(row.trial.id, {}), people.get(row.trial.id, nobody)
        for key, decision in by_judge.get(row.judged_by, ()):
            if key in place and decision in _AS_DECIDED:
                found[number, place[key]] = _AS_DECIDED[decision]
        if len(by_judge) > 1 or said.labels:
            for key, evenly in _split(by_judge, said.labels):
                if key in place:
                    voted[place[key]] += 1
                    split[place[key]] += evenly
        for key, n in said.wrong.items():
            if key in place:
                wrong[place[key]] += n
    block = Block(
        task=task.id,
        agents=tuple(row.trial.agent.name for row in rows),
        items=tuple(place),
        found=found,
        wrong=wrong,
        split={at: (split[at], n) for at, n in voted.items()},
        unsearched=frozenset(n for n, row in enumerate(rows) if row.measure("tool_calls") == 0),
    )
    told, spelled = _told(workspace, task, answers, rows, block)
    block = replace(block, told=told)
    return Surveyed(task, unit[1], answers, tuple(rows), block, tuple(analyse(block)), spelled)


def _told(
    workspace: Workspace,
    task: Task,
    answers: Sequence[GoldAnswer],
    rows: Sequence[Row],
    block: Block,
) -> tuple[dict[int, dict[int, list[str]]], dict[str, str]]:
    """What trials say instead of gold at places with one right value, where enough agents have not found that: as `Block` has
    it, and how each value was first written.
    """
    missed = (block.found == 0).astype(int)
    open_ = {
        answer.key: (at, {normalise(value) for value in answer.values})
        for at, answer in enumerate(answers)
        if answer.single
        and len({agent for agent, no in zip(block.agents, missed[:, at], strict=True) if no})
        >= LEAST_RIVAL_AGENTS
    }
    found: dict[int, dict[int, list[str]]] = {}
    spelled: dict[str, str] = {}
    if not open_:
        return found, spelled
    handed_in = workspace.runs.conclusions([row.trial.id for row in rows])
    numbers = [n for n, row in enumerate(rows) if row.trial.id in handed_in]
    told = ANNOTATE[task.family].answers.told(
        task.gold, (handed_in[rows[n].trial.id] for n in numbers)
    )
    for number, said in zip(numbers, told, strict=True):
        for key in open_.keys() & said.keys():
            at, right = open_[key]
            others = {normalise(value): value for value in said[key]}
            others = {plain: value for plain, value in others.items() if plain and plain not in right}  # fmt: skip
            if others and missed[number, at]:
                found.setdefault(at, {})[number] = sorted(others)
                for plain, value in others.items():
                    spelled.setdefault(plain, value)
    return found, spelled


def _to_read(one: Surveyed) -> list[int]:
    """Numbers of the trials whose logs tell more: of items that nobody found, and of what is found in play."""
    plays = ANNOTATE[one.task.family].answers.played is not None
    candidates = [item for item in one.items if item.found == 0 and item.agents >= LEAST_OPENED]
    if not plays and not candidates:
        return []
    seen: Counter[str] = Counter()
    numbers: list[int] = []
    for number, agent in enumerate(one.block.agents):
        seen[agent] += 1
        if seen[agent] <= PER_AGENT:
            numbers.append(number)
    return numbers


def _with_logs(workspace: Workspace, one: Surveyed, numbers: Sequence[int]) -> Surveyed:
    """With what was found in play, and which trials opened a page of what nobody found."""
    place = {answer.key: at for at, answer in enumerate(one.answers)}
    played = ANNOTATE[one.task.family].answers.played
    found = one.block.found.copy()
    seen: list[tuple[int, list[Seen]]] = []
    by_trial = {one.rows[number].trial.id: number for number in numbers}
    for trial, events in logs(workspace, list(by_trial)):
        number = by_trial[trial]
        if played is not None:
            for key, reached in played(one.task.gold, events).items():
                if key in place:
                    found[number, place[key]] = float(reached)
        seen.append((number, pages(one.rows[number], events)))
    opened: dict[int, set[int]] = {}
    for at, answer in enumerate(one.answers):
        if not (found[:, at] == 1).any():
            opened[at] = {
                number for number, mine in seen if any(_is_page(answer, page) for page in mine)
            }
    block = replace(one.block, found=found, opened=opened)
    return replace(one, block=block, items=tuple(analyse(block)))


def _is_page(answer: GoldAnswer, page: Seen) -> bool:
    if page.url and page.url in answer.sources:
        return True
    return page.names(answer.values, answer.beside)


def evidence(workspace: Workspace, one: Suspect, most: int = 3) -> tuple[Seen, ...]:
    """The pages that name the rival value beside what it is said of, each once; where no rival is flagged, those that name the
    gold. Of each agent one trial is read. Blocks for the database.
    """
    rival = one.figures.rival if one.rival else None
    numbers = rival.trials if rival else range(len(one.of.rows))
    rows = {one.of.block.agents[n]: one.of.rows[n] for n in reversed([*numbers])}
    by_trial = {row.trial.id: row for row in rows.values()}
    values = (one.rival,) if rival else one.answer.values
    found: dict[tuple[str, str], Seen] = {}
    for trial, events in logs(workspace, sorted(by_trial)):
        for page in pages(by_trial[trial], events):
            if page.names(values, one.answer.beside):
                found.setdefault((page.url, page.title), page)
        if len(found) >= most:
            break
    return tuple(found.values())[:most]

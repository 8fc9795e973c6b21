"""Gold that may be wrong, by what all judged trials of runs say of it, and figures of every item and task.

Verdicts and labels are read of all trials, gold only where by them some flag may be, what was handed in only where a rival
may be, logs only of candidates; figures are made of what has a flag, or on demand of all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from cuecard.annotate.estimation.item_analysis import (
    Block,
    Flag,
    ItemFigures,
    analyse,
    asked_first,
    may_have_flags,
    queue,
    rival_places,
    suspicious,
    unfound,
)
from cuecard.annotate.families.registry import ANNOTATE, GoldAnswer
from cuecard.annotate.results.pages_seen import SeenPage, logs, pages
from cuecard.annotate.results.pool import Pool, Row
from cuecard.core.families.registry import CORE
from cuecard.core.predictions import Prediction
from cuecard.core.system import uncollected
from cuecard.core.text import normalise
from cuecard.core.verdicts import Decision, Item

if TYPE_CHECKING:
    from cuecard.core.records import Revision
    from cuecard.core.tasks.models import Family, Task
    from cuecard.store.verdict_pages import Marks
    from cuecard.store.workspace import Sight, Workspace

MOST_LOGS = 300
"""So many trials' logs are read for a survey at most,"""
PER_AGENT = 2
"""of a task so many of each agent."""
_AT_ONCE = 20  # tasks
_YES, _NO = ord(Decision.YES.value[0]), ord(Decision.NO.value[0])


@dataclass(frozen=True)
class SurveyedTask:
    """One revision of a task with its judged trials, `rows` in the order of the block's trials, and figures of its items:
    of those with a flag, or of all. `spelled`: how values that were told were first written, by the value normalised.
    """

    task: Task
    revision: int
    answers: tuple[GoldAnswer, ...]
    rows: tuple[Row, ...]
    block: Block
    items: tuple[ItemFigures, ...] = ()
    spelled: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def plays(self) -> bool:
        """Whether its items are found while it is played."""
        return _plays(self.task.family)

    @property
    def share(self) -> float | None:
        """Of all decisions on its items, how many found one."""
        import numpy as np

        decided = self.block.found[~np.isnan(self.block.found)]
        return float(decided.mean()) if decided.size else None


@dataclass(frozen=True)
class Suspect:
    """An item of gold with flags. `found_by`, `not_by`: agents by name, by whether they found it at least once."""

    of: SurveyedTask
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
    """What trials of a pool say of gold. `trials`: how many are judged; `tasks`: those with suspects, or all. `unread`: tasks
    with items that nobody found, of which no log was read; `hidden`: how many suspects are left out because the reader has
    still to label one of their verdicts.
    """

    trials: int
    tasks: tuple[SurveyedTask, ...]
    suspects: tuple[Suspect, ...]
    given_away: tuple[Suspect, ...]
    unread: int = 0
    hidden: int = 0
    scores: Mapping[str, Mapping[str, Sequence[float]]] = field(
        default_factory=dict[str, Mapping[str, Sequence[float]]]
    )


@uncollected()
def survey(
    workspace: Workspace, pool: Pool, sight: Sight | None = None, *, items: bool = False
) -> Survey:
    """Of the pool's judged trials, each by the first judge that judged it. With `sight` without what its reader is to label.
    `items`: instead of suspects all tasks, with the figures of all items, of which there may be very many; no rivals are told.

    Blocks for the database.
    """
    first: dict[int, Row] = {}
    for row in pool.rows:
        if row.figures is not None:
            first.setdefault(row.trial.id, row)
    units: defaultdict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in first.values():
        units[row.unit].append(row)
    marks: defaultdict[int, dict[str, Marks]] = defaultdict(dict)
    for mark in workspace.verdict_pages.marks([run.id for run in pool.runs]) if first else ():
        if mark.trial_id in first:
            marks[mark.trial_id][mark.judge] = mark
    people = _people(workspace, first)
    budget = MOST_LOGS
    unread, every = 0, dict[str, SurveyedTask]()
    blocks: dict[tuple[str, int], Block] = {}

    def wanted_units() -> Iterator[tuple[str, int]]:
        for unit, rows in units.items():
            block = _decided(unit[0], rows, marks, people)
            if items or _plays(rows[0].family) or may_have_flags(block):
                blocks[unit] = block
                yield unit

    surveyed = (
        _surveyed(one, units[unit], blocks.pop(unit))
        for one in workspace.tasks.these(wanted_units())
        for unit in ((one.task_id, one.number),)
    )
    while some := list(islice(surveyed, _AT_ONCE)):
        for one in some if items else _with_rivals(workspace, some):
            wanted = _to_read(one)
            if wanted and len(wanted) <= budget:
                budget -= len(wanted)
                one = _with_logs(workspace, one, wanted)
            elif wanted:
                unread += 1
            one = _with_figures(workspace, one, items=items)
            if items or one.items:
                every[f"{one.task.id}\n{one.revision}"] = one
    named = {} if items else every
    pairs = [(name, item) for name, one in named.items() for item in one.items]

    def of(flags: Collection[Flag]) -> list[Suspect]:
        return [
            Suspect(every[name], every[name].answers[item.at], item)
            for name, item in queue(pairs, flags)
        ]

    suspects, known = of([flag for flag in Flag if flag is not Flag.GIVEN_AWAY]), of([Flag.GIVEN_AWAY])  # fmt: skip
    shown = [one for one in suspects if _may_tell(one, sight)]
    return Survey(
        trials=len(first),
        tasks=tuple(every.values()),
        suspects=tuple(shown),
        given_away=tuple(one for one in known if _may_tell(one, sight)),
        unread=unread,
        hidden=len(suspects) - len(shown),
        scores=_scores(first.values()),
    )


def _plays(family: Family) -> bool:
    return ANNOTATE[family].answers.played is not None


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


def _decided(
    task: str,
    rows: Sequence[Row],
    marks: Mapping[int, Mapping[str, Marks]],
    people: Mapping[int, _People],
) -> Block:
    """What judges and people decided in these trials, on all items that any of them names."""
    import numpy as np

    nobody = _People()
    judged = [marks.get(row.trial.id, {}) for row in rows]
    doubted = [people.get(row.trial.id, nobody) for row in rows]
    named = dict.fromkeys(mark.keys for by_judge in judged for mark in by_judge.values())
    named |= dict.fromkeys((*said.labels, *said.wrong) for said in doubted if said is not nobody)
    place = {key: at for at, key in enumerate(dict.fromkeys(chain.from_iterable(named)))}
    places = {keys: np.array([place[key] for key in keys], np.intp) for keys in named}
    found = np.full((len(rows), len(place)), np.nan)
    wrong = Counter[int]()
    split, voted = np.zeros(len(place), int), np.zeros(len(place), int)

    def said_of(keys: tuple[str, ...], decisions: str):
        """Of judgements on these items 1, 0 or NaN for each."""
        letters = np.frombuffer(decisions.encode(), np.uint8).reshape(-1, len(keys))
        return np.select([letters == _YES, letters == _NO], [1.0, 0.0], np.nan)

    alike: defaultdict[tuple[str, ...], dict[int, str]] = defaultdict(dict)
    for number, (row, by_judge) in enumerate(zip(rows, judged, strict=True)):
        if (mark := by_judge.get(row.judged_by)) and mark.keys:
            alike[mark.keys][number] = mark.decisions
    for keys, decisions in alike.items():
        values = said_of(keys, "".join(decisions.values()))
        found[np.array([*decisions])[:, None], places[keys]] = values
    for by_judge, said in zip(judged, doubted, strict=True):
        if len(by_judge) > 1 or said.labels:
            yes, no = np.zeros(len(place), int), np.zeros(len(place), int)
            for mark in by_judge.values():
                if mark.of_jury or not mark.keys:
                    continue
                at, (values,) = places[mark.keys], said_of(mark.keys, mark.decisions)
                np.add.at(yes, at[values == 1], 1)
                np.add.at(no, at[values == 0], 1)
            for key, labels in said.labels.items():
                yes[place[key]] += labels[Decision.YES.value]
                no[place[key]] += labels[Decision.NO.value]
            voted += yes + no > 1
            split += (yes == no) & (yes > 0)
        for key, n in said.wrong.items():
            wrong[place[key]] += n
    return Block(
        task=task,
        agents=tuple(row.trial.agent.name for row in rows),
        items=tuple(place),
        found=found,
        wrong=wrong,
        split={int(at): (int(split[at]), int(voted[at])) for at in np.flatnonzero(voted)},
        unsearched=frozenset(n for n, row in enumerate(rows) if row.measure("tool_calls") == 0),
    )


def _surveyed(revision: Revision, rows: Sequence[Row], decided: Block) -> SurveyedTask:
    """What was decided on its gold, without what was told, read or counted."""
    import numpy as np

    task = revision.task
    answers = ANNOTATE[task.family].answers.gold(task.gold)
    place = {answer.key: at for at, answer in enumerate(answers)}
    to = np.array([place.get(key, -1) for key in decided.items], np.intp)
    found = np.full((len(rows), len(answers)), np.nan)
    found[:, to[to >= 0]] = decided.found[:, to >= 0]
    block = replace(
        decided,
        items=tuple(place),
        found=found,
        wrong={int(to[at]): n for at, n in decided.wrong.items() if to[at] >= 0},
        split={int(to[at]): of for at, of in decided.split.items() if to[at] >= 0},
    )
    return SurveyedTask(task, revision.number, answers, tuple(rows), block)


def _missed(one: SurveyedTask, *, flagged: bool) -> list[int]:
    """Its `rival_places` where nothing but gold can be right."""
    return [at for at in rival_places(one.block, flagged=flagged) if one.answers[at].single]


def _with_rivals(workspace: Workspace, some: Sequence[SurveyedTask]) -> Iterator[SurveyedTask]:
    """With what trials say instead of gold of items that enough agents missed: only where some agent says something else of the
    few that are asked first.
    """
    # What is found in play may take back what a verdict says, and with it who found an item.
    places = [_missed(one, flagged=not one.plays) for one in some]
    pairs = zip(some, places, strict=True)
    asked = [(one, mine, [] if one.plays else asked_first(one.block, mine)) for one, mine in pairs]
    handed_in = workspace.runs.conclusions([one.rows[n].trial.id for one, _, of in asked for n in of])  # fmt: skip
    for one, mine, numbers in asked:
        at = sorted(_told(one, mine, numbers, handed_in)[0]) if numbers else mine
        yield _with_told(workspace, one, at, handed_in)


def _with_told(
    workspace: Workspace, one: SurveyedTask, places: Sequence[int], known: Mapping[int, Prediction]
) -> SurveyedTask:
    """With what trials that missed these items say instead of gold, read of those that are not known."""
    missed = [n for n, of in enumerate(one.block.found[:, places] == 0) if of.any()]
    trials = {one.rows[n].trial.id for n in missed}
    handed_in = {**known, **workspace.runs.conclusions(trials - known.keys())} if trials else {}
    told, spelled = _told(one, places, missed, handed_in)
    block = replace(one.block, told={**one.block.told, **told})
    return replace(one, block=block, spelled={**spelled, **one.spelled})


def _told(
    one: SurveyedTask,
    places: Sequence[int],
    numbers: Sequence[int],
    known: Mapping[int, Prediction],
) -> tuple[dict[int, dict[int, list[str]]], dict[str, str]]:
    """What these trials say instead of gold, by item and trial, and how it was first written."""
    found: dict[int, dict[int, list[str]]] = {}
    spelled: dict[str, str] = {}
    every = ((at, one.answers[at]) for at in places)
    open_ = {each.key: (at, {normalise(value) for value in each.values}) for at, each in every}
    numbers = [n for n in numbers if open_ and one.rows[n].trial.id in known]
    predictions = (known[one.rows[n].trial.id] for n in numbers)
    said = ANNOTATE[one.task.family].answers.told(one.task.gold, predictions, open_.keys())
    for number, told in zip(numbers, said, strict=False):  # `said` does not begin without trials
        for key, (at, right) in open_.items():
            if key not in told or one.block.found[number, at] != 0:
                continue
            others = {normalise(value): value for value in told[key]}
            others = {plain: value for plain, value in others.items() if plain and plain not in right}  # fmt: skip
            if others:
                found.setdefault(at, {})[number] = sorted(others)
                for plain, value in others.items():
                    spelled.setdefault(plain, value)
    return found, spelled


def _with_figures(workspace: Workspace, one: SurveyedTask, *, items: bool) -> SurveyedTask:
    """With figures of all items, or of those with a flag, whose rivals are told though they may be no reason for it."""
    if items:
        return replace(one, items=tuple(analyse(one.block)))
    found = suspicious(one.block)
    shown = set[int]() if one.plays else {item.at for item in found} - one.block.told.keys()
    if shown and (rest := shown.intersection(_missed(one, flagged=False))):
        one = _with_told(workspace, one, sorted(rest), {})
        found = suspicious(one.block)
    return replace(one, items=tuple(found))


def _to_read(one: SurveyedTask) -> list[int]:
    """Numbers of the trials whose logs tell more: of items that nobody found, and of what is found in play."""
    if not one.plays and not unfound(one.block).any():
        return []
    seen: Counter[str] = Counter()
    numbers: list[int] = []
    for number, agent in enumerate(one.block.agents):
        seen[agent] += 1
        if seen[agent] <= PER_AGENT:
            numbers.append(number)
    return numbers


def _with_logs(workspace: Workspace, one: SurveyedTask, numbers: Sequence[int]) -> SurveyedTask:
    """With what was found in play, and which trials opened a page of what nobody found."""
    place = {answer.key: at for at, answer in enumerate(one.answers)}
    played = ANNOTATE[one.task.family].answers.played
    found = one.block.found.copy()
    seen: list[tuple[int, list[SeenPage]]] = []
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
    return replace(one, block=replace(one.block, found=found, opened=opened))


def _is_page(answer: GoldAnswer, page: SeenPage) -> bool:
    if page.url and page.url in answer.sources:
        return True
    return page.names(answer.values, answer.beside)


def evidence(workspace: Workspace, one: Suspect, most: int = 3) -> tuple[SeenPage, ...]:
    """The pages that name the rival value beside what it is said of, each once; where no rival is flagged, those that name the
    gold. Of each agent one trial is read. Blocks for the database.
    """
    rival = one.figures.rival if one.rival else None
    numbers = rival.trials if rival else range(len(one.of.rows))
    rows = {one.of.block.agents[n]: one.of.rows[n] for n in reversed([*numbers])}
    by_trial = {row.trial.id: row for row in rows.values()}
    values = (one.rival,) if rival else one.answer.values
    found: dict[tuple[str, str], SeenPage] = {}
    for trial, events in logs(workspace, sorted(by_trial)):
        for page in pages(by_trial[trial], events):
            if page.names(values, one.answer.beside):
                found.setdefault((page.url, page.title), page)
        if len(found) >= most:
            break
    return tuple(found.values())[:most]

"""What of a run a labelling set stands for: its trials, items, or tasks with all their samples, as units with their
values by the judge and by people, for `estimation.corrected`.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Literal

from cuecard.annotate.estimation.units import Unit, Units
from cuecard.annotate.labelling.effect_rescoring import ItemId, Rescored
from cuecard.annotate.labelling.sampling import (
    OWN_CHANCES,
    SamplingPlan,
    StratumKey,
    outcome_of,
    stratum_of,
)
from cuecard.annotate.labelling.sampling import Unit as Drawable
from cuecard.annotate.labelling.wording import stratum_words
from cuecard.core.evaluation.decisions import JUDGED
from cuecard.core.evaluation.scores import TrialScores
from cuecard.core.families.checkpoints.score import CHECKPOINT_MEASURES
from cuecard.core.families.registry import CORE
from cuecard.core.i18n import _
from cuecard.core.scoring.aggregate import BEST_BY, Key, Part, TrialScore, by_task
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.verdicts import Decision, Item, ItemKind, Measure, Measures

CORRECTABLE = CORE.each(lambda family: family.judged)
"""Measures that labels can change, by family."""
OF_STATUSES = frozenset(CHECKPOINT_MEASURES) - {"acc"}
"""Measures that only labels of statuses can change."""
SUMS: dict[str, ItemKind] = {
    "triplet_recall": ItemKind.TRIPLE,
    "item_recall": ItemKind.CELL,
    "acc": ItemKind.ANSWER,
    "pass_at_1": ItemKind.ANSWER,
    "triplet_precision": ItemKind.PREDICTED,
    "row_recall": ItemKind.ROW,
}
"""Measures that are a share of a trial's items, with the kind of item: all that a set drawn by items can correct."""
SHARES = frozenset((*SUMS, "success"))
"""Measures of which a mean is a share of what is right."""
_OF_ITEMS: frozenset[StratumKey] = frozenset({"relation", "judges"})
"""Strata of items that a trial's measures do not tell apart."""
_CERTAIN = "–"

Basis = Literal["trials", "items", "tasks"]
Layers = tuple[dict[ItemId, str], dict[int, Counter[tuple[ItemKind, str, str]]]]


_ANY = Item(kind=ItemKind.ANSWER)
_TINY = 1e-9


def key_of(one: TrialScores) -> tuple[int, str]:
    """Trial and judge."""
    return one.trial.id, one.judge.name if one.judge else ""


def needed(name: str, drawn: frozenset[ItemKind]) -> frozenset[ItemKind]:
    """The kinds of items that people must have decided, all of a trial, so that a measure is theirs. `drawn`: the
    kinds of the set.
    """
    if name in OF_STATUSES:
        return frozenset((ItemKind.STATUS,))
    if name.startswith("row_") or name == "success":
        rows = ItemKind.ROW in drawn and ItemKind.CELL not in drawn
        return frozenset((ItemKind.ROW if rows else ItemKind.CELL,))
    if ItemKind.PREDICTED in drawn and name == "triplet_precision":
        return frozenset((ItemKind.PREDICTED,))
    if name in SUMS and SUMS[name] is not ItemKind.PREDICTED:
        return frozenset((SUMS[name],))
    if name.startswith("item_"):
        return frozenset((ItemKind.CELL,))
    return frozenset((ItemKind.TRIPLE,)) | (drawn & {ItemKind.PREDICTED})


@dataclass(frozen=True, eq=False)
class Draw:
    """A labelling set with each drawn item's chance; `plan` None: no set, for where all trials are labelled.
    `rescored`: labelled trials by the judge and by people, by trial and judge; `languages`: of revisions of tasks,
    where the plan goes by it; `population`: gives all that it was drawn from, as this judge decided.
    """

    set_id: int | None
    name: str
    plan: SamplingPlan | None
    chances: Mapping[ItemId, float]
    population: Callable[[str], Iterable[Drawable]]
    rescored: Mapping[tuple[int, str], Rescored]
    languages: Mapping[tuple[str, int], str]
    known: dict[str, Layers] = field(default_factory=dict)

    @property
    def by_items(self) -> bool:
        return self.plan is not None and self.plan.by == "items"

    @property
    def kinds(self) -> frozenset[ItemKind]:
        return frozenset((self.plan.kinds if self.plan else ()) or JUDGED)

    @cached_property
    def trials(self) -> dict[int, float]:
        """The chances of drawn trials."""
        return {trial: chance for (trial, _key), chance in self.chances.items()}

    @property
    def strata(self) -> tuple[StratumKey, ...]:
        if self.plan is None or self.plan.allocation in OWN_CHANCES:
            return ()
        return self.plan.strata

    def stratum_name(self, stratum: str) -> str:
        return stratum_words(stratum, self.strata)

    def _layers(self, judge: str) -> Layers:
        """The stratum of every item; and of every trial, how many items of a kind it has in a stratum with a
        decision.
        """
        if judge not in self.known:
            by_item, counts = self.known[judge] = {}, defaultdict(Counter)
            for one in self.population(judge):
                name = stratum_of(one, self.plan) if self.plan else ""
                by_item[one.trial_id, one.item.key] = name
                counts[one.trial_id][one.item.kind, name, one.decision] += 1
        return self.known[judge]

    def units(self, trials: Sequence[TrialScores], key: Key) -> tuple[Units | str, Basis] | None:
        """None if the set has nothing of these trials."""
        name, taken = key
        if self.plan is None:
            if any(not self._whole(one, name) for one in trials):
                return None
        else:
            if not any(one.trial.id in self.trials for one in trials):
                return None
            if not {one.trial.run_id for one in trials} <= set(self.plan.runs):
                return _("the set was not drawn from all of these runs"), "trials"
        if taken is Taken.POOLED:
            return _("a ratio of sums over tasks is not corrected"), "trials"
        if self.by_items:
            if name not in SUMS or SUMS[name] not in self.kinds or taken is not Taken.AVG:
                return _("needs a set drawn by trials"), "items"
            return Units.of(self._items(trials, name), self.stratum_name), "items"
        if taken is Taken.AVG:
            return Units.of(self._trials(trials, name), self.stratum_name), "trials"
        return self._tasks(trials, key), "tasks"

    def _whole(self, one: TrialScores, name: str) -> bool:
        """Whether people decided every item of the trial that enters the measure."""
        found = self.rescored.get(key_of(one))
        if found is None:
            return False
        kinds = needed(name, self.kinds)
        return not any(item.kind in kinds for item in found.waiting)

    def _stratum(self, one: TrialScores, decision: Decision | None = None) -> str:
        """The stratum of a trial, or of its items with this decision."""
        if not self.strata or self.plan is None:
            return ""
        trial, scores = one.trial, Measures.of(one.measures)
        accepted = (v for name in SUMS if (v := scores.value(name)) is not None)
        return stratum_of(
            Drawable(
                trial.id,
                _ANY,
                decision=decision or "",
                family=trial.family,
                language=self.languages.get((trial.task_id, trial.revision), ""),
                agent=trial.agent.name,
                task=trial.task_id,
                outcome=outcome_of(next(accepted, None)),
            ),
            self.plan,
        )

    def _trials(self, trials: Sequence[TrialScores], name: str) -> Iterator[Unit]:
        for one in trials:
            scores = Measures.of(one.measures)
            at = scores.places.get(name)
            if at is None:
                continue
            judge = scores.values[at]
            people, stratum = None, self._stratum(one)
            chance = 1.0 if self.plan is None else self.trials.get(one.trial.id)
            if not scores.counts[at]:
                people, stratum, chance = judge, _CERTAIN, 1.0
            elif chance is not None and self._whole(one, name):
                people = Measures.of(self.rescored[key_of(one)].people).value(name)
                # Undefined by either side, it is in neither, and counted.
                judge = None if people is None else judge
            yield Unit(one.trial.task_id, one.trial.id, judge, people, stratum, chance or 1.0)

    def _items(self, trials: Sequence[TrialScores], name: str) -> Iterator[Unit]:
        """Labelled items one by one; of the others, how many of a trial the judge accepted and refused, by stratum."""
        kind = SUMS[name]
        by_item, counts = {}, {}
        if _OF_ITEMS & set(self.strata):
            by_item, counts = self._layers(key_of(trials[0])[1])
        for one in trials:
            scores, trial = Measures.of(one.measures), one.trial
            at = scores.places.get(name)
            judge = None if at is None else scores.values[at]
            if at is None or judge is None:
                continue
            said = {
                True: self._stratum(one, Decision.YES),
                False: self._stratum(one, Decision.NO),
            }
            left: dict[tuple[str, bool], float] = defaultdict(float)
            if trial.id in counts:
                for (of, stratum, decision), n in counts[trial.id].items():
                    if of is kind and decision in (Decision.YES, Decision.NO):
                        left[stratum, decision == Decision.YES] += n
            else:
                left[said[True], True] += judge * scores.counts[at]
                left[said[False], False] += (1 - judge) * scores.counts[at]
            found = self.rescored.get(key_of(one))
            for item in found.settled if found else ():
                key = trial.id, item.item.key
                chance = self.chances.get(key)
                if item.item.kind is not kind or chance is None or item.machine is None:
                    continue
                yes = item.machine is Decision.YES and item.part > 0
                people = item.people is Decision.YES if item.part else yes
                stratum = by_item.get(key, said[yes])
                part = item.part or 1.0
                left[stratum, yes] -= part
                yield Unit(
                    trial.task_id, trial.id, float(yes), float(people), stratum, chance, part
                )
            for (stratum, yes), part in left.items():
                if part > _TINY:
                    n = max(round(part), 1)
                    yield Unit(
                        trial.task_id, trial.id, float(yes), None, stratum, part=part, alike=n
                    )

    def _tasks(self, trials: Sequence[TrialScores], key: Key) -> Units | str:
        """A unit for each task: figures that depend on all of its samples."""
        groups: dict[str, list[TrialScores]] = defaultdict(list)
        for one in trials:
            groups[one.trial.task_id].append(one)
        whole = {
            task: all(self._whole(one, key[0]) for one in mine)
            and all(self.plan is None or one.trial.id in self.trials for one in mine)
            for task, mine in groups.items()
        }
        if not any(whole.values()):
            most = max(map(len, groups.values()))
            return _("needs all {n} samples of a task labelled").format(n=most)
        by_judge = _parts(trials, key, lambda one: one.measures)
        known = [one for one in trials if whole[one.trial.task_id]]
        by_people = _parts(known, key, lambda one: self.rescored[key_of(one)].people)
        found: list[Unit] = []
        for task, part in by_judge.items():
            people = by_people[task].value if task in by_people else None
            if part.value is None or (whole[task] and people is None):
                continue
            mine = groups[task]
            chance = prod(self.trials.get(one.trial.id, 1.0) for one in mine) if whole[task] else 1
            outcome = "outcome" in self.strata
            stratum = "" if outcome else self._stratum(mine[0])
            found.append(Unit(task, 0, part.value, people, stratum, chance))
        return Units.of(found, self.stratum_name)


def _parts(
    trials: Sequence[TrialScores], key: Key, of: Callable[[TrialScores], Sequence[Measure]]
) -> dict[str, Part]:
    wanted = (key[0], BEST_BY)
    scores: list[TrialScore] = []
    for one in trials:
        every = Measures.of(of(one))
        measures = tuple(every[every.places[name]] for name in wanted if name in every.places)
        scores.append(TrialScore(one.trial.task_id, one.trial.sample, measures))
    return by_task(scores).get(key, {})

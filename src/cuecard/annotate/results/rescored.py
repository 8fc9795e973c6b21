"""What rescoring a run changed, and why, from the old and the new judgements and golds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficients import difference
from cuecard.annotate.agreement.intervals import with_intervals
from cuecard.annotate.labelling.effect_figures import figure_over
from cuecard.annotate.labelling.labelled_units import CORRECTABLE
from cuecard.core.evaluation.rescoring import RescorePlan, carried, pairs_of
from cuecard.core.evaluation.scores import judged_trials
from cuecard.core.families.registry import family_of
from cuecard.core.formats.trajectory import item_text
from cuecard.core.players import kind_of
from cuecard.core.records import RunRecord, TrialRecord
from cuecard.core.rescoring import GoldChange, item_changes
from cuecard.core.scoring.aggregate import Key, Part, TrialScore, by_task
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.tables.table import Coefficient, Statistic
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import FAMILIES, Family
from cuecard.core.verdicts import Decision, Item, Judgement, Verdict

if TYPE_CHECKING:
    from cuecard.store.workspace import Sight, Workspace


class GoldMoves(Frozen):
    """How many of a task's gold items were kept, changed, and so on between two revisions."""

    task_id: str
    old: int
    new: int
    counts: dict[GoldChange, int]


class LeftOut(Frozen):
    """A task that could not be judged on its new revision; `changed`: the reasons, in English."""

    task_id: str
    old: int
    new: int
    changed: tuple[str, ...]
    trials: int


class MeasureMove(Frozen):
    """A measure's mean over the same tasks before and after; `difference` is paired by task."""

    agent: str
    family: Family
    name: str
    taken: Taken
    samples: int
    old: Statistic
    new: Statistic
    difference: Statistic


class ItemMove(Frozen):
    """A gold item of one trial that was changed, or whose decision was. `asked`: the judge was asked about it. `was`
    and `now`: the decisions, None if the revision has no such item.
    """

    task_id: str
    agent: str
    sample: int
    trial: int
    fate: GoldChange
    old_text: str
    new_text: str
    was: Decision | None
    now: Decision | None
    asked: bool
    rationale: str = ""


class JudgeMoves(Frozen):
    """The changes for one judge. Items over all trials whose verdicts were `kept`, that it was `asked` about, that were
    `removed`, or are `unjudged`; trials `missing` a judgement. `calls` were made now, `calls_before` for the old
    judgements.
    """

    judge: str
    baseline: bool
    kept: int = 0
    asked: int = 0
    removed: int = 0
    unjudged: int = 0
    missing: int = 0
    calls: int = 0
    calls_before: int = 0
    measures: tuple[MeasureMove, ...] = ()
    items: tuple[ItemMove, ...] = ()

    @property
    def saved(self) -> int:
        return max(self.calls_before - self.calls, 0)


class RescoreReport(Frozen):
    """What a rescoring changed. `new` and `new_uid` are "" for one that is only planned; then nothing has changed yet."""

    old: str
    old_uid: str
    new: str
    new_uid: str
    trials: int
    open: int
    gold: tuple[GoldMoves, ...]
    left: tuple[LeftOut, ...]
    judges: tuple[JudgeMoves, ...]
    closed_worlds: int = 0


Pairs = Sequence[tuple[TrialRecord, TrialRecord]]


def report_on(
    workspace: Workspace,
    plan: RescorePlan,
    run: RunRecord | None,
    *,
    anew: bool = False,
    sight: Sight | None = None,
) -> RescoreReport:
    """What `run`, made by `plan`, changed; without a run, what would be asked. `sight`: of the reader; items they still
    have to label are left out.
    """
    pairs = pairs_of(workspace, plan, run.id) if run else [(t, t) for t in plan.trials]
    return RescoreReport(
        old=plan.run.name,
        old_uid=plan.run.uid,
        new=run.name if run else "",
        new_uid=run.uid if run else "",
        trials=len(plan.trials),
        open=plan.open,
        gold=tuple(
            GoldMoves(
                task_id=moved.new.task_id,
                old=moved.old.number,
                new=moved.new.number,
                counts=_fates(c.fate for c in item_changes(moved.old.task, moved.new.task)),
            )
            for moved in plan.changed
        ),
        left=tuple(
            LeftOut(
                task_id=one.task_id,
                old=one.played,
                new=one.revision,
                changed=one.changed,
                trials=one.trials,
            )
            for one in plan.left
        ),
        judges=tuple(
            _judge(workspace, plan, pairs, name, run, anew, sight) for name in plan.judges
        ),
        closed_worlds=sum(
            kind_of("world", t.world.kind).from_gold
            and not plan.moved(t).same
            # Gold that is known to be played from is compared: where that changed, nothing is rescored.
            and not family_of(played := plan.moved(t).new.task).effective(played.gold)
            for t in plan.trials
        ),
    )


def _fates(fates: Iterable[GoldChange]) -> dict[GoldChange, int]:
    counts = Counter(fates)
    return {fate: counts[fate] for fate in GoldChange}


def _judge(
    workspace: Workspace,
    plan: RescorePlan,
    pairs: Pairs,
    name: str,
    run: RunRecord | None,
    anew: bool,
    sight: Sight | None,
) -> JudgeMoves:
    before = _judgements(workspace, plan.run.id, name)
    after = _judgements(workspace, run.id, name) if run else {}
    counts: Counter[str] = Counter()
    items: list[ItemMove] = []
    calls = calls_before = 0
    for old, new in pairs:
        was = before.get(old.id)
        part = carried(workspace, plan, old, was, anew=anew)
        asked = {item.key for item in part.open}
        counts["kept"] += len(part.kept)
        counts["asked"] += len(asked)
        counts["removed"] += sum(change.new is None for change in part.changes)
        calls_before += _calls(workspace, old, name)
        if run is None:
            continue
        calls += _calls(workspace, new, name)
        now = after.get(new.id)
        if now is None:
            counts["missing"] += 1
            continue
        counts["unjudged"] += sum(v.decision is Decision.UNJUDGED for v in now.verdicts)
        items += _moves(plan, (old, new), was, now, asked, sight)
    ref = next((j.judge for j in (*after.values(), *before.values())), None)
    return JudgeMoves(
        judge=name,
        baseline=bool(ref and ref.baseline),
        kept=counts["kept"],
        asked=counts["asked"],
        removed=counts["removed"],
        unjudged=counts["unjudged"],
        missing=counts["missing"],
        calls=calls,
        calls_before=calls_before,
        measures=_measures(workspace, plan, pairs, name, run) if run else (),
        items=tuple(items),
    )


def _judgements(workspace: Workspace, run_id: int, judge: str) -> dict[int, Judgement]:
    found = workspace.verdicts.of_run(run_id)
    return {r.trial_id: r.judgement for r in found if r.judgement.judge.name == judge}


def _calls(workspace: Workspace, trial: TrialRecord, judge: str) -> int:
    """Calls of the judge's last attempt at a trial."""
    last = workspace.judge_calls.next_attempt(trial.id, judge) - 1
    return len(workspace.judge_calls.of(trial.id, judge, last)) if last >= 0 else 0


def _moves(
    plan: RescorePlan,
    pair: tuple[TrialRecord, TrialRecord],
    was: Judgement | None,
    now: Judgement,
    asked: set[str],
    sight: Sight | None,
) -> list[ItemMove]:
    old, new = pair
    moved = plan.moved(old)
    before = {v.item.key: v for v in was.verdicts} if was else {}
    after = {v.item.key: v for v in now.verdicts}
    found: list[ItemMove] = []
    for change in item_changes(moved.old.task, moved.new.task):
        one, other = _of(before, change.old), _of(after, change.new)
        decided = (one.decision if one else None, other.decision if other else None)
        if change.fate is GoldChange.SAME and decided[0] is decided[1]:
            continue
        told = [(old.id, change.old)] if one and change.old else []
        told += [(new.id, change.new)] if other and change.new else []
        if sight and not all(sight.may_tell(*item) for item in told):
            continue
        found.append(
            ItemMove(
                task_id=new.task_id,
                agent=new.agent.name,
                sample=new.sample,
                trial=new.id,
                fate=change.fate,
                old_text=item_text(moved.old.task, change.old) if change.old else "",
                new_text=item_text(moved.new.task, change.new) if change.new else "",
                was=decided[0],
                now=decided[1],
                asked=change.new is not None and change.new.key in asked,
                rationale=other.rationale if other else "",
            )
        )
    return found


def _of(verdicts: Mapping[str, Verdict], item: Item | None) -> Verdict | None:
    return verdicts.get(item.key) if item else None


def _measures(
    workspace: Workspace, plan: RescorePlan, pairs: Pairs, judge: str, run: RunRecord
) -> tuple[MeasureMove, ...]:
    """By agent and family, over trials that are judged in both runs."""
    before = {j.trial.id: j for j in judged_trials(workspace, plan.run.id, judge)}
    after = {j.trial.id: j for j in judged_trials(workspace, run.id, judge)}
    groups: dict[tuple[str, Family], list[tuple[TrialScore, TrialScore]]] = defaultdict(list)
    for old, new in pairs:
        if old.id in before and new.id in after:
            one = TrialScore(old.task_id, old.sample, before[old.id].figures.measures)
            other = TrialScore(new.task_id, new.sample, after[new.id].figures.measures)
            groups[old.agent.name, old.family].append((one, other))
    found: list[MeasureMove] = []
    for agent, family in sorted(groups, key=lambda g: (g[0], FAMILIES.index(g[1]))):
        found += _group(agent, family, groups[agent, family])
    return tuple(found)


def _group(
    agent: str, family: Family, scores: Sequence[tuple[TrialScore, TrialScore]]
) -> list[MeasureMove]:
    tasks = sorted({one.task_id for one, _other in scores})
    samples = max(Counter(one.task_id for one, _other in scores).values())
    before = _parts((one for one, _other in scores), family)
    after = _parts((other for _one, other in scores), family)
    keys = [key for key in before if key in after and (samples > 1 or not key[1].of_several)]
    figures: list[Coefficient] = []
    for key in keys:
        left = figure_over(key, before[key], tasks)
        right = figure_over(key, after[key], tasks)
        figures += [left, right, replace(difference(right, left), name=key[0])]
    told = with_intervals(figures)
    return [
        MeasureMove(
            agent=agent,
            family=family,
            name=name,
            taken=taken,
            samples=samples,
            old=told[3 * place],
            new=told[3 * place + 1],
            difference=told[3 * place + 2],
        )
        for place, (name, taken) in enumerate(keys)
    ]


def _parts(scores: Iterable[TrialScore], family: Family) -> dict[Key, dict[str, Part]]:
    """What each task adds to each of the family's measures."""
    found = by_task(scores)
    return {key: parts for key, parts in found.items() if key[0] in CORRECTABLE[family]}

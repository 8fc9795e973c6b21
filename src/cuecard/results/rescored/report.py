"""Counting what rescoring moved: from the old run's judgements, the new one's, and the two golds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.bootstrap import with_intervals
from cuecard.annotate.agreement.coefficient import Coefficient
from cuecard.annotate.agreement.differences import difference
from cuecard.annotate.effect.figures import MEASURES, figure_over
from cuecard.core.formats.trajectories.gold_text import item_text
from cuecard.core.rescoring.items import Fate, item_changes
from cuecard.core.scoring.aggregate import Key, Part, TrialScore, by_task
from cuecard.core.tasks import FAMILIES, Family
from cuecard.core.verdicts import Decision, Item, Judgement, Verdict
from cuecard.lab.figures import judged_trials
from cuecard.lab.rescore_plan import RescorePlan, carried, pairs_of
from cuecard.results.rescored.model import (
    GoldMoves,
    ItemMove,
    JudgeMoves,
    LeftOut,
    MeasureMove,
    RescoreReport,
)
from cuecard.store.records import RunRecord, TrialRecord

if TYPE_CHECKING:
    from cuecard.store.sight import Sight
    from cuecard.store.workspace import Workspace

Pairs = Sequence[tuple[TrialRecord, TrialRecord]]


def report_on(
    workspace: Workspace,
    plan: RescorePlan,
    run: RunRecord | None,
    *,
    anew: bool = False,
    sight: Sight | None = None,
) -> RescoreReport:
    """What `run`, which came of `plan`, moved; without a run, what would be asked about. `sight`: of whoever is told; items
    that they are still to label are left out.
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
            t.world.kind == "closed" and t.family in ("graph", "table") and not plan.moved(t).same
            for t in plan.trials
        ),
    )


def _fates(fates: Iterable[Fate]) -> dict[Fate, int]:
    counts = Counter(fates)
    return {fate: counts[fate] for fate in Fate}


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
        if change.fate is Fate.SAME and decided[0] is decided[1]:
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
    """What each task adds to each of the family's figures."""
    found = by_task(scores)
    return {key: parts for key, parts in found.items() if key[0] in MEASURES[family]}

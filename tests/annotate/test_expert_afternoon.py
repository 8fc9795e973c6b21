"""A judge is evaluated from end to end: played, judged, drawn, labelled in two places, adjudicated, told."""

from __future__ import annotations

import shutil
from pathlib import Path

from apart import merge_files
from cuecard.annotate.labelling.adjudication import AdjudicationSession
from cuecard.annotate.labelling.comparison import compare, effect_of
from cuecard.annotate.labelling.comparison_inputs import Scope, gather
from cuecard.annotate.labelling.comparison_model import SETTLED, Rater
from cuecard.annotate.labelling.effect_tables import circumstances, effect_tables
from cuecard.annotate.labelling.labelling_sets import make_set
from cuecard.annotate.labelling.sampling import SamplingPlan
from cuecard.annotate.labelling.session import LabelSession
from cuecard.annotate.sharing.bundle import write_bundle
from cuecard.core.label_records import LabelValue
from cuecard.core.verdicts import Decision, ItemKind
from cuecard.store.workspace import Workspace
from effect_runs import offline_run

Truth = dict[tuple[int, str], bool]


def label_all(workspace: Workspace, set_id: int, person: str, truth: Truth, slip: int) -> int:
    """Label what waits for the person; every `slip`th time against the truth."""
    session = LabelSession.over_set(workspace, person, set_id)
    given = 0
    while (view := session.current) is not None:
        right = truth[view.trial_id, view.gold.item.key]
        given += 1
        said = right is (given % slip != 0)
        session.label(LabelValue.YES if said else LabelValue.NO)
        session.next()
    return given


def test_an_experts_afternoon(tmp_path: Path) -> None:
    db, apart = tmp_path / "w.db", tmp_path / "bob.db"
    with Workspace.open(db) as workspace:
        run = offline_run(workspace)
        plan = SamplingPlan(runs=(run,), n=24, strata=("decision",), overlap=1, seed=3)
        drawn = make_set(workspace, plan, name="afternoon", by="Ann")
        records = workspace.verdicts.records(run)
        judged = {(r.trial_id, r.item.key): r.decision for r in records}
        # The judge is wrong on every third triple of one task.
        wrong = [r for r in records if r.task_id == "graph-1" and r.item.kind is ItemKind.TRIPLE]
        truth = {key: decision is Decision.YES for key, decision in judged.items()}
        for record in wrong[::3]:
            truth[record.trial_id, record.item.key] = record.decision is not Decision.YES
    shutil.copy(db, apart)
    with Workspace.open(apart) as elsewhere:
        assert label_all(elsewhere, drawn.id, "Bob", truth, slip=7) == 24
        packed = write_bundle(elsewhere, "Bob", tmp_path / "bob.cuepack").path
    with Workspace.open(db) as workspace:
        assert label_all(workspace, drawn.id, "Ann", truth, slip=9) == 24
        merge_files(workspace, [packed], "Ann")
        assert LabelSession.over_set(workspace, "Cas", drawn.id).current is None

        context = AdjudicationSession(workspace, "Cas", set_id=drawn.id)
        decided = 0
        while (dispute := context.current) is not None:
            place = dispute.dispute.place
            right = LabelValue.YES if truth[place] else LabelValue.NO
            slipped = "alias" if right.value != judged[place].value else "human_slip"
            context.decide(place, right, slipped)
            decided += 1
        assert decided >= 4
        assert context.open == 0

        found = compare(gather(workspace, Scope(set_id=drawn.id)), resamples=50)
        assert found.people == ("Ann", "Bob")
        pair = found.pair(Rater(role="judge", name="lexical"), SETTLED)
        percent = pair.statistic("percent") if pair else None
        assert percent is not None
        labelled = {(item.trial_id, item.item.key) for item in workspace.label_sets.items(drawn.id)}
        missed = sum(truth[key] is not (judged[key] is Decision.YES) for key in labelled)
        assert 0 < missed < 3
        effect = effect_of(workspace, [run])
        # Ann and Bob may slip alike against the judge, which makes no dispute of people but one with it.
        assert effect.changed == missed
        assert effect.settled == 24
        assert [one.name for one in effect.sets] == ["afternoon"]
        graph = next(group for group in effect.groups if group.family == "graph")
        recall = graph.measure("triplet_recall")
        assert recall is not None
        assert recall.corrected is not None
        assert recall.corrected.corrected.interval is not None
        assert any("afternoon" in line for line in circumstances(effect))
        assert effect_tables(effect)[0].title.startswith("Graph tasks")

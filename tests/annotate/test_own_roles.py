"""Labelling, adjudication and a second gold, each person connected to PostgreSQL by a role of their own."""

from __future__ import annotations

import pytest

from cuecard.annotate.independent_gold.building import hand_in, open_blank
from cuecard.annotate.independent_gold.comparison import independent_golds
from cuecard.annotate.labelling.adjudication import AdjudicationSession
from cuecard.annotate.labelling.comparison_inputs import Scope, gather
from cuecard.annotate.labelling.labelling_sets import make_set, population_of
from cuecard.annotate.labelling.sampling import plan_of
from cuecard.annotate.labelling.session import LabelSession
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.errors import NotAllowed
from cuecard.core.label_records import LabelValue
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.workspace import Workspace
from judged_trials import GOLD, ended_run, graph_task, triples
from postgres_server import Databases
from role_stage import own_roles


def label_all(workspace: Workspace, person: str, values: str) -> None:
    session = LabelSession.over_set(workspace, person, 1)
    assert session.total == len(values)
    for value in values:
        view = session.current
        assert view is not None
        session.label(LabelValue.YES if value == "y" else LabelValue.NO)
        session.next()


def test_items_are_labelled_blind_and_what_is_disputed_is_decided(postgres: Databases) -> None:
    people = ("ann", "Lea", "Max", "Zoe", "Gus")
    with own_roles(postgres, people) as stage:
        ann, lea, maxs, zoe = (stage.at(person) for person in people[:4])
        run = ended_run(ann, graph_task(), [triples(*GOLD)])
        (trial,) = ann.runs.trials(run)
        verdicts = tuple(
            Verdict(item=Item(kind=ItemKind.TRIPLE, index=n), decision=Decision.YES)
            for n in range(6)
        )
        judge = PlayerRef(name="quill", kind="llm")
        ann.verdicts.add(trial.id, Judgement(judge=judge, verdicts=verdicts))
        plan = plan_of(
            {
                "runs": (run,),
                "n": 6,
                "overlap": 1,
                "people": ("Lea", "Max"),
                "strata": ("decision",),
            }
        )
        make_set(ann, plan, name="s", by="ann", units=population_of(ann, plan))
        label_all(lea, "Lea", "yyyyyn")
        # Max sees neither her labels nor the judge, in whatever way they ask.
        assert maxs.verdicts.of_trial(trial.id) == []
        assert maxs.verdicts.item_labels() == []
        with pytest.raises(NotAllowed):
            gather(maxs, Scope(runs=(run,)))
        assert AdjudicationSession(maxs, "Max", [run]).total == 0
        label_all(maxs, "Max", "yyyyyy")
        session = AdjudicationSession(zoe, "Zoe", [run])
        view = session.current
        assert view is not None
        assert {label.person for label in view.dispute.labels} == {"Lea", "Max"}
        session.decide(view.dispute.place, LabelValue.YES, "human_slip")
        for workspace in (ann, lea, maxs, zoe):
            assert len(gather(workspace, Scope(runs=(run,))).cases) == 6
            assert [each.by for each in workspace.adjudications.newest()] == ["Zoe"]
        assert {label.phase for label in stage.owner.verdicts.item_labels(phase=None)} == {"blind"}


def test_a_second_gold_is_seen_by_who_may_compare_it(postgres: Databases) -> None:
    people = ("ann", "Gus", "Hal")
    with own_roles(postgres, people) as stage:
        ann, gus, hal = (stage.at(person) for person in people)
        ann.tasks.save(graph_task(), author="ann")
        opened, _changed = open_blank(gus, "makers", "Gus")
        gold = [{"head": h, "relation": r, "tail": t} for h, r, t in GOLD[:2]]
        opened.edit.set(("gold", "triples"), gold)
        hand_in(gus, "makers", "Gus", 1, opened.edit.data)
        assert [each.by for each in independent_golds(ann, "makers", "ann")] == ["Gus"]
        assert independent_golds(hal, "makers", "Hal") == ()

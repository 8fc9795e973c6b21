from __future__ import annotations

import pytest

from cuecard.annotate.labelling.adjudication import adjudicate
from cuecard.annotate.review.comments import threads_for
from cuecard.annotate.samples import load_sample
from cuecard.annotate.task_feedback import disputed_runs, place_in_task
from cuecard.core.families.table.gold import Table
from cuecard.core.label_records import LabelValue
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.workspace import Workspace
from judged_trials import GOLD, ended_run, graph_task, triples


def triple(index: int) -> Item:
    return Item(kind=ItemKind.TRIPLE, index=index)


def test_authors_are_told_once_and_runs_on_that_revision_are_disputed(
    workspace: Workspace, run_id: int, trial_id: int
) -> None:
    other = workspace.runs.trials(run_id)[1].id
    assert disputed_runs(workspace) == {}
    first = adjudicate(
        workspace, trial_id, triple(1), "Di", LabelValue.NO, "gold_wrong", "[red]1901[/] not 1900"
    )
    again = adjudicate(workspace, trial_id, triple(1), "Eve", LabelValue.NO, "gold_wrong", "same")
    elsewhere = adjudicate(workspace, other, triple(1), "Di", LabelValue.NO, "gold_wrong")
    another = adjudicate(workspace, other, triple(2), "Di", LabelValue.NO, "gold_wrong")
    assert [x.told for x in (first, again, elsewhere, another)] == [True, False, False, True]
    assert len(workspace.adjudications.history(trial_id, triple(1))) == 2
    one, two = threads_for(workspace, "ann", "makers")
    assert (one.comment.place, two.comment.place) == ("gold.triples[1]", "gold.triples[2]")
    assert one.comment.by == "Di"
    for word in ("[red]1901[/] not 1900", f"trial {trial_id}", f"run {run_id}", GOLD[1][0]):
        assert word in one.comment.text
    assert disputed_runs(workspace) == {run_id: 2}
    # The same item of two trials is one item; a run on a later revision stands on other gold.
    mended = graph_task(gold=[*GOLD[:1], ("maker 1", "founded in", "1911"), *GOLD[2:]])
    later = ended_run(workspace, mended, [triples(*GOLD)])
    assert disputed_runs(workspace) == {run_id: 2}
    for trial in (trial_id, other):
        adjudicate(workspace, trial, triple(1), "Di", LabelValue.YES, "alias")
    assert disputed_runs(workspace) == {run_id: 1}
    assert later not in disputed_runs(workspace)


@pytest.mark.parametrize(
    ("sample", "kind", "place"),
    [
        ("graph-astronomy-zh", "triple", "gold.triples[0]"),
        ("graph-astronomy-zh", "predicted", ""),
        ("table-us-states", "cell", "gold.rows[0][1]"),
        ("table-us-states", "row", "gold.rows[0]"),
        ("facts-night-train", "answer", "gold.answer"),
        ("checkpoints-highest-mountain", "answer", "gold.final_answer"),
        ("espresso", "leak", ""),
    ],
)
def test_where_an_item_stands(sample: str, kind: str, place: str) -> None:
    task = load_sample(f"{sample}.yaml")
    name = task.gold.column_names[1] if isinstance(task.gold, Table) else ""
    assert (
        place_in_task(
            task, Item(kind=ItemKind(kind), index=0, column=name if kind == "cell" else "")
        )
        == place
    )

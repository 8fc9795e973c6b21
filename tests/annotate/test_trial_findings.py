"""What is found in a trial reaches the task's authors, at the part of the task that is meant."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cuecard.annotate.review.comments import threads_for
from cuecard.annotate.review.workflow import submit
from cuecard.annotate.samples import load_samples
from cuecard.annotate.task_feedback import comment_on_task, task_place
from cuecard.core.engine.events import Event, ToolAnswered, UserSpoke
from cuecard.core.engine.messages import Hit, ToolAnswer, ToolCall, UserReply
from cuecard.core.errors import NotAllowed
from cuecard.store.workspace import Workspace
from judged_trials import ended_run, graph_task

TASKS = {task.family: task for task in load_samples() if task.language == "en"}
FACTS = TASKS["facts"]
KEY = FACTS.gold.facts[2].key
HIT = ToolAnswered(
    part="agent",
    turn=0,
    step=0,
    call=ToolCall(name="search"),
    answer=ToolAnswer(text="", hit=Hit(is_compound=False, hit=True, matched_fact_keys=(KEY,))),
)
SAID = UserSpoke(turn=1, reply=UserReply(text="When?", stage=2, cue_met=True))
EVENTS = [
    Event(seq=seq, at=datetime(2026, 11, 22, tzinfo=UTC), body=body)
    for seq, body in enumerate((HIT, SAID))
]


@pytest.mark.parametrize(
    ("family", "place", "in_task"),
    [
        ("graph", "verdict/triple/3", "gold.triples[3]"),
        ("graph", "verdict/predicted/3", ""),
        ("graph", "verdict/triple/x", ""),
        ("graph", "stage/2", "persona.stages[1]"),
        ("graph", "stage/99", ""),
        ("graph", "turn/1", "persona.stages[1]"),
        ("graph", "event/1", "persona.stages[1]"),
        ("graph", "event/0", ""),
        ("graph", "", ""),
        ("table", "verdict/cell/2/State", "gold.rows[2][0]"),
        ("checkpoints", "step/1", "gold.steps[1]"),
        ("checkpoints", "verdict/answer/0", "gold.final_answer"),
        ("facts", "verdict/answer/0", "gold.answer"),
        ("facts", "fact/1", "gold.facts[1]"),
        ("facts", "fact/99", ""),
        ("facts", "event/0", "gold.facts[2]"),
    ],
)
def test_a_place_of_a_trial_is_a_place_of_its_task(family, place, in_task):
    assert task_place(TASKS[family], place, EVENTS) == in_task


def test_authors_are_told_where_it_was_seen_unless_others_review_the_task(workspace: Workspace):
    run = ended_run(workspace, graph_task(), [None])
    (trial,) = workspace.runs.trials(run)
    comment_on_task(workspace, trial.id, "Ana", " is wrong \n", "gold.triples[1]")
    (thread,) = threads_for(workspace, "ann", trial.task_id)
    assert (thread.place, thread.comment.by) == ("gold.triples[1]", "Ana")
    assert thread.comment.text == (
        f"Seen in trial {trial.id} of run {run} (run), agent nobody:\nis wrong"
    )
    submit(workspace, trial.task_id, "ann")
    with pytest.raises(NotAllowed, match="in review"):
        comment_on_task(workspace, trial.id, "Ana", "again")

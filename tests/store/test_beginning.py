"""The beginning of a trial, read without the rest."""

from __future__ import annotations

from datetime import UTC, datetime

from cuecard.core.engine.events import Event, TrialRetried
from cuecard.store.workspace import Workspace
from judged_trials import GOLD, ended_run, graph_task, triples


def test_a_beginning_is_what_the_outline_begins_with_unless_words_were_taken_back(
    workspace: Workspace,
) -> None:
    run = ended_run(workspace, graph_task(), [triples(*GOLD)])
    (trial,) = workspace.runs.trials(run)
    whole = workspace.runs.outline(trial.id).events
    assert len(whole) > 2
    assert workspace.runs.beginning(trial.id, 2).events == whole[:2]
    assert workspace.runs.beginning(trial.id, 99).events == whole
    body = TrialRetried(keep=True)
    again = Event(seq=len(whole), at=datetime(2026, 11, 22, tzinfo=UTC), body=body, take=0)
    workspace.runs.append_events([(trial.id, again)])
    kept = workspace.runs.outline(trial.id).events
    assert len(kept) == len(whole) - 1
    assert workspace.runs.beginning(trial.id, 2).events == kept

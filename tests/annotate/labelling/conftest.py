"""A run of one graph task, judged by two judges and labelled by Ann, Bob and Cy."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cuecard.core.engine.messages import PlayerRef
from cuecard.core.label_records import Label, LabelValue
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.workspace import Workspace
from judged_trials import GOLD, ended_run, graph_task, triples


def triple(index: int) -> Item:
    return Item(kind=ItemKind.TRIPLE, index=index)


def judgement(name: str, decisions: str) -> Judgement:
    """`decisions`: a letter for each triple; `y`, `n`, `?`."""
    read = {"y": Decision.YES, "n": Decision.NO, "?": Decision.UNJUDGED}
    return Judgement(
        judge=PlayerRef(name=name, kind="llm", model="m-1"),
        verdicts=tuple(
            Verdict(
                item=triple(index),
                decision=read[letter],
                supporting=(index,),
                rationale=f"[red]{name}[/] on {index}",
            )
            for index, letter in enumerate(decisions)
        ),
    )


@pytest.fixture
def run_id(workspace: Workspace) -> int:
    """Judge `quill` says yes throughout, `pen` leaves out the last."""
    run = ended_run(workspace, graph_task(), [triples(*GOLD), triples(*GOLD[:2])])
    first = workspace.runs.trials(run)[0]
    workspace.verdicts.add(first.id, judgement("quill", "yyyyyy"))
    workspace.verdicts.add(first.id, judgement("pen", "yyynn?"))
    return run


@pytest.fixture
def trial_id(workspace: Workspace, run_id: int) -> int:
    return workspace.runs.trials(run_id)[0].id


@pytest.fixture
def label(workspace: Workspace, trial_id: int) -> Callable[..., Label]:
    """Labels by one person: `label("Ann", "yn~")`; a blank leaves an item out."""
    read = {"y": LabelValue.YES, "n": LabelValue.NO, "~": LabelValue.UNSURE}

    def give(person: str, values: str, **said: object) -> None:
        for index, letter in enumerate(values):
            if letter in read:
                workspace.verdicts.label_item(
                    trial_id,
                    triple(index),
                    person,
                    read[letter],
                    **said,  # pyright: ignore[reportArgumentType]
                )

    return give  # pyright: ignore[reportReturnType]

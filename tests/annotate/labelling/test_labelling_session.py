"""One item after the other, of every kind, and blind until labelled."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from cuecard.annotate.labelling.session import LabelSession
from cuecard.annotate.labelling.views import Target, turn_of
from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    EventBody,
    Limits,
    ModelReplied,
    Termination,
    TrialEnded,
    TrialStarted,
    UserSpoke,
)
from cuecard.core.engine.messages import (
    AgentReply,
    CheckpointStatus,
    Flag,
    FlagKind,
    ModelReply,
    PlayerRef,
    UserReply,
)
from cuecard.core.errors import NotAllowed
from cuecard.core.label_records import LabelValue, SetItem
from cuecard.core.predictions import (
    AnswerPrediction,
    PredictedTriple,
    Prediction,
    TablePrediction,
    TriplesPrediction,
)
from cuecard.core.records import TrialCell
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.workspace import Workspace

pytestmark = pytest.mark.both_databases

PLAYER = PlayerRef(name="actor", kind="llm", model="m-1")
JUDGE = PlayerRef(name="quillfeather", kind="llm", model="m-2")
WHY = "moonblue"
"""Words that only machines say about their decisions."""


def _stage(number: int) -> dict[str, object]:
    cue = {"kind": "mentions", "text": f"cue {number}"}
    return {"title": f"stage {number}", "cue": cue, "line": f"line {number}"}


GRAPH = Task.model_validate(
    {
        "id": "graph",
        "title": "Makers",
        "language": "en",
        "query": "Since when?",
        "persona": {
            "identity": "a clerk",
            "initial_query": "line 1",
            "stages": [_stage(n) for n in (1, 2, 3)],
        },
        "gold": {
            "family": "graph",
            "triples": [
                {"head": f"maker {n}", "relation": "founded in", "tail": str(1900 + n)}
                for n in range(8)
            ],
        },
    }
)
TABLE = Task.model_validate(
    {
        "id": "table",
        "title": "States",
        "language": "en",
        "query": "Which?",
        "gold": {
            "family": "table",
            "columns": [{"name": "State"}, {"name": "Capital"}],
            "unique_columns": ["State"],
            "rows": [["Ohio", "Columbus"], ["Utah", "Salt Lake City"]],
        },
    }
)
CHAIN = Task.model_validate(
    {
        "id": "chain",
        "title": "Peak",
        "language": "en",
        "query": "Which peak is highest?",
        "gold": {
            "family": "checkpoints",
            "opening": "Which peak is tallest?",
            "steps": [
                {
                    "question": "Measured how?",
                    "target": "Chimborazo",
                    "ambiguity": {
                        "type": "criteria",
                        "logic": "from sea or from the centre",
                        "candidates": ["sea", "centre"],
                        "clue": "from the centre",
                    },
                }
            ],
            "final_answer": "Chimborazo",
        },
    }
)


def _user(turn: int, text: str, **decided: object) -> UserSpoke:
    flag = Flag(kind=FlagKind.LEAK, found=WHY)
    reply = UserReply(text=text, reason=WHY, flags=(flag,)).model_copy(update=decided)
    return UserSpoke(turn=turn, reply=reply)


def _agent(turn: int, text: str) -> AgentSpoke:
    return AgentSpoke(turn=turn, reply=AgentReply(text=text))


def _thought(turn: int) -> ModelReplied:
    reply = ModelReply(text=WHY, reasoning=WHY)
    return ModelReplied(part="user", turn=turn, step=0, model=PLAYER.model, reply=reply)


def _trial(
    workspace: Workspace, task: Task, prediction: Prediction, spoken: Sequence[EventBody] = ()
) -> int:
    number = workspace.tasks.save(task, author="ann").number
    run = workspace.runs.create(
        name="run", kind="grid", created_by="ann", samples=1, limits=Limits()
    )
    cell = TrialCell(task_id=task.id, revision=number, agent=PLAYER, user=PLAYER, world=PLAYER)
    (trial,) = workspace.runs.add_trials(run.id, [cell])
    begun = TrialStarted(
        task_id=task.id,
        revision=number,
        revision_hash="",
        agent=PLAYER,
        user=PLAYER,
        world=PLAYER,
    )
    ended = TrialEnded(termination=Termination.USER_DONE)
    bodies = [begun, *spoken, Concluded(prediction=prediction), ended]
    events = [Event(seq=n, at=datetime.now(UTC), body=body) for n, body in enumerate(bodies)]
    workspace.runs.append_events([(trial.id, event) for event in events])
    return trial.id


def _judge(workspace: Workspace, trial_id: int, *items: Item, supporting: int = 0) -> None:
    verdicts = tuple(
        Verdict(item=item, decision=Decision.YES, supporting=(supporting,), rationale=WHY)
        for item in items
    )
    workspace.verdicts.add(trial_id, Judgement(judge=JUDGE, verdicts=verdicts))


@pytest.fixture
def trials(workspace: Workspace) -> dict[str, int]:
    found = TriplesPrediction(
        triples=(
            PredictedTriple(head="maker 3", relation="founded", tail="1903"),
            PredictedTriple(head="the moon", relation="made of", tail="cheese"),
            PredictedTriple(head="maker 1", relation="since", tail="1901"),
        )
    )
    spoken = [
        _user(0, "line 1", stage=1),
        _agent(0, "maker 3 was founded in 1903"),
        _thought(1),
        _user(1, "line 2", stage=2, cue_met=True),
        _agent(1, "and the rest?"),
        _user(2, "not yet", cue_met=False),
    ]
    graph = _trial(workspace, GRAPH, found, spoken)
    triples = [Item(kind=ItemKind.TRIPLE, index=n) for n in range(8)]
    _judge(workspace, graph, *triples, supporting=1)
    rows = TablePrediction(
        columns=("state", "capital"), rows=(("Utah", "SLC"), ("Ohio", "Columbus"))
    )
    table = _trial(workspace, TABLE, rows)
    _judge(workspace, table, *(Item(kind=ItemKind.CELL, index=n, column="Capital") for n in (0, 1)))
    reading = CheckpointStatus.AMBIGUITY_DETECTED
    talked = [
        _user(0, "Which peak is tallest?"),
        _agent(0, "from sea level?"),
        _thought(1),
        _user(1, "from the centre", checkpoint=0, status=reading),
        _agent(1, "Chimborazo"),
        _user(2, "thanks", checkpoint=0, status=CheckpointStatus.TASK_COMPLETED),
    ]
    chain = _trial(workspace, CHAIN, AnswerPrediction(answer="Chimborazo"), talked)
    _judge(workspace, chain, Item(kind=ItemKind.ANSWER))
    return {"graph": graph, "table": table, "chain": chain}


KINDS = [
    ("graph", "triple/3", "maker 3 — founded in — 1903", "yes", False),
    ("graph", "predicted/1", "the moon — made of — cheese", "yes", True),
    ("graph", "cue/1", "cue 2", "yes", False),
    ("graph", "leak/2", "not yet", "yes", True),
    ("table", "cell/1/Capital", "Salt Lake City", "yes", False),
    ("table", "row/1", "Utah | Salt Lake City", "yes", False),
    ("chain", "answer/0", "Chimborazo", "yes", False),
    ("chain", "status/1", "Measured how?", "ambiguity_detected", False),
]


@pytest.mark.parametrize(("task", "key", "text", "decided", "agrees"), KINDS)
def test_an_item_of_any_kind_is_shown_without_what_was_decided_on_it(
    workspace: Workspace,
    trials: dict[str, int],
    task: str,
    key: str,
    text: str,
    decided: str,
    agrees: bool,
) -> None:
    item = Item.of_key(key)
    workspace.verdicts.label_item(trials[task], item, "Cho", _opposite(item), f"{WHY} by Cho")
    drawn = workspace.label_sets.create(
        name="set", created_by="ann", items=[SetItem(trial_id=trials[task], item=item, raters=2)]
    )
    session = LabelSession.over_set(workspace, "Bo", drawn.id)
    view = session.current
    assert view is not None
    assert (view.gold.text, session.total) == (text, 1)
    blind = [view.model_dump_json(), repr(session.transcript()), repr(session.all_predicted())]
    assert not [word for word in (WHY, JUDGE.name, "Cho") if word in " ".join(blind)]
    with pytest.raises(NotAllowed):
        session.reveal()
    told = repr(session.transcript().events)
    if item.kind in (ItemKind.CUE, ItemKind.STATUS):
        # What the user then says would give the reading away.
        assert view.said[-1].role == "agent"
        assert ("line 2" in told or "from the centre" in told) is False
    value = CheckpointStatus(decided) if item.kind is ItemKind.STATUS else LabelValue.YES
    if agrees:
        value = LabelValue.YES
    given = session.label(value)
    assert (given.item_key, given.phase) == (key, "blind")
    shown = session.reveal()
    assert shown.judge == (
        PLAYER if item.kind in (ItemKind.CUE, ItemKind.LEAK, ItemKind.STATUS) else JUDGE
    )
    assert shown.agrees is (shown.decision.value == given.value.value)
    assert WHY not in repr(session.transcript())
    assert session.label(_opposite(item)).phase == "revealed"
    assert session.next() is None


def _opposite(item: Item) -> LabelValue | CheckpointStatus:
    return CheckpointStatus.WRONG_ANSWER if item.kind is ItemKind.STATUS else LabelValue.NO


def test_the_evidence_before_is_the_likest_and_after_it_what_the_judge_named(
    workspace: Workspace, trials: dict[str, int]
) -> None:
    targets = [Target(trials["graph"], Item.of_key(key)) for key in ("triple/3", "predicted/2")]
    session = LabelSession.over_items(workspace, "Bo", targets)
    assert session.current is not None
    assert session.current.closest[0].text == "maker 3 — founded — 1903"
    around = session.gold_around()
    assert [tree.entity for tree in around.around] == ["maker 3", "1903"]
    assert len(around.items) == 8
    assert session.transcript().turn == 0
    session.label(LabelValue.YES)
    assert [item.index for item in session.reveal().supporting] == [1]
    precision = session.next()
    assert precision is not None
    assert precision.closest[0].text == "maker 1 — founded in — 1901"
    assert session.transcript().turn == -1
    # Picked again, the labels are there, and can be changed.
    again = LabelSession.over_items(workspace, "Bo", targets)
    assert again.current is not None
    assert again.current.mine is not None
    assert again.labelled == 0


def test_a_row_and_a_turn_are_found_where_they_were_said(
    workspace: Workspace, trials: dict[str, int]
) -> None:
    events = workspace.runs.outline(trials["chain"]).events
    target = Target(trials["chain"], Item(kind=ItemKind.ANSWER))
    assert turn_of(target, CHAIN, AnswerPrediction(answer="Chimborazo"), events) == 1
    status = Target(trials["chain"], Item.of_key("status/2"))
    assert turn_of(status, CHAIN, AnswerPrediction(answer=""), events) == 1
    cells = Target(trials["table"], Item.of_key("cell/0/Capital"))
    session = LabelSession.over_items(workspace, "Bo", [cells])
    assert session.current is not None
    assert session.current.closest[0].cell == "Columbus"
    assert session.whole(0, 1, 2)


def test_a_status_takes_a_status_and_other_items_do_not(
    workspace: Workspace, trials: dict[str, int]
) -> None:
    targets = [
        Target(trials["chain"], Item.of_key("status/1")),
        Target(trials["graph"], Item.of_key("triple/0")),
    ]
    session = LabelSession.over_items(workspace, "Bo", targets)
    with pytest.raises(NotAllowed, match="another question"):
        session.label(LabelValue.YES)
    session.label(LabelValue.UNSURE)
    session.next()
    with pytest.raises(NotAllowed, match="another question"):
        session.label(CheckpointStatus.SEARCH_ONLY)


def test_a_comment_and_a_flag_wait_for_the_label_and_change_it_afterwards(
    workspace: Workspace, trials: dict[str, int]
) -> None:
    session = LabelSession(workspace, "Bo", trial_id=trials["graph"])
    first = session.current
    assert first is not None
    session.note("odd")
    session.note(gold_wrong=True)
    session.next()
    back = session.back()
    assert back is not None
    assert (back.draft.comment, back.draft.gold_wrong) == ("odd", True)
    given = session.label(LabelValue.NO)
    assert (given.comment, given.gold_wrong) == ("odd", True)
    assert session.current is not None
    assert session.current.draft.comment == ""
    session.note(gold_wrong=False)
    session.note(gold_wrong=False)
    session.label(LabelValue.YES)
    past = workspace.verdicts.history(first.verdict_id, "Bo")
    said = [(x.value.value, x.comment, x.gold_wrong) for x in past]
    assert said == [("no", "odd", True), ("no", "odd", False), ("yes", "odd", False)]


def test_time_is_counted_without_idle_stretches(
    workspace: Workspace, trials: dict[str, int]
) -> None:
    now = 0.0
    session = LabelSession(workspace, "Bo", trial_id=trials["graph"], clock=lambda: now)
    seconds: list[float] = []
    for wait in (4, 8, 600):
        session.touch()
        now += wait
        seconds.append(session.label(LabelValue.YES).seconds)
        session.next()
    session.touch()
    now += 30
    session.touch()
    now += 3000
    session.touch()
    now += 10
    assert session.label(LabelValue.NO).seconds == 40
    assert seconds == [4, 8, 0]
    assert (session.pace.timed, session.pace.seconds) == (3, 52)
    assert session.pace.per_hour == pytest.approx(3600 * 3 / 52)


def test_what_comes_next_is_read_ahead_and_the_walk_stays(
    workspace: Workspace, trials: dict[str, int]
) -> None:
    session = LabelSession(workspace, "Bo")
    before = session.current
    steps = 0
    while session.prepare():
        steps += 1
    assert 3 <= steps <= 6
    assert session.current == before
    seen = [session.current] + [session.next() for _ in range(session.total)]
    assert seen[-1] is None
    assert len({(v.trial_id, v.gold.item.key) for v in seen if v}) == session.total == 11

"""What must hold whatever happens, over random sequences and random events."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from pathlib import Path
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

import store_workers as workers
from budget import examples
from cuecard.core.contributions import Submitted, TaskState
from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    EventBody,
    Limits,
    Marked,
    ModelReplied,
    Termination,
    ToolAnswered,
    TrialEnded,
    TrialRetried,
    TrialStarted,
    UserSpoke,
    effective_log,
)
from cuecard.core.engine.messages import (
    Act,
    AgentReply,
    CheckpointStatus,
    Compaction,
    HarnessPermission,
    HarnessTool,
    Hit,
    ModelReply,
    NotesKept,
    PlayerRef,
    SearchEntry,
    ToolAnswer,
    ToolCall,
    Usage,
    UserReply,
)
from cuecard.core.errors import Conflict
from cuecard.core.predictions import (
    AnswerPrediction,
    PredictedTriple,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.core.records import TrialCell
from cuecard.core.tasks.models import content_hash
from cuecard.store.codec import LARGE, PACK_ABOVE, dumped, from_json, pack, to_json, unpack
from cuecard.store.trial_logs import usage_name
from cuecard.store.workspace import Workspace

# Half of a surrogate pair is what broken model output has.
texts = st.text(st.characters(), max_size=20) | st.sampled_from(
    ["\ud83d", "\0\x1b[31m", "[red]", "\u202e"]
)
texts |= st.integers(1, 3).map(lambda n: "页" * 1000 * n)
numbers = st.integers(0, 10**9)
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=5,
)
json_objects = st.dictionaries(st.text(max_size=9), json_values, max_size=3)
players = st.builds(PlayerRef, name=texts, kind=texts, model=texts, baseline=st.booleans())
calls = st.builds(ToolCall, name=texts, arguments=json_objects, id=texts)
entries = st.builds(SearchEntry, id=texts, title=texts, content=texts, date=texts, url=texts)
hits = st.builds(
    Hit,
    is_compound=st.booleans(),
    hit=st.booleans(),
    matched_fact_keys=st.lists(texts, max_size=2).map(tuple),
)
predictions = st.one_of(
    st.builds(
        TriplesPrediction,
        triples=st.lists(
            st.builds(PredictedTriple, head=texts, relation=texts, tail=texts), max_size=3
        ).map(tuple),
        raw=texts,
    ),
    st.builds(
        TablePrediction,
        columns=st.just(("a", "b")),
        rows=st.lists(st.tuples(texts, texts), max_size=3).map(tuple),
    ),
    st.builds(AnswerPrediction, answer=texts, raw=texts),
    st.builds(UnusablePrediction, reason=texts),
)
bodies: dict[type, st.SearchStrategy[EventBody]] = {
    TrialStarted: st.builds(
        TrialStarted,
        task_id=texts,
        revision=numbers,
        revision_hash=texts,
        agent=players,
        user=players,
        world=players,
        sample=numbers,
        seed=st.integers(),
        limits=st.builds(Limits, max_turns=numbers),
    ),
    UserSpoke: st.builds(
        UserSpoke,
        turn=numbers,
        reply=st.builds(
            UserReply,
            text=texts,
            stage=st.none() | numbers,
            cue_met=st.none() | st.booleans(),
            checkpoint=st.none() | numbers,
            status=st.none() | st.sampled_from(CheckpointStatus),
            done=st.booleans(),
        ),
    ),
    AgentSpoke: st.builds(
        AgentSpoke, turn=numbers, reply=st.builds(AgentReply, text=texts, act=st.sampled_from(Act))
    ),
    ModelReplied: st.builds(
        ModelReplied,
        part=texts,
        turn=numbers,
        step=numbers,
        model=texts,
        reply=st.builds(
            ModelReply,
            text=texts,
            reasoning=texts,
            tool_calls=st.lists(calls, max_size=2).map(tuple),
            usage=st.builds(Usage, prompt=numbers, cached=numbers),
            cost=st.none() | st.floats(0, 100),
            request_id=texts,
            carried=st.lists(json_objects, max_size=2).map(tuple),
        ),
        scope=st.sampled_from(["", "tool/0/", "batch/3/"]),
    ),
    ToolAnswered: st.builds(
        ToolAnswered,
        part=texts,
        turn=numbers,
        step=numbers,
        call=calls,
        answer=st.builds(
            ToolAnswer,
            text=texts,
            entries=st.lists(entries, max_size=2).map(tuple),
            hit=st.none() | hits,
            ok=st.booleans(),
        ),
    ),
    Marked: st.builds(
        Marked,
        part=texts,
        turn=numbers,
        step=numbers,
        mark=st.builds(
            Compaction,
            strategy=st.sampled_from(["summary", "window"]),
            before=numbers,
            limit=numbers,
            summary=texts,
        )
        | st.builds(NotesKept, notes=st.lists(texts, max_size=2).map(tuple))
        | st.builds(HarnessTool, name=texts, output=texts)
        | st.builds(
            HarnessPermission,
            name=texts,
            places=st.tuples(texts),
            answer=st.sampled_from(["allowed", "refused", "cancelled"]),
        ),
    ),
    Concluded: st.builds(Concluded, prediction=predictions),
    TrialRetried: st.builds(TrialRetried, keep=st.booleans(), reason=texts),
    TrialEnded: st.builds(TrialEnded, termination=st.sampled_from(Termination), detail=texts),
}
moments = st.datetimes(
    datetime(1990, 1, 1),
    datetime(2200, 1, 1),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=8)), timezone(timedelta(hours=-5))]),
)


@st.composite
def logs(draw: st.DrawFn) -> list[Event]:
    """One to three attempts, each of bodies with different keys; all but the last are retried, from
    an end or from the middle. The last body is a `TrialEnded`.
    """
    log: list[tuple[int, EventBody]] = []
    attempts = draw(st.integers(1, 3))
    others = [kind for kind in bodies if kind not in (TrialEnded, TrialRetried)]
    for attempt in range(attempts):
        if attempt:
            log.append((attempt, draw(bodies[TrialRetried])))
        kinds = draw(st.lists(st.sampled_from(others), max_size=5))
        by_key = {body.key: body for body in (draw(bodies[kind]) for kind in kinds)}
        log += [(attempt, body) for body in by_key.values()]
        if attempt == attempts - 1 or draw(st.booleans()):
            log.append((attempt, draw(bodies[TrialEnded])))
    return [
        Event(seq=n, at=draw(moments), body=body, take=attempt)
        for n, (attempt, body) in enumerate(log)
    ]


@lru_cache
def empty() -> bytes:
    """A workspace without content, as a file: quicker to copy than to make."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cuecard.db"
        Workspace.open(path).close()
        return path.read_bytes()


@contextmanager
def fresh() -> Iterator[Workspace]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cuecard.db"
        path.write_bytes(empty())
        with Workspace.open(path) as workspace:
            yield workspace


def test_every_kind_of_event_is_tried() -> None:
    assert set(bodies) == set(get_args(get_args(EventBody)[0]))


@settings(max_examples=examples(15), deadline=None)
@given(logs(), st.data())
def test_a_log_comes_back_exactly(events: list[Event], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(events)), max_size=3)))
    with fresh() as workspace:
        trial = _trial(workspace)
        for start, stop in zip([0, *cuts], [*cuts, len(events)], strict=True):
            # Each part again with some of what went before, as after a crash.
            again = max(0, start - data.draw(st.integers(0, 2)))
            workspace.runs.append_events([(trial, event) for event in events[again:stop]])
        runs = workspace.runs
        assert runs.log(trial) == events
        effective = list(effective_log(events))
        assert runs.events(trial) == effective
        record = runs.trial(trial)
        assert record.events == len(events)
        assert isinstance(events[-1].body, TrialEnded)
        assert record.termination is events[-1].body.termination
        assert record.ended_at == events[-1].at
        outline = runs.outline(trial)
        missing = list(outline.left_out)
        whole = {event.seq: event for event in runs.whole(trial, *missing)}
        assert [whole.get(event.seq, event) for event in outline.events] == effective
        assert all(len(dumped(event.body)) > LARGE for event in whole.values())
        assert usage_of(workspace, trial) == sums(events)


def sums(events: list[Event]) -> dict[tuple[str, str], tuple[int, Usage, float | None]]:
    """By payer and model: calls, tokens and cost."""
    found: dict[tuple[str, str], tuple[int, Usage, float | None]] = {}
    for event in events:
        if not isinstance(body := event.body, ModelReplied):
            continue
        key = usage_name(body.payer), usage_name(body.model)
        calls, usage, cost = found.get(key, (0, Usage(), None))
        if body.reply.cost is not None:
            cost = (cost or 0.0) + body.reply.cost
        found[key] = calls + 1, usage.plus(body.reply.usage), cost
    return {key: (calls, usage, rounded(cost)) for key, (calls, usage, cost) in found.items()}


def usage_of(
    workspace: Workspace, trial: int
) -> dict[tuple[str, str], tuple[int, Usage, float | None]]:
    lines = workspace.runs.usage(workspace.runs.trial(trial).run_id)
    assert {line.trial_id for line in lines} <= {trial}
    return {
        (line.payer, line.model): (line.calls, line.usage, rounded(line.cost)) for line in lines
    }


def rounded(cost: float | None) -> float | None:
    """Sums of floats depend on their order a little."""
    return None if cost is None else round(cost, 6)


def _trial(workspace: Workspace) -> int:
    workspace.tasks.save(workers.task("t", "t"), author="Ann")
    run = workspace.runs.create(name="r", kind="grid", created_by="Ann", samples=1, limits=Limits())
    return workspace.runs.add_trials(
        run.id,
        [
            TrialCell(
                task_id="t",
                revision=1,
                agent=workers.PLAYER,
                user=workers.PLAYER,
                world=workers.PLAYER,
                sample=0,
                seed=0,
            )
        ],
    )[0].id


saves = st.tuples(
    st.sampled_from(["Ann", "Bob"]),
    st.sampled_from(["x", "y", "z"]),
    st.none() | st.integers(0, 6),
    st.booleans(),
)


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(saves, max_size=12))
def test_revisions_are_numbered_without_gaps_and_nothing_is_overwritten(
    steps: list[tuple[str, str, int | None, bool]],
) -> None:
    """Against a model: a plain list of (author, title)."""
    model: list[tuple[str, str]] = []
    with fresh() as workspace:
        for author, title, base, submit in steps:
            new = workers.task("t", title)
            if not model and base:
                continue
            same = bool(model) and model[-1][1] == title
            if base is not None and base != len(model) and not same:
                before = workspace.tasks.revisions("t")
                try:
                    workspace.tasks.save(new, author=author, base=base)
                    raise AssertionError("saved over somebody else's revision")
                except Conflict:
                    assert workspace.tasks.revisions("t") == before
                continue
            saved = workspace.tasks.save(new, author=author, base=base)
            if not same:
                model.append((author, title))
                assert workspace.reviews.state("t") is TaskState.DRAFT
            assert (saved.number, saved.task) == (len(model), new)
            if submit:
                workspace.reviews.act("t", author, Submitted())
        found = workspace.tasks.revisions("t")[::-1] if model else []
        assert [(r.author, r.task.title) for r in found] == model
        assert [r.number for r in found] == list(range(1, len(model) + 1))
        assert all(r.hash == content_hash(r.task) for r in found)


@given(json_values)
def test_payloads_are_packed_losslessly(value: JsonValue) -> None:
    payload = to_json(value)
    body, packed = pack(payload)
    assert (body is None) != (packed is None)
    assert (packed is not None) == (len(payload) > PACK_ABOVE)
    assert unpack(body, packed) == payload
    assert from_json(unpack(body, packed)) == value


@settings(max_examples=examples(15), deadline=None)
@given(json_objects)
def test_drafts_come_back_exactly(data: dict[str, JsonValue]) -> None:
    with fresh() as workspace:
        workspace.drafts.save("t", "Ann", 0, data)
        found = workspace.drafts.get("t", "Ann")
        assert found is not None
        assert found.data == data

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from sqlalchemy import make_url, text

from cuecard.core.config import Prompt
from cuecard.core.engine.events import Event, EventBody, ModelReplied, ToolAnswered
from cuecard.core.engine.messages import Hit, ModelReply, SearchEntry, ToolAnswer, ToolCall
from cuecard.core.errors import NotFound
from cuecard.core.records import TrialRecord
from cuecard.store.codec import (
    HEAD,
    LARGE,
    compress,
    decode,
    decode_outline,
    decompress,
    dumped,
    encode,
    hash_of,
)
from cuecard.store.engine import Database
from cuecard.store.workspace import Workspace

MakeTrial = Callable[..., TrialRecord]
At = Callable[[int, EventBody], Event]
WORDS = [f"word{n}" for n in range(3000)]


def page(seed: int, words: int = 3000) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def answered(step: int, told: str, *, entries: int = 0, ok: bool = True) -> ToolAnswered:
    hit = Hit(is_compound=False, hit=bool(step % 2), matched_fact_keys=("k",)) if entries else None
    found = tuple(
        SearchEntry(id=str(n), title=f"title {n}", content=told, url="https://a.example")
        for n in range(entries)
    )
    return ToolAnswered(
        part="agent",
        turn=0,
        step=step,
        call=ToolCall(name="visit", arguments={"$payload": "q", "answer": "x"}, id="1"),
        answer=ToolAnswer(text=told, entries=found, hit=hit, ok=ok),
    )


def rows(url: str, query: str) -> list[tuple[object, ...]]:
    made = make_url(url)
    if made.get_backend_name() != "sqlite":
        made = made.set(drivername="postgresql+psycopg")
    database = Database(made)
    with database.read() as session:
        found = [tuple(row) for row in session.connection().execute(text(query))]
    database.close()
    return found


def test_the_same_text_is_stored_once(
    url: str, workspace: Workspace, make_trial: MakeTrial, at: At
) -> None:
    one, two = make_trial().id, make_trial().id
    pages = [page(0), page(1), page(0), page(2), page(1)]
    for trial in (one, two):
        log = [(trial, at(n, answered(n, told))) for n, told in enumerate(pages)]
        workspace.runs.append_events(log[:1])
        workspace.runs.append_events(log)
        assert [(trial, event) for event in workspace.runs.events(trial)] == log
    [(count, size)] = rows(url, "SELECT count(*), sum(size) FROM payload")
    assert count == 3
    assert size == sum(len(dumped(answered(0, told).answer)) for told in set(pages)) - 3 * len(
        ',"hit":null,"ok":true'
    )
    [(longest,)] = rows(url, "SELECT max(length(coalesce(body, ''))) FROM event")
    assert isinstance(longest, int)
    assert longest < 1000


async def test_later_texts_of_a_trial_lean_on_the_first(
    url: str, workspace: Workspace, make_trial: MakeTrial, at: At
) -> None:
    from cuecard.store.workspace import StoreSink

    trials = [make_trial().id for _ in range(2)]
    log = {t: [at(n, answered(n, page(100 * t + n))) for n in range(4)] for t in trials}
    for n in range(4):
        for trial in trials:
            await StoreSink(workspace, trial).append(log[trial][n])
    for trial in trials:
        assert workspace.runs.events(trial) == log[trial]
    assert rows(url, "SELECT count(*), count(base), count(DISTINCT base) FROM payload") == [
        (8, 6, 2)
    ]
    assert len(compress(page(1).encode(), page(0).encode())) < len(compress(page(1).encode()))
    assert decompress(compress(b"abc" * 999, b"abc"), b"abc") == b"abc" * 999


def test_an_outline_reads_no_payload(workspace: Workspace, make_trial: MakeTrial, at: At) -> None:
    trial = make_trial().id
    reply = ModelReply(text=page(3), reasoning=page(4), tool_calls=(ToolCall(name="x"),))
    events = [
        at(0, answered(0, "short")),
        at(1, answered(1, page(1), entries=3, ok=False)),
        at(2, ModelReplied(part="agent", turn=0, step=0, model="m", reply=reply)),
    ]
    workspace.runs.append_events([(trial, event) for event in events])
    outline = workspace.runs.outline(trial)
    assert outline.events[0] == events[0]
    assert {seq: len(hashes) for seq, hashes in outline.left_out.items()} == {1: 1, 2: 2}

    short = outline.events[1].body
    whole = events[1].body
    assert isinstance(short, ToolAnswered)
    assert isinstance(whole, ToolAnswered)
    assert short.call == whole.call
    assert (short.answer.hit, short.answer.ok) == (whole.answer.hit, False)
    assert short.answer.text == whole.answer.text[:HEAD] + "…"
    assert [(e.id, e.title) for e in short.answer.entries] == [
        (e.id, e.title) for e in whole.answer.entries
    ]
    said = outline.events[2].body
    assert isinstance(said, ModelReplied)
    assert said.reply.tool_calls == reply.tool_calls
    assert said.reply.reasoning == page(4)[:HEAD] + "…"

    assert workspace.runs.whole(trial, 2, 1) == events[1:]
    text_hash, _thought = outline.left_out[2]
    assert workspace.runs.payload(text_hash) == page(3).encode()
    for missing in (lambda: workspace.runs.whole(trial, 9), lambda: workspace.runs.payload("0")):
        with pytest.raises(NotFound):
            missing()


@pytest.mark.parametrize("told", ["", "x" * LARGE, "\ud83d" * 999, "页" * 5000, '"\0\\' * 2000])
@pytest.mark.parametrize("entries", [0, 2])
def test_events_are_taken_apart_and_put_together_again(told: str, entries: int) -> None:
    reply = ModelReply(text=told, reasoning=told[::-1], tool_calls=(ToolCall(name=told),))
    shown = answered(1, told, entries=entries)
    kept = shown.answer.model_copy(update={"blocked": ("https://example.org/gold",)})
    for body in (
        shown,
        shown.model_copy(update={"answer": kept}),
        ModelReplied(part="agent", turn=0, step=0, model="m", reply=reply),
    ):
        coded = encode(body)
        contents = dict(coded.payloads)
        assert set(decode_outline(coded.body)[1]) == set(contents)
        assert all(hash_of(content) == digest for digest, content in contents.items())
        assert decode(coded.body, contents) == body
        assert decode(coded.body).key == body.key
        assert all(len(content) > LARGE for content in contents.values())


def test_prompts_are_kept_by_hash(url: str, workspace: Workspace) -> None:
    prompt = Prompt(text="你好 {{name}}", variables=("name",))
    for _ in range(2):
        workspace.prompts.keep(prompt.hash, prompt.text)
    with Workspace.open(url) as other:
        other.prompts.keep(prompt.hash, prompt.text)
        assert other.prompts.get(prompt.hash) == prompt.text
    with pytest.raises(ValueError, match="not the hash"):
        workspace.prompts.keep("0" * 64, prompt.text)
    with pytest.raises(NotFound):
        workspace.prompts.get("0" * 64)


def test_prompts_that_calls_used_are_counted(
    workspace: Workspace, make_trial: MakeTrial, at: At
) -> None:
    trial = make_trial()
    long = "".join(random.Random(1).choices("abcdefgh 你\x01", k=4 * LARGE))

    def replied(part: str, scope: str, prompt: str, text: str) -> ModelReplied:
        reply = ModelReply(text=text)
        return ModelReplied(
            part=part, turn=0, step=0, model="m", reply=reply, scope=scope, prompt=prompt
        )

    calls = [
        replied("agent", "", "p", "yes"),
        replied("agent", "sub/", "p", long),
        replied("agent", "sub/tool/2/", "w", "no"),
        replied("agent", "tool/1/", "w", long),
        replied("user", "", "", "why"),
    ]
    bodies = [call.model_copy(update={"step": at}) for at, call in enumerate(calls)]
    workspace.runs.append_events([(trial.id, at(seq, body)) for seq, body in enumerate(bodies)])
    used = workspace.prompts.used(trial.run_id)
    assert {(use.payer, use.hash): use.calls for use in used} == {
        ("agent", "p"): 2,
        ("world", "w"): 2,
    }

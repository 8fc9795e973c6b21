"""Words in what trials and judges said are found, on both databases, in every script, however they are asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cuecard.core.engine.events import Event, EventBody, ModelReplied, ToolAnswered, UserSpoke
from cuecard.core.engine.messages import ModelReply, SearchEntry, ToolAnswer, ToolCall, UserReply
from cuecard.core.records import TrialRecord
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store import search
from cuecard.store.search import holds, words_in
from cuecard.store.workspace import Workspace

AT = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = (
    "The Espresso machine hisses quietly.",
    "蝴蝶效应是混沌理论的例子",
    "Ein Café in Straßburg, ÉCLAIR 東京タワー 한국어",
    "100% of 50_000 'quoted' \"twice\" back\\slash; DROP TABLE event; -- a-b",
    "line one\nline two\ttabbed \x1b[31mred",
)


def spoke(text: str, turn: int) -> UserSpoke:
    return UserSpoke(turn=turn, reply=UserReply(text=text, stage=1, reason="d3cided so"))


def filled(workspace: Workspace, trial: TrialRecord, texts: tuple[str, ...] = WORDS) -> None:
    events = [Event(seq=n, at=AT, body=spoke(text, n)) for n, text in enumerate(texts)]
    workspace.runs.append_events([(trial.id, event) for event in events])


def found(workspace: Workspace, query: str) -> list[int]:
    return [hit.seq for hit in workspace.search.said(words_in(query))]


ASKED: list[tuple[str, list[int]]] = [
    ("espresso", [0]),
    ("ESPRESSO hisses", [0]),
    ("espresso tower", []),
    ("q", [0, 3]),
    ("蝴", [1]),
    ("混沌", [1]),
    ("蝴蝶效应", [1]),
    ("蝴蝶 例子", [1]),
    ("混蝴", []),
    ("café", [2]),
    ("éclair", [2]),
    ("タワ", [2]),
    ("한국", [2]),
    ("100%", [3]),
    ("50_000", [3]),
    ("'quoted'", [3]),
    ('"twice"', [3]),
    ("back\\slash;", [3]),
    ("a-b", [3]),
    ("* OR espresso", []),
    ("NEAR(espresso hisses)", []),
    ("parts:espresso", []),
    ("espresso:*", []),
    ("%", [3]),
    ("one line", [4]),
    ("\x1b[31mred", [4]),
    ("\0", []),
    ("\udc80", []),
    ("d3cided", []),
    ("", []),
    ("   ", []),
    ("z" * 100_000, []),
    ("spresso " * 5_000, [0]),
]


@pytest.mark.parametrize("indexed", [False, True])
def test_every_word_is_found_and_nothing_else(
    workspace: Workspace,
    make_trial: Callable[..., TrialRecord],
    monkeypatch: pytest.MonkeyPatch,
    indexed: bool,
) -> None:
    filled(workspace, make_trial())
    if indexed:
        assert workspace.search.catch_up() == 0
        monkeypatch.setattr(search, "_WINDOW", 0)  # a log that is longer than what is read as it is
    postgres = workspace.url.startswith("postgres")
    for query, places in ASKED:
        if indexed and query == "%":
            places = []  # no word: only the newest are looked through
        if indexed and postgres and query.startswith(("spresso", "q")):
            places = [0, 3] if query == "q" else []  # whole words, from their beginning
        assert found(workspace, query) == places, query


def test_the_index_is_brought_up_to_date_once_in_pieces_and_anew_in_a_copy(
    workspace: Workspace, make_trial: Callable[..., TrialRecord], tmp_path: Path
) -> None:
    first = make_trial()
    filled(workspace, first)
    assert [(trial, upto) for trial, _at, upto in workspace.search.behind()] == [(first.id, 4)]
    assert workspace.search.catch_up() == 0
    assert workspace.search.behind() == []
    later = Event(seq=5, at=AT, body=spoke("afterwards", 5))
    workspace.runs.append_events([(first.id, later)])
    second = make_trial(first.run_id)
    filled(workspace, second, ("espresso again",) * 700)
    assert workspace.search.behind() == [(second.id, 0, 699), (first.id, 5, 5)]
    assert workspace.search.catch_up(1e-9) == 201  # a piece is always done
    assert workspace.search.catch_up() == 0
    assert found(workspace, "afterwards") == [5]
    several = workspace.search.said(words_in("espresso"))
    assert [(hit.trial_id, hit.seq) for hit in several] == [
        *((second.id, seq) for seq in (697, 698, 699)),
        (first.id, 0),
    ]
    if not workspace.url.startswith("postgres"):
        workspace.copies.back_up(tmp_path / "copy.db", lambda _table, _done, _all: None)
        with Workspace.open(tmp_path / "copy.db") as copy:
            assert len(copy.search.behind()) == 2
            assert copy.search.catch_up() == 0
            assert copy.search.said(words_in("espresso")) == several


def test_what_is_searched_of_events(
    workspace: Workspace, make_trial: Callable[..., TrialRecord], at: Callable[..., Event]
) -> None:
    trial = make_trial()
    entry = SearchEntry(id="1", title="Titled", content="body " * 2000)
    call = ToolCall(name="search", arguments={"query": "asked", "more": ["listed"]})
    answer = ToolAnswer(text="answered", entries=(entry,))
    bodies: list[EventBody] = [
        ToolAnswered(part="agent", turn=0, step=0, call=call, answer=answer),
        ModelReplied(
            part="agent", turn=0, step=1, model="m",
            reply=ModelReply(text="calling", reasoning="thought " * 900, tool_calls=(call,)),
        ),
        ModelReplied(part="user", turn=0, step=2, model="m", reply=ModelReply(reasoning="s3cret")),
    ]  # fmt: skip
    workspace.runs.append_events([(trial.id, at(n, body)) for n, body in enumerate(bodies)])
    workspace.search.catch_up()
    for query, places in {
        "asked": [0], "listed": [0], "answered": [0], "titled": [0], "calling": [1], "thought": [1], "s3cret": [],
    }.items():  # fmt: skip
        assert found(workspace, query) == places, query


def test_reasons_are_those_of_each_judges_newest_judgement(
    workspace: Workspace,
    make_trial: Callable[..., TrialRecord],
    judged: Callable[..., Judgement],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trial = make_trial()

    def add(*said: str) -> None:
        verdicts = tuple(
            Verdict(item=Item(kind=ItemKind.TRIPLE, index=n), decision=Decision.YES, rationale=text)
            for n, text in enumerate(said)
        )
        workspace.verdicts.add(trial.id, judged("a", 1).model_copy(update={"verdicts": verdicts}))

    add("old 50% reason", "other")
    add("因为蝴蝶", "new 50% reason", "500 reasons")
    monkeypatch.setattr(search, "_VERDICTS", 2)
    said: list[str] = []
    before: int | None = None
    while before != 0:
        some, before = workspace.search.reasons(words_in("50% REASON"), before=before)
        said += [each.text for each in some]
    assert said == ["new 50% reason"]
    assert [each.item_key for each in workspace.search.reasons(["蝴蝶"], before=99)[0]] == []
    monkeypatch.setattr(search, "_VERDICTS", 100)
    assert [each.item_key for each in workspace.search.reasons(["蝶"])[0]] == ["triple/0"]


def test_a_word_holds_in_any_case() -> None:
    assert holds("STRASSE", words_in("straße"))
    assert not holds("Strasse", words_in("gasse"))
    assert json.dumps(words_in("a" * 500)) == json.dumps(["a" * 200])


def test_the_database_keeps_words_in_an_index_of_words(workspace: Workspace) -> None:
    if not workspace.url.startswith("postgres"):
        pytest.skip("SQLite has a table of its own for them")
    import psycopg

    with psycopg.connect(workspace.url.replace("+psycopg", ""), autocommit=True) as server:
        [(made,)] = server.execute(
            "SELECT indexdef FROM pg_indexes WHERE indexname = 'ix_passage_parts'"
            " AND schemaname = current_schema()"
        ).fetchall()
    assert "USING gin (parts)" in made

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from cuecard.core.engine.events import AgentSpoke, Event, EventBody, ToolAnswered
from cuecard.core.engine.messages import AgentReply, SearchEntry, ToolAnswer, ToolCall
from cuecard.tui.present.entry_layout import Block
from cuecard.tui.present.tool_calls import matching, sources_of
from cuecard.tui.present.transcript import entries_of


def log(*bodies: EventBody) -> list[Event]:
    return [Event(seq=i, at=datetime.now(UTC), body=body) for i, body in enumerate(bodies)]


def called(
    step: int,
    arguments: dict[str, JsonValue],
    *found: SearchEntry,
    turn: int = 0,
    name: str = "search",
    text: str = "",
    ok: bool = True,
) -> ToolAnswered:
    return ToolAnswered(
        part="agent",
        turn=turn,
        step=step,
        call=ToolCall(name=name, arguments=arguments),
        answer=ToolAnswer(text=text, entries=found, ok=ok),
    )


def page(title: str, url: str = "", content: str = "") -> SearchEntry:
    return SearchEntry(id="1", title=title, url=url, content=content, date="1901")


LOG = log(
    called(
        0,
        {"query": "espresso patent"},
        page("Moriondo", "https://a.org/m", "short"),
        page("Bezzera", "https://b.org/"),
    ),
    called(
        1,
        {"urls": ["http://a.org/m#life", "http://gone.org"], "goal": "who was first"},
        page("Angelo Moriondo", "https://a.org/m/", "the whole of a longer text" + "x" * 2000),
        name="visit",
    ),
    AgentSpoke(turn=0, reply=AgentReply(text="See [b](https://b.org) and the Turin Exhibition.")),
    called(2, {"query": "turin 1884"}, page("Turin exhibition"), page("Moriondo", "https://a.org/m"), turn=1),
    called(3, {"url": "http://c.org"}, name="fetch", text="what it says", turn=1),
    called(4, {"query": "x"}, page("No", "http://no.org"), ok=False, text="Too many calls", turn=1),
)  # fmt: skip


def test_every_page_once_with_how_it_was_found_and_what_became_of_it() -> None:
    moriondo, bezzera, turin, fetched = sources_of(LOG)
    assert (moriondo.url, moriondo.title) == ("https://a.org/m", "Moriondo")
    assert moriondo.turns == (0, 1)
    assert moriondo.found_by == ("espresso patent", "turin 1884")
    assert (moriondo.visited, moriondo.goals, moriondo.cited) == (True, ("who was first",), False)
    assert moriondo.text.startswith("the whole of a longer text")
    assert (bezzera.visited, bezzera.cited) == (False, True)
    assert (turin.url, turin.turns, turin.cited) == ("", (1,), True)
    assert (fetched.url, fetched.visited, fetched.text) == ("http://c.org", True, "what it says")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [("", 4), ("MORIONDO", 1), ("turin 1884", 2), ("first a.org", 1), ("nothing like it", 0)],
)
def test_typing_narrows_them(typed: str, expected: int) -> None:
    assert len(matching(sources_of(LOG), typed)) == expected


def test_calls_are_counted_by_kind_and_open_to_what_was_asked_and_read() -> None:
    first, _agent, second = entries_of(LOG)
    assert first.head[0].text == "2 tool calls (1 search, 1 visit) · 1 page"
    assert second.head[0].text == "3 tool calls (2 search, 1 fetch) · 1 page · 1 refused"
    text = "\n".join(
        "".join(piece.text for piece in line)
        for entry in (first, second)
        for line in Block(entry, opened=True, width=200, gap=True).lines
    )
    for expected in (
        "search: espresso patent",
        "Moriondo · 1901 · https://a.org/m",
        "visit: http://a.org/m#life · http://gone.org",
        "goal: who was first",
        "1 of 2 pages could be read",
        "more characters)",
        "Too many calls",
    ):
        assert expected in text

"""Addresses that a web world keeps from agents are found however they are written, and never connected to."""

from __future__ import annotations

import pytest

from cuecard.core.config_players import VisitConfig, WebWorldConfig
from cuecard.core.engine.messages import ToolCall
from cuecard.core.engine.step_context import FreshCalls
from cuecard.core.errors import ConfigError
from cuecard.core.worlds.blocking import HOMES, BlockList
from cuecard.core.worlds.engines import engine_called
from cuecard.core.worlds.fetching import Fetcher, FetchError, Forbidden
from cuecard.core.worlds.visit import Visitor
from cuecard.core.worlds.web import EngineClient, WebWorld
from web_servers import WebServer, data, moved, page

LIST = BlockList(
    (
        "huggingface.co",
        "kaggle.com/datasets",
        "münchen.example",
        r"re:github\.com/[^/]+/wide-?search",
        *HOMES,
    )
)


@pytest.mark.parametrize(
    "address",
    [
        "https://huggingface.co/datasets/x",
        "HTTP://HuggingFace.CO",
        "https://huggingface.co.:443/x",
        "https://cdn.huggingface.co:8443/x?y=1",
        "https://huggingface%2Eco/x",
        "https://www.kaggle.com/datasets",
        "https://kaggle.com/datasets/a/b?c=d",
        "https://kaggle.com//%64atasets/./a",
        "https://kaggle.com/code/../datasets/a",
        "https://xn--mnchen-3ya.example/",
        "https://MÜNCHEN.example/a",
        "https://github.com/ByteDance/WideSearch/blob/main/gold.jsonl",
        "https://raw.githubusercontent.com/a/vibe-search-bench/main/x",
        "https://web.archive.org/web/2025/https://huggingface.co/datasets/x",
        "https://web.archive.org/web/2025*/huggingface.co/x",
        "https://web.archive.org/web/2025/https%3A%2F%2Fhuggingface.co%2Fx",
        "https://r.jina.ai/https://huggingface.co/x",
        "https://r.jina.ai/huggingface.co/x",
        "https://r.jina.ai/https://web.archive.org/web/1/https://huggingface.co/x",
        "https://huggingface-co.translate.goog/x?_x_tr_sl=en",
        "https://hf--mirror-com.translate.goog/x",
        "https://translate.google.com/translate?u=https%3A%2F%2Fhuggingface.co%2Fx",
        "https://webcache.googleusercontent.com/search?q=cache:abc:https://huggingface.co/x",
        "https://archive.ph/https://huggingface.co/x",
    ],
)
def test_blocked_however_it_is_written(address):
    assert LIST.blocks(address)


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/huggingface.co",
        "https://example.org/?from=https://huggingface.co/x",
        "https://nothuggingface.co/",
        "https://huggingface.co.example.org/",
        "https://kaggle.com/code/datasets",
        "https://kaggle.com/datasetsx",
        "https://github.com/a/b",
        "https://web.archive.org/web/2025/https://example.org/",
        "https://r.jina.ai/https://example.org/huggingface.co.html",
        "no address",
        "http://[::1",
        "",
    ],
)
def test_others_are_not(address):
    assert LIST.blocks(address) == ""


@pytest.mark.parametrize("entry", ["", "localhost", "re:(", "https://", "a b"])
def test_an_entry_that_names_nothing_is_refused(entry):
    with pytest.raises(ConfigError, match="cannot be blocked"):
        BlockList((entry,))


async def _reason(url: str, blocked: BlockList) -> object:
    fetcher = Fetcher(VisitConfig(private=True), blocked=blocked)
    try:
        await fetcher.fetch(url)
    except FetchError as error:
        return error.reason
    finally:
        await fetcher.close()
    return None


async def test_a_blocked_host_is_never_connected_to():
    async with WebServer(lambda _r: page("gold")) as server:
        port = server.port
        blocked = BlockList(("127.0.0.1",))
        for url in (
            server.url,
            f"http://127.0.0.1:{port}/a",
            f"http://127.0.0.1.:{port}/a",
            f"https://r.jina.ai/http://127.0.0.1:{port}/a",
        ):
            assert await _reason(url, blocked) is Forbidden.BLOCKED
        assert server.asked == []


async def test_nor_where_a_redirect_leads_to():
    async with WebServer(lambda r: moved(f"{server.url}/data/gold")) as server:
        assert await _reason(f"{server.url}/a", BlockList(("127.0.0.1/data",))) is Forbidden.BLOCKED
        assert [asked.path for asked in server.asked] == ["/a"]


async def test_blocked_results_are_dropped_and_the_record_names_them():
    found = {"results": [
        {"title": "Gold", "content": "all", "url": "https://huggingface.co/datasets/x"},
        {"title": "Page", "content": "some", "url": "https://example.org/a"},
    ]}  # fmt: skip
    async with WebServer(lambda _r: data(found)) as server:
        config = WebWorldConfig(
            kind="web", engine="searxng", url=server.url, visit=VisitConfig(private=True)
        )
        visitor = Visitor(Fetcher(config.visit, blocked=LIST), "en")
        client = EngineClient(engine_called("searxng"), config)
        world = WebWorld("net", config, "en", client, visitor, blocked=LIST)
        searched = await world.answer(
            ToolCall(name="search", arguments={"query": "x"}), FreshCalls()
        )
        visited = await world.answer(
            ToolCall(name="visit", arguments={"urls": ["https://hf.co/x"]}), FreshCalls()
        )
        await world.close()
    assert "huggingface" not in searched.text
    assert [entry.title for entry in searched.entries] == ["Page"]
    assert searched.blocked == ("https://huggingface.co/datasets/x",)
    assert "not available" in visited.text
    assert "block" not in visited.text
    assert (visited.ok, visited.blocked) == (False, ("https://hf.co/x",))

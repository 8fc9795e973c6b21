from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from cuecard.core.config_players import WebWorldConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.messages import ToolCall
from cuecard.core.engine.step_context import FreshCalls
from cuecard.core.errors import ConfigError
from cuecard.core.llm.hub import ModelHub
from cuecard.core.worlds.engines import engine_called
from cuecard.core.worlds.fetching import Fetcher
from cuecard.core.worlds.visit import Visitor
from cuecard.core.worlds.web import EngineClient, WebWorld, retry_after, web_world
from web_servers import Answer, Asked, Script, WebServer, data

KEY = "tvly-Sekret123"
RESULT = {"title": "Brackness <b>Light</b>", "url": "https://example.org/light"}
ENTRY = ("Brackness <b>Light</b>", "https://example.org/light", "A lighthouse.", "2024-05-01")
ENGINES = {
    "searxng": {
        "results": [{**RESULT, "content": "A lighthouse.", "publishedDate": "2024-05-01"}],
        "unresponsive_engines": [["google", "timeout"]],
    },
    "tavily": {
        "query": "q",
        "results": [
            {**RESULT, "content": "A lighthouse.", "score": 0.9, "published_date": "2024-05-01"}
        ],
    },
    "serper": {
        "searchParameters": {"q": "q"},
        "organic": [
            {
                "title": RESULT["title"],
                "link": RESULT["url"],
                "snippet": "A lighthouse.",
                "date": "2024-05-01",
                "position": 1,
            }
        ],
    },
    "brave": {
        "type": "search",
        "web": {
            "results": [
                {
                    **RESULT,
                    "title": "Brackness &lt;b&gt;Light&lt;/b&gt;",
                    "description": "A <strong>lighthouse</strong>.",
                    "page_age": "2024-05-01",
                }
            ]
        },
    },
}


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("SEARCH_KEY", KEY)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def world_at(server: WebServer, engine="serper", language="en", backoff=0.001, **more) -> WebWorld:
    config = WebWorldConfig.model_validate(
        {
            "kind": "web",
            "engine": engine,
            "url": server.url,
            "api_key_env": "SEARCH_KEY",
            "tools": ("search", "web_search", "visit"),
            "retries": 2,
            "timeout": 5,
            "visit": {"private": True},
            **more,
        }
    )
    client = EngineClient(engine_called(config.engine), config, backoff=backoff)
    visitor = Visitor(Fetcher(config.visit, language), language)
    return WebWorld("net", config, language, client, visitor)


async def ask(world: WebWorld, name: str = "search", **arguments):
    try:
        return await world.answer(ToolCall(name=name, arguments=arguments), FreshCalls())
    finally:
        await world.close()


async def asked(script: Script, engine="serper", language="en", tool="search", **more):
    """The answer to a search, and what the server was asked."""
    query = more.pop("query", "Brackness Light")
    async with WebServer(script) as server:
        answer = await ask(world_at(server, engine, language, **more), tool, query=query, topn=3)
        return answer, server.asked


@pytest.mark.parametrize("engine", ENGINES)
async def test_every_engine_is_asked_in_its_own_way_and_gives_the_same(engine):
    answer, (request,) = await asked(lambda _request: data(ENGINES[engine]), engine)
    assert answer.ok
    (entry,) = answer.entries
    assert (entry.title, entry.url, entry.content, entry.date) == ENTRY
    assert answer.text == (
        "[1] Brackness <b>Light</b> (2024-05-01)\nhttps://example.org/light\nA lighthouse."
    )
    match engine:
        case "searxng":
            assert (request.method, request.path) == ("GET", "/search")
            assert request.query == {
                "q": "Brackness Light",
                "format": "json",
                "categories": "general",
            }
        case "tavily":
            assert (request.method, request.path) == ("POST", "/search")
            assert request.headers["authorization"] == f"Bearer {KEY}"
            assert (request.json["query"], request.json["max_results"]) == ("Brackness Light", 3)
        case "serper":
            assert (request.method, request.path) == ("POST", "/search")
            assert request.headers["x-api-key"] == KEY
            assert request.json == {"q": "Brackness Light", "num": 3, "gl": "us", "hl": "en"}
        case "brave":
            assert (request.method, request.path) == ("GET", "/web/search")
            assert request.headers["x-subscription-token"] == KEY
            assert (request.query["q"], request.query["count"]) == ("Brackness Light", "3")


async def test_chinese_queries_ask_for_chinese_results():
    _, (request,) = await asked(lambda _r: data(ENGINES["serper"]), "serper", query="灯塔")
    assert (request.json["gl"], request.json["hl"]) == ("cn", "zh-cn")
    _, (request,) = await asked(lambda _r: data(ENGINES["brave"]), "brave", query="灯塔")
    assert (request.query["country"], request.query["search_lang"]) == ("CN", "zh-hans")
    _, (request,) = await asked(lambda _r: data(ENGINES["searxng"]), "searxng", query="灯塔")
    assert request.query["language"] == "zh-CN"


async def test_scholarly_search():
    tools = ("search", "scholar_search")
    paper = {
        "title": "Optics",
        "link": "https://example.org/p",
        "publicationInfo": "A Orlin - Nature, 1931",
        "snippet": "On lenses.",
        "year": 1931,
        "citedBy": 7,
    }
    answer, (request,) = await asked(
        lambda _r: data({"organic": [paper, {**paper, "link": "not an address"}]}),
        "serper",
        tool="scholar_search",
        tools=tools,
    )
    assert request.path == "/scholar"
    (entry,) = answer.entries
    assert entry.content == "A Orlin - Nature, 1931\nOn lenses.\nCited by 7."
    assert entry.date == "1931"
    _, (request,) = await asked(
        lambda _r: data({"results": []}), "searxng", tool="scholar_search", tools=tools
    )
    assert request.query["categories"] == "science"


async def test_results_are_cleaned_counted_and_each_address_comes_once():
    results = [
        {"title": "\x1b[31mred\x07\n\ud800", "url": f"https://example.org/{n // 2}", "content": 5}
        for n in range(12)
    ]
    answer, _ = await asked(
        lambda _r: data({"results": [*results, {"url": "javascript:1"}, 4]}), "searxng"
    )
    assert [e.url for e in answer.entries] == [f"https://example.org/{n}" for n in range(3)]
    assert answer.entries[0].title == "red\ufffd \ufffd"
    assert len({e.id for e in answer.entries}) == 3


@pytest.mark.parametrize(
    ("engine", "answer", "attempts", "said"),
    [
        ("serper", data({"message": "Unauthorized."}, 403), 1, "does not accept the key"),
        ("serper", data({"message": "Not enough credits"}, 400), 1, "quota is used up"),
        ("serper", data({"message": "Bad query"}, 400), 1, "Bad query"),
        ("serper", data({}, 429), 3, "is busy"),
        ("serper", data({}, 429, retry_after="99999"), 1, "is busy"),
        ("serper", data({}, 503), 3, "has failed"),
        ("serper", data({"organic": "?"}), 3, "cannot be read"),
        ("serper", Answer(200, {}, (b"<html>",)), 3, "cannot be read"),
        ("serper", Answer(200, {}, (b"[" * 100_000,)), 3, "cannot be read"),
        ("serper", Answer(200, {}, (b"{",), cut=True), 3, "has failed"),
        ("serper", Answer(0), 3, "has failed"),
        ("serper", Answer(302, {"location": "http://127.0.0.1:1/"}), 1, "refused"),
        ("tavily", data({"detail": {"error": "Unauthorized"}}, 401), 1, "does not accept the key"),
        ("tavily", data({"detail": {"error": "plan"}}, 432), 1, "quota is used up"),
        ("tavily", data({"detail": {"error": "pay"}}, 433), 1, "quota is used up"),
        ("brave", data({"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}}, 422), 1, "the key"),
        (
            "brave",
            data({"error": {"code": "RATE_LIMITED", "meta": {"quota_limit": 2000}}}, 429),
            3,
            "is busy",
        ),
        ("brave", data({"error": {"code": "QUOTA_LIMITED"}}, 429), 1, "quota is used up"),
        ("searxng", data({}, 403), 1, "JSON format is switched off"),
        ("searxng", data({"results": [], "unresponsive_engines": [["g", "x"]]}), 3, "None of the"),
    ],
)
async def test_troubles_are_told_after_as_many_attempts_as_make_sense(
    engine, answer, attempts, said
):
    got, requests = await asked(lambda _r: answer, engine)
    assert not got.ok
    assert said in got.text
    assert not got.entries
    assert len(requests) == attempts


async def test_trouble_passes():
    def script(request: Asked) -> Answer:
        if request.number == 0:
            return data({}, 429, retry_after="0")
        return Answer(500) if request.number == 1 else data(ENGINES["serper"])

    answer, requests = await asked(script)
    assert answer.ok
    assert len(requests) == 3


async def test_an_engine_that_does_not_answer_in_time():
    slow = Answer(200, {}, (b"{", b"}"), pause=30)
    answer, _ = await asked(lambda _r: slow, timeout=0.05, retries=0)
    assert answer.text == "The search engine did not answer within 0.05 seconds."


async def test_troubles_in_chinese():
    answer, _ = await asked(lambda _r: Answer(401), language="zh")
    assert answer.text == "搜索引擎不接受本机配置的密钥。"


async def test_the_key_is_never_told():
    said = data({"message": f"the query with key {KEY} is odd"}, 400)
    answer, _ = await asked(lambda _r: said)
    assert "<SEARCH_KEY>" in answer.text
    assert KEY not in answer.text
    async with WebServer(lambda _r: said) as server:
        world = world_at(server)
        assert KEY not in repr(world.__dict__)
        assert KEY not in world.ref.model_dump_json()


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("search", {}, "`query` is missing"),
        ("search", {"query": " "}, "`query` is missing"),
        ("search", {"query": ["a"]}, "`query` is missing"),
        ("search", {"query": "a", "topn": 0}, "`topn`"),
        ("search", {"query": "a", "topn": True}, "`topn`"),
        ("search", {"query": "a" * 2001}, "at most 2000"),
        ("visit", {}, "`urls` is missing"),
        ("visit", {"urls": []}, "`urls` is missing"),
        ("visit", {"urls": ["https://a.org", 5]}, "`urls` is missing"),
        ("visit", {"urls": [f"https://a.org/{n}" for n in range(11)]}, "at most 10"),
        ("visit", {"urls": "https://a.org", "goal": 1}, "`goal`"),
        ("scholar_search", {"query": "a"}, "search, web_search, visit"),
        ("python", {"code": "1"}, "no tool named python"),
    ],
)
async def test_what_is_wrong_with_a_call_is_said(name, arguments, said):
    async with WebServer(lambda _r: Answer(500)) as server:
        answer = await ask(world_at(server), name, **arguments)
        assert not answer.ok
        assert said in answer.text
        assert not server.asked


async def test_nothing_found_is_an_answer():
    answer, _ = await asked(lambda _r: data({"organic": []}))
    assert (answer.ok, answer.text) == (True, "Nothing was found for this query.")


def build(**web):
    config = WebWorldConfig.model_validate({"kind": "web", **web})
    return web_world("net", config, Config(), "en", ModelHub(Config()))


@pytest.mark.parametrize(
    ("web", "said"),
    [
        ({"engine": "searxng"}, "no address"),
        ({"engine": "tavily"}, "wants a key"),
        ({"engine": "brave", "api_key_env": "NO_SUCH_KEY"}, "NO_SUCH_KEY"),
        ({"engine": "brave", "api_key_env": "SEARCH_KEY", "tools": ("scholar_search",)}, "scholar"),
        ({"engine": "serper", "api_key_env": "SEARCH_KEY", "visit": {"model": "m"}}, "m"),
    ],
)
def test_what_the_configuration_lacks_is_told_before_the_first_call(web, said):
    with pytest.raises(ConfigError, match=said):
        build(**web)


def test_the_reference_covers_engine_and_options():
    keyed = {"api_key_env": "SEARCH_KEY"}
    refs = [
        build(engine="serper", **keyed).ref,
        build(engine="brave", **keyed).ref,
        build(engine="serper", results=5, **keyed).ref,
        build(engine="serper", visit={"max_mb": 1}, **keyed).ref,
        build(engine="searxng", url="http://127.0.0.1:8888").ref,
    ]
    assert len({ref.version for ref in refs}) == len(refs)
    assert {(ref.name, ref.kind, ref.baseline) for ref in refs} == {("net", "web", False)}
    assert build(engine="serper", **keyed).ref == refs[0]
    # Without a list it is the world that it was before there were any: a run of then goes on in it.
    open_ = build(engine="serper", block_homes=False, **keyed).ref
    assert open_.version == "1 serper e5780b4871ab"
    assert build(engine="serper", blocked=("example.org",), **keyed).ref != refs[0]


def test_tools_are_those_of_the_configuration():
    world = build(
        engine="serper", api_key_env="SEARCH_KEY", tools=("visit", "scholar_search", "search")
    )
    assert [spec.name for spec in world.tools] == ["visit", "scholar_search", "search"]


def test_retry_after():
    assert retry_after("2.5") == 2.5
    assert retry_after("-3") == 0
    later = format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True)
    assert 7000 < (retry_after(later) or 0) <= 7200
    assert [retry_after(value) for value in ("", "soon", "nan")] == [None, None, None]

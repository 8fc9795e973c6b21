"""The web world: a search engine that is asked over the network, and pages fetched for the agent."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import json
import os
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from cuecard import __version__
from cuecard.core.config import Prompt, find_prompt
from cuecard.core.config_players import WebWorldConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.messages import PlayerRef, SearchEntry, ToolAnswer, ToolCall, ToolSpec
from cuecard.core.engine.step_context import WorldContext
from cuecard.core.errors import ConfigError
from cuecard.core.i18n import _
from cuecard.core.secrets import guard, scrub
from cuecard.core.tasks.models import Task, TaskLanguage
from cuecard.core.text import one_line, storable
from cuecard.core.validation import TooLarge, read_body, read_json, read_refusal
from cuecard.core.worlds.blocking import HOMES, BlockList
from cuecard.core.worlds.closed import SCHOLAR_SEARCH, SEARCH_WEB, VISIT, WEB_SEARCH
from cuecard.core.worlds.engines import Engine, EngineError, Mode, Trouble, engine_called
from cuecard.core.worlds.fetching import Fetcher
from cuecard.core.worlds.visit import MOST_PAGES, WORDS, Summariser, Visitor, failure_text

if TYPE_CHECKING:
    from aiohttp import ClientSession

    from cuecard.core.llm.hub import ModelHub


MAX_WAIT = 60.0
_MAX_BACKOFF = 30.0
_MOST_BYTES = 5_000_000
_DETAIL_CHARS = 200
_PASSING = frozenset(
    (
        Trouble.BUSY,
        Trouble.SERVER,
        Trouble.TIMEOUT,
        Trouble.UNREACHABLE,
        Trouble.MALFORMED,
        Trouble.EMPTY_HANDED,
    )
)


@dataclass
class _Failed(Exception):
    """An attempt failed. `wait`: seconds after which the engine asks to be tried again."""

    trouble: Trouble
    detail: str = ""
    wait: float | None = None


class EngineClient:
    """Asks one engine. `backoff`: seconds before the first further attempt; they double from then on.

    Raises `ConfigError` at once where the engine's address or its key is missing.
    """

    def __init__(self, engine: Engine, config: WebWorldConfig, *, backoff: float = 1.0) -> None:
        self.engine = engine
        self._config = config
        self._base = config.url or engine.address
        self._backoff = backoff
        self._session: ClientSession | None = None
        if not self._base:
            raise ConfigError(
                _("A search engine's address is missing"),
                _("the engine {name} has no address of its own").format(name=engine.name),
                _("give the address of your instance as url"),
            )
        if not config.api_key_env and engine.address:
            raise ConfigError(
                _("A key is missing"),
                _("the search engine {name} wants a key").format(name=engine.name),
                _("name the environment variable that holds it in api_key_env"),
            )
        self._key()

    def __repr__(self) -> str:
        return f"EngineClient({self.engine.name!r} at {self._base})"

    async def search(self, query: str, count: int, mode: Mode) -> list[SearchEntry]:
        """At most `count` results. Busy servers, time-outs and lost connections are tried again; if that fails, and for
        every other trouble, raises `EngineError`.
        """
        if len(query) > self.engine.query_chars:
            raise EngineError(Trouble.LONG, str(self.engine.query_chars))
        # Imported in a thread: it takes a fifth of a second, during which the event loop would stand still.
        await asyncio.to_thread(importlib.import_module, "aiohttp")
        count = min(count, self.engine.most)
        attempt = 0
        while True:
            try:
                return (await self._attempt(query, count, mode))[:count]
            except _Failed as failed:
                patient = failed.wait is None or failed.wait <= MAX_WAIT
                if failed.trouble not in _PASSING or attempt >= self._config.retries or not patient:
                    raise EngineError(failed.trouble, failed.detail) from None
                await asyncio.sleep(self._pause(attempt, failed.wait))
                attempt += 1

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _attempt(self, query: str, count: int, mode: Mode) -> list[SearchEntry]:
        import aiohttp

        from cuecard.core.llm.pool import proxy_for

        key = self._key()
        asking = self.engine.asking(self._base, key, query, count, mode)
        proxy = proxy_for(asking.url)
        try:
            async with (
                asyncio.timeout(self._config.timeout),
                self._open().request(
                    "GET" if asking.body is None else "POST",
                    asking.url,
                    params=dict(asking.params),
                    headers=dict(asking.headers),
                    json=asking.body,
                    # A redirect might send the key to another host.
                    allow_redirects=False,
                    proxy=proxy.url if proxy else None,
                    proxy_headers=proxy.headers if proxy else None,
                ) as response,
            ):
                status, headers = response.status, response.headers
                body = await (
                    read_body(response, most=_MOST_BYTES)
                    if status == 200
                    else read_refusal(response, self._config.timeout)
                )
        except TimeoutError:
            raise _Failed(Trouble.TIMEOUT, f"{self._config.timeout:g}") from None
        except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError):
            raise _Failed(Trouble.SERVER) from None
        except (aiohttp.ClientError, OSError):
            raise _Failed(Trouble.UNREACHABLE) from None
        except TooLarge:
            raise _Failed(Trouble.MALFORMED) from None
        if status != 200:
            raise self._refused(status, headers, body, key)
        try:
            return self.engine.entries(_json(body), mode)
        except EngineError as error:
            raise _Failed(error.trouble) from None

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes, key: str) -> _Failed:
        said = storable(body[:4000].decode("utf-8", "replace"))
        said = scrub(said)
        detail = one_line(said.replace(key, "***") if key else said, _DETAIL_CHARS)
        detail = f"{status}: {detail}" if detail else str(status)
        trouble = self.engine.trouble(status, said) or _usual_trouble(status)
        return _Failed(trouble, detail, retry_after(headers.get("Retry-After", "")))

    def _pause(self, attempt: int, wait: float | None) -> float:
        backoff = min(self._backoff * 2**attempt, _MAX_BACKOFF) * random.uniform(0.75, 1.25)
        return backoff if wait is None else max(wait, min(backoff, 0.1))

    def _open(self) -> ClientSession:
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": f"cuecard/{__version__}"},
                timeout=aiohttp.ClientTimeout(total=None),
            )
        return self._session

    def _key(self) -> str:
        """The key from the environment; "" if the engine needs none. Raises `ConfigError` if it is missing."""
        name = self._config.api_key_env
        if not name:
            return ""
        key = os.environ.get(name, "").strip()
        if not key or not key.isascii() or not key.isprintable() or " " in key:
            raise ConfigError(
                _("A key is missing") if not key else _("A key cannot be used"),
                _("the environment variable {name} holds no key of a search engine").format(
                    name=name
                ),
                _("set it in the shell that starts cuecard"),
            )
        guard(name, key)
        return key


def retry_after(value: str) -> float | None:
    """Seconds to wait according to a `Retry-After` header (seconds or a date); None if it is unreadable."""
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, TypeError):
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = (moment - datetime.now(UTC)).total_seconds()
    return max(seconds, 0.0) if seconds == seconds else None


def _usual_trouble(status: int) -> Trouble:
    if status in (401, 403):
        return Trouble.KEY
    if status == 402:
        return Trouble.QUOTA
    if status in (408, 425, 429):
        return Trouble.BUSY
    return Trouble.SERVER if status >= 500 else Trouble.REFUSED


def _json(body: bytes) -> JsonValue:
    try:
        return cast(JsonValue, read_json(body))
    except ValueError:
        raise _Failed(Trouble.MALFORMED) from None


_SPECS = {spec.name: spec for spec in (SEARCH_WEB, WEB_SEARCH, SCHOLAR_SEARCH, VISIT)}
_MODES: dict[str, Mode] = {"search": "web", "web_search": "web", "scholar_search": "scholar"}


class WebWorld:
    """Answers `search`, `web_search`, `scholar_search` and `visit` from the live web.

    Failures are reported in the answer, in the task's language. The entries of every answer hold the engine's results
    or the text of the pages, so that a recorded run can be read and replayed. Agents are not told why a page that
    `blocked` holds is missing.
    """

    def __init__(
        self,
        name: str,
        config: WebWorldConfig,
        language: TaskLanguage,
        client: EngineClient,
        visitor: Visitor,
        prompt: Prompt | None = None,
        blocked: BlockList | None = None,
    ) -> None:
        self._name = name
        self._config = config
        self._blocked = blocked or BlockList(())
        self._language: TaskLanguage = language
        self._client = client
        self._visitor = visitor
        self._prompt = prompt

    @property
    def ref(self) -> PlayerRef:
        beside = {"python", "prompts", "blocked", "block_homes"}
        options = self._config.model_dump(mode="json", exclude=beside)
        options["prompt"] = self._prompt.hash if self._prompt else ""
        if self._blocked:
            options["blocked"] = self._blocked.entries
        text = json.dumps(options, sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        return PlayerRef(
            name=self._name,
            kind="web",
            model=self._config.visit.model if VISIT.name in self._config.tools else "",
            version=f"1 {self._config.engine} {digest}",
        )

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return tuple(_SPECS[name] for name in dict.fromkeys(self._config.tools))

    async def answer(self, call: ToolCall, context: WorldContext) -> ToolAnswer:
        if call.name not in self._config.tools:
            offered = ", ".join(spec.name for spec in self.tools)
            return self._refuse("tool", name=call.name[:80], tools=offered)
        if call.name == VISIT.name:
            return await self._visit(call, context)
        return await self._search(call, _MODES[call.name])

    async def close(self) -> None:
        await self._client.close()
        await self._visitor.close()

    async def _search(self, call: ToolCall, mode: Mode) -> ToolAnswer:
        query, topn = call.arguments.get("query"), call.arguments.get("topn")
        if not isinstance(query, str) or not query.strip():
            return self._refuse("query")
        if topn is None:
            topn = self._config.results
        if not isinstance(topn, int) or isinstance(topn, bool) or topn < 1:
            return self._refuse("topn")
        try:
            found = await self._client.search(query.strip(), topn, mode)
        except EngineError as error:
            return ToolAnswer(text=failure_text(error, self._language), ok=False)
        blocked = tuple(entry.url for entry in found if self._blocked.blocks(entry.url))
        entries = tuple(entry for entry in found if entry.url not in blocked)
        text = as_text(entries) if entries else WORDS[self._language]["nothing"]
        return ToolAnswer(text=text, entries=entries, blocked=blocked)

    async def _visit(self, call: ToolCall, context: WorldContext) -> ToolAnswer:
        urls = call.arguments.get("urls", call.arguments.get("url"))
        listed = [urls] if isinstance(urls, str) else urls
        if not isinstance(listed, list) or not listed:
            return self._refuse("urls")
        addresses = [url.strip() for url in listed if isinstance(url, str) and url.strip()]
        if len(addresses) != len(listed):
            return self._refuse("urls")
        addresses = list(dict.fromkeys(addresses))
        if len(addresses) > MOST_PAGES:
            return self._refuse("many", most=str(MOST_PAGES))
        goal = call.arguments.get("goal", "")
        if not isinstance(goal, str):
            return self._refuse("goal")
        return await self._visitor.visit(addresses, goal.strip(), context)

    def _refuse(self, reason: str, **values: str) -> ToolAnswer:
        return ToolAnswer(text=WORDS[self._language][reason].format(**values), ok=False)


def as_text(entries: tuple[SearchEntry, ...]) -> str:
    """Search results as an agent reads them."""
    return "\n\n".join(
        f"[{number}] {e.title}"
        + (f" ({e.date})" if e.date else "")
        + f"\n{e.url}"
        + (f"\n{e.content}" if e.content else "")
        for number, e in enumerate(entries, 1)
    )


def web_world(
    name: str, web: WebWorldConfig, config: Config, language: TaskLanguage, hub: ModelHub
) -> WebWorld:
    """The web world for one trial. Raises `ConfigError` if the engine's address or key is missing, it lacks one of the
    tools, the model does not exist, or a prompt is unusable.
    """
    engine = engine_called(web.engine)
    lacking = [tool for tool in web.tools if tool in _MODES and _MODES[tool] not in engine.modes]
    if lacking:
        raise ConfigError(
            _("A tool cannot be offered"),
            _("the search engine {name} has no {tool}").format(name=engine.name, tool=lacking[0]),
            _("leave it out of tools, or use searxng or serper"),
        )
    summariser = prompt = None
    if web.visit.model and VISIT.name in web.tools:
        prompt = find_prompt("visit_summary", language, config, web.prompts)
        summariser = Summariser(hub.client(web.visit.model), prompt, language)
    blocked = BlockList((*(HOMES if web.block_homes else ()), *web.blocked))
    visitor = Visitor(Fetcher(web.visit, language, blocked=blocked), language, summariser)
    return WebWorld(name, web, language, EngineClient(engine, web), visitor, prompt, blocked)


def make_world(
    name: str, web: WebWorldConfig, config: Config, hub: ModelHub, task: Task, *_rest: object
) -> WebWorld:
    """The world for one trial of `task`, as `web_world`."""
    return web_world(name, web, config, task.language, hub)

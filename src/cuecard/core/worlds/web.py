"""The real web: a search engine, and pages fetched for the agent."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from cuecard.core.config_models import Config
from cuecard.core.config_players import WebWorldConfig
from cuecard.core.errors import ConfigError
from cuecard.core.i18n import _
from cuecard.core.parts import PlayerRef, SearchEntry, ToolAnswer, ToolCall, ToolSpec, WorldDesk
from cuecard.core.prompts import Prompt, find_prompt
from cuecard.core.tasks import TaskLanguage
from cuecard.core.worlds.engines.base import EngineError, Mode
from cuecard.core.worlds.engines.client import EngineClient
from cuecard.core.worlds.engines.registry import engine_called
from cuecard.core.worlds.fetching import Fetcher
from cuecard.core.worlds.tool_specs import SCHOLAR_SEARCH, SEARCH_WEB, VISIT, WEB_SEARCH
from cuecard.core.worlds.visit import MOST_PAGES, Summariser, Visitor
from cuecard.core.worlds.web_words import WORDS, say_trouble

if TYPE_CHECKING:
    from cuecard.core.llm.hub import ModelHub

_SPECS = {spec.name: spec for spec in (SEARCH_WEB, WEB_SEARCH, SCHOLAR_SEARCH, VISIT)}
_MODES: dict[str, Mode] = {"search": "web", "web_search": "web", "scholar_search": "scholar"}


class WebWorld:
    """Answers `search`, `web_search`, `scholar_search` and `visit` from the live web.

    What goes wrong is said in the answer, in the task's language. Every answer's entries hold what
    the engine gave, or the text of the pages, so that a recorded run can be read and replayed.
    """

    def __init__(
        self,
        name: str,
        config: WebWorldConfig,
        language: TaskLanguage,
        client: EngineClient,
        visitor: Visitor,
        prompt: Prompt | None = None,
    ) -> None:
        self._name = name
        self._config = config
        self._language: TaskLanguage = language
        self._client = client
        self._visitor = visitor
        self._prompt = prompt

    @property
    def ref(self) -> PlayerRef:
        options = self._config.model_dump(mode="json", exclude={"python", "prompts"})
        options["prompt"] = self._prompt.hash if self._prompt else ""
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

    async def answer(self, call: ToolCall, desk: WorldDesk) -> ToolAnswer:
        if call.name not in self._config.tools:
            offered = ", ".join(spec.name for spec in self.tools)
            return self._refuse("tool", name=call.name[:80], tools=offered)
        if call.name == VISIT.name:
            return await self._visit(call, desk)
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
            entries = tuple(await self._client.search(query.strip(), topn, mode))
        except EngineError as error:
            return ToolAnswer(text=say_trouble(error, self._language), ok=False)
        text = as_text(entries) if entries else WORDS[self._language]["nothing"]
        return ToolAnswer(text=text, entries=entries)

    async def _visit(self, call: ToolCall, desk: WorldDesk) -> ToolAnswer:
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
        return await self._visitor.visit(addresses, goal.strip(), desk)

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
    """A world for one trial. Raises `ConfigError`: no address or key of the engine, a tool that the
    engine does not have, no such model, an unusable prompt.
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
    visitor = Visitor(Fetcher(web.visit, language), language, summariser)
    return WebWorld(name, web, language, EngineClient(engine, web), visitor, prompt)

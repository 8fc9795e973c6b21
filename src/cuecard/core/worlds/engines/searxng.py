"""SearXNG: a metasearch engine of one's own (its JSON format must be switched on)."""

from __future__ import annotations

from pydantic import JsonValue

from cuecard.core.parts import SearchEntry
from cuecard.core.text import is_cjk
from cuecard.core.worlds.engines.base import (
    Asking,
    EngineError,
    Mode,
    Trouble,
    entry,
    kept,
    results,
)

_CATEGORIES: dict[Mode, str] = {"web": "general", "scholar": "science"}


class SearXNG:
    """https://docs.searxng.org/dev/search_api.html; one page, of as many results as the engines give."""

    name = "searxng"
    address = ""
    modes: tuple[Mode, ...] = ("web", "scholar")
    most = 50
    query_chars = 2000

    def asking(self, base: str, key: str, query: str, count: int, mode: Mode) -> Asking:
        del count
        params = {"q": query, "format": "json", "categories": _CATEGORIES[mode]}
        if is_cjk(query):
            params["language"] = "zh-CN"
        # SearXNG itself knows no keys; the proxy that often stands before it does.
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return Asking(f"{base}/search", params, headers)

    def entries(self, answer: JsonValue, mode: Mode) -> list[SearchEntry]:
        del mode
        found = kept(
            entry(r.get("title"), r.get("content"), r.get("url"), r.get("publishedDate"))
            for r in results(answer, "results")
        )
        # Engines that block an instance leave it with nothing, which is not "nothing was found".
        if not found and isinstance(answer, dict) and answer.get("unresponsive_engines"):
            raise EngineError(Trouble.EMPTY_HANDED)
        return found

    def trouble(self, status: int, said: str) -> Trouble | None:
        del said
        return Trouble.NO_JSON if status == 403 else None

"""Brave Search: https://api-dashboard.search.brave.com/app/documentation/web-search."""

from __future__ import annotations

from pydantic import JsonValue

from cuecard.core.parts import SearchEntry
from cuecard.core.text import is_cjk
from cuecard.core.worlds.engines.base import Asking, Mode, Trouble, entry, kept, results
from cuecard.core.worlds.page_text import inline_text


class Brave:
    name = "brave"
    address = "https://api.search.brave.com/res/v1"
    modes: tuple[Mode, ...] = ("web",)
    most = 20
    query_chars = 400

    def asking(self, base: str, key: str, query: str, count: int, mode: Mode) -> Asking:
        del mode
        params = {
            "q": query,
            "count": str(count),
            "text_decorations": "false",
            "result_filter": "web",
        }
        if is_cjk(query):
            params |= {"country": "CN", "search_lang": "zh-hans"}
        headers = {"X-Subscription-Token": key, "Accept": "application/json"}
        return Asking(f"{base}/web/search", params, headers)

    def entries(self, answer: JsonValue, mode: Mode) -> list[SearchEntry]:
        del mode
        return kept(_entry(r) for r in results(answer, "web", "results"))

    def trouble(self, status: int, said: str) -> Trouble | None:
        # Answers about the rate name the quota too: only the codes tell the two apart.
        if status == 422 and "SUBSCRIPTION_TOKEN" in said:
            return Trouble.KEY
        return Trouble.QUOTA if status == 429 and "QUOTA_LIMITED" in said else None


def _entry(result: dict[str, JsonValue]) -> SearchEntry | None:
    # Brave gives pieces of HTML, also without decorations.
    pieces = [result.get("description"), *_list(result.get("extra_snippets"))]
    content = "\n".join(inline_text(piece) for piece in pieces if isinstance(piece, str))
    title = result.get("title")
    return entry(
        inline_text(title) if isinstance(title, str) else "",
        content,
        result.get("url"),
        result.get("page_age") or result.get("age"),
    )


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []

"""Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search."""

from __future__ import annotations

from pydantic import JsonValue

from cuecard.core.parts import SearchEntry
from cuecard.core.worlds.engines.base import Asking, Mode, Trouble, entry, kept, results


class Tavily:
    name = "tavily"
    address = "https://api.tavily.com"
    modes: tuple[Mode, ...] = ("web",)
    most = 20
    query_chars = 400

    def asking(self, base: str, key: str, query: str, count: int, mode: Mode) -> Asking:
        del mode
        body: dict[str, JsonValue] = {
            "query": query,
            "max_results": count,
            "search_depth": "basic",
            "include_answer": False,
            "include_raw_content": False,
        }
        return Asking(f"{base}/search", headers={"Authorization": f"Bearer {key}"}, body=body)

    def entries(self, answer: JsonValue, mode: Mode) -> list[SearchEntry]:
        del mode
        return kept(
            entry(r.get("title"), r.get("content"), r.get("url"), r.get("published_date"))
            for r in results(answer, "results")
        )

    def trouble(self, status: int, said: str) -> Trouble | None:
        del said
        return Trouble.QUOTA if status in (432, 433) else None

"""Serper: Google and Google Scholar as JSON (https://serper.dev)."""

from __future__ import annotations

from pydantic import JsonValue

from cuecard.core.parts import SearchEntry
from cuecard.core.text import is_cjk
from cuecard.core.worlds.engines.base import Asking, Mode, Trouble, entry, kept, results

_PATHS: dict[Mode, str] = {"web": "search", "scholar": "scholar"}


class Serper:
    name = "serper"
    address = "https://google.serper.dev"
    modes: tuple[Mode, ...] = ("web", "scholar")
    most = 50
    query_chars = 2000

    def asking(self, base: str, key: str, query: str, count: int, mode: Mode) -> Asking:
        chinese = is_cjk(query)
        body: dict[str, JsonValue] = {
            "q": query,
            "num": count,
            "gl": "cn" if chinese else "us",
            "hl": "zh-cn" if chinese else "en",
        }
        return Asking(f"{base}/{_PATHS[mode]}", headers={"X-API-KEY": key}, body=body)

    def entries(self, answer: JsonValue, mode: Mode) -> list[SearchEntry]:
        found = results(answer, "organic")
        if mode == "scholar":
            return kept(_paper(r) for r in found)
        return kept(
            entry(r.get("title"), r.get("snippet"), r.get("link"), r.get("date")) for r in found
        )

    def trouble(self, status: int, said: str) -> Trouble | None:
        return Trouble.QUOTA if status == 400 and "credit" in said.casefold() else None


def _paper(result: dict[str, JsonValue]) -> SearchEntry | None:
    parts = [_publication(result.get("publicationInfo")), result.get("snippet")]
    if isinstance(cited := result.get("citedBy"), int):
        parts.append(f"Cited by {cited}.")
    content = "\n".join(part for part in parts if isinstance(part, str) and part)
    link = result.get("link") or result.get("pdfUrl") or result.get("htmlUrl")
    return entry(result.get("title"), content, link, result.get("year"))


def _publication(value: JsonValue) -> JsonValue:
    """A text, or, as older answers have it, an object with one."""
    return value.get("summary") if isinstance(value, dict) else value

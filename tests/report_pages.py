"""Reading a report's page as a browser would, and looking its figures up in the JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "br", "hr", "img", "input", "link", "line", "path", "rect", "circle", "polygon"}


@dataclass
class Page:
    """`tags` with their attributes in their order; `cells`: of every `td` its attributes and text. `wrong`: tags that
    were closed out of turn or never.
    """

    tags: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    cells: list[tuple[dict[str, str], str]] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def page_of(source: str) -> Page:
    reader = _Reader()
    reader.feed(source)
    reader.close()
    reader.page.wrong += reader.open
    return reader.page


def looked_up(data: dict[str, Any], key: str) -> Any:
    """What stands at a figure's key in `cuecard score --json`. Raises `KeyError` where nothing does."""
    found: Any = data
    for group in data["groups"]:
        place = f"groups/{group['agent']}/{group['family']}/"
        if key.startswith(place):
            found, key = group, key.removeprefix(place)
            break
    for name in data["totals"]["agents"]:
        if key.startswith(f"totals/agents/{name}/"):
            found = data["totals"]["agents"][name]
            key = key.removeprefix(f"totals/agents/{name}/")
            break
    for part in key.split("/"):
        found = found[int(part) if isinstance(found, list) else part]
    return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        data = {name: value or "" for name, value in attrs}
        self.page.tags.append((tag, data))
        if tag == "td":
            self.page.cells.append((data, ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.page.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.page.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        if "script" in self.open:
            self.page.scripts.append(data)
        elif "style" not in self.open:
            self.page.text.append(data)
        if "td" in self.open:
            attributes, text = self.page.cells[-1]
            self.page.cells[-1] = (attributes, text + data)

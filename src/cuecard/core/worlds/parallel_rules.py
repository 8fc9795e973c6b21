"""The rules of a parallel world: what a search engine played by a model may answer."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import contains_term, one_line
from cuecard.core.worlds.parallel_leaks import Excuse, Leaks, holds
from cuecard.core.worlds.parallel_shape import EngineEntry, EngineReply
from cuecard.core.worlds.parallel_sheet import LABEL, FactSheet
from cuecard.core.worlds.statements import Statement

ENTRIES = 4
MAX_TITLE, MAX_CONTENT = 300, 3000
_SAID: dict[TaskLanguage, dict[str, str]] = {
    "en": {
        "count": "`entries` must have exactly {wanted} entries, not {n}.",
        "blank": "Entry {n} has no title or no content.",
        "long": "Entry {n} is too long: at most {title} characters of title, {content} of content.",
        "compound": "A compound query is never a hit: `hit` must be 0.",
        "several": "`matched_fact_keys` may have one label at most. A query that needs several facts"
        " is compound.",
        "missing": "`hit` is 1, so `matched_fact_keys` must have the label of the fact.",
        "idle": "`hit` is 0, so `matched_fact_keys` must be empty.",
        "unknown": "There is no fact with the label {label}.",
        "unnamed": "{label} may be stated only to a query that names {names}. This one does not: it"
        " is no hit.",
        "unsaid": "No entry states the value of {label}. Exactly one must, word for word: {value}",
        "leak": "Entry {n} contains “{value}”, which it must not. Apart from the one entry that states"
        " the matched fact, no entry may hold a value of any fact; leave out figures.",
        "label": "Entry {n} contains a label of the fact sheet. Labels are never shown.",
    },
    "zh": {
        "count": "`entries` 必须恰好有 {wanted} 条，而不是 {n} 条。",
        "blank": "第 {n} 条没有标题或没有内容。",
        "long": "第 {n} 条太长：标题最多 {title} 个字符，内容最多 {content} 个字符。",
        "compound": "复合查询不算命中，`hit` 必须为 0。",
        "several": "`matched_fact_keys` 最多只能有一个标签。需要多条事实的查询是复合查询。",
        "missing": "`hit` 为 1 时，`matched_fact_keys` 必须写出该事实的标签。",
        "idle": "`hit` 为 0 时，`matched_fact_keys` 必须为空。",
        "unknown": "没有标签为 {label} 的事实。",
        "unnamed": "只有查询点名 {names} 时才能说出 {label}。这次的查询没有点名，不算命中。",
        "unsaid": "没有一条写出 {label} 的值。必须恰好有一条照原文写出：{value}",
        "leak": "第 {n} 条含有“{value}”，这是不允许的。除了写出命中事实的那一条，任何一条都不能含有"
        "任何事实的值；不要写数字。",
        "label": "第 {n} 条含有事实表的标签。标签绝不能出现。",
    },
}


class Rules:
    """Judges replies to one world's queries, deterministically."""

    def __init__(self, sheet: FactSheet, leaks: Leaks, language: TaskLanguage) -> None:
        self._sheet = sheet
        self._leaks = leaks
        self._said = _SAID[language]

    def complaint(self, query: str, reply: EngineReply) -> str:
        """Everything that is wrong with a reply, in words for the model; empty if nothing is."""
        return "\n".join(dict.fromkeys((*self._flags(query, reply), *self._entries(query, reply))))

    def matched(self, reply: EngineReply) -> Statement | None:
        """The one statement that a reply says it hit."""
        labels = _labels(reply)
        return self._sheet.find(labels[0]) if reply.hit and len(labels) == 1 else None

    def stating(self, reply: EngineReply) -> int | None:
        """The place of the entry that states the matched statement's value."""
        matched = self.matched(reply)
        if matched is None:
            return None
        places = (n for n, entry in enumerate(reply.entries) if holds(_text(entry), matched))
        return next(places, None)

    def _flags(self, query: str, reply: EngineReply) -> Iterator[str]:
        labels = _labels(reply)
        if len(labels) > 1:
            yield self._said["several"]
        for label in labels:
            if self._sheet.find(label) is None:
                yield self._said["unknown"].format(label=one_line(label, 80))
        if reply.is_compound_query and reply.hit:
            yield self._said["compound"]
        if reply.hit and not labels:
            yield self._said["missing"]
        if not reply.hit and labels:
            yield self._said["idle"]
        matched = self.matched(reply)
        if matched and matched.step and matched.step.anchors:
            anchors = matched.step.anchors
            if not any(contains_term(query, name) for names in anchors for name in names):
                wanted = " / ".join(one_line(name, 80) for name, *_aliases in anchors)
                yield self._said["unnamed"].format(label=_labels(reply)[0], names=wanted)

    def _entries(self, query: str, reply: EngineReply) -> Iterator[str]:
        if len(reply.entries) != ENTRIES:
            yield self._said["count"].format(wanted=ENTRIES, n=len(reply.entries))
        matched, stating = self.matched(reply), self.stating(reply)
        if matched and stating is None:
            value = one_line(matched.value, 400)
            yield self._said["unsaid"].format(label=_labels(reply)[0], value=value)
        excuse = self._leaks.excused(query)
        for place, entry in enumerate(reply.entries):
            told = excuse
            if matched and place == stating:
                told = self._leaks.stating(excuse, matched)
            yield from self._entry(place + 1, entry, told)

    def _entry(self, n: int, entry: EngineEntry, excuse: Excuse) -> Iterator[str]:
        if not entry.title.strip() or not entry.content.strip():
            yield self._said["blank"].format(n=n)
        if len(entry.title) > MAX_TITLE or len(entry.content) > MAX_CONTENT:
            yield self._said["long"].format(n=n, title=MAX_TITLE, content=MAX_CONTENT)
            return
        if LABEL.search(_text(entry)):
            yield self._said["label"].format(n=n)
        if value := self._leaks.found_in(_text(entry), excuse):
            yield self._said["leak"].format(n=n, value=one_line(value, 200))


def _labels(reply: EngineReply) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label.strip() for label in reply.matched_fact_keys))


def _text(entry: EngineEntry) -> str:
    return f"{entry.title}\n{entry.content}"

"""Tool calls in words, and the sources (pages) that a dialogue is based on."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cuecard.core.engine.events import AgentSpoke, Event, ModelReplied, ToolAnswered
from cuecard.core.engine.messages import SearchEntry, ToolCall
from cuecard.core.i18n import _, beside, listed, ngettext, pgettext, plural
from cuecard.core.text import contains_term, normalise, one_line, storable
from cuecard.tui.grid.cells import GridCell
from cuecard.tui.present.entries import Entry, Paragraph, Piece
from cuecard.tui.present.labels import short_tokens_label

_QUERIES = ("query", "queries", "q", "question")
_ADDRESSES = ("urls", "url", "address")


def queries_of(call: ToolCall) -> list[str]:
    """What was searched for."""
    return _texts(call, _QUERIES)


def addresses_of(call: ToolCall) -> list[str]:
    """The pages that were asked for: where there are any, the call is a visit."""
    return _texts(call, _ADDRESSES)


def goal_of(call: ToolCall) -> str:
    """What for, where the call says so."""
    goal = call.arguments.get("goal")
    return goal if isinstance(goal, str) else ""


def arguments_of(call: ToolCall) -> str:
    """The only string argument bare (a query reads best so), anything else as JSON."""
    if call.broken:
        return call.broken
    if len(call.arguments) == 1:
        (value,) = call.arguments.values()
        if isinstance(value, str):
            return value
    return json.dumps(call.arguments, ensure_ascii=False)


def title_of(call: ToolCall) -> str:
    """The tool and what it was asked for."""
    queries, addresses = queries_of(call), addresses_of(call)
    asked = " · ".join(addresses or queries) or arguments_of(call)
    return f"{one_line(call.name, 40)}: {asked}"


def _texts(call: ToolCall, names: tuple[str, ...]) -> list[str]:
    for name in names:
        value = call.arguments.get(name)
        if isinstance(value, str) and value.strip():
            return [value]
        if isinstance(value, list):
            return [text for text in value if isinstance(text, str) and text.strip()]
    return []


PAGE = 1_500
"""Characters shown of a visited page; the sources show all that was seen of it."""


@dataclass
class Work:
    """`add` the calls as they come; `entry` says what there was by now."""

    part: str
    turn: int
    paragraphs: list[Paragraph] = field(default_factory=list[Paragraph])
    kinds: Counter[str] = field(default_factory=Counter[str])
    hits: int = 0
    hit_known: bool = False
    pages: int = 0
    refused: int = 0
    models: int = 0
    tokens: int = 0
    left_out: list[int] = field(default_factory=list[int])
    events: list[int] = field(default_factory=list[int])
    starts: list[int] = field(default_factory=list[int])

    def add(self, body: ModelReplied | ToolAnswered, seq: int) -> None:
        """Take in event `seq`."""
        self.events.append(seq)
        self.starts.append(len(self.paragraphs))
        if isinstance(body, ModelReplied):
            self._add_model(body)
        else:
            self._add_tool(body)

    def entry(self) -> Entry:
        head = Piece(" · ".join(filter(None, (_part_label(self.part), *self._counts()))), "work")
        return Entry(
            "work",
            self.turn,
            (head,),
            fold=tuple(self.paragraphs),
            left_out=tuple(self.left_out),
            events=tuple(self.events),
            starts=tuple(self.starts),
        )

    def _counts(self) -> list[str]:
        counts: list[str] = []
        if tools := self.kinds.total():
            said = ngettext("{n} tool call", "{n} tool calls", tools).format(n=tools)
            if len(self.kinds) > 1:
                kinds = (f"{n} {kind}" for kind, n in self.kinds.most_common())
                said = beside(said, listed(kinds, 4))
            counts.append(said)
        if self.hit_known:
            counts.append(ngettext("{n} hit", "{n} hits", self.hits).format(n=self.hits))
        if self.pages:
            counts.append(ngettext("{n} page", "{n} pages", self.pages).format(n=self.pages))
        if self.refused:
            counts.append(plural("{n} refused", "{n} refused", self.refused))
        if self.models:
            counts.append(plural("{n} model call", "{n} model calls", self.models))
        if self.tokens:
            counts.append(short_tokens_label(self.tokens))
        return counts

    def _add_model(self, body: ModelReplied) -> None:
        reply = body.reply
        self.models += 1
        self.tokens += reply.usage.prompt + reply.usage.completion
        label = _("Model call: {model}").format(model=one_line(reply.model or body.model, 60))
        self.paragraphs.append(Paragraph(_within(body.scope) + label, "work", 2))
        if reply.reasoning:
            self.paragraphs.append(Paragraph(reply.reasoning, "muted", 4))
        if reply.text and reply.tool_calls:
            self.paragraphs.append(Paragraph(reply.text, "plain", 4))

    def _add_tool(self, body: ToolAnswered) -> None:
        call, answer = body.call, body.answer
        self.kinds[one_line(call.name, 24)] += 1
        say = self.paragraphs.append
        say(Paragraph(_within(body.scope) + title_of(call), "work", 2))
        if goal := goal_of(call):
            say(Paragraph(_("goal: {goal}").format(goal=goal), "muted", 4))
        if answer.hit is not None:
            self.hit_known = True
            self.hits += answer.hit.hit
            say(_hit(body))
        if not answer.ok:
            self.refused += 1
            say(Paragraph(answer.text, "bad", 4))
            return
        asked = len(addresses_of(call))
        self.pages += (len(answer.entries) or 1) if asked else 0
        for entry in answer.entries:
            self._add_found(entry, PAGE if asked else None)
        if not answer.entries:
            say(Paragraph(answer.text, "plain", 4))
        elif len(answer.entries) < asked:
            read = plural("{read} of {n} page could be read", "{read} of {n} pages could be read", asked, read=len(answer.entries))  # fmt: skip
            say(Paragraph(read, "bad", 4))

    def _add_found(self, entry: SearchEntry, most: int | None) -> None:
        title = " · ".join(filter(None, (entry.title, entry.date, entry.url)))
        self.paragraphs.append(Paragraph(title, "strong", 4))
        text = entry.content
        if most is not None and len(text) > most:
            more = _("{n} more characters").format(n=f"{len(text) - most:,}")
            text = beside(f"{text[:most]}…", more)
        if text:
            self.paragraphs.append(Paragraph(text, "plain", 6))


def shows_text(body: ModelReplied | ToolAnswered) -> bool:
    """Whether the fold shows what may be large; a reply that was spoken stands in its own entry."""
    if isinstance(body, ToolAnswered):
        return True
    return bool(body.reply.reasoning or body.reply.tool_calls)


def _part_label(part: str) -> str:
    match part:
        case "user":
            return _("User part")
        case "conclusion":
            return _("Conclusion")
        case _:
            return ""


def _within(scope: str) -> str:
    """Whose call it was, where it was not the part's own: `member 1 · `."""
    return f"{one_line(scope.strip('/').replace('/', ' '), 40)} · " if scope else ""


def _hit(body: ToolAnswered) -> Paragraph:
    hit = body.answer.hit
    assert hit is not None
    if hit.hit:
        words = [_("hit: {keys}").format(keys=listed(hit.matched_fact_keys) or "?")]
    else:
        words = [_("no hit")]
    if hit.is_compound:
        words.append(_("compound query"))
    if hit.reason:
        words.append(hit.reason)
    return Paragraph(" · ".join(words), "good" if hit.hit else "bad", 4)


_TELLING = 4
"""Characters from which on a title in a reply is taken for a citation."""


@dataclass(frozen=True)
class Source:
    """A page by its address, or by its title where it has none. `turns` counts from 0, in order.
    `found_by`: the queries whose results it was among. `visited`: it was opened, for `goals`. `cited`: its
    address or title stands in a reply of the agent. `text`: the longest of what was seen of it.
    """

    url: str
    title: str
    date: str
    turns: tuple[int, ...]
    found_by: tuple[str, ...]
    visited: bool
    goals: tuple[str, ...]
    cited: bool
    text: str


@dataclass
class _Gathered:
    url: str = ""
    title: str = ""
    date: str = ""
    text: str = ""
    visited: bool = False
    turns: dict[int, None] = field(default_factory=dict[int, None])
    found_by: dict[str, None] = field(default_factory=dict[str, None])
    goals: dict[str, None] = field(default_factory=dict[str, None])

    def take(self, entry: SearchEntry, body: ToolAnswered, *, visited: bool) -> None:
        self.url = self.url or entry.url
        self.title = self.title or entry.title
        self.date = self.date or entry.date
        if len(entry.content) > len(self.text):
            self.text = entry.content
        self.turns[body.turn] = None
        if visited:
            self.visited = True
            self.goals |= dict.fromkeys(filter(None, [goal_of(body.call)]))
        else:
            self.found_by |= dict.fromkeys(queries_of(body.call))


def sources_of(events: Iterable[Event]) -> list[Source]:
    """The sources of a effective log in the order in which they came up."""
    gathered: dict[str, _Gathered] = {}
    said: list[str] = []
    for event in events:
        body = event.body
        if isinstance(body, AgentSpoke):
            said.append(body.reply.text)
        elif isinstance(body, ToolAnswered) and body.answer.ok:
            visited = bool(addresses_of(body.call))
            for entry in _pages(body):
                if key := _key(entry):
                    gathered.setdefault(key, _Gathered()).take(entry, body, visited=visited)
    replies = normalise("\n".join(said))
    return [_source(one, replies) for one in gathered.values()]


def matching(sources: Sequence[Source], typed: str) -> list[Source]:
    """Those that hold every word of `typed` in title, address or query."""
    words = normalise(typed).split()
    if not words:
        return list(sources)
    found: list[Source] = []
    for source in sources:
        text = normalise(" ".join((source.title, source.url, *source.found_by, *source.goals)))
        if all(word in text for word in words):
            found.append(source)
    return found


def _pages(body: ToolAnswered) -> Iterable[SearchEntry]:
    """What a call brought; of a tool that only gives text, the one page that was asked for."""
    addresses = addresses_of(body.call)
    if body.answer.entries or len(addresses) != 1:
        return body.answer.entries
    return (SearchEntry(id="", title="", content=body.answer.text, url=storable(addresses[0])),)


def _key(entry: SearchEntry) -> str:
    bare = _bare(entry.url)
    return bare or (f" {normalise(entry.title)}" if entry.title.strip() else "")


def _bare(url: str) -> str:
    """An address without what does not tell pages apart."""
    return url.strip().partition("#")[0].partition("://")[2].rstrip("/") or url.strip()


def _source(one: _Gathered, replies: str) -> Source:
    address, title = normalise(_bare(one.url)), normalise(one.title)
    cited = bool(address) and address in replies
    if not cited and len(title) >= _TELLING and title in replies:
        cited = contains_term(replies, title)
    return Source(
        url=one.url,
        title=one.title,
        date=one.date,
        turns=tuple(sorted(one.turns)),
        found_by=tuple(one.found_by),
        visited=one.visited,
        goals=tuple(one.goals),
        cited=cited,
        text=one.text,
    )


def row_of(source: Source) -> list[GridCell]:
    """What became of it, title, address, turns."""
    return [
        GridCell(
            page_use(source), "good" if source.cited else "plain" if source.visited else "muted"
        ),
        GridCell(source.title or "–"),
        GridCell(source.url.partition("://")[2] or source.url, "muted"),
        GridCell(_turns(source), "muted"),
    ]


def page_use(source: Source) -> str:
    """Whether the agent only found it, opened it, or names it in a reply."""
    words = [_("visited") if source.visited else pgettext("a page came up in a search", "found")]
    if source.cited:
        words.append(_("cited"))
    return listed(words)


def detail_of(source: Source) -> list[list[Piece]]:
    """The query that found it, what it was visited for, and the beginning of its text."""
    lines: list[list[Piece]] = []
    if source.found_by:
        queries = " · ".join(source.found_by)
        lines.append([Piece(_("found by: "), "muted"), Piece(one_line(queries, 200))])
    if source.goals:
        lines.append(
            [Piece(_("visited for: "), "muted"), Piece(one_line(" · ".join(source.goals), 200))]
        )
    lines.append([Piece(one_line(source.text, 300), "muted")])
    return lines[:3]


def source_entry(source: Source) -> Entry:
    """All that was seen of it."""
    head = [Piece(one_line(source.title or source.url, 300), "strong")]
    head.append(Piece(f" · {page_use(source)}", "muted"))
    body = [Paragraph(text, "link") for text in (source.url,) if text]
    known = [source.date, _("turns {list}").format(list=_turns(source))]
    body.append(Paragraph(" · ".join(filter(None, known)), "muted"))
    for label, values in ((_("found by: "), source.found_by), (_("visited for: "), source.goals)):
        body += [Paragraph(label + one_line(value, 500), "muted") for value in values]
    body += [Paragraph(""), *(Paragraph(part) for part in source.text.split("\n"))]
    return Entry("handed", 0, tuple(head), tuple(body))


def _turns(source: Source) -> str:
    return listed(str(turn + 1) for turn in source.turns)

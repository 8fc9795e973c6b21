"""The calls of one part in one turn as one line of counts, which opens to what was asked and found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from cuecard.core.events import ModelReplied, ToolAnswered
from cuecard.core.i18n import _, ngettext
from cuecard.core.parts import SearchEntry
from cuecard.core.text import one_line
from cuecard.tui.state.entries import Entry, Paragraph, Piece
from cuecard.tui.state.labels import short_tokens_label
from cuecard.tui.state.tool_words import addresses_of, goal_of, title_of

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
                kinds = ", ".join(f"{n} {kind}" for kind, n in self.kinds.most_common(4))
                said = f"{said} ({kinds}{', …' if len(self.kinds) > 4 else ''})"
            counts.append(said)
        if self.hit_known:
            counts.append(ngettext("{n} hit", "{n} hits", self.hits).format(n=self.hits))
        if self.pages:
            counts.append(ngettext("{n} page", "{n} pages", self.pages).format(n=self.pages))
        if self.refused:
            counts.append(
                ngettext("{n} refused", "{n} refused", self.refused).format(n=self.refused)
            )
        if self.models:
            counts.append(
                ngettext("{n} model call", "{n} model calls", self.models).format(n=self.models)
            )
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
            read = _("{n} of {all} pages could be read").format(n=len(answer.entries), all=asked)
            say(Paragraph(read, "bad", 4))

    def _add_found(self, entry: SearchEntry, most: int | None) -> None:
        title = " · ".join(filter(None, (entry.title, entry.date, entry.url)))
        self.paragraphs.append(Paragraph(title, "strong", 4))
        text = entry.content
        if most is not None and len(text) > most:
            more = _("{n} more characters").format(n=f"{len(text) - most:,}")
            text = f"{text[:most]}… ({more})"
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
        words = [_("hit: {keys}").format(keys=", ".join(hit.matched_fact_keys) or "?")]
    else:
        words = [_("no hit")]
    if hit.is_compound:
        words.append(_("compound query"))
    if hit.reason:
        words.append(hit.reason)
    return Paragraph(" · ".join(words), "good" if hit.hit else "bad", 4)

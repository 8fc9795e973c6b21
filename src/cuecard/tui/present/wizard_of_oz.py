"""The state of the window of a person who plays the agent: instructions, dialogue, and typed lines as tool calls."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from cuecard.core.agents.briefing import PublicTask
from cuecard.core.engine.events import AgentSpoke, ToolAnswered, UserSpoke
from cuecard.core.engine.messages import ToolCall, ToolSpec
from cuecard.core.engine.step_context import ReplyMove, ToolMove
from cuecard.core.evaluation.wizard_of_oz import Briefing, PlayerView
from cuecard.core.families.common import NOTHING
from cuecard.core.i18n import _, headed, joined, listed, plural, spaced
from cuecard.core.predictions import UnusablePrediction
from cuecard.core.text import one_line, storable
from cuecard.tui.families import TUI, HandIn
from cuecard.tui.present.entries import Entry, Paragraph, Piece
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.labels import FAMILY, LANGUAGE_LABEL
from cuecard.tui.present.transcript import entries_of


def asked_of(briefing: Briefing) -> list[str]:
    """What the person is to do, in plain words, a paragraph each."""
    user = one_line(briefing.user, 40)
    told = TUI[briefing.task.family]
    task, end = _(told.asked), _(told.ends)
    only = _("Use nothing but this window: what you know or find elsewhere spoils the comparison.")
    return [joined((task.format(user=user), end)), only]


def model_prompt(briefing: Briefing) -> str:
    """All that a model would get in this place: what it is told, its tools, what it is asked at the end."""
    tools = [f"{tool.name}: {tool.description}" for tool in briefing.tools]
    return "\n\n".join(
        [
            *asked_of(briefing),
            _("What a model is told in your place:"),
            briefing.role.strip(),
            _("The tools:"),
            *(tools or ["-"]),
            _("What it is asked at the end:"),
            briefing.closing.strip(),
        ]
    )


def hand_in_hint(briefing: Briefing) -> str:
    """What to type to hand in, shown where nothing is typed yet."""
    return _(TUI[briefing.task.family].hint)


_URL = re.compile(r"https?://[^\s<>\"'，。；]+")


class NotACall(ValueError):
    """The line cannot be read as a call; the text says what is missing."""


def call_from(spec: ToolSpec, line: str, goal: str = "") -> ToolCall:
    """A tool with one text to give gets the line as it is; one that reads pages gets the addresses in it,
    and the rest as what is looked for (`goal` where there is none). Any other wants JSON.

    Raises `NotACall`.
    """
    line = storable(line).strip()
    if not line:
        raise NotACall(_("Type first what you look for."))
    properties = cast(dict[str, dict[str, Any]], spec.parameters.get("properties") or {})
    required = cast(list[str], spec.parameters.get("required") or [])
    if "urls" in properties:
        return ToolCall(name=spec.name, arguments=_pages(line, goal))
    if len(required) == 1 and properties.get(required[0], {}).get("type") == "string":
        return ToolCall(name=spec.name, arguments={required[0]: line})
    try:
        arguments = json.loads(line)
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        names = listed(properties)
        raise NotACall(_("{tool} wants a JSON object: {names}").format(tool=spec.name, names=names))
    return ToolCall(name=spec.name, arguments=cast(dict[str, Any], arguments))


def hint_for(spec: ToolSpec) -> str:
    """What to type for a call, in a few words."""
    properties = cast(dict[str, Any], spec.parameters.get("properties") or {})
    if "urls" in properties:
        return _("addresses of pages, and what you want to know from them")
    if "code" in properties:
        return _("a Python program in one line; print what you want")
    return _("one thing at a time: whose what?")


def _pages(line: str, goal: str) -> dict[str, Any]:
    urls = list(dict.fromkeys(_URL.findall(line)))
    if not urls:
        raise NotACall(_("Give the address of a page, beginning with http:// or https://."))
    wanted = one_line(_URL.sub(" ", line)) or one_line(goal, 500) or "-"
    return {"urls": urls, "goal": wanted}


FEW = 10
"""Searches left in a turn from which on they are counted aloud."""
QUIET = timedelta(minutes=3)
"""How long nothing may happen before the other window is asked about."""
SLOW = timedelta(seconds=15)
"""How long a move may wait to be carried out before the other window is asked about."""


@dataclass
class Typed:
    """What the person has typed, by place; `said`: their last reply, until it cannot be taken back any
    more. Kept on the disk.
    """

    reply: str = ""
    search: str = ""
    notes: str = ""
    hand_in: str = ""
    said: str = ""
    tool: str = ""

    def kept(self) -> dict[str, Any]:
        """As the file holds it; {} where there is nothing to keep."""
        values = asdict(self)
        return values if any(value for name, value in values.items() if name != "tool") else {}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Typed:
        names = (one.name for one in fields(cls))
        return cls(**{name: str(values.get(name, "")) for name in names})


@dataclass
class WizardOfOzState:
    """`follow` views in. `notice`: what has happened that the person should know of, until they go on."""

    briefing: Briefing
    typed: Typed = field(default_factory=Typed)
    view: PlayerView | None = None
    notice: str = ""
    _seen_at: datetime | None = None

    def follow(self, view: PlayerView, now: datetime | None = None) -> str:
        """Take in how things stand. Returns a reply of the person's own that was taken back and is theirs
        again to send, "" as a rule.
        """
        before, self.view = self.view, view
        if before is None or (before.newest, before.pending) != (view.newest, view.pending):
            self._seen_at = now or datetime.now(UTC)
        if before is None:
            self._forget_sent()
            return ""
        if view.taken_back == before.taken_back:
            return ""
        words = [sum(isinstance(e.body, UserSpoke) for e in v.events) for v in (before, view)]
        user = one_line(self.briefing.user, 40)
        if words[1] < words[0]:
            self.notice = _("{user} took back what they had said.").format(user=user)
        else:
            self.notice = _("{user} asks you to take your turn again.").format(user=user)
        given_back, self.typed.said = self.typed.said, ""
        return "" if given_back in self._said() else given_back

    @property
    def task(self) -> PublicTask:
        """What is known of the task by now."""
        columns = self.view.columns if self.view else ()
        return self.briefing.task.model_copy(update={"columns": columns})

    def sent(self, text: str) -> None:
        """A reply is on its way."""
        self.typed.said, self.typed.reply, self.notice = text, "", ""

    def searched(self) -> None:
        self.typed.search, self.notice = "", ""

    @property
    def entries(self) -> list[Entry]:
        """The dialogue under what is asked of the agent; what was found in this turn is open."""
        if self.view is None:
            return []
        entries = [self._asked(), *entries_of(self.view.events)]
        last = entries[-1]
        if last.role == "work" and last.turn == self.view.turn and self.view.phase != "over":
            entries[-1] = replace(last, body=last.fold, fold=())
        return [*entries, *self._on_its_way()]

    @property
    def heading(self) -> list[Piece]:
        user, view = one_line(self.briefing.user, 40), self.view
        glyph, _variable, family = FAMILY[self.briefing.task.family]
        pieces = [
            Piece(_("You play the agent for {user}").format(user=user), "agent"),
            Piece(
                f" · {glyph} {_(family)} · {LANGUAGE_LABEL[self.briefing.task.language]}", "muted"
            ),
        ]
        if view is not None:
            pieces.append(Piece(" · " + _("turn {n}").format(n=view.turn + 1), "muted"))
        return pieces

    def status(self, now: datetime | None = None) -> list[Piece]:
        """Whose turn it is, and for whom one waits."""
        view = self.view
        if view is None:
            return [Piece(_("Sitting down…"), "muted")]
        pieces = [Piece(f"↶ {self.notice}  ", "bad")] if self.notice else []
        user = one_line(self.briefing.user, 40)
        waited = (now or datetime.now(UTC)) - (self._seen_at or view.newest_at or datetime.now(UTC))
        match view.phase:
            case "user":
                begun = any(isinstance(e.body, UserSpoke) for e in view.events)
                text = _("Waiting for {user} to answer.") if begun else _("{user} begins.")
                pieces.append(Piece(text.format(user=user), "muted"))
                if self._quiet(now):
                    pieces.append(Piece(spaced(pieces[-1].text, self._is_it_open()), "muted"))
            case "stopped":
                text = _("{user} has interrupted you: wait until they go on.")
                pieces.append(Piece(text.format(user=user), "bad"))
            case "working":
                text = _("On its way: {user}'s window carries it out.").format(user=user)
                pieces.append(Piece(text, "muted"))
                if waited > SLOW:
                    pieces.append(Piece(spaced(pieces[-1].text, self._is_it_open()), "bad"))
            case "yours":
                pieces.append(Piece(self._your_turn(view), "stage"))
            case "hand_in":
                pieces.append(Piece(_("The dialogue is over: hand in what you found."), "stage"))
            case "over":
                pieces.append(Piece(_("This is over, thank you. Escape leaves."), "good"))
        return pieces

    def _your_turn(self, view: PlayerView) -> str:
        text = _("Your turn: search, then reply.")
        if self.briefing.choose_act:
            text = _("Your turn: search, then answer or ask back.")
        if view.calls_left <= 0:
            return _("Your turn: no more searches, reply with what you have.")
        if view.calls_left <= FEW:
            text += " " + plural("{n} search is left.", "{n} searches are left.", view.calls_left)
        return text

    def _quiet(self, now: datetime | None) -> bool:
        newest = self.view.newest_at if self.view else None
        return newest is not None and (now or datetime.now(UTC)) - newest > QUIET

    def _is_it_open(self) -> str:
        user = one_line(self.briefing.user, 40)
        return _("Nothing has come for a while: has {user} the session open?").format(user=user)

    def _said(self) -> list[str]:
        if self.view is None:
            return []
        return [e.body.reply.text for e in self.view.events if isinstance(e.body, AgentSpoke)]

    def _forget_sent(self) -> None:
        """What was sent just before a crash is not to be sent again."""
        pending = self.view.pending if self.view else None
        said = [*self._said()[-1:], pending.text if isinstance(pending, ReplyMove) else ""]
        if self.typed.reply.strip() in said:
            self.typed.reply = ""
        calls = [pending.call] if isinstance(pending, ToolMove) else []
        events = self.view.events if self.view else ()
        calls += [e.body.call for e in events if isinstance(e.body, ToolAnswered)][-1:]
        if any(self.typed.search.strip() in call.arguments.values() for call in calls):
            self.typed.search = ""

    def _asked(self) -> Entry:
        head = (
            Piece(_("What is asked of you"), "strong"),
            Piece(f" · {hint('{MENU} b', typing=True)} " + _("more"), "muted"),
        )
        return Entry("end", 0, head, tuple(Paragraph(text) for text in asked_of(self.briefing)))

    def _on_its_way(self) -> list[Entry]:
        if self.view is None or self.view.pending is None:
            return []
        move, turn = self.view.pending, self.view.turn
        mark = Piece(" · " + _("on its way"), "muted")
        if isinstance(move, ToolMove):
            told = listed(one_line(str(value), 200) for value in move.call.arguments.values())
            return [Entry("work", turn, (Piece(headed(move.call.name, told), "work"), mark))]
        if isinstance(move, ReplyMove):
            return [
                Entry("agent", turn, (Piece(_("Agent"), "agent"), mark), (Paragraph(move.text),))
            ]
        return [Entry("handed", turn, (Piece(_("Handed in"), "agent"), mark))]


def read_hand_in(task: PublicTask, text: str) -> HandIn:
    """What `text` hands in. Never raises; slow for very long texts, so call it from a thread."""
    raw = storable(text)
    if not raw.strip():
        return HandIn(UnusablePrediction(reason=NOTHING), _("Nothing yet"))
    return TUI[task.family].read(task, raw)

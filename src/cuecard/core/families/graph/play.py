"""The offline agent on graph and facts tasks: it finds the entities that the user names and reads what is on record."""

import re
from functools import lru_cache

from cuecard.core.agents.briefing import PublicTask
from cuecard.core.agents.offline_search import (
    Notes,
    Searcher,
    SearchResult,
    asked_as,
    facts_as_lines,
    propose,
    say,
)
from cuecard.core.engine.messages import Dialogue
from cuecard.core.text import clauses, content_words, coverage, is_question, normalise, sentences
from cuecard.core.worlds.statements import Form

_MAX_LEADS = 8
_MAX_KNOWN = 12
_MAX_OFFERS = 3
# How many headings are read when the user leaves the choice to the agent.
_UNASKED = 4
_ASKED_FOR = 0.3
_NAMES = re.compile(
    r"[“\"《「]([^”\"》」]{2,60})[”\"》」]|(?<!^)([A-Z][\w’'-]*(?:\s+[A-Z0-9][\w’'-]*)*)"
)
_LEFT_TO_THE_AGENT = re.compile(
    r"\b(?:decide yourself|up to you|either way|no preference|go on|please continue)\b"
    "|您来定|你来定|都可以|都行|随便|无所谓|继续",
    re.IGNORECASE,
)
_AND = re.compile(r"\s+and\s+|[和与]|以及")


class Request:
    """The user's latest words: which known entities they are about, and which headings they ask for.

    They are about the entities that they name; if they name none, about those of the previous turn and those that the
    agent has just offered.
    """

    def __init__(self, dialogue: Dialogue, notes: Notes) -> None:
        last, reply = dialogue.last("user"), dialogue.last("agent")
        self.text = last.text if last else ""
        self._words = content_words(self.text)
        self._fits: dict[str, float] = {}
        self._notes = notes
        said = sentences(reply.text) if reply else ()
        self.offered = notes.names_in(said[-1]) if said and is_question(said[-1]) else ()
        self._recent = {
            name
            for found, turn in notes.facts.items()
            if turn == dialogue.turn - 1
            for name in (found.subject, found.value)
        }
        self.named: tuple[str, ...] = ()
        self.refresh()

    def refresh(self) -> None:
        """Look for names in the request again, after new ones were found."""
        self.named = self._notes.names_in(self.text)

    @property
    def leaves_it(self) -> bool:
        """Whether the user leaves it to the agent which of its offers to take."""
        return bool(self.offered) and _LEFT_TO_THE_AGENT.search(self.text) is not None

    def asks_for(self, name: str, attribute: str) -> bool:
        about = name in self.named if self.named else name in self._recent or name in self.offered
        return about and self.fit(attribute) >= _ASKED_FOR

    def fit(self, attribute: str) -> float:
        """The share of an attribute's content words that the request has; a fixed value if it has none."""
        if (known := self._fits.get(attribute)) is None:
            words = content_words(attribute)
            known = coverage(words, self._words) if words else _ASKED_FOR
            self._fits[attribute] = known
        return known


def open_headings(notes: Notes) -> list[tuple[str, str]]:
    """Pairs of entity and heading that are on record and not read yet, in the order of discovery."""
    return [
        (name, label)
        for name, labels in notes.headings.items()
        for label in labels
        if (key := _asked_key(name, label))
        and key not in notes.asked
        and not notes.has_all(name, label)
    ]


@lru_cache(maxsize=4096)
def _asked_key(name: str, label: str) -> str:
    # Cached: every search examines every heading again, and headings can be as long as pages.
    return asked_as(f"{name} {label}")


async def explore(searcher: Searcher, request: Request) -> tuple[str, ...]:
    """Search for what the user asks; if that is nothing in particular, for what was offered or named.

    Returns the parts of the request for which nothing was found.
    """
    notes = searcher.notes
    missing: list[str] = []
    if not request.leaves_it and not any(name in notes.headings for name in request.named):
        missing = await _find_entities(searcher, request)
    for name in request.named:
        if name not in notes.headings:
            await searcher.search(name)
    asked = False
    while searcher.left > 0:
        wanted = [h for h in open_headings(notes) if request.asks_for(*h)]
        if not wanted:
            break
        asked = True
        best = max(wanted, key=lambda h: request.fit(h[1]))
        await searcher.search(" ".join(best))
    if not asked and not any(request.asks_for(f.subject, f.attribute) for f in notes.facts):
        await _read_on(searcher, (*request.named, *request.offered))
    return tuple(missing)


async def _read_on(searcher: Searcher, names: tuple[str, ...]) -> None:
    """Read the next few headings of the first of these entities that has any left."""
    for name in names:
        left = [h for h in open_headings(searcher.notes) if h[0] == name]
        for heading in left[:_UNASKED]:
            await searcher.search(" ".join(heading))
        if left:
            break


async def _find_entities(searcher: Searcher, request: Request) -> list[str]:
    missing: list[str] = []
    for lead in _leads(request.text):
        told = await searcher.search(lead)
        topics = [item for said in told if said.form is Form.TOPICS for item in said.items]
        for topic in topics[:2]:
            await searcher.search(topic)
        if not told:
            missing.append(lead)
    request.refresh()
    return missing


def _leads(text: str) -> list[str]:
    """Queries for a request that names nothing known: its names, then parts of its sentences, questions first."""
    said = sorted(sentences(text), key=lambda sentence: not is_question(sentence))
    names = [quoted or name for s in said for quoted, name in _NAMES.findall(s)]
    parts = [part for s in said for clause in clauses(s) for part in _AND.split(clause)]
    leads = {normalise(lead): lead.strip() for lead in (*names, *parts) if content_words(lead)}
    return list(leads.values())[:_MAX_LEADS]


async def answer(public: PublicTask, dialogue: Dialogue, searcher: Searcher) -> str:
    """One turn of the agent: search for what was asked, say what was found, offer what is left."""
    notes, turn, language = searcher.notes, dialogue.turn, public.language
    request = Request(dialogue, notes)
    missing = await explore(searcher, request)
    new = [found for found, when in notes.facts.items() if when == turn]
    old = [f for f, when in notes.facts.items() if when < turn and _is_about(request, f)]
    parts: list[str] = []
    if old:
        parts.append(f"{say(language, 'before')}\n{facts_as_lines(_best(request, old))}")
    if new:
        parts.append(f"{say(language, 'found')}\n{facts_as_lines(new)}")
    if not new and not old:
        parts.append(say(language, "nothing"))
    elif missing and not request.named:
        parts.append(say(language, "not_on", what="; ".join(missing[:2])))
    parts.append(_closing(public, dialogue, notes, new))
    return "\n\n".join(parts)


def _is_about(request: Request, found: SearchResult) -> bool:
    return request.asks_for(found.subject, found.attribute) or request.asks_for(
        found.value, found.attribute
    )


def _best(request: Request, facts: list[SearchResult]) -> list[SearchResult]:
    """The statements that fit the request best, in the order in which they were found."""
    best = sorted(facts, key=lambda found: -request.fit(found.attribute))[:_MAX_KNOWN]
    return [found for found in facts if found in best]


def _closing(public: PublicTask, dialogue: Dialogue, notes: Notes, new: list[SearchResult]) -> str:
    """The end of a reply: an offer of what is on record about the latest entities; if nothing is left, on graph tasks,
    the question what else is wanted, unless that was just asked in vain.
    """
    ranks = {name: rank for rank, found in enumerate(new) for name in (found.subject, found.value)}
    offers: dict[str, str] = {}
    for name, label in open_headings(notes):
        if not name[:1].isdigit():  # years and measures lead nowhere new
            offers.setdefault(name, label)
    if offers:
        latest = sorted(offers, key=lambda name: -ranks.get(name, -1))[:_MAX_OFFERS]
        return propose(public.language, [(name, offers[name]) for name in latest])
    if not notes.facts:
        return say(public.language, "name_one")
    question = say(public.language, "anything")
    last = dialogue.last("agent")
    in_vain = not new and last is not None and last.text.endswith(question)
    return say(public.language, "that_is_all") if public.family == "facts" or in_vain else question

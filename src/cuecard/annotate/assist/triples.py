"""Drafting triples from a pasted source, each with the sentence of the source that supports it."""

import asyncio
import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuecard.annotate.assist.model_calls import (
    Helper,
    entities_of,
    language_of,
    stages_of,
    triples_of,
)
from cuecard.annotate.assist.proposals import Proposal, ProposedItem, with_lint
from cuecard.annotate.assist.replies import DraftTriple, DraftTriples
from cuecard.core.agents.briefing import estimate
from cuecard.core.config import Prompt
from cuecard.core.i18n import _, listed
from cuecard.core.judges.model_asking import block
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.text import contains_term, normalise, sentences, storable

_OVERLAP = 2
_MIN_QUOTE = 4
_QUOTES = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "‑": "-"})
_CLOSING = "\"'”’」』）)]】》»"
_ENDS = ".!?。！？…;；"


def parts_of(text: str, tokens: int) -> list[tuple[str, ...]]:
    """A text's sentences in parts of about `tokens` tokens. Each part repeats the last short sentences of the one
    before, so that references back can be understood.
    """
    pieces = [piece for sentence in _sentences(text) for piece in _cut(sentence, tokens)]
    found: list[tuple[str, ...]] = []
    part: list[str] = []
    used = fresh = 0
    for piece in pieces:
        size = estimate(piece)
        if fresh and used + size > tokens:
            found.append(tuple(part))
            part = [p for p in part[-_OVERLAP:] if estimate(p) <= tokens // 8]
            used, fresh = sum(map(estimate, part)), 0
        part.append(piece)
        used, fresh = used + size, fresh + 1
    if fresh:
        found.append(tuple(part))
    return found


class SourceText:
    """A source in which quotations are found whatever their blanks, width and quotation marks."""

    def __init__(self, text: str) -> None:
        # Composed, so that single characters fold as the whole does.
        self._text = text = unicodedata.normalize("NFC", text)
        chars: list[str] = []
        self._at: list[int] = []
        for index, char in enumerate(text):
            for folded in _fold(char):
                chars.append(folded)
                self._at.append(index)
        self._folded = "".join(chars)

    def find(self, quote: str) -> str | None:
        """The passage that `quote` repeats, as the source writes it; None if there is none."""
        wanted = "".join(_fold(quote))
        bare = wanted.strip(_CLOSING + _ENDS)
        for needle in (wanted, bare):
            if len(needle) < _MIN_QUOTE:
                continue
            start = self._folded.find(needle)
            if start >= 0:
                first, last = self._at[start], self._at[start + len(needle) - 1]
                return " ".join(self._text[first : last + 1].split())
        return None


def _fold(text: str) -> str:
    """The text without blanks and in one width, with case kept."""
    folded = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    return "".join(
        char for char in folded if not char.isspace() and char not in "\u200b\ufeff\u00ad"
    )


def _sentences(text: str) -> Sequence[str]:
    """Sentences, with the quotation mark or bracket that closes one left at its end."""
    found: list[str] = []
    for sentence in sentences(text):
        lead = len(sentence) - len(sentence.lstrip(_CLOSING))
        if lead and found and found[-1][-1:] in _ENDS:
            found[-1] += sentence[:lead]
            sentence = sentence[lead:].lstrip()
        if sentence:
            found.append(sentence)
    return found


def _cut(sentence: str, tokens: int) -> Sequence[str]:
    """Pieces of an overlong sentence (a table, a page without full stops), cut at blanks."""
    if estimate(sentence) <= tokens:
        return (sentence,)
    words = re.findall(r"\S{1,200}\s*", sentence)
    pieces: list[str] = []
    now, used = "", 0
    for word in words:
        size = estimate(word)
        if now and used + size > tokens:
            pieces.append(now.strip())
            now, used = "", 0
        now, used = now + word, used + size
    return (*pieces, now.strip())


PROMPT = "author_triples"
_PART_TOKENS = 1200
_KNOWN = 0.1
"""The share of the model's context that known names may take."""


@dataclass(frozen=True)
class FromSource:
    """The author's inputs. `text`: the pasted source; `url`: its address; `wanted`: what to look for."""

    text: str
    url: str = ""
    wanted: str = ""


async def draft_triples(data: Mapping[str, Any], inputs: FromSource, helper: Helper) -> Proposal:
    """A proposal of triples that the source supports. Raises `ConfigError`, `ModelCallError` and `Halt`."""
    language = language_of(data)
    prompt = helper.prompt(PROMPT, language)
    text = storable(inputs.text)
    parts = parts_of(text, min(_PART_TOKENS, helper.room(0.2)))
    known = _known(data, helper)

    def asking(number: int, part: Sequence[str]) -> Callable[[], Awaitable[DraftTriples | None]]:
        material = block({**known, "wanted": inputs.wanted.strip(), "source": list(part)})
        return lambda: _ask(helper, prompt, language, material, number)

    answers = await helper.each([asking(n, part) for n, part in enumerate(parts)])
    found = [triple for answer in answers if answer is not None for triple in answer.triples]
    items = await asyncio.to_thread(_items, data, inputs, text, found)
    proposal = helper.proposal("triples", prompt, items)
    return await asyncio.to_thread(with_lint, data, proposal)


async def _ask(
    helper: Helper, prompt: Prompt, language: TaskLanguage, material: str, number: int
) -> DraftTriples | None:
    text = prompt.render(material=material)
    return await helper.ask(text, DraftTriples, prompt, language, scope=f"part/{number}")


def _known(data: Mapping[str, Any], helper: Helper) -> dict[str, object]:
    names = entities_of(data)
    relations = list(dict.fromkeys(relation for _head, relation, _tail in triples_of(data)))
    relations = relations[: helper.fitting(relations, _KNOWN)]
    return {
        "task": str(data.get("query") or data.get("title") or ""),
        "stages": [[n, line] for n, _title, line in stages_of(data)],
        "entities": names[: helper.fitting(names, _KNOWN)],
        "relations": relations,
    }


def _items(
    data: Mapping[str, Any], inputs: FromSource, text: str, found: Sequence[DraftTriple]
) -> list[ProposedItem]:
    source = SourceText(text)
    there = {_key(triple) for triple in triples_of(data)}
    stages = len(stages_of(data))
    url = inputs.url.strip()
    items: dict[tuple[str, ...], ProposedItem] = {}
    for triple in found:
        key = _key((triple.head, triple.relation, triple.tail))
        if key in items:
            continue
        quote = source.find(triple.sentence) if triple.sentence else None
        sentence = quote or " ".join(triple.sentence.split())
        stage = triple.stage if triple.stage and 1 <= triple.stage <= stages else None
        item = ProposedItem(
            id=f"t{len(items) + 1}",
            label=f"{triple.head} → {triple.relation} → {triple.tail}",
            place="gold.triples",
            deed="add",
            after={
                "head": triple.head,
                "relation": triple.relation,
                "tail": triple.tail,
                "stage": stage,
                "sources": [url] if url else [],
                "note": sentence,
            },
            evidence=sentence,
        )
        if quote is None:
            item = item.flagged([_("the sentence is not in the text")])
        elif unsaid := [n for n in (triple.head, triple.tail) if not _said(quote, n)]:
            names = listed(f"“{name}”" for name in unsaid)
            item = item.flagged([_("the sentence does not name {names}").format(names=names)])
        if key[0] == key[2]:
            item = item.flagged([_("head and tail are the same")])
        if key in there:
            item = item.flagged([_("the graph has this triple already")])
        items[key] = item
    return list(items.values())


def _said(sentence: str, name: str) -> bool:
    """Whether a name occurs in the sentence, whatever its blanks."""
    return contains_term(sentence, name) or _squeezed(name) in _squeezed(sentence)


def _squeezed(text: str) -> str:
    return "".join(normalise(text).split())


def _key(triple: Sequence[str]) -> tuple[str, ...]:
    return tuple(normalise(part) or part for part in triple)

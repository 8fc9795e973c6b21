"""Triples from a pasted source, each with the sentence that says it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuecard.annotate.assist.checking import with_lint
from cuecard.annotate.assist.helper import Helper
from cuecard.annotate.assist.outline import entities_of, language_of, stages_of, triples_of
from cuecard.annotate.assist.proposal import Proposal, ProposedItem
from cuecard.annotate.assist.shapes import DraftTriple, DraftTriples
from cuecard.annotate.assist.sources import SourceText, parts_of
from cuecard.core.i18n import _
from cuecard.core.judges.material import block
from cuecard.core.prompts import Prompt
from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import contains_term, normalise, storable

PROMPT = "author_triples"
_PART_TOKENS = 1200
_KNOWN = 0.1
"""The share of what a model can read that known names may take."""


@dataclass(frozen=True)
class FromSource:
    """`text`: the source as it was pasted; `url`: where it stands; `wanted`: what to look for."""

    text: str
    url: str = ""
    wanted: str = ""


async def draft_triples(data: Mapping[str, Any], inputs: FromSource, helper: Helper) -> Proposal:
    """Triples of a graph task's source. Raises `ConfigError`, `ModelCallError` and `Halt`."""
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
            names = ", ".join(f"“{name}”" for name in unsaid)
            item = item.flagged([_("the sentence does not name {names}").format(names=names)])
        if key[0] == key[2]:
            item = item.flagged([_("head and tail are the same")])
        if key in there:
            item = item.flagged([_("the graph has this triple already")])
        items[key] = item
    return list(items.values())


def _said(sentence: str, name: str) -> bool:
    """Whether a name stands in the sentence, blanks within it aside."""
    return contains_term(sentence, name) or _squeezed(name) in _squeezed(sentence)


def _squeezed(text: str) -> str:
    return "".join(normalise(text).split())


def _key(triple: Sequence[str]) -> tuple[str, ...]:
    return tuple(normalise(part) or part for part in triple)

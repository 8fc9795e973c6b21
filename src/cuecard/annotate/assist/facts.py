"""Drafting a world of atomic facts from pairs of entities, with a question that they answer."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, cast

from pydantic import JsonValue

from cuecard.annotate.assist.model_calls import (
    Complaint,
    Helper,
    complain,
    dicts_at,
    gold_item,
    language_of,
    text_at,
)
from cuecard.annotate.assist.proposals import Proposal, ProposedItem, with_lint
from cuecard.annotate.assist.replies import DraftFact, DraftWorld
from cuecard.core.i18n import N_, _
from cuecard.core.judges.model_asking import block
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.text import normalise

PROMPT = "author_facts"
LEAST, MOST = 6, 16
_MOST_PAIRS = 20
_BETWEEN = re.compile(r"\s*(?:\||\t|;|；|,|，|、|\bvs\.?\s|\s[-–—]\s)\s*")
_DATE = re.compile(
    r"(?<!\d)((?:19|20|21)\d\d)(?:\s*(?:[-/.]|年)\s*(\d{1,2})(?:\s*(?:[-/.]|月)\s*(\d{1,2}))?)?(?!\d)"
)
_FIELDS = {
    "answer": N_("Answer"),
    "answer_aliases": N_("Other answers"),
    "derivation": N_("Derivation"),
}


@dataclass(frozen=True)
class FromPairs:
    """The author's inputs. `pairs`: one line for each pair (or more) of entities; `topic`: the question's subject."""

    pairs: str
    topic: str = ""


def pairs_in(text: str) -> list[list[str]]:
    """The entities of each line, split at `|`, commas or `vs`."""
    lines = (_BETWEEN.split(line.strip()) for line in text.splitlines() if line.strip())
    return [[part.strip() for part in parts if part.strip()] for parts in lines][:_MOST_PAIRS]


async def draft_facts(data: Mapping[str, Any], inputs: FromPairs, helper: Helper) -> Proposal:
    """A proposal of facts, a question and its answer. Raises `ConfigError`, `ModelCallError` and `Halt`."""
    language = language_of(data)
    prompt = helper.prompt(PROMPT, language)
    pairs = pairs_in(inputs.pairs)
    keys = [str(fact.get("key") or "") for fact in dicts_at(data, "gold", "facts")]
    material: dict[str, object] = {
        "pairs": pairs,
        "topic": inputs.topic.strip() or text_at(data, "title"),
        "keys": [key for key in keys if key.strip()],
    }
    text = prompt.render(
        material=block(material),
        today=helper.today.isoformat(),
        least=str(min(LEAST + 2 * (len(pairs) - 1), MOST)),
        most=str(MOST),
    )

    draft = await helper.whole(
        text, DraftWorld, prompt, language, lambda draft: _complaints(draft, helper.today, language)
    )
    items: list[ProposedItem] = []
    if draft is not None:
        items = _items(data, draft, helper.today)
        if not _has_future(draft.facts, helper.today):
            note = _("No fact has a date after {today}: a model may know the answers by heart.")
            helper.notes.append(note.format(today=helper.today.isoformat()))
    return await asyncio.to_thread(with_lint, data, helper.proposal("facts", prompt, items))


def _complaints(draft: DraftWorld, today: date, language: TaskLanguage) -> list[str]:
    found: list[str] = []
    if given := _given(draft):
        found.append(complain(language, Complaint.GIVEN, found=given.key))
    if not _has_future(draft.facts, today):
        found.append(complain(language, Complaint.PAST, today=today.isoformat()))
    if not _derives(draft):
        found.append(complain(language, Complaint.DERIVATION))
    if not (draft.query and draft.answer):
        found.append(complain(language, Complaint.NO_ANSWER))
    return found


def _given(draft: DraftWorld) -> DraftFact | None:
    """The fact that is the answer itself."""
    answers = {normalise(name) for name in (draft.answer, *draft.answer_aliases) if name}
    for fact in draft.facts:
        if {normalise(fact.value), normalise(f"{fact.value} {fact.unit}")} & answers:
            return fact
    return None


def _derives(draft: DraftWorld) -> bool:
    """Whether the derivation speaks of at least two facts."""
    told = normalise(draft.derivation)
    used = [
        fact for fact in draft.facts if normalise(fact.value) in told or normalise(fact.key) in told
    ]
    return len(used) >= min(2, len(draft.facts))


def _moments(fact: DraftFact) -> list[tuple[int, ...]]:
    """The dates in a fact, as far as they go: (year,), (year, month) or (year, month, day)."""
    found = _DATE.findall(f"{fact.key} {fact.value}")
    return [tuple(int(part) for part in parts if part) for parts in found]


def _is_future(moment: tuple[int, ...], today: date) -> bool:
    return moment > (today.year, today.month, today.day)[: len(moment)]


def _has_future(facts: Sequence[DraftFact], today: date) -> bool:
    return any(_is_future(moment, today) for fact in facts for moment in _moments(fact))


def _items(data: Mapping[str, Any], draft: DraftWorld, today: date) -> list[ProposedItem]:
    items: list[ProposedItem] = []
    before = text_at(data, "query")
    if draft.query and draft.query != before:
        query = ProposedItem(
            id="query", label=_("Query"), place="query", before=before, after=draft.query
        )
        items.append(query)
    there = {str(f.get("key") or "").strip(): f for f in dicts_at(data, "gold", "facts")}
    kept: dict[str, tuple[DraftFact, ProposedItem]] = {}
    for fact in draft.facts:
        name = normalise(fact.key)
        if name not in kept:
            kept[name] = fact, _fact(fact, there, today, len(kept) + 1)
            continue
        first, item = kept[name]
        if normalise(first.value) != normalise(fact.value):
            text = _("the model gave it a second value, which is left out: {value}")
            kept[name] = first, item.flagged([text.format(value=fact.value)])
    items += [item for _drafted, item in kept.values()]
    given, derives = _given(draft), _derives(draft)
    values: dict[str, JsonValue] = {
        "answer": draft.answer,
        "answer_aliases": cast(JsonValue, [a for a in draft.answer_aliases if a != draft.answer]),
        "derivation": draft.derivation,
    }
    for field, after in values.items():
        item = gold_item(data, field, _(_FIELDS[field]), after)
        if item is None:
            continue
        if field == "answer" and given is not None:
            text = _("it is the value of the fact “{key}”").format(key=given.key)
            item = item.flagged([text])
        if field == "answer":
            item = item.model_copy(update={"why": draft.derivation})
            item = item if derives else item.flagged([_("no derivation speaks of the facts")])
        items.append(item)
    return items


def _fact(
    fact: DraftFact, there: Mapping[str, dict[str, Any]], today: date, number: int
) -> ProposedItem:
    old = there.get(fact.key.strip())
    checked: list[str] = []
    if past := [m for m in _moments(fact) if not _is_future(m, today)]:
        shown = "-".join(f"{part:02}" for part in past[0])
        checked.append(_("{date} is not in the future").format(date=shown))
    if old is not None:
        checked.append(_("there is a fact of this key; it would be replaced"))
    return ProposedItem(
        id=f"f{number}",
        label=f"{fact.key}: {fact.value} {fact.unit}".rstrip(),
        place="gold.facts",
        deed="add",
        before=cast(JsonValue, old),
        after={
            "key": fact.key,
            "value": fact.value,
            "kind": fact.kind,
            "entity": fact.entity,
            "attribute": fact.attribute,
            "unit": fact.unit,
            "aliases": [],
            "sources": [],
        },
    ).flagged(checked)

"""Drafting a checkpoint chain with ambiguities from a question that has exactly one answer."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic import JsonValue

from cuecard.annotate.assist.model_calls import (
    Complaint,
    Helper,
    complain,
    gold_item,
    language_of,
    removals,
    text_at,
)
from cuecard.annotate.assist.proposals import Proposal, ProposedItem, with_lint
from cuecard.annotate.assist.replies import DraftChain, DraftStep
from cuecard.core.i18n import N_, _
from cuecard.core.judges.model_asking import block
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.text import contains_term, normalise

PROMPT = "author_checkpoints"
_FIELDS = {
    "opening": N_("Ambiguous question"),
    "final_answer": N_("Final answer"),
    "final_aliases": N_("Other answers"),
    "forbidden": N_("Never said"),
}


@dataclass(frozen=True)
class FromQuestion:
    """The author's inputs: a `question` with exactly one answer, the `answer` if known, and `remarks` to the model."""

    question: str
    answer: str = ""
    remarks: str = ""


async def draft_checkpoints(
    data: Mapping[str, Any], inputs: FromQuestion, helper: Helper
) -> Proposal:
    """A proposal of a checkpoint chain in place of the task's. Raises `ConfigError`, `ModelCallError` and `Halt`."""
    language = language_of(data)
    prompt = helper.prompt(PROMPT, language)
    question = inputs.question.strip()
    material = block(
        {"question": question, "answer": inputs.answer.strip(), "remarks": inputs.remarks.strip()}
    )
    text = prompt.render(material=material)

    draft = await helper.whole(
        text, DraftChain, prompt, language, lambda draft: _complaints(draft, language)
    )
    items: list[ProposedItem] = []
    if draft is not None:
        items = _items(data, question, draft)
        if not any(_is_ambiguous(step) for step in draft.steps):
            helper.notes.append(_("No step is ambiguous: there is nothing to ask about yet."))
    return await asyncio.to_thread(with_lint, data, helper.proposal("checkpoints", prompt, items))


def _complaints(draft: DraftChain, language: TaskLanguage) -> list[str]:
    found: list[str] = []
    if not any(_is_ambiguous(step) for step in draft.steps):
        found.append(complain(language, Complaint.NO_AMBIGUITY))
    if bad := [s.question for s in draft.steps if s.ambiguous and (not s.clue or _tells(s))]:
        found.append(complain(language, Complaint.CLUE, found="; ".join(bad)))
    if not _ends_rightly(draft):
        found.append(complain(language, Complaint.FINAL))
    if not draft.opening or any(contains_term(draft.opening, s.target) for s in draft.steps):
        found.append(complain(language, Complaint.OPENING))
    return found


def _is_ambiguous(step: DraftStep) -> bool:
    return bool(step.ambiguous and step.logic and step.clue and len(_candidates(step)) >= 2)


def _candidates(step: DraftStep) -> list[str]:
    """The candidates, with the target among them."""
    names = {normalise(name) for name in (step.target, *step.aliases)}
    if any(normalise(candidate) in names for candidate in step.candidates):
        return step.candidates
    return [*step.candidates, step.target]


def _tells(step: DraftStep) -> bool:
    return any(contains_term(step.clue, name) for name in (step.target, *step.aliases))


def _ends_rightly(draft: DraftChain) -> bool:
    last = draft.steps[-1]
    names = {normalise(name) for name in (last.target, *last.aliases, *draft.final_aliases)}
    return bool(draft.final_answer) and normalise(draft.final_answer) in names


def _items(data: Mapping[str, Any], question: str, draft: DraftChain) -> list[ProposedItem]:
    items: list[ProposedItem] = []
    before = text_at(data, "query")
    if question and question != before:
        items.append(
            ProposedItem(
                id="query",
                label=_("Query"),
                place="query",
                before=before,
                after=question,
                ticked=not before,  # what the author has written is not overwritten unless they say so
            )
        )
    answer = draft.final_answer or draft.steps[-1].target
    forbidden = dict.fromkeys((*draft.forbidden, *(step.target for step in draft.steps), answer))
    # What the question itself says can be no secret.
    values: dict[str, JsonValue] = {
        "opening": draft.opening,
        "final_answer": answer,
        "final_aliases": cast(JsonValue, [a for a in draft.final_aliases if a != answer]),
        "forbidden": cast(
            JsonValue, [name for name in forbidden if not contains_term(draft.opening, name)]
        ),
    }
    items += removals(data, "gold", "steps", name="question", said="question")
    items += [_step(step, number) for number, step in enumerate(draft.steps, start=1)]
    if not _ends_rightly(draft):
        items[-1] = items[-1].flagged([_("the last step does not end at the final answer")])
    fields = (gold_item(data, field, _(_FIELDS[field]), value) for field, value in values.items())
    return [*items, *(item for item in fields if item is not None)]


def _step(step: DraftStep, number: int) -> ProposedItem:
    checked: list[str] = []
    ambiguity: JsonValue = None
    if _is_ambiguous(step):
        candidates = _candidates(step)
        if candidates != step.candidates:
            checked.append(_("the target was not among the candidates; it was added"))
        if _tells(step):
            checked.append(_("the clue names the target"))
        ambiguity = {
            "type": step.type,
            "logic": step.logic,
            "candidates": cast(JsonValue, candidates),
            "clue": step.clue,
            "terms": cast(JsonValue, step.terms),
        }
    elif step.ambiguous or step.clue:
        checked.append(_("its ambiguity was incomplete and is left out"))
    if contains_term(step.question, step.target):
        checked.append(_("the question names its own answer"))
    return ProposedItem(
        id=f"c{number}",
        label=f"{number}. {step.question} → {step.target}",
        place="gold.steps",
        deed="add",
        after={
            "question": step.question,
            "target": step.target,
            "aliases": cast(JsonValue, [a for a in step.aliases if a != step.target]),
            "ambiguity": ambiguity,
            "sources": [],
        },
    ).flagged(checked)

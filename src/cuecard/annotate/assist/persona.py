"""Drafting a persona and its stages from sub-queries and gold."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuecard.annotate.assist.model_calls import (
    Complaint,
    Helper,
    complain,
    dicts_at,
    language_of,
    node_names,
    removals,
    stages_of,
    text_at,
    texts_at,
    triples_of,
)
from cuecard.annotate.assist.proposals import Link, Proposal, ProposedItem, with_lint
from cuecard.annotate.assist.replies import DraftPersona, DraftStage
from cuecard.core.i18n import N_, _
from cuecard.core.judges.model_asking import block
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.text import is_cjk, normalise

PROMPT = "author_persona"
LEAST, MOST = 8, 20
ASKS = (0.2, 0.4)
_GOLD = 0.4
"""The share of the model's context that gold may take."""
_START = {"en": "The conversation starts", "zh": "对话开始"}
_FIELDS = {
    "name": N_("Name"),
    "identity": N_("Identity"),
    "initial_query": N_("First query"),
    "behaviour": N_("Behaviour"),
}


@dataclass(frozen=True)
class PersonaInputs:
    """The author's input. `anew`: replace the stages there are; otherwise further ones are added after them."""

    anew: bool = False


async def draft_persona(data: Mapping[str, Any], inputs: PersonaInputs, helper: Helper) -> Proposal:
    """A proposal of a persona, or of further stages for the one there is. Raises `ConfigError`, `ModelCallError` and
    `Halt`.
    """
    language = language_of(data)
    prompt = helper.prompt(PROMPT, language)
    kept = 0 if inputs.anew else len(stages_of(data))
    triples = triples_of(data)
    material = block(_material(data, triples, helper, anew=inputs.anew))
    text = prompt.render(
        material=material, least=str(max(LEAST - kept, 1)), most=str(max(MOST - kept, 1))
    )

    draft = await helper.whole(
        text, DraftPersona, prompt, language, lambda draft: _complaints(draft, kept, language)
    )
    items: list[ProposedItem] = []
    if draft is not None:
        items = _items(data, draft, triples, kept=kept, anew=inputs.anew)
        helper.notes += _notes(draft.stages, kept)
    return await asyncio.to_thread(with_lint, data, helper.proposal("persona", prompt, items))


def _material(
    data: Mapping[str, Any], triples: Sequence[Link], helper: Helper, *, anew: bool
) -> dict[str, object]:
    names = node_names(data)
    material: dict[str, object] = {
        "task": text_at(data, "query") or text_at(data, "title"),
        "sub_queries": texts_at(data, "sub_queries"),
    }
    if triples:
        lines: list[list[object]] = [
            [index, names.get(head, head), relation, names.get(tail, tail)]
            for index, (head, relation, tail) in enumerate(triples)
        ]
        shown = helper.fitting([str(line) for line in lines], _GOLD)
        if shown < len(lines):
            text = _("The model was shown {n} of {all} triples; there is no room for more.")
            helper.notes.append(text.format(n=shown, all=len(lines)))
        material["triples"] = lines[:shown]
    elif columns := dicts_at(data, "gold", "columns"):
        rows: list[Any] = list(data["gold"].get("rows", []))
        lines = [[str(column.get("name") or "") for column in columns], *rows]
        material["table"] = lines[: helper.fitting([str(line) for line in lines], _GOLD)]
    material["persona"] = {field: text_at(data, "persona", field) for field in _FIELDS}
    material["stages"] = [] if anew else [[n, title, line] for n, title, line in stages_of(data)]
    return material


def _complaints(draft: DraftPersona, kept: int, language: TaskLanguage) -> list[str]:
    found: list[str] = []
    count = kept + len(draft.stages)
    if not LEAST <= count <= MOST:
        found.append(complain(language, Complaint.STAGES, count=count, least=LEAST, most=MOST))
    if twice := _twice(draft.stages):
        found.append(complain(language, Complaint.SAME_CUE, found=", ".join(twice)))
    if not kept and not (draft.identity and draft.initial_query):
        found.append(complain(language, Complaint.NO_PERSON))
    return found


def _notes(stages: Sequence[DraftStage], kept: int) -> list[str]:
    notes: list[str] = []
    if not LEAST <= kept + len(stages) <= MOST:
        text = _("{n} stages in all; published tasks have {least} to {most}.")
        notes.append(text.format(n=kept + len(stages), least=LEAST, most=MOST))
    asks = sum(stage.cue_kind == "asks" for stage in stages)
    if stages and not ASKS[0] <= asks / len(stages) <= ASKS[1]:
        text = _("{n} of {all} new stages wait for the agent to ask; 20–40% is usual.")
        notes.append(text.format(n=asks, all=len(stages)))
    return notes


def _items(
    data: Mapping[str, Any], draft: DraftPersona, triples: Sequence[Link], *, kept: int, anew: bool
) -> list[ProposedItem]:
    language = language_of(data)
    items: list[ProposedItem] = []
    for field, label in _FIELDS.items():
        before, after = text_at(data, "persona", field), str(getattr(draft, field))
        if after and after != before:
            item = ProposedItem(
                id=field, label=_(label), place=f"persona.{field}", before=before, after=after
            )
            # What the author has written is not overwritten unless they say so.
            item = item if not before else item.model_copy(update={"ticked": anew})
            items.append(item.flagged(_language(after, language)))
    if anew:
        items += removals(data, "persona", "stages", name="title", said="line")
    twice = set(_twice(draft.stages))
    for number, stage in enumerate(draft.stages, start=kept + 1):
        item = _stage(stage, number, triples, language)
        item = item.flagged(_language(stage.line, language))
        if stage.cue and stage.cue in twice:
            item = item.flagged([_("another stage has the same cue")])
        items.append(item)
    return items


def _stage(
    stage: DraftStage, number: int, triples: Sequence[Link], language: TaskLanguage
) -> ProposedItem:
    first = number == 1
    kind, checked = stage.cue_kind, list[str]()
    if not first and kind == "start":
        kind = "mentions"
        checked.append(_("the model let the conversation start here; the cue was changed"))
    cue = _START[language] if first else stage.cue or stage.title
    if not cue:
        cue = ", ".join(stage.terms)
        checked.append(_("the model gave no cue"))
    if not first and not stage.terms:
        checked.append(_("there are no terms by which a script could test the cue"))
    links = tuple(triples[i] for i in dict.fromkeys(stage.triples) if 0 <= i < len(triples))
    title = stage.title or stage.line[:40]
    return ProposedItem(
        id=f"s{number}",
        label=f"{number}. {title}",
        place="persona.stages",
        deed="add",
        after={
            "title": title,
            "cue": {
                "kind": "start" if first else kind,
                "text": cue,
                "terms": [] if first else list[Any](stage.terms),
            },
            "line": stage.line,
            "not_met": stage.not_met,
        },
        links=links,
    ).flagged(checked)


def _twice(stages: Sequence[DraftStage]) -> list[str]:
    """The cues that several stages have."""
    count = Counter(normalise(stage.cue) for stage in stages if stage.cue)
    return list(dict.fromkeys(s.cue for s in stages if count[normalise(s.cue)] > 1))


def _language(text: str, language: TaskLanguage) -> list[str]:
    if is_cjk(text) == (language == "zh"):
        return []
    return [_("it is not in the language of the task")]

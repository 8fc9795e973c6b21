"""Parts that several families share: predictions parsed from the last words of any agent, those for gold that is one final
answer, and stand-ins for parts not needed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import StringConstraints, TypeAdapter

from cuecard.core.agents.briefing import Approach
from cuecard.core.config_players import Settings
from cuecard.core.engine.events import Event
from cuecard.core.engine.step_context import CallContext
from cuecard.core.families.facts.gold import Fact
from cuecard.core.families.registry import CORE
from cuecard.core.i18n import N_
from cuecard.core.judges.lexical import judge_answer, refuse_answer
from cuecard.core.predictions import AnswerPrediction, Prediction, UnusablePrediction
from cuecard.core.tasks.gold import Gold
from cuecard.core.tasks.models import Family, Task
from cuecard.core.text import storable
from cuecard.core.verdicts import GoldItem, Item, ItemKind, Judged, Judgement
from cuecard.core.worlds.background import Secrets
from cuecard.core.worlds.finding import Index
from cuecard.core.worlds.indexes import RecordIndex

if TYPE_CHECKING:
    from cuecard.core.judges.model_asking import ModelAsks
    from cuecard.core.rescoring import Carry


_TAG = re.compile(r"<(/?)answer\s*>", re.IGNORECASE)
_LABEL = re.compile(
    r"^[ \t>#*_\-]*(?:the[ ])?(?:final answer|answer|最终答案|最后答案|最终回答|答案)"
    r"(?:[*_]{0,3}[ \t]*[:：][*_]{0,3}|[ \t]+is\b[ \t]*:?|[ \t]*[是为][:：]?|[*_]{0,3}[ \t]*(?=\n))",
    re.IGNORECASE | re.MULTILINE,
)
_INLINE_LABEL = re.compile(r"(?:final\s+answer(?:\s+is)?|最终答案)[*_]{0,3}\s*[:：]", re.IGNORECASE)
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")
_EMPHASISED = re.compile(r"\*{1,3}([^*]+)\*{0,3}|([^*]+)\*{1,3}")


def find_answer(text: str) -> str:
    """The final answer in a text: the last `<answer>…</answer>`, else what follows the last `Final answer:` or
    `最终答案：`, else the last paragraph that is not blank; "" if there is none.

    >>> find_answer("It is cheap. Final answer: 36 euros")
    '36 euros'
    """
    return _tagged(text) or _labelled(text) or _last_paragraph(text)


def _tagged(text: str) -> str:
    """An answer that was cut off before its closing tag still counts when no complete one exists."""
    opened: int | None = None
    found = cut_off = ""
    for match in _TAG.finditer(text):
        if not match[1]:
            opened = match.end()
        elif opened is not None:
            found = text[opened : match.start()].strip() or found
            opened = None
    if opened is not None:
        cut_off = text[opened:].strip()
    return found or cut_off


def _labelled(text: str) -> str:
    for pattern in (_LABEL, _INLINE_LABEL):
        end = -1
        for match in pattern.finditer(text):
            end = match.end()
        if end >= 0:
            rest = text[end:].lstrip()
            line = rest.split("\n", 1)[0]
            answer = _plain(line)
            if answer:
                return answer
    return ""


def _last_paragraph(text: str) -> str:
    paragraphs = [part.strip() for part in _PARAGRAPHS.split(text) if part.strip()]
    return _plain(paragraphs[-1]) if paragraphs else ""


def _plain(text: str) -> str:
    """Without the emphasis around the whole of it."""
    text = text.strip()
    match = _EMPHASISED.fullmatch(text)
    return (match[1] or match[2]).strip() if match else text


_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)

# The reasons are recorded, so they are marked here and translated where they are shown.
NOTHING = N_("the agent handed in nothing")
NO_TRIPLES = N_("the text holds no JSON array of {head, relation, tail}")
NO_TABLE = N_("the text holds no Markdown table")
NO_ANSWER = N_("the text holds no answer")


def parse_prediction(family: Family, text: str) -> Prediction:
    """The prediction in a text: triples, a table or an answer, depending on the family; an `UnusablePrediction` with the
    reason if there is none. Never raises.
    """
    raw = storable(text)
    said = _after_thoughts(raw)
    if not said.strip():
        return UnusablePrediction(reason=NOTHING, raw=raw)
    found = CORE[family].read(said, raw)
    return UnusablePrediction(reason=found, raw=raw) if isinstance(found, str) else found


def _after_thoughts(text: str) -> str:
    """The text after the model's thoughts, in which it may draft answers."""
    end = 0
    for match in _THOUGHT_END.finditer(text):
        end = match.end()
    return text[end:] if text[end:].strip() else text


def read_answer(said: str, raw: str) -> Prediction | str:
    """The final answer in an agent's last reply, or the reason why there is none."""
    answer = find_answer(said)
    return AnswerPrediction(answer=answer, raw=raw) if answer else NO_ANSWER


_ANSWER = TypeAdapter(Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)])


def read_json_answer(text: str) -> Prediction:
    """The final answer as JSON. Raises `ValidationError`."""
    return AnswerPrediction(answer=_ANSWER.validate_json(text), raw=text)


def hand_in_answer(answer: str) -> Prediction:
    """The offline agent's answer as a prediction; an unusable one if it is blank."""
    return AnswerPrediction(answer=answer) if answer.strip() else nothing_found()


async def ask_about_answer(
    judge: ModelAsks, task: Task, gold: Gold, prediction: Prediction, context: CallContext
) -> Judged | None:
    """A model's verdict on the final answer; None if the prediction is of another kind."""
    if not isinstance(prediction, AnswerPrediction):
        return None
    return (await judge.answer(task, gold.answers, prediction.answer, context),), None


def judge_by_letters(gold: Gold, prediction: Prediction, question: str) -> Judged | None:
    """The lexical judge's verdict on the final answer; None if the prediction is of another kind."""
    if not isinstance(prediction, AnswerPrediction):
        return None
    return (judge_answer(gold.answers, prediction.answer, question),), None


def refuse(_gold: Gold, reason: str) -> Judged:
    """`no` for the final answer."""
    return refuse_answer(reason), None


def answer_item(task: Task, gold: Gold, item: Item) -> GoldItem:
    """The final answer, with its aliases."""
    answer, *also = gold.answers
    return GoldItem(item=item, text=answer, also=tuple(also), context=(task.query,))


def answer_text(gold: Gold, item: Item) -> str:
    """The final answer; for an item that is none, the item's key."""
    return gold.answers[0] if item.kind is ItemKind.ANSWER else item.key


def no_chain(_gold: Gold) -> None:
    """The user does not lead through steps."""


def no_facts(_gold: Gold) -> tuple[Fact, ...]:
    """There is no world of its own."""
    return ()


def no_columns(_task: Task, _gold: Gold) -> tuple[str, ...]:
    """No columns: only tables have them."""
    return ()


def plain_approach(_gold: Gold, _settings: Settings) -> Approach:
    """The agent's own prompt, whatever the settings."""
    return Approach("react")


def records(_gold: Gold, secrets: Secrets) -> Index:
    """An index that finds statements by their subject and attribute."""
    return RecordIndex(secrets.statements, secrets.guard, secrets.public)


def nothing_of_play(_gold: Gold) -> Mapping[str, object]:
    """Nothing: neither the user nor the world depends on this gold."""
    return {}


def no_figures(
    _gold: Gold, _prediction: Prediction, _events: Sequence[Event], _judgement: Judgement
) -> Mapping[str, object]:
    """No figures besides those that every trial has."""
    return {}


def carry_whole(old: Task, new: Task, prediction: Prediction, judgement: Judgement | None) -> Carry:
    """Carry over the verdicts on unchanged items; if any item is open, the judge is asked about the whole gold."""
    from cuecard.core.rescoring import carry_answer

    return carry_answer(old, new, prediction, judgement)


def nothing_found() -> UnusablePrediction:
    """What the offline agent hands in if it found nothing."""
    return UnusablePrediction(reason="found nothing on record")

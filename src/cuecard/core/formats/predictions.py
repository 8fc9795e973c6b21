"""Parses predictions from the last words of any agent."""

import re

from cuecard.core.families.registry import CORE
from cuecard.core.i18n import N_
from cuecard.core.tasks.models import Family
from cuecard.core.text import storable
from cuecard.core.verdicts import Prediction, UnusablePrediction

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

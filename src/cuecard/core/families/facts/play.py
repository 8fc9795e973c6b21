"""The offline agent's answer to a facts task, by very simple rules: a weak baseline on purpose."""

import re
from collections.abc import Sequence

from cuecard.core.agents.offline_search import SearchResult
from cuecard.core.text import content_words, coverage, questions

_NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")
_HOW_MANY = re.compile(r"\bhow (?:many|much|long|far|old|high)\b|多少|多久|几", re.IGNORECASE)
_TOTAL = re.compile(
    r"\b(?:total|altogether|in all|combined|sum)\b|一共|总共|合计|总计", re.IGNORECASE
)
_DIFFERENCE = re.compile(
    r"\b(?:difference|how (?:much|many) (?:\w+ )?(?:more|less|fewer|longer|older))\b"
    "|相差|差多少|多多少|少多少",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"\bwhich\b.*\b(?:larger|largest|more|most|higher|highest|longer|longest|older|oldest|later|latest)\b"
    "|哪.*(?:最|更)(?:大|多|高|长|晚)",
    re.IGNORECASE | re.DOTALL,
)
_LEAST = re.compile(
    r"\bwhich\b.*\b(?:smaller|smallest|fewer|fewest|less|least|lower|lowest|shorter|shortest|earlier|earliest)\b"
    "|哪.*(?:最|更)(?:小|少|低|短|早)",
    re.IGNORECASE | re.DOTALL,
)


def derive_answer(query: str, facts: Sequence[SearchResult]) -> str:
    """The answer that the found facts give by rule; "" if nothing was found."""
    asked = questions(query)
    question = asked[-1] if asked else query
    attribute, numbers = _comparable(question, facts)
    if len(numbers) > 1:
        values = [number for _, number in numbers]
        if _TOTAL.search(question):
            return _written(sum(values), attribute)
        if _DIFFERENCE.search(question) and len(values) == 2:
            return _written(abs(values[0] - values[1]), attribute)
        if _MOST.search(question):
            return max(numbers, key=lambda item: item[1])[0].subject
        if _LEAST.search(question):
            return min(numbers, key=lambda item: item[1])[0].subject
    words = content_words(question)
    counted = [f for f in facts if f.value[:1].isdigit()] if _HOW_MANY.search(question) else []
    best = max(
        counted or facts,
        key=lambda f: coverage(content_words(f"{f.subject} {f.attribute}"), words),
        default=None,
    )
    return best.value if best else ""


def _comparable(
    question: str, facts: Sequence[SearchResult]
) -> tuple[str, list[tuple[SearchResult, float]]]:
    """The attribute that several entities share and that fits the question best, with its facts and their numbers."""
    groups: dict[str, list[tuple[SearchResult, float]]] = {}
    for found in facts:
        number = _NUMBER.search(found.value)
        if number:
            value = float(number[0].replace(",", ""))
            groups.setdefault(found.attribute, []).append((found, value))
    shared = {name: group for name, group in groups.items() if len(group) > 1}
    if not shared:
        return "", []
    words = content_words(question)
    name = max(shared, key=lambda attribute: coverage(content_words(attribute), words))
    return _unit(shared[name][0][0].value), shared[name]


def _unit(value: str) -> str:
    """The text around the number: `130 euros` gives `{} euros`."""
    return _NUMBER.sub("{}", value, count=1) if value.count("{") == 0 else "{}"


def _written(number: float, unit: str) -> str:
    return (unit or "{}").replace("{}", f"{number:.6f}".rstrip("0").rstrip("."))

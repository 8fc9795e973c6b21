"""Whether a final answer says what the gold answer says, judged by letters alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cuecard.core.i18n import _
from cuecard.core.judges.quantities import Quantity, quantities_in, same_quantity
from cuecard.core.judges.similarity import Rule, best_likeness, form
from cuecard.core.text import contains_term
from cuecard.core.verdicts import Decision, Item, ItemKind, Verdict

_LONGEST_STATEMENT = 300
_MARKER = re.compile(
    r"(?:final answer|the answer|answer|in conclusion|therefore|thus|hence|最终答案|答案|因此|所以|综上)"
    r"\s*(?:is|are|:|：|为|是|,|，)*\s*",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.!?;。！？；\n]+(?=\s|$)|[。！？；\n]+")
_PARTS = re.compile(r"([,，、;；。！？!?\n]|\.(?=\s|$))")
_DENIED = re.compile(
    r"(?:\bnot\b|n't\b|\brather than\b|\binstead of\b|不是|并非|而非|不为).*?(?=\bbut\b|而是|$)",
    re.IGNORECASE,
)


def judge_answer(names: Sequence[str], answer: str) -> Verdict:
    """The verdict on `answer` against the gold answer and its aliases.

    The whole answer is compared first. Of a longer text, what stands behind the last «answer» or
    «therefore» counts (else all of it, up to 300 characters), without the parts that deny something: it
    must name gold, or, where gold is an amount, no other amount of its unit.
    """
    item = Item(kind=ItemKind.ANSWER)
    if not answer.strip():
        return Verdict(item=item, decision=Decision.NO, rationale=_("the answer is empty"))
    amounts = [q for name in names if (q := form(name).quantity) and q.known]
    statement = _statement(answer)
    for part in (answer, statement, _first_clause(statement)):
        likeness = best_likeness(tuple(names), part)
        if likeness and not _other_unit(amounts, part):
            reason = _likeness_reason(likeness.rule)
            return Verdict(item=item, decision=Decision.YES, rationale=reason)
    if len(statement) > _LONGEST_STATEMENT:
        reason = _("the answer is too long to find one statement in it")
        return Verdict(item=item, decision=Decision.NO, rationale=reason)
    claimed = _affirmed(statement)
    if amounts:
        # Behind a marker the first clause is the answer; what follows explains it.
        marked = statement != answer.replace("*", "").strip()
        spoken = [name for name in names if not any(char.isdigit() for char in name)]
        clause = _first_clause(claimed) if marked else claimed
        return _judge_amount(item, amounts, spoken, clause)
    if _names_any(claimed, names):
        return Verdict(item=item, decision=Decision.YES, rationale=_("the answer names it"))
    return Verdict(item=item, decision=Decision.NO, rationale=_("the answer does not name it"))


def _names_any(claimed: str, names: Sequence[str]) -> bool:
    return any(contains_term(form(claimed).plain, form(name).plain) for name in names)


def _other_unit(gold: Sequence[Quantity], part: str) -> bool:
    """Whether `part` is an amount in a unit that no name of gold has, though one of them has a unit:
    beside `36 euros`, the alias `36` does not stand for 36 dollars.
    """
    units = {amount.unit for amount in gold if amount.unit}
    found = form(part).quantity
    return bool(units and found and found.unit and found.unit not in units)


def _judge_amount(
    item: Item, gold: Sequence[Quantity], spoken: Sequence[str], claimed: str
) -> Verdict:
    found = quantities_in(claimed)
    units = {amount.unit for amount in gold if amount.unit}
    relevant = [amount for amount in found if amount.unit in units] or [
        amount for amount in found if not units or not amount.unit
    ]
    if not relevant and _names_any(claimed, spoken):
        return Verdict(item=item, decision=Decision.YES, rationale=_("the answer names it"))
    if not relevant:
        return Verdict(
            item=item, decision=Decision.NO, rationale=_("the answer holds no such amount")
        )
    right = [any(same_quantity(amount, other) for amount in gold) for other in relevant]
    if all(right):
        return Verdict(
            item=item, decision=Decision.YES, rationale=_("the answer holds the same amount")
        )
    reason = (
        _("the answer holds several amounts") if any(right) else _("the answer's amount differs")
    )
    return Verdict(item=item, decision=Decision.NO, rationale=reason)


def _statement(answer: str) -> str:
    """The line behind the last marker; without a marker the whole text."""
    text = answer.replace("*", "").strip()
    rest = text
    for match in _MARKER.finditer(text):
        rest = text[match.end() :].strip() or rest
    return rest if rest is text else rest.split("\n", 1)[0].strip()


def _first_clause(statement: str) -> str:
    return next(filter(None, (part.strip() for part in _CLAUSE.split(statement))), statement)


def _affirmed(statement: str) -> str:
    """The statement without what it denies: from the denial to a `but` or the next sign."""
    return "".join(_DENIED.sub("", part) for part in _PARTS.split(statement))


def _likeness_reason(rule: Rule) -> str:
    match rule:
        case Rule.SAME:
            return _("the same answer")
        case Rule.VALUE:
            return _("the same amount")
        case Rule.DATE:
            return _("the same date")
        case Rule.WORDS:
            return _("the same words")
        case Rule.QUALIFIED:
            return _("the same answer with a qualifier")
        case Rule.SPELLING:
            return _("nearly the same spelling")

"""Whether a text says of an amount that it is the one.

Only amounts of gold's kind of unit count (`36 cents` and `36 tickets` are no 36 euros; exact conversions are); what
brackets, a `because` or a date say besides counts for nothing. All of them must be right, or the last, if it is stated as the
result (`72 / 2 = 36 euros`). Bounds, ranges and choices are no amounts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cuecard.core.i18n import _
from cuecard.core.judges.lexical_mentions import BUT, NOT_THIS, PARTS, judge_mention
from cuecard.core.judges.quantities import Quantity, amounts_in, kind_of, same_quantity, spelled
from cuecard.core.scoring.dates import MONTH_NAMES, Moment, parse_plain_date

OR = re.compile(r"\bor\b|\beither\b|\bversus\b|\bvs\b|或|还是|抑或|要么", re.IGNORECASE)
_MONTH = "|".join(sorted({n[:k] for n in MONTH_NAMES for k in (3, len(n))}, key=len, reverse=True))
_DATE = re.compile(
    r"(?:(?:公元)?\d{1,4}\s*年\s*)?\d{1,2}\s*月(?:\s*\d{1,2}\s*[日号])?|\d{4}\s*年\s*\d{1,2}\s*月"
    r"|(?<![\d.])\d{4}-\d{1,2}(?:-\d{1,2})?(?![\d.])|(?<!\d)\d{1,2}:\d{2}(?!\d)"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTH})\b\.?(?:,?\s+\d{{4}})?"
    rf"|\b(?:{_MONTH})\b\.?(?:\s+\d{{1,2}}(?:st|nd|rd|th)?(?!\d))?(?:,?\s+\d{{4}})?",
)
_BRACKETS = re.compile(r"[(（][^()（）]*[)）]|\[[^\[\]]*\]")
_BECAUSE = re.compile(
    r"\b(?:because|since|due to|given that)\b.*"
    r"|\b(?:that|which) is (?=half\b|a\b|one\b|\d+ ?(?:%|percent)).*|(?:因为|由于).*"
)
_WRONG = re.compile(
    r"\b(?:is|are|was|were|be)\s+(?:wrong|incorrect|false)\b|不对|不正确|有误|错误|是错的",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"(?:more than|less than|fewer than|greater than|over|under|above|below|at least|at most|up to|within"
    r"|超过|不到|不足|至少|至多|最多|最少|不少于|不多于|大于|小于|高于|低于)\s*$"
)
_BOUND_BEHIND = re.compile(
    r"\s*(?:or (?:more|less|fewer)|and (?:more|above)|plus|以上|以下|以内|多)(?![a-z])"
)
_RANGE_BEHIND = re.compile(r"\s*(?:to|-|–|—|~|至|到)\s*[€$£¥]?\d+(?![\d.]*\s*=)")
_COUNTED = re.compile(r"\d\s*[个座部种件次条岁张辆本台只间根把份]")
_TEX = re.compile(r"\$\$|\\[()\[\]]|\\(?:boxed|text|mathrm|times|cdot)\b|[{}]")
_CODE = re.compile(
    r"\b(?!EUR|USD|CNY|RMB|GBP|JPY|CHF|SEK|NOK|DKK|INR|RUB|US)[A-Z]{2,4}[ -]?\d+(?![\d.,]*\d)"
)
_RANGE = re.compile(r"^\s*(?:to|and|-|–|—|~|至|到)\s*$")
_RESULT = re.compile(
    r"[=≈→⇒:]|->|=>|\b(?:is|are|was|were|equals?|makes?|making|gives?|giving|leaves?|leaving|comes? to|amounts? to|totals?"
    r"|gets?|receives?|owes?|pays?|due|therefore|thus|hence|so|result|final|finally|halved?|remains?)\b"
    r"|即|为|是|得|等于|共|合计|因此|所以|故|最终|最后|应|就|剩|余|总|只有|需"
)
_SUPPOSED = re.compile(
    r"\b(?:would|could|if|without|unless|otherwise|instead)\b|如果|若|否则|本应|原本|假如"
)


def judge_amount(
    gold: Sequence[Quantity], claimed: str, spoken: tuple[str, ...], question: str
) -> tuple[str, bool]:
    """Why, and whether, `claimed` gives one of the `gold` amounts; `spoken`: gold names without digits."""
    text = _without_asides(claimed)
    found = amounts_in(text)
    kinds = {kind_of(amount.unit) for amount in gold if amount.unit}
    relevant = [f for f in found if f[0].known and f[0].unit and kind_of(f[0].unit) in kinds] or [
        f
        for f in found
        if not kinds
        or (
            not f[0].unit
            and not _COUNTED.match(text, f[2] - 1)
            and not _COUNTED.search(text[f[1] : f[2]])
        )
    ]
    if not relevant:
        if spoken and judge_mention(spoken, claimed, question)[1]:
            return _("the answer names it"), True
        return _("the answer holds no such amount"), False
    # Beside `36 euros` the alias `36` speaks of euros too.
    named = [amount for amount in gold if amount.unit] or gold
    right = [
        any(same_quantity(amount, other) for amount in (named if other.unit else gold))
        for other, _start, _end in relevant
    ]
    if not any(right):
        return _("the answer's amount differs"), False
    _amount, start, end = relevant[-1]
    if _BOUND.search(text[:start]) or _BOUND_BEHIND.match(text, end):
        return _("the answer gives a bound, not the amount"), False
    before = max((e for _q, _s, e in found if e <= start), default=0)
    between = text[before:start]
    within = before and _RANGE.match(between) and not text[end:].lstrip().startswith("=")
    if within or _RANGE_BEHIND.match(text, end):
        return _("the answer gives a range"), False
    if all(right):
        return _("the answer holds the same amount"), True
    previous = relevant[-2][2] if len(relevant) > 1 else 0
    leading = text[previous:start]
    stated = _RESULT.search(leading) and not _SUPPOSED.search(leading) and not OR.search(leading)
    if right[-1] and stated:
        return _("the answer's last amount, stated as the result, is the same"), True
    return _("the answer holds several amounts"), False


def _without_asides(claimed: str) -> str:
    """What a text claims of amounts: without what it denies, brackets, reasons and dates."""
    parts = PARTS.split(spelled(_CODE.sub(" ", _TEX.sub(" ", claimed))))
    text = "".join("" if _WRONG.search(part) else _not_denied(part) for part in parts)
    bare = _BRACKETS.sub(lambda found: found[0] if OR.search(found[0]) else " ", text)
    text = bare if any(char.isdigit() for char in bare) else text
    plain = "".join(
        _BECAUSE.sub(" ", part) if amounts_in(part[: _at(_BECAUSE, part)]) else part
        for part in re.split(r"([;；。]|\.\s)", text)
    )
    return _DATE.sub(" ", plain)


def _at(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    return found.start() if found else 0


def _not_denied(part: str) -> str:
    """A part without what stands behind its denial, up to a `but`."""
    denied = NOT_THIS.search(part) or re.search(r"不是|并非|不为|n't\b", part)
    if not denied:
        return part
    but = BUT.search(part, denied.end())
    return part[: denied.start()] + (part[but.end() :] if but else "")


def dates_in(text: str) -> list[Moment]:
    """The dates of the common spellings that a text names."""
    found = (parse_plain_date(match[0]) for match in _DATE.finditer(spelled(text)))
    return [date for date in found if date]


def without_brackets(text: str) -> str:
    """What a text says outside of brackets; all of it where they leave a choice."""
    return text if OR.search(text) else _BRACKETS.sub(" ", text).strip()

"""Whether two names mean one thing, as far as their letters can tell.

`same_thing` asks in this order: the same letters (NFKC, case, accents, punctuation and blanks aside); the
same amount or date; the same words but for order, articles and legal forms; one with a qualifier
that the other lacks (`London, England`, `Mercury (planet)`, `河南省`); a near spelling. Numbers in the
two must always agree: SN 1006 is not SN 1054, however alike they look.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import NamedTuple

from cuecard.core.judges.quantities import Quantity, parse_quantity, same_quantity
from cuecard.core.scoring.dates import Moment, parse_plain_date
from cuecard.core.scoring.numerals import HAN_NUMERALS
from cuecard.core.text import is_cjk

FUZZY_CUTOFF = 90.0
_TOKEN_CUTOFF = 80.0
_SHORTEST_TYPO = 4
_LONGEST_FUZZY = 200
_PARENTHESES = re.compile(r"[(\[][^()\[\]]*[)\]]")
_COMMA = re.compile(r"[,，、]")
_NUMBERS = re.compile(r"\d[\d,]*(?:\.\d+)?")
_DROPPABLE = frozenset(
    [
        "the",
        "a",
        "an",
        "inc",
        "ltd",
        "co",
        "corp",
        "corporation",
        "company",
        "llc",
        "plc",
        "gmbh",
        "spa",
        "ag",
        "sa",
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "sir",
    ]
)
# What may be said or left out at the end of a Chinese name without another thing being meant.
_CJK_SUFFIX_WORDS = "有限公司 公司 时期 先生 女士 省 市 县 区 州 国 朝 代 镇 村 星 山 河 湖 岛"
CJK_SUFFIXES = tuple(_CJK_SUFFIX_WORDS.split())


class Rule(StrEnum):
    """Why two names were taken for one."""

    SAME = "same"
    VALUE = "value"
    DATE = "date"
    WORDS = "words"
    QUALIFIED = "qualified"
    SPELLING = "spelling"


class Likeness(NamedTuple):
    """`score` in (0, 100]: how alike; 100 for all rules but `spelling`."""

    rule: Rule
    score: float = 100.0


@dataclass(frozen=True)
class Form:
    """A text with the forms by which it is compared, each made when it is first needed."""

    text: str

    @cached_property
    def plain(self) -> str:
        """NFKC, casefolded, Latin accents dropped, `&` read as `and`."""
        text = unicodedata.normalize("NFKC", self.text).casefold().replace("&", " and ")
        split = unicodedata.normalize("NFD", text)
        # Only Latin, Greek and Cyrillic accents: other marks change the letter (か and が).
        kept = "".join(char for char in split if not "\u0300" <= char <= "\u036f")
        return unicodedata.normalize("NFC", kept).strip()

    @cached_property
    def compact(self) -> str:
        """Letters and digits only; a text without any keeps its signs."""
        return _compact(self.plain) or self.plain

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Sorted words without articles, titles and legal forms, unless nothing else is there."""
        found = [word for word in re.split(r"[^\w+#]+|_+", self.plain.replace("'", "")) if word]
        kept = [word for word in found if word not in _DROPPABLE]
        return tuple(sorted(kept or found))

    @cached_property
    def without_parentheses(self) -> str:
        return _compact(_PARENTHESES.sub(" ", self.plain))

    @cached_property
    def head(self) -> str:
        """What stands before the first comma."""
        return _compact(_COMMA.split(self.plain, maxsplit=1)[0])

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """All numbers in it, sorted; Chinese numerals one by one."""
        found = [n.replace(",", "").lstrip("0") or "0" for n in _NUMBERS.findall(self.plain)]
        return tuple(sorted(found + [char for char in self.plain if char in HAN_NUMERALS]))

    @cached_property
    def quantity(self) -> Quantity | None:
        return parse_quantity(self.text)

    @cached_property
    def date(self) -> Moment | None:
        return parse_plain_date(self.text)

    @cached_property
    def cjk(self) -> bool:
        return is_cjk(self.text)

    @cached_property
    def blocks(self) -> frozenset[str]:
        """Keys of which two texts share one whenever any rule but `spelling` could hold."""
        keys = {self.compact, "w:" + " ".join(self.words), self.without_parentheses, self.head}
        if self.cjk:
            keys.update(
                self.compact.removesuffix(suffix)
                for suffix in CJK_SUFFIXES
                if len(self.compact) >= len(suffix) + 2
            )
        if self.quantity:
            keys.add(f"#{self.quantity.value.normalize()}")
            keys.add(f"@{self.quantity.value.normalize()}")
        if self.date:
            keys.add(f"@{self.date.year}")
        return frozenset(filter(None, keys))


@lru_cache(maxsize=16384)
def form(text: str) -> Form:
    """The shared `Form` of a text."""
    return Form(text)


def same_thing(gold: str, predicted: str) -> Likeness | None:
    """Why the two names are one thing, or None. A more precise date matches a coarser gold one, not
    the other way round.
    """
    return _same_form(form(gold), form(predicted))


def best_likeness(names: tuple[str, ...], predicted: str) -> Likeness | None:
    """The best likeness of `predicted` with any of several names."""
    found = [likeness for name in names if (likeness := same_thing(name, predicted))]
    return max(
        found,
        key=lambda likeness: (likeness.rule is not Rule.SPELLING, likeness.score),
        default=None,
    )


@lru_cache(maxsize=65536)
def _same_form(gold: Form, predicted: Form) -> Likeness | None:
    if gold.compact == predicted.compact:
        # Signs were dropped: -5 and 5 are not one.
        if gold.quantity and predicted.quantity and gold.quantity.value != predicted.quantity.value:
            return None
        return Likeness(Rule.SAME) if gold.compact else None
    if gold.quantity and predicted.quantity:
        same = same_quantity(gold.quantity, predicted.quantity)
        if same is not None:
            return Likeness(Rule.VALUE) if same else None
    gold_date, predicted_date = _moment(gold), _moment(predicted)
    if gold_date and predicted_date:
        return Likeness(Rule.DATE) if gold_date.covers(predicted_date) else None
    if gold.words == predicted.words and gold.words:
        return Likeness(Rule.WORDS)
    if _one_is_qualified(gold, predicted):
        return Likeness(Rule.QUALIFIED)
    return _near_spelling(gold, predicted)


def _moment(of: Form) -> Moment | None:
    """The date; a bare number of four digits counts as a year beside a date."""
    if of.date:
        return of.date
    quantity = of.quantity
    if quantity and quantity.known and quantity.unit in ("", "year"):
        year = int(quantity.value)
        if year == quantity.value and 1000 <= year <= 2999:
            return Moment(year)
    return None


def _one_is_qualified(gold: Form, predicted: Form) -> bool:
    return _qualifies(gold, predicted) or _qualifies(predicted, gold)


def _qualifies(longer: Form, shorter: Form) -> bool:
    if len(shorter.compact) < 2 or len(longer.compact) <= len(shorter.compact):
        return False
    if longer.without_parentheses == shorter.compact:
        return True
    # A qualifier with a number in it (`Berlin, 1936`) tells things apart.
    if longer.head == shorter.compact and longer.numbers == shorter.numbers:
        return True
    return longer.cjk and any(longer.compact == shorter.compact + suffix for suffix in CJK_SUFFIXES)


def _near_spelling(gold: Form, predicted: Form) -> Likeness | None:
    longest = max(len(gold.compact), len(predicted.compact))
    if gold.numbers != predicted.numbers or longest > _LONGEST_FUZZY:
        return None
    from rapidfuzz import fuzz

    score = fuzz.ratio(gold.compact, predicted.compact, score_cutoff=FUZZY_CUTOFF)
    if not score:
        return None
    if not gold.cjk and not predicted.cjk and not _typos_only(gold.words, predicted.words):
        return None
    return Likeness(Rule.SPELLING, score)


def _typos_only(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether the words pair up, each equal or a likely slip: Henry IV is not Henry V."""
    from rapidfuzz import fuzz

    rest = list(right)
    unmatched: list[str] = []
    for word in left:
        if word in rest:
            rest.remove(word)
        else:
            unmatched.append(word)
    if len(unmatched) != len(rest):
        # A word written apart: compare what is left as a whole.
        unmatched, rest = ["".join(unmatched)], ["".join(rest)]
    for word in unmatched:
        near = max(rest, key=lambda other: fuzz.ratio(word, other), default="")
        if min(len(word), len(near)) < _SHORTEST_TYPO or fuzz.ratio(word, near) < _TOKEN_CUTOFF:
            return False
        rest.remove(near)
    return True


def _compact(text: str) -> str:
    return "".join(char for char in text if char.isalnum() or char in "+#%°$€£¥")

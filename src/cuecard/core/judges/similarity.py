"""Whether two names mean the same thing, judged by their spelling, and which nodes of a graph a name could mean."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import NamedTuple

from cuecard.core.families.graph.gold import Graph
from cuecard.core.judges.quantities import (
    Moment,
    Quantity,
    parse_plain_date,
    parse_quantity,
    same_quantity,
    values_of,
)
from cuecard.core.text import HAN_NUMERALS, is_cjk

FUZZY_CUTOFF = 90.0
_TOKEN_CUTOFF = 80.0
_SHORTEST_TYPO = 4
_SHORTEST_FUZZY = 4
_LONGEST_FUZZY = 200
_PARENTHESES = re.compile(r"[(\[][^()\[\]]*[)\]]")
_COMMA = re.compile(r"[,，]")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)")
_ADDRESS = re.compile(r"<https?://[^<>\s]*>")
_EMPHASIS = re.compile(r"\*{1,3}|`+|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)")
# `St.` before a name is Saint; after one it is a street.
_ABBREVIATED = re.compile(r"\b(St|Ste|Mt)(?:\.\s*|\s+)(?=[^\W\d_])", re.IGNORECASE)
_IN_FULL = {"st": "Saint ", "ste": "Sainte ", "mt": "Mount "}
_DENIED = re.compile(r"\b(?:not|never|neither|nor)\b|n't\b|不是|并非|绝非|而非|没有|未曾|从未")
_HEDGED = re.compile(r"\bor\b|或|还是|抑或")
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
# Endings that a Chinese name may have or lack without meaning another thing.
_CJK_SUFFIX_WORDS = "有限公司 公司 时期 先生 女士 省 市 县 区 州 国 朝 代 镇 村 星 山 河 湖 岛"
CJK_SUFFIXES = tuple(_CJK_SUFFIX_WORDS.split())


class Rule(StrEnum):
    """The rule by which two names match: equal but for case, accents and punctuation; equal amounts; gold's date
    covers the other; the same words (`Illy, Ferenc`); one has a qualifier more (`Berlin (Germany)`); a likely typo.
    """

    SAME = "same"
    VALUE = "value"
    DATE = "date"
    WORDS = "words"
    QUALIFIED = "qualified"
    SPELLING = "spelling"


class NameSimilarity(NamedTuple):
    """A match of two names. `score`: rapidfuzz's ratio in (0, 100] for the rule `spelling`, 100 for all others."""

    rule: Rule
    score: float = 100.0


@dataclass(frozen=True)
class Form:
    """A text with the normal forms by which it is compared, each made when it is first needed."""

    text: str

    @cached_property
    def plain(self) -> str:
        """NFKC, casefolded, Markdown and Latin accents dropped, `&` read as `and`, `St.` as `saint`."""
        split = unicodedata.normalize("NFD", spelled_out(self.text).casefold())
        # Only Latin, Greek and Cyrillic accents: other marks change the letter (か and が).
        kept = "".join(char for char in split if not "\u0300" <= char <= "\u036f")
        return unicodedata.normalize("NFC", kept).strip()

    @cached_property
    def compact(self) -> str:
        """`plain` reduced to letters, digits and `+#%°$€£¥`; `plain` itself where that leaves nothing."""
        return _compact(self.plain) or self.plain

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words without articles, titles and legal forms (unless nothing else is left); what stands before a comma
        comes last, so that `Illy, Ferenc` equals `Ferenc Illy`.
        """
        parts = self.plain.replace("'", "").split(",")
        if len(parts) == 2 and all(part.strip() for part in parts):
            parts.reverse()
        found = [word for part in parts for word in re.split(r"[^\w+#]+|_+", part) if word]
        kept = [word for word in found if word not in _DROPPABLE]
        return tuple(kept or found)

    @cached_property
    def sorted_words(self) -> tuple[str, ...]:
        return tuple(sorted(self.words))

    @cached_property
    def without_parentheses(self) -> str:
        return _compact(_PARENTHESES.sub(" ", self.plain))

    @cached_property
    def head(self) -> str:
        """What stands before the first comma, compacted."""
        return _compact(_COMMA.split(self.plain, maxsplit=1)[0])

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """All numbers in the text, sorted; Chinese numerals digit by digit."""
        found = [n.replace(",", "").lstrip("0") or "0" for n in _NUMBERS.findall(self.plain)]
        return tuple(sorted(found + [char for char in self.plain if char in HAN_NUMERALS]))

    @cached_property
    def quantity(self) -> Quantity | None:
        return parse_quantity(without_markdown(self.text))

    @cached_property
    def date(self) -> Moment | None:
        return parse_plain_date(without_markdown(self.text))

    @cached_property
    def claims(self) -> tuple[bool, bool]:
        """Whether the text holds a denial, and whether it holds an `or`. Texts that differ in this never match by
        qualifier or typo.
        """
        return _DENIED.search(self.plain) is not None, _HEDGED.search(self.plain) is not None

    @cached_property
    def cjk(self) -> bool:
        return is_cjk(self.text)

    @cached_property
    def blocks(self) -> frozenset[str]:
        """Keys for looking up candidates: two texts that could match by any rule but `spelling` share one."""
        keys = {
            self.compact,
            "w:" + " ".join(self.sorted_words),
            self.without_parentheses,
            self.head,
        }
        if self.cjk:
            keys.update(
                self.compact.removesuffix(suffix)
                for suffix in CJK_SUFFIXES
                if len(self.compact) >= len(suffix) + 2
            )
        if self.quantity:
            keys.update(f"#{value.normalize()}" for value in values_of(self.quantity))
            keys.add(f"@{self.quantity.value.normalize()}")
        if self.date:
            keys.add(f"@{self.date.year}")
        return frozenset(filter(None, keys))


@lru_cache(maxsize=16384)
def form(text: str) -> Form:
    """The `Form` of a text, cached."""
    return Form(text)


def same_thing(gold: str, predicted: str) -> NameSimilarity | None:
    """By which rule two names mean the same thing, or None. A predicted date may be more precise than gold, not less.

    >>> same_thing("Illy, Ferenc", "Ferenc Illy").rule
    <Rule.WORDS: 'words'>
    >>> same_thing("Henry IV", "Henry V") is None
    True
    """
    return _same_form(form(gold), form(predicted))


def best_similarity(names: tuple[str, ...], predicted: str) -> NameSimilarity | None:
    """The best match of `predicted` with any of several names of one thing, or None.

    A longer name that contradicts the thing's own longer names is no match: for the names `Cabrera` and
    `Delfo Cabrera`, `Cabrera, Miguel` is not taken for `Cabrera` with a qualifier.
    """
    found = [
        similarity
        for name in names
        if (similarity := same_thing(name, predicted))
        and not (similarity.rule is Rule.QUALIFIED and _another(name, names, predicted))
    ]
    return max(
        found,
        key=lambda similarity: (similarity.rule is not Rule.SPELLING, similarity.score),
        default=None,
    )


def spelled_out(text: str) -> str:
    """The text without Markdown, in NFKC, with `&` and `St.` written out: `**St. Moritz**` gives `Saint Moritz`.
    Capitals and accents stay.
    """
    text = unicodedata.normalize("NFKC", without_markdown(text)).replace("’", "'")
    text = _ABBREVIATED.sub(lambda found: _IN_FULL[found[1].lower()], text)
    return text.replace("&", " and ")


def without_markdown(text: str) -> str:
    """The text without addresses, emphasis and code marks, and with links reduced to their text."""
    if not any(char in text for char in "[*`_<"):
        return text
    return _EMPHASIS.sub("", _ADDRESS.sub(" ", _LINK.sub(r"\1", text)))


def _another(name: str, names: tuple[str, ...], predicted: str) -> bool:
    own, said = set(form(name).words), set(form(predicted).words)
    if form(predicted).cjk or len(own) > 1 or not own < said:
        return False
    fuller = [set(form(other).words) - own for other in names if own < set(form(other).words)]
    return bool(fuller) and not any(said - own & words for words in fuller)


@lru_cache(maxsize=65536)
def _same_form(gold: Form, predicted: Form) -> NameSimilarity | None:
    if gold.compact == predicted.compact:
        # `compact` drops minus signs, but -5 is not 5.
        if gold.quantity and predicted.quantity and gold.quantity.value != predicted.quantity.value:
            return None
        return NameSimilarity(Rule.SAME) if gold.compact else None
    if gold.quantity and predicted.quantity:
        same = same_quantity(gold.quantity, predicted.quantity)
        if same is not None:
            return NameSimilarity(Rule.VALUE) if same else None
    gold_date, predicted_date = moment_of(gold), moment_of(predicted)
    if gold_date and predicted_date:
        return NameSimilarity(Rule.DATE) if gold_date.covers(predicted_date) else None
    if gold.words and _same_words(gold, predicted):
        return NameSimilarity(Rule.WORDS)
    if gold.claims != predicted.claims:
        return None
    if _one_is_qualified(gold, predicted):
        return NameSimilarity(Rule.QUALIFIED)
    return _near_spelling(gold, predicted)


def _same_words(gold: Form, predicted: Form) -> bool:
    """Whether the words are equal and in the same order; two words may be swapped."""
    return gold.words == predicted.words or (
        len(gold.words) == 2 and gold.sorted_words == predicted.sorted_words
    )


def moment_of(of: Form) -> Moment | None:
    """The date of a text; a bare whole number from 1000 to 2999 is read as a year. Else None."""
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
    # A qualifier with a number in it makes another thing: `Berlin, 1936` is not `Berlin`.
    if longer.head == shorter.compact and longer.numbers == shorter.numbers:
        return True
    return longer.cjk and any(longer.compact == shorter.compact + suffix for suffix in CJK_SUFFIXES)


def _near_spelling(gold: Form, predicted: Form) -> NameSimilarity | None:
    longest = max(len(gold.compact), len(predicted.compact))
    if gold.numbers != predicted.numbers or longest > _LONGEST_FUZZY:
        return None
    from rapidfuzz import fuzz

    score = fuzz.ratio(gold.compact, predicted.compact, score_cutoff=FUZZY_CUTOFF)
    if not score:
        return None
    if (
        not gold.cjk
        and not predicted.cjk
        and not _typos_only(gold.sorted_words, predicted.sorted_words)
    ):
        return None
    return NameSimilarity(Rule.SPELLING, score)


def _typos_only(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether the words pair up, each equal to its partner or a likely typo of it. `Henry IV` and `Henry V` do not: `IV`
    is too short for a typo.
    """
    from rapidfuzz import fuzz

    rest = list(right)
    unmatched: list[str] = []
    for word in left:
        if word in rest:
            rest.remove(word)
        else:
            unmatched.append(word)
    if len(unmatched) != len(rest):
        # A word may be written as two: compare the words that are left joined.
        unmatched, rest = ["".join(unmatched)], ["".join(rest)]
    for word in unmatched:
        near = max(rest, key=lambda other: fuzz.ratio(word, other), default="")
        if min(len(word), len(near)) < _SHORTEST_TYPO or fuzz.ratio(word, near) < _TOKEN_CUTOFF:
            return False
        rest.remove(near)
    return True


def _compact(text: str) -> str:
    return "".join(char for char in text if char.isalnum() or char in "+#%°$€£¥")


class NodeIndex:
    """Looks up which nodes of a gold graph a predicted name could mean, by every name and alias of every node."""

    def __init__(self, graph: Graph) -> None:
        self._names = {node: graph.names_of(node) for node in graph.node_ids}
        self._same: dict[str, set[str]] = defaultdict(set)
        self._blocks: dict[str, set[str]] = defaultdict(set)
        for node, names in self._names.items():
            for name in names:
                self._same[form(name).compact].add(node)
                for block in form(name).blocks:
                    self._blocks[block].add(node)
        self._spellings = [text for text in self._same if len(text) >= _SHORTEST_FUZZY]
        self._found: dict[str, Mapping[str, NameSimilarity]] = {}

    def find(self, name: str) -> Mapping[str, NameSimilarity]:
        """The ids of the nodes that `name` could mean, each with its match. Where some node has exactly this name, no
        others are considered, and typos count only where no other rule matches.
        """
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def is_value(self, node: str) -> bool:
        """Whether the node is an amount or a date rather than a thing."""
        of = form(self._names[node][0])
        return of.quantity is not None or of.date is not None

    def _find(self, name: str) -> dict[str, NameSimilarity]:
        of = form(name)
        candidates = set(self._same.get(of.compact, ()))
        if not candidates:
            candidates = {node for block in of.blocks for node in self._blocks.get(block, ())}
            candidates |= self._near(of.compact)
        found: dict[str, NameSimilarity] = {}
        for node in candidates:
            similarity = best_similarity(self._names[node], name)
            if similarity:
                found[node] = similarity
        firm = {
            n: similarity for n, similarity in found.items() if similarity.rule is not Rule.SPELLING
        }
        return firm or found

    def _near(self, compact: str) -> set[str]:
        if len(compact) < _SHORTEST_FUZZY or not self._spellings:
            return set()
        from rapidfuzz import fuzz, process

        hits = process.extract(
            compact, self._spellings, scorer=fuzz.ratio, score_cutoff=FUZZY_CUTOFF, limit=5
        )
        return {node for text, *_rest in hits for node in self._same[text]}

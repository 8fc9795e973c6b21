"""Whether an answer asserts a gold name or amount, judged by words of denial, choice and rank (English and Chinese)."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cuecard.core.i18n import _
from cuecard.core.judges.quantities import (
    MONTH_NAMES,
    Moment,
    Quantity,
    amounts_in,
    kind_of,
    parse_plain_date,
    same_quantity,
    spelled,
)
from cuecard.core.judges.similarity import form, spelled_out

PARTS = re.compile(r"([,，、;；:：。！？!?\n]|\.(?=\s|$)|\s[–—-]\s)")
NOT_THIS = re.compile(
    r"\b(?:rather than|instead of|and not|but not|not|nor|unlike|except(?: for)?|other than|apart from|besides)\b"
    r"|而非|而不是|除了|以外|(?<![莫是除无])非(?=\0)",
    re.IGNORECASE,
)
BUT = re.compile(r"\bbut\b|而是|反而是", re.IGNORECASE)
_MENTION = "\0"
_AUXILIARY = (
    r"(?:did|do|does|was|were|is|are|has|have|had|would|could|should|can|will|may|might|must)"
)
_GOES_ON = re.compile(
    rf"\s*(?:however|though|although|in fact|actually|of course|unfortunately|sadly|{_AUXILIARY}(?:n't)?|never|failed|并|也|却|但?没|未)(?![a-z])",
    re.IGNORECASE,
)
_WHO = re.compile(r"\s*(?:who|which|that|他|她|它|其)(?![a-z])", re.IGNORECASE)
_SURELY = re.compile(
    r"(?:there (?:is|can be) )?\b(?:no|without(?: a)?|beyond) (?:doubt|question)\b|\bnot only\b|\bnone other than\b"
    r"|毫无疑问|毫无疑义|无疑|没错|不错|没问题|不仅|不只|非.{0,2}莫属",
    re.IGNORECASE,
)
_NOT_PREDICATE = re.compile(
    rf"\b{_AUXILIARY}\s+(?:\w+\s+)?not\b|\w+n't\b|\bcannot\b|\bnever\b|\bfail(?:s|ed)? to\b|\bis wrong\b|\bneither\b"
    r"|不是|并非|绝非|不为|没有|没(?!错|问题)|未(?=能|曾|获|必|有|赢|参|主|得|被)|从未|并未|不可能|不会|不能|不算|不属于|不对|错误|(?<=\0)不(?![仅只愧断久但过同])",
    re.IGNORECASE,
)
_LESSER = re.compile(
    r"\b(?:second|third|fourth|fifth|runner-?up|silver|bronze|lost|loses|lose|beaten|behind|disqualified|withdrew|last)\b"
    r"|亚军|季军|第[二三四五]|落败|输给|落选|失利|退赛|银牌|铜牌",
    re.IGNORECASE,
)
_WON = re.compile(
    r"\b(?:won|wins|winner|champion|victor|victory|gold medal|took (?:the )?(?:gold|title)|came first|beat)\b"
    r"|冠军|获胜|夺冠|夺得|赢得|赢了|金牌",
    re.IGNORECASE,
)
# Before a name: words that leave it open, and verbs that make it the one who was beaten.
_OPEN = re.compile(
    r"\b(?:whether|nobody|no one|unknown|unclear|unsure|doubt|not sure|don't know)\b|是否|不知道|不清楚|不确定|没有证据|谁也不知",
    re.IGNORECASE,
)
_BEATS = re.compile(
    r"\b(?:beat|beats|defeated|outran|overtook|passed|ahead of)\s+(?:\w+\s+){0,2}\0|(?:击败|战胜|胜过|赢|领先于?)了?\0",
    re.IGNORECASE,
)
_MAYBE = re.compile(r"\b(?:maybe|perhaps|possibly)\b|也许|可能|或许", re.IGNORECASE)
_RETRACTED = re.compile(
    r"[.?!。？！,，;；–—-]\s*(?:no\b|wait\b|correction\b|sorry\b|不对|更正|不[，,])"
    r"|\bbut (?:the )?(?:\w+ )?(?:winner|answer|champion|actual|real|correct)\b|但.{0,8}(?:是|为)[\u4e00-\u9fff·]{2,6}[。.\s]*$",
    re.IGNORECASE,
)
_OTHERS = r"[^,，、.;:。；：\n\0]{1,40}"
_CHOICE = r"(?:\bor\b|\bversus\b|\bvs\.?|/|\||或者?(?![称名叫作字])|还是|抑或|要么)"
_OR_ANOTHER = re.compile(
    rf"\0[)\"'”》\s]*(?:[,，、]\s*{_OTHERS})*[,，、(.;。；]?\s*{_CHOICE}[\s\"'“《(]*(?=[^\s\0\"'“《(])",
    re.IGNORECASE,
)
_ANOTHER_OR = re.compile(
    rf"[^\s\0()\"'”》,，、][)\"'”》\s]*[,，、(]?\s*{_CHOICE}\s*(?:(?:the|possibly|maybe|perhaps|else|rather|是|可能是|也许是)\s*)*[\"'“《(]*\0",
    re.IGNORECASE,
)
_LIST = re.compile(r"\s*(?:[,，、;；\n/]|\band\b|\bplus\b|和|与|以及|及)\s*", re.IGNORECASE)
_BULLET = re.compile(r"^(?:\d{1,2}[.)]|[-•])\s*")
_NAME_ONLY = re.compile(
    r"(?:[^\W\d_a-z][\w.'-]*|de|da|van|von|of|the|la|le|di|del|y)(?:\s+(?:[^\W\d_a-z][\w.'-]*|de|da|van|von|of|the|la|le|di|del|y))*|[\u4e00-\u9fff·]{2,6}"
)
# Words before a name that are not part of it, even with a capital.
_ROLE_WORDS = (
    "the a an mr mrs ms miss dr prof professor sir lady lord king queen emperor president general captain "
    "sergeant señor señora don saint runner athlete winner champion victor medallist medalist marathoner "
    "engineer designer inventor architect founder author poet painter climber astronomer scientist monk "
    "in it is was by of and or but not to from at on for with as that this so therefore thus hence yes no "
    "answer only surely clearly probably perhaps maybe both either neither when where who what which "
    "because since if although while he she they we i"
)
_ROLES = frozenset(_ROLE_WORDS.split())
_RELATIVE_CJK = re.compile(
    r"(?:的|之)(?:父亲?|母亲?|子|女|儿子|女儿|孙|弟子?|兄|学生|徒弟|老师|师父|妻子?|丈夫|夫人|助手|同事|朋友|对手|同乡|后人|前任|继任)"
    r"|大桥|大学|大道|大街|大厦|湾|路(?!过)|街|站|奖|杯|队|故居|纪念馆|研究所|公司"
)
_RELATIVE_OF = re.compile(
    r"\b(?:father|mother|son|daughter|brother|sister|wife|husband|cousin|uncle|nephew|coach|trainer|teacher|student|pupil"
    r"|assistant|friend|rival|colleague|teammate|successor|predecessor|widow|descendant)\s+(?:of|to)\s+(?:the\s+)?$",
    re.IGNORECASE,
)


class _Mention(NamedTuple):
    start: int
    end: int


def judge_mention(names: Sequence[str], statement: str, question: str = "") -> tuple[str, bool]:
    """The reason (translated) and whether `statement` asserts one of `names` as the answer, rather than denying it,
    offering it as one of several or naming another. Words of denial or rank in `question` do not count against it.

    >>> judge_mention(["Cabrera"], "Gailly came second, so it is Cabrera")
    ('the answer names it', True)
    >>> judge_mention(["Cabrera"], "It was not Cabrera but Gailly")
    ('the answer denies it', False)
    """
    masked, mentions = _masked(spelled_out(statement), names)
    if not mentions:
        return _("the answer does not name it"), False
    asked = spelled_out(question)
    if _OR_ANOTHER.search(masked) or _ANOTHER_OR.search(masked) or len(_MAYBE.findall(masked)) > 1:
        return _("the answer leaves a choice"), False
    items = [_BULLET.sub("", item.strip(" .。")) for item in _LIST.split(masked)]
    items = [item for item in items if item]
    if any(item != _MENTION for item in items) and all(
        item == _MENTION or (_NAME_ONLY.fullmatch(item) and not _not_this(item)) for item in items
    ):
        return _("the answer lists several"), False
    stands, won, other_won = False, False, False
    for part in _joined_parts(masked):
        if _MENTION not in part:
            told = _WON.search(part.strip())
            other_won = other_won or bool(told and told.start() and not _NOT_PREDICATE.search(part))
            continue
        stands = not _denies(part, asked)
        won = won or bool(_WON.search(part))
    if not stands or _RETRACTED.search(masked, masked.rfind(_MENTION)):
        return _("the answer denies it"), False
    if other_won and not won and not _LESSER.search(asked):
        return _("the answer names another"), False
    return _("the answer names it"), True


def _not_this(text: str) -> bool:
    return bool(NOT_THIS.search(text) or _NOT_PREDICATE.search(text))


def _denies(part: str, question: str) -> bool:
    """Whether a part of the statement that holds a gold name says that it is not the answer."""
    said = _SURELY.sub("", part)
    place = said.find(_MENTION)
    if _OPEN.search(said, 0, place) or (_BEATS.search(said) and not _BEATS.search(question)):
        return True
    if not _NOT_PREDICATE.search(question):
        for found in _NOT_PREDICATE.finditer(said):
            if found.start() > place:
                if found.start() and said[found.start() - 1] == "而":
                    continue
                if not BUT.search(said, found.end()):
                    return True
            elif not BUT.search(said, found.end(), place):
                return True
    found = NOT_THIS.search(said)
    if found and found.end() <= place and not BUT.search(said, found.end(), place):
        return True
    lesser = _LESSER.search(said)
    return bool(
        lesser and lesser.start() > place and not _WON.search(said) and not _LESSER.search(question)
    )


def _joined_parts(text: str) -> Iterator[str]:
    """The parts between punctuation marks. A part without a subject of its own (`though never again`) is joined to the
    one before, and so is a relative clause at the end.
    """
    pieces = [piece for piece in PARTS.split(text)[::2] if piece.strip()]
    joined: list[str] = []
    for number, piece in enumerate(pieces):
        relative = number == len(pieces) - 1 and _WHO.match(piece)
        if joined and (_GOES_ON.match(piece) or relative or joined[-1].endswith("\1")):
            joined[-1] = f"{joined[-1].rstrip(chr(1))} {piece}"
        else:
            joined.append(piece)
        if re.fullmatch(
            r"\s*(?:however|though|in fact|actually|of course)\s*", piece, re.IGNORECASE
        ):
            joined[-1] += "\1"
    return iter(joined)


def _masked(statement: str, names: Sequence[str]) -> tuple[str, list[_Mention]]:
    """The statement with `_MENTION` in place of every gold name that is not part of a longer one, and their places:
    `Cabrera` in `Miguel Cabrera` is not replaced.
    """
    folded, places = _folded(statement)
    taken = bytearray(len(folded))
    found: list[_Mention] = []
    for name in sorted({form(name).plain for name in names}, key=len, reverse=True):
        if not name:
            continue
        left = r"(?<![0-9a-z])" if name[0].isascii() and name[0].isalnum() else ""
        right = r"(?![0-9a-z])" if name[-1].isascii() and name[-1].isalnum() else ""
        for match in re.finditer(left + re.escape(name) + right, folded):
            start, end = match.span()
            if any(taken[start:end]):
                continue
            taken[start:end] = b"\x01" * (end - start)
            mention = _Mention(places[start], places[end - 1] + 1)
            if _is_whole(statement, mention):
                found.append(mention)
    text = statement
    for mention in sorted(found, reverse=True):
        text = text[: mention.start] + _MENTION + text[mention.end :]
    return text, found


def _folded(text: str) -> tuple[str, list[int]]:
    """The text casefolded and without Latin accents, and the place of each of its characters in the original."""
    chars: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        split = unicodedata.normalize("NFD", char.casefold())
        kept = "".join(c for c in split if not "\u0300" <= c <= "\u036f")
        for one in unicodedata.normalize("NFC", kept):
            chars.append(one)
            places.append(place)
    return "".join(chars), places


def _is_whole(text: str, at: _Mention) -> bool:
    """Whether a name stands for the thing itself: not in a longer name, and not in `the father of X` or `X's bridge`."""
    before, behind = text[: at.start], text[at.end :]
    if _RELATIVE_OF.search(before) or re.match(r"'s?\s+\w", behind):
        return False
    if _RELATIVE_CJK.match(behind):
        return False
    word = re.search(r"(?:\b(the|an?)[^\S\n]+)?([^\W\d_][\w'-]*)[^\S\n]+$", before, re.IGNORECASE)
    # `The Argentine Cabrera` and `Argentina's Cabrera` describe the same person, `Miguel Cabrera` is another.
    told = word and (word[1] or word[2].endswith("'s"))
    if word and not told and _is_name(word[2]) and text[at.start].isupper():
        return False
    following = re.match(r"[^\S\n]+([^\W\d_][\w'-]*)", behind)
    return not (following and _is_name(following[1]))


def _is_name(word: str) -> bool:
    return word[0].isupper() and word.casefold() not in _ROLES


OR = re.compile(r"\bor\b|\beither\b|\bversus\b|\bvs\b|或|还是|抑或|要么", re.IGNORECASE)
_MONTH = "|".join(sorted({n[:k] for n in MONTH_NAMES for k in (3, len(n))}, key=len, reverse=True))
_DATE = re.compile(
    r"(?:(?:公元)?\d{1,4}\s*年\s*)?\d{1,2}\s*月(?:\s*\d{1,2}\s*[日号])?|\d{4}\s*年\s*\d{1,2}\s*月"
    r"|(?<![\d.])\d{4}-\d{1,2}(?:-\d{1,2})?(?![\d.])|(?<!\d)\d{1,2}:\d{2}(?!\d)"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTH})\b\.?(?:,?\s+\d{{4}})?"
    rf"|\b(?:{_MONTH})\b\.?(?:\s+\d{{1,2}}(?:st|nd|rd|th)?(?!\d))?(?:,?\s+\d{{4}})?"
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
    """The reason (translated) and whether `claimed` gives one of the `gold` amounts, rather than another one, a bound,
    a range or several. `spoken`: gold names without digits, which count where `claimed` holds no amount.

    >>> judge_amount([parse_quantity("36 euros")], "12 + 24 = 36", (), "")
    ("the answer's last amount, stated as the result, is the same", True)
    >>> judge_amount([parse_quantity("36 euros")], "at least 36 euros", (), "")
    ('the answer gives a bound, not the amount', False)
    """
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
    # With the names `36 euros` and `36`, the bare alias means euros too.
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
    """The text without what it denies and without brackets, reasons and dates, whose numbers are not the answer."""
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
    """The part without its denied words, up to a `but`: `36, not 38 but 40` becomes `36,  40`."""
    denied = NOT_THIS.search(part) or re.search(r"不是|并非|不为|n't\b", part)
    if not denied:
        return part
    but = BUT.search(part, denied.end())
    return part[: denied.start()] + (part[but.end() :] if but else "")


def dates_in(text: str) -> list[Moment]:
    """The dates in a text, in order, as far as they are in a common spelling (see `parse_plain_date`)."""
    found = (parse_plain_date(match[0]) for match in _DATE.finditer(spelled(text)))
    return [date for date in found if date]


def without_brackets(text: str) -> str:
    """The text without brackets: `36 (not 38)` gives `36`. A text that holds an `or` stays whole."""
    return text if OR.search(text) else _BRACKETS.sub(" ", text).strip()

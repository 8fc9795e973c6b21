"""Whether a user leaves open what the agent asked. Built to be right when it says so: a doubt is no fault."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cuecard.core.parts import Act, Message
from cuecard.core.phrases import content_words, is_question, sentences, shared_words
from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import normalise
from cuecard.core.users.phrasebook import phrase, pushes

_MOST, _LONG = 12, 400
_HEADING = re.compile(r"^\s*(?:#|>|\||[-*+]\s|\d+[.)]\s|\*\*)")
_ASKS = re.compile(
    r"[?？]\W*$|[吗呢][。！.!\s]*$|\b(?:tell me|let me know)\b|请告诉|告诉我", re.IGNORECASE
)
_TO_USER = re.compile(r"\b(?:you|your|i|we)\b|[你您我]", re.IGNORECASE)
_CHOICE = re.compile(r"\bor\b|还是|或者", re.IGNORECASE)
# Questions that any words, or none, are an answer to: offers, and asking how it was.
_OFFER = re.compile(
    r"\b(?:shall|should|can|could|may|might) (?:i|we)\b|\b(?:would you like|do you want|want|need) (?:me|to|us)\b"
    r"|\bwould you like\b(?!.*\b(?:which|what)\b)|\bdo you (?:have|need) (?:any|more|other|further|something)\b"
    r"|\b(?:any|some|is there|are there) ?(?:anything|any|more|other|further|thing|question)|\banything (?:else|more)"
    r"|\b(?:what|where|how) (?:else|next)\b|\bwhat would you like\b|\bhow (?:else )?(?:can|may|could) i\b"
    r"|\b(?:does|do|is|was|did|has|are) (?:this|that|these|it|everything|my)\b|\b(?:sound|look)s? (?:good|right|ok)"
    r"|\b(?:right|ok|okay|correct|good)\?|\bready\b|\blet me know (?:if|when|should)|\bfeel free\b|\binterested in\b",
    re.IGNORECASE,
)
_OFFER_CHINESE = re.compile(
    r"需要(?:我|继续|再|进一步|更|了解|补充|帮|吗|知道)|(?:要不要|是否要|是否需要|用不用|要我|想让我|希望我|我可以|我能|我再|让我|我来)"
    r"|还有(?:什么|其他|其它|别的|哪些|没有|问题)|有(?:没有)?(?:其他|其它|别的|什么)(?:问题|需要|想|要)"
    r"|(?:可以|好|行|对|清楚|满意|明白|够|合适|有用|有帮助)(?:了)?[吗么]|是吗|如何[?？]|怎么样[?？]|继续吗|接下来"
    r"|想(?:继续|进一步|再)|随时"
)
_ANSWERS = re.compile(
    r"\b(?:yes|yeah|yep|no|nope|sure|right|correct|exactly|indeed|wrong|true|false|both|neither|either|none|any|all"
    r"|whichever|whatever|anything|anyone|prefer\w*|don['’]?t (?:mind|care|know)|do not (?:mind|care|know)|no idea"
    r"|not sure|can['’]?t say|cannot say|hard to say|up to you|you (?:decide|choose|pick)|decide (?:yourself|for me)"
    r"|your (?:call|choice)|(?:doesn['’]?t|does not) matter|makes no difference|as you like|no special|special wish"
    r"|later|another time|come (?:back )?to (?:that|it)|get to that|skip|i (?:mean|want|would|am|have|like)|i['’](?:m|d|ve))\b"
    r"|\bfits\b",
    re.IGNORECASE,
)
_ANSWERS_CHINESE = re.compile(
    r"^\W*(?:是|对|不|没|有|要|可以|行|好|嗯|当然|没错|当中)|都(?:可以|行|好|要|不)|随便|随意|无所谓|[你您](?:来)?(?:定|决定|看着办|选)"
    r"|没(?:有)?(?:什么|特别|要求|偏好|讲究|想)|不(?:清楚|知道|确定|限|在意|介意|重要|太懂)|任意|任何|看情况|按.{0,6}(?:理解|来)"
    r"|稍后|待会|等会|等一下|回头|之后再|以后再|晚点|后面再|到时候|先不|我(?:想|要|指|说的是|更|希望|喜欢|是|有|在)|指的是|不对|对得上|好像"
)
_NOTHING = re.compile(
    r"^\W*(?:(?:well|so|and|but|hm+|mm+|ok|okay|oh|ah|thanks?|thank you|great|good|nice|fine|i see|got it|interesting)\b"
    r"|(?:that|this|it)(?:['’]s| is| was| sounds| looks| does)\b|not (?:quite|yet|really|exactly)\b"
    r"|(?:please |just |now )?(?:go on|continue|keep|carry on|proceed|look|search|try|dig|tell|give|show|find|explain|say)\b"
    r"|谢|好的|明白|知道了|收到|嗯|哦|这|那|还不|不太|请|继续|接着|再|麻烦)",
    re.IGNORECASE,
)

_LANGUAGES: tuple[TaskLanguage, ...] = ("en", "zh")
_EMPTY = tuple(
    said
    for language in _LANGUAGES
    for said in (*pushes(language), *(phrase(language, name) for name in ("nothing_yet", "thanks")))
)


def questions_put(said: Message) -> tuple[str, ...]:
    """The questions of an agent's turn that want an answer of the user: those at its end or put to `you`;
    not headings, offers to go on, or whether it was any good.
    """
    text, put = sentences(said.text), list[str]()
    closing = True
    for sentence in reversed(text[-200:]):
        asks = is_question(sentence) and _ASKS.search(sentence) is not None
        if asks and not _HEADING.match(sentence) and len(sentence) <= _LONG:
            to_user = closing or said.act is Act.ASK or _TO_USER.search(sentence)
            if to_user and not _is_offer(sentence):
                put.append(sentence)
        closing = closing and asks
    return tuple(reversed(put[:_MOST]))


def is_left_open(asked: Iterable[str], words: str, not_met: str = "") -> bool:
    """Whether `words` answer none of these questions: nothing in them takes one up, states a preference,
    agrees, declines or puts off, and every sentence only pushes, thanks or asks for something else.
    `not_met`: what the task's card says for a cue that is not met; to repeat it answers nothing.
    """
    known = {normalise(s) for said in (not_met, *_EMPTY) for s in sentences(said)}
    rest = [s for s in sentences(words) if normalise(s) not in known]
    said = content_words("\n".join(rest))
    if any(shared_words(content_words(question), said) for question in asked):
        return False
    return all(_says_nothing(sentence) for sentence in rest)


def _is_offer(question: str) -> bool:
    if _CHOICE.search(question):
        return False
    return bool(_OFFER.search(question) or _OFFER_CHINESE.search(question))


def _says_nothing(sentence: str) -> bool:
    if _ANSWERS.search(sentence) or _ANSWERS_CHINESE.search(sentence):
        return False
    return bool(_NOTHING.match(sentence) or is_question(sentence) or not content_words(sentence))

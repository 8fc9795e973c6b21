"""Finds faults in what a user part says, whoever plays it: leaks, lines out of turn, coaching, ignored questions."""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from cuecard.core.engine.messages import Act, CheckpointStatus, Dialogue, Message, UserReply
from cuecard.core.families.registry import chain_of
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task, TaskLanguage
from cuecard.core.text import (
    content_words,
    is_question,
    normalise,
    one_line,
    sentences,
    shared_words,
    without_terms,
)
from cuecard.core.users.checks import (
    ChainLines,
    Disclosures,
    PersonaLines,
    markdown_in,
    structures_in,
)
from cuecard.core.users.leaks import Secrets, chain_things, fold, gold_things, known_texts
from cuecard.core.users.responder import ADVANCING
from cuecard.core.users.scripted import is_covered, phrase, pushes

_SHOWN = 60
_WHAT = r"(?:about|whether|if|which|what|who|whose|when|where|why|how)"
_ENGLISH = re.compile(
    r"\byou (?:should|could|can|might|may|must|ought to|(?:will |would )?(?:need|have) to|had better)"
    r"(?: (?:also|just|really|rather|first|then|now|perhaps|better|have|always)){0,3}"
    rf" ask(?:ed)? (?:me\b|{_WHAT}\b)"
    r"|\byou['’]d better ask (?:me\b|" + _WHAT + r"\b)"
    r"|\b(?:why (?:don['’]t|do) you(?: not)?|why didn['’]t you|why not|feel free to|go ahead and|try to|remember to"
    r"|(?:don['’]t|do not) forget to|be sure to|make sure (?:to|you)|(?:want|like|love|need|prefer) you to"
    r"|wish (?:that )?you (?:would|had)|hoping (?:that )?you(?:['’]d| would)|waiting for you to"
    r"|(?:suggest|recommend|advise) (?:that )?you|instead of \w+ing,?)"
    rf" ask(?:ed)? (?:me\b|{_WHAT}\b)"
    r"|\byou (?:(?:still |yet )?(?:haven['’]t|have not|have yet to|have never)|didn['’]t|did not|never|forgot to)"
    rf"(?: (?:even|really|yet|still)){{0,2}} ask(?:ed)? (?:me )?{_WHAT}\b"
    r"|\b(?:better|right|next) question (?:to ask )?(?:is|would be|might be|could be)\b"
    r"|\btry asking\b|\b(?:rephrase|reword|rewrite) your question"
    r"|\bask (?:(?:me|it|that|this|again|your questions?) ){0,2}"
    r"(?:differently|(?:in )?another way|more (?:specifically|precisely|directly|clearly)"
    r"|one (?:question |thing )?at a time)\b",
    re.IGNORECASE,
)
# Only at the beginning of a sentence or clause: `if you ask me` and `when they ask me` are harmless.
_ORDER = re.compile(
    r"(?:^|[,;:]\s+(?:so |and |or |but )?)\W*(?:(?:please|just|now|then|next|so|first|and|or|but|maybe|perhaps"
    rf"|instead)[ ,]+){{0,3}}(?:try )?ask me (?:{_WHAT}\b|for\b|again\b|something\b|a (?:better|different)\b)",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:don['’]t|do not|needn['’]t|never)\W+$", re.IGNORECASE)
_ASK = r"(?:追问|询问|提问|请教|问问|问一下|问一问|问)"
_CHINESE = re.compile(
    r"[你您](?:其实|也|还|就|完全|倒是|现在|接着|下一步|最好|不如)?"
    r"(?:应该|应当|该|可以|不妨|最好|需要|得|必须|何不|为什么不|为何不|怎么不|干嘛不|不如)"
    rf"(?:也|还|就|先|再|来|直接|主动|多|接着|继续)*(?:向我|跟我|找我)?{_ASK}"
    r"(?:的(?:问题)?是|我|清楚|具体|是不是|有没有|是否|哪|什么|谁|关于)"
    rf"|(?:建议|希望|想让|想要|盼着|等着|记得|请)[你您]?(?:能|可以|再|先|主动|来|接着)*{_ASK}(?:问)?我(?:关于|是不是|有没有|是否"
    r"|哪|什么|谁|想|要|喜欢|对|的|一下|吧)"
    r"|[你您](?:还|都|一直|也|根本|从来)?没有?(?:有)?(?:先|来)?(?:追问|询问|问过|问起|问到|问)我?"
    r"(?:关于|是不是|有没有|是否|是|哪|什么|谁|想|要|喜欢)"
    r"|(?:怎么|为什么|为何|干嘛|何)(?:不|没|没有)(?:先|来)?(?:追问|询问|问问|问)我"
    r"|(?:^|[，,。；;])(?:那|那么|请|不如|先|再|就|来)*(?:问问我|问我(?:关于|是不是|有没有|是否|哪|什么|谁))"
    rf"|换(?:个|一个|一种|种)(?:方式|说法|问法|角度|问题){_ASK}?(?:我|吧|试)|(?:应该|应当|可以|不妨)这(?:样|么){_ASK}"
    r"|一次只?问一个|问得(?:再|更)?(?:具体|清楚|明确|直接)"
)
# `请问我` is how one asks a favour, not an order to ask.
_MAY_I = re.compile("请问(?!问)")


def coached_in(text: str) -> str:
    """The first words of a text that tell the agent what to ask the user (`ask me about`); "" if there are none."""
    for sentence in sentences(text):
        if match := _ENGLISH.search(sentence):
            if not _NEGATED.search(sentence[: match.start()]):
                return one_line(sentence, _SHOWN)
        elif _ORDER.search(sentence) or _CHINESE.search(_MAY_I.sub("", sentence)):
            return one_line(sentence, _SHOWN)
    return ""


_MOST, _LONG = 12, 400
_HEADING = re.compile(r"^\s*(?:#|>|\||[-*+]\s|\d+[.)]\s|\*\*)")
_ASKS = re.compile(
    r"[?？]\W*$|[吗呢][。！.!\s]*$|\b(?:tell me|let me know)\b|请告诉|告诉我", re.IGNORECASE
)
_TO_USER = re.compile(r"\b(?:you|your|i|we)\b|[你您我]", re.IGNORECASE)
_CHOICE = re.compile(r"\bor\b|还是|或者", re.IGNORECASE)
# Questions that need no answer: offers, and asking whether the answer was good.
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
    """The questions in an agent's turn that the user should answer: those at its end or addressed to `you`; not
    headings, offers to go on, or questions whether the answer was good.
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
    """Whether `words` answer none of the questions `asked`: no word takes one up, states a preference, agrees, declines
    or defers, and every sentence only urges, thanks or asks for something else. `not_met`: the card's words for an
    unmet cue; repeating them is no answer.
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


_READ, _FAULTS_SHOWN = 20_000, 80


class FaultKind(StrEnum):
    """What is wrong with a user's reply.

    `leak`: it names gold that nobody has said. `forbidden`: it says what the user must never say. `early`: it says the
    next stage's line although its speaker decided that the cue is not met. `ahead`: it gives away a line, clue or
    question before its turn. `skipped`: it discloses another stage than the next. `doubled`: it repeats a line, or says
    two at once. `missing_line`: it counts as a stage, or as the release of a clue, but hardly says its line.
    `markdown`: it has layout. `structure`: it asks for triples, tables and the like. `coached`: it tells the agent what
    to ask. `ignored`: it leaves the agent's questions unanswered.
    """

    LEAK = "leak"
    FORBIDDEN = "forbidden"
    EARLY = "early"
    AHEAD = "ahead"
    SKIPPED = "skipped"
    DOUBLED = "doubled"
    MISSING_LINE = "missing_line"
    MARKDOWN = "markdown"
    STRUCTURE = "structure"
    COACHED = "coached"
    IGNORED = "ignored"


class Fault(Frozen):
    """One fault of a reply. `found`: the words that show it, shortened."""

    kind: FaultKind
    found: str = ""


class FaultFinder:
    """`faults_in` for many replies of one task."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._lines: PersonaLines | ChainLines | None = None
        things = gold_things(task.gold)
        chain = chain_of(task)
        if chain is not None:
            self._lines = ChainLines(task)
            things = chain_things(chain)
        elif task.persona is not None:
            self._lines = PersonaLines(task, task.persona)
        self._secrets = Secrets(things)
        self._queries = frozenset(() if chain else map(normalise, task.sub_queries))

    def faults(self, before: Dialogue, reply: UserReply) -> tuple[Fault, ...]:
        """As `faults_in`."""
        text = reply.text[:_READ]
        decided = reply.cue_met is not None or reply.unsure
        if not decided and normalise(text) in self._queries:
            # A staged user says the benchmark's sub-queries in order, whatever the agent asked.
            return ()
        disclosed = self._lines.disclosed(text, before, reply) if self._lines else Disclosures()
        forbidden = disclosed.forbidden
        faults = [
            _fault(FaultKind.LEAK, self._leaked(text, before, disclosed)),
            _fault(FaultKind.FORBIDDEN, forbidden),
            _fault(FaultKind.EARLY, self._early(reply)),
            _fault(FaultKind.AHEAD, disclosed.ahead),
            _fault(FaultKind.SKIPPED, disclosed.skipped),
            _fault(FaultKind.DOUBLED, disclosed.doubled),
            _fault(FaultKind.MISSING_LINE, disclosed.missing),
            *self._form(text, before, disclosed),
        ]
        found = tuple(fault for fault in faults if fault is not None)
        if found or not text.strip():
            return found
        ignored = _fault(FaultKind.IGNORED, self._ignored(text, before, reply, disclosed))
        return (ignored,) if ignored else ()

    def _leaked(self, text: str, before: Dialogue, disclosed: Disclosures) -> tuple[str, ...]:
        # Names that are part of another fault are no further leak.
        told = known_texts(self.task, before, *disclosed.known)
        return self._secrets.named(without_terms(text, disclosed.forbidden), told)

    def _early(self, reply: UserReply) -> tuple[str, ...]:
        """The number and title of a stage that is disclosed although the speaker decided that its cue is not met."""
        if reply.cue_met is not False or reply.stage is None:
            return ()
        stages = self.task.stages
        known = 1 <= reply.stage <= len(stages)
        return (f"{reply.stage} · {stages[reply.stage - 1].title}" if known else str(reply.stage),)

    def _form(self, text: str, before: Dialogue, disclosed: Disclosures) -> list[Fault | None]:
        """Faults of form, apart from those of the task's own words for this turn."""
        for own in disclosed.own:
            text = text.replace(own, " ") if own else text
        wanted = structures_in(text)
        if wanted:
            told = known_texts(self.task, before, *disclosed.known)
            wanted = tuple(word for word in wanted if not told.has(fold(word)))
        return [
            _fault(FaultKind.MARKDOWN, (markdown_in(text),)),
            _fault(FaultKind.STRUCTURE, wanted),
            _fault(FaultKind.COACHED, (coached_in(text),)),
        ]

    def _ignored(
        self, text: str, before: Dialogue, reply: UserReply, disclosed: Disclosures
    ) -> Sequence[str]:
        last = before.last("agent")
        taken_up = reply.status in ADVANCING or reply.status is CheckpointStatus.AMBIGUITY_DETECTED
        if last is None or reply.stage is not None or reply.done or taken_up:
            return ()
        asked = questions_put(last)
        # A question about what a later line says is rightly left open.
        asked = [q for q in asked if not any(is_covered(q, stage) for stage in disclosed.coming)]
        return asked[:1] if asked and is_left_open(asked, text, disclosed.not_met) else []


_latest: list[FaultFinder] = []


def faults_in(task: Task, before: Dialogue, reply: UserReply) -> tuple[Fault, ...]:
    """The faults of `reply`, said after `before`, which ends with the agent's reply (or is empty: the opening). The worst
    first, each kind at most once, with everything that shows it.

    One error gives one fault. A line that is not due is `ahead`, but `doubled` if the reply also counts as a stage and
    says both lines whole. A stage other than the next is `skipped`, or `doubled` if it was disclosed before, and
    nothing else. Names within what such a fault found are no further `leak`. `ignored` is only found in a reply without
    other faults. A paraphrased line that a person marked as meaning the same (`meaning`) is not missing.

    Pure; reads at most the first 20,000 characters of a reply and raises nothing.
    """
    finder = next((known for known in _latest if known.task is task), None)
    if finder is None:
        finder = FaultFinder(task)
        _latest[:] = [finder, *_latest[:7]]
    return finder.faults(before, reply)


def _fault(kind: FaultKind, found: Iterable[str]) -> Fault | None:
    """The fault with the words `found`; None if there are none."""
    words = tuple(dict.fromkeys(each for each in found if each))
    return Fault(kind=kind, found=one_line(", ".join(words), _FAULTS_SHOWN)) if words else None

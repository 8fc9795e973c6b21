"""Words that tell an agent what to ask, or how: a user is asked, and never asks to be asked."""

from __future__ import annotations

import re

from cuecard.core.phrases import sentences
from cuecard.core.text import one_line

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
# At the beginning of a sentence or clause: `if you ask me` and `when they ask me` are innocent.
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
    r"|一次只?问一个|问得(?:再|更)?(?:具体|清楚|明确|直接)",
)
# `请问我` is how one asks a favour, not an order to ask.
_MAY_I = re.compile("请问(?!问)")


def coached_in(text: str) -> str:
    """The first words of a text that tell the agent what to ask the user, or how; "" if none do."""
    for sentence in sentences(text):
        if match := _ENGLISH.search(sentence):
            if not _NEGATED.search(sentence[: match.start()]):
                return one_line(sentence, _SHOWN)
        elif _ORDER.search(sentence) or _CHINESE.search(_MAY_I.sub("", sentence)):
            return one_line(sentence, _SHOWN)
    return ""

"""Words and phrases that rules look for, English and Chinese; all patterns expect normalised text."""

import re
from functools import lru_cache

from cuecard.core.text import content_words, is_question, normalise, sentences

YES_NO = frozenset(
    [
        "yes",
        "no",
        "true",
        "false",
        "none",
        "unknown",
        "是",
        "否",
        "不是",
        "有",
        "没有",
        "无",
        "对",
        "错",
        "真",
        "假",
        "正确",
        "错误",
        "可以",
        "不可以",
    ]
)

# What any reply does, or what no reply shows.
_CONFIRMS = re.compile(
    r"\b(?:asks?|asking|requests?|seeks?|wants?|waits?|waiting)\b.{0,20}\bconfirm\w*"
    r"|\bconfirm(?:s|ed|ation)?\b"
    r"|(?:请求|要求|寻求|征求|等待|需要|询问|请).{0,6}确认|确认"
)
_VAGUE_WORDS = frozenset(
    """agent assistant model ai system chatbot bot reply replies replied respond responds response answer answers
    answered message says said talk talks speaks user customer client conversation turn dialogue next
    ask asks asked asking question questions confirm confirms confirmed confirmation provide provides
    provided give gives given offer offers information info details something anything everything things more further
    enough sufficient helpful useful good well properly correctly appropriate appropriately relevant
    understand understands understood acknowledge acknowledges acknowledged agree agrees continue continues
    continued proceed proceeds ready satisfied happy polite politely friendly right time moment point when
    after once finish finishes finished done complete completes completed stage step previous
    earlier current task request requests needs seeks waits waiting interested tries start starts
    started okay ok fine sure somehow certain some clarify clarifies clarifying clarification followup mention mentions mentioned content contents result results proactively actively""".split()  # noqa: SIM905 - a list of quoted words would be unreadable
)
_VAGUE_CHINESE = re.compile(
    "智能体|助手|模型|系统|对方|用户|客服|机器人|回复|回答|回应|答复|作答|消息|说话|开口|发言|对话|下一轮|轮次|"
    "主动|询问|提问|发问|追问|反问|澄清|问题|提出|请求|要求|寻求|征求|等待|需要|确认|提供|给出|作出|做出|给|信息|内容|资料|细节|东西|"
    "更多|进一步|足够|充分|有帮助|有用|满意|恰当|合适|适当|相关|正确|理解|明白|知道了|收到|同意|认可|继续|推进|准备好|"
    "礼貌|友好|时机|时候|时刻|之后|以后|完成|结束|上一阶段|上一步|阶段|步骤|任务|当前|之前|任何|任意|某些|一些|某种|一定|好的|"
    "提到|提及|说出|说到|说明|讲清|讲到|已经|所有|全部|是否|如何|怎样|怎么|情况|事情|结果|时|后|里|中|出|到|并|就|有"
)


def is_vague(cue_text: str) -> bool:
    """Whether nothing remains of a cue's text that a reply could have or lack."""
    return not _concrete(normalise(cue_text))


def asks_to_confirm(cue_text: str) -> bool:
    """Whether a cue waits for a confirmation of nothing in particular."""
    text = normalise(cue_text)
    return _CONFIRMS.search(text) is not None and not _concrete(text)


def _concrete(text: str) -> bool:
    rest = _VAGUE_CHINESE.sub(" ", text)
    return any(word not in _VAGUE_WORDS for word in content_words(rest))


_QUESTION_WORDS = re.compile(
    r"\b(?:who|whom|whose|what|which|when|where|why|how|whether)\b"
    r"|什么|多少|谁|哪(?!怕)|几(?=[年月日个位座部人次岁种所家条间层度])|如何|怎么|怎样|为何|何[时地处人年]|是否"
)
# `and in which city`: a second side of the same question.
_REQUEST = re.compile(
    r"\b(?:tell me|let me know|give me|show me|find out|find me|look up|explain to me|send me|get me"
    r"|i(?:['’]d| would) (?:also )?(?:like|love|want|need)|i(?: also| still)? (?:want|need)|please"
    r"|(?:could|can|would|will) you)\b"
    r"|请|麻烦|帮我|帮忙|告诉我|给我|替我|查一下|查一查|介绍一下|说一下|讲一下|我想(?:知道|要|了解|问|请)|我还想|我要|我需要|补充?一下"
)
_CLAUSES = re.compile(r"[;；]")


@lru_cache(maxsize=4096)
def count_asks(line: str) -> int:
    """How many things a line asks for: each clause that asks counts one, and one more for every further two question
    words in it, so `who built it and when` counts one.
    """
    count = 0
    for sentence in sentences(line):
        ending = sentence[-1:]
        for clause in _CLAUSES.split(sentence):
            # Only the last clause has the question mark with it.
            asked = (
                clause if clause.endswith(ending) else clause + (ending if ending in "?？" else "")
            )
            text = normalise(asked)
            if not text:
                continue
            words = len(_QUESTION_WORDS.findall(text))
            if is_question(asked) or _REQUEST.search(text):
                count += max(1, (words + 1) // 2)
    return count


def has_one_value(relation: str) -> bool:
    """Whether a thing has only one value of a (normalised) relation: one is born once, but may win in
    several years.
    """
    return _SINGLE.search(relation) is not None and _OFTEN.search(relation) is None


_OFTEN = re.compile(
    r"\b(?:won|wins?|awards?|awarded|prizes?|medals?|nominat\w+|host\w*|editions?|publish\w*|visit\w*"
    r"|perform\w*|record\w*|renovat\w+|restor\w+|elected|champion\w*|titles?|exhibit\w*|shown)\b"
    r"|获|奖|举办|出版|重修|修缮|再版|当选|夺冠|访问|演出|参展"
)
_SINGLE = re.compile(
    r"\b(?:in the year|year of|year|born|birth\w*|died|death|date of|date|population|height|length"
    r"|width|depth|area|weight|mass|number of|capital|only|sole|founded in|established in"
    r"|native name|official name|postal code|isbn)\b"
    r"|年份|年代|日期|出生|生于|去世|逝世|卒于|卒年|生年|人口|高度|长度|宽度|深度|面积|重量|质量|数量|首都|省会"
    r"|唯一|最早|所在(?:省份|城市|国家)|成立(?:于|时间)|创立(?:于|时间)|编号"
)

_LIST_ENGLISH = re.compile(r",\s[^,]+,?\s(?:and|or|&)\s|(?:,[^,]+){3,}|;\s|\bas well as\b")
_LIST_CHINESE = re.compile("[、；]|，.+，")
_QUOTED = re.compile('《[^》]*》|“[^”]*”|「[^」]*」|"[^"]*"|\\([^)]*\\)|（[^）]*）')
_LONGEST_TAIL = 90


def is_crammed(tail: str) -> bool:
    """Whether a tail, as written, lists several things or is a long sentence."""
    if len(tail) > _LONGEST_TAIL or "\n" in tail.strip():
        return True
    text = _QUOTED.sub("x", tail)
    return _LIST_ENGLISH.search(text) is not None or _LIST_CHINESE.search(text) is not None


CONSTRAINT_WORDS = re.compile(
    r"\b(?:budgets?|deadlines?|allerg(?:y|ies|ic)|diet(?:ary)?|price limit|time limit|upper limit"
    r"|restrictions?|preferences?)\b|预算|期限|截止|时限|忌口|过敏|偏好|限额|上限"
)
AMOUNTS = re.compile(
    r"[$€£¥]\s?\d[\d,.]*\d|[$€£¥]\s?\d|\d+(?:[.,]\d+)*\s?(?:%|percent|euros?|dollars?|yuan|元|欧元|美元|万|公里|小时|天|人)"
    r"|\d[\d,.]*\d"
)
# Bounded, so that openings without an end cost no more than they are long.
QUOTES = re.compile('“([^”]{1,80})”|"([^"]{1,80})"|「([^」]{1,80})」|《([^》]{1,80})》')
PROPER_NAMES = re.compile(
    r"(?<=[\w,;:] )[A-Z][\w’'-]+(?: (?:(?:of|the|de|di|du|van|von) )?[A-Z][\w’'-]+)*"
)
"""For text as it is written: capitalised words that do not begin a sentence."""

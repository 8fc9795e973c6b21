"""What an agent is told: the public part of a task, its prompt and tools, messages about its calls, and texts cut to fit."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import cast

from cuecard.core.config_players import Settings
from cuecard.core.engine.messages import Act, ToolCall, ToolSpec
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family, Task, TaskLanguage
from cuecard.core.text import one_line


class Note(StrEnum):
    UNKNOWN_TOOL = "unknown_tool"
    BROKEN = "broken"
    MISSING = "missing"
    WRONG_TYPE = "wrong_type"
    NOTHING_SAID = "nothing_said"
    NO_MORE_CALLS = "no_more_calls"
    NOT_CARRIED_OUT = "not_carried_out"
    DELIVERED = "delivered"
    EMPTY = "empty"
    GO_ON = "go_on"
    LAST_STEP = "last_step"
    UNREADABLE = "unreadable"
    NO_MORE_MEMBERS = "no_more_members"
    MEMBER_FAILED = "member_failed"
    NOT_NOW = "not_now"
    DELIVERED_END = "delivered_end"
    CUT_HERE = "cut_here"
    CUT_CALL = "cut_call"
    CUT_EMPTY = "cut_empty"
    NOTED = "noted"
    NONE = "none"
    ROLE_USER = "role_user"
    ROLE_ASSISTANT = "role_assistant"
    ROLE_TOOL = "role_tool"
    ROLE_SUMMARY = "role_summary"


_NOTES: dict[TaskLanguage, dict[Note, str]] = {
    "en": {
        Note.UNKNOWN_TOOL: "There is no tool named {name}. The tools are: {tools}.",
        Note.BROKEN: "The arguments are not a JSON object. Call the tool again with one.",
        Note.MISSING: "The argument `{name}` is missing.",
        Note.WRONG_TYPE: "The argument `{name}` must be of the type {type}.",
        Note.NOTHING_SAID: "There is nothing in it to tell the user.",
        Note.NO_MORE_CALLS: "No more tool calls are possible in this turn. Reply with what you have.",
        Note.NOT_CARRIED_OUT: "Not carried out: the turn was over.",
        Note.DELIVERED: "Delivered to the user.",
        Note.EMPTY: "(Your last reply was empty. Reply to the user, or call a tool.)",
        Note.GO_ON: "(You were interrupted before the user had your whole answer. Answer the user's last"
        " words now, in full.)",
        Note.LAST_STEP: "(No more searches are possible in this turn. Reply now with what you have.)",
        Note.UNREADABLE: "That could not be read. Hand it in again in exactly the form asked for.",
        Note.NO_MORE_MEMBERS: "At most {n} helpers can be sent out in one turn. Go on with what you have.",
        Note.MEMBER_FAILED: "The helper came to no result: {reason}",
        Note.NOT_NOW: "The tools answer only while it is your turn. Wait for the user.",
        Note.DELIVERED_END: "Delivered to the user. Your turn is over: stop here, without another"
        " word or call.",
        Note.CUT_HERE: "[Cut here: the first {shown} of {all} characters.]",
        Note.CUT_CALL: "Your reply was too long and broke off within this call. Make it again, shorter.",
        Note.CUT_EMPTY: "(Your last reply was too long: it broke off before it said anything. Think"
        " less, then reply to the user or call a tool.)",
        Note.NOTED: "Noted as number {n}.",
        Note.NONE: "(none)",
        Note.ROLE_USER: "[user]",
        Note.ROLE_ASSISTANT: "[assistant]",
        Note.ROLE_TOOL: "[tool]",
        Note.ROLE_SUMMARY: "[summary of what was before]",
    },
    "zh": {
        Note.UNKNOWN_TOOL: "没有名为 {name} 的工具。可用的工具：{tools}。",
        Note.BROKEN: "参数不是 JSON 对象。请用 JSON 对象重新调用该工具。",
        Note.MISSING: "缺少参数 `{name}`。",
        Note.WRONG_TYPE: "参数 `{name}` 的类型必须是 {type}。",
        Note.NOTHING_SAID: "没有可以转达用户的内容。",
        Note.NO_MORE_CALLS: "本轮不能再调用工具。请根据已有内容回复。",
        Note.NOT_CARRIED_OUT: "未执行：本轮已经结束。",
        Note.DELIVERED: "已转达用户。",
        Note.EMPTY: "（你上一条回复是空的。请回复用户，或调用工具。）",
        Note.GO_ON: "（你的回答被中断了，用户没有收到完整的答复。请现在完整地回答用户刚才的话。）",
        Note.LAST_STEP: "（本轮不能再查询。请立即根据已有内容回复。）",
        Note.UNREADABLE: "无法读取。请严格按照要求的格式重新提交。",
        Note.NO_MORE_MEMBERS: "一轮最多只能派出 {n} 位助手。请根据已有内容继续。",
        Note.MEMBER_FAILED: "这位助手没有得出结果：{reason}",
        Note.NOT_NOW: "只有轮到你时工具才会应答。请等待用户。",
        Note.DELIVERED_END: "已转达用户。本轮到此结束：请就此停下，不要再说话或调用工具。",
        Note.CUT_HERE: "【此处截断：仅显示 {all} 个字符中的前 {shown} 个。】",
        Note.CUT_CALL: "你的回复过长，在这次调用中途被截断。请缩短后重新调用。",
        Note.CUT_EMPTY: "（你上一条回复过长，还没说出内容就被截断了。请少作思考，然后回复用户或调用工具。）",
        Note.NOTED: "已记下，编号 {n}。",
        Note.NONE: "（无）",
        Note.ROLE_USER: "【用户】",
        Note.ROLE_ASSISTANT: "【助手】",
        Note.ROLE_TOOL: "【工具】",
        Note.ROLE_SUMMARY: "【此前内容的摘要】",
    },
}


def say(language: TaskLanguage, note: Note, **values: str) -> str:
    return _NOTES[language][note].format(**values)


ASK = ToolSpec(
    name="ask",
    description=(
        "Ask the user which of several readings or candidates is meant. Ends your turn; the user's"
        " reply follows. 向用户提问以消除歧义，并结束本轮。"
    ),
    parameters={
        "type": "object",
        "properties": {"question": {"type": "string", "description": "One short question."}},
        "required": ["question"],
    },
)
ANSWER = ToolSpec(
    name="answer",
    description=(
        "Give the user the answer to their current question. Ends your turn; the user's reply"
        " follows. 回答用户当前的问题，并结束本轮。"
    ),
    parameters={
        "type": "object",
        "properties": {"answer": {"type": "string", "description": "The answer, in a few words."}},
        "required": ["answer"],
    },
)
_ENDINGS = {ASK.name: (Act.ASK, "question"), ANSWER.name: (Act.ANSWER, "answer")}

_TYPES: dict[str, Callable[[object], bool]] = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}


def named_right(call: ToolCall, tools: Sequence[ToolSpec]) -> ToolCall:
    """`call` with the tool's own name, since some models put a namespace before it (`functions.search`) or capitalise it."""
    name = call.name.strip()
    if all(name != spec.name for spec in tools):
        names = {spec.name.lower(): spec.name for spec in tools}
        name = names.get(name.rpartition(".")[2].lower(), name)
    return call if name == call.name else call.model_copy(update={"name": name})


def complaint(call: ToolCall, tools: Sequence[ToolSpec], language: TaskLanguage) -> str:
    """What is wrong with a call, as a message to the model; "" if nothing is."""
    spec = next((spec for spec in tools if spec.name == call.name), None)
    if spec is None:
        names = ", ".join(spec.name for spec in tools) or "-"
        return say(language, Note.UNKNOWN_TOOL, name=one_line(call.name, 60) or "-", tools=names)
    if call.broken:
        return say(language, Note.BROKEN)
    for name in cast(list[str], spec.parameters.get("required") or []):
        if call.arguments.get(name) is None:
            return say(language, Note.MISSING, name=name)
    properties = cast(dict[str, dict[str, object]], spec.parameters.get("properties") or {})
    for name, value in call.arguments.items():
        wanted = properties.get(name, {}).get("type")
        if isinstance(wanted, str) and wanted in _TYPES and not _TYPES[wanted](value):
            return say(language, Note.WRONG_TYPE, name=name, type=wanted)
    return ""


def ending(call: ToolCall) -> tuple[Act, str] | None:
    """The act and the words with which a call of a turn tool (`ask`, `answer`) ends the turn; None for other calls."""
    if call.name not in _ENDINGS:
        return None
    act, argument = _ENDINGS[call.name]
    words = call.arguments.get(argument)
    return act, words.strip() if isinstance(words, str) else ""


@dataclass(frozen=True)
class Approach:
    """How an agent is set up for a task. `prompt`: the name of the system prompt; `values`: its variables. `own_tools`:
    tools that end the agent's turn. `world_tools`: whether it has the world's tools.
    """

    prompt: str
    own_tools: tuple[ToolSpec, ...] = ()
    world_tools: bool = True
    values: dict[str, str] = field(default_factory=dict[str, str])


def approach_to(task: Task, settings: Settings) -> Approach:
    """The agent's setup for a task in one of the papers' settings (see `Settings`). Only the oracle of a facts task is
    given part of the gold.
    """
    from cuecard.core.families.registry import family_of

    return family_of(task).approach(task.gold, settings)


class PublicTask(Frozen):
    """What an agent may know of a task: family, language, and those columns of a table that the query or the opening
    names. Nothing here comes from the gold alone.
    """

    family: Family
    language: TaskLanguage
    columns: tuple[str, ...] = ()


def public_task(task: Task) -> PublicTask:
    from cuecard.core.families.registry import family_of

    columns = family_of(task).columns(task, task.gold)
    return PublicTask(family=task.family, language=task.language, columns=columns)


_CHARS_PER_TOKEN = 4
_WIDE_CHARS_PER_TOKEN = 1.5
_WIDE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]+")


def estimate(text: str) -> int:
    """An estimate of the tokens in `text`: one per four characters, or per one and a half in Chinese, Japanese, Korean."""
    if text.isascii():
        return -(-len(text) // _CHARS_PER_TOKEN)
    wide = sum(map(len, _WIDE.findall(text)))
    return round(wide / _WIDE_CHARS_PER_TOKEN + (len(text) - wide) / _CHARS_PER_TOKEN + 0.5)


def shortened(texts: Sequence[str], budget: int, language: TaskLanguage) -> list[str]:
    """The texts, the longest of them cut to the same length so that all take about `budget` tokens; a note stands where
    text was cut.
    """
    sizes = [estimate(text) for text in texts]
    if sum(sizes) <= budget:
        return list(texts)
    level = _level(sizes, max(budget, 0))
    return [
        text if size <= level else _cut(text, len(text) * level // size, language)
        for text, size in zip(texts, sizes, strict=True)
    ]


def latest(texts: Sequence[str], budget: int) -> tuple[str, ...]:
    """The last texts that take at most `budget` tokens, in their order, without duplicates."""
    kept: list[str] = []
    for text in reversed(texts):
        if text in kept:
            continue
        budget -= estimate(text)
        if budget < 0:
            break
        kept.append(text)
    return tuple(reversed(kept))


def _level(sizes: Sequence[int], budget: int) -> int:
    """The size to which larger texts must be cut so that all fit the budget."""
    left = budget
    for i, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - i)
        if size > share:
            return share
        left -= size
    return budget


def _cut(text: str, chars: int, language: TaskLanguage) -> str:
    note = say(language, Note.CUT_HERE, shown=str(chars), all=str(len(text)))
    return f"{text[:chars]}\n{note}"

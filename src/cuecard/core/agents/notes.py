"""What an agent's harness tells its model: in the task's language, since the model reads it."""

from __future__ import annotations

from enum import StrEnum

from cuecard.core.tasks import TaskLanguage


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

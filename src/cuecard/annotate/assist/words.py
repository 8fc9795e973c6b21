"""What a model is told of its draft when it is asked for a better one, in the language of the task."""

from __future__ import annotations

from enum import StrEnum

from cuecard.core.tasks import TaskLanguage


class Complaint(StrEnum):
    STAGES = "stages"
    SAME_CUE = "same_cue"
    NO_PERSON = "no_person"
    NO_AMBIGUITY = "no_ambiguity"
    CLUE = "clue"
    FINAL = "final"
    OPENING = "opening"
    GIVEN = "given"
    PAST = "past"
    DERIVATION = "derivation"
    NO_ANSWER = "no_answer"
    CHANGED = "changed"
    LEFT_OUT = "left_out"


_EN = {
    Complaint.STAGES: "There would be {count} stages in all; there must be from {least} to {most}.",
    Complaint.SAME_CUE: "Several stages have the same cue: {found}.",
    Complaint.NO_PERSON: "The identity or the initial query is missing.",
    Complaint.NO_AMBIGUITY: "No step is ambiguous with logic, clue and at least two candidates.",
    Complaint.CLUE: "A clue names the target or is missing: {found}.",
    Complaint.FINAL: "The final answer is missing, or is not the target of the last step.",
    Complaint.OPENING: "The opening is missing, or names a target.",
    Complaint.GIVEN: "The answer is the value of a fact: {found}. It must follow from several facts.",
    Complaint.PAST: "No fact has a date after {today}.",
    Complaint.DERIVATION: "The derivation is missing, or does not use the values of the facts.",
    Complaint.NO_ANSWER: "The question or its answer is missing.",
    Complaint.CHANGED: "Numbers or addresses were changed or left out in: {found}.",
    Complaint.LEFT_OUT: "These texts are missing: {found}.",
}
_ZH = {
    Complaint.STAGES: "总共会有 {count} 个阶段；必须是 {least} 到 {most} 个。",
    Complaint.SAME_CUE: "有几个阶段的触发条件相同：{found}。",
    Complaint.NO_PERSON: "缺少人物身份或第一句话。",
    Complaint.NO_AMBIGUITY: "没有一个步骤是有歧义的（要有 logic、clue 和至少两个候选）。",
    Complaint.CLUE: "有线索说出了 target，或者缺少线索：{found}。",
    Complaint.FINAL: "缺少最终答案，或者它不是最后一步的 target。",
    Complaint.OPENING: "缺少 opening，或者其中出现了 target。",
    Complaint.GIVEN: "答案就是某条事实的值：{found}。它必须由几条事实推出。",
    Complaint.PAST: "没有一条事实的日期在 {today} 之后。",
    Complaint.DERIVATION: "缺少推导过程，或者其中没有用到事实的值。",
    Complaint.NO_ANSWER: "缺少问题或答案。",
    Complaint.CHANGED: "这些文本中的数字或网址被改动或遗漏：{found}。",
    Complaint.LEFT_OUT: "缺少这些文本：{found}。",
}
_WORDS = {"en": _EN, "zh": _ZH}


def complain(language: TaskLanguage, what: Complaint, **found: object) -> str:
    return _WORDS[language][what].format(**found)

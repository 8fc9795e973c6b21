"""What is said to a judging model when it is asked again, in the task's language."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from cuecard.core.tasks import TaskLanguage


class Complaint(StrEnum):
    UNREADABLE = "unreadable"
    MISSING = "missing"
    CONTRADICTORY = "contradictory"
    UNSUPPORTED = "unsupported"
    NO_SUCH_INDEX = "no_such_index"


_WORDS: dict[TaskLanguage, dict[Complaint, str]] = {
    "en": {
        Complaint.UNREADABLE: "Your last answer could not be read. Reply with the JSON object alone.",
        Complaint.MISSING: "Your last answer left these out: {indices}.",
        Complaint.CONTRADICTORY: "Your last answer decided twice and differently on: {indices}.",
        Complaint.UNSUPPORTED: "A covered item must name at least one index out of `predicted` that "
        "covers it; otherwise it is not covered. This was not so for: {indices}.",
        Complaint.NO_SUCH_INDEX: "`partner` must be an index that stands in the list, or null. This was "
        "not so for: {indices}.",
    },
    "zh": {
        Complaint.UNREADABLE: "上一次的回复无法读取。请只回复 JSON 对象。",
        Complaint.MISSING: "上一次的回复漏掉了：{indices}。",
        Complaint.CONTRADICTORY: "上一次的回复对以下条目给出了两个不同的结论：{indices}。",
        Complaint.UNSUPPORTED: "判为覆盖的条目必须至少写出 `predicted` 中一个确实覆盖它的序号，"
        "否则就不算覆盖。以下条目不符合：{indices}。",
        Complaint.NO_SUCH_INDEX: "`partner` 必须是列表中存在的序号或 null。以下条目不符合：{indices}。",
    },
}


def words(language: TaskLanguage, complaint: Complaint, indices: Iterable[int] = ()) -> str:
    """The complaint, about the items with these indices."""
    return _WORDS[language][complaint].format(indices=listed(indices))


def listed(indices: Iterable[int]) -> str:
    return ", ".join(map(str, indices))

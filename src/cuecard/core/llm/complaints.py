"""What is wrong with an answer, told to the model that gave it, in the language of the task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_MAX_LISTED = 8
_MAX_CHARS = 160

_EN = {
    "empty": "Your answer was empty.",
    "cut": "Your answer was cut off before its end. Be shorter.",
    "no_json": "There is no JSON in your answer.",
    "intro": "Your answer cannot be used:",
    "again": "Answer again, with the whole JSON and nothing else.",
    "more": "and {n} more such mistakes",
    "whole": "the answer",
    "missing": "{place} is missing",
    "unknown": "{place} is not asked for; leave it out",
    "choice": "{place} must be one of {allowed}",
    "text": "{place} must be a text",
    "whole_number": "{place} must be a whole number",
    "number": "{place} must be a number",
    "truth": "{place} must be true or false",
    "list": "{place} must be a list",
    "object": "{place} must be a JSON object",
    "short": "{place} is too short",
    "long": "{place} is too long",
    "range": "{place} is outside of what is allowed",
    "other": "{place} cannot be used: {reason}",
}
_ZH = {
    "empty": "你的回答是空的。",
    "cut": "你的回答没有写完就中断了。请写得短一些。",
    "no_json": "你的回答里没有 JSON。",
    "intro": "你的回答无法使用：",
    "again": "请重新回答，给出完整的 JSON，不要写任何别的内容。",
    "more": "另外还有 {n} 处类似的错误",
    "whole": "整个回答",
    "missing": "缺少 {place}",
    "unknown": "不需要 {place}，请去掉",
    "choice": "{place} 只能是以下之一：{allowed}",
    "text": "{place} 必须是文本",
    "whole_number": "{place} 必须是整数",
    "number": "{place} 必须是数字",
    "truth": "{place} 必须是 true 或 false",
    "list": "{place} 必须是列表",
    "object": "{place} 必须是 JSON 对象",
    "short": "{place} 太短",
    "long": "{place} 太长",
    "range": "{place} 超出允许的范围",
    "other": "{place} 无法使用：{reason}",
}
_WORDS: Mapping[TaskLanguage, Mapping[str, str]] = {"en": _EN, "zh": _ZH}
# The kinds of pydantic's errors, by how they begin.
_KINDS = (
    ("missing", "missing"),
    ("extra_forbidden", "unknown"),
    ("literal_error", "choice"),
    ("enum", "choice"),
    ("string_too_short", "short"),
    ("string_too_long", "long"),
    ("too_short", "short"),
    ("too_long", "long"),
    ("greater_than", "range"),
    ("less_than", "range"),
    ("string", "text"),
    ("int", "whole_number"),
    ("float", "number"),
    ("bool", "truth"),
    ("list", "list"),
    ("tuple", "list"),
    ("model_", "object"),
    ("dict", "object"),
)


def nothing_found(raw: str, language: TaskLanguage, *, cut: bool) -> str:
    """The complaint about an answer in which there is no JSON at all. `cut`: it ran out of tokens."""
    kind = "cut" if cut else "no_json" if raw.strip() else "empty"
    return _sentences(language, _WORDS[language][kind])


def wrong_shape(errors: list[ErrorDetails], language: TaskLanguage) -> str:
    """The complaint about JSON of another shape than was asked for."""
    words = _WORDS[language]
    lines = list(dict.fromkeys(_line(error, words) for error in errors))
    told = [f"- {line}" for line in lines[:_MAX_LISTED]]
    if len(lines) > _MAX_LISTED:
        told.append("- " + words["more"].format(n=len(lines) - _MAX_LISTED))
    return "\n".join((words["intro"], *told, words["again"]))


def _line(error: ErrorDetails, words: Mapping[str, str]) -> str:
    kind = next((ours for start, ours in _KINDS if error["type"].startswith(start)), "other")
    context = error.get("ctx", {})
    return words[kind].format(
        place=_place(error["loc"]) or words["whole"],
        allowed=one_line(str(context.get("expected", "")), _MAX_CHARS),
        reason=one_line(error["msg"].removeprefix("Value error, "), _MAX_CHARS),
    )


def _place(loc: tuple[int | str, ...]) -> str:
    place = ""
    for part in loc:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else part
    return f'"{one_line(place, _MAX_CHARS)}"' if place else ""


def _sentences(language: TaskLanguage, first: str) -> str:
    return f"{first} {_EN['again']}" if language == "en" else first + _ZH["again"]

"""What is wrong with a call of `search`, in the language of the task."""

from __future__ import annotations

from cuecard.core.parts import ToolCall
from cuecard.core.tasks import TaskLanguage

MAX_QUERY = 2000
_REFUSALS: dict[TaskLanguage, dict[str, str]] = {
    "en": {
        "tool": "There is no tool named {name}. The only tool is: search.",
        "query": "The argument `query` is missing. It must be a text that is not empty.",
        "long": "The argument `query` is too long. Give at most {most} characters.",
        "topn": "The argument `topn` must be a whole number from 1.",
    },
    "zh": {
        "tool": "没有名为 {name} 的工具。唯一的工具是 search。",
        "query": "缺少参数 `query`，它必须是非空文本。",
        "long": "参数 `query` 太长，最多 {most} 个字符。",
        "topn": "参数 `topn` 必须是不小于 1 的整数。",
    },
}


def search_refusal(call: ToolCall, language: TaskLanguage) -> str:
    """Why a world with the one tool `search(query, topn)` cannot answer a call; empty if it can."""
    wording = _REFUSALS[language]
    if call.name != "search":
        return wording["tool"].format(name=call.name[:80])
    query, topn = call.arguments.get("query"), call.arguments.get("topn")
    if not isinstance(query, str) or not query.strip():
        return wording["query"]
    if len(query) > MAX_QUERY:
        return wording["long"].format(most=MAX_QUERY)
    whole = isinstance(topn, int) and not isinstance(topn, bool) and topn >= 1
    return "" if topn is None or whole else wording["topn"]

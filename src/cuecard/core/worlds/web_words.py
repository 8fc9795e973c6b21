"""What the web world says to an agent, in the language of the task."""

from __future__ import annotations

from cuecard.core.tasks import TaskLanguage
from cuecard.core.worlds.addresses import Forbidden
from cuecard.core.worlds.engines.base import EngineError, Trouble
from cuecard.core.worlds.fetching import FetchError, Lost

_TROUBLES: dict[TaskLanguage, dict[Trouble, str]] = {
    "en": {
        Trouble.KEY: "The search engine does not accept the key of this installation.",
        Trouble.QUOTA: "The search engine's quota is used up.",
        Trouble.BUSY: "The search engine is busy; it refused several attempts.",
        Trouble.SERVER: "The search engine has failed several times.",
        Trouble.TIMEOUT: "The search engine did not answer within {detail} seconds.",
        Trouble.UNREACHABLE: "The search engine cannot be reached.",
        Trouble.MALFORMED: "The search engine's answer cannot be read.",
        Trouble.REFUSED: "The search engine refused this query.",
        Trouble.NO_JSON: "The search engine gives no JSON: its JSON format is switched off.",
        Trouble.EMPTY_HANDED: "None of the engines behind the search engine answered.",
        Trouble.LONG: "The query is too long. Give at most {detail} characters.",
    },
    "zh": {
        Trouble.KEY: "搜索引擎不接受本机配置的密钥。",
        Trouble.QUOTA: "搜索引擎的配额已用完。",
        Trouble.BUSY: "搜索引擎繁忙，多次尝试均被拒绝。",
        Trouble.SERVER: "搜索引擎多次出错。",
        Trouble.TIMEOUT: "搜索引擎在 {detail} 秒内没有应答。",
        Trouble.UNREACHABLE: "无法连接搜索引擎。",
        Trouble.MALFORMED: "搜索引擎的应答无法读取。",
        Trouble.REFUSED: "搜索引擎拒绝了这个查询。",
        Trouble.NO_JSON: "搜索引擎不提供 JSON：它的 JSON 格式没有启用。",
        Trouble.EMPTY_HANDED: "搜索引擎背后的各个引擎都没有应答。",
        Trouble.LONG: "查询太长，最多 {detail} 个字符。",
    },
}
_LOSSES: dict[TaskLanguage, dict[Lost | Forbidden, str]] = {
    "en": {
        Forbidden.SCHEME: "Only addresses that start with http:// or https:// can be visited.",
        Forbidden.MALFORMED: "This is not a valid web address.",
        Forbidden.CREDENTIALS: "Addresses with a user name or password are not visited.",
        Forbidden.PRIVATE: "This address belongs to a private network and is not visited.",
        Lost.STATUS: "The server answered with status {detail}.",
        Lost.REDIRECTS: "The server redirects more than {detail} times.",
        Lost.TIMEOUT: "The page did not arrive within {detail} seconds.",
        Lost.UNREACHABLE: "The server cannot be reached.",
        Lost.CERTIFICATE: "The server's certificate is not valid.",
        Lost.BROKEN: "The server's answer is broken.",
        Lost.PDF: "This is a PDF file, which cannot be read here.",
        Lost.BINARY: "This is no page of text ({detail}).",
    },
    "zh": {
        Forbidden.SCHEME: "只能访问以 http:// 或 https:// 开头的网址。",
        Forbidden.MALFORMED: "这不是有效的网址。",
        Forbidden.CREDENTIALS: "不访问带有用户名或密码的网址。",
        Forbidden.PRIVATE: "该网址属于内部网络，不予访问。",
        Lost.STATUS: "服务器返回状态码 {detail}。",
        Lost.REDIRECTS: "服务器重定向超过 {detail} 次。",
        Lost.TIMEOUT: "网页在 {detail} 秒内没有传完。",
        Lost.UNREACHABLE: "无法连接服务器。",
        Lost.CERTIFICATE: "服务器的证书无效。",
        Lost.BROKEN: "服务器的应答已损坏。",
        Lost.PDF: "这是 PDF 文件，此处无法读取。",
        Lost.BINARY: "这不是文本网页（{detail}）。",
    },
}
WORDS: dict[TaskLanguage, dict[str, str]] = {
    "en": {
        "tool": "There is no tool named {name}. The tools are: {tools}.",
        "query": "The argument `query` is missing. It must be a text that is not empty.",
        "topn": "The argument `topn` must be a whole number from 1.",
        "urls": "The argument `urls` is missing. It must be a web address or a list of them.",
        "many": "The argument `urls` holds too many addresses. Give at most {most}.",
        "goal": "The argument `goal` must be a text.",
        "nothing": "Nothing was found for this query.",
        "not_visited": "Not read: {reason}",
        "summary": "Summary: {text}",
        "evidence": "Quotations:",
        "irrelevant": "The page says nothing about the goal.",
        "passages": "Passages:",
        "links": "Links that may help:",
        "no_text": "The page holds no text that can be read without running its scripts.",
        "cut": "(Only the first part of this page was read.)",
    },
    "zh": {
        "tool": "没有名为 {name} 的工具。可用的工具有：{tools}。",
        "query": "缺少参数 `query`，它必须是非空文本。",
        "topn": "参数 `topn` 必须是不小于 1 的整数。",
        "urls": "缺少参数 `urls`，它必须是一个网址或网址列表。",
        "many": "参数 `urls` 中的网址太多，最多 {most} 个。",
        "goal": "参数 `goal` 必须是文本。",
        "nothing": "这个查询没有找到任何结果。",
        "not_visited": "未能读取：{reason}",
        "summary": "摘要：{text}",
        "evidence": "原文摘录：",
        "irrelevant": "该网页没有与目标相关的内容。",
        "passages": "相关段落：",
        "links": "可能有用的链接：",
        "no_text": "该网页不运行脚本就没有可读的文字。",
        "cut": "（只读取了该网页的前一部分。）",
    },
}


def say_trouble(error: EngineError, language: TaskLanguage) -> str:
    text = _TROUBLES[language][error.trouble].format(detail=error.detail)
    # What the engine said about a query may help to ask better; its words about keys do not.
    if error.trouble is Trouble.REFUSED and error.detail:
        return f"{text} ({error.detail})"
    return text


def say_loss(error: FetchError, language: TaskLanguage) -> str:
    return _LOSSES[language][error.reason].format(detail=error.detail or "?")

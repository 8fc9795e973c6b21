"""People talk in sentences: Markdown, JSON and requests for such things in a reply."""

from __future__ import annotations

import re

from cuecard.core.phrases import sentences
from cuecard.core.text import one_line

_SHOWN = 40
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_RULE = re.compile(
    r"^[ \t]*(?:([-*_])[ \t]*(?:\1[ \t]*){2,}|(?=[^\n]*-{3})[ \t:|-]+)$", re.MULTILINE
)
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(?=\S)", re.MULTILINE)
_QUOTE = re.compile(r"^[ \t]{0,3}>[ \t]?(?=\S)", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*[-*+•][ \t]+(?=\S)", re.MULTILINE)
_NUMBERED = re.compile(r"^[ \t]*\d{1,2}(?:[.)][ \t]+|[、．])(?=\S)", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|(.*)\|[ \t]*$", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]\[\n]{1,200})\]\([^()\s]{1,500}\)")
_JSON = re.compile(r"[\[{]\s*[\[{]|\{\s*\"[^\"\n]*\"\s*:|\[\s*\"[^\"\n]*\"\s*,")
_EMPHASIS = (
    re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*"),
    re.compile(r"(?<!\w)__(?=\S)(.+?)(?<=\S)__(?!\w)"),
    re.compile(r"`([^`\n]+)`"),
    re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]+)(?<=\S)\*(?![\w*])"),
)
_STRUCTURE = re.compile(
    r"\b(?:triples?|triplets?|json|markdown|csv|yaml|knowledge graph|spreadsheet"
    r"|(?:as|in|into) (?:an? |one )?(?:\w+ )?table)\b|三元组|知识图谱|表格|列成?表|做成表|成一?张表",
    re.IGNORECASE,
)


def without_emphasis(text: str) -> str:
    """The text without asterisks, underscores and backticks around words."""
    for pattern in _EMPHASIS:
        text = pattern.sub(r"\1", text)
    return text


def markdown_in(text: str) -> str:
    """The first piece of a text that shows it is laid out and not spoken; "" if there is none."""
    for pattern in (_FENCE, _ROW, _RULE, _HEADING, _QUOTE, _BULLET, _LINK, _JSON):
        if match := pattern.search(text):
            end = text.find("\n", match.end())
            return one_line(text[match.start() : end if end >= 0 else len(text)], _SHOWN)
    numbered = _NUMBERED.findall(text)
    return one_line(numbered[0]) if len(numbered) > 1 else ""


def spoken(text: str) -> str:
    """The words of a text that is laid out; what cannot be spoken at all (JSON) stays."""
    text = _RULE.sub("", _FENCE.sub("", text))
    text = _ROW.sub(lambda row: ", ".join(c.strip() for c in row[1].split("|") if c.strip()), text)
    text = _LINK.sub(r"\1", text)
    for pattern in (_HEADING, _QUOTE, _BULLET, _NUMBERED):
        text = pattern.sub("", text)
    lines = (line.strip() for line in without_emphasis(text).splitlines())
    return "\n".join(line for line in lines if line)


def structures_in(text: str) -> tuple[str, ...]:
    """The words that ask for triples, JSON, tables and the like."""
    return tuple(dict.fromkeys(match[0] for match in _STRUCTURE.finditer(text)))


def without_sentences(text: str, words: tuple[str, ...]) -> str:
    """The text without the sentences that hold any of these words."""
    kept = [s for s in sentences(text) if not any(word in s for word in words)]
    return " ".join(kept)

"""A persona as one Markdown text: three `#` sections, a `###` heading for each stage (VibeSearch).

English and Chinese headings, half- and full-width colons and the usual spellings of the labels are
read; one form of each is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cuecard.core.formats.cue_words import infer_kind
from cuecard.core.tasks.models import Persona, TaskLanguage

_IDENTITY = r"core identity|identity|核心身份|身份"
_STAGES = (
    r"(?:staged|progressive) (?:information )?disclosure|分阶段信息披露|分阶段披露|阶段信息披露"
)
_BEHAVIOUR = r"behaviou?r(?:al)? (?:instructions?|rules?|guidelines?)|行为指令|行为规则|行为准则"
_SECTION = re.compile(
    rf"(?P<escape>\\*) {{0,3}}#{{1,2}}\s*\**\s*(?:(?P<identity>{_IDENTITY})|(?P<stages>{_STAGES})"
    rf"|(?P<behaviour>{_BEHAVIOUR}))\s*\**\s*[:：]?\s*\**\s*",
    re.IGNORECASE,
)
_STAGE = re.compile(
    r" {0,3}#{2,6}\s*\**\s*(?:(?:stage|phase)\s*(?P<en>\d+)|第?\s*阶段\s*(?P<zh>\d+)|第\s*(?P<zh2>\d+)\s*阶段)"
    r"\s*\**\s*(?:[:：.、\-–—]\s*)?(?P<title>.*)",
    re.IGNORECASE,
)
_LABELS = (
    r"(?P<trigger>trigger(?: condition)?s?|触发条件|触发)"
    r"|(?P<line>(?:the )?(?:user(?:['’]s)? )?lines?|(?:用户)?台词)"
    r"|(?P<not_met>(?:when|if) (?:the (?:trigger|condition) is )?not met|未满足时(?:的行为)?|未满足)"
)
_FIELD = re.compile(
    rf" {{0,3}}(?:[-*•+]\s+)?\*\*\s*(?:{_LABELS})\s*(?:\*\*\s*[:：]|[:：]\s*\*\*)\s*(?P<value>.*)",
    re.IGNORECASE,
)
_PLAIN_FIELD = re.compile(rf" {{0,3}}[-*•+]\s+(?:{_LABELS})\s*[:：]\s*(?P<value>.*)", re.IGNORECASE)
_QUOTED = re.compile(r"\s*>[ ]?")
_INDENT = re.compile(r" {1,4}")

_WORDS: dict[TaskLanguage, dict[str, str]] = {
    "en": {
        "identity": "# Core Identity",
        "stages": "# Staged Information Disclosure",
        "behaviour": "# Behaviour Instructions",
        "stage": "### Stage {n}: {title}",
        "untitled": "Stage {n}",
        "trigger": "- **Trigger condition**: ",
        "line": "- **Line**: > ",
        "not_met": "- **When not met**: ",
    },
    "zh": {
        "identity": "# 核心身份",
        "stages": "# 分阶段信息披露",
        "behaviour": "# 行为指令",
        "stage": "### 阶段{n}：{title}",
        "untitled": "阶段{n}",
        "trigger": "- **触发条件**：",
        "line": "- **台词**：> ",
        "not_met": "- **未满足时**：",
    },
}


@dataclass
class _Parsed:
    sections: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    stages: list[_ParsedStage] = field(default_factory=list["_ParsedStage"])


@dataclass
class _ParsedStage:
    title: str
    fields: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


def read_persona(text: str, initial_query: object) -> dict[str, object]:
    """The fields of a `Persona`, for the model to validate: what the text lacks is empty here."""
    parsed = _parse(text)
    return {
        "identity": _joined(parsed.sections.get("identity") or parsed.sections.get("preface", [])),
        "initial_query": initial_query,
        "stages": [_stage(stage) for stage in parsed.stages],
        "behaviour": _joined(parsed.sections.get("behaviour", [])),
    }


def write_persona(persona: Persona, language: TaskLanguage) -> str:
    """The text; `read_persona` reads the same identity, stages and behaviour from it."""
    words = _WORDS[language]
    parts = [words["identity"], _guarded(persona.identity), words["stages"]]
    for number, stage in enumerate(persona.stages, start=1):
        title = " ".join(stage.title.split())
        lines = [
            words["stage"].format(n=number, title=title),
            words["trigger"] + stage.cue.text.replace("\n", "\n    "),
            words["line"] + stage.line.replace("\n", "\n    > "),
            (words["not_met"] + stage.not_met.replace("\n", "\n    ")).rstrip(" "),
        ]
        parts.append("\n".join(lines))
    parts += [words["behaviour"], _guarded(persona.behaviour)]
    return "\n\n".join(parts).rstrip("\n")


def _parse(text: str) -> _Parsed:
    parsed = _Parsed()
    section = "preface"
    current: list[str] | None = None
    for raw in _lines(text):
        heading = _SECTION.fullmatch(raw)
        if heading and not heading["escape"]:
            section = str(heading.lastgroup)
            current = None
            continue
        if section != "stages":
            line = raw[1:] if heading else raw
            parsed.sections.setdefault(section, []).append(line)
            continue
        if match := _STAGE.fullmatch(raw):
            language: TaskLanguage = "en" if match["en"] else "zh"
            title = match["title"].strip().removesuffix("**").strip()
            untitled = _WORDS[language]["untitled"].format(n=len(parsed.stages) + 1)
            parsed.stages.append(_ParsedStage(title or untitled))
            current = None
        elif parsed.stages and (match := _FIELD.fullmatch(raw) or _PLAIN_FIELD.fullmatch(raw)):
            label = next(name for name in ("trigger", "line", "not_met") if match[name])
            current = parsed.stages[-1].fields.setdefault(label, [])
            current.append(match["value"])
        elif current is not None:
            current.append(_INDENT.sub("", raw, count=1) if raw.startswith(" ") else raw)
    return parsed


def _lines(text: str) -> list[str]:
    """Lines without the code fence that a model may have put around the whole."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    fenced = len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```"
    return lines[1:-1] if fenced else lines


def _stage(stage: _ParsedStage) -> dict[str, object]:
    cue = _joined(stage.fields.get("trigger", []))
    line = _joined(
        [
            _QUOTED.sub("", part, count=1) if _QUOTED.match(part) else part
            for part in stage.fields.get("line", [])
        ]
    )
    return {
        "title": stage.title,
        "cue": {"kind": infer_kind(cue), "text": cue},
        "line": line,
        "not_met": _joined(stage.fields.get("not_met", [])),
    }


def _joined(lines: list[str]) -> str:
    return "\n".join(lines).strip()


def _guarded(text: str) -> str:
    """Lines that would read as a section's heading get Markdown's escape."""
    return "\n".join(f"\\{line}" if _SECTION.fullmatch(line) else line for line in text.split("\n"))

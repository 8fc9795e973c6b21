"""A persona as one Markdown text: three `#` sections, a `###` heading for each stage (VibeSearch).

English and Chinese headings, half- and full-width colons and the usual spellings of the labels are
read; one form of each is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cuecard.core.formats.cue_words import infer_kind
from cuecard.core.tasks.models import Persona, Stage, TaskLanguage

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

WORDS: dict[TaskLanguage, dict[str, str]] = {
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
class Span:
    """A run of lines that says one thing: a stage's field, a section's text. `first` and `last` are
    indices into the lines of the text, `last` excluded; `start` is where the first line's value begins.
    """

    first: int
    last: int
    start: int = 0


@dataclass
class ParsedStage:
    title: str
    block: Span
    heading: re.Match[str]
    fields: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    spans: dict[str, Span] = field(default_factory=dict[str, Span])


@dataclass
class ParsedPersona:
    """What was read, and where it stood. A section or field that occurs twice has no span."""

    lines: list[str] = field(default_factory=list[str])
    sections: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    spans: dict[str, list[Span]] = field(default_factory=dict[str, list[Span]])
    stages: list[ParsedStage] = field(default_factory=list[ParsedStage])


def read_persona(text: str, initial_query: object) -> dict[str, object]:
    """The fields of a `Persona`, for the model to validate: what the text lacks is empty here."""
    parsed = parse_persona(text)
    return {
        "identity": _joined(parsed.sections.get("identity") or parsed.sections.get("preface", [])),
        "initial_query": initial_query,
        "stages": [_stage(stage) for stage in parsed.stages],
        "behaviour": _joined(parsed.sections.get("behaviour", [])),
    }


def write_persona(persona: Persona, language: TaskLanguage) -> str:
    """The text; `read_persona` reads the same identity, stages and behaviour from it."""
    words = WORDS[language]
    parts = [words["identity"], guarded(persona.identity), words["stages"]]
    parts += [
        write_stage(stage, number, language) for number, stage in enumerate(persona.stages, start=1)
    ]
    parts += [words["behaviour"], guarded(persona.behaviour)]
    return "\n\n".join(parts).rstrip("\n")


def write_stage(stage: Stage, number: int, language: TaskLanguage) -> str:
    """Heading and bullets of one stage."""
    words = WORDS[language]
    lines = [
        words["stage"].format(n=number, title=" ".join(stage.title.split())),
        words["trigger"] + stage.cue.text.replace("\n", "\n    "),
        words["line"] + stage.line.replace("\n", "\n    > "),
        (words["not_met"] + stage.not_met.replace("\n", "\n    ")).rstrip(" "),
    ]
    return "\n".join(lines)


def parse_persona(text: str) -> ParsedPersona:
    parsed = ParsedPersona(lines=persona_lines(text))
    section = "preface"
    current: list[str] | None = None
    span: Span | None = None
    for index, raw in enumerate(parsed.lines):
        heading = _SECTION.fullmatch(raw)
        if heading and not heading["escape"]:
            section = str(heading.lastgroup)
            current = span = None
            continue
        if section != "stages":
            if span is None:
                span = Span(index, index)
                parsed.spans.setdefault(section, []).append(span)
            span.last = index + 1
            parsed.sections.setdefault(section, []).append(raw[1:] if heading else raw)
            continue
        if match := _STAGE.fullmatch(raw):
            language: TaskLanguage = "en" if match["en"] else "zh"
            title = match["title"].strip().removesuffix("**").strip()
            untitled = WORDS[language]["untitled"].format(n=len(parsed.stages) + 1)
            stage = ParsedStage(title or untitled, Span(index, index), match)
            parsed.stages.append(stage)
            current = span = None
        elif parsed.stages and (match := _FIELD.fullmatch(raw) or _PLAIN_FIELD.fullmatch(raw)):
            label = next(name for name in ("trigger", "line", "not_met") if match[name])
            stage = parsed.stages[-1]
            span = Span(index, index, -1 if label in stage.spans else match.start("value"))
            stage.spans[label] = span
            current = stage.fields.setdefault(label, [])
            current.append(match["value"])
        elif current is not None:
            current.append(_INDENT.sub("", raw, count=1) if raw.startswith(" ") else raw)
        if span is not None:
            span.last = index + 1
        if parsed.stages:
            parsed.stages[-1].block.last = index + 1
    return parsed


def persona_lines(text: str) -> list[str]:
    """Lines without the code fence that a model may have put around the whole."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    fenced = len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```"
    return lines[1:-1] if fenced else lines


def _stage(stage: ParsedStage) -> dict[str, object]:
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


def guarded(text: str) -> str:
    """Lines that would read as a section's heading get Markdown's escape."""
    return "\n".join(f"\\{line}" if _SECTION.fullmatch(line) else line for line in text.split("\n"))

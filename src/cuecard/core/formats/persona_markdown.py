"""Personas as Markdown text (VibeSearchBench): parses and writes them, and edits a text so that nothing else changes."""

import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import cast

from cuecard.core.tasks.models import CueKind, Persona, Stage, TaskLanguage

_START = re.compile(
    r"\b(?:conversation|dialogue|dialog|chat|session)\b[^.]{0,24}\b(?:begin|begins|began|start|starts|started|opens?)\b"
    r"|\b(?:begin|beginning|start|opening)\b[^.]{0,16}\b(?:conversation|dialogue|dialog|chat|session)\b"
    r"|对话(?:一?开始|刚开始|开启)|(?:开始|开启)对话|开场",
    re.IGNORECASE,
)
_OTHER_PART = re.compile(
    r"\b(?:assistant|agent|model|ai|bot)\b|助手|智能体|模型|客服", re.IGNORECASE
)
_ASKS = re.compile(
    r"\b(?:ask|asks|asked|asking|inquires?|inquiring|enquires?|probes?)\b"
    r"|询问|追问|提问|问到|问及|问起|问道|反问|主动问|问了|问用户|问我|发问|打听",
    re.IGNORECASE,
)
_COMPLETES = re.compile(
    r"\b(?:complet(?:e|es|ed|ing|ion)|finish(?:es|ed|ing)?|finali[sz](?:e|es|ed|ing)|conclud(?:e|es|ed)"
    r"|wraps? up|is done|has done|milestone|all (?:previous|prior|earlier|preceding|the above) stages)\b"
    r"|完成|做完|结束|筛完|查完|整理完|完毕|所有(?:前述|之前的?|前面的?)阶段",
    re.IGNORECASE,
)


def infer_kind(text: str) -> CueKind:
    """The kind of a cue, inferred from its English or Chinese words; `mentions` by default."""
    if _START.search(text) and not _OTHER_PART.search(text):
        return CueKind.START
    if _ASKS.search(text):
        return CueKind.ASKS
    if _COMPLETES.search(text):
        return CueKind.COMPLETES
    return CueKind.MENTIONS


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
    """A parsed persona with the places of its parts. A section or field that occurs twice has no span."""

    lines: list[str] = field(default_factory=list[str])
    sections: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    spans: dict[str, list[Span]] = field(default_factory=dict[str, list[Span]])
    stages: list[ParsedStage] = field(default_factory=list[ParsedStage])


def read_persona(text: str, initial_query: object) -> dict[str, object]:
    """The fields of a `Persona`, to be validated; fields that the text lacks are empty."""
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
    """The text with lines that look like a section's heading escaped."""
    return "\n".join(f"\\{line}" if _SECTION.fullmatch(line) else line for line in text.split("\n"))


_BREAK = re.compile(r"\r\n|\r|\n")
_QUOTE = re.compile(r"\s*>[ ]?")
_NUMBER = re.compile(r"\d+")
_Fields = tuple[str, str, str, str]


def patch_persona(text: str, persona: Persona, language: TaskLanguage) -> str:
    """`text` with the edits that make it say what `persona` says; where that cannot be done by
    replacing its parts, the persona in the usual form.
    """
    wanted = write_persona(persona, language)
    goal = read_persona(wanted, "")
    patched = _patched(text, persona, goal, language)
    return patched if patched is not None and read_persona(patched, "") == goal else wanted


def _patched(
    text: str, persona: Persona, goal: dict[str, object], language: TaskLanguage
) -> str | None:
    parsed = parse_persona(text)
    body = "\n".join(parsed.lines)
    plain = _BREAK.sub("\n", text)
    at = plain.find(body)
    if at < 0 or not parsed.stages:
        return None
    before = read_persona(text, "")
    edits: list[tuple[int, int, list[str]]] = []
    for section, new in (("identity", persona.identity), ("behaviour", persona.behaviour)):
        if before[section] != goal[section]:
            edit = _section_edit(parsed, section, new.strip())
            if edit is None:
                return None
            edits.append(edit)
    old = [_fields(stage) for stage in _stages(before)]
    new = [_fields(stage) for stage in _stages(goal)]
    if len(old) == len(new):
        for index, (was, now) in enumerate(zip(old, new, strict=True)):
            changed = _stage_edits(parsed, index, was, now)
            if changed is None:
                edits.append(_whole_stage(parsed, index, persona.stages[index], language))
            else:
                edits += changed
    else:
        edits.append(_restaged(parsed, persona, old, new, language))
    lines = parsed.lines
    for first, last, replacement in sorted(edits, key=lambda edit: edit[0], reverse=True):
        lines = [*lines[:first], *replacement, *lines[last:]]
    result = plain[:at] + "\n".join(lines) + plain[at + len(body) :]
    breaks = set(_BREAK.findall(text))
    return result.replace("\n", breaks.pop()) if len(breaks) == 1 else result


def _stages(fields: dict[str, object]) -> list[dict[str, object]]:
    return cast(list[dict[str, object]], fields["stages"])


def _fields(stage: dict[str, object]) -> _Fields:
    cue = cast(dict[str, object], stage["cue"])
    return str(stage["title"]), str(cue["text"]), str(stage["line"]), str(stage["not_met"])


def _section_edit(
    parsed: ParsedPersona, section: str, new: str
) -> tuple[int, int, list[str]] | None:
    spans = parsed.spans.get(section)
    if not spans and section == "identity":
        spans = parsed.spans.get("preface")
    if not spans or len(spans) != 1:
        return None
    first, last = _filled(parsed.lines, spans[0])
    return first, last, guarded(new).split("\n")


def _filled(lines: list[str], span: Span) -> tuple[int, int]:
    """The span without the blank lines around it, which are layout."""
    first, last = span.first, span.last
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    return first, last


def _stage_edits(
    parsed: ParsedPersona, index: int, was: _Fields, now: _Fields
) -> list[tuple[int, int, list[str]]] | None:
    stage = parsed.stages[index]
    edits: list[tuple[int, int, list[str]]] = []
    if was[0] != now[0]:
        line = parsed.lines[stage.block.first]
        start = stage.heading.start("title")
        if not line[start:].strip() or line.rstrip().endswith("*"):
            return None
        edits.append((stage.block.first, stage.block.first + 1, [line[:start] + now[0]]))
    for label, old, new in zip(("trigger", "line", "not_met"), was[1:], now[1:], strict=True):
        if old == new:
            continue
        span = stage.spans.get(label)
        if span is None or span.start < 0:
            return None
        edits.append(_field_edit(parsed.lines, span, label, new))
    return edits


def _field_edit(lines: list[str], span: Span, label: str, new: str) -> tuple[int, int, list[str]]:
    """The label stays as it is written, and so does the way in which a line is quoted and indented."""
    head, value = lines[span.first][: span.start], lines[span.first][span.start :]
    first, last = span.first, _filled(lines, span)[1]
    texts = new.split("\n")
    quote = ""
    if label == "line":
        rest = [line for line in lines[first + 1 : last] if line.strip()]
        found = _QUOTE.match(value) or (_QUOTE.match(rest[0]) if rest else None)
        quote = "> " if found else ""
    if value.strip() or last - first < 2:
        gap = "" if head.endswith((" ", "：", "\t")) or not texts[0] else " "
        follow = f"    {quote}"
        return (
            first,
            last,
            [f"{head}{gap}{quote}{texts[0]}", *(follow + part for part in texts[1:])],
        )
    indent = lines[first + 1][: len(lines[first + 1]) - len(lines[first + 1].lstrip())] or "  "
    return first, last, [lines[first], *(f"{indent}{quote}{part}" for part in texts)]


def _whole_stage(
    parsed: ParsedPersona, index: int, stage: Stage, language: TaskLanguage
) -> tuple[int, int, list[str]]:
    first, last = _filled(parsed.lines, parsed.stages[index].block)
    return first, last, write_stage(stage, index + 1, language).split("\n")


def _restaged(
    parsed: ParsedPersona,
    persona: Persona,
    old: list[_Fields],
    new: list[_Fields],
    language: TaskLanguage,
) -> tuple[int, int, list[str]]:
    """Stages came or went: those that stayed keep their words, with the number that they have now."""
    kept: dict[int, int] = {}
    for start, to, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        kept.update({to + offset: start + offset for offset in range(size)})
    blocks: list[list[str]] = []
    for index, stage in enumerate(persona.stages):
        source = kept.get(index)
        if source is None:
            blocks.append(write_stage(stage, index + 1, language).split("\n"))
            continue
        first, last = _filled(parsed.lines, parsed.stages[source].block)
        block = parsed.lines[first:last]
        block[0] = _NUMBER.sub(str(index + 1), block[0], count=1)
        blocks.append(block)
    whole = Span(parsed.stages[0].block.first, parsed.stages[-1].block.last)
    first, last = _filled(parsed.lines, whole)
    gap = (
        [""] if len(parsed.stages) < 2 or not parsed.lines[parsed.stages[1].block.first - 1] else []
    )
    lines = [line for block in blocks for line in (*block, *gap)]
    return first, last, lines[: len(lines) - len(gap)]

"""An edited persona in the words and the layout that its text came with: only what was edited changes."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import cast

from cuecard.core.formats.persona_markdown import (
    ParsedPersona,
    Span,
    guarded,
    parse_persona,
    read_persona,
    write_persona,
    write_stage,
)
from cuecard.core.tasks.models import Persona, Stage, TaskLanguage

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

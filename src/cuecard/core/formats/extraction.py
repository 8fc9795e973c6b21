"""Parses triples and Markdown tables from an agent's text, in many spellings, and repairs broken ones."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, cast

NamedTriple = tuple[str, str, str]

_HEADS = ("head", "subject", "subj", "source", "from", "s", "h", "头", "头实体", "主语", "主体")
_RELATIONS = (
    *("relation", "predicate", "relationship", "rel", "pred", "property", "edge", "p", "r"),
    *("关系", "谓语", "谓词", "关系词"),
)
_TAILS = ("tail", "object", "obj", "target", "to", "o", "t", "尾", "尾实体", "宾语", "客体")
_SUFFIX = re.compile(r"[\s_\-]*(?:entity|name|label|type)$|[\s_\-]+")
_PLACEHOLDER = re.compile(r"\W*|<[^<>]*>|string|str|text")

_ARRAY = re.compile(r"\[\s*(?=[{\[])")
_OBJECT = re.compile(r"\{(?=\s*[\"'“]?\w)")
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*(\w*)[ \t]*$", re.MULTILINE)
_CURLY = re.compile("[“”„‟＂]")
_EMPTY = re.compile(r"(?:`{3,}\w*)?\s*\[\s*\]\s*(?:`{3,})?")

# Bounds the work on texts that begin thousands of arrays.
_MAX_FAILURES = 400
_MAX_WASTE = 8_000_000


def find_triples(text: str) -> list[NamedTriple] | None:
    """The last complete JSON array of triples in a text; else what can be repaired of a broken one; an empty list for a
    bare `[]`; None if there is nothing of the kind.

    An entry is an object with a head, a relation and a tail under any common name, or a list of three texts. Arrays that
    only show the format (`"..."`) do not count.
    """
    last: list[NamedTriple] | None = None
    for array in _arrays(text):
        triples = _triples(array)
        if triples:
            last = triples
    if last:
        return last
    if _EMPTY.fullmatch(text.strip()):
        return []
    return _uncut(_repaired(text)) or _salvaged(text) or None


def triple_part(name: str) -> Literal["head", "relation", "tail"] | None:
    """Which part of a triple a field or column with this name holds, if it is a common name."""
    key = _key(name)
    if key in _HEADS:
        return "head"
    if key in _RELATIONS:
        return "relation"
    return "tail" if key in _TAILS else None


def _uncut(triples: list[NamedTriple]) -> list[NamedTriple]:
    """Without the last one if the text broke off inside it."""
    return triples[:-1] if triples and not all(triples[-1]) else triples


def _arrays(text: str) -> Iterator[list[object]]:
    """Complete JSON arrays of objects or lists, outermost first, left to right."""
    for value in _values(text, _ARRAY):
        if isinstance(value, list):
            yield cast(list[object], value)


def _values(text: str, opening: re.Pattern[str]) -> Iterator[object]:
    decoder = json.JSONDecoder(strict=False)
    at = failures = wasted = 0
    while failures < _MAX_FAILURES and wasted < _MAX_WASTE:
        match = opening.search(text, at)
        if match is None:
            return
        start = match.start()
        try:
            value, at = cast(tuple[object, int], decoder.raw_decode(text, start))
        except json.JSONDecodeError as error:
            failures += 1
            wasted += error.pos - start
            at = start + 1
        except (ValueError, RecursionError):
            failures += 1
            wasted += 10_000
            at = start + 1
        else:
            yield value


def _repaired(text: str) -> list[NamedTriple]:
    """Broken JSON by json-repair: the last fenced block that gives triples, else the text from its
    first array on.
    """
    from cuecard.core.validation import repair

    candidates = [block for block in _fenced(text) if "[" in block or "{" in block]
    candidates.reverse()
    start = _ARRAY.search(text)
    if start is not None:
        candidates.append(text[start.start() :])
    for candidate in candidates[:4]:
        # json-repair does not replace typographic quotes.
        for variant in dict.fromkeys((candidate, _CURLY.sub('"', candidate))):
            for item in _with_members(repair(variant)):
                if isinstance(item, list) and (triples := _triples(cast(list[object], item))):
                    return triples
    return []


def _with_members(value: object) -> list[object]:
    """The value and those directly inside it, since models wrap the array in an object."""
    if isinstance(value, dict):
        return [cast(object, value), *cast(dict[str, object], value).values()]
    return [value]


def _fenced(text: str) -> list[str]:
    marks = list(_FENCE.finditer(text))
    blocks: list[str] = []
    index = 0
    while index < len(marks):
        end = marks[index + 1].start() if index + 1 < len(marks) else len(text)
        blocks.append(text[marks[index].end() : end])
        index += 2
    return blocks


def _salvaged(text: str) -> list[NamedTriple]:
    """Complete single objects, such as JSON lines or the beginning of a cut-off array."""
    return _triples(list(_values(text, _OBJECT)))


def _triples(array: list[object]) -> list[NamedTriple]:
    found = [triple for entry in array if (triple := _triple(entry)) is not None]
    return [] if all(_is_placeholder(triple) for triple in found) else found


def _triple(entry: object) -> NamedTriple | None:
    if isinstance(entry, list):
        cells = cast(list[object], entry)
        if len(cells) != 3 or not isinstance(cells[0], str) or not isinstance(cells[1], str):
            return None
        return _text(cells[0]), _text(cells[1]), _text(cells[2])
    if not isinstance(entry, dict):
        return None
    fields = {_key(str(key)): value for key, value in cast(dict[str, object], entry).items()}
    parts = (_first(fields, _HEADS), _first(fields, _RELATIONS), _first(fields, _TAILS))
    # An entry without its tail is a wrong triple, which counts; one without relation and the other
    # end (a node, an e-mail's from and to) is no triple.
    if parts[1] is None and not {"head", "tail"} <= fields.keys():
        return None
    if parts[0] is None and parts[2] is None:
        return None
    head, relation, tail = (part or "" for part in parts)
    return (head, relation, tail) if head or relation or tail else None


def _key(key: str) -> str:
    plain = _SUFFIX.sub("", key.strip().casefold())
    return plain or key.strip().casefold()


def _first(fields: dict[str, object], names: tuple[str, ...]) -> str | None:
    return next((_text(fields[name]) for name in names if name in fields), None)


def _text(value: object) -> str:
    match value:
        case None:
            return ""
        case str():
            return value.strip()
        case bool():
            return "true" if value else "false"
        case dict():
            named = cast(dict[str, object], value)
            inner = next(
                (named[key] for key in ("name", "text", "label", "id") if key in named), None
            )
            return (
                _text(inner)
                if isinstance(inner, str | int | float)
                else json.dumps(named, ensure_ascii=False)
            )
        case list():
            return ", ".join(_text(item) for item in cast(list[object], value))
        case _:
            return str(value)


def _is_placeholder(triple: NamedTriple) -> bool:
    return all(_PLACEHOLDER.fullmatch(part.casefold()) for part in triple)


_PIPE = re.compile(r"(?<!\\)\|")
_RULE_CELL = re.compile(r":?[-–—=]+:?")
_RULE_LINE = re.compile(r"[|\s:\-–—=]+")
_BREAK = re.compile(r"\s*<br\s*/?\s*>\s*", re.IGNORECASE)
# Only entities with their semicolon: "?a=1&copy=2" in a URL is none.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,31});")
_TABLE_TEXT_FENCE = re.compile(r"\s*(`{3,}|~{3,})\s*([\w+-]*)")


@dataclass(frozen=True)
class FoundTable:
    """A table found in a text. Every row has as many cells as there are columns; `over` rows had more in the text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    over: int = field(default=0, compare=False)


@dataclass(frozen=True)
class _Block:
    """The lines of one table, and whether they stood in a ```markdown fence."""

    lines: tuple[str, ...]
    fenced: bool


def find_table(text: str) -> FoundTable | None:
    """The table in a text that is meant as the answer, or None.

    Tables in a ```markdown fence are preferred to bare ones (WideSearch asks for the fence), and tables with rows to
    empty ones; of several, the last one that is at least half as long as the longest, since an answer follows its drafts
    and a short closing summary is no answer. Rows are padded or cut to the length of the header.
    """
    found = [(block.fenced, table) for block in _blocks(text) if (table := _table(block.lines))]
    for fenced in (True, False):
        tables = [table for is_fenced, table in found if is_fenced == fenced and table.rows]
        if tables:
            longest = max(len(table.rows) for table in tables)
            return next(table for table in reversed(tables) if 2 * len(table.rows) >= longest)
    return found[-1][1] if found else None


def _blocks(text: str) -> list[_Block]:
    """Runs of lines with pipes, split where another table begins.

    Inside a fence blank lines do not end a table. Outside they do, except that the rule of dashes may follow a single
    header line after one blank line.
    """
    blocks: list[_Block] = []
    # None: blank lines in a row.
    lines: list[str | None] = []
    fence, markdown = "", False

    def close() -> None:
        blocks.extend(_Block(lines, markdown) for lines in _cut(lines))
        lines.clear()

    for raw in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        line = raw.strip()
        line = line.lstrip("> \t") if line.startswith(">") else line
        if match := _TABLE_TEXT_FENCE.match(line):
            close()
            if fence and match[1].startswith(fence) and not match[2]:
                fence, markdown = "", False
            elif not fence:
                fence, markdown = match[1], match[2].lower() in ("markdown", "md")
        elif "|" in line:
            if not fence and lines[-1:] == [None] and not (len(lines) == 2 and _is_rule(line)):
                close()
            lines.append(line)
        elif line:
            close()
        elif fence or (lines and lines[-1] is not None):
            if lines[-1:] != [None]:
                lines.append(None)
        else:
            close()
    close()
    return blocks


def _cut(lines: list[str | None]) -> Iterator[tuple[str, ...]]:
    """The tables of one run of lines: a line followed by a rule of dashes begins a new one, unless it stands between two
    rules (a grid) or nothing follows the rule.
    """
    block: list[str] = []
    for place, line in enumerate(lines):
        if line is None:
            continue
        after = [other for other in lines[place + 1 : place + 5] if other is not None]
        headed = len(after) > 1 and _is_rule(after[0]) and not _is_rule(line)
        between = place > 0 and _is_rule(lines[place - 1] or "")
        if headed and not between and any(split_line(line)) and block:
            yield tuple(block)
            block = []
        block.append(line)
    if block:
        yield tuple(block)


def _table(lines: tuple[str, ...]) -> FoundTable | None:
    """The header is the line above the rule of dashes, or without a rule the first of at least two
    lines that begin with a pipe.
    """
    rule = next((i for i, line in enumerate(lines) if i and _is_rule(line)), None)
    if rule is not None:
        header, body = lines[rule - 1], lines[rule + 1 :]
    elif len(lines) >= 2 and all(line.startswith("|") for line in lines):
        header, body = lines[0], lines[1:]
    else:
        return None
    columns = tuple(_bare(cell) for cell in split_line(header))
    if not any(columns) or (len(columns) < 2 and not header.startswith("|")):
        return None
    width = len(columns)
    lines_of_cells = [split_line(line) for line in body if not _is_rule(line)]
    filled = [cells for cells in lines_of_cells if any(cells)]
    rows = tuple((*cells[:width], *[""] * (width - len(cells))) for cells in filled)
    return FoundTable(columns, rows, sum(any(cells[width:]) for cells in filled))


def _is_rule(line: str) -> bool:
    if not _RULE_LINE.fullmatch(line):
        return False
    cells = [cell.strip() for cell in _split(line)]
    return any(cells) and all(_RULE_CELL.fullmatch(cell) for cell in cells if cell)


def _split(line: str) -> list[str]:
    line = line.strip()
    cells = _PIPE.split(line)
    if line.startswith("|"):
        cells = cells[1:]
    if len(cells) > 1 and not cells[-1].strip() and line.endswith("|"):
        cells = cells[:-1]
    return cells


def split_line(line: str) -> tuple[str, ...]:
    """The cells of one line of a Markdown table, unescaped."""
    return tuple(_cell(cell) for cell in _split(line))


def _cell(text: str) -> str:
    text = _BREAK.sub(" ", text.replace("\\|", "|"))
    return _ENTITY.sub(_unescaped, text).strip()


def _unescaped(match: re.Match[str]) -> str:
    import html

    return html.unescape(match[0])


def _bare(cell: str) -> str:
    """A column's name without emphasis or code marks around it."""
    return cell.strip("*`").strip() or cell

"""Markdown parsed into blocks, and blocks laid out as lines of a given width."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.common.normalize_url import normalizeLinkText
from markdown_it.token import Token
from rich.cells import cell_len

from cuecard.core.text import for_display, is_cjk
from cuecard.tui.present.entries import Line, Piece, Tone, flow, wrap

MOST_DEEP = 20
"""Lists and quotes within one another; what is deeper is not taken apart."""
QUOTE = "▏ "
Pieces = tuple[Piece, ...]


@dataclass(frozen=True)
class Lead:
    """What stands left of a block: `first` on its first line, `rest` on the others, `gap` on the empty
    line before it.
    """

    first: str = ""
    rest: str = ""
    gap: str = ""


@dataclass(frozen=True)
class Flowing:
    """A paragraph or heading. `space`: an empty line stands before it; so in the other blocks."""

    pieces: Pieces
    lead: Lead = Lead()
    space: bool = False


@dataclass(frozen=True)
class Verbatim:
    """Lines that are not joined: code."""

    lines: tuple[str, ...]
    lead: Lead = Lead()
    space: bool = False


@dataclass(frozen=True)
class Ruler:
    lead: Lead = Lead()
    space: bool = False


@dataclass(frozen=True)
class Table:
    """`align` per column: `left`, `right` or `center`. Every row has as many cells as the head."""

    align: tuple[str, ...]
    head: tuple[Pieces, ...]
    rows: tuple[tuple[Pieces, ...], ...]
    lead: Lead = Lead()
    space: bool = False


Block = Flowing | Verbatim | Ruler | Table


def plain_blocks(text: str) -> list[Block]:
    """A text that is shown as it stands."""
    return [Flowing((Piece(for_display(text)),))]


def blocks_of(markdown: str, *, breaks: bool = False) -> list[Block]:
    """The blocks of a (bounded) text, cleaned for display. `breaks`: its line breaks count, as in a chat."""
    tokens = _parser().parse(for_display(markdown))
    if breaks:
        for child in (child for token in tokens for child in token.children or ()):
            child.type = "hardbreak" if child.type == "softbreak" else child.type
    # What is deeper than that, the parser leaves out.
    if any(token.level >= MOST_DEEP - 1 for token in tokens):
        return plain_blocks(markdown)
    return list(_Walk(tokens).blocks())


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": MOST_DEEP, "html": False})
    parser.disable(["html_block", "html_inline", "reference"])
    return parser.enable(["table", "strikethrough"])


@dataclass
class _Frame:
    """A list, an item or a quote that is open."""

    rest: str = ""
    mark: str = ""
    number: int | None = None


@dataclass
class _Walk:
    tokens: Sequence[Token]
    frames: list[_Frame] = field(default_factory=list[_Frame])
    end: int = 0
    """The source line behind the last block."""
    shared: int = 0
    """How many of the frames the last block stands in too."""

    def blocks(self) -> Iterator[Block]:
        index, first = 0, True
        while index < len(self.tokens):
            token = self.tokens[index]
            block, index = self._block(index)
            if block:
                start = token.map[0] if token.map else self.end
                space = not first and (start > self.end or self._wants_space(block, token))
                yield replace(block, lead=self._lead(), space=space)
                first = False
                self.end = token.map[1] if token.map else self.end

    def _block(self, index: int) -> tuple[Block | None, int]:
        """The block that begins at a token, if any, and where to go on."""
        token = self.tokens[index]
        match token.type:
            case "bullet_list_open":
                self.frames.append(_Frame())
            case "ordered_list_open":
                self.frames.append(_Frame(number=int(token.attrs.get("start", 1))))
            case "list_item_open":
                self._open_item(token)
            case "blockquote_open":
                self.frames.append(_Frame(QUOTE, QUOTE))
            case "bullet_list_close" | "ordered_list_close" | "blockquote_close":
                self._pop()
            case "list_item_close":
                if self.frames[-1].mark:  # nothing stood in it; it is closed in the next step
                    return Flowing(()), index
                self._pop()
            case "paragraph_open":
                return Flowing(_inline(self.tokens[index + 1])), index + 3
            case "heading_open":
                tone: Tone = "stage" if token.tag in ("h1", "h2") else "strong"
                return Flowing(_inline(self.tokens[index + 1], tone)), index + 3
            case "fence" | "code_block":
                lines = token.content.removesuffix("\n").split("\n")
                return Verbatim(tuple(for_display(line) for line in lines)), index + 1
            case "hr":
                return Ruler(), index + 1
            case "table_open":
                return self._table(index)
            case _:
                pass
        return None, index + 1

    def _open_item(self, token: Token) -> None:
        opened = self.frames[-1]
        mark = "• "
        if opened.number is not None:
            mark = f"{opened.number}{token.markup or '.'} "
            opened.number += 1
        self.frames.append(_Frame(" " * len(mark), mark))

    def _lead(self) -> Lead:
        """The marks that were not shown yet, and the blanks below them."""
        first = "".join(frame.mark or frame.rest for frame in self.frames)
        rest = "".join(frame.rest for frame in self.frames)
        gap = "".join(frame.rest for frame in self.frames[: self.shared])
        self.shared = len(self.frames)
        for frame in self.frames:
            frame.mark = ""
        return Lead(first, rest, gap)

    def _pop(self) -> None:
        self.frames.pop()
        self.shared = min(self.shared, len(self.frames))

    def _wants_space(self, block: Block, token: Token) -> bool:
        return isinstance(block, Table | Ruler) or token.type == "heading_open"

    def _table(self, index: int) -> tuple[Block, int]:
        head: list[Pieces] = []
        align: list[str] = []
        rows: list[tuple[Pieces, ...]] = []
        row: list[Pieces] = []
        while (token := self.tokens[index]).type != "table_close":
            if token.type in ("th_open", "td_open"):
                style = str(token.attrs.get("style", ""))
                heads = token.type == "th_open"
                row.append(_inline(self.tokens[index + 1], "strong" if heads else "plain"))
                if heads:
                    align.append(style.removeprefix("text-align:") or "left")
            elif token.type == "tr_close":
                if head:
                    rows.append(tuple(row))
                else:
                    head = row
                row = []
            index += 1
        return Table(tuple(align), tuple(head), tuple(rows)), index + 1


def _inline(token: Token, tone: Tone = "plain") -> Pieces:
    """The words of one inline text. What is emphasised keeps the tone of a heading."""
    pieces: list[Piece] = []
    tones: list[Tone] = [tone]
    links: list[tuple[str, int]] = []
    for child in token.children or ():
        match child.type:
            case "text" | "code_inline":
                code = child.type == "code_inline" and tone == "plain"
                pieces.append(Piece(for_display(child.content), "code" if code else tones[-1]))
            case "softbreak":
                pieces.append(Piece(" ", tones[-1]))
            case "hardbreak":
                pieces.append(Piece("\n", tones[-1]))
            case "strong_open" | "em_open" | "s_open":
                tones.append(_emphasis(child.type, tones[-1]))
            case "strong_close" | "em_close" | "s_close":
                tones.pop()
            case "link_open":
                links.append((str(child.attrs.get("href", "")), len(pieces)))
                tones.append("link")
            case "link_close":
                tones.pop()
                address, start = links.pop()
                _add_address(pieces, start, address)
            case "image":
                start = len(pieces)
                pieces.append(Piece(for_display(child.content), "link"))
                _add_address(pieces, start, str(child.attrs.get("src", "")))
            case _:
                pieces.append(Piece(for_display(child.content), tones[-1]))
    return _joined(pieces)


def _emphasis(kind: str, around: Tone) -> Tone:
    if around not in ("plain", "emph", "strong"):
        return around
    match kind:
        case "strong_open":
            return "strong"
        case "em_open":
            return around if around == "strong" else "emph"
        case _:
            return "gone"


def _add_address(pieces: list[Piece], start: int, address: str) -> None:
    """The address behind the words of a link, unless they are the address."""
    address = for_display(normalizeLinkText(address)).replace("\n", " ")
    said = "".join(piece.text for piece in pieces[start:])
    bare = address.removeprefix("mailto:")
    if bare and bare.rstrip("/") != said.strip().rstrip("/"):
        pieces.append(Piece(f" ({address})" if said else address, "muted" if said else "link"))


def _joined(pieces: list[Piece]) -> Pieces:
    """No blank where a line ended between two Chinese characters; neighbours of a tone as one."""
    joined: list[Piece] = []
    for number, piece in enumerate(pieces):
        if piece.text == " " and 0 < number < len(pieces) - 1:
            before, after = pieces[number - 1].text[-1:], pieces[number + 1].text[:1]
            if is_cjk(before) and is_cjk(after):
                continue
        if joined and joined[-1].tone == piece.tone:
            joined[-1] = Piece(joined[-1].text + piece.text, piece.tone)
        elif piece.text:
            joined.append(piece)
    return tuple(joined)


NARROWEST = 6
BETWEEN = " │ "


def table_lines(table: Table, width: int) -> list[Line]:
    """Columns as wide as their longest cell where there is room; else the widest give way first."""
    count = len(table.head)
    room = width - len(BETWEEN) * (count - 1)
    wanted = _wanted(table)
    if room < sum(min(cells, NARROWEST) for cells in wanted):
        return _listed(table, width)
    widths = _fitted(wanted, room)
    lines = _row(table.head, widths, table.align)
    lines.append((Piece("─┼─".join("─" * cells for cells in widths), "muted"),))
    for row in table.rows:
        lines += _row(row, widths, table.align)
    return lines


def _wanted(table: Table) -> list[int]:
    """Cells that each column would take."""
    wanted = [1] * len(table.head)
    for row in (table.head, *table.rows):
        for column, pieces in enumerate(row[: len(wanted)]):
            wanted[column] = max(wanted[column], cell_len(_text(pieces)))
    return wanted


def _fitted(wanted: Sequence[int], room: int) -> list[int]:
    """Widths that sum up to at most `room`: the lowest cap on all columns that uses it up."""
    if sum(wanted) <= room:
        return list(wanted)
    ordered, left = sorted(wanted), room
    cap = 1
    for position, cells in enumerate(ordered):
        cap = left // (len(ordered) - position)
        if cells > cap:
            break
        left -= cells
    widths = [min(cells, cap) for cells in wanted]
    for column, cells in enumerate(wanted):
        if sum(widths) < room and widths[column] < cells:
            widths[column] += 1
    return widths


def _row(row: Sequence[Pieces], widths: Sequence[int], align: Sequence[str]) -> list[Line]:
    cells = [flow(pieces, max(cells, 2)) for pieces, cells in zip(row, widths, strict=False)]
    cells += [[()]] * (len(widths) - len(cells))
    lines: list[Line] = []
    for number in range(max(map(len, cells))):
        line: list[Piece] = []
        for column, parts in enumerate(cells):
            if column:
                line.append(Piece(BETWEEN, "muted"))
            part = parts[number] if number < len(parts) else ()
            line += _padded(part, widths[column], align[column] if column < len(align) else "left")
        lines.append(tuple(line))
    return lines


def _padded(line: Line, width: int, align: str) -> list[Piece]:
    spare = max(width - sum(cell_len(piece.text) for piece in line), 0)
    before = spare if align == "right" else spare // 2 if align == "center" else 0
    padded = [Piece(" " * before)] if before else []
    padded += line
    if spare > before:
        padded.append(Piece(" " * (spare - before)))
    return padded


def _listed(table: Table, width: int) -> list[Line]:
    """`Head: cell` on lines of their own, an empty line between the rows."""
    lines: list[Line] = []
    for row in table.rows or (table.head,):
        if lines:
            lines.append(())
        for column, pieces in enumerate(row):
            name = _text(table.head[column]) if table.rows and column < len(table.head) else ""
            label = (Piece(f"{name}: ", "muted"),) if name else ()
            if pieces:
                lines += flow((*label, *pieces), width)
    return lines or flow((Piece(" · ".join(filter(None, map(_text, table.head)))),), width)


def _text(pieces: Pieces) -> str:
    return "".join(piece.text for piece in pieces)


CODE_INDENT = "  "


def laid_out(blocks: Iterable[Block], width: int, indent: int = 0) -> list[Line]:
    """The blocks behind `indent` blanks, an empty line before each that wants one."""
    lines: list[Line] = []
    for block in blocks:
        first, rest = _leads(block.lead, width, indent)
        if block.space and lines:
            lines.append(_behind((" " * indent + block.lead.gap)[: len(rest)].rstrip(), ()))
        room = max(width - max(cell_len(first), cell_len(rest)), 2)
        for number, row in enumerate(_rows(block, room)):
            lines.append(_behind(rest if number else first, row))
    return lines


def _rows(block: Block, room: int) -> list[Line]:
    match block:
        case Flowing(pieces=pieces):
            return flow(pieces, room)
        case Verbatim(lines=rows):
            return [
                (Piece(CODE_INDENT + part, "code"),) if part else ()
                for row in rows
                for part in wrap(row, room - len(CODE_INDENT))
            ]
        case Ruler():
            return [(Piece("─" * room, "muted"),)]
        case Table():
            return table_lines(block, room)


def _leads(lead: Lead, width: int, indent: int) -> tuple[str, str]:
    """Marks and blanks, cut on the left where they would leave too little room for words."""
    blanks, most = " " * indent, width // 2
    first, rest = blanks + lead.first, blanks + lead.rest
    if len(rest) > most:
        first, rest = first[len(rest) - most :], rest[len(rest) - most :]
    return first, rest


def _behind(lead: str, row: Line) -> Line:
    if not lead:
        return row
    quiet = "▏" in lead or lead.isspace()
    return (Piece(lead, "muted" if quiet else "stage"), *row)

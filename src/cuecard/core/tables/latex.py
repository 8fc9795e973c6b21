"""Tables as LaTeX (booktabs), each as wide as a page by design, and what such a text needs to be compiled."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cuecard.core.i18n import _
from cuecard.core.tables.table import Cell, Table
from cuecard.core.tables.texts import figure_of, plain, remarks_of

PACKAGES = "array,booktabs,longtable"
_PAGE = 40
"""Lines of a table that still stand on one page."""
_HEAD, _NOTE = 3, 90
"""How many of them a panel's headings and lines take; letters of a note that fill one."""
_LINE = 345.0
"""Points of a line of LaTeX's own classes, the narrowest of one column."""
_SEP = 12.0
_SIZES = {"small": 9.0, "scriptsize": 7.7}
"""Points of the letters in a class of 10 points; small ones are relatively wider."""
_INTERVAL = 7.7
_NAMES, _MOST = 144.0, 96.0
"""Points of the first column and of others with words, beyond which these go on on the next line."""
_PIECE = 12
"""Letters of a word, such as a hash, that stay together."""
_KNOWN = frozenset("“”‘’„‚†‡•‰€™")
"""Beside Latin letters, what pdflatex sets as it stands."""
_LETTERS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "`": r"\`{}",
    # After a line's end these would be read as its star or option.
    "*": "{*}",
    "[": "{[}",
    "]": "{]}",
    "…": r"\ldots{}",
    "–": "--",
    "—": "---",
    "·": r"\textperiodcentered{}",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "Δ": r"$\Delta$",
    "κ": r"$\kappa$",
    "α": r"$\alpha$",
    "\ufffd": "?",
}
_NEGATIVE = re.compile(r"(?<![\w.)-])-(?=\d)")
# Set side by side, hyphens become a dash.
_DASHES = re.compile(r"-(?=-)")
_LABEL = re.compile(r"[^a-z0-9]+")


def escaped(text: str) -> str:
    """`text` on one line with LaTeX's special characters escaped."""
    letters = "".join(_LETTERS.get(letter, letter) for letter in _DASHES.sub("-\0", plain(text)))
    return letters.replace("\0", "{}")


def label_of(text: str) -> str:
    """A label for references: lower-case letters, digits and dashes."""
    return _LABEL.sub("-", text.casefold()).strip("-")


def preamble(text: str) -> str:
    """Comments that say which packages a text needs, and whether pdflatex cannot compile it."""
    lines = [rf"% \usepackage[T1]{{fontenc}} \usepackage{{{PACKAGES}}}"]
    if any(ord(letter) > 0x17F and letter not in _KNOWN for letter in text):
        told = _("pdflatex has no letters for some of this: compile it with XeLaTeX, and")
        lines = [rf"% \usepackage{{{PACKAGES}}}", rf"% {told} \usepackage{{xeCJK}}"]
    return "\n".join([*lines, "", ""])


def latex_of(tables: Sequence[Table]) -> str:
    """All tables with what they need, each with a label of its own."""
    taken: dict[str, int] = {}
    parts: list[str] = []
    for table in tables:
        label = label_of(table.title) or "results"
        taken[label] = taken.get(label, 0) + 1
        parts.append(
            as_latex(table, label=f"{label}-{taken[label]}" if taken[label] > 1 else label)
        )
    text = "\n".join(parts)
    return preamble(text) + text


def as_latex(table: Table, *, label: str = "") -> str:
    """A `table` environment with caption and label, or a `longtable` if it is longer than a page. `label`: the part
    after `tab:`, by default made from the title. A table that is wider than the line stands in panels, one below the
    other, each beginning with the first column; remarks and notes stand below.
    """
    caption = rf"\caption{{{escaped(table.title)}}}"
    label = rf"\label{{tab:{label or label_of(table.title) or 'results'}}}"
    panels = _panels(table, "small")
    notes = tuple(_notes(table))
    if (
        sum(panel.height for panel in panels) + sum(1 + len(note) // _NOTE for note in notes)
        > _PAGE
    ):
        lines = [r"{\scriptsize"]
        for at, panel in enumerate(_panels(table, "scriptsize")):
            lines += [
                rf"\begin{{longtable}}{{{panel.columns}}}",
                *([rf"  {caption}{label} \\"] if not at else []),
                r"    \toprule",
                panel.headings,
                r"    \midrule",
                r"  \endhead",
                *panel.lines,
                r"    \bottomrule",
                r"\end{longtable}",
            ]
        return "\n".join([*lines, *notes, "}", ""])
    lines = [r"\begin{table}[htbp]", r"  \centering", r"  \small", f"  {caption}", f"  {label}"]
    for at, panel in enumerate(panels):
        lines += [
            *([r"  \par\medskip"] if at else []),
            rf"  \begin{{tabular}}{{{panel.columns}}}",
            r"    \toprule",
            panel.headings,
            r"    \midrule",
            *panel.lines,
            r"    \bottomrule",
            r"  \end{tabular}",
        ]
    return "\n".join([*lines, *notes, r"\end{table}", ""])


@dataclass(frozen=True)
class _Panel:
    """Columns of a table that fit a line."""

    columns: str
    headings: str
    lines: tuple[str, ...]
    height: int


@dataclass(frozen=True)
class _Column:
    """`width`: in points; `tall`: how many lines more its cells take together because they break."""

    spec: str
    width: float
    heading: str
    cells: tuple[str, ...]
    tall: int = 0


def _panels(table: Table, size: str) -> list[_Panel]:
    columns = [
        _column(
            heading,
            [line[at] if at < len(line) else Cell("") for line in table.lines],
            _SIZES[size],
            names=not at,
            words=table.is_of_words(at),
        )
        for at, heading in enumerate(table.headings)
    ]
    found = _split(columns, _LINE)
    # The same number of panels about as wide as each other.
    narrower = (_split(columns, _LINE * part / 10) for part in range(4, 10))
    return [_panel(each) for each in next((n for n in narrower if len(n) == len(found)), found)]


def _split(columns: Sequence[_Column], line: float) -> list[list[_Column]]:
    """The columns in groups that fit a line, each beginning with the first of all."""
    found = [list(columns[:1])]
    used = columns[0].width
    for column in columns[1:]:
        if used + column.width + _SEP > line and len(found[-1]) > 1:
            found.append(list(columns[:1]))
            used = columns[0].width
        found[-1].append(column)
        used += column.width + _SEP
    return found


def _panel(columns: Sequence[_Column]) -> _Panel:
    rows = zip(*(column.cells for column in columns), strict=True)
    return _Panel(
        columns=f"@{{}}{''.join(column.spec for column in columns)}@{{}}",
        headings=f"    {' & '.join(column.heading for column in columns)} \\\\",
        lines=tuple(f"    {' & '.join(row)} \\\\" for row in rows),
        height=_HEAD + len(columns[0].cells) + max(column.tall for column in columns),
    )


def _column(
    heading: str, cells: Sequence[Cell], size: float, *, names: bool, words: bool
) -> _Column:
    rooms = [_room(cell, size) for cell in cells]
    told = plain(heading).split()
    longest = max((_points(word, size) for word in told), default=0.0)
    needed, most = max(rooms, default=0.0), _NAMES if names else _MOST
    if needed > most and not any(cell.is_figure for cell in cells):
        width = max(most, min(longest, 2 * most))
        spec = rf">{{\raggedright\arraybackslash}}p{{{width:.0f}pt}}"
        tall = sum(int(room / width) for room in rooms)
        return _Column(spec, width, escaped(heading), tuple(map(_broken, cells)), tall)
    width = max(needed, longest)
    side = "l" if words else "r"
    return _Column(side, width, _stacked(told, width, size, side), tuple(map(_cell, cells)))


def _stacked(words: Sequence[str], width: float, size: float, side: str) -> str:
    """A heading on as many lines as the width of its column takes."""
    lines: list[str] = []
    for word in words:
        if lines and _points(f"{lines[-1]} {word}", size) <= width:
            lines[-1] = f"{lines[-1]} {word}"
        else:
            lines.append(word)
    told = r"\\".join(map(escaped, lines))
    return rf"\shortstack[{side}]{{{told}}}" if len(lines) > 1 else told


def _room(cell: Cell, size: float) -> float:
    found = figure_of(cell)
    interval = _points(f" {found.interval}", min(size, _INTERVAL)) if found.interval else 0.0
    return _points(found.shown + found.rest, size) + interval


def _points(text: str, size: float) -> float:
    """About how wide a text is, rather too wide than too narrow."""
    return size * sum(map(_em, text))


def _em(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in "ijlft.,:;|'!()[] ":
        return 0.34
    return 0.78 if letter.isupper() or letter in "mwMW@%" else 0.54


def _broken(cell: Cell) -> str:
    """Words that go on on the next line, long ones too."""
    pieces = (
        r"\allowbreak ".join(escaped(word[at : at + _PIECE]) for at in range(0, len(word), _PIECE))
        for word in plain(cell.text).split()
    )
    return " ".join(pieces)


def _notes(table: Table) -> Iterator[str]:
    for text in (*remarks_of(table), *table.notes):
        yield rf"  \par\smallskip {{\footnotesize {escaped(text)}\par}}"


def _cell(cell: Cell) -> str:
    found = figure_of(cell)
    shown = _negative(found.shown) if found.is_figure else escaped(found.shown)
    if not found.interval:
        return shown
    return rf"{shown} {{\scriptsize {_negative(found.interval)}}}{_rest(found.rest)}"


def _rest(text: str) -> str:
    return f" {escaped(text)}" if text.strip() else ""


def _negative(text: str) -> str:
    """A number's minus is none of the hyphens."""
    return "$-$".join(escaped(part) for part in _NEGATIVE.split(text))

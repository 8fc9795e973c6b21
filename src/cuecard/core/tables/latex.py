"""Tables of results as LaTeX (booktabs), and the packages they need."""

import re
from collections.abc import Iterator

from cuecard.core.tables.table import Cell, Table
from cuecard.core.tables.texts import figure_of, plain, remarks_of

PACKAGES = "booktabs,graphicx,longtable"
_WIDE = 6
_FITTED = r"\ifdim\width>\linewidth\linewidth\else\width\fi"
_LONG = 40
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


def as_latex(table: Table, *, label: str = "") -> str:
    """A `table` environment with caption and label, or a `longtable` if it is longer than a page. `label`: the part
    after `tab:`, by default made from the title. Wide tables are scaled to the line; remarks and notes stand below.
    """
    label = label or label_of(table.title) or "results"
    if len(table.lines) > _LONG:
        return _long(table, label)
    wide = len(table.headings) > _WIDE
    lines = [
        r"\begin{table}[htbp]",
        r"  \centering",
        r"  \small",
        rf"  \caption{{{escaped(table.title)}}}",
        rf"  \label{{tab:{label}}}",
        *([rf"  \resizebox{{{_FITTED}}}{{!}}{{%"] if wide else ()),
        rf"  \begin{{tabular}}{{{_columns(table)}}}",
        r"    \toprule",
        _headings(table),
        r"    \midrule",
        *_lines(table),
        r"    \bottomrule",
        r"  \end{tabular}" + ("}" if wide else ""),
        *_notes(table),
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def _long(table: Table, label: str) -> str:
    lines = [
        r"{\scriptsize",
        rf"\begin{{longtable}}{{{_columns(table)}}}",
        rf"  \caption{{{escaped(table.title)}}}\label{{tab:{label}}} \\",
        r"    \toprule",
        _headings(table),
        r"    \midrule",
        r"  \endhead",
        *_lines(table),
        r"    \bottomrule",
        r"\end{longtable}",
        *_notes(table),
        "}",
        "",
    ]
    return "\n".join(lines)


def _columns(table: Table) -> str:
    return f"@{{}}l{'r' * (len(table.headings) - 1)}@{{}}"


def _headings(table: Table) -> str:
    return f"    {' & '.join(escaped(heading) for heading in table.headings)} \\\\"


def _lines(table: Table) -> Iterator[str]:
    for line in table.lines:
        yield f"    {' & '.join(_cell(cell) for cell in line)} \\\\"


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

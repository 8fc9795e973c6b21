r"""A Sheet as a LaTeX table with rules of booktabs. Wants `\usepackage{booktabs,graphicx}`; text in other scripts
stays UTF-8, for XeLaTeX, LuaLaTeX or the CJK packages.
"""

from __future__ import annotations

import re

from cuecard.annotate.labelling.comparison.markdown import remarks_of
from cuecard.annotate.labelling.comparison.sheets import Cell, Sheet
from cuecard.results.rendering.figures import figure_of, plain

_WIDE = 6
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
    """`text` on one line as LaTeX sets it letter by letter."""
    letters = "".join(_LETTERS.get(letter, letter) for letter in _DASHES.sub("-\0", plain(text)))
    return letters.replace("\0", "{}")


def label_of(text: str) -> str:
    """A name to refer to: lower-case letters, digits and dashes."""
    return _LABEL.sub("-", text.casefold()).strip("-")


def as_latex(sheet: Sheet, *, label: str = "") -> str:
    """A `table` environment with caption and label. `label`: what follows `tab:`, made of the title where it is
    not given. Wide tables are scaled down to the line; remarks and notes stand below.
    """
    columns = len(sheet.headings)
    wide = columns > _WIDE
    lines = [
        r"\begin{table}[htbp]",
        r"  \centering",
        r"  \small",
        rf"  \caption{{{escaped(sheet.title)}}}",
        rf"  \label{{tab:{label or label_of(sheet.title) or 'results'}}}",
        *([r"  \resizebox{\linewidth}{!}{%"] if wide else ()),
        rf"  \begin{{tabular}}{{@{{}}l{'r' * (columns - 1)}@{{}}}}",
        r"    \toprule",
        f"    {' & '.join(escaped(heading) for heading in sheet.headings)} \\\\",
        r"    \midrule",
        *(f"    {' & '.join(_cell(cell) for cell in line)} \\\\" for line in sheet.lines),
        r"    \bottomrule",
        r"  \end{tabular}" + ("}" if wide else ""),
        *(
            rf"  \par\smallskip {{\footnotesize {escaped(text)}\par}}"
            for text in (*remarks_of(sheet), *sheet.notes)
        ),
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def _cell(cell: Cell) -> str:
    found = figure_of(cell)
    shown = _negative(found.shown) if found.is_figure else escaped(found.shown)
    return rf"{shown} {{\scriptsize {_negative(found.interval)}}}" if found.interval else shown


def _negative(text: str) -> str:
    """A number's minus is none of the hyphens."""
    return "$-$".join(escaped(part) for part in _NEGATIVE.split(text))

"""A report as LaTeX to be read into a paper: text as paragraphs, tables as tables. Plots are left out."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.results.rendering.latex import PACKAGES, as_latex, escaped
from cuecard.results.report.model import Block, Prose, Report, Tabled, Terms


def report_latex(report: Report) -> str:
    parts = [
        f"% {escaped(report.title)}",
        f"% Cuecard {report.program}, {report.made_on.isoformat()}",
        f"% \\usepackage{{{PACKAGES}}}",
        "",
    ]
    taken: set[str] = set()
    for section in report.sections:
        blocks = [line for block in section.blocks for line in _block(block, section.id, taken)]
        if blocks:
            parts += [rf"\section*{{{escaped(section.title)}}}", "", *blocks]
    return "\n".join(parts) + "\n"


def _block(block: Block, section: str, taken: set[str]) -> Iterator[str]:
    if isinstance(block, Prose):
        yield f"{escaped(block.text)}\n"
    elif isinstance(block, Terms):
        if block.title:
            yield rf"\paragraph{{{escaped(block.title)}}}"
        yield r"\begin{description}"
        for term in block.terms:
            told = r" \\ ".join(escaped(line) for line in term.lines)
            yield rf"  \item[{{{escaped(term.name)}}}] {told}"
        yield "\\end{description}\n"
    elif isinstance(block, Tabled):
        label = f"{section}-{sum(name.startswith(f'{section}-') for name in taken) + 1}"
        taken.add(label)
        yield as_latex(block.sheet, label=label)

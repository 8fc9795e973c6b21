"""Tables as the text of a file, in the format that its name asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuecard.annotate.labelling.comparison.markdown import as_markdown, escaped
from cuecard.annotate.labelling.comparison.sheets import Sheet


@dataclass(frozen=True)
class Report:
    """`name`: of the file, without its ending. `lines`: what the tables are about, a sentence each."""

    name: str
    title: str
    sheets: Sequence[Sheet]
    lines: Sequence[str] = ()


def report_text(report: Report, suffix: str) -> str:
    """For a file ending in `.tex` or `.csv`; Markdown for any other."""
    match suffix.lower():
        case ".tex":
            from cuecard.results.rendering.latex import as_latex

            return "\n".join(as_latex(sheet) for sheet in report.sheets)
        case ".csv":
            from cuecard.results.rendering.csv_text import as_csv

            return as_csv(report.sheets)
        case _:
            return markdown(report.sheets, report.title, report.lines)


def markdown(sheets: Sequence[Sheet], title: str, lines: Sequence[str] = ()) -> str:
    """All tables under a title, and what they are about."""
    head = [f"# {escaped(title)}", "", *(f"- {escaped(line)}" for line in lines), ""]
    return "\n".join([*head, *(as_markdown(sheet) for sheet in sheets)]).rstrip() + "\n"

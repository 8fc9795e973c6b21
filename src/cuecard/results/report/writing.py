"""A report in the format that was asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, get_args

from cuecard.core.text import storable
from cuecard.results.report.model import Report

Format = Literal["html", "md", "tex", "csv", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)
_SUFFIXES: dict[str, Format] = {
    **{known: known for known in FORMATS},
    "htm": "html",
    "markdown": "md",
    "latex": "tex",
}


def format_of(path: Path) -> Format | None:
    """By the file's suffix; None for one that is none of ours."""
    return _SUFFIXES.get(path.suffix.removeprefix(".").casefold())


def written(report: Report, format: Format) -> str:
    """The report's text, which any file in UTF-8 can hold. `csv` has its tables alone."""
    match format:
        case "html":
            from cuecard.results.report.html import report_html

            text = report_html(report)
        case "md":
            from cuecard.results.report.markdown import report_markdown

            text = report_markdown(report)
        case "tex":
            from cuecard.results.report.latex import report_latex

            text = report_latex(report)
        case "csv":
            from cuecard.results.rendering.csv_text import as_csv

            text = as_csv(report.sheets)
        case "json":
            from cuecard.results.report.data import report_json

            text = json.dumps(report_json(report), ensure_ascii=False, indent=2, allow_nan=False)
            text += "\n"
    return storable(text)

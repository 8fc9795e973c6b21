"""A report as one HTML file that needs nothing else: no script to be complete, no font, no picture, no address."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from importlib import resources
from typing import Any

from cuecard.core.i18n import _
from cuecard.results.plots.svg import as_svg
from cuecard.results.rendering.html import as_html, environment
from cuecard.results.report.model import Block, Drawn, Prose, Report, Tabled, Terms


def report_html(report: Report) -> str:
    """The same report gives the same bytes. The policy in its head forbids everything from elsewhere, and any script but
    the one that sorts tables.
    """
    style, script = _asset("report.css"), _asset("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        environment()
        .get_template("report.html")
        .render(
            report=report,
            sections=[(each, blocks) for each, blocks in _sections(report)],
            style=_safe(style),
            script=_safe(script),
            policy=(
                f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}';"
                " base-uri 'none'; form-action 'none'"
            ),
            words={
                "contents": _("Contents"),
                "made": _("Made by Cuecard {version} on").format(version=report.program),
                "data": _("The numbers of this plot"),
                "skip": _("Skip to the content"),
            },
        )
    )


def _sections(report: Report) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    """Each section with its blocks as the template takes them; tables and figures are numbered through."""
    tables = figures = 0
    for section in report.sections:
        blocks: list[dict[str, Any]] = []
        for block in section.blocks:
            if isinstance(block, Tabled):
                tables += 1
            elif isinstance(block, Drawn):
                figures += 1
            blocks.append(_block(block, tables, figures))
        yield section, blocks


def _block(block: Block, table: int, figure: int) -> dict[str, Any]:
    match block:
        case Prose():
            return {"kind": "prose", "text": block.text}
        case Terms():
            return {"kind": "terms", "title": block.title, "terms": block.terms}
        case Tabled():
            number = _("Table {n}.").format(n=table)
            return {
                "kind": "table",
                "folded": block.folded,
                "title": f"{number} {block.sheet.title}",
                "html": _safe(as_html(block.sheet, id=f"table-{table}", caption=number)),
            }
        case Drawn():
            return {
                "kind": "plot",
                "id": f"figure-{figure}",
                "number": _("Figure {n}.").format(n=figure),
                "title": block.plot.title,
                "svg": _safe(as_svg(block.plot, heading=False)),
                "html": _safe(as_html(block.sheet)),
            }


def _safe(ours: str) -> Any:
    """What this program wrote as markup, with everything foreign in it escaped."""
    from markupsafe import Markup

    return Markup(ours)


def _asset(name: str) -> str:
    package = resources.files("cuecard.results.rendering")
    return (package / "templates" / name).read_text(encoding="utf-8")

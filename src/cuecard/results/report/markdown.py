"""A report as Markdown; plots stand there as the tables of their numbers."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.annotate.labelling.comparison.markdown import as_markdown, escaped
from cuecard.core.i18n import _
from cuecard.results.report.model import Block, Drawn, Prose, Report, Tabled, Terms


def report_markdown(report: Report) -> str:
    parts = [
        f"# {escaped(report.title)}",
        _("Made by Cuecard {version} on {date}.").format(
            version=report.program, date=report.made_on.isoformat()
        ),
    ]
    for section in report.sections:
        parts.append(f"## {escaped(section.title)}")
        for block in section.blocks:
            parts += _block(block)
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Prose():
            yield escaped(block.text)
        case Terms():
            if block.title:
                yield f"### {escaped(block.title)}"
            for term in block.terms:
                yield "\n".join(
                    [
                        f"- **{escaped(term.name)}**",
                        *(f"  - {escaped(line)}" for line in term.lines),
                    ]
                )
        case Tabled() | Drawn():
            # One level below the sections.
            yield f"#{as_markdown(block.sheet)}"

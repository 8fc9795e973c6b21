"""A report as data."""

from __future__ import annotations

from typing import Any

from cuecard.annotate.labelling.comparison.sheets import Sheet
from cuecard.results.rendering.figures import figure_of, plain
from cuecard.results.report.model import Block, Drawn, Prose, Report, Tabled, Terms

Json = dict[str, Any]


def report_json(report: Report) -> Json:
    """`sections`, each with its `blocks`: `prose`, `terms`, `table` and `plot`."""
    return {
        "title": plain(report.title),
        "language": report.language,
        "program": report.program,
        "made_on": report.made_on.isoformat(),
        "sections": [
            {
                "id": section.id,
                "title": section.title,
                "blocks": [_block(block) for block in section.blocks],
            }
            for section in report.sections
        ],
    }


def sheet_json(sheet: Sheet) -> Json:
    """`lines` of cells; numbers are unrounded, null where there are none. Ids of trials are left out: they are another
    workspace's.
    """
    return {
        "title": plain(sheet.title),
        "headings": [plain(heading) for heading in sheet.headings],
        "lines": [
            [
                {
                    "text": found.text,
                    **(
                        {
                            "value": found.value,
                            "low": found.low,
                            "high": found.high,
                            "n": found.n,
                            "key": found.key or None,
                            "remark": found.remark or None,
                        }
                        if found.is_figure
                        else {}
                    ),
                }
                for found in map(figure_of, line)
            ]
            for line in sheet.lines
        ],
        "notes": [plain(note) for note in sheet.notes],
    }


def _block(block: Block) -> Json:
    match block:
        case Prose():
            return {"kind": "prose", "text": plain(block.text)}
        case Terms():
            terms = [
                {"name": plain(term.name), "lines": [plain(line) for line in term.lines]}
                for term in block.terms
            ]
            return {"kind": "terms", "title": plain(block.title), "terms": terms}
        case Tabled():
            return {"kind": "table", **sheet_json(block.sheet)}
        case Drawn():
            return {"kind": "plot", "key": block.plot.key, **sheet_json(block.sheet)}

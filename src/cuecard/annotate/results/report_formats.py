"""The contents of a report in every format (sections of blocks, names of families, players and settings), and writing it as
HTML, Markdown, LaTeX, CSV or JSON.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import JsonValue

from cuecard.annotate.results.plots.model import Plot
from cuecard.annotate.results.plots.svg import as_svg
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.i18n import N_, Language, _, beside, listed
from cuecard.core.tables.latex import as_latex, escaped, preamble
from cuecard.core.tables.table import Table
from cuecard.core.tables.texts import as_html, as_markdown, environment, figure_of, plain
from cuecard.core.tables.texts import escaped as markdown_escaped
from cuecard.core.text import one_line, storable


@dataclass(frozen=True)
class ParagraphBlock:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Term:
    """An entry of the method section: a sentence, or a list of settings with one on each line."""

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class TermsBlock:
    title: str
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class TableBlock:
    """A table. `folded`: long and for reference; formats that can do so show it closed."""

    table: Table
    folded: bool = False


@dataclass(frozen=True)
class PlotBlock:
    """A plot with its data as a table."""

    plot: Plot
    table: Table


Block = ParagraphBlock | TermsBlock | TableBlock | PlotBlock


@dataclass(frozen=True)
class Section:
    """`id` names it in links and files and is stable."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    """A report. `made_on` is all that differs when it is made again from the same workspace; `program`: Cuecard's
    version. It contains no database ids, paths or names of people.
    """

    title: str
    language: Language
    program: str
    made_on: date
    sections: tuple[Section, ...]

    @property
    def blocks(self) -> Iterator[Block]:
        for section in self.sections:
            yield from section.blocks

    @property
    def tables(self) -> tuple[Table, ...]:
        """Every table; those of plots are left out, because other tables hold their data."""
        return tuple(block.table for block in self.blocks if isinstance(block, TableBlock))


LANGUAGE: dict[str, str] = {"en": N_("English"), "zh": N_("Chinese")}
PAYER: dict[str, str] = {
    "agent": N_("agent"),
    "conclusion": N_("final answer"),
    "user": N_("user"),
    "world": N_("world"),
    "judge": N_("judge"),
}
HUMAN = "human"
# Where something is on somebody's machine or network is nobody's business.
_PLACE = re.compile(r"^(~?[/\\]|[A-Za-z]:[/\\]|\.{1,2}[/\\])|://")


def player_word(ref: PlayerRef) -> str:
    """A player for display: `alpha (react, alpha-7b, version 1f3a)`, with a note on offline baselines."""
    parts = [ref.kind, ref.model]
    if ref.version and ref.version != "1":
        parts.append(_("version {version}").format(version=ref.version))
    if ref.uncaged:
        parts.append(_("python uncaged"))
    if ref.baseline:
        parts.append(_("offline baseline"))
    told = listed(dict.fromkeys(one_line(part, 80) for part in parts if part))
    return beside(one_line(ref.name, 60), told)


def settings_lines(described: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """A player's configuration, a line for each setting that was set, without addresses and paths."""
    return tuple(
        f"{name}: {told}" for name, value in described.items() if (told := _setting(value))
    )


def _setting(value: JsonValue) -> str:
    """A value on one line; "" for none, and for addresses and paths."""
    match value:
        case None | "":
            return ""
        case bool():
            return "yes" if value else "no"
        case dict():
            return listed(f"{k} {told}" for k, v in value.items() if (told := _setting(v)))
        case list():
            return listed(told for v in value if (told := _setting(v)))
        case str():
            return "" if _PLACE.search(value) else one_line(value, 200)
        case _:
            return str(value)


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


def data_of_table(table: Table) -> Json:
    """A table as `lines` of cells; numbers are unrounded, null for none. Trial ids are left out, because they mean
    nothing in another workspace.
    """
    return {
        "title": plain(table.title),
        "headings": [plain(heading) for heading in table.headings],
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
            for line in table.lines
        ],
        "notes": [plain(note) for note in table.notes],
    }


def _block(block: Block) -> Json:
    match block:
        case ParagraphBlock():
            return {"kind": "prose", "text": plain(block.text)}
        case TermsBlock():
            terms = [
                {"name": plain(term.name), "lines": [plain(line) for line in term.lines]}
                for term in block.terms
            ]
            return {"kind": "terms", "title": plain(block.title), "terms": terms}
        case TableBlock():
            return {"kind": "table", **data_of_table(block.table)}
        case PlotBlock():
            return {"kind": "plot", "key": block.plot.key, **data_of_table(block.table)}


def report_html(report: Report) -> str:
    """The report as one HTML file; deterministic. A policy in its head forbids loading anything, and all scripts but
    the one that sorts tables.
    """
    style, script = _asset("report.css"), _asset("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        environment("cuecard.annotate.results")
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
    """Each section with its blocks for the template; tables and figures are numbered consecutively."""
    tables = figures = 0
    for section in report.sections:
        blocks: list[dict[str, Any]] = []
        for block in section.blocks:
            if isinstance(block, TableBlock):
                tables += 1
            elif isinstance(block, PlotBlock):
                figures += 1
            blocks.append(_html_block(block, tables, figures))
        yield section, blocks


def _html_block(block: Block, table: int, figure: int) -> dict[str, Any]:
    match block:
        case ParagraphBlock():
            return {"kind": "prose", "text": block.text}
        case TermsBlock():
            return {"kind": "terms", "title": block.title, "terms": block.terms}
        case TableBlock():
            number = _("Table {n}.").format(n=table)
            return {
                "kind": "table",
                "folded": block.folded,
                "title": f"{number} {block.table.title}",
                "html": _safe(as_html(block.table, id=f"table-{table}", caption=number)),
            }
        case PlotBlock():
            return {
                "kind": "plot",
                "id": f"figure-{figure}",
                "number": _("Figure {n}.").format(n=figure),
                "title": block.plot.title,
                "svg": _safe(as_svg(block.plot, heading=False)),
                "html": _safe(as_html(block.table)),
            }


def _safe(ours: str) -> Any:
    """What this program wrote as markup, with everything foreign in it escaped."""
    from markupsafe import Markup

    return Markup(ours)


def _asset(name: str) -> str:
    package = resources.files("cuecard.annotate.results")
    return (package / "templates" / name).read_text(encoding="utf-8")


def report_latex(report: Report) -> str:
    head = f"% {escaped(report.title)}\n% Cuecard {report.program}, {report.made_on.isoformat()}\n"
    parts: list[str] = []
    taken: set[str] = set()
    for section in report.sections:
        blocks = [
            line for block in section.blocks for line in _latex_block(block, section.id, taken)
        ]
        if blocks:
            parts += [rf"\section*{{{escaped(section.title)}}}", "", *blocks]
            # LaTeX gives up on a text with more floating tables than it can hold back.
            if any(block.startswith(r"\begin{table}") for block in blocks):
                parts += [r"\clearpage", ""]
    text = "\n".join(parts) + "\n"
    return head + preamble(text) + text


def _latex_block(block: Block, section: str, taken: set[str]) -> Iterator[str]:
    if isinstance(block, ParagraphBlock):
        yield f"{escaped(block.text)}\n"
    elif isinstance(block, TermsBlock):
        if block.title:
            yield rf"\paragraph{{{escaped(block.title)}}}"
        yield r"\begin{description}"
        for term in block.terms:
            told = r" \\ ".join(escaped(line) for line in term.lines)
            yield rf"  \item[{{{escaped(term.name)}}}] {told}"
        yield "\\end{description}\n"
    elif isinstance(block, TableBlock):
        label = f"{section}-{sum(name.startswith(f'{section}-') for name in taken) + 1}"
        taken.add(label)
        yield as_latex(block.table, label=label)


def report_markdown(report: Report) -> str:
    parts = [
        f"# {markdown_escaped(report.title)}",
        _("Made by Cuecard {version} on {date}.").format(
            version=report.program, date=report.made_on.isoformat()
        ),
    ]
    for section in report.sections:
        parts.append(f"## {markdown_escaped(section.title)}")
        for block in section.blocks:
            parts += _markdown_block(block)
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _markdown_block(block: Block) -> Iterator[str]:
    match block:
        case ParagraphBlock():
            yield markdown_escaped(block.text)
        case TermsBlock():
            if block.title:
                yield f"### {markdown_escaped(block.title)}"
            for term in block.terms:
                yield "\n".join(
                    [
                        f"- **{markdown_escaped(term.name)}**",
                        *(f"  - {markdown_escaped(line)}" for line in term.lines),
                    ]
                )
        case TableBlock() | PlotBlock():
            # One level below the sections.
            yield f"#{as_markdown(block.table)}"


Format = Literal["html", "md", "tex", "csv", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)
_SUFFIXES: dict[str, Format] = {
    **{known: known for known in FORMATS},
    "htm": "html",
    "markdown": "md",
    "latex": "tex",
}


def format_of(path: Path) -> Format | None:
    """The format by the file's suffix; None for an unknown one."""
    return _SUFFIXES.get(path.suffix.removeprefix(".").casefold())


def written(report: Report, format: Format) -> str:
    """The report's text in this format. `csv` has only its tables."""
    match format:
        case "html":
            text = report_html(report)
        case "md":
            text = report_markdown(report)
        case "tex":
            text = report_latex(report)
        case "csv":
            from cuecard.core.tables.texts import as_csv

            text = as_csv(report.tables)
        case "json":
            text = json.dumps(report_json(report), ensure_ascii=False, indent=2, allow_nan=False)
            text += "\n"
    return storable(text)

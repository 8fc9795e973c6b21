"""The datasheet of a workspace for a paper's appendix: all sections, and its Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cuecard import __version__
from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS
from cuecard.annotate.quality import datasheet_sections as sections
from cuecard.annotate.quality.datasheet_model import Datasheet, DatasheetInputs, Masks, read_inputs
from cuecard.annotate.quality.decision_table import SIGNAL_LABEL, VERDICT_LABEL, reasons_of
from cuecard.annotate.review.figures import (
    ALL_DIMENSIONS,
    DECISION,
    MeasureAgreement,
    Spread,
    figures_of,
)
from cuecard.annotate.review.workflow import EMBEDDED_PROTOCOL, Protocol
from cuecard.annotate.sharing.merging import STATE
from cuecard.core.i18n import _, listed, ngettext, pgettext, plural
from cuecard.core.tables.table import figure
from cuecard.core.tasks.models import DIFFICULTY_WORDS, FAMILIES, LANGUAGE_WORDS
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


def datasheet_of(
    workspace: Workspace,
    *,
    protocol: Protocol = EMBEDDED_PROTOCOL,
    named: bool = False,
    at: datetime | None = None,
) -> Datasheet:
    """The workspace's datasheet as of now. `named`: with people's real names instead of P1, P2, …"""
    return describe(
        read_inputs(workspace), protocol=protocol, named=named, at=at or datetime.now(UTC)
    )


def describe(
    inputs: DatasheetInputs,
    *,
    protocol: Protocol = EMBEDDED_PROTOCOL,
    named: bool = False,
    at: datetime,
) -> Datasheet:
    """A datasheet from inputs. Rounds that still lack a review only add to a count, so that nothing blind is disclosed."""
    decided = list(inputs.rounds())
    did = sections.active_people(inputs, decided)
    masks = Masks(did, inputs.people, named=named)
    keys = dict.fromkeys(d.key for f in FAMILIES for d in protocol.dimensions(f))
    report = figures_of(inputs.logs, dimensions=list(keys))
    retired = sections.retired_tasks(inputs, masks)
    return Datasheet(
        program=__version__,
        made_at=at,
        named=named,
        tasks=sections.task_figures(inputs),
        release=sections.release_of(inputs),
        people=sections.person_lines(did, masks),
        protocols=sections.protocol_lines(decided, protocol),
        dimensions=sections.dimension_lines(inputs, protocol),
        rounds=sections.round_figures(inputs, decided, report),
        ratings=sections.rating_lines(decided),
        agreement=report.overall.agreement,
        pairs=sections.pair_lines(report, masks),
        golds=sections.gold_figures(inputs),
        retired=retired,
        study=inputs.study,
        removal_reasons=sections.removal_reasons(retired),
        effort=sections.effort_lines(inputs),
        sources=sections.source_figures(inputs),
        qc=sections.qc_figures(inputs),
    )


_ACTIVE = re.compile(r"([\\`*_\[\]<>|#~$])")

Row = Sequence[object]


def heading(text: str, level: int = 2) -> str:
    return f"{'#' * level} {text}"


def table(headings: Sequence[str], rows: Iterable[Row]) -> str:
    """A Markdown table; columns of numbers align right. Without rows, a line that says so."""
    cells = [[_cell(value) for value in row] for row in rows]
    if not cells:
        return _("{what}: none.").format(what=headings[0][:1].upper() + headings[0][1:])
    numeric = [all(_is_number(row[index]) for row in cells) for index in range(len(headings))]
    lines = [
        [_cell(heading) for heading in headings],
        ["---:" if right else "---" for right in numeric],
        *cells,
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    """Text of people on one line, with everything escaped that Markdown or HTML would interpret."""
    return _ACTIVE.sub(r"\\\1", one_line(str(value)))


def _is_number(cell: str) -> bool:
    return cell == "–" or cell.rstrip("%").replace(".", "", 1).isdigit()


SITES_SHOWN = 20
_STATISTICS = {"percent": "%", "cohen_kappa": "Cohen κ", "fleiss_kappa": "Fleiss κ", "ac1": "AC1"}


def as_markdown(sheet: Datasheet) -> str:
    """The datasheet without the list of released tasks, with numbers of the JSON rounded."""
    parts = [
        f"# {_('Datasheet')}",
        _("Made by Cuecard {version} on {date}.").format(
            version=sheet.program, date=f"{sheet.made_at:%Y-%m-%d}"
        ),
        _(
            "**This is the example study: it was made for demonstration, and its people are made up.**"
        )
        if sheet.study
        else "",
        *_tasks(sheet),
        *_effort(sheet),
        *_sources(sheet),
        *_people(sheet),
        *_protocol(sheet),
        *_reviews(sheet),
        *_removals(sheet),
        *_quality(sheet),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _tasks(sheet: Datasheet) -> Iterable[str]:
    tasks = sheet.tasks
    yield heading(_("Tasks"))
    yield table(
        (_("state"), _("tasks")),
        [*((_(STATE[state]), n) for state, n in tasks.by_state.items()), (_("all"), tasks.total)],
    )
    for title, counts, words in (
        (_("family"), tasks.by_family, FAMILY_WORDS),
        (_("language"), tasks.by_language, LANGUAGE_WORDS),
        (_("domain"), tasks.by_domain, {}),
        (_("difficulty"), tasks.by_difficulty, DIFFICULTY_WORDS),
    ):
        rows = [(_word(words, one.name), one.n, one.approved) for one in counts]
        yield table((title, _("in use"), _("approved")), rows)
    n = len(sheet.release.tasks)
    yield ngettext("Released: {n} approved task.", "Released: {n} approved tasks.", n).format(n=n)
    if n:
        yield _("Content hash of the released set: {hash}").format(hash=f"`{sheet.release.hash}`")


def _effort(sheet: Datasheet) -> Iterable[str]:
    yield heading(_("Effort per task"))
    yield _("Median (quartiles) over the tasks for which effort was recorded.")
    yield table(
        (_("family"), "n", _("minutes"), _("queries"), _("pages")),
        [
            (
                _word(FAMILY_WORDS, line.family) if line.family else _("all"),
                line.minutes.n,
                _spread(line.minutes),
                _spread(line.queries),
                _spread(line.pages),
            )
            for line in sheet.effort
        ],
    )


def _sources(sheet: Datasheet) -> Iterable[str]:
    sources = sheet.sources
    yield heading(_("Sources"))
    yield _(
        "{addresses} web addresses on {sites} sites; tasks without a source: {without}."
    ).format(addresses=sources.addresses, sites=len(sources.sites), without=sources.without)
    yield table(
        (_("site"), _("addresses"), _("tasks")),
        [(site.name, site.n, site.tasks) for site in sources.sites[:SITES_SHOWN]],
    )
    if left := sources.sites[SITES_SHOWN:]:
        yield _("and {n} more sites").format(n=len(left))


def _people(sheet: Datasheet) -> Iterable[str]:
    yield heading(_("People"))
    if not sheet.named:
        yield _("Pseudonyms; reviews count once all reviews of their revision are in.")
    yield table(
        (
            _("person"),
            _("tasks"),
            _("revisions"),
            _("reviews"),
            _("returned"),
            _("comments"),
            _("independent golds"),
            _("decisions"),
        ),
        [
            (p.name, p.tasks, p.revisions, p.reviews, p.returned, p.comments, p.golds, p.qc_decisions)
            for p in sheet.people
        ],
    )  # fmt: skip


def _protocol(sheet: Datasheet) -> Iterable[str]:
    yield heading(_("Protocol"))
    yield table(
        (_("protocol"), _("rounds"), _("reviews")),
        [
            (f"{line.stamp or '–'}{' *' if line.current else ''}", line.rounds, line.reviews)
            for line in sheet.protocols
        ],
    )
    if any(line.current for line in sheet.protocols):
        yield _("\\* the present one")
    yield table(
        (_("family"), pgettext("name in files", "key"), _("dimension"), _("meaning")),
        [(_(FAMILY_WORDS[d.family]), d.key, d.label, d.help) for d in sheet.dimensions],
    )


def _reviews(sheet: Datasheet) -> Iterable[str]:
    rounds = sheet.rounds
    yield heading(_("Reviews"))
    yield table(
        (_("rounds"), "n"),
        [
            (_("decided"), rounds.rounds),
            (_("approved"), rounds.approved),
            (_("returned"), rounds.returned),
            (_("with a third reviewer"), rounds.third),
            (_("waiting, not counted here"), rounds.waiting),
        ],
    )
    yield _(
        "{n} reviews, of which a share of {share} returned; minutes per review: {spread}, n = {timed}."
    ).format(
        n=rounds.reviews,
        share=figure(rounds.return_rate),
        spread=_spread(rounds.minutes),
        timed=rounds.minutes.n,
    )
    yield table((_("rounds until approval"), _("tasks")), sorted(rounds.until_approval.items()))
    yield table(
        (_("dimension"), _("pass"), _("fail"), _("cannot judge"), _("led to a return"), _("tasks")),
        [
            (line.key, line.passed, line.failed, line.cannot_judge, line.returned, line.tasks)
            for line in sheet.ratings
        ],
    )  # fmt: skip
    yield from _agreement(sheet)
    yield from _golds(sheet)


def _agreement(sheet: Datasheet) -> Iterable[str]:
    yield heading(_("Agreement of reviewers"), 3)
    if not sheet.rounds.rounds:
        yield _("Nothing so far.")
        return
    yield _("Over decided rounds; 95% intervals in brackets, by bootstrap over tasks.")
    labels = {DECISION: _("decision"), ALL_DIMENSIONS: _("all dimensions")}
    yield _agreement_table(
        _("dimension"),
        [(labels.get(found.measure, found.measure), found) for found in sheet.agreement],
    )
    if sheet.pairs:
        yield _("Pairs of reviewers, on the decision:")
        yield _agreement_table(
            _("pair"), [(f"{pair.left}–{pair.right}", pair.decision) for pair in sheet.pairs]
        )


def _agreement_table(title: str, rows: Sequence[tuple[str, MeasureAgreement]]) -> str:
    names = list(dict.fromkeys(s.name for _label, found in rows for s in found.statistics))
    return table(
        (title, "n", *(_STATISTICS.get(name, name) for name in names)),
        [(label, found.n, *(figure(found.of(name)) for name in names)) for label, found in rows],
    )


def _golds(sheet: Datasheet) -> Iterable[str]:
    golds = sheet.golds
    if not golds.golds:
        return
    yield heading(_("Independent gold"), 3)
    yield plural(
        "{n} gold built again from the brief, for {tasks}.",
        "{n} golds built again from the brief, for {tasks}.",
        golds.golds,
        tasks=plural("{n} task", "{n} tasks", golds.tasks),
    )
    yield table(
        (_("level"), _("author"), _("second"), _("both"), "P", "R", "F1"),
        [
            (
                level.level,
                level.author,
                level.second,
                level.matched,
                *map(figure, (level.precision, level.recall, level.f1)),
            )
            for level in golds.levels
        ],
    )


def _removals(sheet: Datasheet) -> Iterable[str]:
    yield heading(_("Removed tasks"))
    if not sheet.retired:
        yield _("Nothing so far.")
        return
    yield table((_("reason"), _("tasks")), ((each.name, each.n) for each in sheet.removal_reasons))
    yield table(
        (
            _("task"),
            _("family"),
            pgettext("who removed it", "by"),
            _("on"),
            _("reason"),
            _("rules"),
        ),
        [
            (
                task.task_id,
                _(FAMILY_WORDS[task.family]),
                task.by,
                f"{task.at:%Y-%m-%d}" if task.at else "–",
                task.reason or "–",
                listed(task.rules) or "–",
            )
            for task in sheet.retired
        ],
    )


def _quality(sheet: Datasheet) -> Iterable[str]:
    qc = sheet.qc
    yield heading(_("Quality probes"))
    if not qc.decided:
        yield _("Nothing so far.")
        return
    yield table(
        (_("decision"), _("tasks")),
        [
            *((_(VERDICT_LABEL[verdict]), n) for verdict, n in qc.verdicts.items()),
            (_("other than proposed"), qc.overruled),
        ],
    )
    if qc.signals:
        labels: dict[str, str] = {**SIGNAL_LABEL}
        yield table(
            (_("signal"), _("looked at"), pgettext("how many problems", "found")),
            [(_(labels.get(s.name, s.name)), s.looked, s.raised) for s in qc.signals],
        )
    if qc.rules:
        yield table(
            (_("rule"), _("tasks")), [(*reasons_of((rule.name,)), rule.n) for rule in qc.rules]
        )


def _word(words: Mapping[str, str], value: str) -> str:
    return _(words[value]) if value in words else value or "–"


def _spread(spread: Spread) -> str:
    if spread.median is None:
        return "–"
    return f"{_number(spread.median)} ({_number(spread.lower)}–{_number(spread.upper)})"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{round(value, 3):g}"

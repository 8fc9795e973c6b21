"""Tables as text in the format of a file's suffix, and texts about imports and exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from cuecard.annotate.sharing.merging import (
    STATE,
    arrived_rows,
    clash_text,
    clash_title,
    counted,
    left_out_text,
    signed_for_text,
)
from cuecard.core.i18n import _, headed, listed, ngettext, plural
from cuecard.core.tables.table import Table
from cuecard.core.tables.texts import as_markdown, escaped, tables_text
from cuecard.core.text import one_line
from cuecard.tui.present.entries import Entry, Paragraph, Piece, Tone
from cuecard.tui.present.tasks import moment

if TYPE_CHECKING:
    from cuecard.annotate.sharing.bundle import Preview
    from cuecard.annotate.sharing.reading import BundleFile
    from cuecard.annotate.task_files import ImportedTask, ImportProblem, ImportReport
    from cuecard.core.errors import FileProblem
    from cuecard.store.bundle_records import MergeReport, Moved


@dataclass(frozen=True)
class Report:
    """`name`: of the file, without its ending. `lines`: what the tables are about, a sentence each."""

    name: str
    title: str
    tables: Sequence[Table]
    lines: Sequence[str] = ()


def report_text(report: Report, suffix: str) -> str:
    """For a file ending in `.tex` or `.csv`; Markdown for any other."""
    if (form := suffix.lower().removeprefix(".")) in ("tex", "csv"):
        return tables_text(report.tables, form)
    return markdown(report.tables, report.title, report.lines)


def markdown(tables: Sequence[Table], title: str, lines: Sequence[str] = ()) -> str:
    """All tables under a title, and what they are about."""
    head = [f"# {escaped(title)}", "", *(f"- {escaped(line)}" for line in lines), ""]
    return "\n".join([*head, *(as_markdown(table) for table in tables)]).rstrip() + "\n"


# Longer lists say nothing more, and a person would not read them.
MOST = 500


def counts_of(report: ImportReport) -> str:
    """One line: what came in, or what would."""
    text = _("{new} new, {revised} revised, {unchanged} unchanged").format(
        new=report.count("new"),
        revised=report.count("revised"),
        unchanged=report.count("unchanged"),
    )
    if report.bad_files:
        bad = plural("{n} file with problems", "{n} files with problems", report.bad_files)
        text = f"{text} · {bad}"
    return f"{text} · {others}" if (others := others_of(report)) else text


def others_of(report: ImportReport) -> str:
    """What of the folder was not looked at, if anything."""
    if not report.others:
        return ""
    return plural(
        "{n} other file is not read as {format}",
        "{n} other files are not read as {format}",
        report.others,
        format=report.format,
    )


def entries_of_report(report: ImportReport) -> list[Entry]:
    """Problems by file first, then what is new and revised; unchanged tasks are only counted."""
    found = [_problem(problem) for problem in report.problems[:MOST]]
    found += _rest(len(report.problems))
    changed = [task for task in report.tasks if task.outcome != "unchanged"]
    found += [_task(task) for task in changed[:MOST]]
    return found + _rest(len(changed))


def entries_of_export(
    tasks: int, others: int, unsaved: int, left_out: Mapping[str, int]
) -> list[Entry]:
    """What an export would write, and what it would not."""
    count = ngettext("{n} task will be written", "{n} tasks will be written", tasks)
    lines: list[tuple[str, Tone]] = [(count.format(n=tasks), "strong")]
    if others:
        text = ngettext(
            "{n} task of another family does not fit this format and stays out",
            "{n} tasks of other families do not fit this format and stay out",
            others,
        )
        lines.append((text.format(n=others), "bad"))
    if unsaved:
        text = ngettext(
            "{n} task was never saved and stays out",
            "{n} tasks were never saved and stay out",
            unsaved,
        )
        lines.append((text.format(n=unsaved), "bad"))
    entries = [_entry(text, tone) for text, tone in lines]
    if left_out:
        parts = tuple(
            Paragraph(headed(what, f"{n}"), "muted", indent=2)
            for what, n in sorted(left_out.items())
        )
        entries.append(
            Entry("work", 0, (Piece(_("This format has no place for:"), "work"),), parts)
        )
    elif tasks:
        entries.append(_entry(_("The format holds all of it"), "good"))
    return entries


def _problem(problem: ImportProblem) -> Entry:
    head = (Piece("✗ ", "bad"), Piece(one_line(f"{problem.file}{problem.mark}"), "strong"))
    why = headed(problem.place, problem.reason)
    return Entry("work", 0, head, (Paragraph(why, "plain", 2),))


def _task(task: ImportedTask) -> Entry:
    new = task.outcome == "new"
    number = "" if new else " · " + _("revision {n}").format(n=task.revision)
    head = (
        Piece("+ " if new else "~ ", "good" if new else "stage"),
        Piece(one_line(task.title, 80)),
        Piece(f"{number}  {task.task_id}", "muted"),
    )
    return Entry("work", 0, head)


def _rest(count: int) -> list[Entry]:
    if count <= MOST:
        return []
    return [_entry(_("… and {n} more").format(n=count - MOST), "muted")]


def _entry(text: str, tone: Tone) -> Entry:
    return Entry("work", 0, (Piece(text, tone),))


_MOST = 300


def entries_of_bundle(preview: Preview) -> list[Entry]:
    """What a bundle would hold, and what stays here."""
    rows = counted(preview.kinds)
    entries = [_line(f"{count:>6,}  {label}") for label, count in rows]
    if not rows:
        entries = [_line(_("There is nothing of yours here that could travel."), "bad")]
    if preview.drafts:
        text = ngettext(
            "{n} draft stays here: save it as a revision, then it travels.",
            "{n} drafts stay here: save them as revisions, then they travel.",
            preview.drafts,
        )
        entries.append(_line(text.format(n=preview.drafts), "stage"))
    text = _(
        "A pack holds what you did, and nothing that others reviewed, said or labelled. Whoever has the"
        " file can read it: give it to those who bring it together, not to your fellow reviewers."
    )
    return [*entries, _line(text, "muted")]


def entries_of_problems(problems: Sequence[FileProblem], last: str) -> list[Entry]:
    """`last`: what stands below them."""
    entries = [
        Entry(
            "work",
            0,
            (Piece("✗ ", "bad"), Piece(one_line(problem.file, 80), "strong")),
            (Paragraph(one_line(f"{problem.place} {problem.reason}".strip(), 400), "plain", 2),),
        )
        for problem in problems[:_MOST]
    ]
    return [*entries, _line(last)]


def entries_of_merge(bundles: Sequence[BundleFile], report: MergeReport) -> list[Entry]:
    """Clashes first, then what came from whom, and which tasks it moved."""
    entries: list[Entry] = []
    new = report.new_clashes
    for clash in [*new, *(c for c in report.clashes if c not in new)][:_MOST]:
        when = "" if clash in new else f"  {_('as before')}"
        head = (
            Piece("≠ ", "bad"),
            Piece(clash_title(clash), "strong"),
            Piece(f"  {clash.task_id}{when}", "muted"),
        )
        entries.append(Entry("work", 0, head, (Paragraph(clash_text(clash), "plain", 2),)))
    for bundle in bundles:
        until = moment(bundle.header.until) if bundle.header.until else "–"
        head = (
            Piece(one_line(bundle.header.person, 60), "user"),
            Piece("  " + _("until {time}").format(time=until), "muted"),
            Piece(f"  {one_line(bundle.path.name, 60)}", "muted"),
        )
        entries.append(Entry("work", 0, head))
    for signed in report.signed_for:
        entries.append(_line(signed_for_text(signed), "stage" if signed.new else "muted"))
    for label, added, known in arrived_rows(report.arrived):
        text = _("{n} new").format(n=f"{added:>6,}")
        if known:
            text = _(", ").join((text, _("{n} known").format(n=f"{known:,}")))
        entries.append(_line(f"{text}  {label}", "plain" if added else "muted"))
    if report.people:
        names = listed(one_line(name, 40) for name in report.people)
        entries.append(_line(_("New names here: {names}.").format(names=names), "stage"))
    for moved in report.moved[:_MOST]:
        head = (
            Piece("~ " if moved.before else "+ ", "stage" if moved.before else "good"),
            Piece(one_line(moved.title, 60)),
            Piece(f"  {_step(moved)}  {moved.task_id}", "muted"),
        )
        entries.append(Entry("work", 0, head))
    if (rest := len(report.moved) - _MOST) > 0:
        entries.append(_line(_("… and {n} more").format(n=rest), "muted"))
    entries += [_line(left_out_text(left), "stage") for left in report.left_out[:_MOST]]
    return entries


def summary_of(report: MergeReport) -> str:
    """One line: what came in, or what would."""
    count = ngettext("{n} new entry", "{n} new entries", report.added).format(n=report.added)
    known = _("{n} known").format(n=report.known)
    text = _(", ").join((count, known))
    if report.clashes:
        text += " · " + plural("{n} clash", "{n} clashes", len(report.clashes))
    return text


def since_of(text: str) -> datetime | None:
    """The moment that was typed, on the person's clock; None for nothing. Raises `ValueError`."""
    if not text.strip():
        return None
    found = datetime.fromisoformat(text.strip())
    return found if found.tzinfo else found.astimezone()


def _step(moved: Moved) -> str:
    """From where to where a task went."""
    after = _(STATE[moved.after])
    if moved.before is None:
        return after
    if moved.before is not moved.after:
        return f"{_(STATE[moved.before])} → {after}"
    text = _("{state}, revision {before} → {after}")
    return text.format(state=after, before=moved.head_before, after=moved.head)


def _line(text: str, tone: Tone = "plain") -> Entry:
    return Entry("work", 0, (Piece(text, tone),))

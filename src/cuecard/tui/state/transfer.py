"""What the dialogs of import and export say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.state.entries import Entry, Paragraph, Piece, Tone

if TYPE_CHECKING:
    from cuecard.lab.importing import ImportedTask, ImportProblem, ImportReport

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
        bad = ngettext(
            "{n} file with problems", "{n} files with problems", report.bad_files
        ).format(n=report.bad_files)
        text = f"{text} · {bad}"
    return text


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
            Paragraph(f"{what}: {n}", "muted", indent=2) for what, n in sorted(left_out.items())
        )
        entries.append(
            Entry("work", 0, (Piece(_("This format has no place for:"), "work"),), parts)
        )
    elif tasks:
        entries.append(_entry(_("The format holds all of it"), "good"))
    return entries


def _problem(problem: ImportProblem) -> Entry:
    line = f":{problem.line}" if problem.line is not None else ""
    where = f" {problem.place}" if problem.place else ""
    head = (Piece("✗ ", "bad"), Piece(one_line(f"{problem.file}{line}"), "strong"))
    return Entry("work", 0, head, (Paragraph(f"{where} {problem.reason}".strip(), "plain", 2),))


def _task(task: ImportedTask) -> Entry:
    new = task.outcome == "new"
    number = "" if new else " · " + _("revision {n}").format(n=task.revision)
    head = (
        Piece("+ " if new else "~ ", "good" if new else "stage"),
        Piece(task.task_id),
        Piece(f"  {one_line(task.title, 80)}{number}", "muted"),
    )
    return Entry("work", 0, head)


def _rest(count: int) -> list[Entry]:
    if count <= MOST:
        return []
    return [_entry(_("… and {n} more").format(n=count - MOST), "muted")]


def _entry(text: str, tone: Tone) -> Entry:
    return Entry("work", 0, (Piece(text, tone),))

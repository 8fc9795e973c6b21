"""What the dialogs of packing and merging say."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from cuecard.annotate.sharing.words import (
    STATE,
    arrived_rows,
    clash_text,
    clash_title,
    counted,
    left_out_text,
    signed_for_text,
)
from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.state.entries import Entry, Paragraph, Piece, Tone
from cuecard.tui.state.task_list import moment

if TYPE_CHECKING:
    from cuecard.annotate.sharing import MergeReport, Moved, Pack, PackPreview
    from cuecard.core.errors import FileProblem

_MOST = 300


def entries_of_pack(preview: PackPreview) -> list[Entry]:
    """What a pack would hold, and what stays here."""
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


def entries_of_problems(problems: Sequence[FileProblem]) -> list[Entry]:
    entries = [
        Entry(
            "work",
            0,
            (Piece("✗ ", "bad"), Piece(one_line(problem.file, 80), "strong")),
            (Paragraph(one_line(f"{problem.place} {problem.reason}".strip(), 400), "plain", 2),),
        )
        for problem in problems[:_MOST]
    ]
    return [*entries, _line(_("Nothing was merged. Ask for a new file, or leave this one out."))]


def entries_of_merge(packs: Sequence[Pack], report: MergeReport) -> list[Entry]:
    """Clashes first, then what came from whom, and which tasks it moved."""
    entries: list[Entry] = []
    new = report.new_clashes
    for clash in [*new, *(c for c in report.clashes if c not in new)][:_MOST]:
        when = "" if clash in new else f"  {_('as before')}"
        head = (
            Piece("≠ ", "bad"),
            Piece(f"{clash.task_id}  {clash_title(clash)}", "strong"),
            Piece(when, "muted"),
        )
        entries.append(Entry("work", 0, head, (Paragraph(clash_text(clash), "plain", 2),)))
    for pack in packs:
        until = moment(pack.header.until) if pack.header.until else "–"
        head = (
            Piece(one_line(pack.header.person, 60), "user"),
            Piece("  " + _("until {time}").format(time=until), "muted"),
            Piece(f"  {one_line(pack.path.name, 60)}", "muted"),
        )
        entries.append(Entry("work", 0, head))
    for signed in report.signed_for:
        entries.append(_line(signed_for_text(signed), "stage" if signed.new else "muted"))
    for label, added, known in arrived_rows(report.arrived):
        text = _("{n} new").format(n=f"{added:>6,}")
        rest = f", {_('{n} known').format(n=f'{known:,}')}" if known else ""
        entries.append(_line(f"{text}{rest}  {label}", "plain" if added else "muted"))
    if report.people:
        names = ", ".join(one_line(name, 40) for name in report.people)
        entries.append(_line(_("New names here: {names}.").format(names=names), "stage"))
    for moved in report.moved[:_MOST]:
        head = (
            Piece("~ " if moved.before else "+ ", "stage" if moved.before else "good"),
            Piece(moved.task_id),
            Piece(f"  {one_line(moved.title, 60)}  {_step(moved)}", "muted"),
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
    text = f"{count}, {known}"
    if report.clashes:
        clashes = ngettext("{n} clash", "{n} clashes", len(report.clashes))
        text += " · " + clashes.format(n=len(report.clashes))
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

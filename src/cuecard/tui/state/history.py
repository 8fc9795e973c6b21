"""What the History tab shows: a line for each version, and what it changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cuecard.annotate.authoring.changes import Change
from cuecard.annotate.authoring.history import Version
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.tasks import Origin, OriginKind
from cuecard.core.text import one_line
from cuecard.tui.state.change_entries import entries_of
from cuecard.tui.state.entries import Entry, Piece
from cuecard.tui.state.task_list import moment
from cuecard.tui.widgets.grid import GridCell

_DRAFTED: dict[OriginKind, str] = {
    "persona": N_("persona"),
    "triples": N_("triples"),
    "checkpoints": N_("checkpoints"),
    "facts": N_("facts"),
    "translation": N_("translation"),
}


@dataclass
class HistoryView:
    """`versions`, the last first; `counts`: how many changes a version made, where it is known."""

    versions: Sequence[Version] = ()
    counts: dict[int, int] = field(default_factory=dict[int, int])

    def cells(self, row: int) -> tuple[str | GridCell, ...]:
        version = self.versions[row]
        n = self.counts.get(row)
        changed = "" if n is None else f"±{n}"
        by_machine = GridCell("⚙", "warn") if version.origins else GridCell("")
        if version.kind == "thrown":
            number = GridCell("✎", "muted")
            message = GridCell(_("a draft that you threw away"), "muted")
        else:
            number = GridCell(str(version.number), "strong")
            message = GridCell(version.message)
        return number, moment(version.at), version.author or "–", changed, by_machine, message

    def head(self, row: int, *, against_draft: bool, changes: int) -> list[Entry]:
        """Which version this is, what a machine drafted of it, and what it is compared with."""
        version = self.versions[row]
        if version.kind == "thrown":
            name = _("A draft on top of revision {n}").format(n=version.number)
            if not version.number:
                name = _("A draft that was never saved")
        else:
            name = _("Revision {n}").format(n=version.number)
        lines = [
            Entry("work", 0, (Piece(name, "strong"), Piece(f" · {version.hash[:10]}", "muted")))
        ]
        if not version.hash:
            lines = [Entry("work", 0, (Piece(name, "strong"),))]
        if version.message:
            lines.append(Entry("work", 0, (Piece(one_line(version.message)),)))
        lines += [
            Entry("work", 0, (Piece(f"⚙ {told}", "stage"),)) for told in drafted(version.origins)
        ]
        if against_draft:
            other = _("From it to what you have now: {changes}.")
        elif version.before:
            other = _("Since revision {n}: {changes}.")
        else:
            other = _("The first: {changes}.")
        counted = ngettext("{n} change", "{n} changes", changes).format(n=changes)
        text = other.format(n=version.before, changes=counted)
        return [*lines, Entry("work", 0, (Piece(text, "muted"),))]

    def entries(self, row: int, changes: Sequence[Change], *, against_draft: bool) -> list[Entry]:
        """One version in full: its head, and every change."""
        head = self.head(row, against_draft=against_draft, changes=len(changes))
        return [*head, *entries_of(changes)]


def drafted(origins: Sequence[Origin]) -> list[str]:
    """`12 items drafted by qwen-max: triples`."""
    lines: list[str] = []
    for origin in origins:
        text = ngettext(
            "{n} item drafted by {model}: {kind}",
            "{n} items drafted by {model}: {kind}",
            origin.items,
        )
        lines.append(
            text.format(
                n=origin.items, model=one_line(origin.by, 60), kind=_(_DRAFTED[origin.kind])
            )
        )
    return lines

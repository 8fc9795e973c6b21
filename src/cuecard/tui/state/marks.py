"""Marks of a trial's log as a person reads them, and the flags of a simulator's replies."""

from __future__ import annotations

from typing import Final

from cuecard.core.events import Marked
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.marks import (
    CallsCut,
    Compaction,
    HarnessSession,
    HarnessTool,
    NotesKept,
    NotesRead,
    PartTaken,
    Remark,
)
from cuecard.core.parts import Flag, FlagKind
from cuecard.core.text import one_line
from cuecard.tui.state.entries import Entry, Paragraph, Piece

FLAG_LABELS: Final[dict[FlagKind, str]] = {
    FlagKind.LEAK: N_("leak: {found}"),
    FlagKind.FORMAT: N_("form: {found}"),
    FlagKind.UNUSABLE: N_("the model's reply could not be used"),
}

REMARKS: Final = {
    "agent": N_("✎ {name} on the agent"),
    "task": N_("✎ {name} on the task"),
    "other": N_("✎ {name} noted"),
}


def flag_label(flag: Flag) -> str:
    return one_line(_(FLAG_LABELS[flag.kind]).format(found=flag.found), 80)


def mark_entry(body: Marked) -> Entry:
    """One line; what belongs to it folds."""
    title, lines = _told(body)
    fold = tuple(Paragraph(line, "plain", 4) for line in lines if line)
    return Entry("work", body.turn, (Piece(title, "work"),), fold=fold)


def _told(body: Marked) -> tuple[str, list[str]]:
    match body.mark:
        case Compaction(strategy="summary") as cut:
            title = _("✂ The conversation was summed up for the model, at {n} tokens")
            return title.format(n=f"{cut.before:,}"), [cut.summary]
        case Compaction() as cut:
            title = ngettext(
                "✂ The oldest message was left out for the model, at {n} tokens",
                "✂ The oldest {dropped} messages were left out for the model, at {n} tokens",
                cut.dropped,
            )
            return title.format(dropped=cut.dropped, n=f"{cut.before:,}"), []
        case NotesRead(notes=notes):
            title = ngettext(
                "{n} lesson from earlier tasks", "{n} lessons from earlier tasks", len(notes)
            )
            return title.format(n=len(notes)), list(notes)
        case NotesKept(notes=notes):
            title = ngettext(
                "{n} lesson kept for later tasks", "{n} lessons kept for later tasks", len(notes)
            )
            return title.format(n=len(notes)), list(notes)
        case HarnessSession() as begun:
            title = _("{harness}: session begun")
            if begun.restored:
                title = _("{harness}: session taken up")
            elif begun.retold:
                title = _("{harness}: begun again and told the dialogue so far")
            name = one_line(begun.harness, 60) or _("harness")
            return title.format(harness=name), [begun.session]
        case HarnessTool() as used:
            name = one_line(" · ".join(filter(None, (used.name, used.title, used.status))), 120)
            return _("harness's own tool: {name}").format(name=name), [used.input, used.output]
        case Remark(about=about, text=said, by=by):
            title = _(REMARKS[about]).format(name=one_line(by, 40) or "?")
            return f"{title}: {one_line(said, 120)}", [said]
        case CallsCut(calls=calls):
            title = ngettext(
                "✂ The run was stopped: {n} call was given up without an answer",
                "✂ The run was stopped: {n} calls were given up without an answer",
                len(calls),
            )
            waited = _("{what}, after {n} s")
            lines = [waited.format(what=one_line(c.what, 80), n=f"{c.seconds:g}") for c in calls]
            return title.format(n=len(calls)), lines
        case PartTaken(person=person):
            return _("{name} plays the agent").format(name=one_line(person, 40)), []

"""Differences between two versions of a task as entries of a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cuecard.annotate.authoring.changes import Change, ChangeKind
from cuecard.annotate.authoring.spans import Span, excerpt, spans
from cuecard.core.i18n import _
from cuecard.core.text import one_line
from cuecard.tui.state.entries import Entry, Paragraph, Piece, Tone

MARK: dict[ChangeKind, tuple[str, Tone]] = {
    "added": ("+", "good"),
    "removed": ("−", "bad"),
    "changed": ("±", "strong"),
    "moved": ("⇅", "muted"),
}
AROUND = 60
_LONG = 400


def entries_of(changes: Iterable[Change]) -> list[Entry]:
    """An entry for each change, marked + − ± or ⇅; of long texts what is around the changed words,
    and all of it when the entry is opened.
    """
    return [entry_of(change) for change in changes]


def entry_of(change: Change) -> Entry:
    """One change; what was removed reads after a −, what was added after a +."""
    mark, tone = MARK[change.kind]
    head = [Piece(f"{mark} ", tone), Piece(change.label, "strong")]
    if change.about:
        head.append(Piece(f"  {one_line(change.about, 80)}", "muted"))
    if change.kind == "moved":
        if change.before:
            text = _("from place {old} to {new}").format(old=change.before, new=change.after)
        else:
            text = change.after
        return Entry("work", 0, (*head, Piece(f"  {text}", "muted")))
    body, fold = two_texts(change.before, change.after)
    return Entry("work", 0, tuple(head), body, fold)


def two_texts(before: str, after: str) -> tuple[tuple[Paragraph, ...], tuple[Paragraph, ...]]:
    """What stands below a head, and what is folded there: the two texts, or the one there is."""
    if not before or not after:
        text, sign = (after, "+ ") if after else (before, "− ")
        tone: Tone = "good" if after else "bad"
        if len(text) <= _LONG:
            return (_signed(sign, [Span(text, False)], "plain", tone),), ()
        short = _signed(sign, [Span(one_line(text, _LONG), False)], "plain", tone)
        return (short,), (_signed(sign, [Span(text, False)], "plain", tone),)
    old, new = spans(before, after)
    both = (_signed("− ", old, "removed", "bad"), _signed("+ ", new, "added", "good"))
    if len(before) + len(after) <= _LONG:
        return both, ()
    cut = excerpt(old, AROUND), excerpt(new, AROUND)
    if (*cut[0], *cut[1]) == (*old, *new):
        return both, ()
    short = (_signed("− ", cut[0], "removed", "bad"), _signed("+ ", cut[1], "added", "good"))
    # Where words were only put in, or only taken out, the other text says nothing new.
    changed = [any(run.changed for run in side) for side in cut]
    if changed[0] != changed[1]:
        short = (short[changed[1]],)
    return short, both


def _signed(sign: str, runs: Sequence[Span], changed: Tone, tone: Tone) -> Paragraph:
    words = [Piece(run.text, changed if run.changed else "plain") for run in runs]
    return Paragraph("".join(run.text for run in runs), tone, 2, (Piece(sign, tone), *words))

"""Comments with their answers as entries of a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cuecard.annotate.authoring.spans import spans
from cuecard.annotate.review.comments import Thread
from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.state.entries import Entry, Paragraph, Piece
from cuecard.tui.state.review_places import words_of

_QUOTE = 300


def thread_entries(
    threads: Sequence[Thread],
    data: Mapping[str, Any],
    me: str,
    labels: Mapping[str, str],
) -> list[Entry]:
    """`data`: the newest revision; `labels` names dimensions."""
    return [thread_entry(thread, data, me, labels) for thread in threads]


def thread_entry(
    thread: Thread, data: Mapping[str, Any], me: str, labels: Mapping[str, str]
) -> Entry:
    """Where it is, whether it is open, its element's text, what was said."""
    said = thread.comment
    state = Piece("○ ", "bad") if thread.open else Piece("✔ ", "good")
    gone = thread.place is None
    place = said.place if thread.place is None else words_of(thread.place, data)
    head = [state, Piece(place, "muted" if gone else "strong")]
    if gone:
        head.append(Piece(f"  {_('its element is gone')}", "muted"))
    elif thread.changed:
        head.append(Piece(f"  ± {_('changed since')}", "good"))
    if label := labels.get(said.dimension):
        head.append(Piece(f"  {label}", "stage"))
    who = _("you") if said.by == me else one_line(said.by)
    told = _("{who}, revision {n}").format(who=who or _("reviewer"), n=said.revision)
    body = [*_quote(thread), Paragraph(f"{told}: {said.text}", indent=2)]
    for reply in said.answers:
        turned = {"resolved": _("resolved"), "open": _("opened again")}.get(reply.turns, "")
        text = ": ".join(filter(None, (turned, reply.text)))
        who = _("you") if reply.by == me else one_line(reply.by)
        body.append(Paragraph(f"↳ {who or _('author')}: {text}", "agent", indent=4))
    return Entry("work", 0, tuple(head), tuple(body))


def counted(threads: Sequence[Thread]) -> str:
    """How many are open, of how many."""
    n = sum(thread.open for thread in threads)
    text = ngettext("{n} comment open", "{n} comments open", n).format(n=n)
    return _("{open}, of {all}").format(open=text, all=len(threads))


def _quote(thread: Thread) -> list[Paragraph]:
    """What the element said; with what it says now if that is something else."""
    then, now = one_line(thread.then, _QUOTE), one_line(thread.now, _QUOTE)
    if not then and not now:
        return []
    if not now or not then or then == now:
        return [Paragraph(f"“{then or now}”", "muted", indent=2)]
    old, new = spans(then, now)
    before = [Piece(run.text, "removed" if run.changed else "muted") for run in old]
    after = [Piece(run.text, "added" if run.changed else "muted") for run in new]
    return [
        Paragraph(then, "muted", 2, (Piece("− ", "bad"), *before)),
        Paragraph(now, "muted", 2, (Piece("+ ", "good"), *after)),
    ]

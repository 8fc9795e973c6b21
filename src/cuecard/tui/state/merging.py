"""What the merge screen shows: every difference with what is taken of it, clashes first."""

from __future__ import annotations

from typing import Any

from cuecard.annotate.authoring.merge import Difference, Merge, Merging, Side
from cuecard.annotate.authoring.spans import excerpt, spans
from cuecard.core.i18n import N_, _, ngettext
from cuecard.tui.state.entries import Entry, Paragraph, Piece, Tone

SIDE: dict[Side, str] = {"mine": N_("mine"), "theirs": N_("theirs"), "both": N_("both")}
_ORDER = {"clash": 0, "theirs": 1, "mine": 2}
_LONG, _AROUND = 1500, 200


class MergeView:
    """`rows` stay where they are while choices change; a clash is open until somebody chose."""

    def __init__(self, merging: Merging) -> None:
        self._merging = merging
        self._choices: dict[str, Side] = {}
        self.rows: list[Difference] = []
        self._open: set[str] = set()
        self._take(merging.merge())

    def choice(self, row: int) -> Side | None:
        """What is taken; None for a clash that is open."""
        difference = self.rows[row]
        if difference.key in self._open:
            return None
        return self._choices.get(difference.key, difference.choice)

    @property
    def open(self) -> int:
        """How many clashes nobody has decided."""
        return len(self._open)

    def next_open(self, row: int) -> int | None:
        """The first open clash after `row`, or from the start; None when there is none."""
        count = len(self.rows)
        order = [(row + step) % count for step in range(1, count + 1)] if count else []
        return next((at for at in order if self.rows[at].key in self._open), None)

    def choose(self, row: int, side: Side) -> bool:
        """Take this side of a difference; False where it cannot be had."""
        difference = self.rows[row]
        if side not in difference.sides:
            return False
        self._choices[difference.key] = side
        self._open.discard(difference.key)
        return True

    def choose_for_open(self, side: Side) -> int:
        """Take this side of every open clash that has it; how many there were."""
        rows = [row for row, d in enumerate(self.rows) if d.key in self._open and side in d.sides]
        for row in rows:
            self.choose(row, side)
        return len(rows)

    def merged(self) -> dict[str, Any] | None:
        """What is merged as chosen; None if that uncovered clashes which are still open (a stage that
        is kept after all, say): they are among the `rows` then. May take a moment.
        """
        merge = self._merging.merge(self._choices)
        if merge.undecided:
            self._take(merge)
            return None
        return merge.data

    def summary(self) -> str:
        """`3 clashes, 1 open · 12 changes of theirs · 40 of mine`."""
        count = {whose: sum(d.whose == whose for d in self.rows) for whose in _ORDER}
        clashes = ngettext("{n} clash", "{n} clashes", count["clash"]).format(n=count["clash"])
        if self.open:
            clashes += ", " + _("{n} open").format(n=self.open)
        theirs = ngettext("{n} change of theirs", "{n} changes of theirs", count["theirs"])
        mine = ngettext("{n} change of mine", "{n} changes of mine", count["mine"])
        parts = [clashes, theirs.format(n=count["theirs"]), mine.format(n=count["mine"])]
        return " · ".join(parts)

    def detail(self, row: int) -> list[Entry]:
        """One difference in full: what both began from, mine, theirs; changed words marked."""
        difference, taken = self.rows[row], self.choice(row)
        entries: list[Entry] = []
        if difference.about:
            head = (Piece(difference.label, "strong"), Piece(f"  {difference.about}", "muted"))
            entries.append(Entry("work", 0, head))
        else:
            entries.append(Entry("work", 0, (Piece(difference.label, "strong"),)))
        texts: tuple[tuple[Side, str, str], ...] = (
            ("mine", _("Mine"), difference.mine),
            ("theirs", _("Theirs"), difference.theirs),
        )
        changed = {"clash": ("mine", "theirs")}.get(difference.whose, (difference.whose,))
        for side, name, text in texts:
            tone: Tone = "user" if side == "mine" else "agent"
            head = [Piece(name, tone)]
            if side not in changed:
                head.append(Piece(f" · {_('as before')}", "muted"))
            if taken in (side, "both"):
                head.append(Piece(f" · ✓ {_('taken')}", "good"))
            entries.append(Entry("work", 0, tuple(head), (_text(difference.base, text),)))
        began = _text("", difference.base) if difference.base else _nothing()
        entries.append(Entry("work", 0, (Piece(_("What both began from"), "muted"),), (began,)))
        return entries

    def _take(self, merge: Merge) -> None:
        self.rows = sorted(merge.differences, key=lambda d: _ORDER[d.whose])
        self._open = set(merge.undecided)


def _nothing() -> Paragraph:
    return Paragraph(_("nothing here"), "muted", 2)


def _text(base: str, text: str) -> Paragraph:
    """A text with the words marked that the base does not have; of a long one, what is around them."""
    if not text:
        return _nothing()
    if not base or base == text:
        return Paragraph(text if len(text) <= _LONG else f"{text[:_LONG]}…", "plain", 2)
    runs = spans(base, text)[1]
    if len(text) > _LONG:
        runs = excerpt(runs, _AROUND)
    pieces = tuple(Piece(run.text, "added" if run.changed else "plain") for run in runs)
    return Paragraph(text, "plain", 2, pieces)

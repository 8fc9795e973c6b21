"""Differences between versions of a task for the screen: lists of changes, histories, and merging."""

from collections.abc import Iterable, Sequence
from typing import Any

from cuecard.annotate.authoring.changes import Change, ChangeKind
from cuecard.annotate.authoring.diff import Span, excerpt, spans
from cuecard.annotate.authoring.merge import Difference, Merge, Merging, Side
from cuecard.annotate.authoring.session import Version
from cuecard.core.i18n import N_, _, ngettext, plural
from cuecard.core.tasks.base import Origin, OriginKind
from cuecard.core.text import one_line
from cuecard.tui.grid import GridCell
from cuecard.tui.present.entries import Entry, Paragraph, Piece, Tone

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


def in_words(
    before: str, after: str, tone: Tone = "plain"
) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both texts, each with the words marked that only it has."""
    old, new = spans(before, after)
    return _pieces(old, "removed", tone), _pieces(new, "added", tone)


def _pieces(runs: Sequence[Span], changed: Tone, tone: Tone = "plain") -> tuple[Piece, ...]:
    return tuple(Piece(run.text, changed if run.changed else tone) for run in runs)


def _signed(sign: str, runs: Sequence[Span], changed: Tone, tone: Tone) -> Paragraph:
    words = _pieces(runs, changed)
    return Paragraph("".join(run.text for run in runs), tone, 2, (Piece(sign, tone), *words))


_DRAFTED: dict[OriginKind, str] = {
    "persona": N_("persona"),
    "triples": N_("triples"),
    "checkpoints": N_("checkpoints"),
    "facts": N_("facts"),
    "translation": N_("translation"),
}


def number_cell(version: Version) -> GridCell:
    if version.kind == "thrown":
        return GridCell("✎", "muted")
    return GridCell(str(version.number), "strong")


def message_cell(version: Version) -> GridCell:
    if version.kind == "thrown":
        return GridCell(_("a draft that you threw away"), "muted")
    return GridCell(version.message)


def version_entries(
    version: Version, changes: Sequence[Change], *, against_draft: bool
) -> list[Entry]:
    """Which version this is, what a machine drafted of it, what it is compared with, and every change."""
    if version.kind == "thrown":
        name = _("A draft on top of revision {n}").format(n=version.number)
        if not version.number:
            name = _("A draft that was never saved")
    else:
        name = _("Revision {n}").format(n=version.number)
    head = [Piece(name, "strong")]
    if version.hash:
        head.append(Piece(f" · {version.hash[:10]}", "muted"))
    lines = [head]
    if version.message:
        lines.append([Piece(one_line(version.message))])
    lines += [[Piece(f"⚙ {told}", "stage")] for told in drafted(version.origins)]
    if against_draft:
        other = _("From it to what you have now: {changes}.")
    elif version.before:
        other = _("Since revision {n}: {changes}.")
    else:
        other = _("The first: {changes}.")
    counted = ngettext("{n} change", "{n} changes", len(changes)).format(n=len(changes))
    lines.append([Piece(other.format(n=version.before, changes=counted), "muted")])
    return [*(Entry("work", 0, tuple(line)) for line in lines), *entries_of(changes)]


def drafted(origins: Sequence[Origin]) -> list[str]:
    """`12 items drafted by qwen-max: triples`."""
    lines: list[str] = []
    for origin in origins:
        lines.append(
            plural(
                "{n} item drafted by {model}: {kind}",
                "{n} items drafted by {model}: {kind}",
                origin.items,
                model=one_line(origin.by, 60),
                kind=_(_DRAFTED[origin.kind]),
            )
        )
    return lines


SIDE: dict[Side, str] = {"mine": N_("mine"), "theirs": N_("theirs"), "both": N_("both")}
_ORDER = {"clash": 0, "theirs": 1, "mine": 2}
_MERGING_LONG, _AROUND = 1500, 200


class MergeView:
    """`rows` stay where they are while choices change; a clash is open until somebody chose."""

    def __init__(self, merging: Merging) -> None:
        self._merging = merging
        self._choices: dict[str, Side] = {}
        self.rows: list[Difference] = []
        self._open: set[str] = set()
        self._take(merging.merge())

    def choice(self, difference: Difference) -> Side | None:
        """What is taken; None for a clash that is open."""
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
            clashes += _(", ") + _("{n} open").format(n=self.open)
        theirs = ngettext("{n} change of theirs", "{n} changes of theirs", count["theirs"])
        mine = ngettext("{n} change of mine", "{n} changes of mine", count["mine"])
        parts = [clashes, theirs.format(n=count["theirs"]), mine.format(n=count["mine"])]
        return " · ".join(parts)

    def detail(self, row: int) -> list[Entry]:
        """One difference in full: what both began from, mine, theirs; changed words marked."""
        difference = self.rows[row]
        taken = self.choice(difference)
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
        return Paragraph(
            text if len(text) <= _MERGING_LONG else f"{text[:_MERGING_LONG]}…", "plain", 2
        )
    runs = spans(base, text)[1]
    if len(text) > _MERGING_LONG:
        runs = excerpt(runs, _AROUND)
    return Paragraph(text, "plain", 2, _pieces(runs, "added"))

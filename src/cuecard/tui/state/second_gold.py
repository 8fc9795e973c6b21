"""Two golds on a screen: what stands in each line, both versions in full, and what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from cuecard.annotate.second_gold.adjudication import take_of, undecided
from cuecard.annotate.second_gold.agreement import LevelAgreement
from cuecard.annotate.second_gold.elements import Element, LevelName, Status, Take
from cuecard.core.i18n import N_, _, ngettext
from cuecard.tui.state.entries import Entry, Paragraph, Piece, Tone
from cuecard.tui.state.second_gold_words import Side, Told, Words

if TYPE_CHECKING:
    from cuecard.annotate.agreement.statistic import Statistic
    from cuecard.annotate.second_gold.comparing import Comparison

Shown = Literal["all", "open", "differ", "author", "second", "agreed"]
SHOWN: tuple[Shown, ...] = ("all", "open", "differ", "author", "second", "agreed")
SHOWN_LABEL: dict[Shown, str] = {
    "all": N_("all"),
    "open": N_("undecided"),
    "differ": N_("differ"),
    "author": N_("only the author"),
    "second": N_("only the second"),
    "agreed": N_("agreed"),
}
TAKE_LABEL: dict[Take, str] = {
    "author": N_("author"),
    "second": N_("second"),
    "both": N_("both"),
    "neither": N_("neither"),
}
MARK: dict[Status, tuple[str, str]] = {
    "differ": ("≠", N_("differ")),
    "author": ("‹", N_("only the author")),
    "second": ("›", N_("only the second")),
    "agreed": ("=", N_("agreed")),
}
LEVEL_LABEL: dict[LevelName, str] = {
    "triple": N_("Triples"),
    "node": N_("Nodes"),
    "row": N_("Whole rows"),
    "key": N_("Rows by key"),
    "cell": N_("Cells"),
    "step": N_("Checkpoints"),
    "ambiguity": N_("Ambiguities"),
    "fact": N_("Facts"),
    "answer": N_("Answer"),
}
_ORDER: tuple[Status, ...] = ("differ", "author", "second", "agreed")


class GoldView:
    """`rows` are the elements that are shown; decisions hold whatever is shown."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.takes: dict[str, Take] = dict(comparison.takes)
        self._words = Words(comparison)
        self.shown: Shown = "all"
        found = comparison.alignment.elements
        self._all = sorted(found, key=lambda element: _ORDER.index(element.status))
        self.rows: list[Element] = list(self._all)

    @property
    def decides(self) -> bool:
        """Whether this person may decide."""
        return not self.comparison.obstacle

    @property
    def open(self) -> int:
        """How many elements nobody has decided."""
        return len(undecided(self.comparison.alignment, self.takes))

    @property
    def to_decide(self) -> int:
        return sum(element.status != "agreed" for element in self._all)

    def show(self, shown: Shown) -> None:
        """Only these; what is decided meanwhile stays in view until the next time."""
        self.shown = shown
        self.rows = [element for element in self._all if self._fits(element)]

    def show_next(self) -> None:
        """The next kind of which there are any."""
        at = SHOWN.index(self.shown)
        for step in range(1, len(SHOWN) + 1):
            self.show(SHOWN[(at + step) % len(SHOWN)])
            if self.rows:
                return

    def take(self, row: int) -> Take | None:
        """What is taken of the element in a line; None while it is open."""
        return take_of(self.rows[row], self.takes)

    def choose(self, row: int, take: Take) -> bool:
        """Decide; False for what cannot be taken of this element."""
        element = self.rows[row]
        settled = element.settled(take)
        if settled is None or not self.decides:
            return False
        self.takes[element.key] = settled
        return True

    def choose_for_open(self, take: Take) -> int:
        """Decide all open ones that are shown alike; how many there were."""
        rows = [row for row in range(len(self.rows)) if self.take(row) is None]
        return sum(self.choose(row, take) for row in rows)

    def next_open(self, row: int) -> int | None:
        """The first open element after `row`, or from the start; None where none is shown."""
        count = len(self.rows)
        order = [(row + step) % count for step in range(1, count + 1)] if count else []
        return next((at for at in order if self.take(at) is None), None)

    def told(self, row: int) -> Told:
        """What both sides say."""
        return self._words.told(self.rows[row])

    def sources(self, row: int) -> list[str]:
        """The addresses that either side gives."""
        told = self.told(row)
        return list(dict.fromkeys((*told.author.sources, *told.second.sources)))

    # In words

    def summary(self) -> str:
        """`3 differ · 2 only the author · 1 only the second · 73 agreed`."""
        count = self.comparison.alignment.by_status()
        return " · ".join(f"{count[status]} {_(MARK[status][1])}" for status in _ORDER)

    def progress(self) -> str:
        if not self.decides:
            return self.comparison.obstacle
        if not self.to_decide:
            return _("both golds say the same")
        return _("{done} of {n} decided").format(done=self.to_decide - self.open, n=self.to_decide)

    def who(self) -> str:
        """Whose second gold, of which revision, and what it took."""
        second = self.comparison.second
        minutes = round(second.seconds / 60)
        parts = [
            _("second gold by {person}").format(person=second.by),
            _("revision {number}").format(number=second.revision),
            ngettext("{n} minute", "{n} minutes", minutes).format(n=minutes),
        ]
        if len(self.comparison.others) > 1:
            at = [gold.uid for gold in self.comparison.others].index(second.uid)
            parts.append(_("{i} of {n}").format(i=at + 1, n=len(self.comparison.others)))
        if self.comparison.head != second.revision:
            parts.append(_("beside revision {number}").format(number=self.comparison.head))
        return " · ".join(parts)

    def figures(self) -> list[list[str]]:
        """A line a level: name, precision, recall and F1, each with its n; reasons where undefined."""
        return [_figures(level) for level in self.comparison.agreement.levels]

    def kappa(self) -> str:
        return _("No kappa: {reason}.").format(reason=self.comparison.agreement.kappa.reason)

    def cells(self, row: int) -> tuple[str, str, str, str]:
        """What it is, the author's version, the second's, and what is taken (in one line each)."""
        what, author, second = self.told(row).line
        take = self.take(row)
        taken = _(TAKE_LABEL[take]) if take else "?" if self.decides else ""
        return what, author, second, taken

    def heading(self, row: int) -> str:
        """What the element is, and how its versions stand to each other; "" where there is none."""
        if row >= len(self.rows):
            return ""
        element = self.rows[row]
        return " · ".join(
            filter(None, (self.told(row).label, _(MARK[element.status][1]), element.why))
        )

    def versions(self, row: int) -> tuple[list[Entry], list[Entry]]:
        """The author's version and the second's in full, each with whether it is taken."""
        if row >= len(self.rows):
            return [], []
        told, take = self.told(row), self.take(row)
        author = _version(_("Author"), "user", told.author, taken=take in ("author", "both"))
        second = _version(_("Second"), "agent", told.second, taken=take in ("second", "both"))
        if note := self.comparison.second.note:
            text = Paragraph(note, "muted")
            second.append(Entry("work", 0, (Piece(_("Their note"), "muted"),), (text,)))
        return author, second

    def _fits(self, element: Element) -> bool:
        match self.shown:
            case "all":
                return True
            case "open":
                return take_of(element, self.takes) is None
            case status:
                return element.status == status


def _version(name: str, tone: Tone, said: Side, *, taken: bool) -> list[Entry]:
    head = [Piece(name, tone), *([Piece(f" · ✓ {_('taken')}", "good")] if taken else [])]
    body = said.paragraphs or (Paragraph(_("nothing here"), "muted"),)
    return [Entry("work", 0, tuple(head), tuple(body))]


def _figures(level: LevelAgreement) -> list[str]:
    shares: Sequence[Statistic] = (level.precision, level.recall, level.f1)
    reason = next((share.reason for share in shares if share.value is None), "")
    cells = [
        f"{share.value:.2f} ({share.n})" if share.value is not None else "–" for share in shares
    ]
    return [_(LEVEL_LABEL[level.level]), *cells, reason]

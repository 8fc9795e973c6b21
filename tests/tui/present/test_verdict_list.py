"""The list of verdicts: pages are asked for as they are seen, kept, and dropped."""

from __future__ import annotations

from cuecard.core.label_records import VerdictLine
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.judgements import Pages
from cuecard.tui.present.verdicts import ListedVerdict, VerdictLines, item_label

SIZE = 10


def listed(first: int, count: int = SIZE) -> list[ListedVerdict]:
    return [
        ListedVerdict(
            VerdictLine(
                verdict_id=n,
                trial_id=1,
                run_id=1,
                task_id="t",
                revision=1,
                agent="a",
                judge="j",
                item=Item(kind=ItemKind.TRIPLE, index=n),
                mine=None,
                decision=None,
            ),
            f"gold {n}",
        )
        for n in range(first, first + count)
    ]


def test_pages_come_as_they_are_seen() -> None:
    asked: list[int] = []
    lines = VerdictLines(SIZE, lambda: asked.append(1))
    lines.begin(listed(0))
    assert (len(lines), lines.whole, lines.cells(3)[1]) == (10, False, "gold 3")
    assert not asked
    lines.cut(Pages(count=1005, starts=tuple(range(0, 1005, SIZE))))
    assert len(lines) == 1005
    # The next page is read before it is seen; one in view goes first.
    lines.cells(4)
    assert (len(asked), lines.wanted(), lines.wanted()) == (1, 1, None)
    lines.cells(502)
    assert "…" in str(lines.cells(502)[1])
    assert (lines.wanted(), lines.wanted(), lines.wanted()) == (50, 51, None)
    assert lines.load(50, listed(500))
    assert not lines.load(51, listed(510))
    assert lines.cells(502)[1] == "gold 502"
    # What was not looked at for longest is dropped.
    for page in range(2, 45):
        lines.load(page, listed(page * SIZE))
    assert lines.at(3) is None
    assert lines.at(449) is not None


def test_a_page_does_not_repeat_what_moved_up_into_it() -> None:
    lines = VerdictLines(SIZE, lambda: None)
    lines.cut(Pages(count=20, starts=(0, 10)))
    lines.load(0, [*listed(0, 8), *listed(10, 2)])
    assert [v.line.verdict_id for v in map(lines.at, range(SIZE)) if v] == list(range(8))
    assert "no longer" in str(lines.cells(9)[1])
    short = VerdictLines(SIZE, lambda: None)
    short.begin(listed(0, 4))
    assert (short.whole, len(short), short.wanted()) == (True, 4, None)


def test_items_are_counted_as_people_do() -> None:
    assert item_label(Item(kind=ItemKind.TRIPLE, index=17)) == "triple 18"
    assert item_label(Item(kind=ItemKind.CELL, index=3, column="Year")) == "cell 4, Year"
    assert item_label(Item(kind=ItemKind.ANSWER)) == "answer"

"""The list of verdicts: pages are asked for as they are seen, kept, and dropped."""

from __future__ import annotations

from cuecard.core.label_records import VerdictLine
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.verdict_pages import Pages
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


def test_pages_are_wanted_as_they_are_seen() -> None:
    lines = VerdictLines(SIZE, listed(0))
    assert (len(lines), lines.whole, lines[3].gold) == (10, False, "gold 3")
    assert lines.missing(0, 5) is None
    lines.cut(Pages(count=1005, starts=tuple(range(0, 1005, SIZE))))
    assert len(lines) == len(list(lines)) == 1005
    # The next page is read before it is seen; those in view go first.
    assert lines.missing(4, 5) == 1
    assert lines.missing(502, 12) == 50
    assert lines[502] == ListedVerdict(None, "…")
    lines.load(50, listed(500))
    assert lines[502].gold == "gold 502"
    assert lines.missing(502, 12) == 51
    assert lines.missing(995, 20) == 99
    # What was not in view for longest is dropped.
    for page in range(1, 45):
        lines.load(page, listed(page * SIZE))
        assert lines.missing(3, 5) is None
    assert lines[3].line
    assert not lines[23].line
    assert lines[449].line


def test_a_page_does_not_repeat_what_moved_up_into_it() -> None:
    lines = VerdictLines(SIZE, listed(0, 8))
    lines.cut(Pages(count=20, starts=(0, 10)))
    lines.load(0, [*listed(0, 8), *listed(10, 2)])
    assert [v.line.verdict_id for v in lines if v.line] == list(range(8))
    assert "no longer" in lines[9].gold
    short = VerdictLines(SIZE, listed(0, 4))
    assert (short.whole, len(short), short.missing(0, 10)) == (True, 4, None)


def test_items_are_counted_as_people_do() -> None:
    assert item_label(Item(kind=ItemKind.TRIPLE, index=17)) == "triple 18"
    assert item_label(Item(kind=ItemKind.CELL, index=3, column="Year")) == "cell 4, Year"
    assert item_label(Item(kind=ItemKind.ANSWER)) == "answer"

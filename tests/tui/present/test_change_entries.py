from __future__ import annotations

from cuecard.annotate.authoring.changes import Change
from cuecard.tui.present.changes import entries_of
from cuecard.tui.present.entry_layout import Block


def lines_of(change: Change, *, opened: bool = False, width: int = 60) -> list[str]:
    [entry] = entries_of([change])
    block = Block(entry, opened=opened, width=width, gap=False).lines
    return ["".join(piece.text for piece in line) for line in block]


def test_each_kind_of_change_has_a_mark_of_its_own() -> None:
    kinds = [
        Change("a", "Triple 1", "added", "", "x"),
        Change("a", "Triple 1", "removed", "x", ""),
        Change("a", "Title", "changed", "one two", "one three"),
        Change("a", "Stage 2", "moved", "4", "2", "Budget"),
    ]
    heads = [lines_of(change)[0] for change in kinds]
    assert [head[0] for head in heads] == ["+", "−", "±", "⇅"]
    assert "Budget" in heads[3]
    assert "from place 4 to 2" in heads[3]
    assert lines_of(kinds[2])[1:] == ["  − one two", "  + one three"]


def test_of_a_long_text_the_changed_words_are_shown_and_all_of_it_when_opened() -> None:
    before = "word " * 300 + "old " + "word " * 300
    change = Change("query", "Query", "changed", before, before.replace("old", "new"))
    short = lines_of(change, width=78)
    assert len(short) <= 8
    assert sum("old" in line for line in short) == sum("new" in line for line in short) == 1
    assert len(lines_of(change, opened=True, width=78)) > 40
    [entry] = entries_of([change])
    tones = {piece.text: piece.tone for body in entry.body for piece in body.pieces}
    assert (tones["old"], tones["new"]) == ("removed", "added")


def test_of_words_that_were_only_put_in_no_second_text_is_shown() -> None:
    before = "word " * 200
    change = Change("query", "Query", "changed", before, before + "and more")
    assert [line[:3] for line in lines_of(change, width=200)[1:]] == ["  +"]
    change = Change("query", "Query", "changed", before + "and more", before)
    assert [line[:3] for line in lines_of(change, width=200)[1:]] == ["  −"]


def test_lines_of_a_text_stay_lines() -> None:
    change = Change("gold.triples[0]", "Triple 1", "added", "", "a · b · c\nStage: 2")
    assert lines_of(change)[1:] == ["  + a · b · c", "  Stage: 2"]
    assert "\x1b" not in "".join(lines_of(Change("a", "\x1b[31m", "added", "", "\x1b]0;x\x07")))

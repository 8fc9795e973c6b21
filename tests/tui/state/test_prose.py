from __future__ import annotations

import pytest
from rich.cells import cell_len

from cuecard.annotate.authoring.guidelines import guidelines
from cuecard.core.i18n import LANGUAGES
from cuecard.core.tasks import FAMILIES
from cuecard.tui.state.prose import prose_blocks, prose_lines


def plain(markdown: str, width: int = 40) -> list[str]:
    rows = prose_lines(prose_blocks(markdown), width)
    return ["".join(piece.text for piece in row) for row in rows]


def test_headings_lists_and_emphasis_are_laid_out() -> None:
    text = "# One\n\nSome **bold** words\nand more.\n- first *thing* here\n  goes on\n- 2 * 3 * 4\n\n1. `code`"
    assert plain(text, 18) == [
        "One",
        "",
        "Some bold words",
        "and more.",
        "",
        "• first thing here",
        "  goes on",
        "• 2 * 3 * 4",
        "1. code",
    ]
    strong = [p.text for block in prose_blocks(text) for p in block.pieces if p.tone == "strong"]
    assert strong == ["bold", "thing", "code"]


def test_what_is_not_known_is_shown_as_it_stands() -> None:
    assert plain("| a | b |\n```\nx  = [red]1\x1b[0m\n```\n[site](http://a.org)") == [
        "| a | b |",
        "  x  = [red]1",
        "",
        "site (http://a.org)",
    ]
    assert plain("") == []


@pytest.mark.parametrize("width", [20, 43, 76])
def test_the_guidelines_fit(width: int) -> None:
    for family in FAMILIES:
        for language in LANGUAGES:
            rows = plain(guidelines(family, language), width)
            assert max(map(cell_len, rows)) <= width
            assert not any("**" in row or row.startswith("#") for row in rows)

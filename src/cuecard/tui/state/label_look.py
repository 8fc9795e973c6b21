"""Long lists beside an item, to be searched: all that was handed in, and the gold around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cuecard.annotate.authoring.graph_neighbours import Branch
from cuecard.annotate.labelling.session_gold import GoldAround
from cuecard.core.i18n import _
from cuecard.core.text import normalise
from cuecard.lab.items import PredictedItem
from cuecard.tui.state.labelling import predicted_paragraph
from cuecard.tui.state.transcript import Entry, Paragraph, Piece


class Searched:
    """Lines of which those are shown that hold every word typed; read for comparing only once."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = tuple(entries)
        self._texts = [
            normalise("".join(piece.text for piece in entry.head)) for entry in self._entries
        ]

    def __len__(self) -> int:
        return len(self._entries)

    def found(self, typed: str) -> list[Entry]:
        """All entries while nothing is typed."""
        words = normalise(typed).split()
        return [
            entry
            for entry, text in zip(self._entries, self._texts, strict=True)
            if all(word in text for word in words)
        ]


def predicted_entries(items: Sequence[PredictedItem]) -> list[Entry]:
    """A line for each item that was handed in."""
    return [_line(predicted_paragraph(item)) for item in items]


def gold_entries(gold: GoldAround) -> list[Entry]:
    """The neighbourhoods as trees, then all of the gold."""
    entries: list[Entry] = []
    for tree in gold.around:
        entries.append(Entry("work", -1, (Piece(tree.entity, "strong"),)))
        entries += [_branch(text) for text in _below(tree.branches, 1)]
    if gold.around:
        entries.append(Entry("work", -1, (Piece(_("All of the gold"), "strong"),)))
    return [*entries, *(_line(predicted_paragraph(item)) for item in gold.items)]


def _below(branches: Sequence[Branch], depth: int) -> Iterator[str]:
    for branch in branches:
        arrow = "←" if branch.inward else "→"
        again = " ↑" if branch.again else ""
        yield f"{'  ' * depth}{arrow} {branch.relation} {arrow} {branch.entity}{again}"
        yield from _below(branch.branches, depth + 1)


def _branch(text: str) -> Entry:
    return Entry("work", -1, (Piece(text, "work"),))


def _line(paragraph: Paragraph) -> Entry:
    return Entry("work", -1, (Piece(paragraph.text),))

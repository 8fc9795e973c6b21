"""Markdown as lines of toned pieces, read in bounded segments so that a text can grow."""

from __future__ import annotations

from cuecard.tui.state.flowing import Line
from cuecard.tui.state.markdown.segments import Segment, Segments, segments_of

__all__ = ["Segment", "Segments", "markdown_lines", "segment_lines", "segments_of", "warm_up"]


def warm_up() -> None:
    """Load the parser, so that the first words of a reply need not wait for it. Not for the screen's
    thread.
    """
    segment_lines(Segment("*a*"), 10)


def segment_lines(segment: Segment, width: int, *, breaks: bool = False) -> list[Line]:
    """One segment at a width in cells. `breaks`: its line breaks count, as in a chat."""
    # The parser is loaded with the first text that needs it.
    from cuecard.tui.state.markdown.layout import laid_out
    from cuecard.tui.state.markdown.parse import blocks_of, plain_blocks

    indent = min(segment.indent, width // 4)
    text = segment.text
    blocks = blocks_of(text, breaks=breaks) if segment.markdown else plain_blocks(text)
    return laid_out(blocks, width, indent)


def markdown_lines(text: str, width: int) -> list[Line]:
    """A whole text; no lines where it says nothing."""
    lines: list[Line] = []
    for segment in segments_of(text):
        rows = segment_lines(segment, width)
        if lines and rows and segment.space:
            lines.append(())
        lines += rows
    return lines

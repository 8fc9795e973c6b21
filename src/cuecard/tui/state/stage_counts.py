"""The live counts below the list of stages."""

from __future__ import annotations

from cuecard.annotate.authoring.stages import ASKS_HIGH, ASKS_LOW, FEWEST, MOST, StageCounts
from cuecard.core.i18n import N_, _, ngettext
from cuecard.tui.state.entries import Piece, Tone

_KIND: dict[str, str] = {
    "start": N_("start"),
    "mentions": N_("mentions"),
    "asks": N_("asks"),
    "completes": N_("completes"),
}
_MOST_ASKS = 2


def count_lines(counts: StageCounts, index: int, language: str) -> list[list[Piece]]:
    """All stages, their cues by kind, and the stage at `index`; what is out of its band is toned."""
    n = len(counts.stages)
    total = ngettext("{n} stage", "{n} stages", n).format(n=n)
    band = "✓" if counts.enough else _("of {low}–{high}").format(low=FEWEST, high=MOST)
    lines = [[Piece(total, "strong"), Piece(f" {band}", _tone(counts.enough))]]
    kinds: list[Piece] = []
    for kind, label in _KIND.items():
        number = counts.kinds.get(kind, 0)
        if not number:
            continue
        kinds.append(Piece(f"{' · ' if kinds else ''}{_(label)} {number}", "muted"))
        if kind != "start":
            share = f" {counts.share(kind):.0%}"
            balanced = kind != "asks" or counts.asks_balanced
            kinds.append(Piece(share, "muted" if balanced else "bad"))
    if n and not counts.asks_balanced:
        wanted = _(" (asks: {low:.0%}–{high:.0%})").format(low=ASKS_LOW, high=ASKS_HIGH)
        kinds.append(Piece(wanted, "bad"))
    lines.append(kinds)
    if 0 <= index < n:
        lines.append(_stage(counts, index, language))
    return lines


def _stage(counts: StageCounts, index: int, language: str) -> list[Piece]:
    stage = counts.stages[index]
    if language == "zh":
        length = ngettext("{n} character", "{n} characters", stage.length)
    else:
        length = ngettext("{n} word", "{n} words", stage.length)
    asks = ngettext("asks for {n} thing", "asks for {n} things", stage.asks).format(n=stage.asks)
    pieces = [
        Piece(f"{index + 1}: ", "stage"),
        Piece(length.format(n=stage.length), "muted"),
        Piece(" · ", "muted"),
        Piece(asks, "bad" if stage.asks > _MOST_ASKS else "muted"),
    ]
    if counts.unasked is not None:
        triples = ngettext("{n} triple", "{n} triples", stage.triples).format(n=stage.triples)
        pieces += [Piece(" · ", "muted"), Piece(triples, "muted" if stage.triples else "bad")]
    return pieces


def _tone(good: bool) -> Tone:
    return "good" if good else "bad"

"""What the agent's model read with each call, as a column of bars beside a transcript."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.results.trial.context import CallSize, ContextSize, Cut
from cuecard.tui.state.entries import Paragraph, Piece
from cuecard.tui.state.labels import short_tokens_label
from cuecard.tui.state.trial_lines import PaneLine, PaneText, work_entry

WIDTH = 16
"""Cells of the longest bar."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(share: float, width: int = WIDTH) -> str:
    """A bar for a share from 0 to 1, to an eighth of a cell, filled up with blanks; never empty above 0."""
    eighths = min(round(max(share, 0.0) * width * 8), width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


def context_text(sizes: ContextSize) -> PaneText:
    if not sizes.calls and not sizes.cuts:
        return PaneText(_("No model was called: this agent has no context to fill."))
    largest = max((call.prompt for call in sizes.calls), default=0)
    return PaneText(_note(sizes, largest), list(_lines(sizes, largest)))


def _note(sizes: ContextSize, largest: int) -> str:
    n = len(sizes.calls)
    said = [ngettext("{n} model call", "{n} model calls", n).format(n=n)]
    if largest:
        said.append(_("at most {tokens} read").format(tokens=short_tokens_label(largest)))
    else:
        said.append(_("the server counted no tokens"))
    if sizes.cuts:
        cut = ngettext("{n} compaction", "{n} compactions", len(sizes.cuts))
        said.append(cut.format(n=len(sizes.cuts)))
    if sizes.limit:
        said.append(_("to stay under {tokens}").format(tokens=short_tokens_label(sizes.limit)))
    return " · ".join(said)


def _lines(sizes: ContextSize, largest: int) -> Iterator[PaneLine]:
    """Calls and cuts in the order of the log, by turn."""
    every = sorted((*sizes.calls, *sizes.cuts), key=lambda each: each.seq)
    for (turn, last), group in groupby(every, key=_part):
        each = list(group)
        name = _("conclusion") if last else _("turn {n}").format(n=turn + 1)
        calls = sum(isinstance(one, CallSize) for one in each)
        told = ngettext("{n} model call", "{n} model calls", calls).format(n=calls)
        head = [Piece(name, "strong"), Piece(f" · {told}", "muted")]
        place = "" if last else f"turn/{turn}"
        yield PaneLine(work_entry(head, turn=turn), seq=each[0].seq, place=place)
        for one in each:
            yield _cut(one) if isinstance(one, Cut) else _call(one, largest)


def _part(each: CallSize | Cut) -> tuple[int, bool]:
    return each.turn, isinstance(each, CallSize) and each.part == "conclusion"


def _call(call: CallSize, largest: int) -> PaneLine:
    share = call.prompt / largest if largest else 0.0
    head = [
        Piece(f"{call.number:>4} ", "muted"),
        Piece(bar(share), "agent"),
        Piece(f" {call.prompt:>9,}"),
    ]
    if call.scope:
        head.append(Piece(f" · {one_line(call.scope.replace('/', ' '), 24)}", "muted"))
    told = _(
        "{model}: {prompt} read ({cached} cached), {completion} written ({reasoning} thinking)"
    )
    fold = Paragraph(
        told.format(
            model=one_line(call.model, 60),
            prompt=f"{call.prompt:,}",
            cached=f"{call.cached:,}",
            completion=f"{call.completion:,}",
            reasoning=f"{call.reasoning:,}",
        ),
        "muted",
        5,
    )
    entry = work_entry(head, fold, turn=call.turn)
    return PaneLine(entry, seq=call.seq, place=f"event/{call.seq}")


def _cut(cut: Cut) -> PaneLine:
    if cut.strategy == "summary":
        told = _("summed up at {before}")
    else:
        told = ngettext(
            "the oldest message left out at {before}",
            "the oldest {dropped} messages left out at {before}",
            cut.dropped,
        )
    text = told.format(before=f"{cut.before:,}", dropped=cut.dropped)
    if cut.after is not None:
        text += " → " + f"{cut.after:,}"
    head = [Piece("   ✂ ", "stage"), Piece(text, "stage")]
    if cut.scope:
        head.append(Piece(f" · {one_line(cut.scope.replace('/', ' '), 24)}", "muted"))
    limit = _("to stay under {tokens}").format(tokens=f"{cut.limit:,}")
    entry = work_entry(head, Paragraph(limit, "muted", 5), turn=cut.turn)
    return PaneLine(entry, seq=cut.seq, place=f"event/{cut.seq}")

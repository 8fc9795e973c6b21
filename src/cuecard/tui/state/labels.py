"""Words for what the log holds, marked for translation."""

from __future__ import annotations

from cuecard.core.i18n import _, ngettext
from cuecard.core.parts import CheckpointStatus, PlayerRef
from cuecard.core.text import one_line
from cuecard.core.words import AMBIGUITY_WORDS, CUE_WORDS, STATUS_WORDS

CUE_KIND = CUE_WORDS
AMBIGUITY = AMBIGUITY_WORDS
_GLYPHS = dict(zip(CheckpointStatus, "✓✗✓✗✓✗…●", strict=True))
# status -> (glyph, label)
STATUS = {status: (_GLYPHS[status], label) for status, label in STATUS_WORDS.items()}


def status_label(status: CheckpointStatus) -> str:
    glyph, label = STATUS[status]
    return f"{glyph} {_(label)}"


def player_name(ref: PlayerRef) -> str:
    """Name and model."""
    name, model = one_line(ref.name, 40), one_line(ref.model, 40)
    return f"{name} ({model})" if model and model != name else name


def player_label(ref: PlayerRef) -> str:
    """Name and model, and whether this is an offline baseline: nobody may take it for a model."""
    label = player_name(ref)
    return f"{label} · {_('offline baseline')}" if ref.baseline else label


def tokens_label(tokens: int) -> str:
    """`1,234 tokens`."""
    return ngettext("{n} token", "{n} tokens", tokens).format(n=f"{tokens:,}")


def short_tokens_label(tokens: int) -> str:
    """`1,234 tokens`, `12.3k tokens`, `1.2M tokens`."""
    if tokens < 10_000:
        return tokens_label(tokens)
    short = f"{tokens / 1_000:.1f}k" if tokens < 999_950 else f"{tokens / 1_000_000:.1f}M"
    return ngettext("{n} token", "{n} tokens", tokens).format(n=short)

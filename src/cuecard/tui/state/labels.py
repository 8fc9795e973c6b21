"""Words for what the log holds, marked for translation."""

from __future__ import annotations

from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.parts import CheckpointStatus, PlayerRef
from cuecard.core.tasks import AmbiguityType
from cuecard.core.text import one_line

# status -> (glyph, label)
STATUS: dict[CheckpointStatus, tuple[str, str]] = {
    CheckpointStatus.AMBIGUITY_DETECTED: ("✓", N_("asked rightly")),
    CheckpointStatus.WRONG_AMBIGUITY_DETECTED: ("✗", N_("asked about something else")),
    CheckpointStatus.CORRECT_ANSWER: ("✓", N_("right answer")),
    CheckpointStatus.WRONG_ANSWER: ("✗", N_("wrong answer")),
    CheckpointStatus.MISSED_AMBIGUITY_CORRECT: ("✓", N_("did not ask, yet right")),
    CheckpointStatus.MISSED_AMBIGUITY_WRONG: ("✗", N_("did not ask, and wrong")),
    CheckpointStatus.SEARCH_ONLY: ("…", N_("neither asked nor answered")),
    CheckpointStatus.TASK_COMPLETED: ("●", N_("whole task answered")),
}

AMBIGUITY: dict[AmbiguityType, str] = {
    AmbiguityType.ENTITY: N_("which thing"),
    AmbiguityType.VERSION: N_("which version"),
    AmbiguityType.CRITERIA: N_("which criterion"),
    AmbiguityType.FACTUAL: N_("which facts"),
}

CUE_KIND: dict[str, str] = {
    "start": N_("conversation starts"),
    "mentions": N_("the reply mentions"),
    "asks": N_("the agent asks"),
    "completes": N_("a milestone is complete"),
}


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

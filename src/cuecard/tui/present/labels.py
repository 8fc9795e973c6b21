"""Labels, glyphs and colours of states, families and players, the same everywhere; nothing is told by colour alone."""

from collections.abc import Mapping

from rich.text import Text

from cuecard.core.engine.messages import STATUS_WORDS, CheckpointStatus, PlayerRef
from cuecard.core.families.checkpoints.gold import AMBIGUITY_WORDS
from cuecard.core.i18n import N_, _, beside, ngettext
from cuecard.core.records import RunRecord
from cuecard.core.tasks.models import CUE_WORDS
from cuecard.core.text import one_line
from cuecard.tui.families import TUI
from cuecard.tui.present.entries import ink

# value -> (glyph, theme variable, label)
FAMILY = TUI.each(lambda family: family.badge)
TASK_STATE: dict[str, tuple[str, str, str]] = {
    "draft": ("○", "muted", N_("draft")),
    "in_review": ("◐", "secondary", N_("in review")),
    "returned": ("↺", "warning", N_("returned")),
    "approved": ("●", "success", N_("approved")),
    "retired": ("×", "muted", N_("archived")),
}
DECISION: dict[str, tuple[str, str, str]] = {
    "yes": ("✓", "success", N_("covered")),
    "no": ("✗", "error", N_("not covered")),
    "unjudged": ("?", "warning", N_("unjudged")),
    "unsure": ("~", "warning", N_("cannot tell")),
}
RATING: dict[str, tuple[str, str, str]] = {
    "pass": ("✓", "success", N_("pass")),
    "fail": ("✗", "error", N_("fail")),
    "cannot_judge": ("?", "warning", N_("cannot judge")),
    "": ("○", "muted", N_("not rated")),
}
VOTE: dict[str, tuple[str, str, str]] = {
    "approve": ("✓", "success", N_("approve")),
    "return": ("↺", "warning", N_("return")),
}
CHECK: dict[str, tuple[str, str, str]] = {
    "right": ("✓", "success", N_("right")),
    "wrong": ("✗", "error", N_("wrong")),
    "unsure": ("~", "warning", N_("unsure")),
    "": ("◇", "primary", N_("to check")),
}
TERMINATION: dict[str, tuple[str, str, str]] = {
    "user_done": ("●", "success", N_("user done")),
    "answered": ("●", "success", N_("answered")),
    "max_turns": ("◑", "warning", N_("turn limit")),
    "context_overflow": ("✗", "error", N_("context overflow")),
    "error_loop": ("✗", "error", N_("error loop")),
    "empty_response": ("✗", "error", N_("empty reply")),
    "api_error": ("✗", "error", N_("API error")),
    "internal_error": ("✗", "error", N_("internal error")),
    "cancelled": ("–", "muted", N_("cancelled")),
}
_RUN_KIND = {"grid": N_("run"), "play": N_("play"), "probe": N_("probe"), "exam": N_("exam")}
LANGUAGE_LABEL: dict[str, str] = {"en": "EN", "zh": "中"}


def run_kind(run: RunRecord) -> str:
    """What a list of runs calls it."""
    return _(_RUN_KIND["exam" if run.is_exam else run.kind])


def badge(
    table: Mapping[str, tuple[str, str, str]], value: str, variables: Mapping[str, str]
) -> Text:
    """Glyph and translated label of `value`, coloured from the theme's `variables`."""
    glyph, variable, label = table.get(value, ("·", "muted", value))
    return Text(f"{glyph} {_(label)}", style=ink(variables, variable))


def coded(label: str, code: str) -> str:
    """A translated label, and beside it what is typed in files and commands."""
    return beside(_(label), code)


FORK = "⋔"
"""Marks a task of which newest revisions stand side by side."""


def fork_mark(forks: int, variables: Mapping[str, str]) -> Text:
    """Says that revisions stand beside the newest of a task."""
    text = ngettext("{n} beside it", "{n} beside it", forks).format(n=forks)
    return Text(f"{FORK} {text}", style=ink(variables, "warning"))


CUE_KIND = CUE_WORDS
AMBIGUITY = AMBIGUITY_WORDS
_GLYPHS = dict(zip(CheckpointStatus, "✓✗✓✗✓✗…●", strict=True))
# status -> (glyph, label)
STATUS = {status: (_GLYPHS[status], label) for status, label in STATUS_WORDS.items()}


def status_label(status: CheckpointStatus) -> str:
    glyph, label = STATUS[status]
    return f"{glyph} {_(label)}"


def player_name(ref: PlayerRef) -> str:
    """Name and model, and whether programs ran there without a cage."""
    name, model = one_line(ref.name, 40), one_line(ref.model, 40)
    label = beside(name, model) if model != name else name
    return f"{label} · {_('python uncaged')}" if ref.uncaged else label


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

"""Which problems of a task are shown, and what is said about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rich.text import Text

from cuecard.annotate.authoring.place_names import place_in_words
from cuecard.annotate.authoring.silencing import can_silence
from cuecard.annotate.authoring.validity import Problem
from cuecard.annotate.lint import RULES
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import for_display, is_cjk, one_line
from cuecard.tui.widgets.grid import GridCell, Tone

Wanted = Literal["all", "error", "warning"]

WANTED: tuple[Wanted, ...] = ("all", "error", "warning")
WANTED_LABEL: dict[Wanted, str] = {
    "all": N_("all"),
    "error": N_("errors only"),
    "warning": N_("warnings only"),
}
MARK = {"error": "✗", "warning": "!", "silenced": "·"}
_TONE: dict[str, Tone] = {"error": "bad", "warning": "warn", "silenced": "muted"}


def shown(problems: Sequence[Problem], wanted: Wanted, silenced: bool) -> list[Problem]:
    """The problems of the wanted severity; those that the author silenced only when asked for."""
    return [
        problem
        for problem in problems
        if (silenced or not problem.silenced) and wanted in ("all", problem.severity)
    ]


def counted(problems: Sequence[Problem], wanted: Wanted, silenced: bool) -> str:
    """How many there are of each kind, and which of them are shown."""
    still = [problem for problem in problems if not problem.silenced]
    errors = sum(problem.severity == "error" for problem in still)
    warnings, hushed = len(still) - errors, len(problems) - len(still)
    parts = [
        ngettext("{n} error", "{n} errors", errors).format(n=errors),
        ngettext("{n} warning", "{n} warnings", warnings).format(n=warnings),
    ]
    if hushed:
        text = _("{n} silenced, shown") if silenced else _("{n} silenced, hidden")
        parts.append(text.format(n=hushed))
    if wanted != "all":
        parts.append(_(WANTED_LABEL[wanted]))
    return " · ".join(parts)


def row_of(problem: Problem, data: Mapping[str, Any]) -> tuple[str | GridCell, ...]:
    """Mark, code, place in words, reason and path of one problem."""
    kind = "silenced" if problem.silenced else problem.severity
    place = place_in_words(problem.place, data) or _("The task")
    reason = GridCell(problem.reason, "muted" if problem.silenced else "plain")
    mark = GridCell(MARK[kind], _TONE[kind])
    return mark, problem.code, place, reason, GridCell(problem.place, "muted")


def explained(problem: Problem, data: Mapping[str, Any]) -> Text:
    """One problem in full: where, what, why it matters, how to mend it, and the silence over it."""
    words = place_in_words(problem.place, data) or _("The task")
    text = Text(overflow="fold")
    kind = _("error") if problem.severity == "error" else _("warning")
    text.append(f"{problem.code} {kind}  ", style="bold")
    text.append(one_line(words), style="bold")
    if problem.place:
        text.append(f"  {one_line(problem.place)}", style="dim")
    text.append(f"\n{for_display(problem.reason)}")
    _part(text, _("Mend"), problem.hint)
    rule = RULES.get(problem.code)
    if rule is not None:
        _part(text, _("Why"), _sentences(_(rule.asks), _(rule.why)))
    if problem.silenced:
        _part(text, _("Silenced"), problem.silenced)
    elif problem.severity == "error" and not can_silence(problem):
        _part(text, "", _("This cannot be silenced: the task would not work."))
    return text


def _sentences(one: str, other: str) -> str:
    """Two sentences; the first has no full stop yet."""
    return f"{one}。{other}" if is_cjk(one) else f"{one}. {other}"


def _part(text: Text, label: str, said: str) -> None:
    if said:
        text.append("\n")
        if label:
            text.append(f"{label}  ", style="bold dim")
        text.append(for_display(said))

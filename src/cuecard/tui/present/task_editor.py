"""The task editor without widgets: its tabs, the problems shown, and the effort logged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from rich.text import Text

from cuecard.annotate.authoring.changes import place_in_words
from cuecard.annotate.authoring.ops import can_silence
from cuecard.annotate.authoring.task_data import Path
from cuecard.annotate.lint.codes import RULES, Finding
from cuecard.core.i18n import N_, _, joined, ngettext
from cuecard.core.tasks.models import Family
from cuecard.core.text import for_display, one_line
from cuecard.tui.families import TUI, TabId
from cuecard.tui.grid import GridCell, Tone
from cuecard.tui.present.entries import Paragraph, Piece
from cuecard.tui.present.keyboard import sentence
from cuecard.tui.present.tasks import moment

if TYPE_CHECKING:
    from cuecard.core.records import EffortEntry, EffortTotals


TAB_LABEL: dict[TabId, str] = {
    "brief": N_("Brief"),
    "persona": N_("Persona"),
    "stages": N_("Stages"),
    "graph": N_("Graph"),
    "nodes": N_("Nodes"),
    "table": N_("Table"),
    "columns": N_("Columns"),
    "steps": N_("Checkpoints"),
    "chain": N_("Chain"),
    "facts": N_("Facts"),
    "answer": N_("Answer"),
    "items": N_("Items"),
    "gold": N_("Gold"),
    "sources": N_("Evidence"),
    "comments": N_("Comments"),
    "problems": N_("Problems"),
    "history": N_("History"),
}
_GOLD_TABS = TUI.each(lambda family: family.tabs)
# Below gold: which fields stand on which tab; the rest stands on the family's second tab.
_FIRST_TAB_FIELDS = TUI.each(lambda family: family.first_tab)


def tabs_of(data: Mapping[str, Any]) -> tuple[TabId, ...]:
    """The tabs of a task, in order; stages only where there is a persona."""
    stages: tuple[TabId, ...] = ("stages",) if data.get("persona") else ()
    gold = _GOLD_TABS[cast(Family, data["gold"]["family"])]
    return ("brief", "persona", *stages, *gold, "sources", "problems", "history")


def with_comments(tabs: tuple[TabId, ...]) -> tuple[TabId, ...]:
    """The tabs of a task about which something was said."""
    at = tabs.index("problems") if "problems" in tabs else len(tabs)
    return (*tabs[:at], "comments", *tabs[at:])


def tab_of(path: Path, data: Mapping[str, Any]) -> TabId:
    """The tab on which `path` is edited."""
    match path:
        case ("persona", "stages", *_) if data.get("persona"):
            return "stages"
        case ("persona", *_):
            return "persona"
        case ("sources", *_):
            return "sources"
        case ("silenced", *_):
            return "problems"
        case ("gold", *rest):
            family = cast(Family, data["gold"]["family"])
            first, second = _GOLD_TABS[family]
            return first if not rest or rest[0] in _FIRST_TAB_FIELDS[family] else second
        case _:
            return "brief"


Wanted = Literal["all", "error", "warning"]

WANTED: tuple[Wanted, ...] = ("all", "error", "warning")
WANTED_LABEL: dict[Wanted, str] = {
    "all": N_("all"),
    "error": N_("errors only"),
    "warning": N_("warnings only"),
}
MARK = {"error": "✗", "warning": "!", "silenced": "·"}
_TONE: dict[str, Tone] = {"error": "bad", "warning": "warn", "silenced": "muted"}


def shown(problems: Sequence[Finding], wanted: Wanted, silenced: bool) -> list[Finding]:
    """The problems of the wanted severity; those that the author silenced only when asked for."""
    return [
        problem
        for problem in problems
        if (silenced or not problem.silenced) and wanted in ("all", problem.severity)
    ]


def counted(problems: Sequence[Finding], wanted: Wanted, silenced: bool) -> str:
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


def mark_of(problem: Finding) -> GridCell:
    kind = "silenced" if problem.silenced else problem.severity
    return GridCell(MARK[kind], _TONE[kind])


def reason_of(problem: Finding) -> GridCell:
    return GridCell(problem.reason, "muted" if problem.silenced else "plain")


def place_of(problem: Finding, data: Mapping[str, Any]) -> str:
    return place_in_words(problem.place, data) or _("The task")


def explained(problem: Finding, data: Mapping[str, Any]) -> Text:
    """One problem in full: where, what, why it matters, how to mend it, and the silence over it."""
    text = Text(overflow="fold")
    kind = _("error") if problem.severity == "error" else _("warning")
    text.append(f"{kind} · {one_line(place_of(problem, data))}", style="bold")
    text.append(f"  {problem.code} {one_line(problem.place)}".rstrip(), style="dim")
    text.append(f"\n{for_display(problem.reason)}")
    _part(text, _("Mend"), problem.hint)
    rule = RULES.get(problem.code)
    if rule is not None:
        _part(text, _("Why"), joined((sentence(_(rule.asks)), _(rule.why))))
    if problem.silenced:
        _part(text, _("Silenced"), problem.silenced)
    elif problem.severity == "error" and not can_silence(problem):
        _part(text, "", _("This cannot be silenced: the task would not work."))
    return text


def _part(text: Text, label: str, said: str) -> None:
    if said:
        text.append("\n")
        if label:
            text.append(f"{label}  ", style="bold dim")
        text.append(for_display(said))


_LOGGED, _SHOWN = 200, 30


def effort_lines(mine: EffortTotals, everybody: EffortTotals) -> list[list[Piece]]:
    """What this person put in so far, and where others did too, what all did."""
    lines = [[Piece(_("Your work: "), "strong"), *_figures(mine)]]
    if everybody != mine:
        lines.append([Piece(_("Everybody's: "), "strong"), *_figures(everybody)])
    return lines


def log_lines(entries: Sequence[EffortEntry]) -> list[Paragraph]:
    """The queries and pages that were logged with a text, the newest first."""
    told = [entry for entry in reversed(entries) if entry.kind != "time" and entry.text]
    return [
        Paragraph(
            f"{moment(entry.at)} {_('query') if entry.kind == 'query' else _('page')}"
            f" · {one_line(entry.text, _LOGGED)}",
            "muted",
        )
        for entry in told[:_SHOWN]
    ]


def last_page(entries: Sequence[EffortEntry], person: str) -> str:
    """The page that this person logged last; "" if there is none."""
    pages = (e.text for e in reversed(entries) if e.kind == "page" and e.person == person)
    return next((text for text in pages if text), "")


def _figures(totals: EffortTotals) -> list[Piece]:
    minutes = round(totals.seconds / 60)
    time = ngettext("{n} minute", "{n} minutes", minutes).format(n=minutes)
    queries = ngettext("{n} query", "{n} queries", totals.queries).format(n=totals.queries)
    pages = ngettext("{n} page", "{n} pages", totals.pages).format(n=totals.pages)
    return [Piece(" · ".join((time, queries, pages)))]

"""What stands beside the triples: the entity under the cursor with its neighbours, and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from cuecard.annotate.authoring.graph_figures import Figures
from cuecard.annotate.authoring.graph_neighbours import Branch, Neighbourhood, Surroundings
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.glyphs import ink
from cuecard.tui.widgets.grid import Grid, GridColumn, ListSource
from cuecard.tui.widgets.grid.editor import HintLine
from cuecard.tui.widgets.plain import PlainText

_NAMES_SHOWN = 4


class AroundPane(Vertical):
    """`show` an entity's neighbourhood; Enter on a branch chooses its triple."""

    class Chosen(Message):
        """The person wants to see this triple."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self) -> None:
        super().__init__(classes="around")
        self._shown: tuple[Surroundings, str] | None = None
        self._indices: list[int] = []

    def compose(self) -> ComposeResult:
        yield Grid((GridColumn(N_("Neighbours"), 10, grow=1),))

    @property
    def grid(self) -> Grid:
        return self.query_one(Grid)

    def show(self, surroundings: Surroundings, entity: str) -> None:
        """Show what surrounds an entity; an empty name shows nothing."""
        if self._shown == (surroundings, entity):
            return
        self._shown = (surroundings, entity)
        ink_of = self.app.theme_variables
        self._indices = []
        lines: list[Sequence[Text]] = []
        if entity:
            around = surroundings.around(entity)
            for index, text in branch_lines(around, ink_of):
                self._indices.append(index)
                lines.append((text,))
        label = one_line(entity, 60) or _("Neighbours")
        if entity:
            degree = surroundings.degree(entity)
            counted = ngettext("{n} triple", "{n} triples", degree).format(n=degree)
            label = f"{label}  {counted}"
        self.grid.set_columns((GridColumn(label, 10, grow=1, raw=True),))
        self.grid.load(ListSource(lines), cursor=(0, 0))

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        index = self._indices[event.row] if event.row < len(self._indices) else -1
        if index >= 0:
            self.post_message(self.Chosen(index))


def branch_lines(around: Neighbourhood, variables: Mapping[str, str]) -> Iterator[tuple[int, Text]]:
    """The tree line by line, each with its triple; -1 for a line that is none."""
    yield from _below(around.branches, around.hidden, "", variables)


def _below(
    branches: Sequence[Branch], hidden: int, indent: str, variables: Mapping[str, str]
) -> Iterator[tuple[int, Text]]:
    muted, accent = ink(variables, "muted"), ink(variables, "primary")
    for position, branch in enumerate(branches):
        last = position == len(branches) - 1 and not hidden
        line = Text(f"{indent}{'└' if last else '├'}", style=muted)
        relation = one_line(branch.relation, 40)
        line.append(f" ← {relation} ← " if branch.inward else f" {relation} → ", style=accent)
        line.append(one_line(branch.entity, 80))
        if branch.again:
            line.append(" ↑", style=muted)
        yield branch.index, line
        deeper = f"{indent}{' ' if last else '│'} "
        yield from _below(branch.branches, branch.hidden, deeper, variables)
    if hidden:
        text = ngettext("└ {n} more", "└ {n} more", hidden).format(n=hidden)
        yield -1, Text(f"{indent}{text}", style=muted)


class StatusLine(HintLine):
    """What the list shows, in one line above it."""


class FiguresPane(PlainText):
    """`show` what a graph amounts to."""

    def __init__(self) -> None:
        super().__init__(classes="figures")
        self._shown = ""

    def show(self, figures: Figures) -> None:
        text = "\n".join(figure_lines(figures))
        if text != self._shown:
            self._shown = text
            self.load(text)


def headline(figures: Figures) -> str:
    """The most important figures in one line."""
    parts = (
        ngettext("{n} triple", "{n} triples", figures.triples).format(n=figures.triples),
        ngettext("{n} node", "{n} nodes", figures.nodes).format(n=figures.nodes),
        ngettext("{n} relation", "{n} relations", figures.relations).format(n=figures.relations),
        _("depth {n}").format(n=figures.depth),
        _("{percent}% with sources").format(percent=_percent(figures.sourced, figures.triples)),
    )
    return " · ".join(parts)


def figure_lines(figures: Figures) -> list[str]:
    """All figures, a few to a line."""
    lines = [
        headline(figures),
        _("sources: {n} of {total} triples").format(n=figures.sourced, total=figures.triples),
    ]
    if figures.components > 1:
        form = _("in {n} pieces; apart: {names}")
        lines.append(form.format(n=figures.components, names=_some(figures.loose)))
    elif figures.triples:
        lines.append(_("in one piece"))
    if figures.unused:
        lines.append(_("listed but not used: {names}").format(names=_some(figures.unused)))
    if figures.incomplete:
        form = ngettext(
            "{n} triple is incomplete", "{n} triples are incomplete", figures.incomplete
        )
        lines.append(form.format(n=figures.incomplete))
    stages = [f"{stage}:{count}" for stage, count in (figures.stages or {}).items()]
    if stages:
        lines.append(_("by stage  {counts}").format(counts="  ".join(stages)))
    if figures.without_stage:
        lines.append(_("without a stage: {n}").format(n=figures.without_stage))
    return lines


def _percent(part: int, whole: int) -> int:
    return round(100 * part / whole) if whole else 0


def _some(names: Sequence[Any]) -> str:
    shown = ", ".join(one_line(str(name), 30) for name in names[:_NAMES_SHOWN])
    return f"{shown}, …" if len(names) > _NAMES_SHOWN else shown

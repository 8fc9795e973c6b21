"""The rows of the sheet of triples: what stands in its cells, what may be typed there, and what is
to be said while it is. Knows no widget.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cuecard.annotate.authoring import graph_ops, ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.graph_names import GraphIndex, NameKind
from cuecard.annotate.authoring.graph_ops import TextField
from cuecard.annotate.authoring.graph_view import GraphView
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.widgets.grid import GridCell, GridColumn

NUMBER, HEAD, RELATION, TAIL, STAGE, SOURCES = range(6)
COLUMNS = (
    GridColumn("#", 2, right=True, editable=False),
    GridColumn(N_("Head"), 10, grow=1, most=34),
    GridColumn(N_("Relation"), 10, grow=1, most=34),
    GridColumn(N_("Tail"), 10, grow=1, most=34),
    GridColumn(N_("Stage"), 5, right=True),
    GridColumn(N_("Src"), 3, right=True, editable=False),
)
TEXT_FIELD: dict[int, TextField] = {HEAD: "head", RELATION: "relation", TAIL: "tail"}
KIND: dict[int, NameKind] = {HEAD: "entity", RELATION: "relation", TAIL: "entity"}
COLUMN_OF: dict[str, int] = {
    "head": HEAD,
    "relation": RELATION,
    "tail": TAIL,
    "stage": STAGE,
    "sources": SOURCES,
}
NOTHING = GridCell("")
_MARK = {"error": GridCell("✗", "bad"), "warning": GridCell("!", "warn")}
_REPEATED = GridCell("=", "warn")
_STAGE = re.compile(r"\s*(\d{1,4})(?:\s.*)?", re.DOTALL)


class TripleRows:
    """`load` it with an edit; `follow` after each change that came by these rows."""

    def __init__(self) -> None:
        self.edit = TaskEdit({"gold": {"family": "graph", "nodes": [], "triples": []}})
        self.index = GraphIndex()
        self.view = GraphView()
        self.problems: dict[int, tuple[str, str]] = {}

    def load(self, edit: TaskEdit) -> None:
        """Show this edit; filtered and sorted anew."""
        self.edit = edit
        self.apply()

    def apply(self) -> None:
        """Filter and sort what there is now."""
        self.index.refresh(self.edit)
        self.view.apply(self.triples, problems=self.problems.keys())

    def follow(self) -> None:
        """Rows stay where they are, whatever is typed in them."""
        self.index.refresh(self.edit)
        self.view.follow(self.triples)

    @property
    def triples(self) -> list[dict[str, Any]]:
        return self.edit.items(ops.TRIPLES)

    def triple(self, row: int) -> dict[str, Any] | None:
        """The triple in a row; None where there is none."""
        return self.triples[self.view.index(row)] if 0 <= row < len(self.view) else None

    def is_blank(self, row: int) -> bool:
        """Whether nobody has written anything into the triple in a row."""
        triple = self.triple(row) or {}
        return not any(triple.get(part) for part in ("head", "relation", "tail", "sources", "note"))

    def chosen(self, marked: frozenset[int], row: int) -> list[int]:
        """The triples that an action is about: the marked ones, else the one under the cursor."""
        return self.view.indices(marked or ({row} if row < len(self.view) else ()))

    def copied(self, index: int) -> tuple[str, ...]:
        """A triple as the cells of a spreadsheet's row, which may be pasted again."""
        triple = self.triples[index]
        stage = triple.get("stage")
        return (
            *(str(triple[part]) for part in ("head", "relation", "tail")),
            "-" if stage is None else str(stage),
            " ".join(map(str, triple.get("sources", ()))),
            str(triple.get("note", "")),
        )

    # The source of a grid

    def __len__(self) -> int:
        return len(self.view)

    def cells(self, row: int) -> Sequence[str | GridCell]:
        index = self.view.index(row)
        triple = self.triples[index]
        stage, sources = triple.get("stage"), triple.get("sources") or ()
        return (
            GridCell(str(index + 1), "muted"),
            str(triple["head"]),
            GridCell(str(triple["relation"]), "accent"),
            str(triple["tail"]),
            "" if stage is None else str(stage),
            str(len(sources)) if sources else GridCell("–", "muted"),
        )

    def gutter(self, row: int) -> GridCell:
        index = self.view.index(row)
        if problem := self.problems.get(index):
            return _MARK[problem[0]]
        return _REPEATED if self.index.repeated(index) else NOTHING

    def said_of(self, row: int) -> str:
        """What is wrong with the triple in a row, or like it; "" if nothing is."""
        triple = self.triple(row)
        if triple is None:
            return ""
        index = self.view.index(row)
        if problem := self.problems.get(index):
            return problem[1]
        like = self.index.like(triple, besides=index) if self.index.repeated(index) else None
        return _("the same as triple {n}").format(n=like.index + 1) if like else ""

    # Typing in a cell

    def text(self, row: int, column: int) -> str:
        """What stands in a cell, as it is edited."""
        triple = self.triple(row)
        if triple is None:
            return ""
        if column == STAGE:
            return "" if triple.get("stage") is None else str(triple["stage"])
        return str(triple[TEXT_FIELD[column]]) if column in TEXT_FIELD else ""

    def write(self, row: int, column: int, text: str) -> bool:
        """Put what is typed into the edit; False where it is nothing that the cell can hold."""
        index = self.view.index(row)
        if column in TEXT_FIELD:
            graph_ops.write_text(self.edit, index, TEXT_FIELD[column], text)
            return True
        if column == STAGE:
            known, stage = stage_of(text)
            if known:
                self.edit.set((*ops.TRIPLES, index, "stage"), stage, typing=True)
            return known
        return False

    def completer(self, row: int, column: int) -> Names | Stages:
        """What may be offered for a cell."""
        if column == STAGE:
            return Stages(self.edit)
        return Names(self.index, KIND[column], self.view.index(row))

    def hint(self, row: int, column: int, text: str) -> str:
        """A warning about what is typed: it resembles something, or cannot stand there."""
        index = self.view.index(row)
        triple = self.triples[index]
        if column == STAGE:
            return stage_hint(self.edit, text)
        said: list[str] = []
        typed: Mapping[str, Any] = {**triple, TEXT_FIELD[column]: text}
        if (like := self.index.like(typed, besides=index)) is not None:
            other = brief(self.triples[like.index])
            form = (
                _("the same as triple {n}")
                if like.how == "same"
                else _("like triple {n}: {triple}")
            )
            said.append(form.format(n=like.index + 1, triple=other))
        if name := name_hint(self.index, KIND[column], text, besides=index):
            said.append(name)
        return " · ".join(said)


class Names:
    """Offers entities or relations that are in use."""

    def __init__(self, index: GraphIndex, kind: NameKind, besides: int | None = None) -> None:
        self._index, self._besides = index, besides
        self._kind: NameKind = kind

    def matching(self, typed: str, limit: int = 6) -> list[str]:
        return self._index.candidates(self._kind, typed, limit, besides=self._besides)


class Stages:
    """Offers the persona's stages, by number or title."""

    def __init__(self, edit: TaskEdit) -> None:
        stages = edit.items(ops.STAGES)
        self._texts = [f"{n} {one_line(str(s['title']), 50)}" for n, s in enumerate(stages, 1)]

    def matching(self, typed: str, limit: int = 6) -> list[str]:
        needle = typed.strip().casefold()
        begin = [text for text in self._texts if text.casefold().startswith(needle)]
        rest = [text for text in self._texts if needle in text.casefold() and text not in begin]
        return [text for text in (*begin, *rest) if text != typed][:limit]


def stage_of(text: str) -> tuple[bool, int | None]:
    """Whether a text is a stage, and which: its number, its number and title, or nothing."""
    if text.strip() in ("", "-", "–"):
        return True, None
    match = _STAGE.fullmatch(text)
    return (True, int(match[1])) if match and int(match[1]) > 0 else (False, None)


def stage_hint(edit: TaskEdit, text: str) -> str:
    known, stage = stage_of(text)
    count = len(edit.items(ops.STAGES))
    if not known:
        return _("a stage's number, or nothing")
    if stage is not None and stage > count:
        form = ngettext("there is only {n} stage", "there are only {n} stages", count)
        return form.format(n=count) if count else _("there are no stages")
    return ""


def name_hint(index: GraphIndex, kind: NameKind, text: str, *, besides: int | None = None) -> str:
    """Which name in use probably means the same as `text`; "" when none does."""
    near = index.near(kind, text, besides=besides, limit=2)
    if not near:
        return ""
    names = ", ".join(
        _("“{name}” ({n}×)").format(
            name=one_line(name, 40), n=index.uses(kind, name, besides=besides)
        )
        for name in near
    )
    return _("like {names}").format(names=names)


def brief(triple: Mapping[str, Any]) -> str:
    """A triple in one short line."""
    return " – ".join(one_line(str(triple[part]), 24) for part in ("head", "relation", "tail"))

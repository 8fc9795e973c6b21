"""Triples as rows of a grid: their cells, completion and warnings while typing, and bulk operations."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cuecard.annotate.authoring import graph_entities, graph_ops, ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.graph_entities import RenameResult
from cuecard.annotate.authoring.graph_names import GraphIndex, NameKind
from cuecard.annotate.authoring.graph_ops import TextField
from cuecard.annotate.authoring.graph_view import GraphView
from cuecard.annotate.authoring.task_data import Path
from cuecard.core.i18n import N_, _, listed, ngettext
from cuecard.core.text import one_line
from cuecard.tui.grid import GridCell, GridColumn
from cuecard.tui.screens.task.graph_dialogs import AskName, AskSources

if TYPE_CHECKING:
    from textual.app import App


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
    names = listed(
        _("“{name}” ({n}×)").format(
            name=one_line(name, 40), n=index.uses(kind, name, besides=besides)
        )
        for name in near
    )
    return _("like {names}").format(names=names)


def brief(triple: Mapping[str, Any]) -> str:
    """A triple in one short line."""
    return " – ".join(one_line(str(triple[part]), 24) for part in ("head", "relation", "tail"))


class Bulk:
    """Operations on many triples, which may ask on `app`; undo leads back to `at`. Each gives a sentence on what was
    done, "" for nothing.
    """

    def __init__(self, app: App[str], rows: TripleRows, *, at: Path = ops.TRIPLES) -> None:
        self._app, self._rows, self._at = app, rows, at

    async def rename(self, kind: NameKind, name: str) -> str:
        """Call an entity or a relation otherwise, wherever it stands."""
        new = await self._ask_name(
            _("Rename everywhere"),
            _("“{name}” stands in {n} places. Call it:").format(
                name=one_line(name, 60), n=self._rows.index.uses(kind, name)
            ),
            kind,
            name,
            lambda text: rename_effect(self._rows.index, kind, name, text),
        )
        if not new or new == name:
            return ""
        edit = self._rows.edit
        if kind == "entity":
            return renamed(graph_entities.rename_entity(edit, name, new, at=self._at))
        return renamed(graph_entities.rename_relation(edit, name, new))

    def rename_effect(self, old: str, new: str) -> str:
        """What calling an entity otherwise would do besides."""
        return rename_effect(self._rows.index, "entity", old, new)

    async def fill(self, column: int, indices: Collection[int]) -> str:
        """Write the same into a column of several triples."""
        field, kind = TEXT_FIELD[column], KIND[column]
        first = str(self._rows.triples[min(indices)][field])
        new = await self._ask_name(
            _("Write into the marked triples"),
            ngettext(
                "This stands in {n} triple afterwards:",
                "This stands in {n} triples afterwards:",
                len(indices),
            ).format(n=len(indices)),
            kind,
            first,
            lambda text: name_hint(self._rows.index, kind, text),
        )
        return changed(graph_ops.fill(self._rows.edit, indices, field, new)) if new else ""

    async def merge(self, kind: NameKind, names: list[str]) -> str:
        """Make several names one, or one name that of another."""
        index = self._rows.index
        told = listed((f"“{one_line(name, 30)}”" for name in names), 6)
        if len(names) == 1:
            text = _("{names} is the same as:")
            best = next(iter(index.near(kind, names[0])), "")
        else:
            text = _("{names} become one. Its name:")
            best = max(names, key=lambda name: index.uses(kind, name))
        text = text.format(names=told)
        if kind == "entity":
            text = "\n".join((text, _("(The other names become its aliases.)")))
        into = await self._ask_name(
            _("Merge"),
            text,
            kind,
            best,
            lambda text: "" if text in names else name_hint(index, kind, text),
        )
        if not into:
            return ""
        if kind == "entity":
            done = graph_entities.merge_entities(self._rows.edit, names, into, at=self._at)
            return renamed(done)
        return renamed(graph_entities.merge_relations(self._rows.edit, names, into))

    async def stage(self, indices: Collection[int]) -> str:
        """Give triples a stage."""
        edit = self._rows.edit
        now = self._rows.triples[min(indices)].get("stage")
        answer = await self._app.push_screen_wait(
            AskName(
                _("Stage"),
                ngettext(
                    "Which stage does {n} triple answer? Empty for none.",
                    "Which stage do {n} triples answer? Empty for none.",
                    len(indices),
                ).format(n=len(indices)),
                button=_("Assign"),
                value="" if now is None else str(now),
                completer=Stages(edit),
                effect=lambda text: stage_hint(edit, text),
                empty=True,
            )
        )
        known, stage = stage_of(answer or "")
        if answer is None or not known:
            return ""
        return changed(graph_ops.assign_stage(edit, indices, stage))

    async def sources(self, indices: Collection[int]) -> str:
        """Give triples web addresses, or take them away."""
        first = self._rows.triples[min(indices)].get("sources") or ()
        text = ngettext(
            "Web addresses for {n} triple, one a line.",
            "Web addresses for {n} triples, one a line.",
            len(indices),
        ).format(n=len(indices))
        choice = await self._app.push_screen_wait(AskSources(text, "\n".join(map(str, first))))
        if choice is None:
            return ""
        done = graph_ops.assign_sources(self._rows.edit, indices, choice.urls, choice.mode)
        return changed(done)

    async def _ask_name(
        self, title: str, text: str, kind: NameKind, value: str, effect: Callable[[str], str]
    ) -> str:
        answer = await self._app.push_screen_wait(
            AskName(
                title,
                text,
                button=title,
                value=value,
                completer=Names(self._rows.index, kind),
                effect=effect,
            )
        )
        return answer or ""


def rename_effect(index: GraphIndex, kind: NameKind, old: str, new: str) -> str:
    """What renaming would do besides."""
    if not new or new == old:
        return ""
    if uses := index.uses(kind, new):
        form = _("“{name}” stands in {n} places already: the two become one.")
        return form.format(name=one_line(new, 60), n=uses)
    return name_hint(index, kind, new)


def changed(count: int) -> str:
    """How many triples an action changed."""
    if not count:
        return _("Nothing changed.")
    return ngettext("{n} triple changed.", "{n} triples changed.", count).format(n=count)


def renamed(done: RenameResult) -> str:
    """What renaming or merging did."""
    text = changed(done.changed)
    if done.joined:
        form = ngettext(
            "{n} became the same as another and joined it.",
            "{n} became the same as others and joined them.",
            done.joined,
        )
        text = f"{text} {form.format(n=done.joined)}"
    return text


def stage_count(rows: TripleRows) -> int:
    return len(rows.edit.items(ops.STAGES))

"""What the keys of the tab of triples do to many of them: each asks, then is one step for undo."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from cuecard.annotate.authoring import graph_ops, graph_renames, ops
from cuecard.annotate.authoring.graph_names import GraphIndex, NameKind
from cuecard.annotate.authoring.graph_renames import Renamed
from cuecard.annotate.authoring.trees import Path
from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.screens.task.graph.ask import AskName, AskSources
from cuecard.tui.screens.task.graph.rows import (
    KIND,
    TEXT_FIELD,
    Names,
    Stages,
    TripleRows,
    name_hint,
    stage_hint,
    stage_of,
)

if TYPE_CHECKING:
    from textual.app import App


class Bulk:
    """Asks on `app`'s behalf, undo going back to `at`; returns what was done in a sentence, "" when nothing was."""

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
            return renamed(graph_renames.rename_entity(edit, name, new, at=self._at))
        return renamed(graph_renames.rename_relation(edit, name, new))

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
        listed = ", ".join(f"“{one_line(name, 30)}”" for name in names[:6])
        listed = f"{listed}, …" if len(names) > 6 else listed
        if len(names) == 1:
            text = _("{names} is the same as:")
            best = next(iter(index.near(kind, names[0])), "")
        else:
            text = _("{names} become one. Its name:")
            best = max(names, key=lambda name: index.uses(kind, name))
        text = text.format(names=listed)
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
            done = graph_renames.merge_entities(self._rows.edit, names, into, at=self._at)
            return renamed(done)
        return renamed(graph_renames.merge_relations(self._rows.edit, names, into))

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


def renamed(done: Renamed) -> str:
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

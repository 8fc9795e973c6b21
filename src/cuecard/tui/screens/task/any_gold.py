"""Gold of a family without panes of its own, from its fields: a list of what it is made of, and a form of the rest."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any, Literal

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.schema import PARAGRAPH, Items, Leaf, Record, Shape, part
from cuecard.annotate.authoring.task_data import Path
from cuecard.annotate.families.registry import ANNOTATE
from cuecard.core.i18n import N_
from cuecard.tui.families import TUI
from cuecard.tui.screens.task.fields import FieldSpec
from cuecard.tui.screens.task.pane import Collection, CollectionSpec, FormPane, TaskPane
from cuecard.tui.widgets.lists import FittedColumn


def pane_of_fields(family: str, tab: Literal["items", "gold"]) -> TaskPane:
    """The list on the family's first tab, or the form on its second. Raises `TypeError` where fields fit neither."""
    return _items_pane(family) if tab == "items" else _rest_pane(family)


def _items_pane(family: str) -> Collection:
    (name,), place = TUI[family].first_tab, ("gold",)
    shape = ANNOTATE[family].fields[name]
    if not isinstance(shape, Items) or not isinstance(shape.item, Record):
        raise TypeError(f"{name!r} of the family {family!r} is no list of records")
    fields = shape.item.fields
    shown = [name for name, inner in fields.items() if isinstance(inner, Leaf)]

    def blank() -> Any:
        return deepcopy(ANNOTATE[family].blank()[name][0])

    def cells(edit: TaskEdit, index: int) -> tuple[str, ...]:
        item = edit.items((*place, name))[index]
        return str(index + 1), *(part(item, field) for field in shown)

    columns = (FittedColumn(fields[field].label, 8, grow=1) for field in shown)
    spec = CollectionSpec(
        path=(*place, name),
        columns=(FittedColumn("#", 3, right=True), *columns),
        cells=cells,
        fields=tuple(_form_of(fields, blank())),
        blank=blank,
        title=N_("Nothing here yet"),
        about=N_("What the gold is made of, one thing after the other."),
    )
    return Collection(spec, id="items")


def _rest_pane(family: str) -> FormPane:
    known, first = ANNOTATE[family], TUI[family].first_tab
    rest = {name: shape for name, shape in known.fields.items() if name not in first}
    return FormPane(tuple(_form_of(rest, known.blank())), ("gold",), id="gold")


def _form_of(
    fields: Mapping[str, Shape], blank: Mapping[str, Any], at: Path = ()
) -> Iterator[FieldSpec]:
    """`blank` tells which fields hold numbers. Raises `TypeError` for a list of records, which a form cannot hold."""
    for name, shape in fields.items():
        path = (*at, name)
        match shape:
            case Leaf():
                write = _number_at(path) if isinstance(blank.get(name), int) else None
                kind = "text" if shape.joint == PARAGRAPH else "line"
                yield FieldSpec(path, shape.label, kind, write=write)
            case Record():
                yield from _form_of(shape.fields, blank.get(name) or {}, path)
            case Items(item=Leaf()):
                yield FieldSpec(path, shape.label, "lines", N_("One a line"))
            case Items():
                raise TypeError(f"{name!r} is a list of records: it needs a pane of its own")


def _number_at(path: Path) -> Callable[[TaskEdit, Path, Any], None]:
    # What does not read as a number stays as it was typed: a problem to be seen.
    def write(edit: TaskEdit, place: Path, value: Any) -> None:
        number = str(value).strip().removeprefix("-").isdecimal()
        edit.set((*place, *path), int(value) if number else value, typing=True)

    return write

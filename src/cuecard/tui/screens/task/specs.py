"""What a field of a form is: where its value stands, how it is edited, what it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.trees import Path

FieldKind = Literal["line", "text", "lines", "choice", "choices", "flag"]
Options = Sequence[tuple[str, Any]]
"""Labels, shown as they are, and the values that they stand for."""


@dataclass(frozen=True)
class FieldSpec:
    """`path` is below the place that a form is loaded with. `lines` is a list of texts, one a line;
    `choices` a list of values. `label` and `tip` are marked with `N_`.

    `read` and `write` stand in where a value is not simply what stands at the path; `shown` says
    whether the field makes sense for what is loaded.
    """

    path: Path
    label: str
    kind: FieldKind = "line"
    tip: str = ""
    options: Callable[[TaskEdit], Options] | None = None
    suggest: Callable[[TaskEdit], Iterable[str]] | None = None
    read: Callable[[TaskEdit, Path], Any] | None = None
    write: Callable[[TaskEdit, Path, Any], None] | None = None
    shown: Callable[[TaskEdit, Path], bool] | None = None

    def value(self, edit: TaskEdit, place: Path) -> Any:
        """What the data holds for this field of the thing at `place`."""
        if self.read is not None:
            return self.read(edit, place)
        return edit.get((*place, *self.path))

    def store(self, edit: TaskEdit, place: Path, value: Any) -> None:
        """Write what was typed or chosen. Raises `LookupError` when the place is gone."""
        if self.write is not None:
            self.write(edit, place, value)
        else:
            edit.set((*place, *self.path), value, typing=self.kind in ("line", "text", "lines"))

"""Facts as cells of a grid."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.facts_ops import TYPED, FactField, fact_text, twin_keys
from cuecard.core.i18n import N_, _
from cuecard.tui.widgets.grid import GridCell, GridColumn

FIELDS: tuple[FactField, ...] = (*TYPED, "aliases", "sources")
COLUMNS = [
    GridColumn(N_("Key"), 12, 3, most=40),
    GridColumn(N_("Value"), 9, 2, most=30),
    GridColumn(N_("Kind"), 4),
    GridColumn(N_("Entity"), 10, 2, most=26),
    GridColumn(N_("Attribute"), 9, 2, most=24),
    GridColumn(N_("Unit"), 5, most=10),
    GridColumn(N_("Aliases"), 7, right=True, hidden_below=100, editable=False),
    GridColumn(N_("Sources"), 7, right=True, hidden_below=100, editable=False),
]
KIND: dict[str, str] = {"fact": N_("fact"), "rule": N_("rule")}


def shown(edit: TaskEdit, row: int, field: FactField) -> str:
    """A cell's text; a kind in the reader's language."""
    facts = edit.items(ops.FACTS)
    text = fact_text(facts[row], field) if row < len(facts) else ""
    return _(KIND[text]) if field == "kind" and text in KIND else text


class FactRows:
    """Reads the edit whenever cells are asked for; `refresh` after it changed."""

    def __init__(self) -> None:
        self._edit: TaskEdit | None = None
        self._twins: dict[int, int] = {}

    def refresh(self, edit: TaskEdit) -> bool:
        """Look at the edit anew; whether other facts than before have the same key."""
        before = self._twins
        self._edit, self._twins = edit, twin_keys(edit)
        return before != self._twins

    def twin(self, row: int) -> int | None:
        """A fact with the same key."""
        return self._twins.get(row)

    def __len__(self) -> int:
        return len(self._edit.items(ops.FACTS)) if self._edit else 0

    def cells(self, row: int) -> Sequence[str | GridCell]:
        if self._edit is None:
            return ()
        cells: list[str | GridCell] = [shown(self._edit, row, field) for field in FIELDS]
        if row in self._twins:
            cells[0] = GridCell(str(cells[0]), "bad")
        rule = self._edit.get((*ops.FACTS, row, "kind")) == "rule"
        cells[2] = GridCell(str(cells[2]), "accent" if rule else "muted")
        return cells

    def gutter(self, row: int) -> GridCell:
        if row in self._twins:
            return GridCell("=", "bad")
        fact = self._edit.get((*ops.FACTS, row)) if self._edit else None
        blank = fact and not (str(fact.get("key") or "").strip() and str(fact.get("value") or "").strip())  # fmt: skip
        return GridCell("!", "warn") if blank else GridCell("")

"""The forms of a closed world: its facts and the answer."""

from __future__ import annotations

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.blank import blank_fact
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.core.i18n import N_, _
from cuecard.tui.screens.task import choices
from cuecard.tui.screens.task.choices import labelled
from cuecard.tui.screens.task.collection import CollectionSpec
from cuecard.tui.screens.task.forms_shared import ALIASES, SOURCES
from cuecard.tui.screens.task.specs import FieldSpec
from cuecard.tui.widgets.fitted_table import FittedColumn

FACT = (
    FieldSpec(("key",), N_("Key")),
    FieldSpec(("value",), N_("Value")),
    FieldSpec(("unit",), N_("Unit")),
    FieldSpec(("kind",), N_("Kind"), "choice", options=labelled(choices.FACT_KIND)),
    FieldSpec(("entity",), N_("Entity"), tip=N_("What a query must name"), suggest=choices.known("entity")),
    FieldSpec(("attribute",), N_("Attribute"), tip=N_("Which property of it"), suggest=choices.known("attribute")),
    ALIASES,
    SOURCES,
)  # fmt: skip
ANSWER = (
    FieldSpec(("answer",), N_("Answer")),
    FieldSpec(("answer_aliases",), N_("Aliases"), "lines", N_("Other ways to say it, one a line")),
    FieldSpec(
        ("derivation",), N_("Derivation"), "text", N_("How it follows; players never see it")
    ),
)


def _fact_cells(edit: TaskEdit, index: int) -> tuple[str, ...]:
    fact = edit.items(ops.FACTS)[index]
    value = f"{fact['value']} {fact['unit']}".strip()
    return str(fact["key"]), value, _(choices.FACT_KIND.get(str(fact["kind"]), str(fact["kind"])))


FACTS = CollectionSpec(
    path=ops.FACTS,
    columns=(
        FittedColumn(N_("Key"), 12, grow=3),
        FittedColumn(N_("Value"), 10, grow=2),
        FittedColumn(N_("Kind"), 8),
    ),
    cells=_fact_cells,
    fields=FACT,
    blank=blank_fact,
    title=N_("No facts yet"),
    about=N_("Atomic facts of a closed world, and the rules that the answer needs."),
)

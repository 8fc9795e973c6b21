"""The forms of the editor: those that every family has, those of chains, tables and closed worlds, and those of a family
without panes of its own, from its fields.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any, Literal

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.schema import PARAGRAPH, Items, Leaf, Record, Shape, part
from cuecard.annotate.authoring.stages import rung_of
from cuecard.annotate.authoring.task_data import Path, blank_column, blank_stage, blank_step
from cuecard.annotate.families.registry import ANNOTATE
from cuecard.core.families.checkpoints.gold import AMBIGUITY_WORDS
from cuecard.core.families.table.gold import METRIC_WORDS, STEP_WORDS
from cuecard.core.i18n import N_, NP_, _
from cuecard.core.tasks.models import DIFFICULTY_WORDS
from cuecard.tui.families import TUI
from cuecard.tui.present.task_trials import rung_cells
from cuecard.tui.screens.task.fields import (
    ALIASES,
    CUE,
    LANGUAGE,
    FieldSpec,
    labelled,
    list_cell,
    with_codes,
)
from cuecard.tui.screens.task.fields import SOURCES as SOURCE_FIELDS
from cuecard.tui.screens.task.pane import Collection, CollectionSpec, FormPane, TaskPane
from cuecard.tui.widgets.inputs import FittedColumn

BRIEF = (
    FieldSpec(("title",), N_("Title")),
    FieldSpec(("domain",), N_("Domain"), tip=N_("history, chemistry, travel…")),
    FieldSpec(("language",), N_("Language"), "choice", options=labelled(LANGUAGE)),
    FieldSpec(("difficulty",), N_("Difficulty"), "choice", options=labelled(DIFFICULTY_WORDS)),
    FieldSpec(("query",), N_("Query"), "text", tip=N_("The request, fully specified")),
    FieldSpec(("sub_queries",), N_("Sub-queries"), "lines", tip=N_("One a line")),
    FieldSpec(("notes",), N_("Notes"), "text", tip=N_("For reviewers; players never see them")),
)
PERSONA = (
    FieldSpec(("name",), N_("Name")),
    FieldSpec(("identity",), N_("Identity"), "text", tip=N_("Who asks, and why")),
    FieldSpec(
        ("initial_query",),
        N_("First query"),
        "text",
        tip=N_("Vague on purpose: what the user says first"),
    ),
    FieldSpec(
        ("behaviour",),
        N_("Behaviour"),
        "text",
        tip=N_("How the user talks, pushes, and ends the talk"),
    ),
)
STAGE = (
    FieldSpec(("title",), N_("Title")),
    FieldSpec(("cue", "kind"), N_("Cue"), "choice", options=labelled(CUE)),
    FieldSpec(
        ("cue", "text"),
        NP_("of a cue", "When"),
        "text",
        tip=N_("What the agent must say or ask"),
    ),
    FieldSpec(
        ("cue", "terms"),
        N_("Terms"),
        "lines",
        tip=N_("One a line, any of them will do"),
    ),
    FieldSpec(("line",), N_("Line"), "text", tip=N_("What the user then says")),
    FieldSpec(("not_met",), N_("If not met"), "text", tip=N_("How the user pushes meanwhile")),
)
SOURCE = (
    FieldSpec(("url",), N_("Address"), tip="https://"),
    FieldSpec(("note",), N_("Note"), "text", tip=N_("What it supports")),
)


def _stage_cells(edit: TaskEdit, index: int) -> tuple[str, ...]:
    stage = edit.items(ops.STAGES)[index]
    kind = CUE.get(stage["cue"]["kind"], stage["cue"]["kind"])
    return str(index + 1), str(stage["title"]), _(str(kind)), str(stage["line"])


STAGES = CollectionSpec(
    path=ops.STAGES,
    columns=(
        FittedColumn("#", 3, right=True),
        FittedColumn(N_("Stage"), 8, grow=2),
        FittedColumn(N_("Cue"), 18, hidden_below=44),
        FittedColumn(N_("Line"), 8, grow=3, hidden_below=60),
    ),
    cells=_stage_cells,
    fields=STAGE,
    blank=blank_stage,
    title=N_("No stages yet"),
    about=N_(
        "A stage is one step of disclosure: a cue in the agent's reply, the line that the user then"
        " says, and what to do while the cue is not met."
    ),
    beside=True,
)


def _ambiguous(edit: TaskEdit, place: Path) -> bool:
    return isinstance(edit.get((*place, "ambiguity")), dict)


def _read_ambiguity(edit: TaskEdit, place: Path) -> Any:
    return edit.get((*place, "ambiguity", "type"))


STEP = (
    FieldSpec(("question",), N_("Question"), "text"),
    FieldSpec(("target",), N_("Target"), tip=N_("The answer that the next step starts from")),
    ALIASES,
    FieldSpec(
        ("ambiguity", "type"),
        N_("Ambiguity"),
        "choice",
        options=with_codes(AMBIGUITY_WORDS),
        read=_read_ambiguity,
        write=ops.write_ambiguity,
    ),
    FieldSpec(
        ("ambiguity", "candidates"), N_("Candidates"), "lines", N_("One a line"), shown=_ambiguous
    ),
    FieldSpec(
        ("ambiguity", "clue"),
        N_("Clue"),
        "text",
        N_("What the user says when asked rightly"),
        shown=_ambiguous,
    ),
    FieldSpec(
        ("ambiguity", "logic"),
        N_("Logic"),
        "text",
        N_("Why there are several answers, and which is meant"),
        shown=_ambiguous,
    ),
    FieldSpec(
        ("ambiguity", "terms"),
        N_("Terms"),
        "lines",
        N_("What a script looks for in the question, one a line"),
        shown=_ambiguous,
    ),
    SOURCE_FIELDS,
)
CHAIN = (
    FieldSpec(
        ("gold", "opening"), N_("Opening"), "text", N_("The ambiguous question that the user asks")
    ),
    FieldSpec(
        ("query",),
        N_("Original"),
        "text",
        N_("The question before it was made ambiguous; nobody is told it"),
    ),
    FieldSpec(("gold", "final_answer"), N_("Final answer")),
    FieldSpec(
        ("gold", "final_aliases"), N_("Aliases"), "lines", N_("Other ways to say it, one a line")
    ),
    FieldSpec(
        ("gold", "forbidden"),
        N_("Forbidden"),
        "lines",
        N_("What the user must never say, one a line"),
    ),
)


def _step_cells(edit: TaskEdit, index: int) -> tuple[str, ...]:
    return rung_cells(rung_of(edit, index))


STEPS = CollectionSpec(
    path=ops.STEPS,
    columns=(),
    cells=_step_cells,
    fields=STEP,
    blank=blank_step,
    title=N_("No checkpoints yet"),
    about=N_(
        "Sub-questions in order; some are ambiguous on purpose and have a clue for who asks rightly."
    ),
    beside=True,
)


ANSWER = (
    FieldSpec(("answer",), N_("Answer")),
    FieldSpec(("answer_aliases",), N_("Aliases"), "lines", N_("Other ways to say it, one a line")),
    FieldSpec(
        ("derivation",), N_("Derivation"), "text", N_("How it follows; players never see it")
    ),
)


def _write_key(edit: TaskEdit, place: Path, value: Any) -> None:
    ops.write_key(edit, int(place[-1]), bool(value))


def _rename_column(edit: TaskEdit, place: Path, value: Any) -> None:
    ops.rename_column(edit, int(place[-1]), str(value))


COLUMN = (
    FieldSpec(("name",), N_("Column"), write=_rename_column),
    FieldSpec(
        (),
        NP_("of a table", "Key"),
        "flag",
        N_("rows are joined on it"),
        read=lambda edit, place: ops.is_key(edit, int(place[-1])),
        write=_write_key,
    ),
    FieldSpec(("metric",), N_("Metric"), "choices", options=with_codes(METRIC_WORDS)),
    FieldSpec(("preprocess",), N_("Preprocess"), "choices", options=with_codes(STEP_WORDS)),
    FieldSpec(
        ("criterion",),
        N_("Criterion"),
        "text",
        N_("The relative tolerance, or what the model decides by"),
    ),
)


def _column_cells(edit: TaskEdit, index: int) -> tuple[str, ...]:
    column = edit.items(ops.COLUMNS)[index]
    key = "✓" if ops.is_key(edit, index) else ""
    metric = list_cell(column["metric"], METRIC_WORDS)
    preprocess = list_cell(column["preprocess"], STEP_WORDS)
    return str(column["name"]), key, metric, preprocess, str(column["criterion"])


COLUMNS = CollectionSpec(
    path=ops.COLUMNS,
    columns=(
        FittedColumn(N_("Column"), 12, grow=2),
        FittedColumn(NP_("of a table", "Key"), 4),
        FittedColumn(N_("Metric"), 12, grow=2),
        FittedColumn(N_("Preprocess"), 10, grow=2),
        FittedColumn(N_("Criterion"), 9, grow=1),
    ),
    cells=_column_cells,
    fields=COLUMN,
    blank=blank_column,
    title=N_("No columns yet"),
    about=N_(
        "What the answer's table must have, how cells are compared, and which columns are the key."
    ),
)


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

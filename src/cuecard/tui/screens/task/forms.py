"""The forms that every family has: brief, persona, stages, sources."""

from __future__ import annotations

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.blank import blank_source, blank_stage
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.core.i18n import N_, NP_, _
from cuecard.tui.screens.task.choices import CUE, DIFFICULTY, LANGUAGE, labelled
from cuecard.tui.screens.task.collection import CollectionSpec
from cuecard.tui.screens.task.specs import FieldSpec
from cuecard.tui.widgets.fitted_table import FittedColumn

BRIEF = (
    FieldSpec(("title",), N_("Title")),
    FieldSpec(("domain",), N_("Domain"), tip=N_("history, chemistry, travel…")),
    FieldSpec(("language",), N_("Language"), "choice", options=labelled(LANGUAGE)),
    FieldSpec(("difficulty",), N_("Difficulty"), "choice", options=labelled(DIFFICULTY)),
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
        tip=N_("What the agent must have said or asked"),
    ),
    FieldSpec(
        ("cue", "terms"),
        N_("Terms"),
        "lines",
        tip=N_("One a line; a script tests for any of them"),
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


def _source_cells(edit: TaskEdit, index: int) -> tuple[str, ...]:
    source = edit.items(ops.SOURCES)[index]
    return str(source["url"]), str(source["note"])


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
SOURCES = CollectionSpec(
    path=ops.SOURCES,
    columns=(
        FittedColumn(N_("Address"), 20, grow=3),
        FittedColumn(N_("Note"), 12, grow=2),
    ),
    cells=_source_cells,
    fields=SOURCE,
    blank=blank_source,
    title=N_("No sources yet"),
    about=N_(
        "Pages that support the gold answer as a whole; a triple may have sources of its own."
    ),
)

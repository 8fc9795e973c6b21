"""The forms of a checkpoint chain: its steps, and what holds for all of it."""

from __future__ import annotations

from typing import Any

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.blank import blank_step
from cuecard.annotate.authoring.chain_ladder import rung_of
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.trees import Path
from cuecard.core.i18n import N_
from cuecard.tui.screens.task import choices
from cuecard.tui.screens.task.choices import labelled
from cuecard.tui.screens.task.collection import CollectionSpec
from cuecard.tui.screens.task.forms_shared import ALIASES, SOURCES
from cuecard.tui.screens.task.specs import FieldSpec
from cuecard.tui.state.chain_words import rung_cells


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
        options=labelled(choices.AMBIGUITY),
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
    SOURCES,
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

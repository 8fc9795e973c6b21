"""Labels of what can be chosen in the editor's forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.screens.task.specs import Options
from cuecard.tui.widgets.cue_card import CUE_KIND

LANGUAGE = {"en": "English", "zh": "中文"}
DIFFICULTY = {"easy": N_("easy"), "medium": N_("medium"), "hard": N_("hard")}
AMBIGUITY = {
    "entity": N_("entity: several things of that name"),
    "version": N_("version: several editions or times"),
    "criteria": N_("criteria: several measures"),
    "factual": N_("factual: sources disagree"),
}
PREPROCESS = {
    "norm_str": N_("norm_str: case, blanks and * ignored"),
    "extract_number": N_("extract_number: the first number"),
    "norm_date": N_("norm_date: as YYYY-MM-DD"),
}
METRIC = {
    "exact_match": N_("exact_match: the same text"),
    "number_near": N_("number_near: within a relative tolerance"),
    "date_near": N_("date_near: within 31 days"),
    "url_match": N_("url_match: the same hosts"),
    "in_match": N_("in_match: contained in the gold cell"),
    "llm_judge": N_("llm_judge: a model decides by the criterion"),
}
CUE = CUE_KIND


def labelled(choices: Mapping[str, str]) -> Callable[[TaskEdit], Options]:
    """The values with their translated labels."""
    return lambda edit: [(_(label), value) for value, label in choices.items()]


def stage_options(edit: TaskEdit) -> Options:
    """The persona's stages by number and title."""
    stages = edit.items(ops.STAGES)
    return [(f"{n} {one_line(str(stage['title']), 60)}", n) for n, stage in enumerate(stages, 1)]


def listed(value: Any) -> str:
    """A list of texts in one cell of a table."""
    items = cast(list[Any], value) if isinstance(value, list) else []
    return " · ".join(str(item) for item in items)

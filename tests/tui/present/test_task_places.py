from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.annotate.authoring.task_data import parse_place
from cuecard.core.tasks.models import Task
from cuecard.core.validation import format_place
from cuecard.tui.present.task_editor import tab_of, tabs_of

names = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)


@given(st.tuples(names), st.lists(names | st.integers(0, 999), max_size=5))
def test_a_place_reads_back_as_the_path_it_was_written_from(head, rest) -> None:
    path = (*head, *rest)
    assert parse_place(format_place(path)) == path


@pytest.mark.parametrize(
    ("task_id", "place", "tab"),
    [
        ("espresso", "", "brief"),
        ("espresso", "query", "brief"),
        ("espresso", "persona.identity", "persona"),
        ("espresso", "persona.stages[3].line", "stages"),
        ("espresso", "gold.triples[3].head", "graph"),
        ("espresso", "gold.nodes[3].id", "nodes"),
        ("espresso", "sources[1].url", "sources"),
        ("table-us-states", "persona.stages[0]", "persona"),
        ("table-us-states", "gold.rows[3]", "table"),
        ("table-us-states", "gold.unique_columns", "columns"),
        ("checkpoints-highest-mountain", "gold.steps[0].ambiguity.clue", "steps"),
        ("checkpoints-highest-mountain", "gold.forbidden", "chain"),
        ("facts-night-train", "gold", "facts"),
        ("facts-night-train", "gold.answer", "answer"),
    ],
)
def test_every_place_has_a_tab_of_its_task(samples: dict[str, Task], task_id, place, tab) -> None:
    data = samples[task_id].model_dump(mode="json")
    assert tab_of(parse_place(place), data) == tab
    assert tab in tabs_of(data)

"""The spot check: the same draw everywhere, another for another reviewer, spread over the gold."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.review.reviewing import gold_items, sample_of, sources_of, unmarked
from cuecard.core.contributions import GoldCheck
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import load_task

SAMPLES = Path(__file__).parents[3] / "src" / "cuecard" / "sample_tasks"
TASKS = [load_task(path) for path in sorted(SAMPLES.glob("*.yaml"))]


def staged(per_stage: list[int]) -> Task:
    """A graph task with so many triples for each stage."""
    stage = {"cue": {"kind": "start", "text": "always"}, "line": "Hello"}
    triples = [
        {"head": f"h{n}-{m}", "relation": "is", "tail": "t", "stage": n}
        for n, count in enumerate(per_stage, start=1)
        for m in range(count)
    ]
    return Task.model_validate(
        {
            "id": "g",
            "title": "G",
            "language": "en",
            "query": "q",
            "persona": {
                "identity": "i",
                "initial_query": "q",
                "stages": [{**stage, "title": f"s{n}"} for n in range(len(per_stage))],
            },
            "gold": {"family": "graph", "triples": triples},
        }
    )


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_a_draw_is_fixed_by_revision_and_reviewer(task: Task) -> None:
    every = [item.place for item in gold_items(task)]
    drawn = sample_of(task, "rev", "Ben", 5)
    assert drawn == sample_of(task, "rev", "Ben", 5)
    assert list(drawn) == [place for place in every if place in drawn]
    assert len(drawn) == min(5, len(every))
    assert list(sample_of(task, "rev", "Ben", len(every) + 3)) == every
    assert sample_of(task, "rev", "Ben", 0) == ()


def test_others_draw_others_and_all_is_drawn_by_somebody() -> None:
    task = staged([10] * 11)
    draws = [sample_of(task, "rev", f"reviewer {n}", 5) for n in range(200)]
    assert len(set(draws)) > 190
    assert sample_of(task, "another", "reviewer 0", 5) != draws[0]
    times = [sum(item.place in draw for draw in draws) for item in gold_items(task)]
    assert min(times) >= 1  # 1000 draws of 110
    assert max(times) < 30


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=8), st.integers(1, 40))
def test_each_stage_gets_its_share(per_stage: list[int], k: int) -> None:
    task = staged(per_stage)
    drawn = sample_of(task, "rev", "Ben", k)
    assert len(drawn) == min(k, sum(per_stage))
    by_stage = [0] * len(per_stage)
    for item, triple in zip(gold_items(task), task.gold.triples, strict=True):
        by_stage[triple.stage - 1] += item.place in drawn
    if k >= len(per_stage):
        assert min(by_stage) >= 1
    else:
        assert max(by_stage) == 1


def test_rows_are_drawn_from_all_over_a_table() -> None:
    task = next(task for task in TASKS if task.id == "table-us-states")
    count = len(task.gold.rows)
    numbers = [int(place[10:-1]) for place in sample_of(task, "rev", "Ben", 5)]
    assert [n * 5 // count for n in numbers] == [0, 1, 2, 3, 4]


def test_sources_are_the_items_own_or_the_tasks() -> None:
    task = next(task for task in TASKS if task.id == "espresso")
    cited = next(item for item in gold_items(task) if item.sources)
    assert sources_of(task, cited.place) == cited.sources
    table = next(task for task in TASKS if task.id == "table-us-states")
    assert sources_of(table, "gold.rows[0]") == tuple(source.url for source in table.sources)


def test_what_is_left_to_mark() -> None:
    checks = [GoldCheck(place="b", mark="unsure")]
    assert unmarked(("a", "b", "c"), checks) == ("a", "c")

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings

import strategies
from budget import examples
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.formats.base import FORMATS
from cuecard.core.formats.round_trip import Refused, joined, left_out
from cuecard.core.tasks.models import Silenced, Source, Task
from cuecard.core.tasks.yaml_io import load_task

SAMPLES = [load_task(path) for path in sorted(Path("sample_tasks").glob("*.yaml"))]
NARROW = sorted(name for name, found in FORMATS.items() if found.through)
few = settings(max_examples=examples(6), deadline=None, suppress_health_check=list(HealthCheck))


def sample(id: str) -> Task:
    return next(task for task in SAMPLES if task.id == id)


@pytest.mark.parametrize("name", NARROW)
def test_a_file_that_came_back_unchanged_takes_nothing_away(name: str) -> None:
    found = FORMATS[name]
    through = found.through
    assert through

    @few
    @given(strategies.tasks(found.families[0]))
    def unchanged(task: Task) -> None:
        try:
            back = through(task)
        except (Refused, ValueError):
            assume(False)
            return
        assert joined(back, task, through, found.made_up) == task
        assert bool(left_out([task], through)) or back.gold == task.gold

    unchanged()


def test_what_a_file_changed_is_taken_and_the_rest_kept() -> None:
    found = FORMATS["vibesearch"]
    through = found.through
    assert through
    ours = sample("espresso").model_copy(
        update={
            "silenced": (Silenced(code="L001", reason="meant"),),
            "sources": (Source(url="https://example.org/a", note="n"),),
        }
    )
    assert isinstance(ours.gold, Graph)
    triples = list(ours.gold.triples)
    triples[0] = triples[0].model_copy(update={"note": "a sentence", "stage": 2})
    ours = ours.model_copy(
        update={"gold": ours.gold.model_copy(update={"triples": tuple(triples)})}
    )
    back = through(ours)
    assert isinstance(back.gold, Graph)
    added = Triple(head=back.gold.triples[0].head, relation="is", tail=back.gold.triples[0].tail)
    moved = (added, *back.gold.triples[3:], *back.gold.triples[:3])
    edited = back.model_copy(
        update={
            "query": "Another query",
            "gold": back.gold.model_copy(update={"triples": moved}),
        }
    )
    result = joined(edited, ours, through, found.made_up)
    assert (result.query, result.title) == ("Another query", ours.title)
    assert (result.silenced, result.sources) == (ours.silenced, ours.sources)
    assert result.persona == ours.persona
    assert isinstance(result.gold, Graph)
    assert result.gold.triples == (added, *triples[3:], *triples[:3])
    assert result.gold.nodes == ours.gold.nodes


def test_an_export_counts_what_it_leaves_out() -> None:
    found = FORMATS["vibesearch"]
    espresso = sample("espresso")
    assert isinstance(espresso.gold, Graph)
    counts = left_out([espresso], found.through)
    sourced = sum(bool(triple.sources) for triple in espresso.gold.triples)
    assert counts["sources of triples"] == sourced
    assert counts["titles"] == 1
    assert counts["stages of triples"] == sum(t.stage is not None for t in espresso.gold.triples)
    assert "personas" not in counts
    assert left_out(SAMPLES, FORMATS["cuecard"].through) == {}

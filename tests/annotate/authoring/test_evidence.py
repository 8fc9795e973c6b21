from __future__ import annotations

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.facts_ops import add_to_sources, evidence_of
from cuecard.core.tasks.models import Task


def test_listed_addresses_come_first_and_those_only_cited_after(samples: dict[str, Task]) -> None:
    task = samples["espresso"]
    found = evidence_of(task.model_dump(mode="json"))
    listed = [item for item in found if item.index is not None]
    assert [item.url for item in listed] == [source.url for source in task.sources]
    assert found[: len(listed)] == listed
    only = found[len(listed) :]
    cited = {url for triple in task.gold.triples for url in triple.sources}
    assert {item.url for item in only} == cited - {item.url for item in listed}
    first = next(item for item in only if item.url.endswith("Angelo_Moriondo"))
    assert first.cited["triples"][0] == 0
    assert first.count == sum(first.url in triple.sources for triple in task.gold.triples)
    assert all(item.sound for item in found)


def test_steps_and_facts_cite_too_and_what_is_no_address_is_told() -> None:
    data = {
        "sources": [{"url": "htp://x"}, {"url": ""}, {"url": "http://a.org"}],
        "gold": {
            "steps": [{"sources": ["http://a.org", "http://a.org"]}, {"sources": None}, None],
            "facts": [{"sources": [" http://b.org "]}],
        },
    }
    found = {item.url: item for item in evidence_of(data)}
    assert [item.sound for item in found.values()] == [False, False, True, True]
    assert found["http://a.org"].cited == {"steps": (0,)}
    assert found["http://b.org"].cited == {"facts": (0,)}
    assert found["http://b.org"].index is None
    assert evidence_of({"gold": None}) == []


def test_cited_addresses_are_taken_as_one_step(samples: dict[str, Task]) -> None:
    edit = TaskEdit.of(samples["espresso"], 1)
    before = len(edit.items(("sources",)))
    urls = [item.url for item in evidence_of(edit.data) if item.index is None]
    add_to_sources(edit, *urls, urls[0])
    assert len(edit.items(("sources",))) == before + len(urls)
    assert all(item.index is not None for item in evidence_of(edit.data))
    assert edit.problems() == []
    add_to_sources(edit, *urls)
    edit.undo()
    assert not edit.changed
    assert not edit.can_undo

from __future__ import annotations

from pathlib import Path

from cuecard.annotate.samples import load_samples
from cuecard.core.tasks import SHIPPED


def test_demo(program, tmp_path: Path):
    shown = program("demo")
    assert shown.code == 0
    for task in load_samples():
        assert task.id in shown.out
    assert shown.out.count("(offline baseline)") == len(SHIPPED)
    assert "not results of a model" in " ".join(shown.out.split())
    assert "mean of 2 tasks" in shown.out
    assert all(len(line) <= 80 for line in shown.out.splitlines())
    assert not list(tmp_path.glob("*.db"))


def test_demo_as_json_keeps_its_workspace(cuecard, tmp_path: Path):
    kept = cuecard("demo", "--db", "demo.db", "--json")
    assert kept.code == 0
    assert kept.data["db"] == "demo.db"
    assert kept.data["problems"] == []
    assert len(kept.data["results"]) == len(load_samples())
    assert all(result["baseline"] and result["judged"] for result in kept.data["results"])
    assert [group["trials"] for group in kept.data["groups"]] == [2] * len(SHIPPED)
    assert (
        cuecard("--db", "demo.db", "score", "1", "--json").data["results"] == kept.data["results"]
    )


def test_demo_where_it_cannot_be_kept(cuecard):
    assert cuecard("demo", "--db", "no/folder/demo.db").code == 1
    assert cuecard("--db", "postgresql://u@h/x", "demo").code == 2

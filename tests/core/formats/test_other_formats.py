from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import strategies
from budget import examples
from cuecard.core.errors import CuecardError
from cuecard.core.families.checkpoints.gold import AmbiguityType, CheckpointChain
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.formats import cuecard_files as cuecard_yaml
from cuecard.core.formats import discobench, paraworld
from cuecard.core.formats.base import FORMATS, detect
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import dump_task, load_task, parse_task

few = settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))


def world(**changes: Any) -> dict[str, Any]:
    return {
        "index": 3,
        "prompt": [{"role": "user", "content": "Who won the 2031 cup?"}],
        "answer": "Ada",
        "extra_info": {
            "world_truth_info": {
                "generated_question": "Who won?",
                "atomic_facts": {"2031 winner": "Ada", "2031 score": "3-1"},
                "final_answer": "Ada won the cup with 3-1.",
            }
        },
    } | changes


def truth(**changes: Any) -> dict[str, Any]:
    inner = world()["extra_info"]["world_truth_info"] | changes
    return {"extra_info": {"world_truth_info": {k: v for k, v in inner.items() if v is not None}}}


def chain(**changes: Any) -> dict[str, Any]:
    return {
        "id": "d1",
        "domain": "sport",
        "difficulty": "easy",
        "language": "en",
        "original_question": "Who coached the 2010 side?",
        "rewritten_question": "Who coached that side?",
        "final_answer": "Ada",
        "forbidden_info": ["2010"],
        "checkpoints": [
            {
                "question": "Which side?",
                "goal": "Reds",
                "aliases": ["The Reds"],
                "type": "ambi",
                "ambiguity_type": "entity",
                "ambiguity_logic": "two sides",
                "candidates": ["Reds", "Blues"],
                "clue_if_asked": "They wear red.",
            },
            {"question": "Coach?", "goal": "Ada", "aliases": [], "type": "unambi"},
        ],
    } | changes


def lines(path: Path, *objects: Any) -> Path:
    texts = (o if isinstance(o, str) else json.dumps(o, ensure_ascii=False) for o in objects)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"index": "007"},
        {"index": "nine"},
        {"prompt": [{"role": "system", "content": "s"}, {"role": "user", "content": "q", "n": 1}]},
        {"prompt": [{"role": "user", "content": [{"type": "text", "text": "in parts"}]}]},
        {"answer": 12},
        {"extra_info": json.dumps(world()["extra_info"]), "source": "x"},
        truth(atomic_facts={"a": 1, "b": "x"}, tier="easy"),
        truth(generated_question=None, final_answer=None),
        {"ability": None},
    ],
)
def test_paraworld_comes_back(tmp_path: Path, changes: dict[str, Any]) -> None:
    obj = world(**changes)
    (task,), problems = paraworld.FORMAT.read_tasks(lines(tmp_path / "in.jsonl", obj))
    assert problems == []
    for kept in (task, parse_task(dump_task(task))):
        (path,) = paraworld.write_tasks([kept], tmp_path / "out")
        assert json.dumps(json.loads(path.read_text(encoding="utf-8"))) == json.dumps(obj)


def test_paraworld_becomes_ours(tmp_path: Path) -> None:
    facts = {str(i): "v" for i in range(11)}
    objects = [
        world(),
        world(index=4, **truth(atomic_facts=facts)),
        world(index=5, prompt=[{"role": "user", "content": "谁赢了？"}]),
    ]
    (first, hard, chinese), problems = paraworld.FORMAT.read_tasks(
        lines(tmp_path / "w.jsonl", *objects)
    )
    assert problems == []
    assert first.id == "paraworld_3"
    assert isinstance(first.gold, FactWorld)
    assert [(f.key, f.value) for f in first.gold.facts] == [
        ("2031 winner", "Ada"),
        ("2031 score", "3-1"),
    ]
    assert first.gold.answer == "Ada"
    assert (first.query, first.difficulty) == ("Who won the 2031 cup?", "easy")
    assert (hard.difficulty, chinese.language) == ("hard", "zh")


def test_paraworld_edits(tmp_path: Path) -> None:
    prompt = [{"role": "system", "content": "s"}, {"role": "user", "content": "old"}]
    (task,), _problems = paraworld.FORMAT.read_tasks(
        lines(tmp_path / "in.jsonl", world(prompt=prompt))
    )
    assert isinstance(task.gold, FactWorld)
    (path,) = paraworld.write_tasks([task.model_copy(update={"query": "new"})], tmp_path)
    result = json.loads(path.read_text())
    assert result["prompt"] == [prompt[0], {"role": "user", "content": "new"}]
    gold = task.gold.model_copy(update={"answer": "Eve"})
    (path,) = paraworld.write_tasks([task.model_copy(update={"gold": gold})], tmp_path)
    result = json.loads(path.read_text())
    info = result["extra_info"]["world_truth_info"]
    assert (result["answer"], info["final_answer"]) == ("Eve", "Eve")
    assert info["generated_question"] == "Who won?"


def test_paraworld_problems(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "w.jsonl",
        world(extra_info={}),
        world(index=None),
        world(answer="", index=8),
        world(index=9, **truth(atomic_facts={"a": " "})),
        world(index=10, extra_info="{"),
        world(index=11, prompt="x"),
        world(index=12, prompt=[], **truth(generated_question=None)),
        world(),
    )
    tasks, problems = paraworld.FORMAT.read_tasks(path)
    assert [task.id for task in tasks] == ["paraworld_3"]
    assert [(p.line, p.place.partition(", ")[2]) for p in problems] == [
        (1, "extra_info.world_truth_info.atomic_facts"),
        (2, "index"),
        (3, "answer"),
        (4, "extra_info.world_truth_info.atomic_facts[0].value"),
        (5, "extra_info"),
        (6, "prompt"),
        (7, "prompt"),
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"difficulty": "mid"},
        {"difficulty": None, "domain": None, "language": None},
        {"forbidden_info": ["", " 2010 "], "final_answer": 5, "more": {"x": [1.0]}},
        {"checkpoints": [*chain()["checkpoints"], {"question": "q", "goal": 3, "type": "unambi", "candidates": [], "n": 1}]},
        {"checkpoints": [{"question": "q", "goal": "g"}]},
    ],
)  # fmt: skip
def test_discobench_comes_back(tmp_path: Path, changes: dict[str, Any]) -> None:
    obj = chain(**changes)
    (task,), problems = discobench.FORMAT.read_tasks(lines(tmp_path / "in.jsonl", obj))
    assert problems == []
    for kept in (task, parse_task(dump_task(task))):
        (path,) = discobench.write_tasks([kept], tmp_path / "out")
        assert json.dumps(json.loads(path.read_text(encoding="utf-8"))) == json.dumps(obj)


def test_discobench_becomes_ours(tmp_path: Path) -> None:
    (task,), _problems = discobench.FORMAT.read_tasks(lines(tmp_path / "in.jsonl", chain()))
    assert isinstance(task.gold, CheckpointChain)
    assert task.opening == "Who coached that side?"
    assert task.query == "Who coached the 2010 side?"
    assert task.gold.forbidden == ("2010",)
    first, last = task.gold.steps
    assert first.ambiguity
    assert first.ambiguity.type is AmbiguityType.ENTITY
    assert first.ambiguity.clue == "They wear red."
    assert first.names == ("Reds", "The Reds")
    assert last.ambiguity is None


def test_discobench_problems(tmp_path: Path) -> None:
    def step(**changes: Any) -> dict[str, Any]:
        return {"checkpoints": [chain()["checkpoints"][0] | changes]}

    path = lines(
        tmp_path / "d.jsonl",
        chain(id="a", **step(clue_if_asked="")),
        chain(id="b", **step(ambiguity_type="colour")),
        chain(id="c", **step(candidates=["one"])),
        chain(id="d", **step(type="maybe")),
        chain(id="e", **step(goal=None)),
        chain(id="f", checkpoints=[]),
        chain(id="g", difficulty="brutal"),
        chain(id="h", original_question=None),
        chain(id="ok"),
    )
    tasks, problems = discobench.FORMAT.read_tasks(path)
    assert [task.id for task in tasks] == ["ok"]
    assert [(p.line, p.place.partition(", ")[2]) for p in problems] == [
        (1, "checkpoints[0].clue_if_asked"),
        (2, "checkpoints[0].ambiguity_type"),
        (3, "checkpoints[0].candidates"),
        (4, "checkpoints[0].type"),
        (5, "checkpoints[0].goal"),
        (6, "checkpoints"),
        (7, "difficulty"),
        (8, "original_question"),
    ]


def test_discobench_keeps_everything_of_any_chain_it_can_hold(tmp_path: Path) -> None:
    @few
    @given(strategies.tasks("checkpoints"))
    def round_trip(task: Task) -> None:
        own = task.model_copy(update={"foreign": None})
        (path,) = discobench.write_tasks([own], tmp_path)
        (back,), problems = discobench.FORMAT.read_tasks(path)
        assert problems == []
        assert isinstance(back.gold, CheckpointChain)
        assert isinstance(own.gold, CheckpointChain)
        assert [s.target for s in back.gold.steps] == [s.target for s in own.gold.steps]
        assert [bool(s.ambiguity) for s in back.gold.steps] == [
            bool(s.ambiguity) for s in own.gold.steps
        ]
        (second,) = discobench.write_tasks([back], tmp_path / "again")
        assert second.read_bytes() == path.read_bytes()

    round_trip()


def test_paraworld_says_the_unit_of_a_value(tmp_path: Path) -> None:
    samples = [load_task(path) for path in sorted(Path("sample_tasks").glob("facts*.yaml"))]
    (path,) = paraworld.write_tasks(samples, tmp_path)
    objects = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [obj["index"] for obj in objects] == [task.id for task in samples]
    values = objects[0]["extra_info"]["world_truth_info"]["atomic_facts"]
    assert values["望舒科考站储水量"] == "900升"
    back, problems = paraworld.FORMAT.read_tasks(path)
    assert problems == []
    assert [task.query for task in back] == [task.query for task in samples]


def test_cuecard_yaml_loses_nothing(tmp_path: Path) -> None:
    samples = [load_task(path) for path in sorted(Path("sample_tasks").glob("*.yaml"))]
    paths = cuecard_yaml.write_tasks(samples, tmp_path)
    assert sorted(path.stem for path in paths) == sorted(task.id for task in samples)
    back, problems = cuecard_yaml.FORMAT.read_tasks(tmp_path)
    assert problems == []
    assert {task.id: task for task in back} == {task.id: task for task in samples}
    (tmp_path / "z.yaml").write_text(dump_task(samples[0]), encoding="utf-8")
    back, problems = cuecard_yaml.FORMAT.read_tasks(tmp_path)
    assert len(back) == len(samples)
    assert [(Path(p.file).name, p.place) for p in problems] == [("z.yaml", "id")]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert len(cuecard_yaml.FORMAT.read_tasks(empty)[1]) == 1


@pytest.mark.parametrize("name", ["vibesearch", "widesearch", "paraworld", "discobench"])
def test_every_format_refuses_other_families_and_writes_nothing(name: str, tmp_path: Path) -> None:
    format_ = FORMATS[name]
    for path in sorted(Path("sample_tasks").glob("*.yaml")):
        task = load_task(path)
        if task.family not in format_.families:
            with pytest.raises(CuecardError, match=task.id):
                format_.write_tasks([task], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_what_a_format_wrote_is_detected(name: str, tmp_path: Path) -> None:
    format_ = FORMATS[name]
    samples = [load_task(path) for path in sorted(Path("sample_tasks").glob("*.yaml"))]
    fitting = [task for task in samples if task.family in format_.families]
    paths = format_.write_tasks(fitting, tmp_path / "out")
    assert detect(tmp_path / "out") == name
    assert detect(paths[0]) == name
    tasks, problems = format_.read_tasks(tmp_path / "out")
    assert problems == []
    assert len(tasks) == len(fitting)
    tasks, problems = format_.read_tasks(paths[0])
    assert problems == []
    assert tasks


def test_tasks_of_ours_as_json_are_detected(tmp_path: Path) -> None:
    text = '{"id": "t", "title": "T", "family": "facts", "language": "en", "query": "Q?", "gold": {"facts": [{"key": "a", "value": "\\ud83d\\ude00"}], "answer": "1"}}'
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    (tmp_path / "package.json").write_text('{"name": "x"}', encoding="utf-8")
    assert detect(tmp_path / "package.json") is None
    for path in (tmp_path / "a.json", tmp_path):
        assert detect(path) == "cuecard"
        ((task,), problems) = FORMATS["cuecard"].read_tasks(path)
        assert (task.gold.facts[0].value, problems) == ("😀", [])
    (tmp_path / "a.json").unlink()
    assert detect(tmp_path) is None


def test_responses_are_detected_and_nothing_else_is(tmp_path: Path) -> None:
    vibe = lines(tmp_path / "v" / "q1.jsonl", {"qid": "q1", "response": "[]"})
    wide = lines(tmp_path / "w" / "r.jsonl", {"instance_id": "w", "response": ""})
    assert (detect(vibe), detect(vibe.parent)) == ("vibesearch", "vibesearch")
    assert (detect(wide), detect(wide.parent)) == ("widesearch", "widesearch")
    (tmp_path / "other.json").write_text('{"a": 1}')
    (tmp_path / "broken.jsonl").write_text("{")
    (tmp_path / "note.txt").write_text("hello")
    for path in ("other.json", "broken.jsonl", "note.txt", "missing", "missing.json"):
        assert detect(tmp_path / path) is None
    empty = tmp_path / "empty"
    empty.mkdir()
    assert detect(empty) is None


def test_only_two_formats_have_responses() -> None:
    assert [n for n, f in FORMATS.items() if f.read_responses] == ["vibesearch", "widesearch"]


def test_a_folder_that_cannot_be_written_is_an_error_with_its_path(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    task = load_task(next(iter(Path("sample_tasks").glob("*.yaml"))))
    with pytest.raises(CuecardError, match="file"):
        cuecard_yaml.write_tasks([task], blocked / "sub")

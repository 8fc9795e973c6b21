"""Outputs produced elsewhere, in the formats of two benchmarks and in ours; scores counted by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import openai_server
from apart import fresh
from cuecard.core.families.table.gold import Table
from cuecard.core.predictions import TablePrediction
from cuecard.store.workspace import Workspace
from judge_scripts import good, material_of
from judged_trials import GOLD, ended_run, graph_task, triples
from openai_server import OpenAIServer, Reply, Request, running

NODES = ("Gaggia", "1947", "Robecco", "Faema", "Carlo Valente", "E61")
TRIPLES = ((0, "founded in", 1), (0, "headquarters", 2), (3, "founder", 4), (3, "model", 5))
ROWS = (("Avalon", "1999", "10.0"), ("Brandel", "2004", "20.0"))
MORE = (("Corvin", "2010", "30.0"), ("Dunmore", "2016", "40.0"))


def _scores(data) -> dict:
    """Without what was spent by then."""
    return {key: value for key, value in data.items() if key not in ("usage", "totals")}


def vibesearch(folder: Path, lines) -> tuple[str, str]:
    """Two of four gold triples are handed in, and one that is nowhere in the gold; then nothing."""
    (folder / "tasks").mkdir()
    (folder / "out").mkdir()
    task = {
        "task_id": "v1",
        "final_query": "Tell the makers' history.",
        "initial_query": "Tell me about coffee machines.",
        "sub_queries": [],
        "user_queries": [],
        "user_persona": "",
        "nodes": [{"node_id": f"n{i}", "node_name": name} for i, name in enumerate(NODES)],
        "triples": [{"head_id": f"n{h}", "relation": r, "tail_id": f"n{t}"} for h, r, t in TRIPLES],
        "language": "en",
    }
    (folder / "tasks" / "task_v1.json").write_text(json.dumps(task), encoding="utf-8")
    found = [
        {"head": "Gaggia", "relation": "founded in", "tail": "1947"},
        {"head": "Faema", "relation": "model", "tail": "E61"},
        {"head": "Illy", "relation": "city", "tail": "Trieste"},
    ]
    base = {"qid": "v1", "question": "?", "messages": [], "termination": "answer"}
    lines(
        folder / "out" / "v1.jsonl",
        {**base, "sample_idx": 0, "response": f"Here it is:\n{json.dumps(found)}"},
        {**base, "sample_idx": 1, "response": "I found nothing, sorry."},
    )
    return "tasks", "out"


def widesearch(folder: Path, lines) -> tuple[str, str]:
    """Three of four rows, one with a wrong cell; then everything, a price 5 % off."""
    columns = {
        "Name": {"preprocess": ["norm_str"], "metric": ["exact_match"]},
        "Year": {"preprocess": ["extract_number"], "metric": ["exact_match"]},
        "Price": {
            "preprocess": ["extract_number"],
            "metric": ["number_near"],
            "criterion": 0.1,
        },
    }
    evaluation = {
        "required": list(columns),
        "unique_columns": ["Name"],
        "eval_pipeline": columns,
    }
    lines(
        folder / "widesearch.jsonl",
        {
            "instance_id": "ws_en_001",
            "query": "List the boats with year and price.",
            "language": "en",
            "evaluation": json.dumps(evaluation),
        },
    )
    gold = folder / "widesearch_gold"
    gold.mkdir()
    rows = [tuple(columns), *ROWS, *MORE]
    (gold / "ws_en_001.csv").write_text(
        "".join(",".join(row) + "\n" for row in rows), encoding="utf-8"
    )
    part = (*ROWS, ("Corvin", "1910", "30.0"))
    whole = (*ROWS, *MORE[:1], ("Dunmore", "2016", "42"))
    lines(
        folder / "responses.jsonl",
        {"instance_id": "ws_en_001", "trial_idx": 0, "messages": [], "response": markdown(part)},
        {"instance_id": "ws_en_001", "trial_idx": 1, "messages": [], "response": markdown(whole)},
    )
    return "widesearch.jsonl", "responses.jsonl"


def markdown(rows) -> str:
    lines = [("Name", "Year", "Price"), ("---",) * 3, *rows]
    return "```markdown\n" + "\n".join("| " + " | ".join(row) + " |" for row in lines) + "\n```"


VIBE = {
    "triplet_precision": 2 / 3,
    "triplet_recall": 2 / 4,
    "triplet_f1": 4 / 7,
    "node_precision": 4 / 6,
    "node_recall": 4 / 6,
    "node_f1": 4 / 6,
    "unjudged": 0,
}
WIDE = {
    "success": 0,
    "row_precision": 2 / 3,
    "row_recall": 2 / 4,
    "row_f1": 4 / 7,
    "item_precision": 8 / 9,
    "item_recall": 8 / 12,
    "item_f1": 16 / 21,
    "unjudged": 0,
}


GOLD_TABLE = {
    "columns": [{"name": name} for name in ("Name", "Year", "Price")],
    "unique_columns": ["Name"],
    "rows": ROWS,
}


def test_vibesearch(cuecard, tmp_path: Path, lines):
    tasks, responses = vibesearch(tmp_path, lines)
    judged = cuecard(
        "judge", "--tasks", tasks, "--responses", responses, "--judge", "lexical", "--json"
    )
    assert (judged.code, judged.err) == (0, "")
    data = judged.data
    assert data["judge"]["name"] == "lexical"
    assert data["judge"]["baseline"] is True
    first, second = data["results"]
    assert (first["task_id"], first["sample"], second["sample"]) == ("v1", 0, 1)
    assert {name: first[name] for name in VIBE} == pytest.approx(VIBE)
    assert first["n"]["triplet_recall"] == 4
    assert (second["triplet_f1"], second["node_f1"], second["usable"]) == (0, 0, False)
    assert data["aggregate"]["triplet_f1"] == {
        "avg": pytest.approx(2 / 7),
        "best": pytest.approx(4 / 7),
        "n": {"avg": 1, "best": 1},
        "trials": 2,
        "undefined": 0,
        "samples": 2,
    }
    assert data["families"] == {"graph": {"tasks": 1, "responses": 2}}


def test_widesearch(cuecard, tmp_path: Path, lines):
    tasks, responses = widesearch(tmp_path, lines)
    judged = cuecard(
        "judge", "--tasks", tasks, "--responses", responses, "--judge", "lexical", "--json"
    )
    assert (judged.code, judged.err) == (0, "")
    first, second = judged.data["results"]
    assert (first["task_id"], first["sample"], second["sample"]) == ("ws_en_001", 0, 1)
    assert {name: first[name] for name in WIDE} == pytest.approx(WIDE)
    assert {second[name] for name in WIDE} == {0, 1}
    assert (second["success"], second["unjudged"]) == (1, 0)
    means = judged.data["aggregate"]
    assert (means["success"]["avg"], means["success"]["pass"]) == (0.5, 1)
    assert means["row_f1"]["avg"] == pytest.approx((4 / 7 + 1) / 2)
    assert means["item_f1"]["max"] == 1


def test_columns_that_do_not_map_are_told_with_both_sides(cuecard, tmp_path: Path, lines):
    tasks, responses = widesearch(tmp_path, lines)
    renamed = markdown(ROWS).replace("Price", "Length of the quay")
    lines(tmp_path / responses, {"instance_id": "ws_en_001", "response": renamed})
    files = ("judge", "--tasks", tasks, "--responses", responses)
    (told,) = cuecard(*files, "--json").data["results"]
    reason = (
        "missing columns: Price"
        " (asked for: Name, Year, Price; handed in: Name, Year, Length of the quay)"
    )
    assert (told["usable"], told["reason"]) == (False, reason)
    assert told["item_f1"] == 0
    assert f"ws_en_001 #0 scores 0: {reason}" in cuecard(*files).err

    with fresh(tmp_path / "w.db") as workspace:
        table = TablePrediction(columns=("Name", "Year", "Length of the quay"), rows=tuple(ROWS))
        task = graph_task("boats").model_copy(update={"gold": Table.model_validate(GOLD_TABLE)})
        run = str(ended_run(workspace, task, [table]))
    (of_run,) = cuecard("--db", "w.db", "judge", "--run", run, "--json").data["results"]
    assert (of_run["usable"], of_run["reason"]) == (False, reason)


@pytest.mark.parametrize("key", ["task_id", "qid", "instance_id"])
def test_our_own_tasks_with_responses_of_any_key(cuecard, task_file, tmp_path: Path, lines, key):
    task_file("ferry", folder="tasks")
    lines(
        tmp_path / "out.jsonl",
        {key: "ferry", "response": "Final answer: 12 euros"},
        {key: "ferry", "response": "Final answer: 13 euros"},
    )
    judged = cuecard("judge", "--tasks", "tasks", "--responses", "out.jsonl", "--json")
    assert judged.code == 0
    found = [(r["task_id"], r["sample"], r["pass_at_1"]) for r in judged.data["results"]]
    assert found == [("ferry", 0, 1), ("ferry", 1, 0)]
    assert judged.data["aggregate"]["pass_at_1"]["pass"] == 1


def test_tables_for_people_name_the_baseline(cuecard, tmp_path: Path, lines):
    tasks, responses = widesearch(tmp_path, lines)
    shown = cuecard("judge", "--tasks", tasks, "--responses", responses)
    assert shown.code == 0
    assert "ws_en_001 #0" in shown.out
    assert "0.571" in shown.out
    assert "Max@2" in shown.out
    assert "Offline baselines, not results of models: judge lexical." in shown.out
    assert all(len(line) <= 80 for line in shown.out.splitlines())


def test_what_cannot_be_judged_is_told(cuecard, task_file, tmp_path: Path, lines):
    task_file("ferry", folder="tasks")
    task_file("tram", folder="tasks")
    (tmp_path / "tasks" / "bad.yaml").write_text("id: [", encoding="utf-8")
    out = lines(
        tmp_path / "out.jsonl",
        {"task_id": "ferry", "sample": 0, "response": "12 euros"},
        {"task_id": "ghost", "sample": 0, "response": "x"},
    )
    with out.open("a", encoding="utf-8") as file:
        file.write("{torn\n")
    judged = cuecard("judge", "--tasks", "tasks", "--responses", "out.jsonl", "--json")
    assert judged.code == 1
    assert [result["task_id"] for result in judged.data["results"]] == ["ferry"]
    assert judged.data["unknown"] == ["ghost"]
    assert judged.data["missing"] == ["tram"]
    assert [(p["file"], p["line"]) for p in judged.data["problems"]][1:] == [("out.jsonl", 3)]
    assert "ghost" in judged.err
    assert "tasks/bad.yaml" in judged.err

    lines(out, {"task_id": "ghost", "response": "x"})
    nothing = cuecard("judge", "--tasks", "tasks", "--responses", "out.jsonl")
    assert nothing.code == 1
    assert "cuecard: Nothing was judged: Read: 2 tasks, 1 response" in nothing.err


def test_wrong_names(cuecard, task_file, tmp_path: Path, lines):
    task_file("ferry")
    lines(tmp_path / "out.jsonl", {"task_id": "ferry", "response": "x"})
    files = ("judge", "--tasks", "ferry.yaml", "--responses")
    absent = cuecard(*files, "nowhere.jsonl")
    assert (absent.code, absent.out) == (1, "")
    assert "nowhere.jsonl" in absent.err
    unknown = cuecard(*files, "out.jsonl", "--judge", "solomon")
    assert unknown.code == 1
    assert (
        "solomon (known judges: lexical, lexical:strict, lexical:lenient, lexical:noisy)"
        in unknown.err
    )


CONFIG = """\
models:
  oracle:
    base_url: {url}
    model: scripted
    retries: 0
    price: {{prompt: 1000, completion: 0}}
judges:
  sage: {{kind: model, model: oracle}}
  owl: {{kind: model, model: oracle, batch: 1}}
"""


@pytest.fixture
def judging(tmp_path: Path) -> Iterator[OpenAIServer]:
    """A configuration with two model judges, and their server."""
    with running(good) as server:
        text = CONFIG.format(url=server.url)
        (tmp_path / "cuecard.yaml").write_text(text, encoding="utf-8")
        yield server


def test_model_judges_of_files(cuecard, judging: OpenAIServer, tmp_path: Path, lines):
    tasks, responses = vibesearch(tmp_path, lines)
    files = ("judge", "--tasks", tasks, "--responses", responses)
    one = cuecard(*files, "--judge", "sage", "--json")
    assert one.code == 0
    assert one.data["judge"]["name"] == "sage"
    assert one.data["results"][0]["triplet_recall"] == 0.5
    assert one.data["failed"] == []
    assert "1 model call: 11 prompt tokens" in one.err
    assert "0.0110 USD" in one.err
    both = cuecard(*files, "--judge", "sage", "--judge", "lexical", "--judge", "owl", "--json")
    assert [each["judge"]["name"] for each in both.data["judges"]] == ["sage", "lexical", "owl"]
    assert len(judging.requests) == 1 + 1 + 4
    shown = cuecard(*files, "--judge", "sage")
    assert "Judged by sage, model scripted." in shown.out


def test_what_a_model_does_not_settle_is_told(
    cuecard, judging: OpenAIServer, tmp_path: Path, lines
):
    tasks, responses = vibesearch(tmp_path, lines)
    files = ("judge", "--tasks", tasks, "--responses", responses, "--judge", "owl", "--json")

    def moody(request: Request) -> Reply:
        match material_of(request)["gold"][0][0]:
            case 0:
                return openai_server.text("I would rather not say.")
            case 1:
                return openai_server.error(500)
            case _:
                return good(request)

    judging.script = moody
    part = cuecard(*files)
    assert part.code == 0
    assert part.data["results"][0]["unjudged"] == 2
    assert "2 items are left unjudged by owl" in part.err

    judging.script = lambda _request: openai_server.error(400)
    nothing = cuecard(*files)
    assert nothing.code == 1
    assert [failure["sample"] for failure in nothing.data["failed"]] == [0]
    assert [result["sample"] for result in nothing.data["results"]] == [1]
    assert "v1 #0 is not judged by owl" in nothing.err


def test_a_run_is_judged_by_several_and_again_only_if_asked(
    cuecard, judging: OpenAIServer, tmp_path: Path
):
    with fresh(tmp_path / "w.db") as workspace:
        run = str(ended_run(workspace, graph_task(), [triples(*GOLD[:3]), triples(*GOLD)]))
    verb = ("--db", "w.db", "judge", "--run", run)
    both = cuecard(*verb, "--judge", "sage", "--judge", "owl", "--json")
    assert both.code == 0
    assert [each["judge"] for each in both.data["judges"]] == ["sage", "owl"]
    assert len(judging.requests) == 2 + 2 * len(GOLD)
    once = cuecard(*verb, "--judge", "sage", "--json")
    assert _scores(once.data) == _scores(both.data["judges"][0])
    assert len(judging.requests) == 2 + 2 * len(GOLD)
    assert "model call" not in once.err
    cuecard(*verb, "--judge", "sage", "--again")
    assert len(judging.requests) == 4 + 2 * len(GOLD)
    scored = cuecard("--db", "w.db", "score", run, "--judge", "owl", "--json")
    assert [r["triplet_recall"] for r in scored.data["results"]] == [0.5, 1]

    with Workspace.open(tmp_path / "w.db") as workspace:
        lease = workspace.leases.take(int(run), "Ben")
        second = cuecard(*verb, "--judge", "sage", "--again")
        workspace.leases.release(lease)
    assert (second.code, len(judging.requests)) == (1, 4 + 2 * len(GOLD))
    assert "This run is being played: Ben plays it on" in second.err

    judging.script = lambda _request: openai_server.error(401)
    halted = cuecard(*verb, "--judge", "sage", "--again")
    assert halted.code == 1
    assert "sage had to stop, 2 trials are left" in halted.err


def test_again_is_for_runs(cuecard, task_file, tmp_path: Path, lines):
    task_file("ferry")
    lines(tmp_path / "out.jsonl", {"task_id": "ferry", "response": "x"})
    wrong = cuecard("judge", "--tasks", "ferry.yaml", "--responses", "out.jsonl", "--again")
    assert wrong.code == 2

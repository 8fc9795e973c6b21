"""Runs handed on: what is written can be read back, by us and by others, and says all that there is."""

from __future__ import annotations

import asyncio
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuecard.core.errors import CuecardError, NotFound
from cuecard.core.evaluation.judging import judge_run
from cuecard.core.evaluation.judging_files import judge_responses
from cuecard.core.evaluation.run_exports import Options, RunExport, export_runs
from cuecard.core.evaluation.scores import score_run
from cuecard.core.families.common import parse_prediction
from cuecard.core.formats import vibesearch, widesearch
from cuecard.core.formats.trajectory import reads_as, response_of
from cuecard.core.predictions import (
    AnswerPrediction,
    Prediction,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.core.tasks.gold import Family
from cuecard.store.workspace import Workspace
from exported_trials import HALF, HOSTILE, LONG, PROMPT, exported_run
from judged_trials import triples


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with Workspace.open(tmp_path_factory.mktemp("exports") / "w.db") as opened:
        run = exported_run(opened)
        asyncio.run(judge_run(opened, run))
        yield opened


def export(workspace: Workspace, folder: Path, format: str, *, content: bool = False) -> RunExport:
    return export_runs(workspace, [1], folder, format, options=Options(content=content))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def agent_folders(folder: Path) -> dict[str, Path]:
    """By the agent's name: plain ones are named so, the other is the hostile one."""
    return {path.name if path.name == "beta" else HOSTILE: path for path in folder.iterdir()}


def kept_scores(workspace: Workspace, agent: str, task: str) -> dict[int, dict[str, float | None]]:
    return {
        scored.trial.sample: scored.scores
        for scored in score_run(workspace, 1).trials
        if (scored.trial.agent.name, scored.trial.task_id) == (agent, task)
    }


def test_vibesearch_trajectories_come_back_with_the_same_scores(
    workspace: Workspace, tmp_path: Path
):
    report = export(workspace, tmp_path / "out", "vibesearch")
    assert (report.trials, report.left_out) == (
        3,
        {"trials of other families": 4, "trials that have not ended": 1},
    )
    folders = agent_folders(tmp_path / "out")
    # Nothing is written beside the folder, and no name needs quoting.
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert all("\x1b" not in str(file) and ".." not in str(file) for file in report.files)
    task = workspace.tasks.revision("makers").task
    for agent, folder in folders.items():
        responses, problems = vibesearch.read_responses(folder)
        assert problems == []
        judged = asyncio.run(judge_responses([task], responses))
        kept = kept_scores(workspace, agent, "makers")
        assert [r.sample for r in responses] == list(kept)
        for result in judged.results:
            names = vibesearch_measures(result.scores)
            assert names == {name: kept[result.sample][name] for name in names}
    first, failed = lines(folders[HOSTILE] / "makers.jsonl")
    assert list(first) == [
        "qid", "sample_idx", "question", "messages", "response", "termination",
    ]  # fmt: skip
    assert (first["termination"], failed["termination"]) == ("user_done", "api_error")
    assert failed["response"] == ""
    evaluation = json.loads(
        (folders[HOSTILE] / "evaluation" / "lexical" / "makers_0.json").read_text()
    )
    assert (evaluation["num_pred_triples"], evaluation["triplet_recall"]) == (3, 0.5)
    details = evaluation["coverage_details"]
    assert (details["total_gt_triples"], details["covered_count"]) == (6, 3)
    assert details["per_gt_triple"][0] == {
        "gt_index": 0,
        "gt_triple": ["maker 0", "founded in", "1900"],
        "covered": True,
        "supporting_pred_indices": [0],
    }


def vibesearch_measures(scores: dict[str, float | None]) -> dict[str, float | None]:
    return {n: v for n, v in scores.items() if n.startswith(("triplet", "node"))}


def test_messages_are_the_conversation_as_the_model_had_it(workspace: Workspace, tmp_path: Path):
    export(workspace, tmp_path / "out", "vibesearch")
    folder = agent_folders(tmp_path / "out")["beta"]
    messages = lines(folder / "makers.jsonl")[0]["messages"]
    assert [m["role"] for m in messages] == [
        "system", "user", "assistant", "tool", "tool", "assistant", "user", "assistant",
    ]  # fmt: skip
    assert messages[0]["content"] == PROMPT
    calls = messages[2]["tool_calls"]
    # Two calls of one id are told apart, and each answer names its own.
    assert [call["id"] for call in calls] == ["c1", "call_1"]
    assert json.loads(calls[0]["function"]["arguments"]) == {"query": "makers"}
    assert [(m["tool_call_id"], m["name"]) for m in messages[3:5]] == [
        ("c1", "search"), ("call_1", "delegate"),
    ]  # fmt: skip
    assert messages[2]["reasoning_content"] == "I look."
    assert messages[3]["content"] == LONG
    assert [m["content"] for m in messages[5:]] == ["Since 1900.", "Thanks", "[handed in]"]


def test_widesearch_responses_come_back_with_the_same_scores(workspace: Workspace, tmp_path: Path):
    export(workspace, tmp_path / "out", "widesearch")
    task = workspace.tasks.revision("cities").task
    for agent, folder in agent_folders(tmp_path / "out").items():
        responses, problems = widesearch.read_responses(folder)
        assert (len(responses), problems) == (2, [])
        judged = asyncio.run(judge_responses([task], responses))
        kept = kept_scores(workspace, agent, "cities")
        for result in judged.results:
            names = {
                n: v for n, v in result.scores.items() if n.startswith(("row", "item", "succ"))
            }
            assert names == {name: kept[result.sample][name] for name in names}
        assert set(lines(folder / "responses.jsonl")[0]) == {
            "instance_id", "response", "messages", "trial_idx",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("family", "prediction"),
    [
        ("graph", triples(("a", "r", "b"))),
        ("graph", TriplesPrediction(triples=(), raw="I found nothing at all.")),
        ("table", TablePrediction(columns=("A|B", "C"), rows=(("x|y", "&amp;lt;"), ("1", "")))),
        ("facts", AnswerPrediction(answer="12 euros")),
        ("facts", AnswerPrediction(answer="first\n\nsecond", raw="something else")),
        ("checkpoints", UnusablePrediction(reason="nothing", raw="")),
        ("graph", UnusablePrediction(reason="old", raw='[{"head":"a","relation":"r","tail":"b"}]')),
    ],
)
def test_a_response_reads_as_what_was_handed_in(family: Family, prediction: Prediction):
    text = response_of(family, prediction)
    assert reads_as(family, text, prediction)
    assert parse_prediction(family, text).kind == prediction.kind


def test_our_lines_hold_everything_whole(workspace: Workspace, tmp_path: Path):
    report = export(workspace, tmp_path / "out", "jsonl")
    assert report.files == (tmp_path / "out" / "trials.jsonl",)
    found = lines(report.files[0])
    assert len(found) == 7
    first = next(f for f in found if f["task"] == "makers" and f["agent"]["name"] == HOSTILE)
    assert set(first) == {
        "schema", "run", "trial", "task", "title", "family", "language", "revision", "sample",
        "seed", "agent", "user", "world", "termination", "created_at", "ended_at", "takes",
        "messages", "events", "prediction", "response", "judgements", "usage", "prompts",
    }  # fmt: skip
    assert first["schema"] == "cuecard.trial/2"
    assert first["revision"]["hash"] == workspace.tasks.revision("makers").hash
    assert first["trial"] == workspace.runs.trials(1)[0].uid
    assert first["prediction"]["triples"] == HALF.model_dump(mode="json")["triples"]
    (judgement,) = first["judgements"]
    assert [v["key"] for v in judgement["verdicts"]] == [f"triple/{n}" for n in range(6)]
    assert judgement["measures"]["triplet_recall"] == {"value": 0.5, "n": 6}
    answers = [e["body"] for e in first["events"] if e["body"]["type"] == "tool_answered"]
    assert answers[0]["answer"]["text"] == LONG
    assert {(u["payer"], u["calls"]) for u in first["usage"]} == {
        ("agent", 3), ("conclusion", 1), ("user", 1), ("world", 1),
    }  # fmt: skip
    assert list(first["prompts"].values()) == [PROMPT]


def test_inspect_logs_hold_what_its_reader_requires(workspace: Workspace, tmp_path: Path):
    """Names as inspect_ai 0.3.285 reads them; scripts/check_inspect.py reads them with the package itself."""
    report = export(workspace, tmp_path / "out", "inspect")
    again = export(workspace, tmp_path / "again", "inspect")
    assert [f.read_bytes() for f in report.files] == [f.read_bytes() for f in again.files]
    assert len(report.files) == 4
    assert all(f.name.startswith("2026-11-01T09-00-00+00-00_") for f in report.files)
    log = next(f for f in report.files if "_graph-beta_" in f.name)
    with zipfile.ZipFile(log) as archive:
        assert archive.namelist() == [
            "samples/makers_epoch_1.json", "_journal/start.json", "_journal/summaries/1.json",
            "summaries.json", "header.json",
        ]  # fmt: skip
        header = json.loads(archive.read("header.json"))
        sample = json.loads(archive.read("samples/makers_epoch_1.json"))
        (summary,) = json.loads(archive.read("summaries.json"))
    assert (header["version"], header["status"]) == (2, "success")
    spec = header["eval"]
    assert {"task", "created", "dataset", "model", "config", "run_id", "eval_id"} <= spec.keys()
    assert (spec["solver"], spec["config"]) == ("beta", {"epochs": 1})
    recall = next(s for s in header["results"]["scores"] if s["name"] == "triplet_recall")
    assert recall["metrics"]["avg"]["value"] == 0.5
    assert (sample["id"], sample["epoch"], summary["completed"]) == ("makers", 1, True)
    score = sample["scores"]["triplet_f1"]
    assert (score["value"], summary["scores"]["triplet_f1"]["value"]) == (2 / 3, 2 / 3)
    assert score["explanation"].splitlines()[2].startswith("- ✓ maker 0 | founded in | 1900: ")
    kinds = [event["event"] for event in sample["events"]]
    assert kinds == [
        "sample_init", "model", "info", "model", "model", "tool", "model", "tool", "compaction",
        "model", "info", "model", "info", "info", *["score"] * 6,
    ]  # fmt: skip
    models = [event for event in sample["events"] if event["event"] == "model"]
    assert [m["role"] for m in models] == [
        "user", "agent", "world", "agent", "agent", "conclusion",
    ]  # fmt: skip
    pool = sample["events_data"]["messages"]
    (stretch,) = models[4]["input_refs"]
    assert [m["role"] for m in pool[slice(*stretch)]] == [
        "system", "user", "assistant", "tool", "tool",
    ]  # fmt: skip
    assert "input_refs" not in models[0]
    usage = sample["role_usage"]["agent"]
    assert (usage["input_tokens"], usage["input_tokens_cache_read"]) == (301 - 120, 120)
    assert sample["model_usage"]["m-7b"]["total_cost"] == 3.0
    failed = next(f for f in report.files if "_graph-al-31mpha_" in f.name)
    with zipfile.ZipFile(failed) as archive:
        sample = json.loads(archive.read("samples/makers_epoch_2.json"))
    assert sample["error"]["message"] == "api_error: HTTP 503"


def test_spans_are_one_tree_a_trial_and_keep_to_themselves_what_was_said(
    workspace: Workspace, tmp_path: Path
):
    report = export(workspace, tmp_path / "out", "otel")
    assert report.left_out["trials without their texts (--content writes them)"] == 7
    text = report.files[0].read_text(encoding="utf-8")
    assert "Since 1900" not in text
    assert 'makers"}' not in text.replace('"stringValue":"makers"}', "")
    again = export(workspace, tmp_path / "again", "otel")
    assert again.files[0].read_text(encoding="utf-8") == text
    trial = lines(report.files[0])[0]
    (resource,) = trial["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    spans = {span["spanId"]: span for span in scope["spans"]}
    names = {span["name"]: span for span in scope["spans"]}
    roots = [span for span in scope["spans"] if "parentSpanId" not in span]
    assert [root["name"] for root in roots] == ["invoke_workflow cuecard trial"]
    for span in scope["spans"]:
        if parent := spans.get(span.get("parentSpanId", "")):
            assert int(parent["startTimeUnixNano"]) <= int(span["startTimeUnixNano"])
            assert int(span["endTimeUnixNano"]) <= int(parent["endTimeUnixNano"])
    tool = attributes(names["execute_tool search"])
    assert tool["gen_ai.operation.name"] == "execute_tool"
    assert (tool["gen_ai.tool.name"], tool["gen_ai.tool.call.id"]) == ("search", "c1")
    assert names["execute_tool delegate"]["status"]["code"] == 2
    helper = [s for s in scope["spans"] if s["name"] == "chat m-7b"]
    above = [spans[s["parentSpanId"]]["name"] for s in helper]
    assert above.count("execute_tool search") == 1
    assert above.count("execute_tool delegate") == 1
    assert above.count("invoke_agent persona") == 1
    chat = attributes(helper[0])
    assert (chat["gen_ai.request.model"], chat["gen_ai.usage.output_tokens"]) == ("m-7b", "10")
    assert chat["gen_ai.conversation.id"] == workspace.runs.trials(1)[0].uid
    told = export(workspace, tmp_path / "told", "otel", content=True)
    assert "Since 1900" in told.files[0].read_text(encoding="utf-8")


def attributes(span: dict[str, Any]) -> dict[str, str]:
    return {a["key"]: next(iter(a["value"].values())) for a in span["attributes"]}


def test_an_export_is_whole_or_not_there_and_mixed_with_nothing(
    workspace: Workspace, tmp_path: Path
):
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine.txt").write_text("mine")
    with pytest.raises(CuecardError, match="something in this place"):
        export(workspace, full, "jsonl")
    with pytest.raises(CuecardError, match="something in this place"):
        export(workspace, full / "mine.txt", "jsonl")
    assert [p.name for p in full.iterdir()] == ["mine.txt"]
    with pytest.raises(NotFound):
        export_runs(workspace, [9], tmp_path / "out", "jsonl")

    def stop(done: int, _of: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_runs(workspace, [1], tmp_path / "out", "jsonl", on_written=stop)
    assert [p.name for p in tmp_path.iterdir()] == ["full"]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert export(workspace, empty, "jsonl").trials == 7
    twice = export_runs(workspace, [1, 1], tmp_path / "once", "widesearch")
    assert len(twice.files) == 2

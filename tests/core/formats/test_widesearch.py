from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import strategies
from budget import examples
from cuecard.core.families.table.gold import Metric, Preprocess, Table
from cuecard.core.formats import widesearch
from cuecard.core.formats.round_trip import Refused
from cuecard.core.formats.widesearch import gold_of, kept_of, parse_gold, written
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import dump_task, load_task, parse_task

CSV = 'Country,GDP (2020),Site\nFrance,2.6,https://a.fr\nSpain,"1,3",https://b.es\n'


def evaluation(**changes: Any) -> dict[str, Any]:
    return {
        "unique_columns": ["country"],
        "required": ["country", "gdp(2020)", "site"],
        "eval_pipeline": {
            "country": {"preprocess": ["norm_str"], "metric": ["exact_match"]},
            "gdp(2020)": {
                "preprocess": ["extract_number"],
                "metric": ["number_near"],
                "criterion": 0.05,
            },
            "site": {"preprocess": [], "metric": ["llm_judge"], "criterion": "same site"},
        },
    } | changes


def task_object(**changes: Any) -> dict[str, Any]:
    return {
        "instance_id": "ws_en_001",
        "query": "List the GDP.",
        "evaluation": evaluation(),
        "language": "en",
    } | changes


def write(folder: Path, *lines: Any, gold: str | bytes = CSV, name: str = "ws_en_001") -> Path:
    (folder / "widesearch_gold").mkdir(parents=True, exist_ok=True)
    data = gold.encode() if isinstance(gold, str) else gold
    (folder / "widesearch_gold" / f"{name}.csv").write_bytes(data)
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    (folder / "widesearch.jsonl").write_text(text, encoding="utf-8")
    return folder


def read_one(folder: Path) -> Task:
    tasks, problems = widesearch.FORMAT.read_tasks(folder)
    assert problems == []
    return tasks[0]


def table(task: Task) -> Table:
    assert isinstance(task.gold, Table)
    return task.gold


def out(task: Task, folder: Path) -> tuple[dict[str, Any], bytes]:
    lines, gold = widesearch.write_tasks([task], folder)
    return json.loads(lines.read_text(encoding="utf-8")), gold.read_bytes()


def test_a_task_becomes_ours(tmp_path: Path) -> None:
    task = read_one(write(tmp_path, task_object()))
    gold = table(task)
    assert task.id == "ws_en_001"
    assert gold.column_names == ("country", "gdp(2020)", "site")
    assert gold.unique_columns == ("country",)
    assert gold.rows[1] == ("Spain", "1,3", "https://b.es")
    assert gold.columns[1].preprocess == (Preprocess.EXTRACT_NUMBER,)
    assert gold.columns[1].metric == (Metric.NUMBER_NEAR,)
    assert gold.columns[1].criterion == "0.05"
    assert gold.columns[2].preprocess == ()
    assert gold.columns[2].criterion == "same site"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"evaluation": json.dumps(evaluation(), indent=1)},
        {"evaluation": evaluation(note="kept", required=["Country ", "GDP (2020)", "Site"])},
        {"evaluation": evaluation(unique_columns=["Country", "site"])},
        {"evaluation": evaluation(eval_pipeline={"COUNTRY": {"metric": "exact_match", "criterion": None}})},
        {"evaluation": evaluation(eval_pipeline={"gdp(2020)": {"metric": ["number_near"], "criterion": "5e-2", "x": 1}})},
        {"evaluation": evaluation(eval_pipeline={"gdp(2020)": {"metric": ["date_near"], "criterion": 31}})},
        {"language": None, "source": {"a": [1, 1.0, True]}},
        {"instance_id": "Ünicode id"},
        {"instance_id": 12},
    ],
)  # fmt: skip
def test_every_field_comes_back(tmp_path: Path, changes: dict[str, Any]) -> None:
    obj = task_object(**changes)
    task = read_one(write(tmp_path, obj, name=str(obj["instance_id"])))
    for kept in (task, parse_task(dump_task(task))):
        result, gold = out(kept, tmp_path / "out")
        assert json.dumps(result) == json.dumps(obj)
        assert gold == CSV.encode()
    assert read_one(tmp_path / "out") == task


@pytest.mark.parametrize(
    "gold",
    [
        "\ufeff" + CSV,
        CSV.replace("\n", "\r\n"),
        CSV.rstrip("\n"),
        "\ufeff" + CSV.rstrip("\n").replace("\n", "\r\n"),
        '"Country","GDP (2020)","Site"\n"France","2.6","x"\n',
        "Site,Country,GDP (2020),Extra\nu,France,1,e1\nv,Spain,2,e2\n",
        "Country,GDP (2020),Site\nFrance,1\n\nSpain,2,3,,\n",
        'Country,GDP (2020),Site\n"Fra\nnce",1," x"\n',
    ],
)
def test_gold_comes_back_byte_for_byte(tmp_path: Path, gold: str) -> None:
    task = read_one(write(tmp_path, task_object(), gold=gold))
    assert table(task).column_names == ("country", "gdp(2020)", "site")
    for kept in (task, parse_task(dump_task(task))):
        assert out(kept, tmp_path / "out")[1] == gold.encode()


def test_an_edit_keeps_columns_that_are_not_ours(tmp_path: Path) -> None:
    gold = "\ufeffSite,Country,GDP (2020),Extra\r\nu,France,1,e1\r\nv,Spain,2,e2\r\n"
    task = read_one(write(tmp_path, task_object(), gold=gold))
    rows = (("Italy", "9", "w"), ("Spain", "2.5", "v"))
    edited = task.model_copy(update={"gold": table(task).model_copy(update={"rows": rows})})
    assert out(edited, tmp_path / "out")[1].decode() == (
        "\ufeffSite,Country,GDP (2020),Extra\r\nw,Italy,9,\r\nv,Spain,2.5,e2\r\n"
    )


def test_an_edited_pipeline_stays_a_string_and_keeps_the_rest(tmp_path: Path) -> None:
    obj = task_object(evaluation=json.dumps(evaluation(note="kept")))
    task = read_one(write(tmp_path, obj))
    gold = table(task)
    columns = (
        gold.columns[0],
        gold.columns[1].model_copy(update={"criterion": "0.1"}),
        gold.columns[2],
    )
    edited = task.model_copy(update={"gold": gold.model_copy(update={"columns": columns})})
    result, _gold = out(edited, tmp_path / "out")
    assert isinstance(result["evaluation"], str)
    expected = evaluation(note="kept")
    expected["eval_pipeline"]["gdp(2020)"]["criterion"] = 0.1
    assert json.loads(result["evaluation"]) == expected


def test_one_bad_line_stops_no_other(tmp_path: Path) -> None:
    def line(id_: str, **changes: Any) -> dict[str, Any]:
        (tmp_path / "widesearch_gold").mkdir(exist_ok=True)
        (tmp_path / "widesearch_gold" / f"{id_}.csv").write_text(CSV)
        return task_object(instance_id=id_, **changes)

    bad_metric = evaluation()
    bad_metric["eval_pipeline"]["site"]["metric"] = ["magic"]
    lines: list[Any] = [
        task_object(),
        task_object(instance_id="gone"),
        task_object(instance_id="../../etc/passwd"),
        line("a", evaluation=evaluation(required=["country", "area"])),
        line("b", evaluation=evaluation(unique_columns=["name"])),
        line("c", evaluation=bad_metric),
        line("d", evaluation="{"),
        line("e", evaluation=None),
        line("f", query=""),
        '{"instance_id"',
        task_object(instance_id="x" * 300),
    ]
    write(tmp_path, *lines)
    tasks, problems = widesearch.FORMAT.read_tasks(tmp_path)
    assert [task.id for task in tasks] == ["ws_en_001"]
    assert [(p.line, p.place.partition(", ")[2]) for p in problems] == [
        (2, "widesearch_gold/gone.csv"),
        (3, "instance_id"),
        (4, "evaluation.required[1]"),
        (5, "evaluation.unique_columns[0]"),
        (6, "evaluation.eval_pipeline[2].metric[0]"),
        (7, "evaluation"),
        (8, "evaluation.required"),
        (9, "query"),
        (10, ""),
        (11, "instance_id"),
    ]


@pytest.mark.parametrize(
    ("gold", "reason"),
    [
        (b"\xff\xfe", "is not UTF-8"),
        ("", "holds no rows"),
        ("Country,GDP (2020),Site\n", "holds no rows"),
        ("Country,GDP (2020),Site\nFrance,1,2,3\n", "has 4 cells, not 3"),
        ("Country,GDP (2020),Site,Co untry\nFrance,1,2,3\n", "listed twice"),
        ("Country,Site\nFrance,1\n", "the gold table has no column 'gdp(2020)'"),
    ],
)
def test_a_bad_gold_file_says_why(tmp_path: Path, gold: str | bytes, reason: str) -> None:
    tasks, problems = widesearch.FORMAT.read_tasks(write(tmp_path, task_object(), gold=gold))
    assert tasks == []
    assert reason in problems[0].reason


@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(strategies.tables())
def test_any_table_survives_csv(gold: Table) -> None:
    text = written(gold, None)
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == list(gold.column_names)
    assert rows[1:] == [list(row) for row in gold.rows]
    if all(any(cell.strip() for cell in row) for row in gold.rows):
        try:
            back = parse_gold(text, "x")
        except Refused as error:  # two names that are one when blanks are removed
            assert "listed twice" in error.problems[0][1]  # noqa: PT017
        else:
            assert back.rows == gold.rows
            assert written(gold, kept_of(back, gold)) == text


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text('ab,"\n\r\ufeff ;|', max_size=40))
def test_any_csv_text_comes_back(text: str) -> None:
    try:
        gold = parse_gold("A,B\n" + text, "x")
    except Refused:
        return
    names = [name for name in gold.header if name.strip()]
    found = Table.model_validate(
        {
            "columns": [{"name": name} for name in names],
            "unique_columns": names[:1],
            "rows": [[row[gold.header.index(name)] for name in names] for row in gold.rows],
        }
    )
    assert written(found, kept_of(gold, found)) == gold.text


def test_our_own_samples_go_out_and_come_back(tmp_path: Path) -> None:
    samples = [load_task(path) for path in sorted(Path("sample_tasks").glob("table*.yaml"))]
    widesearch.write_tasks(samples, tmp_path)
    back, problems = widesearch.FORMAT.read_tasks(tmp_path)
    assert problems == []
    assert [task.gold for task in back] == [task.gold for task in samples]
    assert gold_of(table(back[0])).rows == table(samples[0]).rows


def test_responses(tmp_path: Path) -> None:
    lines = [
        {"instance_id": "ws_en_001", "response": "| a |", "messages": [], "trial_idx": 2},
        {"instance_id": "ws_en_001", "response": None, "messages": None, "trial_idx": None},
        {"instance_id": "ws_en_002", "response": "x"},
        {"instance_id": "ws_en_002", "response": "y"},
        {"instance_id": "ws_en_003", "response": 5},
    ]
    path = tmp_path / "responses.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    responses, problems = widesearch.read_responses(path)
    assert [(r.task_id, r.sample, r.text) for r in responses] == [
        ("ws_en_001", 2, "| a |"),
        ("ws_en_001", 1, ""),
        ("ws_en_002", 0, "x"),
        ("ws_en_002", 1, "y"),
    ]
    assert [(p.line, p.place) for p in problems] == [(5, "line 5, response")]

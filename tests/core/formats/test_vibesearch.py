from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import strategies
from budget import examples
from cuecard.core.errors import CuecardError
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.formats import vibesearch
from cuecard.core.formats.persona_markdown import infer_kind, read_persona, write_persona
from cuecard.core.formats.round_trip import exported, imported
from cuecard.core.tasks.models import CueKind, Persona, Stage, Task
from cuecard.core.tasks.yaml_io import dump_task, load_task, parse_task

EN = """\
# Core Identity

I run a small café and know little about machines.

# Staged Information Disclosure

### Stage 1: Start
- **Trigger condition**: Conversation begins
- **Line**: > I want a better machine.
- **When not met**: Not applicable (triggered at conversation start)

### Stage 2: Budget
- **Trigger condition**: When the assistant proactively asks about the budget
- **Line**: > At most 3000.
- **When not met**: Keep talking. E.g., "And the others?"

# Behaviour Instructions

One stage at a time."""

EN_ODD = """\
# Core Identity
I run a café.\x20\x20
Second line.

# Staged Information Disclosure
Some words before the first stage.

### Stage 1 - Start
- **Trigger:** Conversation starts
- **Line**:
  > Two lines,
  > both said.
- **If not met**: n/a

### **Stage 2: Done**
* **Trigger condition**：After the assistant finishes the list
* **User's line**: "Thanks."
* **When not met**：
  - push
  - push again

# Behavior Instructions
Be brief.
"""

ZH = """\
# 核心身份

我开一家小咖啡馆。

# 分阶段信息披露

### 阶段1：开始
- **触发条件**：对话开始
- **台词**：> 我想换台机器。
- **未满足时**：不适用

### 阶段2：预算
- **触发条件**：助手主动询问预算时
- **台词**：> 最多三千。
- **未满足时**：继续聊。

### 阶段3：价格
- **触发条件**：助手列出了价格后
- **台词**：> 再便宜点的呢？
- **未满足时**：催一催。

# 行为指令

一次只说一个阶段。"""


def task_object(**changes: Any) -> dict[str, Any]:
    return {
        "task_id": "task_007",
        "final_query": "Which espresso machines under 3000 have a PID?",
        "initial_query": "Any good espresso machines?",
        "sub_queries": ["Which have a PID?", "Which cost under 3000?"],
        "user_queries": ["u1", "u2"],
        "user_persona": EN,
        "nodes": [
            {"node_id": "n1", "node_name": "Machine A"},
            {"node_id": "n2", "node_name": "PID"},
        ],
        "triples": [{"head_id": "n1", "relation": "has", "tail_id": "n2"}],
        "language": "en",
    } | changes


def write(folder: Path, *objects: dict[str, Any]) -> Path:
    for index, obj in enumerate(objects):
        text = json.dumps(obj, ensure_ascii=False, indent=2)
        (folder / f"task_{index}.json").write_text(text, encoding="utf-8")
    return folder


def read_one(folder: Path, obj: dict[str, Any]) -> Task:
    tasks, problems = vibesearch.FORMAT.read_tasks(write(folder, obj))
    assert problems == []
    return tasks[0]


def again(task: Task, folder: Path) -> dict[str, Any]:
    (path,) = vibesearch.write_tasks([task], folder)
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_task_becomes_ours(tmp_path: Path) -> None:
    task = read_one(tmp_path, task_object(user_persona=ZH, language="zh"))
    assert task.id == "task_007"
    assert task.language == "zh"
    assert task.query.startswith("Which espresso")
    assert task.opening == "Any good espresso machines?"
    assert task.sub_queries == ("Which have a PID?", "Which cost under 3000?")
    assert task.persona
    assert task.persona.identity == "我开一家小咖啡馆。"
    assert task.persona.behaviour == "一次只说一个阶段。"
    assert [stage.cue.kind for stage in task.stages] == [
        CueKind.START,
        CueKind.ASKS,
        CueKind.MENTIONS,
    ]
    assert task.stages[1].title == "预算"
    assert task.stages[1].line == "最多三千。"
    assert task.stages[1].not_met == "继续聊。"
    assert task.stages[1].cue.terms == ()
    assert isinstance(task.gold, Graph)
    assert task.gold.named(task.gold.triples[0]) == ("Machine A", "has", "PID")
    assert task.foreign
    assert task.foreign.fields["user_queries"] == ["u1", "u2"]


def test_the_published_form_needs_no_raw_text(tmp_path: Path) -> None:
    for text, language in ((EN, "en"), (ZH, "zh")):
        task = read_one(tmp_path, task_object(user_persona=text, language=language))
        assert task.foreign
        assert set(task.foreign.fields) <= {"user_queries", "cuecard:order"}


def test_odd_spellings_are_read(tmp_path: Path) -> None:
    task = read_one(tmp_path, task_object(user_persona=EN_ODD))
    assert task.persona
    assert task.persona.identity == "I run a café.  \nSecond line."
    first, second = task.stages
    assert (first.title, first.cue.kind, first.cue.text) == (
        "Start",
        CueKind.START,
        "Conversation starts",
    )
    assert first.line == "Two lines,\nboth said."
    assert (second.title, second.cue.kind) == ("Done", CueKind.COMPLETES)
    assert second.line == '"Thanks."'
    assert second.not_met == "- push\n- push again"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"user_persona": EN_ODD},
        {"user_persona": ZH, "language": "zh"},
        {"user_persona": EN.replace("\n", "\r\n")},
        {"user_persona": f"```markdown\n{EN}\n```\n"},
        {"user_persona": EN + "\n\n"},
        {"user_persona": ""},
        {"user_persona": None, "initial_query": "vague"},
        {"task_id": 7},
        {"task_id": "Über Café/1"},
        {"language": "zh-CN"},
        {"language": None},
        {"sub_queries": ["", " padded "], "user_queries": None},
        {"final_query": " kept \n exactly\t"},
        {"nodes": [{"node_id": 1, "node_name": "A", "x": [1]}, {"node_id": "n2", "node_name": ""}],
         "triples": [{"head_id": 1, "relation": " r ", "tail_id": "n2", "urls": ["u"], "n": 1.0}]},
        {"extra": {"deep": [None, True, 1, 1.0, "1e3", "true", {"k": "\u2028"}]}, "domain": "coffee"},
        {"$schema": "x", "": "empty key"},
    ],
)  # fmt: skip
def test_every_field_comes_back(tmp_path: Path, changes: dict[str, Any]) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    obj = task_object(**changes)
    task = read_one(source, obj)
    for kept in (task, parse_task(dump_task(task))):
        result = again(kept, target)
        assert result == obj
        assert json.dumps(result) == json.dumps(obj), "types and the order of keys too"


def test_missing_fields_stay_missing(tmp_path: Path) -> None:
    obj = task_object()
    for key in ("initial_query", "sub_queries", "user_queries", "user_persona", "language"):
        del obj[key]
    shuffled = dict(reversed(list(obj.items())))
    task = read_one(tmp_path, shuffled)
    assert json.dumps(again(task, tmp_path / "out")) == json.dumps(shuffled)


def test_an_edit_changes_only_what_was_edited(tmp_path: Path) -> None:
    triples = [
        {"head_id": "n1", "relation": "has", "tail_id": "n2", "url": "a"},
        {"head_id": "n2", "relation": "in", "tail_id": "n1", "url": "b"},
    ]
    obj = task_object(user_persona=EN_ODD, triples=triples, note="keep")
    task = read_one(tmp_path, obj)
    assert task.persona
    assert isinstance(task.gold, Graph)
    stage = task.stages[0].model_copy(update={"line": "New line."})
    persona = task.persona.model_copy(update={"stages": (stage, *task.stages[1:])})
    result = again(task.model_copy(update={"persona": persona}), tmp_path / "a")
    assert result["user_persona"] == EN_ODD.replace(
        "  > Two lines,\n  > both said.", "  > New line."
    )
    assert {**result, "user_persona": ""} == {**obj, "user_persona": ""}

    edited = Triple(head="n2", relation="lies in", tail="n1")
    gold = task.gold.model_copy(update={"triples": (task.gold.triples[0], edited)})
    result = again(task.model_copy(update={"gold": gold}), tmp_path / "b")
    assert result["triples"] == [triples[0], {**triples[1], "relation": "lies in"}]
    assert result["user_persona"] == EN_ODD

    gold = task.gold.model_copy(update={"triples": task.gold.triples[1:]})
    result = again(task.model_copy(update={"gold": gold}), tmp_path / "c")
    assert result["triples"] == triples[1:]


def test_one_bad_file_or_line_stops_no_other(tmp_path: Path) -> None:
    write(
        tmp_path,
        task_object(),
        task_object(task_id="b", triples=[{"head_id": "n9", "relation": "r", "tail_id": "n2"}]),
        task_object(task_id="c", triples=[{"head_id": "n1", "relation": "", "tail_id": "n2"}]),
        task_object(task_id="d", final_query=" "),
        task_object(task_id="e", user_persona="just words"),
        task_object(task_id="f", user_persona=EN.replace("> At most 3000.", "")),
        task_object(task_id="g", nodes="x"),
        task_object(),
    )
    (tmp_path / "task_8.json").write_text("{", encoding="utf-8")
    (tmp_path / "task_9.json").write_bytes(b"\xff\xfe")
    (tmp_path / "notes.json").write_text("{", encoding="utf-8")
    tasks, problems = vibesearch.FORMAT.read_tasks(tmp_path)
    assert [task.id for task in tasks] == ["task_007"]
    assert [(Path(p.file).name, p.place, p.reason) for p in problems] == [
        ("task_1.json", "triples[0].head_id", "'n9' is no node of this task"),
        ("task_2.json", "triples[0].relation", "must not be empty"),
        ("task_3.json", "final_query", "must not be empty"),
        ("task_4.json", "user_persona", "has no stage; stages begin with '### Stage 1: title'"),
        ("task_5.json", "user_persona.stages[1].line", "must not be empty"),
        ("task_6.json", "nodes", "must be a list"),
        ("task_7.json", "task_id", f"the task task_007 stands in {tmp_path / 'task_0.json'} too"),
        ("task_8.json", "", "is not JSON: Expecting property name enclosed in double quotes (line 1, column 2)"),
        ("task_9.json", "", "is not UTF-8 text; save it as UTF-8"),
    ]  # fmt: skip


def test_json_lines_name_the_line(tmp_path: Path) -> None:
    lines = [
        json.dumps(task_object()),
        "",
        "{",
        json.dumps(task_object(task_id=None)),
        "[]",
        '{"a": NaN}',
    ]
    path = tmp_path / "tasks.jsonl"
    path.write_text("\ufeff" + "\n".join(lines), encoding="utf-8")
    tasks, problems = vibesearch.FORMAT.read_tasks(path)
    assert [task.id for task in tasks] == ["task_007"]
    assert [(p.line, p.place) for p in problems] == [
        (3, "line 3"),
        (4, "line 4, task_id"),
        (5, "line 5"),
        (6, "line 6"),
    ]


def test_a_missing_path_and_an_empty_folder_are_problems(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json", tmp_path / "none"):
        tasks, problems = vibesearch.FORMAT.read_tasks(path)
        assert tasks == []
        assert len(problems) == 1


def test_only_graph_tasks_fit(tmp_path: Path) -> None:
    table = load_task(Path("sample_tasks/table-us-states.yaml"))
    with pytest.raises(CuecardError, match="table-us-states"):
        vibesearch.write_tasks([table], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_two_ids_never_share_a_file(tmp_path: Path) -> None:
    tasks = [read_one(tmp_path, task_object(task_id=id_)) for id_ in ("a", "task_a")]
    paths = vibesearch.write_tasks(tasks, tmp_path / "out")
    assert len({*paths}) == 2
    assert [t.id for t in vibesearch.FORMAT.read_tasks(tmp_path / "out")[0]] == ["a", "task_a"]


def test_our_own_samples_go_out_and_come_back(tmp_path: Path) -> None:
    for path in sorted(Path("sample_tasks").glob("*.yaml")):
        task = load_task(path)
        if not isinstance(task.gold, Graph):
            continue
        vibesearch.write_tasks([task], tmp_path / task.id)
        (back,), problems = vibesearch.FORMAT.read_tasks(tmp_path / task.id)
        assert problems == []
        assert isinstance(back.gold, Graph)
        assert (back.query, back.opening, back.language) == (
            task.query,
            task.opening,
            task.language,
        )
        assert [back.gold.named(t) for t in back.gold.triples] == [
            task.gold.named(t) for t in task.gold.triples
        ]
        assert [(s.title, s.cue.text, s.line, s.not_met) for s in back.stages] == [
            (s.title, s.cue.text, s.line.strip(), s.not_met.strip()) for s in task.stages
        ]


@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(strategies.tasks("graph"), st.dictionaries(strategies.any_text(2), strategies.json_values()))
def test_what_went_out_once_never_changes_again(task: Task, extra: dict[str, Any]) -> None:
    codec = vibesearch.CODEC
    rendered = codec.render(task.model_copy(update={"foreign": None}))
    obj = {**extra, **rendered}
    obj = {k: v for k, v in obj.items() if not k.startswith("cuecard:")}
    back = imported(obj, codec)
    assert json.dumps(exported(back, codec)) == json.dumps(obj)


def _tidy(persona: Persona) -> Persona:
    """Without what Markdown cannot hold: blanks around texts, breaks inside titles."""

    def lines(text: str) -> str:
        return text.replace("\r\n", "\n").replace("\r", "\n").strip()

    stages = [
        Stage(
            title=" ".join(s.title.split()).rstrip("*") or "x",
            cue=s.cue.model_copy(update={"text": lines(s.cue.text), "terms": ()}),
            line=lines(s.line),
            not_met=lines(s.not_met),
        )
        for s in persona.stages
    ]
    return persona.model_copy(
        update={
            "name": "",
            "identity": lines(persona.identity),
            "behaviour": lines(persona.behaviour),
            "stages": tuple(stages),
        }
    )


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(strategies.personas().map(_tidy), st.sampled_from(["en", "zh"]))
def test_any_persona_survives_its_markdown(persona: Persona, language: Any) -> None:
    text = write_persona(persona, language)
    back = Persona.model_validate(read_persona(text, persona.initial_query))
    kinds = [s.cue.model_copy(update={"kind": infer_kind(s.cue.text)}) for s in persona.stages]
    expected = [
        s.model_copy(update={"cue": cue}) for s, cue in zip(persona.stages, kinds, strict=True)
    ]
    assert back == persona.model_copy(update={"stages": tuple(expected)})
    assert write_persona(back, language) == text


@settings(max_examples=examples(60), deadline=None)
@given(strategies.any_text(12))
def test_reading_any_text_as_a_persona_never_fails(text: str) -> None:
    read_persona(text, "q")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Conversation begins", CueKind.START),
        ("At the start of the conversation", CueKind.START),
        ("对话开始即触发", CueKind.START),
        ("After the conversation starts and the assistant lists products", CueKind.MENTIONS),
        ("对话开始后助手给出了产品", CueKind.MENTIONS),
        ("When the assistant proactively asks about skin type", CueKind.ASKS),
        ("助手主动追问预算时", CueKind.ASKS),
        ("助手询问用户的肤质类型时", CueKind.ASKS),
        ("After the assistant completes the task", CueKind.COMPLETES),
        ("After all previous stages are completed and the assistant finishes filtering", CueKind.COMPLETES),
        ("所有前述阶段都已完成", CueKind.COMPLETES),
        ("The reply mentions a task or a price", CueKind.MENTIONS),
        ("助手提到问题产品后", CueKind.MENTIONS),
        ("助手提供了成分信息后", CueKind.MENTIONS),
    ],
)  # fmt: skip
def test_cue_kinds_follow_the_words(text: str, kind: CueKind) -> None:
    assert infer_kind(text) is kind


def test_trajectories(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": "half \ud83d", "tool_calls": [{"id": "1"}]}
    lines: list[Any] = [
        {"qid": "t1", "sample_idx": 0, "question": "q", "messages": [message], "response": "[]", "termination": "answer"},
        {"qid": "t1", "sample_idx": 1, "messages": None, "response": None},
        {"qid": "t1", "sample_idx": 1, "response": "twice"},
        {"qid": "t1", "sample_idx": "x", "response": ""},
        {"qid": "t1", "sample_idx": 3},
    ]  # fmt: skip
    text = "\n".join(json.dumps(line) for line in lines) + "\n{broken"
    (tmp_path / "t1.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "7.jsonl").write_text('{"qid": 7, "response": "a"}\n{"response": "b"}\n')
    responses, problems = vibesearch.read_responses(tmp_path)
    assert [(r.task_id, r.sample, r.text) for r in responses] == [
        ("7", 0, "a"),
        ("7", 1, "b"),
        ("t1", 0, "[]"),
        ("t1", 1, ""),
    ]
    first = responses[2]
    assert first.termination == "answer"
    assert first.messages[0]["content"] == "half \ufffd"
    assert first.messages[0]["tool_calls"] == [{"id": "1"}]
    assert [p.line for p in problems] == [3, 4, 5, 6]


def test_another_language_is_told_and_never_made_into_english(tmp_path: Path) -> None:
    write(tmp_path, task_object(language="fr"), task_object(task_id="b", language="Chinese"))
    tasks, problems = vibesearch.FORMAT.read_tasks(tmp_path)
    assert [(task.id, task.language) for task in tasks] == [("b", "zh")]
    assert [(p.place, p.reason) for p in problems] == [("language", "must be one of 'en' or 'zh'")]


def test_titles_made_of_questions_end_after_a_word_and_differ_from_the_start(
    tmp_path: Path,
) -> None:
    long = "Please find every museum of the town that opens on Mondays and lets children in for {}"
    write(
        tmp_path,
        *(task_object(task_id=f"t{n}", initial_query=long.format(n)) for n in range(2)),
        task_object(task_id="other", initial_query="Short"),
    )
    titles = [task.title for task in vibesearch.FORMAT.read_tasks(tmp_path)[0]]
    begun = "Please find every museum of the town that opens on Mondays…"
    assert titles == [begun, f"t1: {begun}", "Short"]

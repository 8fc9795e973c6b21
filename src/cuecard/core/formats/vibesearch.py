"""VibeSearchBench: graph tasks with a persona, one JSON object a file; trajectories and evaluations of trials as JSON lines."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from cuecard.core.families.graph.gold import Graph
from cuecard.core.families.graph.judge import GRAPH_MEASURES
from cuecard.core.formats import base
from cuecard.core.formats.files import SUFFIXES, Obj, file_names, read_file, write_json
from cuecard.core.formats.persona_markdown import patch_persona, read_persona, write_persona
from cuecard.core.formats.round_trip import Codec, Refused, exported, imported
from cuecard.core.formats.trajectory import Judged, Trajectory, as_openai, chat_of
from cuecard.core.i18n import N_, _
from cuecard.core.predictions import triples_of
from cuecard.core.tasks.gold import narrow
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Decisions, ItemKind

NAME = "vibesearch"
FAMILIES = ("graph",)
_PATTERNS = ("task_*.json", "task_*.jsonl")
_PLACES = (
    (r"^query$", "final_query"),
    (r"^id$", "task_id"),
    (r"^persona\.initial_query$", "initial_query"),
    (r"^persona\b", "user_persona"),
    (r"^gold\.nodes\[(\d+)\]\.(id|name)$", r"nodes[\1].node_\2"),
    (r"^gold\.triples\[(\d+)\]\.(head|tail)$", r"triples[\1].\2_id"),
    (r"^gold\.", ""),
)


def _read_file(path: Path) -> base.TasksRead:
    return base.collect(read_file(path), lambda entry: imported(entry.data, CODEC), _PLACES)


def write_tasks(tasks: Sequence[Task], folder: Path) -> list[Path]:
    """One `task_*.json` a task. Raises `CuecardError`."""
    base.check_family(tasks, NAME, FAMILIES)
    names = file_names([task.id for task in tasks], ".json", prefix="task_")
    return [
        write_json(folder / name, exported(task, CODEC))
        for task, name in zip(tasks, names, strict=True)
    ]


def read_responses(path: Path) -> base.ResponsesRead:
    """Trajectories of a `{qid}.jsonl`, or of a folder of them."""
    return base.collect_responses(
        path, id_key="qid", sample_key="sample_idx", patterns=("*.jsonl",)
    )


def recognises(obj: Obj) -> bool:
    return "final_query" in obj or ("qid" in obj and "response" in obj)


def _build(obj: Obj) -> Task:
    nodes = base.objects_in(obj, "nodes")
    triples = base.objects_in(obj, "triples")
    _check_ends(nodes, triples)
    data: Obj = {
        "id": base.task_id_of(obj.get("task_id"), "task_id"),
        "title": base.title_of(
            obj.get("initial_query"), obj.get("final_query"), obj.get("task_id")
        ),
        "language": base.language_of(obj.get("language"), obj.get("final_query")),
        "sub_queries": base.texts_in(obj, "sub_queries"),
        "persona": _persona(obj),
        "gold": {
            "family": "graph",
            "nodes": [
                {"id": base.scalar(n.get("node_id")), "name": base.scalar(n.get("node_name", ""))}
                for n in nodes
            ],
            "triples": [
                {
                    "head": base.scalar(t.get("head_id")),
                    "relation": base.scalar(t.get("relation")),
                    "tail": base.scalar(t.get("tail_id")),
                }
                for t in triples
            ],
        },
    }
    if "final_query" in obj:
        data["query"] = obj["final_query"]
    return base.make_task(data)


def _persona(obj: Obj) -> dict[str, object] | None:
    text = obj.get("user_persona")
    if text is None or (isinstance(text, str) and not text.strip()):
        return None
    if not isinstance(text, str):
        raise Refused(("user_persona", _("must be text")))
    initial = obj.get("initial_query") or obj.get("final_query")
    persona = read_persona(text, initial)
    if not persona["stages"]:
        raise Refused(("user_persona", _("has no stage; stages begin with '### Stage 1: title'")))
    return persona


def _check_ends(nodes: list[Obj], triples: list[Obj]) -> None:
    """A head or tail that names no node is an error here, though a graph of ours would allow it."""
    known = {str(node.get("node_id")).strip() for node in nodes}
    dangling = [
        (f"triples[{index}].{key}", _("{id!r} is no node of this task").format(id=triple[key]))
        for index, triple in enumerate(triples)
        for key in ("head_id", "tail_id")
        if triple.get(key) is not None and str(triple[key]).strip() not in known
    ]
    if dangling:
        raise Refused(*dangling)


def _render(task: Task) -> Obj:
    graph = narrow(task.gold, Graph)
    return {
        "task_id": task.id,
        "final_query": task.query,
        "initial_query": task.opening,
        "sub_queries": list(task.sub_queries),
        "user_persona": write_persona(task.persona, task.language) if task.persona else "",
        "nodes": [{"node_id": id_, "node_name": graph.name_of(id_)} for id_ in graph.node_ids],
        "triples": [
            {"head_id": t.head, "relation": t.relation, "tail_id": t.tail} for t in graph.triples
        ],
        "language": task.language,
    }


def _mended(original: object, task: Task) -> str:
    if task.persona is None:
        return ""
    if not isinstance(original, str):
        return write_persona(task.persona, task.language)
    return patch_persona(original, task.persona, task.language)


CODEC = Codec(NAME, _build, _render, {"user_persona": _mended})
FORMAT = base.Format(
    name=NAME,
    title=N_("VibeSearchBench: task_*.json, trajectories as {qid}.jsonl"),
    families=FAMILIES,
    suffixes=SUFFIXES,
    patterns=_PATTERNS,
    id_place="task_id",
    through=lambda task: imported(exported(task, CODEC), CODEC),
    made_up=("title",),
    read_file=_read_file,
    write_tasks=write_tasks,
    recognises=recognises,
    read_responses=read_responses,
)


Line = dict[str, JsonValue]


def line_of(trajectory: Trajectory) -> Line:
    """A line of `{qid}.jsonl`."""
    messages = chat_of(trajectory.events, trajectory.prompts)
    return {
        "qid": trajectory.task.id,
        "sample_idx": trajectory.sample,
        "question": trajectory.task.opening,
        "messages": [as_openai(message) for message in messages],
        "response": trajectory.response,
        "termination": trajectory.termination.value,
    }


def evaluation_of(trajectory: Trajectory, judged: Judged) -> Line:
    """The evaluation of one sample. A triple that was not judged is `covered: null`, and like ours the measures
    leave it out; an undefined measure is null.
    """
    graph, prediction = narrow(trajectory.task.gold, Graph), trajectory.prediction
    decisions = Decisions.of(judged.judgement.verdicts)
    supporting: Mapping[int, tuple[int, ...]] = {
        v.item.index: v.supporting
        for v in judged.judgement.verdicts
        if v.item.kind is ItemKind.TRIPLE
    }
    covered = {Decision.YES: True, Decision.NO: False, Decision.UNJUDGED: None}
    states = [
        covered[decisions.decision(ItemKind.TRIPLE, index)] for index in range(len(graph.triples))
    ]
    triples = triples_of(prediction) or ()
    return {
        "qid": trajectory.task.id,
        "sample_idx": trajectory.sample,
        "num_pred_triples": len(triples),
        **{name: judged.value(name) for name in GRAPH_MEASURES},
        "coverage_details": {
            "total_gt_triples": len(graph.triples),
            "covered_count": states.count(True),
            "triplet_recall": judged.value("triplet_recall"),
            "per_gt_triple": [
                {
                    "gt_index": index,
                    "gt_triple": list(graph.named(triple)),
                    "covered": states[index],
                    "supporting_pred_indices": list(supporting.get(index, ())),
                }
                for index, triple in enumerate(graph.triples)
            ],
        },
    }

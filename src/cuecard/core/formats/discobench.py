"""DiscoBench: checkpoint tasks with ambiguous steps, one object a line (our schema for its paper)."""

from collections.abc import Sequence
from pathlib import Path

from cuecard.core.families.checkpoints.gold import Checkpoint, CheckpointChain
from cuecard.core.formats import base
from cuecard.core.formats.files import SUFFIXES, Obj, read_file, write_lines
from cuecard.core.formats.round_trip import Codec, Refused, exported, imported
from cuecard.core.i18n import N_, _, listed
from cuecard.core.tasks.gold import narrow
from cuecard.core.tasks.models import Task

NAME = "discobench"
FAMILIES = ("checkpoints",)
_TYPES = ("unambi", "ambi")
_PLACES = (
    (r"^query$", "original_question"),
    (r"^gold\.opening$", "rewritten_question"),
    (r"^gold\.forbidden\b", "forbidden_info"),
    (r"^gold\.steps\b", "checkpoints"),
    (r"\.target$", ".goal"),
    (r"\.ambiguity\.type$", ".ambiguity_type"),
    (r"\.ambiguity\.logic$", ".ambiguity_logic"),
    (r"\.ambiguity\.clue$", ".clue_if_asked"),
    (r"\.ambiguity\.", "."),
    (r"^gold\.", ""),
)


def _read_file(path: Path) -> base.TasksRead:
    return base.collect(read_file(path), lambda entry: imported(entry.data, CODEC), _PLACES)


def write_tasks(tasks: Sequence[Task], folder: Path) -> list[Path]:
    """One `discobench.jsonl`. Raises `CuecardError`."""
    base.check_family(tasks, NAME, FAMILIES)
    return [write_lines(folder / "discobench.jsonl", [exported(task, CODEC) for task in tasks])]


def recognises(obj: Obj) -> bool:
    return {"checkpoints", "rewritten_question"} <= obj.keys()


def _build(obj: Obj) -> Task:
    steps = [_step(step, index) for index, step in enumerate(base.objects_in(obj, "checkpoints"))]
    question = obj.get("original_question")
    difficulty = obj.get("difficulty")
    data: Obj = {
        "id": base.task_id_of(obj.get("id"), "id"),
        "title": base.title_of(question, obj.get("rewritten_question"), obj.get("id")),
        "language": base.language_of(obj.get("language"), question),
        "domain": obj.get("domain") or "",
        "difficulty": {"mid": "medium", "": None}.get(difficulty, difficulty)
        if isinstance(difficulty, str)
        else difficulty,
        "gold": {
            "family": "checkpoints",
            "steps": steps,
            "final_answer": base.scalar(obj.get("final_answer")),
            "forbidden": base.texts_in(obj, "forbidden_info"),
        },
    }
    if "original_question" in obj:
        data["query"] = question
    if "rewritten_question" in obj:
        data["gold"]["opening"] = obj["rewritten_question"]
    return base.make_task(data)


def _step(step: Obj, index: int) -> Obj:
    place = f"checkpoints[{index}]"
    kind = step.get("type", "unambi")
    if kind not in _TYPES:
        choices = listed(_TYPES)
        raise Refused((f"{place}.type", _("must be one of {choices}").format(choices=choices)))
    data: Obj = {
        "question": step.get("question"),
        "target": base.scalar(step.get("goal")),
        "aliases": base.texts_in(step, "aliases"),
    }
    if kind == "ambi":
        data["ambiguity"] = {
            "type": step.get("ambiguity_type"),
            "logic": step.get("ambiguity_logic"),
            "candidates": base.texts_in(step, "candidates"),
            "clue": step.get("clue_if_asked"),
        }
    return data


def _render(task: Task) -> Obj:
    chain = narrow(task.gold, CheckpointChain)
    return {
        "id": task.id,
        "domain": task.domain,
        "difficulty": task.difficulty,
        "language": task.language,
        "original_question": task.query,
        "rewritten_question": chain.opening,
        "final_answer": chain.final_answer,
        "forbidden_info": list(chain.forbidden),
        "checkpoints": [_rendered_step(step) for step in chain.steps],
    }


def _rendered_step(step: Checkpoint) -> Obj:
    ambiguity = step.ambiguity
    data: Obj = {
        "question": step.question,
        "goal": step.target,
        "aliases": list(step.aliases),
        "type": "ambi" if ambiguity else "unambi",
    }
    if ambiguity:
        data["ambiguity_type"] = ambiguity.type.value
        data["ambiguity_logic"] = ambiguity.logic
        data["candidates"] = list(ambiguity.candidates)
        data["clue_if_asked"] = ambiguity.clue
    return data


CODEC = Codec(NAME, _build, _render)
FORMAT = base.Format(
    name=NAME,
    title=N_("DiscoBench: JSON lines with checkpoints"),
    families=FAMILIES,
    suffixes=SUFFIXES,
    patterns=("*.jsonl",),
    through=lambda task: imported(exported(task, CODEC), CODEC),
    made_up=("title",),
    read_file=_read_file,
    write_tasks=write_tasks,
    recognises=recognises,
)

"""A file format of tasks, and one of trials."""

import json

from cuecard.core.engine.trial_log import agent_turns
from cuecard.core.errors import FileProblem
from cuecard.core.formats.base import Format
from cuecard.core.tasks.models import FAMILIES, Task


def _read(path):
    """The tasks in a file, and what is wrong with it: it never raises for what stands there."""
    try:
        return [Task.model_validate_json(path.read_text(encoding="utf-8"))], []
    except (OSError, ValueError) as error:
        return [], [FileProblem(str(path), "", str(error))]


def _write(tasks, folder):
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for task in tasks:
        written.append(folder / f"{task.id}.task")
        written[-1].write_text(task.model_dump_json(indent=2), encoding="utf-8")
    return written


FORMAT = Format(
    name="taskfile",
    title="One task a file",
    families=FAMILIES,
    suffixes=(".task",),
    read_file=_read,
    write_tasks=_write,
)


class Replies:
    """What agents said, as lines of JSON: `cuecard export --run 1 --format replies -o FOLDER`."""

    families = FAMILIES
    texts = False
    apart = True  # Each agent has a folder of its own.

    def __init__(self, options):
        self.options = options

    def write(self, batch, folder, told):
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "replies.jsonl").open("w", encoding="utf-8") as file:
            for trial in batch.trajectories():
                said = [turn.reply.text for turn in agent_turns(trial.events)]
                file.write(json.dumps({"task": trial.task.id, "said": said}) + "\n")
                told(trial)

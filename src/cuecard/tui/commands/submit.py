"""`cuecard submit`: submit tasks for review."""

from typing import Annotated, Any

import typer

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import as_json, note, say


def submit(
    context: typer.Context,
    tasks: Annotated[list[str], typer.Argument(help=_("Ids of tasks"))],
    reason: Annotated[
        str, typer.Option("--reason", help=_("Why warnings may stay; recorded with the task"))
    ] = "",
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:
    from cuecard.annotate.review.protocol import protocol_of
    from cuecard.annotate.review.submitting import NotClean, submit_checked

    ours = Context.of(context)
    protocol = protocol_of(ours.config())
    done: list[dict[str, Any]] = []
    refused: list[dict[str, Any]] = []
    with ours.workspace() as workspace:
        person = ours.reader
        for task_id in dict.fromkeys(tasks):
            try:
                move = submit_checked(workspace, task_id, person, protocol, reason)
            except CuecardError as error:
                if not json:
                    parts = (f"{task_id}: {error.title}", error.message, error.hint)
                    note("\n  ".join("\n".join(filter(None, parts)).splitlines()))
                findings = error.findings if isinstance(error, NotClean) else ()
                refused.append(
                    {
                        "task": task_id,
                        "why": error.title,
                        "findings": [f.model_dump(mode="json") for f in findings],
                    }
                )
            else:
                if not json:
                    text = _("{task}: revision {n} is in review.")
                    say(text.format(task=task_id, n=move.revision))
                done.append({"task": task_id, "revision": move.revision})
    if json:
        as_json({"submitted": done, "refused": refused, "protocol": protocol.stamp})
    raise typer.Exit(1 if refused else 0)

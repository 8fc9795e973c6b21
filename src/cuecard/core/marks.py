"""What players decide or learn besides what they say: recorded, so that a resumed trial knows it too."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cuecard.core.tasks.base import Frozen


class Compaction(Frozen):
    """The messages before this point were cut for the model; the log keeps them.

    `before`: prompt tokens by the server's last count; `limit`: where the agent was to stay under.
    `strategy` `summary`: `summary` takes the place of all but the last `kept` messages; `window`: the
    oldest were left out.
    """

    kind: Literal["compaction"] = "compaction"
    strategy: Literal["summary", "window"]
    before: int
    limit: int
    kept: int = 0
    dropped: int = 0
    summary: str = ""


class NotesRead(Frozen):
    """What a lifelong memory held when the trial began."""

    kind: Literal["notes_read"] = "notes_read"
    notes: tuple[str, ...] = ()


class NotesKept(Frozen):
    """What an agent wants to remember for its later tasks."""

    kind: Literal["notes_kept"] = "notes_kept"
    notes: tuple[str, ...] = ()


class HarnessSession(Frozen):
    """An external harness was started. `restored`: it took up its earlier session. `retold`: it could
    not, and was told the dialogue so far. `cwd`: the folder that the session was given.
    """

    kind: Literal["harness_session"] = "harness_session"
    session: str
    harness: str = ""
    restored: bool = False
    retold: bool = False
    cwd: str = ""


class HarnessTool(Frozen):
    """A tool that a harness called by itself, outside the trial's world, as far as it told."""

    kind: Literal["harness_tool"] = "harness_tool"
    name: str
    title: str = ""
    status: str = ""
    input: str = ""
    output: str = ""


class Remark(Frozen):
    """What a person notes while they play: a problem of the agent or of the task, or anything else. It
    stays in the trial's course even if the turn in which it was made is taken back.
    """

    kind: Literal["remark"] = "remark"
    about: Literal["agent", "task", "other"]
    text: str
    by: str = ""


class PartTaken(Frozen):
    """Who took the agent's part, where a person plays it."""

    kind: Literal["part_taken"] = "part_taken"
    person: str


class CutCall(Frozen):
    """`what`: a model or a tool. `seconds`: for how long it had been waited for."""

    what: str
    seconds: float


class CallsCut(Frozen):
    """The run was stopped, and these calls were given up without an answer: what they cost is not known.
    When the trial goes on, they are made again.
    """

    kind: Literal["calls_cut"] = "calls_cut"
    calls: tuple[CutCall, ...]


Mark = Annotated[
    Compaction
    | NotesRead
    | NotesKept
    | HarnessSession
    | HarnessTool
    | Remark
    | PartTaken
    | CallsCut,
    Field(discriminator="kind"),
]

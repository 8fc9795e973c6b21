"""What the parts of a trial exchange: tool calls and answers, model replies, turns of the dialogue, and marks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_
from cuecard.core.tasks.base import Frozen


class PlayerRef(Frozen):
    """Who plays a part; recorded with every trial and judgement.

    `kind`: `offline`, `react`, `scripted`, `human`, `closed`, `lexical`... `baseline`: a player that works by rules,
    without a model; every screen and report says so.
    """

    name: str
    kind: str
    model: str = ""
    baseline: bool = False
    version: str = "1"

    @property
    def uncaged(self) -> bool:
        """Whether this is a world whose tool `python` ran programs without a cage (`core/worlds/python_tool.py`)."""
        return " python(uncaged" in self.version


class Act(StrEnum):
    """What an agent's turn does. Only agents on checkpoint tasks declare `ask` or `answer`; all others `reply`."""

    REPLY = "reply"
    ASK = "ask"
    ANSWER = "answer"


class CheckpointStatus(StrEnum):
    """How the responder (the user part of checkpoint tasks) classified an agent's turn. The names are DiscoBench's."""

    AMBIGUITY_DETECTED = "ambiguity_detected"
    WRONG_AMBIGUITY_DETECTED = "wrong_ambiguity_detected"
    CORRECT_ANSWER = "correct_answer"
    WRONG_ANSWER = "wrong_answer"
    MISSED_AMBIGUITY_CORRECT = "missed_ambiguity_correct"
    MISSED_AMBIGUITY_WRONG = "missed_ambiguity_wrong"
    SEARCH_ONLY = "search_only"
    TASK_COMPLETED = "task_completed"


STATUS_WORDS: Final[dict[CheckpointStatus, str]] = {
    CheckpointStatus.AMBIGUITY_DETECTED: N_("asked rightly"),
    CheckpointStatus.WRONG_AMBIGUITY_DETECTED: N_("asked about something else"),
    CheckpointStatus.CORRECT_ANSWER: N_("right answer"),
    CheckpointStatus.WRONG_ANSWER: N_("wrong answer"),
    CheckpointStatus.MISSED_AMBIGUITY_CORRECT: N_("did not ask, yet right"),
    CheckpointStatus.MISSED_AMBIGUITY_WRONG: N_("did not ask, and wrong"),
    CheckpointStatus.SEARCH_ONLY: N_("neither asked nor answered"),
    CheckpointStatus.TASK_COMPLETED: N_("whole task answered"),
}


class ToolSpec(Frozen):
    """A tool as it is described to a model; `parameters` is a JSON schema object."""

    name: str
    description: str
    parameters: dict[str, JsonValue]


class ToolCall(Frozen):
    """A call of a tool. `broken`: the text of the arguments, where it is not a readable JSON object."""

    name: str
    arguments: dict[str, JsonValue] = {}
    id: str = ""
    broken: str = ""


class SearchEntry(Frozen):
    """One search result. `date` and `url` are empty where the source gave none."""

    id: str
    title: str
    content: str
    date: str = ""
    url: str = ""


class Hit(Frozen):
    """Whether one query to a closed or parallel world matched atomic facts (an entry of Mind-ParaWorld's hit log).
    `is_compound`: the query asked for several facts at once.
    """

    is_compound: bool
    hit: bool
    matched_fact_keys: tuple[str, ...] = ()
    reason: str = ""


class ToolAnswer(Frozen):
    """What a tool gave. `text` is what the agent sees; `entries`, `hit` and `blocked` are for the log only. Where `ok`
    is false the call was refused, and `text` says why. `blocked`: addresses that a block list kept from the agent.
    """

    text: str
    entries: tuple[SearchEntry, ...] = ()
    hit: Hit | None = None
    ok: bool = True
    blocked: tuple[str, ...] = Field(default=(), exclude_if=lambda blocked: not blocked)


MOST_TOKENS = 10**9
"""The largest believable token count of one call; a larger number is read as 0."""


def token_count(value: object) -> int:
    """`value`, as a server reports it, as a number of tokens; 0 unless it is an integer from 1 to `MOST_TOKENS`."""
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 < value <= MOST_TOKENS else 0


class Usage(Frozen):
    """Tokens of one call, as the server counted them. `cached` is part of `prompt`, `reasoning` of `completion`."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0

    @classmethod
    def total(cls, of: Iterable[Usage]) -> Usage:
        found = list(of)
        return cls(
            prompt=sum(each.prompt for each in found),
            completion=sum(each.completion for each in found),
            cached=sum(each.cached for each in found),
            reasoning=sum(each.reasoning for each in found),
        )

    def plus(self, other: Usage) -> Usage:
        return Usage.total((self, other))


class ModelReply(Frozen):
    """One answer of a model. `tool_calls` in the order the model gave them. `cost` in the currency of
    the price table, None where the model has no price. `attempts`: requests sent to get it. `request_id`: the server's name
    for the last of them. `carried`: reasoning that goes back to the server as it came, with the tools' answers.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = ""
    usage: Usage = Usage()
    model: str = ""
    latency_ms: int = 0
    cost: float | None = None
    attempts: int = 1
    request_id: str = ""
    carried: tuple[dict[str, JsonValue], ...] = ()


class AgentReply(Frozen):
    """What the agent says in one turn. `interrupted`: the user stopped it, and `text` is what it had said by then."""

    text: str
    act: Act = Act.REPLY
    interrupted: bool = False


class FlagKind(StrEnum):
    """What a check found wrong with a simulated user's reply, and still found after the model was asked again."""

    LEAK = "leak"
    FORMAT = "format"
    UNUSABLE = "unusable"


class Flag(Frozen):
    """One fault of a simulated user's reply. `found`: the words it was recognised by."""

    kind: FlagKind
    found: str = ""


class Evidence(Frozen):
    """The passage of the agent's last reply that a person gives as the reason for their decision: characters `start`
    to `end` (exclusive) of its text, and the passage itself.
    """

    start: int
    end: int
    text: str


class UserReply(Frozen):
    """What the user part says, and what it decided.

    `stage`: the stage (from 1) whose line this text discloses. `cue_met`: whether the agent's last
    reply met the cue of the next stage. `checkpoint` (from 0): the checkpoint that the agent's last turn was
    about; `status`: how that turn was classified. `done`: nothing is left to say, `text` may be a farewell.
    `answered` (with `done`): the trial ends as `answered` rather than `user_done`. `flags`: faults of a simulator's
    reply that asking again did not mend.

    Only people give the rest. `edited`: the line was not said in the card's own words; `meaning`: whether
    it still says the same, where that was asked. `unsure`: the person could not decide on the cue (`cue_met` is
    None). `evidence`: the passage that their decision rests on.
    """

    text: str
    stage: int | None = None
    cue_met: bool | None = None
    checkpoint: int | None = None
    status: CheckpointStatus | None = None
    done: bool = False
    answered: bool = False
    edited: bool = False
    reason: str = ""
    flags: tuple[Flag, ...] = ()
    unsure: bool = False
    evidence: Evidence | None = None
    meaning: Literal["", "kept", "changed"] = ""


class Message(Frozen):
    """One turn of the dialogue with the decisions that came with it. `turn` counts exchanges from
    0: the user opens turn 0, the agent answers it, the user's next words open turn 1.
    """

    role: Literal["user", "agent"]
    turn: int
    text: str
    act: Act = Act.REPLY
    stage: int | None = None
    cue_met: bool | None = None
    checkpoint: int | None = None
    status: CheckpointStatus | None = None


@dataclass(frozen=True)
class Dialogue:
    """The messages of a trial, oldest first."""

    messages: tuple[Message, ...] = ()

    def plus(self, message: Message) -> Dialogue:
        return Dialogue((*self.messages, message))

    def last(self, role: Literal["user", "agent"]) -> Message | None:
        return next((m for m in reversed(self.messages) if m.role == role), None)

    def of(self, role: Literal["user", "agent"]) -> tuple[Message, ...]:
        return tuple(m for m in self.messages if m.role == role)

    @property
    def turn(self) -> int:
        """The number of the current exchange, from 0; 0 for an empty dialogue."""
        return self.messages[-1].turn if self.messages else 0

    @property
    def stages_disclosed(self) -> tuple[int, ...]:
        return tuple(m.stage for m in self.messages if m.stage is not None)


class ErrorLoop(CuecardError):
    """An agent keeps making the same error; the trial ends as `error_loop`."""


class EmptyReply(CuecardError):
    """An agent gave nothing to show, even when asked again; the trial ends as `empty_response`."""


class StartOver(CuecardError):
    """Raised by a player that cannot resume the trial where it was left: the trial is played again from its beginning,
    as a new attempt. The text is recorded as the reason.
    """


class Compaction(Frozen):
    """The agent shortened what it sends its model, to stay within the context; the log keeps all messages.

    `before`: prompt tokens by the server's last count; `limit`: the number of tokens to stay under. Strategy
    `summary`: the text `summary` replaces all but the last `kept` messages. Strategy `window`: the oldest messages were
    left out. `dropped`: how many.
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
    """An external harness (an agent program) was started. `restored`: it resumed its earlier session. `retold`: it
    could not, and was given the dialogue so far as text. `cwd`: the session's working folder.
    """

    kind: Literal["harness_session"] = "harness_session"
    session: str
    harness: str = ""
    restored: bool = False
    retold: bool = False
    cwd: str = ""


class HarnessTool(Frozen):
    """A tool that a harness called by itself, outside the trial's world, as far as the harness reported it."""

    kind: Literal["harness_tool"] = "harness_tool"
    name: str
    title: str = ""
    status: str = ""
    input: str = ""
    output: str = ""


class HarnessPermission(Frozen):
    """A harness asked whether it may use a tool. `name`: the kind of tool; `world`: it is one of the trial's world;
    `places`: paths that it named; `policy`: the agent's `permissions`; `option`: the choice that was taken of those it offered, "" if none fitted. `cancelled` is the
    answer where none fitted, or the turn was being given up.
    """

    kind: Literal["harness_permission"] = "harness_permission"
    name: str
    title: str = ""
    world: bool = False
    places: tuple[str, ...] = ()
    input: str = ""
    policy: str = ""
    answer: Literal["allowed", "refused", "cancelled"]
    option: str = ""


class Printed(Frozen):
    """What a player's own code printed during the step, which no screen shows meanwhile."""

    kind: Literal["printed"] = "printed"
    text: str


class Remark(Frozen):
    """A note that a person makes while they play: on a problem of the agent or the task, or anything else. It
    stays in the effective log even if the turn in which it was made is discarded.
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
    """A call given up without an answer. `what`: the model or tool. `seconds`: how long the call had been waiting."""

    what: str
    seconds: float


class CallsCut(Frozen):
    """The run was stopped, and these calls were given up without an answer, so their cost is unknown. They are made
    again when the trial is resumed.
    """

    kind: Literal["calls_cut"] = "calls_cut"
    calls: tuple[CutCall, ...]


Mark = Annotated[
    Compaction
    | NotesRead
    | NotesKept
    | HarnessSession
    | HarnessTool
    | HarnessPermission
    | Printed
    | Remark
    | PartTaken
    | CallsCut,
    Field(discriminator="kind"),
]

"""What the parts of a trial exchange: tool calls and answers, model replies, turns of the dialogue, and marks of what players decide."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from cuecard.core.errors import CuecardError
from cuecard.core.tasks.base import Frozen


class PlayerRef(Frozen):
    """Who plays a part: recorded with every trial and judgement.

    `kind` is the sort of player (`offline`, `react`, `scripted`, `human`, `closed`, `lexical`...);
    a `baseline` is an embedded offline player, and every screen and report says so.
    """

    name: str
    kind: str
    model: str = ""
    baseline: bool = False
    version: str = "1"


class Act(StrEnum):
    """What an agent's turn was. Only checkpoint agents tell `ask` and `answer` apart."""

    REPLY = "reply"
    ASK = "ask"
    ANSWER = "answer"


class CheckpointStatus(StrEnum):
    """The responder's reading of an agent's turn (DiscoBench)."""

    AMBIGUITY_DETECTED = "ambiguity_detected"
    WRONG_AMBIGUITY_DETECTED = "wrong_ambiguity_detected"
    CORRECT_ANSWER = "correct_answer"
    WRONG_ANSWER = "wrong_answer"
    MISSED_AMBIGUITY_CORRECT = "missed_ambiguity_correct"
    MISSED_AMBIGUITY_WRONG = "missed_ambiguity_wrong"
    SEARCH_ONLY = "search_only"
    TASK_COMPLETED = "task_completed"


class ToolSpec(Frozen):
    """A tool as a model sees it; `parameters` is a JSON schema object."""

    name: str
    description: str
    parameters: dict[str, JsonValue]


class ToolCall(Frozen):
    """`broken`: the arguments as a model wrote them, where no object could be read from them."""

    name: str
    arguments: dict[str, JsonValue] = {}
    id: str = ""
    broken: str = ""


class SearchEntry(Frozen):
    id: str
    title: str
    content: str
    date: str = ""
    url: str = ""


class Hit(Frozen):
    """A closed or parallel world's record of one query (Mind-ParaWorld's hit log)."""

    is_compound: bool
    hit: bool
    matched_fact_keys: tuple[str, ...] = ()
    reason: str = ""


class ToolAnswer(Frozen):
    """`text` is what the agent sees; `entries` and `hit` are for the log. Not `ok`: the call was
    refused, and `text` says why.
    """

    text: str
    entries: tuple[SearchEntry, ...] = ()
    hit: Hit | None = None
    ok: bool = True


MOST_TOKENS = 10**9
"""Of one call: more than that is no count."""


def token_count(value: object) -> int:
    """A count of tokens as somebody else tells it; what cannot be one is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 < value <= MOST_TOKENS else 0


class Usage(Frozen):
    """Tokens of one call, as the server counted them. `cached` are among `prompt`, `reasoning` among
    `completion`.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0

    def plus(self, other: Usage) -> Usage:
        return Usage(
            prompt=self.prompt + other.prompt,
            completion=self.completion + other.completion,
            cached=self.cached + other.cached,
            reasoning=self.reasoning + other.reasoning,
        )


class ModelReply(Frozen):
    """One answer of a model. `tool_calls` in the order the model gave them. `cost` in the currency of
    the price table, None where the model has no price. `attempts`: requests sent to get it.
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


class AgentReply(Frozen):
    """`interrupted`: the user stopped the agent, and this is what it had said by then."""

    text: str
    act: Act = Act.REPLY
    interrupted: bool = False


class FlagKind(StrEnum):
    """What a simulator's reply was caught at, also when asked again."""

    LEAK = "leak"
    FORMAT = "format"
    UNUSABLE = "unusable"


class Flag(Frozen):
    """`found`: the words that gave it away."""

    kind: FlagKind
    found: str = ""


class Evidence(Frozen):
    """The part of the agent's last reply that a person's mark rests on: characters from `start` up to
    `end` of its text, and what stands there.
    """

    start: int
    end: int
    text: str


class UserReply(Frozen):
    """What the user part says, and what it decided.

    `stage`: the stage (from 1) whose line this text discloses. `cue_met`: whether the agent's last
    reply met the cue of the next stage. `checkpoint` (from 0) and `status`: the step that the agent's
    last turn was about and its reading. `done`: nothing is left to say, `text` may be a farewell.
    `answered` (with `done`): the trial ends as `answered` rather than `user_done`. `flags`: what
    checks found in a simulator's reply and asking again did not mend.

    Only people give the rest. `edited`: the line is said in other words than the card's; `meaning`:
    whether it still says the same, where that was asked. `unsure`: the cue was looked at and left open
    (`cue_met` is None). `evidence`: what the mark rests on.
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
    messages: tuple[Message, ...] = ()

    def plus(self, message: Message) -> Dialogue:
        return Dialogue((*self.messages, message))

    def last(self, role: Literal["user", "agent"]) -> Message | None:
        return next((m for m in reversed(self.messages) if m.role == role), None)

    def of(self, role: Literal["user", "agent"]) -> tuple[Message, ...]:
        return tuple(m for m in self.messages if m.role == role)

    @property
    def turn(self) -> int:
        """The number of the current exchange."""
        return self.messages[-1].turn if self.messages else 0

    @property
    def stages_disclosed(self) -> tuple[int, ...]:
        return tuple(m.stage for m in self.messages if m.stage is not None)


class ErrorLoop(CuecardError):
    """An agent keeps making the same error; the trial ends as `error_loop`."""


class EmptyReply(CuecardError):
    """An agent gave nothing to show, even when asked again; the trial ends as `empty_response`."""


class StartOver(CuecardError):
    """A player cannot take the trial up where it was left: it is to be played again from its
    beginning, in a new take. The text is recorded as the reason.
    """


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
    stays in the trial's effective log even if the turn in which it was made is taken back.
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

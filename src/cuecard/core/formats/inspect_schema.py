"""The part of Inspect AI's log schema (version 2, `.eval` files) that a trial fills, as inspect_ai 0.3.285 reads it."""

from typing import Literal

from pydantic import JsonValue

from cuecard.core.tasks.base import Frozen

VERSION = 2
LimitType = Literal["context", "turn"]
StopReason = Literal[
    "stop", "max_tokens", "model_length", "tool_calls", "content_filter", "unknown"
]


class ModelUsage(Frozen):
    """`input_tokens` without those that were read from a cache."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_tokens_cache_read: int | None = None
    reasoning_tokens: int | None = None
    total_cost: float | None = None


class ToolCall(Frozen):
    id: str
    function: str
    arguments: dict[str, JsonValue]
    type: Literal["function"] = "function"
    parse_error: str | None = None


class ToolError(Frozen):
    type: Literal["unknown"] = "unknown"
    message: str


class Part(Frozen):
    """A piece of an assistant's content."""

    type: Literal["text", "reasoning"]
    text: str | None = None
    reasoning: str | None = None


class Message(Frozen):
    id: str
    role: Literal["system", "user", "assistant", "tool"]
    content: str | tuple[Part, ...]
    source: Literal["input", "generate"] | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    model: str | None = None
    tool_call_id: str | None = None
    function: str | None = None
    error: ToolError | None = None


class Choice(Frozen):
    message: Message
    stop_reason: StopReason = "stop"


class Output(Frozen):
    model: str
    choices: tuple[Choice, ...]
    completion: str
    usage: ModelUsage | None = None
    time: float | None = None


class Score(Frozen):
    value: float
    answer: str | None = None
    explanation: str | None = None
    metadata: dict[str, JsonValue] | None = None


class Error(Frozen):
    message: str
    traceback: str = ""
    traceback_ansi: str = ""


class Limit(Frozen):
    type: LimitType
    limit: float
    reason: str | None = None


class BaseEvent(Frozen):
    """What all events have; `working_start` in seconds from the trial's beginning."""

    uuid: str
    timestamp: str
    working_start: float
    metadata: dict[str, JsonValue] | None = None


class SampleData(Frozen):
    input: str
    target: str | tuple[str, ...]
    id: str
    metadata: dict[str, JsonValue] = {}


class SampleInit(BaseEvent):
    event: Literal["sample_init"] = "sample_init"
    sample: SampleData
    state: dict[str, JsonValue] = {}


class ModelEvent(BaseEvent):
    """`input_refs`: the stretches of the sample's pool of messages that the call was made on."""

    event: Literal["model"] = "model"
    model: str
    role: str | None = None
    input: tuple[Message, ...] = ()
    input_refs: tuple[tuple[int, int], ...] | None = None
    tools: tuple[JsonValue, ...] = ()
    tool_choice: Literal["auto"] = "auto"
    config: dict[str, JsonValue] = {}
    output: Output
    retries: int | None = None
    completed: str
    working_time: float


class ToolEvent(BaseEvent):
    event: Literal["tool"] = "tool"
    type: Literal["function"] = "function"
    id: str
    function: str
    arguments: dict[str, JsonValue]
    result: str
    error: ToolError | None = None
    events: tuple[JsonValue, ...] = ()
    completed: str
    working_time: float
    message_id: str | None = None


class InfoEvent(BaseEvent):
    event: Literal["info"] = "info"
    source: str
    data: JsonValue


class CompactionEvent(BaseEvent):
    event: Literal["compaction"] = "compaction"
    type: Literal["summary", "trim"]
    tokens_before: int
    source: str = "cuecard"


class ScoreEvent(BaseEvent):
    event: Literal["score"] = "score"
    score: Score
    scorer: str


class ErrorEvent(BaseEvent):
    event: Literal["error"] = "error"
    error: Error


class Pool(Frozen):
    messages: tuple[Message, ...]
    calls: tuple[JsonValue, ...] = ()


class Sample(Frozen):
    id: str
    epoch: int
    input: str
    target: str | tuple[str, ...]
    messages: tuple[Message, ...]
    output: Output
    scores: dict[str, Score]
    metadata: dict[str, JsonValue]
    store: dict[str, JsonValue] = {}
    events: tuple[
        SampleInit | ModelEvent | ToolEvent | InfoEvent | CompactionEvent | ScoreEvent | ErrorEvent,
        ...,
    ]
    events_data: Pool
    model_usage: dict[str, ModelUsage]
    role_usage: dict[str, ModelUsage]
    started_at: str
    completed_at: str
    total_time: float
    working_time: float
    uuid: str
    error: Error | None = None
    limit: Limit | None = None
    attachments: dict[str, str] = {}


class Summary(Frozen):
    """A sample in a list."""

    id: str
    epoch: int
    input: str
    target: str | tuple[str, ...]
    metadata: dict[str, JsonValue]
    scores: dict[str, Score]
    model_usage: dict[str, ModelUsage]
    role_usage: dict[str, ModelUsage]
    started_at: str
    completed_at: str
    total_time: float
    working_time: float
    uuid: str
    error: str | None = None
    limit: str | None = None
    completed: bool = True
    message_count: int


class Metric(Frozen):
    name: str
    value: float
    params: dict[str, JsonValue] = {}


class EvalScore(Frozen):
    name: str
    scorer: str
    scored_samples: int
    unscored_samples: int
    metrics: dict[str, Metric]


class Results(Frozen):
    total_samples: int
    completed_samples: int
    scores: tuple[EvalScore, ...]


class Dataset(Frozen):
    name: str
    samples: int
    sample_ids: tuple[str, ...]
    shuffled: bool = False


class Scorer(Frozen):
    name: str


class Spec(Frozen):
    eval_id: str
    run_id: str
    created: str
    task: str
    task_id: str
    task_version: int = 0
    solver: str
    dataset: Dataset
    model: str
    config: dict[str, JsonValue]
    packages: dict[str, str]
    metadata: dict[str, JsonValue]
    scorers: tuple[Scorer, ...]
    task_args: dict[str, JsonValue] = {}
    model_args: dict[str, JsonValue] = {}


class Stats(Frozen):
    started_at: str
    completed_at: str
    model_usage: dict[str, ModelUsage]
    role_usage: dict[str, ModelUsage]


class Step(Frozen):
    solver: str
    params: dict[str, JsonValue] = {}


class Plan(Frozen):
    name: str = "plan"
    steps: tuple[Step, ...]
    config: dict[str, JsonValue] = {}


class Header(Frozen):
    """A log without its samples."""

    version: int = VERSION
    status: Literal["success"] = "success"
    eval: Spec
    plan: Plan
    results: Results
    stats: Stats

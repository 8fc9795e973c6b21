"""The settings of agents, users, worlds and judges in `cuecard.yaml`, and the types of their values."""

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, JsonValue, StringConstraints

from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen, Name

PERSON = "person"
"""The name under which a person plays the agent; see `core.engine.players`."""

_PLAYER_NAME = re.compile(r"[\w.\-:]{1,60}")
_CLASS = re.compile(r"[^\W\d]\w*(\.\w+)*:[^\W\d][\w.]*")
_ENV_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")
# Fields of a request that the client sets itself, and those that belong in the environment.
_RESERVED = {"model", "messages", "tools", "stream", "stream_options", "api_key", "authorization"}


def _player_name(value: str) -> str:
    if not _PLAYER_NAME.fullmatch(value):
        raise ValueError(
            _("a name may hold letters, digits, '.', '-', ':' and '_', at most 60 of them")
        )
    return value


def _agent_name(value: str) -> str:
    if value == PERSON:
        raise ValueError(_("{name} is the name under which people play").format(name=value))
    return value


def _base_url(value: str) -> str:
    try:
        parts = urlsplit(value)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(char.isspace() for char in value):
        raise ValueError(_("must be a web address such as http://127.0.0.1:8080/v1"))
    if any(char in value for char in "@?#"):
        raise ValueError(_("must hold neither a password nor a query; keys come from api_key_env"))
    return value.rstrip("/")


def _class_name(value: str) -> str:
    if not _CLASS.fullmatch(value):
        raise ValueError(_("must name a class as package.module:Class"))
    return value


def _env_name(value: str) -> str:
    # Capitals only: most keys contain lower-case letters, so that a pasted key is refused here.
    if value and not _ENV_NAME.fullmatch(value):
        raise ValueError(
            _("must be the name of an environment variable, in capitals, never the key itself")
        )
    return value


def extra_fields(value: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    for key in value:
        if key.lower() in _RESERVED:
            raise ValueError(_("must not set {key}").format(key=key))
    return dict(value)


PlayerName = Annotated[str, AfterValidator(_player_name)]
AgentName = Annotated[str, AfterValidator(_player_name), AfterValidator(_agent_name)]
BaseUrl = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_base_url)]
EnvName = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_env_name)]
EnvNames = Annotated[tuple[str, ...], AfterValidator(lambda names: tuple(map(_env_name, names)))]


FactsSetting = Literal["end_to_end", "guided", "few_shot", "oracle"]
CheckpointSetting = Literal["neutral", "guided", "no_search", "no_ask"]
GraphSetting = Literal["simulated", "staged", "direct"]
Permissions = Literal["none", "read", "folder", "all"]


class Settings(Frozen):
    """The setting in which an agent plays each family, after the papers.

    `facts` (Mind-ParaWorld): `oracle` gives the agent the facts and no tools (A), `guided` and `few_shot` a prompt that
    explains how to split questions (B), `end_to_end` only the question (C). `checkpoints` (DiscoBench): `neutral`;
    `guided`: it is told that steps may be ambiguous; `no_search`, `no_ask`: without this tool. `graph`
    (VibeSearchBench): `simulated`: a user with a persona; `staged`: the sub-queries in order; `direct`: the full query
    at once.
    """

    facts: FactsSetting = "end_to_end"
    checkpoints: CheckpointSetting = "neutral"
    graph: GraphSetting = "simulated"

    def of(self, family: str) -> str:
        """How tasks of a family are met; "" where the papers know one way only."""
        return getattr(self, family) if family in type(self).model_fields else ""


class ContextConfig(Frozen):
    """What to do when the messages approach the model's context length. `summary`: replace the older part by the model's
    own summary, which keeps every request of the user; `window`: leave out the oldest messages; `none`: let it overflow.
    `at`: the share of the model's `context` from which this is done. `keep`: how many of the last messages stay as they
    are.
    """

    strategy: Literal["summary", "window", "none"] = "summary"
    at: Annotated[float, Field(gt=0.1, le=1)] = 0.9
    keep: Annotated[int, Field(ge=1, le=200)] = 6


class OfflineAgentConfig(Frozen):
    """The offline agent: deterministic, without a model. A baseline. Those behind a colon err on purpose."""

    kind: Literal["offline", "offline:forgetful", "offline:hasty", "offline:wordy"] = "offline"


class ModelAgentConfig(Frozen):
    """Settings of all agents on a model. `max_steps`: most model calls per turn. `calls`: tool calls as the server's own
    structures (`native`), or as tagged text for models without them (`tagged`). `memory`: notes kept within a task
    (`local`) or carried from task to task of a run (`lifelong`). `prompts`: files that replace embedded prompts, relative
    to the configuration file.
    """

    model: Name
    max_steps: Annotated[int, Field(ge=1, le=200)] = 20
    calls: Literal["native", "tagged"] = "native"
    context: ContextConfig = ContextConfig()
    memory: Literal["none", "local", "lifelong"] = "none"
    settings: Settings = Settings()
    prompts: dict[Name, Name] = {}


class ReactAgentConfig(ModelAgentConfig):
    """An agent on a model that reasons, calls tools and talks."""

    kind: Literal["react"] = "react"


class TeamAgentConfig(ModelAgentConfig):
    """A main agent that delegates parts of its work to members with the same tools, in parallel. `members`: most members
    in one turn; `member_steps`: most model calls of each.
    """

    kind: Literal["team"] = "team"
    members: Annotated[int, Field(ge=1, le=64)] = 8
    member_steps: Annotated[int, Field(ge=1, le=200)] = 12


class AcpAgentConfig(Frozen):
    """Any harness that speaks the Agent Client Protocol over stdio. `pass_env`: environment variables passed to it,
    besides PATH, HOME and the locale. `world`: offer it the trial's tools as an MCP server. `world_port`: serve that at
    this port of 127.0.0.1, path `/mcp`, for harnesses that only know MCP servers from their own configuration; trials
    then take turns. `permissions`: what it may do where it asks (`agents/acp_access.py`). `auth_method`: the id of the
    login that it is asked to use, for harnesses that take a key only so. `shared`: one process serves all trials, each
    in its own session. `model`: for the record only. Timeouts are in seconds. `give_up_after`: this many failed prompts in a row pause the run; a harness that cannot be
    started pauses it at once.
    """

    kind: Literal["acp"] = "acp"
    command: Annotated[tuple[str, ...], Field(min_length=1)]
    pass_env: EnvNames = ()
    world: bool = True
    world_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    permissions: Permissions = "folder"
    auth_method: str = ""
    shared: bool = False
    model: str = ""
    start_timeout: Annotated[float, Field(gt=0, le=3600)] = 60
    turn_timeout: Annotated[float, Field(gt=0, le=86400)] = 1800
    give_up_after: Annotated[int, Field(ge=1, le=1000)] = 3
    settings: Settings = Settings()


class HttpAgentConfig(Frozen):
    """An agent behind a web address, to which the conversation is POSTed and which answers with a reply. `headers`: names
    of headers with the environment variables that hold their values. `timeout`: seconds that an answer may take, with
    all `retries`. `give_up_after`: this many failed answers in a row pause the run; an address without an agent pauses
    it at once.
    """

    kind: Literal["http"] = "http"
    url: BaseUrl
    headers: dict[str, EnvName] = {}
    timeout: Annotated[float, Field(gt=0, le=86400)] = 600
    retries: Annotated[int, Field(ge=0, le=20)] = 2
    give_up_after: Annotated[int, Field(ge=1, le=1000)] = 3
    model: str = ""
    settings: Settings = Settings()


class ClassConfig(Frozen):
    """A player that is a class of somebody's own (docs/plugins.md). `class`: as "package.module:Class", looked for in
    `folder` first, which is that of the configuration file. `options`: named arguments that the class is made with.
    `timeout`: seconds that each of its methods may take.
    """

    kind: Literal["python"] = "python"
    code: Annotated[str, Field(alias="class"), AfterValidator(_class_name)]
    options: dict[str, JsonValue] = {}
    timeout: Annotated[float, Field(gt=0, le=86400)] = 600
    folder: str = ""


class ClassAgentConfig(ClassConfig):
    """An agent that is a class of somebody's own."""

    settings: Settings = Settings()


AgentConfig = Annotated[
    OfflineAgentConfig
    | ReactAgentConfig
    | TeamAgentConfig
    | AcpAgentConfig
    | HttpAgentConfig
    | ClassAgentConfig,
    Field(discriminator="kind"),
]


class ScriptedUserConfig(Frozen):
    """The scripted user: follows the persona's stages, testing cues by rule. A baseline. The hasty one does not wait for cues."""

    kind: Literal["scripted", "scripted:hasty"]


class SimulatorConfig(Frozen):
    """A model plays the user: the persona of a task that has one, the responder of a checkpoint task.
    Tasks without either are asked once.
    """

    kind: Literal["simulator"]
    model: Name
    prompts: dict[Name, Name] = {}


UserConfig = Annotated[
    ScriptedUserConfig | SimulatorConfig | ClassConfig, Field(discriminator="kind")
]


UNCAGED: Final = "programs that models write may do what I may"


class PythonConfig(Frozen):
    """The tool `python`, which is off unless it is configured. It runs programs that a model wrote, in a cage with these
    limits. `seconds`: of CPU time; twice as many by the clock. `uncaged`: the words that accept running them where the
    system cannot cage them, with what it has.
    """

    seconds: Annotated[float, Field(gt=0, le=600)] = 10
    memory_mb: Annotated[int, Field(ge=64, le=16384)] = 512
    output_chars: Annotated[int, Field(ge=100, le=200_000)] = 10_000
    uncaged: Literal["", "programs that models write may do what I may"] = ""


class ClosedWorldConfig(Frozen):
    """The closed world: answers searches from the task's gold alone. A baseline."""

    kind: Literal["closed"]
    python: PythonConfig | None = None


class ParallelWorldConfig(Frozen):
    """A model plays a search engine over a task's facts. `attempts`: how many replies per query it may give before the
    closed world answers instead, if they break the rules.
    """

    kind: Literal["parallel"]
    model: Name
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    prompts: dict[Name, Name] = {}
    python: PythonConfig | None = None


class VisitConfig(Frozen):
    """The tool `visit`: fetches pages and, with a `model`, summarises them for the agent's goal. `max_mb`: most megabytes
    of a page; `timeout`: in seconds. `private`: allow addresses of the local machine and network, for tests.
    """

    model: str = ""
    max_mb: Annotated[float, Field(gt=0, le=100)] = 5
    timeout: Annotated[float, Field(gt=0, le=600)] = 30
    private: bool = False


class WebWorldConfig(Frozen):
    """The real web. `engine`: the search engine, with its address (`url`, required for searxng) and the variable of its
    key. `results`: per search; `tools`: those that are offered; `timeout`: in seconds. `blocked`: addresses that agents
    do not get, as in `worlds.blocking.BlockList`; with `block_homes` also those where benchmarks are published.
    """

    kind: Literal["web"]
    engine: Literal["searxng", "tavily", "serper", "brave"]
    url: BaseUrl | None = None
    api_key_env: EnvName = ""
    results: Annotated[int, Field(ge=1, le=50)] = 10
    tools: tuple[Literal["search", "web_search", "scholar_search", "visit"], ...] = (
        "search",
        "visit",
    )
    timeout: Annotated[float, Field(gt=0, le=600)] = 30
    retries: Annotated[int, Field(ge=0, le=20)] = 3
    blocked: tuple[str, ...] = ()
    block_homes: bool = True
    visit: VisitConfig = VisitConfig()
    prompts: dict[Name, Name] = {}
    python: PythonConfig | None = None


class ReplayWorldConfig(Frozen):
    """Answers tool calls from the records of an earlier run, without the network."""

    kind: Literal["replay"]
    run: Annotated[int, Field(ge=1)]


class ClassWorldConfig(ClassConfig):
    """A world that is a class of somebody's own."""

    python: PythonConfig | None = None


WorldConfig = Annotated[
    ClosedWorldConfig | ParallelWorldConfig | WebWorldConfig | ReplayWorldConfig | ClassWorldConfig,
    Field(discriminator="kind"),
]


class LexicalJudgeConfig(Frozen):
    """The lexical judge: normalised and fuzzy matching. A baseline. Those behind a colon judge worse on purpose."""

    kind: Literal["lexical", "lexical:strict", "lexical:lenient", "lexical:noisy"] = "lexical"


class ModelJudgeConfig(Frozen):
    """A judge on a model. `batch`: gold items per call (batches are judged concurrently); `attempts`: per batch."""

    kind: Literal["model"]
    model: Name
    batch: Annotated[int, Field(ge=1, le=200)] = 20
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    prompts: dict[Name, Name] = {}


class JuryConfig(Frozen):
    """Several other judges together: what most of `members` say, or what their votes weigh. `weights`: by member, what a yes
    and what a no of it adds to the sum, which begins with `start` and is a yes above 0 (docs/judging.md).
    """

    kind: Literal["jury"]
    members: Annotated[tuple[Name, ...], Field(min_length=2)]
    weights: dict[Name, tuple[float, float]] = {}
    start: float = 0.0


JudgeConfig = Annotated[
    LexicalJudgeConfig | ModelJudgeConfig | JuryConfig | ClassConfig, Field(discriminator="kind")
]

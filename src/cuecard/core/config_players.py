"""The agents, users, worlds and judges that `cuecard.yaml` can describe, and the kinds of values it holds."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, JsonValue, StringConstraints

from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen, Name

PERSON = "person"
"""The name under which a person plays the agent; see `core.agents.person`."""

_PLAYER_NAME = re.compile(r"[\w.\-]{1,60}")
_ENV_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")
# What the client itself puts into a request, and what belongs into the environment.
_RESERVED = {"model", "messages", "tools", "stream", "stream_options", "api_key", "authorization"}


def _player_name(value: str) -> str:
    if not _PLAYER_NAME.fullmatch(value):
        raise ValueError(_("a name may hold letters, digits, '.', '-' and '_', at most 60 of them"))
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


def _env_name(value: str) -> str:
    # Capitals only: most keys hold small letters, so a pasted key is refused instead of shown later.
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


class Settings(Frozen):
    """How an agent meets each family, as the papers vary it.

    `facts` (Mind-ParaWorld): `oracle` gets the facts and no tools (A), `guided` and `few_shot` a prompt
    that tells how to split questions (B), `end_to_end` only the question (C). `checkpoints`
    (DiscoBench): `neutral`, `guided` (told that steps may be ambiguous), without the tool `search` or
    `ask`. `graph` (VibeSearchBench): the user talks (`simulated`), says the sub-queries in order
    (`staged`), or the full query at once (`direct`).
    """

    facts: FactsSetting = "end_to_end"
    checkpoints: CheckpointSetting = "neutral"
    graph: GraphSetting = "simulated"

    def of(self, family: str) -> str:
        """How tasks of a family are met; "" where the papers know one way only."""
        return getattr(self, family) if family in type(self).model_fields else ""


class ContextConfig(Frozen):
    """What happens when the conversation nears what the model can read: `summary` replaces the older
    part by the model's own summary, which keeps every request of the user; `window` leaves the oldest
    messages out; `none` lets it overflow. `at`: the share of the model's `context` that is too near.
    `keep`: the last messages that stay as they are.
    """

    strategy: Literal["summary", "window", "none"] = "summary"
    at: Annotated[float, Field(gt=0.1, le=1)] = 0.9
    keep: Annotated[int, Field(ge=1, le=200)] = 6


class OfflineAgentConfig(Frozen):
    """The embedded agent: deterministic, without a model. A baseline."""

    kind: Literal["offline"] = "offline"


class ModelAgentConfig(Frozen):
    """What all agents on a model share. `max_steps`: model calls per turn. `calls`: tool calls by the
    server's own means (`native`), or written as tagged text for models without them. `memory`: notes
    kept within a task (`local`) or carried from task to task of a run (`lifelong`). `prompts`: files
    that replace embedded prompts, read relative to the configuration file.
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
    """A main agent that gives pieces of its work to members with the same tools, in parallel.
    `members`: at most so many in one turn; `member_steps`: model calls of each.
    """

    kind: Literal["team"] = "team"
    members: Annotated[int, Field(ge=1, le=64)] = 8
    member_steps: Annotated[int, Field(ge=1, le=200)] = 12


class AcpAgentConfig(Frozen):
    """Any harness that speaks the Agent Client Protocol over stdio. `pass_env`: environment variables
    handed on to it, besides PATH, HOME and the locale. `world`: offer the trial's tools to it as an MCP
    server. `world_port`: offer it at this port of 127.0.0.1, path `/mcp`, for harnesses that take MCP
    servers from their own configuration only; trials then take turns. `shared`: one process serves all
    trials, each in a session of its own. `model`: for the record only. Times in seconds.
    `give_up_after`: prompts in a row that failed so pause the run; a harness that cannot be started pauses
    it at once.
    """

    kind: Literal["acp"] = "acp"
    command: Annotated[tuple[str, ...], Field(min_length=1)]
    pass_env: EnvNames = ()
    world: bool = True
    world_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    shared: bool = False
    model: str = ""
    start_timeout: Annotated[float, Field(gt=0, le=3600)] = 60
    turn_timeout: Annotated[float, Field(gt=0, le=86400)] = 1800
    give_up_after: Annotated[int, Field(ge=1, le=1000)] = 3
    settings: Settings = Settings()


class HttpAgentConfig(Frozen):
    """An agent behind a web address: it is POSTed the conversation and answers with a reply.
    `headers`: names of headers with the environment variables that hold their values. `timeout`: seconds
    that an answer may take, with all `retries`. `give_up_after`: answers in a row that failed so pause the
    run; an address where there is no agent pauses it at once.
    """

    kind: Literal["http"] = "http"
    url: BaseUrl
    headers: dict[str, EnvName] = {}
    timeout: Annotated[float, Field(gt=0, le=86400)] = 600
    retries: Annotated[int, Field(ge=0, le=20)] = 2
    give_up_after: Annotated[int, Field(ge=1, le=1000)] = 3
    model: str = ""
    settings: Settings = Settings()


AgentConfig = Annotated[
    OfflineAgentConfig | ReactAgentConfig | TeamAgentConfig | AcpAgentConfig | HttpAgentConfig,
    Field(discriminator="kind"),
]


class ScriptedUserConfig(Frozen):
    """The embedded user: follows the persona's stages by testable cues. A baseline."""

    kind: Literal["scripted"]


class SimulatorConfig(Frozen):
    """A model plays the user: the persona of a task that has one, the responder of a checkpoint task.
    Tasks without either are asked once.
    """

    kind: Literal["simulator"]
    model: Name
    prompts: dict[Name, Name] = {}


UserConfig = Annotated[ScriptedUserConfig | SimulatorConfig, Field(discriminator="kind")]


class PythonConfig(Frozen):
    """The tool `python`: off unless this stands in the configuration. It runs what a model wrote, in a
    process of its own with these limits. `seconds` of CPU and twice as many by the clock.
    """

    seconds: Annotated[float, Field(gt=0, le=600)] = 10
    memory_mb: Annotated[int, Field(ge=64, le=16384)] = 512
    output_chars: Annotated[int, Field(ge=100, le=200_000)] = 10_000


class ClosedWorldConfig(Frozen):
    """The embedded world: answers searches from the task's gold alone. A baseline."""

    kind: Literal["closed"]
    python: PythonConfig | None = None


class ParallelWorldConfig(Frozen):
    """A model plays a search engine over a world of facts that do not hold outside it.
    `attempts`: how many replies to a query that break the rules it may give, before the closed world
    answers instead.
    """

    kind: Literal["parallel"]
    model: Name
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    prompts: dict[Name, Name] = {}
    python: PythonConfig | None = None


class VisitConfig(Frozen):
    """The tool `visit`: fetches pages and, with a `model`, sums them up for the agent's goal.
    `private`: whether addresses of the own machine and network may be fetched, for tests.
    """

    model: str = ""
    max_mb: Annotated[float, Field(gt=0, le=100)] = 5
    timeout: Annotated[float, Field(gt=0, le=600)] = 30
    private: bool = False


class WebWorldConfig(Frozen):
    """The real web. `engine` with its address (`url`, needed for searxng) and key. `tools`: which of
    the search tools are offered.
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
    visit: VisitConfig = VisitConfig()
    prompts: dict[Name, Name] = {}
    python: PythonConfig | None = None


class ReplayWorldConfig(Frozen):
    """Answers from what an earlier run recorded, without the network."""

    kind: Literal["replay"]
    run: Annotated[int, Field(ge=1)]


WorldConfig = Annotated[
    ClosedWorldConfig | ParallelWorldConfig | WebWorldConfig | ReplayWorldConfig,
    Field(discriminator="kind"),
]


class LexicalJudgeConfig(Frozen):
    """The embedded judge: normalised and fuzzy matching. A baseline."""

    kind: Literal["lexical"]


class ModelJudgeConfig(Frozen):
    """A model judges. `batch`: gold items in one call; batches are judged at the same time."""

    kind: Literal["model"]
    model: Name
    batch: Annotated[int, Field(ge=1, le=200)] = 20
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    prompts: dict[Name, Name] = {}


JudgeConfig = Annotated[LexicalJudgeConfig | ModelJudgeConfig, Field(discriminator="kind")]

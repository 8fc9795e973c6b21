"""The agents that `cuecard.yaml` can describe."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cuecard.core.config_fields import BaseUrl, EnvName, EnvNames
from cuecard.core.tasks.base import Frozen, Name

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

"""The users, worlds and judges that `cuecard.yaml` can describe."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cuecard.core.config_fields import BaseUrl, EnvName
from cuecard.core.tasks.base import Frozen, Name


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

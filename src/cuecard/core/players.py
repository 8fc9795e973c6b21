"""The kinds of players there are: agents, users, worlds and judges, what is true of each, and where its code is.

Whatever wants to know whether a player is a baseline, needs a model or is there without a configuration asks here, by
the `kind` that stands in `cuecard.yaml` and in records. To add a kind: its settings in `core.config_players`, a row here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from cuecard.core.i18n import _
from cuecard.core.lazy import imported

Part = Literal["agent", "user", "world", "judge"]
Source = Literal["rules", "model", "program", "web", "records", "unknown"]


@dataclass(frozen=True)
class PlayerKind:
    """One kind of player of a `part`.

    `source`: what its words come from: our own `rules`, a `model` of the configuration, another `program` (whose model
    is only told, not called), the `web`, or `records` of an earlier run. `embedded`: always there, under its kind as
    its name, without a configuration. `settings`: the class of what the configuration says of it. `maker`: where, below
    `cuecard.core`, the function is that makes one; see `make`. `from_gold`, of worlds: answers come
    from the task's gold. `collection`, of worlds: `search` looks into a closed collection rather than the web.
    """

    part: Part
    kind: str
    source: Source = "unknown"
    settings: str = ""
    maker: str = ""
    embedded: bool = False
    from_gold: bool = False
    collection: bool = False

    @property
    def baseline(self) -> bool:
        """Whether it plays by rules alone: its results are never taken for those of a model."""
        return self.source == "rules"

    @property
    def offline(self) -> bool:
        """Whether it reaches nothing outside of this process."""
        return self.source in ("rules", "records")

    @property
    def needs_model(self) -> bool:
        """Whether its settings name one of the configuration's models."""
        return self.source == "model"

    @property
    def label(self) -> str:
        """What is shown beside its name where no model is."""
        return _("offline baseline") if self.baseline else self.kind

    def settings_class(self) -> Any:
        """The pydantic model of its settings. Imports `core.config_players`."""
        return imported(f"cuecard.core.config_players:{self.settings}")

    def make(self, *given: Any) -> Any:
        """A player, by its `maker`. Each is given (name, settings, configuration, model hub); then an agent's the task,
        what a lifelong memory holds and whether a person plays the user; a user's the task and whether it is to be
        looked at only; a world's the task and the tape of an earlier run. Raises `ConfigError` where it cannot be made.
        """
        return imported(f"cuecard.core.{self.maker}")(*given)


_KINDS: tuple[PlayerKind, ...] = (
    PlayerKind(
        "agent",
        "offline",
        "rules",
        "OfflineAgentConfig",
        "agents.offline:make_agent",
        embedded=True,
    ),
    PlayerKind("agent", "react", "model", "ReactAgentConfig", "agents.model_agents:make_agent"),
    PlayerKind("agent", "team", "model", "TeamAgentConfig", "agents.model_agents:make_agent"),
    PlayerKind("agent", "acp", "program", "AcpAgentConfig", "agents.programs:make_harness"),
    PlayerKind("agent", "http", "program", "HttpAgentConfig", "agents.programs:make_remote"),
    PlayerKind(
        "user",
        "scripted",
        "rules",
        "ScriptedUserConfig",
        "users.responder:make_user",
        embedded=True,
    ),
    PlayerKind("user", "simulator", "model", "SimulatorConfig", "users.simulators:make_user"),
    PlayerKind(
        "world",
        "closed",
        "rules",
        "ClosedWorldConfig",
        "worlds.closed:make_world",
        embedded=True,
        from_gold=True,
        collection=True,
    ),
    PlayerKind(
        "world",
        "parallel",
        "model",
        "ParallelWorldConfig",
        "worlds.parallel:make_world",
        collection=True,
    ),
    PlayerKind("world", "web", "web", "WebWorldConfig", "worlds.web:make_world"),
    PlayerKind("world", "replay", "records", "ReplayWorldConfig", "worlds.replay:make_world"),
    PlayerKind(
        "judge",
        "lexical",
        "rules",
        "LexicalJudgeConfig",
        "judges.lexical:make_judge",
        embedded=True,
    ),
    PlayerKind("judge", "model", "model", "ModelJudgeConfig", "judges.model:make_judge"),
)
_BY_NAME = {(found.part, found.kind): found for found in _KINDS}


def kinds(part: Part) -> tuple[PlayerKind, ...]:
    """All kinds of a part; embedded ones come first."""
    return tuple(found for found in _KINDS if found.part == part)


def kind_of(part: Part, kind: str) -> PlayerKind:
    """What is known of a kind. Of one that is not known here (records of a newer version hold such, and people are
    none) nothing is true.
    """
    return _BY_NAME.get((part, kind)) or PlayerKind(part, kind)


def embedded(part: Part) -> tuple[PlayerKind, ...]:
    """Those that are always there, under their kind as their name. The first is the default."""
    return tuple(found for found in kinds(part) if found.embedded)


def all_embedded(part: Part, names: Iterable[str]) -> bool:
    """Whether players of these names are there without a configuration."""
    return {*names} <= {found.kind for found in embedded(part)}


DEFAULT_AGENT, DEFAULT_USER, DEFAULT_WORLD, DEFAULT_JUDGE = (
    embedded(part)[0].kind for part in ("agent", "user", "world", "judge")
)

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
    its name, without a configuration. `settings`: the class of what the configuration says of it. `maker`, of judges:
    a function of (name, settings, configuration, model hub) that makes one. `from_gold`, of worlds: answers come
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
        """A player, by its `maker`. Raises what that raises: `ConfigError` where it cannot be made."""
        return imported(self.maker)(*given)


_KINDS: tuple[PlayerKind, ...] = (
    PlayerKind("agent", "offline", "rules", "OfflineAgentConfig", embedded=True),
    PlayerKind("agent", "react", "model", "ReactAgentConfig"),
    PlayerKind("agent", "team", "model", "TeamAgentConfig"),
    PlayerKind("agent", "acp", "program", "AcpAgentConfig"),
    PlayerKind("agent", "http", "program", "HttpAgentConfig"),
    PlayerKind("user", "scripted", "rules", "ScriptedUserConfig", embedded=True),
    PlayerKind("user", "simulator", "model", "SimulatorConfig"),
    PlayerKind(
        "world",
        "closed",
        "rules",
        "ClosedWorldConfig",
        embedded=True,
        from_gold=True,
        collection=True,
    ),
    PlayerKind("world", "parallel", "model", "ParallelWorldConfig", collection=True),
    PlayerKind("world", "web", "web", "WebWorldConfig"),
    PlayerKind("world", "replay", "records", "ReplayWorldConfig"),
    PlayerKind(
        "judge",
        "lexical",
        "rules",
        "LexicalJudgeConfig",
        maker="cuecard.core.judges.lexical:make_judge",
        embedded=True,
    ),
    PlayerKind(
        "judge",
        "model",
        "model",
        "ModelJudgeConfig",
        maker="cuecard.core.judges.model:make_judge",
    ),
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

"""The kinds of agents, users, worlds and judges: the properties of each, and where its code is.

Whether a player is a baseline, needs a model or exists without a configuration is looked up here by its `kind`, as in
`cuecard.yaml` and in records. To add a kind, add its settings to `core.config_players` and a row here.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from cuecard.core.i18n import N_, _
from cuecard.core.plugins import PluginError, imported, load_class

Part = Literal["agent", "user", "world", "judge"]
Source = Literal["rules", "model", "program", "web", "records", "unknown"]


PYTHON = "python"
"""The kind of players that are classes of somebody's own; see docs/plugins.md."""
METHODS: dict[Part, tuple[str, ...]] = {
    "agent": ("reply", "conclude"),
    "user": ("open", "reply"),
    "world": ("answer",),
    "judge": ("judge",),
}
"""What such a class has to have."""


@dataclass(frozen=True)
class PlayerKind:
    """One kind of player of a `part`.

    `source`: what produces its words: our own `rules`, a `model` of the configuration, another `program` (whose model is
    named, but not called by us), the `web`, or `records` of an earlier run. `embedded`: exists without a configuration,
    with its kind as its name. `settings`: the class of its settings. `maker`: the function that makes one, as a reference
    below `cuecard.core`; see `make`. `from_gold`, of worlds: answers come from the task's gold. `collection`, of worlds:
    `search` searches a closed collection rather than the web.
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
        """Whether it plays by rules alone, so that its results must not be mistaken for those of a model."""
        return self.source == "rules"

    @property
    def needs_model(self) -> bool:
        """Whether its settings name one of the configuration's models."""
        return self.source == "model"

    @property
    def label(self) -> str:
        """What is shown beside the name of a player without a model."""
        word = _WORDS.get(f"{self.part}/{self.kind}" if self.kind == "model" else self.kind, "")
        return _("offline baseline") if self.baseline else _(word) if word else self.kind

    def settings_class(self) -> Any:
        """The pydantic model of its settings. Imports `core.config_players`."""
        return imported(f"cuecard.core.config_players:{self.settings}")

    def make(self, *given: Any) -> Any:
        """A player made by `maker`. All makers get (name, settings, configuration, model hub). Then follow, for an agent,
        the task, its notes of earlier tasks and whether a person plays the user; for a user, the task and whether it is
        only used as a shadow; for a world, the task and the tape of an earlier run. Raises `ConfigError` if it cannot be
        made.
        """
        return imported(f"cuecard.core.{self.maker}")(*given)


def _offline(part: Part, settings: str, maker: str, *names: str) -> tuple[PlayerKind, ...]:
    """Embedded players of one maker: the plain one, and those that err on purpose, so that results differ."""
    return tuple(PlayerKind(part, name, "rules", settings, maker, embedded=True) for name in names)


_KINDS: tuple[PlayerKind, ...] = (
    *_offline(
        "agent",
        "OfflineAgentConfig",
        "agents.offline:make_agent",
        "offline",
        "offline:forgetful",
        "offline:hasty",
        "offline:wordy",
    ),
    PlayerKind("agent", "react", "model", "ReactAgentConfig", "agents.react:make_agent"),
    PlayerKind("agent", "team", "model", "TeamAgentConfig", "agents.react:make_agent"),
    PlayerKind("agent", "acp", "program", "AcpAgentConfig", "agents.programs:make_harness"),
    PlayerKind("agent", "http", "program", "HttpAgentConfig", "agents.programs:make_remote"),
    *_offline(
        "user",
        "ScriptedUserConfig",
        "users.scripted:make_user",
        "scripted",
        "scripted:hasty",
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
    *_offline(
        "judge",
        "LexicalJudgeConfig",
        "judges.lexical:make_judge",
        "lexical",
        "lexical:strict",
        "lexical:lenient",
        "lexical:noisy",
    ),
    PlayerKind("judge", "model", "model", "ModelJudgeConfig", "judges.model:make_judge"),
    PlayerKind("judge", "jury", "unknown", "JuryConfig", "judges.jury:make_judge"),
    PlayerKind("agent", PYTHON, "unknown", "ClassAgentConfig", "engine.own_players:OwnAgent"),
    PlayerKind("user", PYTHON, "unknown", "ClassConfig", "engine.own_players:OwnUser"),
    PlayerKind("world", PYTHON, "unknown", "ClassWorldConfig", "engine.own_players:OwnWorld"),
    PlayerKind("judge", PYTHON, "unknown", "ClassConfig", "engine.own_players:OwnJudge"),
)
_WORDS: dict[str, str] = {
    "react": N_("ReAct loop"),
    "team": N_("team of agents"),
    "acp": N_("program over ACP"),
    "http": N_("program over HTTP"),
    "simulator": N_("simulated user"),
    "parallel": N_("parallel world"),
    "web": N_("open web"),
    "replay": N_("answers of an earlier run"),
    "judge/model": N_("model as judge"),
    "jury": N_("jury of judges"),
    PYTHON: N_("class of one's own"),
}
_BY_NAME = {(found.part, found.kind): found for found in _KINDS}


def kinds(part: Part) -> tuple[PlayerKind, ...]:
    """All kinds of a part; embedded ones come first."""
    return tuple(found for found in _KINDS if found.part == part)


def kind_of(part: Part, kind: str) -> PlayerKind:
    """The properties of a kind. An unknown one (a person, or a kind in records of a newer version) has none of them."""
    return _BY_NAME.get((part, kind)) or PlayerKind(part, kind)


def own_class(part: Part, player: Any) -> type[Any]:
    """The class that a player of the kind `python` names; `player`: its settings. Raises `PluginError`."""
    return load_class(player.code, player.folder, METHODS[part])


def properties(part: Part, player: Any) -> PlayerKind:
    """The properties of a player with these settings: those of its kind, and the `source` that its own class gives, if it
    has one. Of a class that cannot be loaded nothing is known.
    """
    kind = kind_of(part, player.kind)
    if kind.kind != PYTHON:
        return kind
    try:
        source: Any = getattr(own_class(part, player), "source", "")
    except PluginError:
        return kind
    # A model of the configuration is none that its settings name.
    known = source in get_args(Source) and source != "model"
    return replace(kind, source=source) if known else kind


def embedded(part: Part) -> tuple[PlayerKind, ...]:
    """The kinds that exist without a configuration, with their kind as their name. The first is the default."""
    return tuple(found for found in kinds(part) if found.embedded)


def all_embedded(part: Part, names: Iterable[str]) -> bool:
    """Whether all players with these names exist without a configuration."""
    return {*names} <= {found.kind for found in embedded(part)}


DEFAULT_AGENT, DEFAULT_USER, DEFAULT_WORLD, DEFAULT_JUDGE = (
    embedded(part)[0].kind for part in ("agent", "user", "world", "judge")
)

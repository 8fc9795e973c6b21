"""The players that can be chosen for a session or run, and what keeps them from playing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from shutil import which
from typing import Any

from cuecard.core.config_players import AcpAgentConfig
from cuecard.core.config_schema import Config
from cuecard.core.i18n import N_, _, headed, listed, ngettext
from cuecard.core.players import (
    DEFAULT_AGENT,
    DEFAULT_JUDGE,
    DEFAULT_WORLD,
    Part,
    all_embedded,
    kind_of,
    properties,
)
from cuecard.core.text import one_line
from cuecard.tui.present.labels import coded

Choices = list[tuple[str, str]]
PART_LABELS: dict[Part, str] = {
    "agent": N_("agent"),
    "user": N_("user"),
    "world": N_("world"),
    "judge": N_("judge"),
}


@dataclass(frozen=True)
class PlayerChoices:
    """(name, what to show) of every player of a configuration, in its order."""

    agents: Choices
    users: Choices
    worlds: Choices
    judges: Choices
    currency: str = "USD"
    free: frozenset[tuple[Part, str]] = frozenset()
    """(part, name) of those that call no model."""


@dataclass(frozen=True)
class PlayerRow:
    """One player of a configuration. `keys`: the environment variables that it wants."""

    part: str
    name: str
    kind: str
    baseline: bool
    model: str = ""
    endpoint: str = ""
    keys: tuple[str, ...] = ()


def player_rows(config: Config) -> list[PlayerRow]:
    """Every player, agents first, in the configuration's order."""
    return [
        player_row(config, part, name, player)
        for part, players in players_of(config).items()
        for name, player in players.items()
    ]


def players_of(config: Config) -> dict[Part, dict[str, Any]]:
    """What the configuration says of each player, by part and name."""
    return {
        "agent": dict(config.agents),
        "user": dict(config.users),
        "world": dict(config.worlds),
        "judge": dict(config.judges),
    }


def player_row(config: Config, part: Part, name: str, player: Any) -> PlayerRow:
    """One player of the configuration; `player` is what it says of `name`."""
    kind = properties(part, player)
    named: str = getattr(player, "model", "")
    model = None if kind.source == "program" else config.models.get(named)
    own = (getattr(player, "api_key_env", ""), *getattr(player, "pass_env", ()))
    headers: dict[str, str] = getattr(player, "headers", {})
    keys = (model.api_key_env if model else "", *own, *headers.values())
    command = " ".join(getattr(player, "command", ())) or getattr(player, "code", "")
    return PlayerRow(
        part=_(PART_LABELS[part]),
        name=name,
        kind=player.kind if kind.baseline else coded(kind.label, player.kind),
        baseline=kind.baseline,
        model=model.model if model else named or getattr(player, "engine", ""),
        endpoint=model.base_url if model else getattr(player, "url", "") or command,
        keys=tuple(dict.fromkeys(key for key in keys if key)),
    )


def player_choices(config: Config) -> PlayerChoices:
    parts = players_of(config)
    return PlayerChoices(
        agents=_choices(config, "agent"),
        users=_choices(config, "user"),
        worlds=_choices(config, "world"),
        judges=_choices(config, "judge"),
        currency=config.currency,
        free=frozenset(
            (part, name)
            for part, players in parts.items()
            for name, player in players.items()
            if properties(part, player).baseline
        ),
    )


def _choices(config: Config, part: Part) -> Choices:
    found = players_of(config)[part]
    return [(name, _label(config, part, name, player)) for name, player in found.items()]


def _label(config: Config, part: Part, name: str, player: Any) -> str:
    kind = properties(part, player)
    if kind.baseline:
        return f"{name} · {kind.label}"
    model: str = getattr(player, "model", "") or getattr(player, "engine", "")
    served = config.models[model].model if model in config.models else model
    return f"{name} · {one_line(served, 60) or kind.label}"


def context_of(config: Config, agent: str) -> int | None:
    """Tokens that the model of an agent can read; None where that is not known."""
    model: str = getattr(config.agents.get(agent), "model", "")
    return config.models[model].context if model in config.models else None


PERSON = "person"
"""The agent's part in the hands of a second person."""


@dataclass(frozen=True)
class Start:
    """Who takes the other parts of a session, by the names of the configuration."""

    agent: str = DEFAULT_AGENT
    world: str = DEFAULT_WORLD
    judge: str = DEFAULT_JUDGE
    shadows: tuple[str, ...] = ()

    def kept(self) -> dict[str, Any]:
        """As preferences hold it."""
        return {
            "agent": self.agent,
            "world": self.world,
            "judge": self.judge,
            "shadows": list(self.shadows),
        }


@dataclass(frozen=True)
class Choice:
    """A player to choose. `problem`: why it cannot play now, "" if nothing is known to speak against it."""

    name: str
    label: str
    baseline: bool = False
    problem: str = ""


@dataclass(frozen=True)
class StartChoices:
    """What there is to choose from, and `chosen`, what Enter alone starts with."""

    agents: tuple[Choice, ...]
    worlds: tuple[Choice, ...]
    judges: tuple[Choice, ...]
    shadows: tuple[Choice, ...]
    chosen: Start = Start()

    @property
    def skippable(self) -> bool:
        """Whether there is nothing to choose but baselines: then a session starts without asking."""
        others = [part for part in self.agents if part.name != PERSON]
        parts = (*others, *self.worlds, *self.judges, *self.shadows)
        ours = all_embedded("agent", (part.name for part in others))
        return ours and all(part.baseline for part in parts)

    def problems(self, start: Start) -> tuple[str, ...]:
        """Why this session could not be played, each a sentence; () if nothing is known."""
        wanted = (
            *_named(self.agents, (start.agent,)),
            *_named(self.worlds, (start.world,)),
            *_named(self.judges, (start.judge,)),
            *_named(self.shadows, start.shadows),
        )
        told = (headed(part.name, part.problem) for part in wanted if part.problem)
        return tuple(dict.fromkeys(told))


def start_choices(
    config: Config, kept: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> StartChoices:
    """`kept`: what this person chose last time (`Start.kept`); players that are gone are passed over.
    `environ`: where keys are looked for, by default the process's.
    """
    if environ is None:
        import os

        environ = os.environ

    def choice(part: Part, player: Any, name: str) -> Choice:
        return _choice(player_row(config, part, name, player), player, environ)

    # A world that answers from an earlier run's records has none of this session.
    worlds = {
        name: world
        for name, world in config.worlds.items()
        if kind_of("world", world.kind).source != "records"
    }
    agents = {name: agent for name, agent in config.agents.items() if name != PERSON}
    choices = StartChoices(
        agents=(
            *(choice("agent", agent, name) for name, agent in agents.items()),
            Choice(PERSON, _("a person (Wizard of Oz)")),
        ),
        worlds=tuple(choice("world", world, name) for name, world in worlds.items()),
        judges=tuple(choice("judge", judge, name) for name, judge in config.judges.items()),
        shadows=tuple(choice("user", user, name) for name, user in config.users.items()),
    )
    return replace(choices, chosen=_chosen(choices, config, kept or {}))


def _choice(row: PlayerRow, settings: Any, environ: Mapping[str, str]) -> Choice:
    told = row.model or row.kind
    label = f"{row.name} · {_('offline baseline') if row.baseline else one_line(told, 60)}"
    unset = [key for key in row.keys if not environ.get(key, "").strip()]
    if isinstance(settings, AcpAgentConfig):
        # A harness may have been logged in otherwise: what it wants is only known when it starts.
        program = settings.command[0]
        unset = []
        if which(program, path=environ.get("PATH")) is None:
            problem = _("there is no program {name} here").format(name=one_line(program, 40))
            return Choice(row.name, label, row.baseline, problem)
    problem = ""
    if unset:
        problem = ngettext(
            "the environment variable {names} is not set",
            "the environment variables {names} are not set",
            len(unset),
        ).format(names=listed(unset))
    return Choice(row.name, label, row.baseline, problem)


def _chosen(choices: StartChoices, config: Config, kept: Mapping[str, Any]) -> Start:
    """What was chosen last time; else the configuration's world, judge and shadows and its first agent
    that can play.
    """
    play = config.play
    able = next((part.name for part in choices.agents if not part.problem), DEFAULT_AGENT)
    shadows: Any = kept.get("shadows", play.shadows)
    wanted: list[Any] = list(shadows) if isinstance(shadows, list | tuple) else []  # pyright: ignore[reportUnknownArgumentType]
    return Start(
        agent=_one_of(choices.agents, kept.get("agent"), able),
        world=_one_of(choices.worlds, kept.get("world"), play.world),
        judge=_one_of(choices.judges, kept.get("judge"), play.judge),
        shadows=tuple(part.name for part in choices.shadows if part.name in wanted),
    )


def _one_of(parts: Sequence[Choice], name: object, otherwise: str) -> str:
    names = [part.name for part in parts]
    return name if isinstance(name, str) and name in names else otherwise


def _named(parts: Sequence[Choice], names: Sequence[str]) -> list[Choice]:
    return [part for part in parts if part.name in names]

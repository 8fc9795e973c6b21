"""Who can take the other parts of a session, what speaks against them, and what was chosen last time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from shutil import which
from typing import TYPE_CHECKING, Any

from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.state.players import PlayerRow, player_row

if TYPE_CHECKING:
    from cuecard.core.config import Config

PERSON = "person"
"""The agent's part in the hands of a second person."""


@dataclass(frozen=True)
class Start:
    """Who takes the other parts of a session, by the names of the configuration."""

    agent: str = "offline"
    world: str = "closed"
    judge: str = "lexical"
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
class Part:
    """A player to choose. `problem`: why it cannot play now, "" if nothing is known to speak against it."""

    name: str
    label: str
    baseline: bool = False
    problem: str = ""


@dataclass(frozen=True)
class StartChoices:
    """What there is to choose from, and `chosen`, what Enter alone starts with."""

    agents: tuple[Part, ...]
    worlds: tuple[Part, ...]
    judges: tuple[Part, ...]
    shadows: tuple[Part, ...]
    chosen: Start = Start()

    @property
    def skippable(self) -> bool:
        """Whether there is nothing to choose but baselines: then a session starts without asking."""
        others = [part for part in self.agents if part.name != PERSON]
        parts = (*others, *self.worlds, *self.judges, *self.shadows)
        return len(others) == 1 and all(part.baseline for part in parts)

    def problems(self, start: Start) -> tuple[str, ...]:
        """Why this session could not be played, each a sentence; () if nothing is known."""
        wanted = (
            *_named(self.agents, (start.agent,)),
            *_named(self.worlds, (start.world,)),
            *_named(self.judges, (start.judge,)),
            *_named(self.shadows, start.shadows),
        )
        told = (f"{part.name}: {part.problem}" for part in wanted if part.problem)
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

    def part_of(config_of: Any, name: str) -> Part:
        return _part(player_row(config, "", name, config_of), config_of, environ)

    # A world that answers from an earlier run's records has none of this session.
    worlds = {name: world for name, world in config.worlds.items() if world.kind != "replay"}
    agents = {name: agent for name, agent in config.agents.items() if name != PERSON}
    choices = StartChoices(
        agents=(
            *(part_of(agent, name) for name, agent in agents.items()),
            Part(PERSON, _("a person (Wizard of Oz)")),
        ),
        worlds=tuple(part_of(world, name) for name, world in worlds.items()),
        judges=tuple(part_of(judge, name) for name, judge in config.judges.items()),
        shadows=tuple(part_of(user, name) for name, user in config.users.items()),
    )
    return replace(choices, chosen=_chosen(choices, config, kept or {}))


def _part(row: PlayerRow, settings: Any, environ: Mapping[str, str]) -> Part:
    told = row.model or row.kind
    label = f"{row.name} · {_('offline baseline') if row.baseline else one_line(told, 60)}"
    unset = [key for key in row.keys if not environ.get(key, "").strip()]
    if settings.kind == "acp":
        # A harness may have been logged in otherwise: what it wants is only known when it starts.
        program: str = settings.command[0]
        unset = []
        if which(program, path=environ.get("PATH")) is None:
            problem = _("there is no program {name} here").format(name=one_line(program, 40))
            return Part(row.name, label, row.baseline, problem)
    problem = ""
    if unset:
        problem = ngettext(
            "the environment variable {names} is not set",
            "the environment variables {names} are not set",
            len(unset),
        ).format(names=", ".join(unset))
    return Part(row.name, label, row.baseline, problem)


def _chosen(choices: StartChoices, config: Config, kept: Mapping[str, Any]) -> Start:
    """What was chosen last time; else the configuration's world, judge and shadows and its first agent
    that can play.
    """
    play = config.play
    able = next((part.name for part in choices.agents if not part.problem), "offline")
    shadows: Any = kept.get("shadows", play.shadows)
    wanted: list[Any] = list(shadows) if isinstance(shadows, list | tuple) else []  # pyright: ignore[reportUnknownArgumentType]
    return Start(
        agent=_one_of(choices.agents, kept.get("agent"), able),
        world=_one_of(choices.worlds, kept.get("world"), play.world),
        judge=_one_of(choices.judges, kept.get("judge"), play.judge),
        shadows=tuple(part.name for part in choices.shadows if part.name in wanted),
    )


def _one_of(parts: Sequence[Part], name: object, otherwise: str) -> str:
    names = [part.name for part in parts]
    return name if isinstance(name, str) and name in names else otherwise


def _named(parts: Sequence[Part], names: Sequence[str]) -> list[Part]:
    return [part for part in parts if part.name in names]

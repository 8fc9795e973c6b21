"""What a run of a probe is made with, kept in its plan."""

from __future__ import annotations

from cuecard.core.config_models import Config
from cuecard.core.config_review import QcConfig
from cuecard.core.probes.results import ProbeName
from cuecard.core.tasks.base import Frozen

EMBEDDED_WORLD = "closed"
EXAMINER = "examiner"
"""The kind of an agent that looks at a task instead of trying it."""


class ProbeSetting(Frozen):
    """`baseline`: the embedded agent plays, as there is no model. `search_calls`: tool calls of an
    attempt, where it has tools at all. `right_at`: the score from which one counts as right.
    """

    name: ProbeName
    baseline: bool = False
    search_calls: int = 25
    right_at: float = 0.8


def samples_of(probe: ProbeName, qc: QcConfig) -> int:
    """How many attempts each model has; an examination is made once."""
    match probe:
        case "closed_book":
            return qc.closed_book
        case "open_book":
            return qc.open_book
        case "with_facts":
            return qc.with_facts
        case "ambiguity" | "laws":
            return 1


def models_of(probe: ProbeName, config: Config) -> tuple[str, ...]:
    """The models that try, or the one that examines, by their names; none where there are none."""
    if probe in ("ambiguity", "laws"):
        examiner = config.qc.examiner or next(iter(config.models), "")
        return (examiner,) if examiner else ()
    return config.qc.models or tuple(config.models)


def world_of(probe: ProbeName, config: Config) -> str:
    """Where is searched: the world that the configuration names for it, else its first world on the
    web, else the embedded one. The other probes have no tools.
    """
    if probe != "open_book":
        return EMBEDDED_WORLD
    webs = (name for name, world in config.worlds.items() if world.kind == "web")
    return config.qc.world or next(webs, EMBEDDED_WORLD)

"""How a model agent meets a task: which prompt, which tools, what it is told beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field

from cuecard.core.agents.tools import ANSWER, ASK
from cuecard.core.config_agents import Settings
from cuecard.core.parts import ToolSpec
from cuecard.core.tasks import FactWorld, Task
from cuecard.core.text import one_line

_FACTS = {
    "end_to_end": "react",
    "guided": "react_facts_guided",
    "few_shot": "react_facts_few_shot",
    "oracle": "react_facts_oracle",
}
_CHECKPOINTS = {
    "neutral": "react_checkpoints",
    "guided": "react_checkpoints_guided",
    "no_search": "react_checkpoints_no_search",
    "no_ask": "react_checkpoints_no_ask",
}


@dataclass(frozen=True)
class Approach:
    """`prompt`: the system prompt's name; `values` its variables. `own_tools` end the agent's turn.
    Not `world_tools`: it has none of the world's.
    """

    prompt: str
    own_tools: tuple[ToolSpec, ...] = ()
    world_tools: bool = True
    values: dict[str, str] = field(default_factory=dict[str, str])


def approach_to(task: Task, settings: Settings) -> Approach:
    """The papers' settings; see `Settings`. Only the oracle of a facts task is told anything of the
    gold: that is what the setting measures.
    """
    match task.gold:
        case FactWorld() as world:
            setting = settings.facts
            if setting == "oracle":
                return Approach(_FACTS[setting], world_tools=False, values={"facts": told(world)})
            return Approach(_FACTS[setting])
        case gold if gold.family == "checkpoints":
            setting = settings.checkpoints
            own = (ANSWER,) if setting == "no_ask" else (ASK, ANSWER)
            return Approach(_CHECKPOINTS[setting], own, world_tools=setting != "no_search")
        case _:
            return Approach("react")


def told(world: FactWorld) -> str:
    """The facts and rules of a world, one a line; neither its answer nor how it follows."""
    return "\n".join(
        f"- {one_line(' '.join(filter(None, (fact.key, '=', fact.value, fact.unit))))}"
        for fact in world.facts
    )

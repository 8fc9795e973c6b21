"""What every trial shows, whatever its family: turns, stages, tool calls, tokens."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.core.events import Event
from cuecard.core.i18n import _
from cuecard.core.scoring.log import (
    agent_model_replies,
    agent_tool_answers,
    agent_turns,
    user_turns,
)
from cuecard.core.scoring.measures import Measure, count, share
from cuecard.core.tasks import Task

INTERACTION_MEASURES = (
    "agent_turns",
    "user_turns",
    "stages_disclosed",
    "stage_share",
    "tool_calls",
    "prompt_tokens",
    "completion_tokens",
)


def score_interaction(task: Task, events: Sequence[Event]) -> tuple[Measure, ...]:
    """Counts of one trial (DESIGN: Stage, Trial).

    `stages_disclosed` counts distinct stages, `stage_share` is their part of the persona's stages
    (undefined without a persona). Tokens are the agent's as the server counted them, with n = its
    model calls.
    """
    known = range(1, len(task.stages) + 1)
    stages = {turn.reply.stage for turn in user_turns(events) if turn.reply.stage in known}
    replies = agent_model_replies(events)
    return (
        count("agent_turns", len(agent_turns(events))),
        count("user_turns", len(user_turns(events))),
        count("stages_disclosed", len(stages), len(known)),
        share("stage_share", len(stages), len(known), _("the task has no stages")),
        count("tool_calls", len(agent_tool_answers(events))),
        count("prompt_tokens", sum(r.reply.usage.prompt for r in replies), len(replies)),
        count("completion_tokens", sum(r.reply.usage.completion for r in replies), len(replies)),
    )

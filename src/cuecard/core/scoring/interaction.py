"""What every trial shows, whatever its family: turns, stages, tool calls, tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cuecard.core.events import Event, Marked, Termination, TrialEnded
from cuecard.core.i18n import _
from cuecard.core.marks import Compaction
from cuecard.core.phrases import questions
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
    "agent_messages",
    "message_ratio",
    "compactions",
    "done",
    "stages_disclosed",
    "stage_share",
    "dismissive",
    "redirects",
    "tool_calls",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "reasoning_tokens",
)


def score_interaction(task: Task, events: Sequence[Event]) -> tuple[Measure, ...]:
    """Counts of one trial (DESIGN: Stage, Trial; VibeSearchBench's interaction statistics).

    `agent_messages`: everything the agent wrote, turns and tool-calling steps alike (its model calls
    before the conclusion; without a model its turns and tool calls), and `message_ratio` how many of
    them there are to one user turn. `done`: 1 if the user had nothing left to say. `stages_disclosed`
    counts distinct stages, `stage_share` is their part of the persona's stages (undefined without a
    persona). Of the user turns that disclose nothing, those after a reply that asked something are
    `dismissive` (the question got no information), the others are `redirects`; both are shares of the
    user's answers. Tokens are the agent's as the server counted them, with n = its model calls.
    """
    known = range(1, len(task.stages) + 1)
    stages = {turn.reply.stage for turn in user_turns(events) if turn.reply.stage in known}
    replies = agent_model_replies(events)
    users = len(user_turns(events))
    messages = _agent_messages(events)
    dismissive, redirects, answers = _barren(task, events)
    nobody = _("the user never answered")
    return (
        count("agent_turns", len(agent_turns(events))),
        count("user_turns", users),
        count("agent_messages", messages),
        share("message_ratio", messages, users, _("the user said nothing")),
        count("compactions", len(compactions(events))),
        _done(events),
        count("stages_disclosed", len(stages), len(known)),
        share("stage_share", len(stages), len(known), _("the task has no stages")),
        share("dismissive", dismissive, answers, nobody),
        share("redirects", redirects, answers, nobody),
        count("tool_calls", len(agent_tool_answers(events))),
        count("prompt_tokens", sum(r.reply.usage.prompt for r in replies), len(replies)),
        count("completion_tokens", sum(r.reply.usage.completion for r in replies), len(replies)),
        count("cached_tokens", sum(r.reply.usage.cached for r in replies), len(replies)),
        count("reasoning_tokens", sum(r.reply.usage.reasoning for r in replies), len(replies)),
    )


def tool_calls_by_name(events: Sequence[Event]) -> dict[str, int]:
    """How often the agent called each tool."""
    return dict(Counter(answered.call.name for answered in agent_tool_answers(events)))


def compactions(events: Sequence[Event]) -> list[Compaction]:
    """Where the conversation was cut for the agent's model, in order."""
    marks = (event.body.mark for event in events if isinstance(event.body, Marked))
    return [mark for mark in marks if isinstance(mark, Compaction)]


def _agent_messages(events: Sequence[Event]) -> int:
    called = [r for r in agent_model_replies(events) if r.part == "agent" and not r.scope]
    return len(called) or len(agent_turns(events)) + len(agent_tool_answers(events))


def _done(events: Sequence[Event]) -> Measure:
    ends = [event.body.termination for event in events if isinstance(event.body, TrialEnded)]
    if not ends:
        return Measure("done", None, 0, _("the trial has not ended"))
    return count("done", ends[-1] in (Termination.USER_DONE, Termination.ANSWERED))


def _barren(task: Task, events: Sequence[Event]) -> tuple[int, int, int]:
    """User turns that disclose nothing, after a question and after none; and all answers."""
    asked: dict[int, bool] = {
        turn.turn: bool(questions(turn.reply.text)) for turn in agent_turns(events)
    }
    answers = [turn for turn in user_turns(events) if turn.turn - 1 in asked]
    if not task.stages:
        return 0, 0, 0
    barren = [turn for turn in answers if turn.reply.stage is None and not turn.reply.done]
    dismissive = sum(asked[turn.turn - 1] for turn in barren)
    return dismissive, len(barren) - dismissive, len(answers)

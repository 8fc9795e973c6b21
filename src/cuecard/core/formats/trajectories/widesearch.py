"""WideSearch's responses (FORMATS: widesearch)."""

from __future__ import annotations

from pydantic import JsonValue

from cuecard.core.formats.trajectories.messages import as_openai, chat_of
from cuecard.core.formats.trajectories.model import Trajectory


def line_of(trajectory: Trajectory) -> dict[str, JsonValue]:
    """A line of a file of responses."""
    messages = chat_of(trajectory.events, trajectory.prompts)
    return {
        "instance_id": trajectory.task.id,
        "response": trajectory.response,
        "messages": [as_openai(message) for message in messages],
        "trial_idx": trajectory.sample,
    }

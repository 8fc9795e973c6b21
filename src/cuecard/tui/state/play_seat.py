"""The agent's seat as the person who plays the user sees it."""

from __future__ import annotations

from collections.abc import Iterable

from cuecard.core.config_fields import PERSON
from cuecard.core.events import Event, Marked
from cuecard.core.i18n import _
from cuecard.core.marks import PartTaken
from cuecard.core.parts import PlayerRef


def agent_wanted(agent: PlayerRef, course: Iterable[Event]) -> str:
    """What to say while nobody plays the agent of a session that is meant for two people; "" once somebody
    does, and in any other session.
    """
    if agent.name != PERSON or agent.kind != "human":
        return ""
    for event in course:
        if isinstance(event.body, Marked) and isinstance(event.body.mark, PartTaken):
            return ""
    return _(
        "Waiting for somebody to play the agent: on this workspace, `cuecard --as NAME`, then Enter on Home."
    )

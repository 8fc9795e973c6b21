"""What a trial's log says about the harness that plays in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.core.events import AgentSpoke, Event, EventBody, Marked, ModelReplied, ToolAnswered
from cuecard.core.i18n import _
from cuecard.core.marks import HarnessSession, HarnessTool
from cuecard.core.parts import StartOver, Usage, token_count

if TYPE_CHECKING:
    from acp.schema import Usage as AcpUsage

_PARTS = ("agent", "conclusion")
# What may have left something behind that only that session's folder held.
_LEAVING = ("edit", "delete", "move", "execute")


def earlier_session(log: Sequence[Event]) -> HarnessSession | None:
    """The session that the trial is in; None if the harness had no part in it yet.

    Raises `StartOver` if it cannot be taken up: it stopped in the middle of a prompt, whose outcome
    nobody knows, or what it left in its folder is gone.
    """
    steps = [
        e.body
        for e in log
        if isinstance(e.body, AgentSpoke)
        or (isinstance(e.body, ModelReplied | ToolAnswered | Marked) and e.body.part in _PARTS)
    ]
    if not steps:
        return None
    done = [s for s in steps if not isinstance(s, AgentSpoke)]
    if not done or not isinstance(done[-1], ModelReplied) or done[-1].payer == "world":
        raise StartOver(_("The harness was interrupted in the middle of a turn"))
    marks = [step.mark for step in steps if isinstance(step, Marked)]
    session = next((m for m in reversed(marks) if isinstance(m, HarnessSession)), None)
    if session is None:
        raise StartOver(_("The harness's session is not known"))
    if left_files(log) and not Path(session.cwd).is_dir():
        raise StartOver(_("What the harness kept in its folder is gone"))
    return session


def left_files(log: Sequence[Event]) -> bool:
    """Whether the harness may have left something in its session's folder."""
    marks = (event.body.mark for event in log if isinstance(event.body, Marked))
    return any(isinstance(mark, HarnessTool) and mark.name in _LEAVING for mark in marks)


def prompted(log: Sequence[Event]) -> bool:
    """Whether the harness was ever prompted in this trial."""
    return any(isinstance(e.body, ModelReplied) and e.body.payer in _PARTS for e in log)


def usage_of(total: AcpUsage | None, log: Sequence[Event], session: str) -> Usage:
    """Tokens of one prompt. The protocol counts over the whole session; a count lower than what is
    recorded of it began anew.
    """
    if total is None:
        return Usage()
    read, written = token_count(total.cached_read_tokens), token_count(total.cached_write_tokens)
    thought = token_count(total.thought_tokens)
    now = Usage(
        prompt=token_count(total.input_tokens) + read + written,
        completion=token_count(total.output_tokens) + thought,
        cached=read,
        reasoning=thought,
    )
    before = Usage()
    for body in _since(log, session):
        if isinstance(body, ModelReplied) and body.payer in _PARTS:
            before = before.plus(body.reply.usage)
    fields = tuple(Usage.model_fields)
    if any(getattr(now, name) < getattr(before, name) for name in fields):
        return now
    return Usage(**{name: getattr(now, name) - getattr(before, name) for name in fields})


def _since(log: Sequence[Event], session: str) -> list[EventBody]:
    """What is recorded since this session was begun."""
    bodies = [event.body for event in log]
    for place, body in enumerate(bodies):
        mark = body.mark if isinstance(body, Marked) else None
        if isinstance(mark, HarnessSession) and mark.session == session:
            return bodies[place:]
    return bodies

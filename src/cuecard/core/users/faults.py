"""What is wrong with the words of a user part, whoever plays it: the same tests for people, before they
send, and for simulators, afterwards. Pure functions of the task, the dialogue and the reply.
"""

from __future__ import annotations

from enum import StrEnum

from cuecard.core.parts import Dialogue, UserReply
from cuecard.core.tasks import Task
from cuecard.core.tasks.base import Frozen


class FaultKind(StrEnum):
    """`leak`: names gold that nobody has said. `forbidden`: says what the user must never say. `ahead`:
    gives away a line, clue or question whose turn has not come. `skipped`: discloses another stage than
    the next. `doubled`: says a line again, or two at once. `missing_line`: counts as a stage without
    saying its line. `markdown`, `structure`: laid out, or asks for triples, tables and the like.
    `coached`: tells the agent what to ask. `ignored`: leaves what the agent asked without any answer.
    """

    LEAK = "leak"
    FORBIDDEN = "forbidden"
    AHEAD = "ahead"
    SKIPPED = "skipped"
    DOUBLED = "doubled"
    MISSING_LINE = "missing_line"
    MARKDOWN = "markdown"
    STRUCTURE = "structure"
    COACHED = "coached"
    IGNORED = "ignored"


class Fault(Frozen):
    """`found`: the words that show it, shortened."""

    kind: FaultKind
    found: str = ""


def faults_in(task: Task, before: Dialogue, reply: UserReply) -> tuple[Fault, ...]:
    """What is wrong with `reply`, said after `before`, which ends with the agent's reply (or is empty: the
    opening); each thing once, the worst first. Of every kind at most one fault, with all that it found.

    Pure and linear in the texts; raises nothing, whatever they hold.
    """
    del task, before, reply
    return ()

"""What cues, ambiguities, statuses and ends of trials are called, wherever they are shown."""

from __future__ import annotations

from typing import Final

from cuecard.core.events import Termination
from cuecard.core.i18n import N_
from cuecard.core.parts import CheckpointStatus
from cuecard.core.tasks.checkpoints import AmbiguityType

CUE_WORDS: Final[dict[str, str]] = {
    "start": N_("conversation starts"),
    "mentions": N_("the reply mentions"),
    "asks": N_("the agent asks"),
    "completes": N_("a milestone is complete"),
}
AMBIGUITY_WORDS: Final[dict[AmbiguityType, str]] = {
    AmbiguityType.ENTITY: N_("which thing"),
    AmbiguityType.VERSION: N_("which version"),
    AmbiguityType.CRITERIA: N_("which criterion"),
    AmbiguityType.FACTUAL: N_("which facts"),
}
STATUS_WORDS: Final[dict[CheckpointStatus, str]] = {
    CheckpointStatus.AMBIGUITY_DETECTED: N_("asked rightly"),
    CheckpointStatus.WRONG_AMBIGUITY_DETECTED: N_("asked about something else"),
    CheckpointStatus.CORRECT_ANSWER: N_("right answer"),
    CheckpointStatus.WRONG_ANSWER: N_("wrong answer"),
    CheckpointStatus.MISSED_AMBIGUITY_CORRECT: N_("did not ask, yet right"),
    CheckpointStatus.MISSED_AMBIGUITY_WRONG: N_("did not ask, and wrong"),
    CheckpointStatus.SEARCH_ONLY: N_("neither asked nor answered"),
    CheckpointStatus.TASK_COMPLETED: N_("whole task answered"),
}
ENDING_WORDS: Final[dict[Termination, str]] = {
    Termination.USER_DONE: N_("user done"),
    Termination.ANSWERED: N_("answered"),
    Termination.MAX_TURNS: N_("turn limit"),
    Termination.CONTEXT_OVERFLOW: N_("context overflow"),
    Termination.ERROR_LOOP: N_("error loop"),
    Termination.EMPTY_RESPONSE: N_("empty reply"),
    Termination.API_ERROR: N_("API error"),
    Termination.INTERNAL_ERROR: N_("internal error"),
    Termination.CANCELLED: N_("cancelled"),
}

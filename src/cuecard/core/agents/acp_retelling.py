"""A person's session with a harness: it never starts over, whatever becomes of the harness's memory.

The session is taken up where the harness can and nothing of what it remembers was taken back since.
Otherwise it is begun again and told the dialogue so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cuecard.core.agents.acp_log import left_files
from cuecard.core.agents.acp_seat import Seat
from cuecard.core.agents.notes import Note, say
from cuecard.core.errors import ModelCallError
from cuecard.core.events import Event, Marked
from cuecard.core.marks import HarnessSession
from cuecard.core.parts import Desk, Dialogue, StartOver
from cuecard.core.prompts import Prompt
from cuecard.core.tasks import TaskLanguage


@dataclass(frozen=True)
class Retelling:
    """`intro`: what a harness is told before the user's first words; `prompt` tells the rest."""

    intro: str
    prompt: Prompt
    language: TaskLanguage

    async def sit(self, seat: Seat, dialogue: Dialogue, words: str, desk: Desk) -> str:
        """Take up or begin a session; returns what to prompt with so that `words` are answered.

        Raises `HarnessFailed`.
        """
        earlier = session_to_take_up(desk.log, desk.rewound)
        if earlier is not None and (heard := await self._taken_up(seat, earlier, desk)) is not None:
            return self._next(heard, dialogue, words)
        if not seat.started:
            await seat.start()
        before = _before(dialogue, words)
        await seat.begin(desk, retold=bool(before))
        return "\n\n".join((self.intro, *self._told(before), words))

    async def _taken_up(self, seat: Seat, earlier: HarnessSession, desk: Desk) -> str | None:
        """What the user has said in the session that was taken up; None if it could not be, or holds
        nothing.
        """
        try:
            await seat.start(earlier.cwd)
        except StartOver:
            return None
        try:
            heard = await seat.load(earlier)
        except (StartOver, ModelCallError):
            if not seat.harness.usable:
                await seat.leave()
            return None
        if not heard.strip():
            return None
        await seat.mark(desk, restored=True)
        return heard

    def _next(self, heard: str, dialogue: Dialogue, words: str) -> str:
        """Words that the session has heard are not said again, unless the user says them twice."""
        said = [message.text.strip() for message in dialogue.of("user")]
        twice = len(said) > 1 and said[-2].endswith(said[-1])
        last = bool(said) and said[-1] == words.strip()
        if last and not twice and heard.rstrip().endswith(words.strip()):
            return say(self.language, Note.GO_ON)
        return words

    def _told(self, before: Sequence[tuple[str, str]]) -> list[str]:
        """The user's first words, and what was said since."""
        if not before:
            return []
        first, *others = before
        roles = {"user": Note.ROLE_USER, "agent": Note.ROLE_ASSISTANT}
        lines = [f"{say(self.language, roles[role])} {text}" for role, text in others]
        nothing = say(self.language, Note.NONE)
        return [first[1], self.prompt.render(dialogue="\n\n".join(lines) or nothing)]


def session_to_take_up(log: Sequence[Event], rewound: int) -> HarnessSession | None:
    """The session that a trial is in, if it may go on: what it remembers was not taken back, and its
    folder is there if it left something in it.
    """
    for event in reversed(log):
        if isinstance(event.body, Marked) and isinstance(
            session := event.body.mark, HarnessSession
        ):
            lost = left_files(log) and not Path(session.cwd).is_dir()
            return session if event.take >= rewound and not lost else None
    return None


def _before(dialogue: Dialogue, words: str) -> list[tuple[str, str]]:
    """What was said before `words`, which may be the dialogue's last."""
    told = [(message.role, message.text) for message in dialogue.messages]
    if told and told[-1] == ("user", words):
        told.pop()
    return [(role, text) for role, text in told]

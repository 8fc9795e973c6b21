"""An agent on a model: it reasons, calls tools, and talks (ReAct, with native tool calls)."""

from __future__ import annotations

from dataclasses import dataclass

from cuecard.core.agents.notes import Note, say
from cuecard.core.agents.thread import NotRecorded, PastTurn, Thread
from cuecard.core.agents.tools import TURN_TOOLS
from cuecard.core.agents.turn import Manner, Turn, ask_model
from cuecard.core.formats.predictions import parse_prediction
from cuecard.core.llm.client import ChatClient
from cuecard.core.parts import AgentReply, Desk, Dialogue, EmptyReply, ErrorLoop, PlayerRef
from cuecard.core.prediction import Prediction, UnusablePrediction
from cuecard.core.prompts import Prompt
from cuecard.core.tasks import Family, TaskLanguage


@dataclass(frozen=True)
class ReactAgent:
    """Plays an agent's part with one model. Knows of its task only the family and the language.

    Stateless: before each turn it plays the recorded turns again over the log, through the same code
    that played them first, which gives the very messages that the model saw. `max_steps`: model calls
    in one turn. For checkpoint tasks the model also gets the tools `ask` and `answer`, which end its
    turn.
    """

    name: str
    client: ChatClient
    system: Prompt
    conclusion: Prompt
    family: Family
    language: TaskLanguage
    max_steps: int = 20

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(
            name=self.name,
            kind="react",
            model=self.client.config.model,
            version=f"{self.system.hash[:8]}-{self.conclusion.hash[:8]}",
        )

    async def reply(self, dialogue: Dialogue, desk: Desk) -> AgentReply:
        """One turn. Raises `ModelCallError`, `EmptyReply` or `ErrorLoop`."""
        thread = await self._thread(dialogue, desk)
        return await Turn(self._manner, thread, desk).play()

    async def conclude(self, dialogue: Dialogue, desk: Desk) -> Prediction:
        """What the model hands in; where that cannot be read, it is asked once more.

        Raises `ModelCallError`.
        """
        thread = await self._thread(dialogue, desk)
        thread.user(self.conclusion.render())
        prediction = await self._hand_in(thread, desk)
        if isinstance(prediction, UnusablePrediction):
            thread.user(say(self.language, Note.UNREADABLE))
            prediction = await self._hand_in(thread, desk)
        return prediction

    @property
    def _manner(self) -> Manner:
        own = TURN_TOOLS if self.family == "checkpoints" else ()
        return Manner(self.client, self.language, self.max_steps, own)

    async def _hand_in(self, thread: Thread, desk: Desk) -> Prediction:
        reply = await ask_model(self.client, thread, desk, desk.tools, may_call=False, show=False)
        if reply.text.strip():
            thread.assistant(reply.text)
        return parse_prediction(self.family, reply.text)

    async def _thread(self, dialogue: Dialogue, desk: Desk) -> Thread:
        thread = Thread(self.system.render())
        for message in dialogue.messages:
            if message.role == "user":
                thread.user(message.text)
                continue
            before = thread.messages
            try:
                await Turn(
                    self._manner, thread, PastTurn(desk.log, message.turn, desk.tools)
                ).play()
            except (NotRecorded, EmptyReply, ErrorLoop):
                # Played by someone else, or by another version: then only the words are known.
                thread.rewind(before)
                thread.assistant(message.text)
        return thread

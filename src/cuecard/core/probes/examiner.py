"""The agent of an examination: it looks at the task, with its gold, and hands in what it found."""

from __future__ import annotations

import hashlib
import json

from cuecard.core.i18n import N_
from cuecard.core.llm.client import ChatClient
from cuecard.core.parts import AgentReply, Desk, Dialogue, PlayerRef
from cuecard.core.prediction import AnswerPrediction, Prediction, UnusablePrediction
from cuecard.core.probes.asking import Examiner, ExaminerPrompts
from cuecard.core.probes.examinations import read_examination, says_nothing, written
from cuecard.core.probes.settings import EXAMINER
from cuecard.core.tasks import Task

UNUSABLE = N_("the examiner gave no usable answer")


class ExaminerAgent:
    """Its one turn asks the model; its words are the examination as JSON, which it hands in. No agent
    that plays: it is shown the gold.
    """

    def __init__(self, name: str, client: ChatClient, task: Task, prompts: ExaminerPrompts) -> None:
        self._examiner = Examiner(client, task, prompts)
        hashes = [prompt.hash for prompt in (prompts.unseen, prompts.known) if prompt]
        self.ref = PlayerRef(
            name=name,
            kind=EXAMINER,
            model=client.config.model,
            version=hashlib.sha256(json.dumps(hashes).encode()).hexdigest()[:12],
        )

    async def reply(self, dialogue: Dialogue, desk: Desk) -> AgentReply:
        """Raises `ModelCallError` and `Halt`."""
        del dialogue
        return AgentReply(text=written(await self._examiner.examine(desk)))

    async def conclude(self, dialogue: Dialogue, desk: Desk) -> Prediction:
        del desk
        said = dialogue.last("agent")
        text = said.text if said else ""
        examination = read_examination(text)
        if examination is None or says_nothing(examination):
            return UnusablePrediction(reason=UNUSABLE, raw=text)
        return AnswerPrediction(answer=text)

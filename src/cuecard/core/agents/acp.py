"""Any harness that speaks the Agent Client Protocol, as the agent of a trial."""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from cuecard.core.agents.acp_harness import HarnessFailed
from cuecard.core.agents.acp_log import prompted
from cuecard.core.agents.acp_retelling import Retelling
from cuecard.core.agents.acp_seat import Seat
from cuecard.core.agents.acp_turn import prompt_harness
from cuecard.core.agents.mcp_world import Door
from cuecard.core.agents.notes import Note, say
from cuecard.core.agents.tools import ending
from cuecard.core.config_agents import AcpAgentConfig
from cuecard.core.formats.predictions import parse_prediction
from cuecard.core.i18n import _
from cuecard.core.llm.failures import Blame
from cuecard.core.parts import (
    AgentReply,
    Desk,
    Dialogue,
    EmptyReply,
    ModelReply,
    PlayerRef,
    ToolSpec,
)
from cuecard.core.prediction import Prediction, UnusablePrediction
from cuecard.core.prompts import Prompt
from cuecard.core.tasks import Family, TaskLanguage

if TYPE_CHECKING:
    from cuecard.core.llm.hub import ModelHub


Sat = TypeVar("Sat")


@dataclass(eq=False)
class AcpAgent:
    """Plays an agent's part with a harness in a session of its own. Each prompt is a model call of
    the log, so that an answered one is never sent again.

    With a `retelling` a person plays the user: their trial never starts over. `intro`: told once, before the user's first words; made from `prompts`. `own_tools` end the agent's turn; they are
    offered beside the world's. The session is not rebuilt from the log: a trial that was interrupted
    loads it, if the harness can, or starts over.
    """

    name: str
    config: AcpAgentConfig
    hub: ModelHub
    intro: str
    prompts: tuple[Prompt, Prompt]
    conclusion: Prompt
    family: Family
    language: TaskLanguage
    own_tools: tuple[ToolSpec, ...] = ()
    retelling: Retelling | None = None
    _seat: Seat | None = field(default=None, init=False)

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(
            name=self.name,
            kind="acp",
            model=self.config.model,
            version="-".join(p.hash[:8] for p in (*self.prompts, self.conclusion)),
        )

    async def reply(self, dialogue: Dialogue, desk: Desk) -> AgentReply:
        """One turn. Raises `HarnessFailed`, `AgentPaused`, `EmptyReply`, and what the world raises."""
        last = dialogue.last("user")
        said = await self._say(last.text if last else "", dialogue, desk, self.prompts[1])
        if not said.text and not said.tool_calls:
            said = await self._say(say(self.language, Note.EMPTY), dialogue, desk, self.prompts[1])
        for call in said.tool_calls:
            if found := ending(call):
                return AgentReply(text=found[1], act=found[0])
        if not said.text:
            raise EmptyReply(_("The agent replied with nothing"), _("also when asked again"))
        return AgentReply(text=said.text)

    async def conclude(self, dialogue: Dialogue, desk: Desk) -> Prediction:
        """What the harness hands in; where that cannot be read, it is asked once more.

        Raises `HarnessFailed` and `AgentPaused`.
        """
        said = await self._say(
            self.conclusion.render(), dialogue, desk, self.conclusion, concluding=True
        )
        prediction = parse_prediction(self.family, said.text)
        if isinstance(prediction, UnusablePrediction):
            again = say(self.language, Note.UNREADABLE)
            said = await self._say(again, dialogue, desk, self.conclusion, concluding=True)
            prediction = parse_prediction(self.family, said.text)
        return prediction

    async def close(self) -> None:
        seat, self._seat = self._seat, None
        if seat is not None:
            await seat.leave()

    async def _say(
        self,
        words: str,
        dialogue: Dialogue,
        desk: Desk,
        prompt: Prompt,
        *,
        concluding: bool = False,
    ) -> ModelReply:
        async def perform() -> ModelReply:
            if self.retelling is None:
                return await self._unattended(words, desk, show=not concluding)
            here = desk.onward()
            seat, text = await self._seated_again(self.retelling, dialogue, words, here)
            try:
                return await self._prompt(seat, text, here, show=not concluding)
            except HarnessFailed:
                if seat.harness.usable:
                    raise
            # It died, which costs no person their session; once.
            seat, text = await self._seated_again(self.retelling, dialogue, words, here)
            return await self._prompt(seat, text, here, show=not concluding)

        return await desk.call_model(self._model, perform, prompt=prompt.hash)

    async def _unattended(self, words: str, desk: Desk, *, show: bool) -> ModelReply:
        """Raises `AgentPaused` in place of a failure that would meet every other trial alike."""
        breaker = self.hub.breaker(self.name, self.config.give_up_after)
        starting = True
        try:
            seat = await self._seated(desk, words)
            starting = False
            text = words if prompted(desk.log) else f"{self.intro}\n\n{words}"
            said = await self._prompt(seat, text, desk, show=show)
        except HarnessFailed as error:
            failure = error.failure
            if starting and not breaker.worked:
                failure = replace(failure, blame=Blame.LASTING)
            halt = breaker.failed(failure, last=True)
            if halt is not None:
                raise halt from error
            raise
        breaker.succeeded()
        return said

    @property
    def _model(self) -> str:
        return self.config.model or self.name

    async def _prompt(self, seat: Seat, text: str, desk: Desk, *, show: bool) -> ModelReply:
        # While it hands in, the world stays shut.
        async with seat.world(desk) if show else nullcontext() as turn:
            return await prompt_harness(
                seat,
                text,
                desk,
                turn,
                seconds=self.config.turn_timeout,
                model=self._model,
                show=show,
            )

    async def _seated(self, desk: Desk, words: str) -> Seat:
        if self._seat is None:
            seat = self._seat = self._new_seat(desk)
            await self._sure(seat.sit(desk, words))
        return self._seat

    async def _seated_again(
        self, retelling: Retelling, dialogue: Dialogue, words: str, desk: Desk
    ) -> tuple[Seat, str]:
        """The seat, and what to prompt with so that `words` are answered."""
        if self._seat is not None and self._seat.stands(desk.rewound):
            return self._seat, words
        await self.close()
        seat = self._seat = self._new_seat(desk)
        return seat, await self._sure(retelling.sit(seat, dialogue, words, desk))

    def _new_seat(self, desk: Desk) -> Seat:
        tools = (*desk.tools, *self.own_tools)
        door = Door(tools, self.language) if tools and self.config.world else None
        return Seat(self.name, self.config, self.hub, door)

    async def _sure(self, sitting: Awaitable[Sat]) -> Sat:
        try:
            return await sitting
        except BaseException:
            await self.close()
            raise

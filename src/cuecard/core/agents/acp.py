"""An agent that is a harness speaking the Agent Client Protocol: its turns, and retelling the dialogue to a new session."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cuecard.core.agents.acp_harness import HarnessFailed
from cuecard.core.agents.acp_session import PromptUpdates, left_files, prompted, usage_of
from cuecard.core.agents.acp_trial import Player
from cuecard.core.agents.briefing import Note, ending, say
from cuecard.core.agents.mcp_world import Door, OpenTurn
from cuecard.core.config import Prompt
from cuecard.core.config_players import AcpAgentConfig
from cuecard.core.engine.events import Event, Marked
from cuecard.core.engine.messages import (
    AgentReply,
    Dialogue,
    EmptyReply,
    ErrorLoop,
    HarnessSession,
    ModelReply,
    PlayerRef,
    StartOver,
    ToolSpec,
)
from cuecard.core.engine.step_context import StepContext
from cuecard.core.errors import ModelCallError
from cuecard.core.families.common import parse_prediction
from cuecard.core.i18n import _
from cuecard.core.llm.failures import Blame
from cuecard.core.predictions import Prediction, UnusablePrediction
from cuecard.core.tasks.models import Family, TaskLanguage

if TYPE_CHECKING:
    from acp.schema import PromptResponse

    from cuecard.core.llm.hub import ModelHub


async def prompt_harness(
    player: Player,
    words: str,
    context: StepContext,
    turn: OpenTurn | None,
    *,
    seconds: float,
    model: str,
    show: bool,
) -> ModelReply:
    """The harness's answer to `words`: its text, and the call of the turn tool that ended the turn, if any.

    Its own tool calls are recorded as they end, its requests for permission as they are answered. Raises `HarnessFailed`, `ErrorLoop`, and errors of the world or of
    recording that happened meanwhile; the harness is then told to stop.
    """
    began = time.monotonic()
    on_text: Callable[[str], None] = context.stream if show else _nowhere
    telling = PromptUpdates(player.session.tools, lambda: turn.called if turn else (), on_text)
    player.session.telling = telling
    prompt = asyncio.create_task(player.harness.prompt(player.session, words))
    recorder = asyncio.create_task(_record(telling, context))
    try:
        async with asyncio.timeout(seconds):
            await _first(prompt, recorder, telling.flood, *([turn.trouble] if turn else []))
    except TimeoutError as error:
        if turn is None or turn.closing is None:
            raise HarnessFailed(
                _("The harness did not end its turn in time"),
                player.harness.with_tail(_("it had {n} seconds").format(n=f"{seconds:g}")),
            ) from error
    finally:
        player.lost = not await player.harness.cancel(player.session, prompt)
        telling.finish()
        player.session.telling = None
        if not telling.flood.done():
            telling.flood.cancel()
        await asyncio.gather(recorder, return_exceptions=True)
    recorder.result()
    response = None if prompt.cancelled() else prompt.result()
    closing = (turn.closing,) if turn and turn.closing else ()
    stop = response.stop_reason if response else "cancelled"
    if not telling.text and not closing:
        _complain(stop)
    return ModelReply(
        text=telling.text,
        tool_calls=closing,
        finish_reason=stop,
        usage=usage_of(response.usage if response else None, context.log, player.session.id),
        model=model,
        latency_ms=round((time.monotonic() - began) * 1000),
    )


def _complain(stop: str) -> None:
    match stop:
        case "refusal":
            raise HarnessFailed(_("The harness refused to answer"), blame=Blame.REQUEST)
        case "cancelled":
            raise HarnessFailed(_("The harness cancelled its own turn"), blame=Blame.REQUEST)
        case "max_tokens":
            told = _("The harness used up its tokens without a word to the user")
            raise HarnessFailed(told, blame=Blame.REQUEST)
        case "max_turn_requests":
            raise ErrorLoop(_("The harness used up its model calls without a word to the user"))
        case _:
            pass


async def _first(prompt: asyncio.Task[PromptResponse], *troubles: asyncio.Future[None]) -> None:
    """Wait for the prompt to end; raises the first of `troubles` if one comes before that."""
    await asyncio.wait({prompt, *troubles}, return_when=asyncio.FIRST_COMPLETED)
    for trouble in troubles:
        if trouble.done():
            trouble.result()


async def _record(telling: PromptUpdates, context: StepContext) -> None:
    while (mark := await telling.marks.get()) is not None:
        await context.mark(mark)


def _nowhere(_text: str) -> None:
    pass


@dataclass(frozen=True)
class SessionBriefing:
    """How a new session is told the dialogue so far. `intro`: the text before the user's first words; `prompt`: the
    template for the rest.
    """

    intro: str
    prompt: Prompt
    language: TaskLanguage

    async def sit(self, by: Player, dialogue: Dialogue, words: str, context: StepContext) -> str:
        """Resume or begin a session; returns the prompt that makes the harness answer `words`.

        Raises `HarnessFailed`.
        """
        earlier = session_to_take_up(context.log, context.rewound)
        if (
            earlier is not None
            and (heard := await self._taken_up(by, earlier, context)) is not None
        ):
            return self._next(heard, dialogue, words)
        if not by.started:
            await by.start()
        before = _before(dialogue, words)
        await by.begin(context, retold=bool(before))
        return "\n\n".join((self.intro, *self._told(before), words))

    async def _taken_up(
        self, player: Player, earlier: HarnessSession, context: StepContext
    ) -> str | None:
        """The user's words in the session that was resumed; None if it could not be resumed or is empty."""
        try:
            await player.start(earlier.cwd)
        except StartOver:
            return None
        try:
            heard = await player.load(earlier)
        except (StartOver, ModelCallError):
            if not player.harness.usable:
                await player.leave()
            return None
        if not heard.strip():
            return None
        await player.mark(context, restored=True)
        return heard

    def _next(self, heard: str, dialogue: Dialogue, words: str) -> str:
        """The prompt for `words`. If the session already holds them, they are repeated only if the user said them
        twice.
        """
        said = [message.text.strip() for message in dialogue.of("user")]
        twice = len(said) > 1 and said[-2].endswith(said[-1])
        last = bool(said) and said[-1] == words.strip()
        if last and not twice and heard.rstrip().endswith(words.strip()):
            return say(self.language, Note.GO_ON)
        return words

    def _told(self, before: Sequence[tuple[str, str]]) -> list[str]:
        """The parts of a prompt that retells a dialogue: the user's first words, and what was said since."""
        if not before:
            return []
        first, *others = before
        roles = {"user": Note.ROLE_USER, "agent": Note.ROLE_ASSISTANT}
        lines = [f"{say(self.language, roles[role])} {text}" for role, text in others]
        nothing = say(self.language, Note.NONE)
        return [first[1], self.prompt.render(dialogue="\n\n".join(lines) or nothing)]


def session_to_take_up(log: Sequence[Event], rewound: int) -> HarnessSession | None:
    """The trial's session, if it can be resumed: nothing that it remembers was taken back, and if it left files, its
    folder still exists.
    """
    for event in reversed(log):
        if isinstance(event.body, Marked) and isinstance(
            session := event.body.mark, HarnessSession
        ):
            lost = left_files(log) and not Path(session.cwd).is_dir()
            return session if event.take >= rewound and not lost else None
    return None


def _before(dialogue: Dialogue, words: str) -> list[tuple[str, str]]:
    """The messages before `words`, which may be the dialogue's last message."""
    told = [(message.role, message.text) for message in dialogue.messages]
    if told and told[-1] == ("user", words):
        told.pop()
    return [(role, text) for role, text in told]


Sat = TypeVar("Sat")


@dataclass(eq=False)
class AcpAgent:
    """An agent that is a harness with a session for this trial. Each prompt is recorded as a model call, so that an
    answered one is never sent again.

    `intro`: told once, before the user's first words; made from `prompts`. `own_tools` end the agent's turn and are
    offered beside the world's. The session is not rebuilt from the log: a resumed trial loads it, if the harness can, or
    starts over; with a `retelling` (a person plays the user) it is told the dialogue instead of starting over.
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
    retelling: SessionBriefing | None = None
    _player: Player | None = field(default=None, init=False)

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(
            name=self.name,
            kind="acp",
            model=self.config.model,
            version="-".join(p.hash[:8] for p in (*self.prompts, self.conclusion)),
        )

    async def reply(self, dialogue: Dialogue, context: StepContext) -> AgentReply:
        """One turn. Raises `HarnessFailed`, `AgentPaused`, `EmptyReply`, and what the world raises."""
        last = dialogue.last("user")
        said = await self._say(last.text if last else "", dialogue, context, self.prompts[1])
        if not said.text and not said.tool_calls:
            said = await self._say(
                say(self.language, Note.EMPTY), dialogue, context, self.prompts[1]
            )
        for call in said.tool_calls:
            if found := ending(call):
                return AgentReply(text=found[1], act=found[0])
        if not said.text:
            raise EmptyReply(_("The agent replied with nothing"), _("also when asked again"))
        return AgentReply(text=said.text)

    async def conclude(self, dialogue: Dialogue, context: StepContext) -> Prediction:
        """The harness's prediction; if that cannot be parsed, it is asked once more.

        Raises `HarnessFailed` and `AgentPaused`.
        """
        said = await self._say(
            self.conclusion.render(), dialogue, context, self.conclusion, concluding=True
        )
        prediction = parse_prediction(self.family, said.text)
        if isinstance(prediction, UnusablePrediction):
            again = say(self.language, Note.UNREADABLE)
            said = await self._say(again, dialogue, context, self.conclusion, concluding=True)
            prediction = parse_prediction(self.family, said.text)
        return prediction

    async def close(self) -> None:
        player, self._player = self._player, None
        if player is not None:
            await player.leave()

    async def _say(
        self,
        words: str,
        dialogue: Dialogue,
        context: StepContext,
        prompt: Prompt,
        *,
        concluding: bool = False,
    ) -> ModelReply:
        async def perform() -> ModelReply:
            if self.retelling is None:
                return await self._unattended(words, context, show=not concluding)
            here = context.onward()
            player, text = await self._player_again(self.retelling, dialogue, words, here)
            try:
                return await self._prompt(player, text, here, show=not concluding)
            except HarnessFailed:
                if player.harness.usable:
                    raise
            # The harness died: in a person's session it is started again, once.
            player, text = await self._player_again(self.retelling, dialogue, words, here)
            return await self._prompt(player, text, here, show=not concluding)

        return await context.call_model(self._model, perform, prompt=prompt.hash)

    async def _unattended(self, words: str, context: StepContext, *, show: bool) -> ModelReply:
        """Prompt without a person. Raises `AgentPaused` for a failure that all other trials would have too."""
        breaker = self.hub.breaker(self.name, self.config.give_up_after)
        starting = True
        try:
            player = await self._playing(context, words)
            starting = False
            text = words if prompted(context.log) else f"{self.intro}\n\n{words}"
            said = await self._prompt(player, text, context, show=show)
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

    async def _prompt(
        self, player: Player, text: str, context: StepContext, *, show: bool
    ) -> ModelReply:
        # No tools of the world while it hands in.
        async with player.world(context) if show else nullcontext() as turn:
            return await prompt_harness(
                player,
                text,
                context,
                turn,
                seconds=self.config.turn_timeout,
                model=self._model,
                show=show,
            )

    async def _playing(self, context: StepContext, words: str) -> Player:
        if self._player is None:
            player = self._player = self._new_player(context)
            await self._sure(player.sit(context, words))
        return self._player

    async def _player_again(
        self, retelling: SessionBriefing, dialogue: Dialogue, words: str, context: StepContext
    ) -> tuple[Player, str]:
        """The player, and what to prompt with so that `words` are answered."""
        if self._player is not None and self._player.stands(context.rewound):
            return self._player, words
        await self.close()
        player = self._player = self._new_player(context)
        return player, await self._sure(retelling.sit(player, dialogue, words, context))

    def _new_player(self, context: StepContext) -> Player:
        tools = (*context.tools, *self.own_tools)
        door = Door(tools, self.language) if tools and self.config.world else None
        return Player(self.name, self.config, self.hub, door)

    async def _sure(self, sitting: Awaitable[Sat]) -> Sat:
        try:
            return await sitting
        except BaseException:
            await self.close()
            raise

"""Trying out a task while writing it: the simulated user's words, how a reply is judged, what the closed world answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from cuecard.annotate.authoring.edit import as_task
from cuecard.annotate.lint.rules import written
from cuecard.core.engine.messages import (
    Act,
    CheckpointStatus,
    Dialogue,
    FlagKind,
    Message,
    SearchEntry,
    ToolCall,
    UserReply,
)
from cuecard.core.engine.step_context import FreshCalls
from cuecard.core.errors import CuecardError, FileProblems
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.graph.gold import Graph
from cuecard.core.i18n import N_, _, listed
from cuecard.core.tasks.models import Cue, CueKind, Gold, Persona, Stage, Task, TaskLanguage
from cuecard.core.text import contains_term, storable
from cuecard.core.users.responder import ChainRules, read_move
from cuecard.core.users.scripted import CueCheck, CueWhy, ScriptedUser, explain_cue
from cuecard.core.worlds.closed import SEARCH, ClosedWorld

if TYPE_CHECKING:
    from cuecard.core.config_schema import Config
    from cuecard.core.users.simulators import PersonaUser


_KINDS = {kind.value: kind for kind in CueKind}
_NOTHING = Graph.model_construct(nodes=(), triples=())
_SILENT = "…"
"""Stands for the agent's earlier replies in a rehearsed dialogue."""

WHY: dict[CueWhy, str] = {
    CueWhy.START: N_("is said as the conversation starts, whatever the reply"),
    CueWhy.TERM: N_("“{term}” stands in the reply"),
    CueWhy.QUESTION: N_("the reply asks something, and the cue has no terms"),
    CueWhy.WORDS: N_("the reply has {n} of the cue's {total} words: {words}"),
    CueWhy.STATEMENT: N_("the reply says something, and the cue has no terms"),
    CueWhy.NOTHING_SAID: N_("the reply is empty"),
    CueWhy.NO_TERM: N_("none of its terms stands where it should"),
    CueWhy.TERM_NOT_ASKED: N_("“{term}” stands in the reply, but in no question"),
    CueWhy.NO_QUESTION: N_("the reply asks nothing"),
    CueWhy.FEW_WORDS: N_("the reply has only {n} of the cue's {total} words"),
    CueWhy.ONLY_QUESTIONS: N_("the reply only asks"),
}


@dataclass(frozen=True)
class StageCheck:
    """Whether a reply meets the cue of one stage. `number` from 1; `disclosed`: its line was said before this reply."""

    number: int
    title: str
    check: CueCheck
    disclosed: bool


@dataclass(frozen=True)
class Rehearsal:
    """The outcome of a reply. `checks`: one for each stage; `waiting`: the number of the next stage, None when all are
    disclosed; `said`: the scripted user's next words.
    """

    checks: tuple[StageCheck, ...]
    waiting: int | None
    said: UserReply

    @property
    def waited(self) -> StageCheck | None:
        """The check of the next stage."""
        return self.checks[self.waiting - 1] if self.waiting else None


@dataclass(frozen=True)
class Simulator:
    """A model that can play the user: a user of `cuecard.yaml`, or with `user` "" a plain model with the default
    prompts. `model`: the model's name at the endpoint.
    """

    user: str
    model_name: str
    model: str

    @property
    def label(self) -> str:
        named = self.user or self.model_name
        return named if named == self.model else f"{named} ({self.model})"


def why_text(check: CueCheck) -> str:
    """Why a reply meets a cue or not, as text for people."""
    return _(WHY[check.why]).format(
        term=check.term,
        n=len(check.words),
        total=len(check.wanted),
        words=listed(check.words[:6]),
    )


def rehearse(data: Mapping[str, Any], reply: str, disclosed: int) -> Rehearsal | None:
    """What the scripted user does when the agent says `reply` after the first `disclosed` stages. None for a task
    without a persona or stages.
    """
    task = rehearsed_task(data)
    if task is None:
        return None
    stages = task.stages
    disclosed = max(0, min(disclosed, len(stages)))
    checks = tuple(
        StageCheck(number, stage.title, explain_cue(stage.cue, reply), number <= disclosed)
        for number, stage in enumerate(stages, start=1)
    )
    waiting = disclosed + 1 if disclosed < len(stages) else None
    said = ScriptedUser(task).answer(_dialogue(task, reply, disclosed))
    return Rehearsal(checks, waiting, said)


def simulators(config: Config) -> tuple[Simulator, ...]:
    """The simulators of a configuration; if there are none, its models."""
    from cuecard.core.config_players import SimulatorConfig

    users = tuple(
        Simulator(name, user.model, config.model(user.model).model)
        for name, user in config.users.items()
        if isinstance(user, SimulatorConfig)
    )
    return users or tuple(Simulator("", name, m.model) for name, m in config.models.items())


async def ask_simulator(
    config: Config, simulator: Simulator, data: Mapping[str, Any], reply: str, disclosed: int
) -> UserReply:
    """What a model decides about the reply: `cue_met`, its reason, the user's next words. Records nothing. Raises
    `CuecardError`.
    """
    from cuecard.core.llm.hub import ModelHub

    task = rehearsed_task(data, _gold(data))
    if task is None:
        raise CuecardError(_("There is nobody to play"), _("This task has no persona with stages."))
    async with ModelHub(config) as hub:
        user = _persona_user(config, simulator, task, hub)
        said = await user.reply(_dialogue(task, reply.strip() or _SILENT, disclosed), FreshCalls())
    # Where no answer was to be had the scripted user stands in, with the reason on the flag.
    for flag in said.flags[:1]:
        if flag.kind is FlagKind.UNUSABLE and flag.found:
            raise CuecardError(_("The model gave no usable answer"), flag.found)
    return said


def rehearsed_task(data: Mapping[str, Any], gold: Gold = _NOTHING) -> Task | None:
    """A task for rehearsing, from data that may be incomplete; None without stages. `gold`: what a simulator must not
    name (the scripted user ignores it).
    """
    persona = data.get("persona")
    if not isinstance(persona, dict):
        return None
    fields = cast(dict[str, Any], persona)
    given = cast(list[Any], fields.get("stages") or [])
    stages = tuple(stage_to_show(cast(dict[str, Any], s)) for s in given if isinstance(s, dict))
    if not stages:
        return None
    language: TaskLanguage = "zh" if data.get("language") == "zh" else "en"
    return Task.model_construct(
        id=str(data.get("id", "")),
        title=str(data.get("title", "")),
        language=language,
        query=str(data.get("query", "")),
        persona=Persona.model_construct(
            name=_text(fields.get("name")),
            identity=_text(fields.get("identity")),
            initial_query=_text(fields.get("initial_query")),
            stages=stages,
            behaviour=_text(fields.get("behaviour")),
        ),
        gold=gold,
    )


def stage_to_show(data: Mapping[str, Any]) -> Stage:
    """A stage from data that may be incomplete."""
    given = data.get("cue")
    cue = cast(dict[str, Any], given) if isinstance(given, dict) else {}
    terms = cue.get("terms")
    listed = cast(list[Any], terms) if isinstance(terms, list) else []
    return Stage.model_construct(
        title=_text(data.get("title")),
        cue=Cue.model_construct(
            kind=_KINDS.get(str(cue.get("kind")), CueKind.MENTIONS),
            text=_text(cue.get("text")),
            terms=tuple(str(term) for term in listed if str(term).strip()),
        ),
        line=_text(data.get("line")),
        not_met=_text(data.get("not_met")),
    )


def _persona_user(config: Config, simulator: Simulator, task: Task, hub: Any) -> PersonaUser:
    from cuecard.core.config import find_prompt
    from cuecard.core.config_players import SimulatorConfig
    from cuecard.core.users.simulators import PersonaUser

    player = config.users.get(simulator.user)
    own = player.prompts if isinstance(player, SimulatorConfig) else {}
    prompts = [find_prompt(name, task.language, config, own) for name in ("persona", "persona_end")]
    client = hub.client(simulator.model_name)
    return PersonaUser(simulator.label, client, task, prompts[0], prompts[1])


def _dialogue(task: Task, reply: str, disclosed: int) -> Dialogue:
    """A dialogue in which the first `disclosed` lines were said and the agent then says `reply`."""
    assert task.persona is not None
    persona = task.persona
    stages = persona.stages[:disclosed]
    first = 1 if stages and stages[0].cue.kind is CueKind.START else 0
    opening = ScriptedUser(task).opening().text if first else persona.initial_query
    messages = [Message(role="user", turn=0, text=opening, stage=1 if first else None)]
    for number, stage in enumerate(stages[first:], start=first + 1):
        turn = len(messages) // 2
        messages.append(Message(role="agent", turn=turn, text=_SILENT))
        line = Message(role="user", turn=turn + 1, text=stage.line, stage=number, cue_met=True)
        messages.append(line)
    turn = messages[-1].turn
    messages.append(Message(role="agent", turn=turn, text=storable(reply)))
    return Dialogue(tuple(messages))


def _gold(data: Mapping[str, Any]) -> Gold:
    """The gold if the whole is a task already: the simulator must not name it."""
    from cuecard.annotate.authoring.edit import as_task

    try:
        return as_task(data).gold
    except CuecardError:
        return _NOTHING


def _text(value: Any) -> str:
    return "" if value is None else storable(str(value))


@dataclass(frozen=True)
class Taken:
    """How the responder takes an agent's turn at a checkpoint: `status`; whether the clue is given (`released`); its
    words (`says`); and the names and terms of the step that it heard.
    """

    status: CheckpointStatus
    released: bool
    says: str
    heard: tuple[str, ...]


def try_turn(
    data: Mapping[str, Any],
    index: int,
    said: str,
    *,
    act: Act = Act.REPLY,
    clue_given: bool = False,
) -> Taken | None:
    """How the rule-based responder takes the words `said` at step `index` (from 0), all earlier steps being done. The
    chain may be incomplete. None if there is no such step or nothing is said.
    """
    chain = _chain(data)
    if not said.strip() or chain is None or not 0 <= index < len(chain.steps):
        return None
    language = "zh" if data.get("language") == "zh" else "en"
    rules = ChainRules(Task.model_construct(gold=chain, language=language), patience=None)
    dialogue = _standing_at(index, clue_given)
    message = Message(role="agent", turn=dialogue.turn, text=said, act=act)
    step = rules.place(dialogue).step
    move = read_move(message, step)
    outcome = rules.follow(dialogue, message, move)
    terms = (
        *step.names,
        *((*step.ambiguity.candidates, *step.ambiguity.terms) if step.ambiguity else ()),
    )
    heard = tuple(dict.fromkeys(term for term in terms if contains_term(said, term)))
    return Taken(
        outcome.status,
        outcome.status is CheckpointStatus.AMBIGUITY_DETECTED,
        rules.words(outcome),
        heard,
    )


def _standing_at(index: int, clue_given: bool) -> Dialogue:
    """A dialogue in which all steps before `index` are done."""
    opening = Message(role="user", turn=0, text="")
    talk = Dialogue((opening,))
    if index:
        talk = talk.plus(
            Message(
                role="user",
                turn=1,
                text="",
                checkpoint=index - 1,
                status=CheckpointStatus.CORRECT_ANSWER,
            )
        )
    if clue_given:
        talk = talk.plus(
            Message(
                role="user",
                turn=2,
                text="",
                checkpoint=index,
                status=CheckpointStatus.AMBIGUITY_DETECTED,
            )
        )
    return talk


def _chain(data: Mapping[str, Any]) -> CheckpointChain | None:
    """The chain as far as it is written, without validation."""
    gold = cast(dict[str, Any], data.get("gold") or {})
    if gold.get("family") != "checkpoints":
        return None
    chain = written(CheckpointChain, gold)
    return chain if chain.steps else None


@dataclass(frozen=True)
class WorldAnswer:
    """What the closed world answers. `keys`: the facts that were given; `compound`: the query asked several things at
    once; `reason`: as in the hit log, untranslated. If the query was refused, only `refusal` is set.
    """

    hit: bool
    compound: bool
    reason: str
    keys: tuple[str, ...]
    entries: tuple[SearchEntry, ...]
    refusal: str = ""


@dataclass(frozen=True)
class NoWorld:
    """There is no world yet because the draft is no valid task; `missing`: what is wrong, as (place, reason)."""

    missing: tuple[tuple[str, str], ...]


class WorldTrial:
    """Asks the closed world of a draft; the world is rebuilt when the draft changes. Slow: use it off the screen's
    thread, one call at a time.
    """

    def __init__(self) -> None:
        self._data: Mapping[str, Any] | None = None
        self._world: ClosedWorld | NoWorld | None = None

    async def ask(self, data: Mapping[str, Any], query: str) -> WorldAnswer | NoWorld:
        """The world's answer, hit or not, exactly as an agent would get it."""
        world = self._world_of(data)
        if isinstance(world, NoWorld):
            return world
        answer = await world.answer(ToolCall(name=SEARCH.name, arguments={"query": query}))
        if answer.hit is None:
            return WorldAnswer(False, False, "", (), (), refusal=answer.text)
        hit = answer.hit
        return WorldAnswer(
            hit.hit, hit.is_compound, hit.reason, hit.matched_fact_keys, answer.entries
        )

    def _world_of(self, data: Mapping[str, Any]) -> ClosedWorld | NoWorld:
        # Data that an edit handed out is never changed, so the same object is the same draft.
        if self._world is None or data is not self._data:
            self._world = _build(data)
            self._data = data
        return self._world


def _build(data: Mapping[str, Any]) -> ClosedWorld | NoWorld:
    try:
        task: Task = as_task(data)
    except FileProblems as error:
        return NoWorld(tuple((problem.place, problem.reason) for problem in error.problems))
    return ClosedWorld(task)

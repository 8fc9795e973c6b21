"""Rehearsing a persona: what a candidate reply of an agent would bring the user to say.

Works on the data of an edit, complete or not, with the code that plays: the scripted matcher at once,
the simulator's model on demand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from cuecard.core.calls import FreshCalls
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _
from cuecard.core.parts import Dialogue, FlagKind, Message, UserReply
from cuecard.core.tasks import Cue, CueKind, Gold, Graph, Persona, Stage, Task, TaskLanguage
from cuecard.core.text import storable
from cuecard.core.users.cues import CueCheck, CueWhy, explain_cue
from cuecard.core.users.scripted import ScriptedUser

if TYPE_CHECKING:
    from cuecard.core.config_models import Config
    from cuecard.core.users.persona import PersonaUser

_KINDS = {kind.value: kind for kind in CueKind}
_NOTHING = Graph.model_construct(nodes=(), triples=())
_SILENT = "…"
"""What stands for the agent's replies that nobody has written."""

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
    """`number` counts from 1. `disclosed`: said before this reply."""

    number: int
    title: str
    check: CueCheck
    disclosed: bool


@dataclass(frozen=True)
class Rehearsal:
    """`checks` for every stage; `waiting`: the stage whose turn it is, None when all are disclosed;
    `said`: the scripted user's next words.
    """

    checks: tuple[StageCheck, ...]
    waiting: int | None
    said: UserReply

    @property
    def waited(self) -> StageCheck | None:
        """The check of the stage whose turn it is."""
        return self.checks[self.waiting - 1] if self.waiting else None


@dataclass(frozen=True)
class Simulator:
    """Who can be asked: a user of `cuecard.yaml`, or (`user` is "") a model with the usual prompts.
    `model`: the model's name as the endpoint knows it.
    """

    user: str
    model_name: str
    model: str

    @property
    def label(self) -> str:
        named = self.user or self.model_name
        return named if named == self.model else f"{named} ({self.model})"


def why_text(check: CueCheck) -> str:
    """Why a reply meets a cue, or not, for people."""
    return _(WHY[check.why]).format(
        term=check.term,
        n=len(check.words),
        total=len(check.wanted),
        words=", ".join(check.words[:6]),
    )


def rehearse(data: Mapping[str, Any], reply: str, disclosed: int) -> Rehearsal | None:
    """What happens when the agent says `reply` after the first `disclosed` stages. None for a task
    without a persona or without stages.
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
    """Who of a configuration can play a persona: its simulators, or else its models."""
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
    """What the model decides about the same reply: `cue_met`, its reason, and the words that would be
    said. Nothing is recorded. Raises `CuecardError`.
    """
    from cuecard.core.llm.hub import ModelHub

    task = rehearsed_task(data, _gold(data))
    if task is None:
        raise CuecardError(_("There is nobody to play"), _("This task has no persona with stages."))
    hub = ModelHub(config)
    try:
        user = _persona_user(config, simulator, task, hub)
        said = await user.reply(_dialogue(task, reply.strip() or _SILENT, disclosed), FreshCalls())
    finally:
        await hub.close()
    # Where no answer was to be had the scripted user stands in, with the reason on the flag.
    for flag in said.flags[:1]:
        if flag.kind is FlagKind.UNUSABLE and flag.found:
            raise CuecardError(_("The model gave no usable answer"), flag.found)
    return said


def rehearsed_task(data: Mapping[str, Any], gold: Gold = _NOTHING) -> Task | None:
    """A task to rehearse, from data that need not be complete; None without stages. `gold` is what a
    simulator must not name; a script does not look at it.
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
    """A stage to look at or to rehearse, even while it is not complete."""
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
    from cuecard.core.config_players import SimulatorConfig
    from cuecard.core.prompts import find_prompt
    from cuecard.core.users.persona import PersonaUser

    player = config.users.get(simulator.user)
    own = player.prompts if isinstance(player, SimulatorConfig) else {}
    prompts = [find_prompt(name, task.language, config, own) for name in ("persona", "persona_end")]
    client = hub.client(simulator.model_name)
    return PersonaUser(simulator.label, client, task, prompts[0], prompts[1])


def _dialogue(task: Task, reply: str, disclosed: int) -> Dialogue:
    """The talk so far: each disclosed line in its turn, what the agent said between them unknown."""
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
    from cuecard.annotate.authoring.validity import as_task

    try:
        return as_task(data).gold
    except CuecardError:
        return _NOTHING


def _text(value: Any) -> str:
    return "" if value is None else storable(str(value))

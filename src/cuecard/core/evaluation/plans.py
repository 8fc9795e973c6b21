"""Plans a run: its grid of trials, the settings that they share, and a description of its players."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import (
    BaseModel,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from cuecard.core.config import EMBEDDED, Config
from cuecard.core.config_models import LENGTHS, SAMPLING
from cuecard.core.config_players import Settings
from cuecard.core.engine.events import Limits
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.engine.players import PlayerNames, build_players, check_commands
from cuecard.core.engine.step_context import Agent, User
from cuecard.core.engine.trial import TrialSetup
from cuecard.core.errors import ConfigError, NotAllowed
from cuecard.core.i18n import _, listed, numbered
from cuecard.core.llm.hub import ModelHub
from cuecard.core.players import DEFAULT_AGENT, DEFAULT_JUDGE, DEFAULT_USER, DEFAULT_WORLD
from cuecard.core.probes.results import ExamSetting, ProbeSetting
from cuecard.core.records import RunRecord, RunState, TrialCell, TrialRecord
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family, Task

if TYPE_CHECKING:
    from cuecard.core.archive import Archive
    from cuecard.core.worlds.replay import RecordedAnswers


def cell_for(
    task: Task,
    revision: int,
    named: PlayerNames,
    config: Config,
    hub: ModelHub,
    *,
    human: User | None = None,
    human_agent: Agent | None = None,
) -> TrialCell:
    """The cell of a grid for `task` and these players. Raises `ConfigError` for a player that cannot be made."""
    players = build_players(task, named, config, hub, human=human, human_agent=human_agent)
    return TrialCell(
        task_id=task.id,
        revision=revision,
        agent=players.agent.ref,
        user=players.user.ref,
        world=players.world.ref,
        sample=0,
        seed=0,
    )


def setup_for(
    trial: TrialRecord,
    task: Task,
    limits: Limits,
    named: PlayerNames,
    config: Config,
    hub: ModelHub,
    *,
    human: User | None = None,
    human_agent: Agent | None = None,
    tape: RecordedAnswers | None = None,
    notes: tuple[str, ...] = (),
) -> TrialSetup:
    """The trial with its players made again; `human` plays the user part, `human_agent` the agent.

    Raises `ConfigError` if a player can no longer be made, or differs from the one that the trial was begun with (a
    dialogue is not continued with another model).
    """
    players = build_players(
        task, named, config, hub, human=human, human_agent=human_agent, tape=tape, notes=notes
    )
    _same(_("The agent {name} has changed"), trial.agent, players.agent.ref)
    if human is None:
        _same(_("The user {name} has changed"), trial.user, players.user.ref)
    _same(_("The world {name} has changed"), trial.world, players.world.ref)
    return TrialSetup(
        task=task,
        agent=players.agent,
        user=players.user,
        world=players.world,
        revision=trial.revision,
        sample=trial.sample,
        seed=trial.seed,
        limits=limits,
    )


def _same(title: str, before: PlayerRef, now: PlayerRef) -> None:
    if before == now:
        return
    raise ConfigError(
        title.format(name=before.name),
        _("This trial was begun with {before}, the configuration now says {now}.").format(
            before=_told(before), now=_told(now)
        ),
        _("Restore it in cuecard.yaml, or start a new run."),
    )


def _told(ref: PlayerRef) -> str:
    return f"{ref.model or ref.kind} ({ref.version})"


Section = Literal["agents", "users", "worlds", "judges", "models"]
PlayerConfigs = dict[str, dict[str, JsonValue]]

_KEPT = {
    "agents": {
        "kind",
        "model",
        "max_steps",
        "calls",
        "context",
        "memory",
        "settings",
        "members",
        "member_steps",
        "world",
        "shared",
        "code",
    },
    "models": {"model", "api", "context", *SAMPLING, *LENGTHS},
}
_NEVER = {
    *("prompts", "url", "base_url", "command", "headers", "pass_env", "api_key_env", "extra"),
    *("options", "folder"),
}
# Left out where they are not set, so that a run that was recorded before there were such settings is the same run.
_LATER = frozenset({"api", *SAMPLING, *LENGTHS} - {"temperature", "max_tokens"})
_UNSET = (None, "chat")


def player_configs(
    config: Config,
    *,
    agents: Iterable[str] = (),
    users: Iterable[str] = (),
    worlds: Iterable[str] = (),
    judges: Iterable[str] = (),
    models: Iterable[str] = (),
) -> PlayerConfigs:
    """The configuration of these players by `agents/NAME`, `users/NAME`…, with `models/NAME` for every model that one of
    them uses, and of these `models`. Players that the configuration does not have (a person) are left out, and so are secrets and addresses.
    """
    wanted: dict[Section, Iterable[str]] = {
        "agents": agents,
        "users": users,
        "worlds": worlds,
        "judges": config.judges_behind(judges),
    }
    found: PlayerConfigs = {}
    used = dict.fromkeys(models)
    for section, names in wanted.items():
        known: Mapping[str, BaseModel] = getattr(config, section)
        for name in names:
            if name not in known:
                continue
            described = _described(section, known[name])
            found[f"{section}/{name}"] = described
            used |= dict.fromkeys(_models(described))
    for name in used:
        if name in config.models:
            found[f"models/{name}"] = _described("models", config.models[name])
    return found


def setting_of(configs: PlayerConfigs, agent: str, family: Family) -> str:
    """The setting, as the family's paper calls it, in which an agent plays tasks of a family: that of its `settings`, or
    `single` or `team` for families without settings; "" where the run did not record it.
    """
    described = configs.get(f"agents/{agent}")
    if described is None:
        return ""
    if family not in Settings.model_fields:
        return "team" if described.get("kind") == "team" else "single"
    settings = described.get("settings")
    if isinstance(settings, dict) and isinstance(chosen := settings.get(family), str):
        return chosen
    return ""


def memory_of(configs: PlayerConfigs, agent: str) -> str:
    """The agent's memory: `none`, `local` or `lifelong`; "" if it was not recorded or the agent has no such setting."""
    memory = configs.get(f"agents/{agent}", {}).get("memory")
    return memory if isinstance(memory, str) else ""


def _described(section: Section, player: BaseModel) -> dict[str, JsonValue]:
    data: dict[str, JsonValue] = player.model_dump(mode="json", exclude=_NEVER)
    kept = _KEPT.get(section)
    return {
        name: value
        for name, value in data.items()
        if (kept is None or name in kept)
        and not (section == "models" and name in _LATER and value in _UNSET)
    }


def _models(described: Mapping[str, JsonValue]) -> Iterable[str]:
    for name, value in described.items():
        if name == "model" and isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from _models(value)


class Judging(Frozen):
    """What workers are to do with the trials of a run that have ended: judge them by `judges`, or ask the users `shadows`
    what they would have said; all configured as `roster` says. `after`: judge also those whose newest judgement has this id
    or a smaller one. `only`: the trials to be asked about; none means all. `state`, `reason`: how the run stands afterwards.
    """

    judges: tuple[str, ...]
    shadows: tuple[str, ...] = ()
    only: tuple[int, ...] = ()
    roster: dict[str, dict[str, JsonValue]] = {}
    after: int | None = None
    state: RunState = RunState.DONE
    reason: str = ""

    def same_as(self, other: Judging) -> bool:
        """Whether both ask the same of players that are configured alike."""
        stands = self.model_dump(include={"after", "state", "reason"})
        return self == other.model_copy(update=stands)


class RunSettings(Frozen):
    """What all trials of a run share; stored with the run. `user`, `world` and `judges` are names of the
    configuration. `budget`: what the run's model calls may cost in total, in the price table's currency. `replay`: the
    id of the run whose recorded answers replace all calls. `probe`: how the trials of a quality probe are played;
    examinations have no judges. `exam`: whose exam the run is. `shadows`: simulators that are asked, during a person's session, what they would have
    said. `roster`: the players' configuration when the run was created (`player_configs`). `rescored`: the uid of the run
    whose trials were copied here to be judged on other revisions; `anew`: without carrying verdicts over. `judging`: what
    workers are asked for, as long as they are.
    """

    user: str = DEFAULT_USER
    world: str = DEFAULT_WORLD
    judges: tuple[str, ...] = (DEFAULT_JUDGE,)
    budget: Annotated[float, Field(gt=0)] | None = None
    replay: int | None = None
    probe: ProbeSetting | None = None
    exam: ExamSetting | None = None
    shadows: tuple[str, ...] = ()
    roster: dict[str, dict[str, JsonValue]] = {}
    rescored: str = ""
    anew: bool = False
    judging: Judging | None = None

    @model_serializer(mode="wrap")
    def _described(self, dump: SerializerFunctionWrapHandler) -> dict[str, JsonValue]:
        """`judging` stands in it only as long as it holds: a run's description says nothing of its workers. `exam` only in
        exams.
        """
        found = dump(self)
        for name in ("judging", "exam"):
            if getattr(self, name) is None:
                found.pop(name, None)
        return found

    def player_names(self, agent: str) -> PlayerNames:
        return PlayerNames(agent=agent, user=self.user, world=self.world, probe=self.probe)


class RunPlan(Frozen):
    """A grid: the newest revisions of `tasks` x `agents` (names of the configuration) x `samples`.

    Sample s (from 0) has the seed `seed` + s. `concurrency`: how many trials are played at a time.
    """

    tasks: Annotated[tuple[str, ...], Field(min_length=1)]
    agents: Annotated[tuple[str, ...], Field(min_length=1)] = (DEFAULT_AGENT,)
    name: str = ""
    samples: Annotated[int, Field(ge=1, le=1000)] = 1
    concurrency: Annotated[int, Field(ge=1, le=1024)] = 4
    limits: Limits = Limits()
    seed: int = 0
    settings: RunSettings = RunSettings()

    @property
    def title(self) -> str:
        return self.name.strip() or ", ".join(self.agents)


def create_run(
    workspace: Archive, plan: RunPlan, *, by: str, config: Config = EMBEDDED
) -> RunRecord:
    """Create the run with all its trials in the workspace; nothing is played yet. Blocks for the database.

    Raises `NotFound` for an unknown task, `ConfigError` for a player or judge that cannot be made, for
    a harness whose program is not there, and for a budget where a model has no price.
    """
    from cuecard.core.engine.players import build_judge

    settings = plan.settings
    hub = ModelHub(config)
    if settings.probe is None:
        check_commands(plan.agents, config)
    for judge in settings.judges:
        build_judge(judge, config, hub)
    if settings.budget is not None:
        check_prices(models_in(plan.agents, settings, config), config)
    cells: list[TrialCell] = []
    for revision in workspace.tasks.newest(dict.fromkeys(plan.tasks)):
        for agent in dict.fromkeys(plan.agents):
            named = settings.player_names(agent)
            first = cell_for(revision.task, revision.number, named, config, hub)
            cells += [
                first.model_copy(update={"sample": sample, "seed": plan.seed + sample})
                for sample in range(plan.samples)
            ]
    configs = player_configs(
        config,
        agents=plan.agents,
        users=(settings.user,),
        worlds=(settings.world,),
        judges=settings.judges,
    )
    settings = settings.model_copy(update={"roster": configs})
    return enter_run(workspace, plan.model_copy(update={"settings": settings}), cells, by)


def create_replay(workspace: Archive, run_id: int, *, by: str, name: str = "") -> RunRecord:
    """Create a run that plays the trials of `run_id` again from their recordings, without any call.

    Raises `NotFound`, and `NotAllowed` for a play session (a person's words are not played again) and for a probe (a
    replay would count as another attempt).
    """
    old = workspace.runs.get(run_id)
    if old.kind == "play":
        raise NotAllowed(_("A play session cannot be replayed"), old.name)
    if old.kind == "probe":
        raise NotAllowed(_("A quality probe cannot be replayed"), old.name)
    trials = workspace.runs.trials(run_id)
    settings = settings_of(old).model_copy(update={"replay": run_id, "budget": None})
    plan = RunPlan(
        tasks=tuple(trial.task_id for trial in trials),
        agents=tuple(dict.fromkeys(trial.agent.name for trial in trials)),
        name=name or free_name(workspace, _("{name}, replayed").format(name=old.name)),
        samples=old.samples,
        limits=old.limits,
        settings=settings,
    )
    cells = [TrialCell.from_fields(trial) for trial in trials]
    return enter_run(workspace, plan, cells, by)


def settings_of(run: RunRecord) -> RunSettings:
    """The settings that a run was created with; old runs without settings have the offline players."""
    try:
        return RunSettings.model_validate(run.plan)
    except ValidationError as error:
        raise ConfigError(
            _("The settings of run {id} cannot be read").format(id=run.id),
            str(error),
            _("Was it made by a newer version of Cuecard?"),
        ) from error


def no_exam(run: RunRecord) -> RunRecord:
    """The run, if it can have scores and labels. Raises `NotAllowed` for the exam of a judge."""
    if run.is_exam:
        raise NotAllowed(
            _("Run {id} is the exam of a judge").format(id=run.id),
            _("it has no scores, and nothing of it is labelled"),
            _("`cuecard exam JUDGE --known` tells what it found."),
            in_app=_("It is opened from the list of runs."),
        )
    return run


def free_name(workspace: Archive, name: str) -> str:
    """A name made by rule, with a number where another run is called so."""
    return numbered(name, (run.name for run in workspace.runs.all()))


def enter_run(workspace: Archive, plan: RunPlan, cells: Sequence[TrialCell], by: str) -> RunRecord:
    """Store a run with these cells; its kind is `probe` if its settings have one, or an exam."""
    probes = plan.settings.probe or plan.settings.exam
    return workspace.runs.create(
        name=plan.title,
        kind="grid" if probes is None else "probe",
        created_by=by,
        samples=plan.samples,
        limits=plan.limits,
        plan=plan.settings.model_dump(mode="json"),
        cells=cells,
    )


def models_in(agents: Sequence[str], settings: RunSettings, config: Config) -> set[str]:
    """Names of the models that a run of these agents calls. Raises `ConfigError` for an unknown player."""
    probes = settings.probe is not None  # Its agents are models.
    players = [] if probes else [config.agent(name) for name in agents]
    others = (config.user(settings.user), config.world(settings.world))
    names = {getattr(player, "model", "") for player in (*players, *others)}
    names |= config.judge_models(settings.judges)
    names.add(getattr(getattr(others[1], "visit", None), "model", ""))
    return names | set(agents) if probes else names


def check_prices(names: Collection[str], config: Config) -> None:
    """Raises `ConfigError` if one of these models has no price, since a budget could then not be kept."""
    unpriced = sorted(n for n in names if n in config.models and config.models[n].price is None)
    if unpriced:
        raise ConfigError(
            _("A budget needs prices"),
            _("these models have none: {names}").format(names=listed(unpriced)),
            _("give each a price in cuecard.yaml, 0 if it costs nothing"),
        )

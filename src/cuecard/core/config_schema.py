"""The contents of `cuecard.yaml`: models, live sessions, review, quality probes, and the whole configuration."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from cuecard.core.config_models import ModelConfig
from cuecard.core.config_players import (
    PERSON,
    AgentConfig,
    AgentName,
    JudgeConfig,
    JuryConfig,
    PlayerName,
    UserConfig,
    WorldConfig,
)
from cuecard.core.errors import ConfigError
from cuecard.core.i18n import N_, _, listed
from cuecard.core.players import DEFAULT_JUDGE, DEFAULT_WORLD
from cuecard.core.secrets import guard, handed_on, passwords_in, secret_fields, secret_options
from cuecard.core.tasks.base import DimensionKey, FormQuestion, Frozen, Name
from cuecard.core.tasks.models import Family

T = TypeVar("T")
Problem = tuple[tuple[str | int, ...], str]
"""A place in the configuration, and what is wrong there."""


class DimensionConfig(Frozen):
    """One dimension that reviewers rate. `key` is stored with reviews; the texts are shown as they are."""

    key: DimensionKey
    label: Name
    help: str = ""


class ReviewConfig(Frozen):
    """How tasks are reviewed. `version`: to be raised when the protocol changes; reviews record the version they were
    made under. `dimensions`: by family, instead of the embedded ones. `spot_check`: how many gold items, drawn for each
    reviewer, must be marked. `on_split`: if two reviewers disagree, the task is returned, or a third decides.
    `lease_hours`: how long a claim lasts. `coordinators`: people who assign reviews; since they see who reviews, they do
    not review themselves.
    """

    version: Name = "1"
    dimensions: dict[Family, Annotated[tuple[DimensionConfig, ...], Field(min_length=1)]] = {}
    spot_check: Annotated[int, Field(ge=0, le=1000)] = 5
    on_split: Literal["return", "third"] = "return"
    lease_hours: Annotated[float, Field(gt=0, le=8760)] = 72
    coordinators: tuple[Name, ...] = ()


class QcConfig(Frozen):
    """How tasks are probed. `models`: names of the models that attempt tasks (empty: all); `examiner`: the model that
    examines ambiguity and laws ("": the first). `judge`: scores the attempts. `world`: where they search ("": the first
    web world, else the closed world, whose results are no evidence). `closed_book`, `open_book`, `with_facts`: attempts
    per model; `search_calls`: most tool calls of one. `right_at`: the score from which an attempt counts as right.
    `minutes`, `pages`: the effort that an author should at least have made. `agreement`: the least agreement between
    judge and expert, item by item.
    """

    models: tuple[Name, ...] = ()
    examiner: str = ""
    judge: Name = DEFAULT_JUDGE
    world: str = ""
    closed_book: Annotated[int, Field(ge=1, le=100)] = 3
    open_book: Annotated[int, Field(ge=1, le=100)] = 1
    search_calls: Annotated[int, Field(ge=1, le=1000)] = 25
    with_facts: Annotated[int, Field(ge=1, le=100)] = 3
    right_at: Annotated[float, Field(gt=0, le=1)] = 0.8
    minutes: Annotated[float, Field(ge=0)] = 10
    pages: Annotated[int, Field(ge=0)] = 10
    agreement: Annotated[float, Field(gt=0, le=1)] = 0.95


def review_problems(review: ReviewConfig) -> Iterator[Problem]:
    """Problems: dimensions of one family with the same key, whose ratings could not be distinguished."""
    for family, dimensions in review.dimensions.items():
        keys = [dimension.key for dimension in dimensions]
        for index, key in enumerate(keys):
            if key in keys[:index]:
                place = ("review", "dimensions", family, index, "key")
                yield place, _("the key {key} is already taken in this list").format(key=key)


def qc_problems(
    qc: QcConfig, models: Collection[str], judges: Collection[str], worlds: Collection[str]
) -> Iterator[Problem]:
    """Problems: names that the configuration does not define, and models that are listed twice."""
    for index, name in enumerate(qc.models):
        if name not in models:
            yield ("qc", "models", index), no_model(name, models)
        elif name in qc.models[:index]:
            yield ("qc", "models", index), _("{name} is listed twice").format(name=name)
    if qc.examiner and qc.examiner not in models:
        yield ("qc", "examiner"), no_model(qc.examiner, models)
    yield from _unknown(("qc", "judge"), _NO_JUDGE, qc.judge, judges)
    if qc.world:
        yield from _unknown(("qc", "world"), _NO_WORLD, qc.world, worlds)


def jury_problems(judges: Mapping[str, JudgeConfig]) -> Iterator[Problem]:
    """Problems of juries: members that are no judges here or are juries themselves, and votes that could tie."""
    for name, jury in judges.items():
        if not isinstance(jury, JuryConfig):
            continue
        place = ("judges", name, "members")
        for index, member in enumerate(jury.members):
            if member not in judges:
                yield from _unknown((*place, index), _NO_JUDGE, member, judges)
            elif isinstance(judges[member], JuryConfig):
                yield (*place, index), _("a jury cannot be a member of one")
            elif member in jury.members[:index]:
                yield (*place, index), _("{name} is listed twice").format(name=member)
        if jury.weights and set(jury.weights) != set(jury.members):
            yield ("judges", name, "weights"), _("every member needs its weights, and nobody else")
        elif not jury.weights and len(jury.members) % 2 == 0:
            yield place, _("an even number of votes can tie: one member more or less, or weights")


_NO_JUDGE = N_("there is no judge {name} here; known judges: {names}")
_NO_MODEL = N_("there is no model {name} here; known models: {names}")
_NO_USER = N_("there is no user {name} here; known users: {names}")
_NO_WORLD = N_("there is no world {name} here; known worlds: {names}")


def no_model(name: str, models: Collection[str]) -> str:
    return _reason(_NO_MODEL, name, models)


def _reason(reason: str, name: str, known: Collection[str]) -> str:
    return _(reason).format(name=name, names=listed(known) or "-")


def _unknown(
    place: tuple[str | int, ...], reason: str, name: str, known: Collection[str]
) -> Iterator[Problem]:
    if name not in known:
        yield place, _reason(reason, name, known)


class ContaminationConfig(Frozen):
    """Whether pages give the benchmark away. `canary`: 32 hexadecimal digits that stand in what is exported, and on no
    page that has nothing to do with it. `names`: how the benchmark, its paper or its repository is called.
    """

    canary: Annotated[str, Field(pattern=r"^([0-9a-f]{32})?$")] = ""
    names: tuple[Name, ...] = ()


class PlayConfig(Frozen):
    """Settings of live sessions. `form`: the questions after a session (empty: the embedded ones). `shadows`: users that
    are asked what they would have said; never shown before the person has decided. `later`: what the card shows of
    later stages. `judge`, `world`: by name.
    """

    form: tuple[FormQuestion, ...] = ()
    shadows: tuple[Name, ...] = ()
    later: Literal["titles", "nothing", "lines"] = "titles"
    judge: Name = DEFAULT_JUDGE
    world: Name = DEFAULT_WORLD


def play_problems(
    play: PlayConfig, users: Collection[str], judges: Collection[str], worlds: Collection[str]
) -> Iterator[Problem]:
    """Problems: names that the configuration does not define, and keys or names that occur twice."""
    keys = [question.key for question in play.form]
    for index, key in enumerate(keys):
        if key in keys[:index]:
            reason = _("the key {key} is already taken in this list").format(key=key)
            yield ("play", "form", index, "key"), reason
    for index, name in enumerate(play.shadows):
        if name not in users:
            yield from _unknown(("play", "shadows", index), _NO_USER, name, users)
        elif name in play.shadows[:index]:
            yield ("play", "shadows", index), _("{name} is listed twice").format(name=name)
    yield from _unknown(("play", "judge"), _NO_JUDGE, play.judge, judges)
    yield from _unknown(("play", "world"), _NO_WORLD, play.world, worlds)


_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


class AuthoringConfig(Frozen):
    """Settings of the author's assistant. `model`: a name from `models`; "" for the first one."""

    model: str = ""


def _named(found: Mapping[str, T], name: str, title: str, known: str) -> T:
    if name in found:
        return found[name]
    raise ConfigError(title, name, known.format(names=listed(found) or "-"))


class Config(Frozen):
    """The whole configuration. Models and players are found by name; read by `core.config`, it also
    holds the offline players, under their own names.

    `prompts`: a folder whose `NAME.LANGUAGE.md` files replace embedded prompts, for all players. `guidelines`: a Markdown
    file that authors see instead of the embedded guidelines. `currency`: of all prices, costs and budgets.
    """

    models: dict[PlayerName, ModelConfig] = {}
    agents: dict[AgentName, AgentConfig] = {}
    users: dict[PlayerName, UserConfig] = {}
    worlds: dict[PlayerName, WorldConfig] = {}
    judges: dict[PlayerName, JudgeConfig] = {}
    authoring: AuthoringConfig = AuthoringConfig()
    review: ReviewConfig = ReviewConfig()
    qc: QcConfig = QcConfig()
    play: PlayConfig = PlayConfig()
    contamination: ContaminationConfig = ContaminationConfig()
    prompts: str = ""
    guidelines: str = ""
    currency: str = "USD"

    @property
    def author_model(self) -> str:
        """The name of the model that assists authors; "" if there is no model at all."""
        return self.authoring.model or next(iter(self.models), "")

    def agent(self, name: str) -> AgentConfig:
        """The agent called `name`. Raises `ConfigError`, which lists the known ones; `person` is none of them (see
        `core.engine.players`).
        """
        if name == PERSON and name not in self.agents:
            raise ConfigError(
                _("A person plays only in live sessions"),
                _("The agent {name} cannot play by itself.").format(name=name),
                _("Choose it when you begin to play a task yourself."),
            )
        return _named(self.agents, name, _("Unknown agent"), _("known agents: {names}"))

    def user(self, name: str) -> UserConfig:
        """The user called `name`. Raises `ConfigError`, which lists the known ones."""
        return _named(self.users, name, _("Unknown user"), _("known users: {names}"))

    def world(self, name: str) -> WorldConfig:
        """The world called `name`. Raises `ConfigError`, which lists the known ones."""
        return _named(self.worlds, name, _("Unknown world"), _("known worlds: {names}"))

    def judge(self, name: str) -> JudgeConfig:
        """The judge called `name`. Raises `ConfigError`, which lists the known ones."""
        return _named(self.judges, name, _("Unknown judge"), _("known judges: {names}"))

    def judges_behind(self, names: Iterable[str]) -> tuple[str, ...]:
        """These judges, and behind each jury its members."""
        every = ((name, *getattr(self.judges.get(name), "members", ())) for name in names)
        return tuple(dict.fromkeys(name for each in every for name in each))

    def judge_models(self, names: Iterable[str]) -> set[str]:
        """The models that these judges call, by name. Raises `ConfigError`."""
        return {getattr(self.judge(name), "model", "") for name in self.judges_behind(names)}

    def model(self, name: str) -> ModelConfig:
        """The model called `name`. Raises `ConfigError`, which lists the known ones."""
        return _named(self.models, name, _("Unknown model"), _("known models: {names}"))


def guard_config(config: Config) -> None:
    """Treat the present values of all environment variables that the configuration names as secrets."""
    for name, values in secrets_of(config, os.environ).items():
        guard(name, *values)


def secrets_of(config: Config, environ: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The values that a configuration makes secret, by the names that replace them: of variables for keys and headers,
    of variables passed to harnesses, of command options and extra fields with names like `token`, and of the proxies'
    passwords.
    """
    found: dict[str, tuple[str, ...]] = {}

    def named(variable: str) -> None:
        if value := environ.get(variable, "").strip():
            found[variable] = (value,)

    for name, model in config.models.items():
        for what, values in model.secrets(environ):
            found[what if what in environ else f"{name} {what}"] = values
    for world in config.worlds.values():
        named(getattr(world, "api_key_env", ""))
    for players in (config.agents, config.users, config.worlds, config.judges):
        for name, player in players.items():
            if fields := tuple(secret_fields(getattr(player, "options", {}))):
                found[f"{name} options"] = fields
    for name, agent in config.agents.items():
        for variable in getattr(agent, "headers", {}).values():
            named(variable)
        for variable in getattr(agent, "pass_env", ()):
            if values := handed_on(environ.get(variable, "").strip()):
                found[variable] = values
        if options := tuple(secret_options(getattr(agent, "command", ()))):
            found[f"{name} command"] = options
    for proxy in _PROXIES:
        for variable in (proxy, proxy.lower()):
            if values := passwords_in(environ.get(variable, "")):
                found[variable] = values
    return found

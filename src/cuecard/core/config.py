"""`cuecard.yaml`: found, read and checked, with every problem by file, line and place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, cast

from cuecard.core.config_agents import OfflineAgentConfig
from cuecard.core.config_models import Config, ModelConfig
from cuecard.core.config_play import play_problems
from cuecard.core.config_players import ClosedWorldConfig, LexicalJudgeConfig, ScriptedUserConfig
from cuecard.core.config_review import no_model, qc_problems, review_problems
from cuecard.core.errors import ConfigError, FileProblem, FileProblems
from cuecard.core.i18n import _
from cuecard.core.prompts import prompt_names
from cuecard.core.scrubbing import guard_config
from cuecard.core.validation import (
    Dialect,
    Place,
    TaggedUnion,
    format_place,
    line_of,
    validated,
)
from cuecard.core.yaml_nodes import read_mapping, read_text

__all__ = [
    "CONFIG_NAME",
    "Config",
    "ConfigProblems",
    "ModelConfig",
    "example_config",
    "load_config",
]

CONFIG_NAME = "cuecard.yaml"
EMBEDDED = Config(
    agents={"offline": OfflineAgentConfig()},
    users={"scripted": ScriptedUserConfig(kind="scripted")},
    worlds={"closed": ClosedWorldConfig(kind="closed")},
    judges={"lexical": LexicalJudgeConfig(kind="lexical")},
)
_SECTIONS = ("agents", "users", "worlds", "judges")


class ConfigProblems(FileProblems, ConfigError):
    """Everything that is wrong with `cuecard.yaml`; the message tells each problem's line."""

    def __init__(self, title: str, problems: Sequence[FileProblem], hint: str = "") -> None:
        super().__init__(title, problems, hint)
        self.message = "\n".join(_with_line(problem) for problem in self.problems)


def load_config(path: Path | None = None) -> Config:
    """The configuration in `path`, or in `./cuecard.yaml`; without that file, the embedded players.

    Raises `ConfigError`: `ConfigProblems` where something in the file is wrong.
    """
    if path is None:
        path = Path(CONFIG_NAME)
        if not path.exists():
            return EMBEDDED
    try:
        config = parse_config(read_text(path, _dialect().title), path)
    except FileProblems as error:
        raise ConfigProblems(error.title, error.problems, error.hint) from None
    guard_config(config)
    return config


def parse_config(text: str, path: Path) -> Config:
    """The configuration in `text`; `path` is where it stands: in messages, and for relative files.

    Raises `FileProblems`.
    """
    dialect, file = _dialect(), str(path)
    lines: dict[Place, int] = {}
    data = read_mapping(text, file, lines, dialect) if _has_content(text) else {}
    problems = _resolve_files(data, path, lines)
    config = EMBEDDED
    try:
        config = _with_embedded(validated(Config, data, file, lines, dialect))
    except FileProblems as error:
        problems += [_about_keys(problem) for problem in error.problems]
    else:
        problems += [
            FileProblem(file, format_place(place), reason, line_of(place, lines))
            for place, reason in _inconsistencies(config)
        ]
    if problems:
        raise FileProblems(dialect.title, sorted(problems, key=lambda p: p.line or 0))
    return config


def example_config() -> str:
    """The commented example that `cuecard init` writes."""
    return (resources.files("cuecard") / "examples" / CONFIG_NAME).read_text(encoding="utf-8")


def _dialect() -> Dialect:
    return Dialect(
        title=_("The configuration cannot be read"),
        shape=_("must be a mapping with models, agents and so on"),
        typed=lambda place: len(place) == 3 and place[0] == "models" and place[2] == "extra",
        unions={
            "agents": TaggedUnion(2, "kind", ("offline", "react", "team", "acp", "http")),
            "users": TaggedUnion(2, "kind", ("scripted", "simulator")),
            "worlds": TaggedUnion(2, "kind", ("closed", "parallel", "web", "replay")),
            "judges": TaggedUnion(2, "kind", ("lexical", "model")),
        },
    )


def _has_content(text: str) -> bool:
    lines = (line.strip() for line in text.splitlines())
    return any(line and not line.startswith("#") for line in lines)


def _with_embedded(config: Config) -> Config:
    merged = {name: {**getattr(EMBEDDED, name), **getattr(config, name)} for name in _SECTIONS}
    return config.model_copy(update=merged)


def _inconsistencies(config: Config) -> list[tuple[Place, str]]:
    found: list[tuple[Place, str]] = []
    if (helper := config.authoring.model) and helper not in config.models:
        found.append((("authoring", "model"), no_model(helper, config.models)))
    for section in _SECTIONS:
        embedded: dict[str, Any] = getattr(EMBEDDED, section)
        players: dict[str, Any] = getattr(config, section)
        for name, player in players.items():
            if name in embedded and player.kind != embedded[name].kind:
                reason = _("this name belongs to an embedded player; choose another")
                found.append(((section, name), reason))
            for place, model in _models_of(player):
                if model and model not in config.models:
                    found.append(((section, name, *place), no_model(model, config.models)))
    found += review_problems(config.review)
    found += qc_problems(config.qc, config.models, config.judges, config.worlds)
    found += play_problems(config.play, config.users, config.judges, config.worlds)
    return found


def _models_of(player: Any) -> list[tuple[Place, str]]:
    """The models that a player names, with where it does."""
    named: list[tuple[Place, str]] = []
    # For harnesses and agents elsewhere the model is only told, not called.
    if player.kind not in ("acp", "http"):
        named.append((("model",), getattr(player, "model", "")))
    visit = getattr(player, "visit", None)
    if visit is not None:
        named.append((("visit", "model"), visit.model))
    return named


def _resolve_files(
    data: dict[str, Any], path: Path, lines: Mapping[Place, int]
) -> list[FileProblem]:
    """Make the files that are named absolute in `data`; those that are not there are problems."""
    problems: list[FileProblem] = []

    def problem(place: Place, reason: str) -> None:
        problems.append(FileProblem(str(path), format_place(place), reason, line_of(place, lines)))

    folder = data.get("prompts")
    if isinstance(folder, str) and folder.strip():
        data["prompts"] = str(_absolute(folder, path))
        if not Path(data["prompts"]).is_dir():
            problem(("prompts",), _("there is no folder {file}").format(file=data["prompts"]))
    guidelines = data.get("guidelines")
    if isinstance(guidelines, str) and guidelines.strip():
        data["guidelines"] = str(_absolute(guidelines, path))
        if not Path(data["guidelines"]).is_file():
            problem(("guidelines",), _("there is no file {file}").format(file=data["guidelines"]))
    for section in _SECTIONS:
        for name, player in _items(data.get(section)):
            prompts = cast(dict[str, Any], player).get("prompts") if _is_mapping(player) else None
            for key, value in _items(prompts):
                place: Place = (section, name, "prompts", key)
                if key not in prompt_names():
                    known = ", ".join(sorted(prompt_names()))
                    problem(
                        place,
                        _("there is no prompt {name}; known: {known}").format(
                            name=key, known=known
                        ),
                    )
                if not isinstance(value, str) or not value.strip():
                    continue
                file = _absolute(value, path)
                cast(dict[str, Any], prompts)[key] = str(file)
                if not file.is_file():
                    problem(place, _("there is no file {file}").format(file=file))
    return problems


def _absolute(value: str, path: Path) -> Path:
    return path.parent.absolute() / Path(value.strip()).expanduser()


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict)


def _items(value: object) -> list[tuple[str, object]]:
    return list(cast(dict[str, object], value).items()) if isinstance(value, dict) else []


def _about_keys(problem: FileProblem) -> FileProblem:
    if problem.place.rpartition(".")[2] not in ("api_key", "key", "token"):
        return problem
    reason = _(
        "keys never stand here; put the key into an environment variable and name it in {field}"
    )
    return FileProblem(
        problem.file, problem.place, reason.format(field="api_key_env"), problem.line
    )


def _with_line(problem: FileProblem) -> str:
    where = problem.file if problem.line is None else f"{problem.file}:{problem.line}"
    return ": ".join(part for part in (where, problem.place, problem.reason) if part)

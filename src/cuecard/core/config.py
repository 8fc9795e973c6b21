"""`cuecard.yaml`: found, read and checked, with every problem by file, line and place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, cast

from cuecard.core.config_models import (
    ClosedWorldConfig,
    Config,
    LexicalJudgeConfig,
    ModelConfig,
    OfflineAgentConfig,
    ReactAgentConfig,
    ScriptedUserConfig,
)
from cuecard.core.errors import ConfigError, FileProblem, FileProblems
from cuecard.core.i18n import _
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
        return parse_config(read_text(path, _dialect().title), path)
    except FileProblems as error:
        raise ConfigProblems(error.title, error.problems, error.hint) from None


def parse_config(text: str, path: Path) -> Config:
    """The configuration in `text`; `path` is where it stands: in messages, and for relative files.

    Raises `FileProblems`.
    """
    dialect, file = _dialect(), str(path)
    lines: dict[Place, int] = {}
    data = read_mapping(text, file, lines, dialect) if _has_content(text) else {}
    problems = _resolve_prompts(data, path, lines)
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
        unions={"agents": TaggedUnion(2, "kind", ("offline", "react"))},
    )


def _has_content(text: str) -> bool:
    lines = (line.strip() for line in text.splitlines())
    return any(line and not line.startswith("#") for line in lines)


def _with_embedded(config: Config) -> Config:
    merged = {name: {**getattr(EMBEDDED, name), **getattr(config, name)} for name in _SECTIONS}
    return config.model_copy(update=merged)


def _inconsistencies(config: Config) -> list[tuple[Place, str]]:
    found: list[tuple[Place, str]] = []
    for name, agent in config.agents.items():
        if name == "offline" and agent.kind != "offline":
            reason = _("this name belongs to the embedded agent; choose another")
            found.append((("agents", name), reason))
        if isinstance(agent, ReactAgentConfig) and agent.model not in config.models:
            reason = _("there is no model {name} here; known models: {names}").format(
                name=agent.model, names=", ".join(config.models) or "-"
            )
            found.append((("agents", name, "model"), reason))
    return found


def _resolve_prompts(
    data: dict[str, Any], path: Path, lines: Mapping[Place, int]
) -> list[FileProblem]:
    """Make prompt files absolute in `data`; those that are not there are problems."""
    problems: list[FileProblem] = []
    agents = data.get("agents")
    for name, agent in _items(agents):
        prompts = cast(dict[str, Any], agent).get("prompts") if isinstance(agent, dict) else None
        for key, value in _items(prompts):
            if not isinstance(value, str) or not value.strip():
                continue
            file = path.parent.absolute() / Path(value.strip()).expanduser()
            cast(dict[str, Any], prompts)[key] = str(file)
            if not file.is_file():
                place: Place = ("agents", name, "prompts", key)
                reason = _("there is no file {file}").format(file=file)
                problems.append(
                    FileProblem(str(path), format_place(place), reason, line_of(place, lines))
                )
    return problems


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

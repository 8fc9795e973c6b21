"""Finds, reads and checks `cuecard.yaml` and the prompt files; reports every problem by file, line and place."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import ValidationError

from cuecard.core.config_schema import (
    Config,
    guard_config,
    jury_problems,
    no_model,
    play_problems,
    qc_problems,
    review_problems,
)
from cuecard.core.errors import ConfigError, FileProblem, FileProblems
from cuecard.core.i18n import _, headed, listed
from cuecard.core.players import PYTHON, Part, embedded, kind_of, kinds
from cuecard.core.plugins import registered
from cuecard.core.system import CONFIG_NAME, replace_file
from cuecard.core.tasks.base import Frozen, Text
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.tasks.yaml_io import read_mapping, read_text
from cuecard.core.validation import (
    Dialect,
    Place,
    TaggedUnion,
    format_place,
    line_of,
    reason_of,
    validated,
)

_FRONT_MATTER = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


class Prompt(Frozen):
    """A prompt template. `variables`: the names that occur as `{{name}}` in `text`."""

    purpose: str = ""
    version: str = ""
    variables: tuple[str, ...] = ()
    text: Text

    @property
    def hash(self) -> str:
        """SHA-256 of the text, as 64 hex digits: recorded with what the prompt produced."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def render(self, **values: str) -> str:
        """The text with each variable replaced once; values are data and never expanded again.

        Raises `ValueError` if a variable is missing or unknown.
        """
        if set(values) != set(self.variables):
            raise ValueError(f"this prompt wants {self.variables}, not {tuple(values)}")
        return _VARIABLE.sub(lambda match: values[match[1]], self.text)


@cache
def load_prompt(name: str, language: TaskLanguage) -> Prompt:
    """An embedded prompt."""
    file = f"{name}.{language}.md"
    text = (resources.files("cuecard") / "prompts" / file).read_text(encoding="utf-8")
    return parse_prompt(text, file)


@cache
def prompt_names() -> frozenset[str]:
    """The names of all embedded prompts."""
    files = (resources.files("cuecard") / "prompts").iterdir()
    return frozenset(f.name.split(".")[0] for f in files if f.name.endswith(".md"))


def find_prompt(
    name: str, language: TaskLanguage, config: Config, own: Mapping[str, str]
) -> Prompt:
    """The prompt to use: the file, or the one in the folder, that `own` (a player's `prompts`) names, else the one in the
    configuration's folder of prompts, else the embedded one. Raises `ConfigError`.
    """
    for place in map(Path, filter(None, (own.get(name), config.prompts))):
        file = place / f"{name}.{language}.md" if place.is_dir() else place
        if file == place or file.is_file():
            return _read_once(file, name, language)
    return load_prompt(name, language)


def all_prompts(config: Config) -> list[Prompt]:
    """Every prompt that players of this configuration may use, in both languages."""
    languages: tuple[TaskLanguage, ...] = ("en", "zh")
    sections = (config.agents, config.users, config.worlds, config.judges)
    owns: list[Mapping[str, str]] = [{}]
    owns += [
        own for section in sections for p in section.values() if (own := getattr(p, "prompts", {}))
    ]
    found = {
        prompt.hash: prompt
        for own in owns
        for name in (own or prompt_names())
        for language in languages
        for prompt in [find_prompt(name, language, config, own)]
    }
    return list(found.values())


@lru_cache(maxsize=256)
def _read_at(path: Path, _changed: int, name: str, language: TaskLanguage) -> Prompt:
    return read_prompt(path, load_prompt(name, language))


def _read_once(path: Path, name: str, language: TaskLanguage) -> Prompt:
    # Cached for each state of the file, since every trial of a run reads it.
    try:
        changed = path.stat().st_mtime_ns
    except OSError as error:
        raise _unusable(str(path), str(error)) from error
    return _read_at(path, changed, name, language)


def read_prompt(path: Path, embedded: Prompt) -> Prompt:
    """A prompt from a person's file, to replace `embedded`; it may use the same variables.

    Raises `ConfigError`.
    """
    try:
        prompt = parse_prompt(path.read_text(encoding="utf-8-sig"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(str(path), str(error)) from error
    unknown = [name for name in prompt.variables if name not in embedded.variables]
    if unknown:
        raise _unusable(
            str(path),
            _("unknown variables: {names}; known ones: {known}").format(
                names=_listed(unknown), known=_listed(embedded.variables)
            ),
        )
    # All variables of the embedded prompt, since rendering passes them even if this text does not use them.
    return prompt.model_copy(update={"variables": embedded.variables})


def parse_prompt(text: str, file: str) -> Prompt:
    """A prompt's text with or without front matter; `file` is only used in messages.

    Raises `ConfigError`.
    """
    match = _FRONT_MATTER.fullmatch(text.replace("\r\n", "\n"))
    body = (match[2] if match else text).strip()
    found = tuple(dict.fromkeys(_VARIABLE.findall(body)))
    try:
        front = dict[str, object]((yaml.safe_load(match[1]) if match else None) or {})
        front["version"] = str(front.get("version", ""))
        prompt = Prompt.model_validate({"variables": found, **front, "text": body})
    except (yaml.YAMLError, ValidationError, TypeError, ValueError) as error:
        raise _unusable(file, _("its head or its text cannot be read")) from error
    if set(prompt.variables) != set(found):
        reason = _("it declares {declared} but uses {used}")
        raise _unusable(
            file, reason.format(declared=_listed(prompt.variables), used=_listed(found))
        )
    return prompt


def _listed(names: Iterable[str]) -> str:
    return listed(names) or "-"


def _unusable(file: str, reason: str) -> ConfigError:
    return ConfigError(_("A prompt cannot be used"), headed(file, reason))


_PARTS: dict[str, Part] = {"agents": "agent", "users": "user", "worlds": "world", "judges": "judge"}
_SECTIONS = tuple(_PARTS)
EMBEDDED = Config.model_validate(
    {
        section: {found.kind: {"kind": found.kind} for found in embedded(part)}
        for section, part in _PARTS.items()
    }
)


class ConfigProblems(FileProblems, ConfigError):
    """Everything that is wrong with `cuecard.yaml`; the message names each problem's line."""

    def __init__(self, title: str, problems: Sequence[FileProblem], hint: str = "") -> None:
        super().__init__(title, problems, hint)
        self.message = "\n".join(_with_line(problem) for problem in self.problems)


def load_config(path: Path | None = None) -> Config:
    """The configuration in `path`, or in `./cuecard.yaml`; without that file, the offline players alone.

    Raises `ConfigError`, and `ConfigProblems` if something in the file is wrong.
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
    """The configuration in `text`; `path`: its file, for messages and for relative paths in it.

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


def choose_model(path: Path, entry: str, model: str) -> None:
    """Write `model` into the entry of `models` in the file at `path`; all else stays as it stands there. Raises
    `ConfigError` if there is no such entry, and `ConfigProblems` if the file could not be read afterwards.
    """
    text = read_text(path, _dialect().title)
    node = cast(Any, yaml.compose(text, yaml.SafeLoader))
    for name in ("models", entry, "model"):
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        node = next((value for key, value in pairs if key.value == name), None)
    if not isinstance(node, yaml.ScalarNode):
        raise ConfigError(_("Unknown model"), entry, _("known models: {names}").format(names="-"))
    # In quotes, which no name of a model can break out of.
    written = json.dumps(model, ensure_ascii=False)
    text = text[: node.start_mark.index] + written + text[node.end_mark.index :]
    try:
        parse_config(text, path)
    except FileProblems as error:
        raise ConfigProblems(error.title, error.problems, error.hint) from None
    replace_file(path, text)


def example_config() -> str:
    """The commented example that `cuecard init` writes."""
    return (resources.files("cuecard") / "examples" / CONFIG_NAME).read_text(encoding="utf-8")


def _dialect() -> Dialect:
    return Dialect(
        title=_("The configuration cannot be read"),
        shape=_("must be a mapping with models, agents and so on"),
        typed=lambda place: len(place) == 3 and place[2] in ("extra", "options"),
        unions={
            section: TaggedUnion(2, "kind", tuple(found.kind for found in kinds(part)))
            for section, part in _PARTS.items()
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
        ours: dict[str, Any] = getattr(EMBEDDED, section)
        players: dict[str, Any] = getattr(config, section)
        for name, player in players.items():
            if name in ours and player.kind != ours[name].kind:
                reason = _("this name belongs to an embedded player; choose another")
                found.append(((section, name), reason))
            for place, model in _models_of(_PARTS[section], player):
                if model and model not in config.models:
                    found.append(((section, name, *place), no_model(model, config.models)))
    found += review_problems(config.review)
    found += jury_problems(config.judges)
    found += qc_problems(config.qc, config.models, config.judges, config.worlds)
    found += play_problems(config.play, config.users, config.judges, config.worlds)
    return found


def _models_of(part: Part, player: Any) -> list[tuple[Place, str]]:
    """The models that a player names, with the places where it does."""
    named: list[tuple[Place, str]] = []
    # Harnesses and agents behind an address name their model for the record only.
    if kind_of(part, player.kind).source != "program":
        named.append((("model",), getattr(player, "model", "")))
    visit = getattr(player, "visit", None)
    if visit is not None:
        named.append((("visit", "model"), visit.model))
    return named


def _resolve_files(
    data: dict[str, Any], path: Path, lines: Mapping[Place, int]
) -> list[FileProblem]:
    """Make the paths of files in `data` absolute, and find the classes of players; returns a problem for each file that does not exist."""
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
    for name, model in _items(data.get("models")):
        settings = cast(dict[str, Any], model) if _is_mapping(model) else {}
        for key in ("api_key_file", "ca_file", "client_cert", "client_key"):
            if isinstance(value := settings.get(key), str) and value.strip():
                settings[key] = str(_absolute(value, path))
                if not Path(settings[key]).is_file():
                    reason = _("there is no file {file}").format(file=settings[key])
                    problem(("models", name, key), reason)
    for section in _SECTIONS:
        for name, player in _items(data.get(section)):
            _resolve_class(section, player, path)
            prompts = cast(dict[str, Any], player).get("prompts") if _is_mapping(player) else None
            for key, value in _items(prompts):
                place: Place = (section, name, "prompts", key)
                if key not in prompt_names():
                    known = listed(sorted(prompt_names()))
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
                if not file.exists():
                    problem(place, _("there is no file {file}").format(file=file))
    return problems


def _resolve_class(section: str, player: object, path: Path) -> None:
    """Give a player that is a class of somebody's own the folder to look in; one that another package registers as a kind
    of its own has its class named, too.
    """
    if not isinstance(player, dict):
        return
    settings = cast(dict[str, Any], player)
    kind = settings.get("kind")
    if isinstance(kind, str) and not kind_of(_PARTS[section], kind).maker:
        entry = registered(f"cuecard.{section}").get(kind)
        if entry and "class" not in settings:
            settings |= {"kind": PYTHON, "class": entry.value}
    if settings.get("kind") == PYTHON:
        folder = settings.get("folder") or "."
        settings["folder"] = str(_absolute(folder, path)) if isinstance(folder, str) else folder


def _absolute(value: str, path: Path) -> Path:
    return path.parent.absolute() / Path(value.strip()).expanduser()


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict)


def _items(value: object) -> list[tuple[str, object]]:
    return list(cast(dict[str, object], value).items()) if isinstance(value, dict) else []


_KEYS = ("api_key", "key", "token")


def _about_keys(problem: FileProblem) -> FileProblem:
    """What to do where a key was written, or a field of requests that has no name here."""
    section, _dot, field = problem.place.rpartition(".")
    if field in _KEYS:
        reason = _(
            "keys never stand here; put the key into an environment variable and name it in {field}"
        ).format(field="api_key_env")
    elif re.fullmatch(r"models\.[^.]+", section) and problem.reason == reason_of(
        "extra_forbidden", "", {}, ""
    ):
        reason = _("{reason}; a field of the request goes under {field}").format(
            reason=problem.reason, field="extra"
        )
    else:
        return problem
    return FileProblem(problem.file, problem.place, reason, problem.line)


def _with_line(problem: FileProblem) -> str:
    where = problem.file if problem.line is None else f"{problem.file}:{problem.line}"
    return ": ".join(part for part in (where, problem.place, problem.reason) if part)

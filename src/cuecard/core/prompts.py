"""Prompts as Markdown files with YAML front matter, one per language."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from pydantic import ValidationError

from cuecard.core.errors import ConfigError
from cuecard.core.i18n import _
from cuecard.core.tasks import TaskLanguage
from cuecard.core.tasks.base import Frozen, Text

if TYPE_CHECKING:
    from cuecard.core.config_models import Config

_FRONT_MATTER = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


class Prompt(Frozen):
    """`variables` are the names that stand as `{{name}}` in `text`."""

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
    """The prompt to be used: a player's `own` file, else the one in the configuration's folder, else
    the embedded one. Raises `ConfigError`.
    """
    if name in own:
        return _read_once(Path(own[name]), name, language)
    if config.prompts:
        file = Path(config.prompts) / f"{name}.{language}.md"
        if file.is_file():
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
def _read_at(path: Path, changed: int, name: str, language: TaskLanguage) -> Prompt:
    del changed
    return read_prompt(path, load_prompt(name, language))


def _read_once(path: Path, name: str, language: TaskLanguage) -> Prompt:
    # Once for each state of the file: every trial of a run asks.
    try:
        changed = path.stat().st_mtime_ns
    except OSError as error:
        raise _unusable(str(path), str(error)) from error
    return _read_at(path, changed, name, language)


def read_prompt(path: Path, embedded: Prompt) -> Prompt:
    """A person's own prompt in place of `embedded`; it may use the same variables.

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
    # Rendering gives every variable, also those that this text leaves out.
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
    return ", ".join(names) or "-"


def _unusable(file: str, reason: str) -> ConfigError:
    return ConfigError(_("A prompt cannot be used"), f"{file}: {reason}")

"""Prompts as Markdown files with YAML front matter, one per language."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path

import yaml
from pydantic import ValidationError

from cuecard.core.errors import ConfigError
from cuecard.core.i18n import _
from cuecard.core.tasks import TaskLanguage
from cuecard.core.tasks.base import Frozen, Text

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

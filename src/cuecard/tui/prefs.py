"""What one person prefers on one machine: language, theme, and the name used per workspace.

A small JSON file in the user's configuration folder, read before the first frame is drawn.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from cuecard.core.files import config_folder, keep, locked, make_own_folder, shut_own_folders
from cuecard.core.scrubbing import public_form


@dataclass
class Preferences:
    language: str = ""
    theme: str = ""
    reveal_after: bool = False
    """Labelling shows what was decided as soon as an item is labelled."""
    people: dict[str, str] = field(default_factory=dict[str, str])
    """Public form of a workspace's URL -> the name last used in it."""
    starts: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """Person -> who took the other parts of their last session (`tui.state.play_start`)."""

    def __post_init__(self) -> None:
        self._known: dict[str, Any] = {}
        """The fields as they stood when they were last read or written here; those that are not named stood empty."""

    @classmethod
    def load(cls) -> Preferences:
        """The saved preferences; an unreadable file counts as none. Passwords that an earlier version let into
        the file are taken out of it.
        """
        shut_own_folders()
        data = _read()
        if _without_passwords(data) != data:
            with contextlib.suppress(OSError):
                _rewrite(_without_passwords)
        preferences = _from(_without_passwords(data))
        preferences._known = asdict(preferences)
        return preferences

    def save(self) -> None:
        """Write what was changed here since it was last read or written; what other windows wrote meanwhile, and
        fields of other versions, stay. A machine without a writable home just forgets.
        """
        with contextlib.suppress(OSError):
            _rewrite(self._merged)
            self._known = asdict(self)

    def _merged(self, data: dict[str, Any]) -> dict[str, Any]:
        merged = _without_passwords(data)
        for name, value in asdict(self).items():
            before = self._known.get(name)
            if isinstance(value, dict):
                there = merged.get(name)
                entries = cast(dict[str, Any], there) if isinstance(there, dict) else {}
                old = cast(dict[str, Any], before or {})
                mine = cast(dict[str, Any], value)
                changed = {key: each for key, each in mine.items() if old.get(key) != each}
                merged[name] = {**entries, **changed}
            elif value != (before or type(value)()):
                merged[name] = value
        return merged


def preferences_path() -> Path:
    return config_folder() / "preferences.json"


def _from(values: dict[str, Any]) -> Preferences:
    people, starts = (_mapping(values.get(name)) for name in ("people", "starts"))
    return Preferences(
        language=str(values.get("language") or ""),
        theme=str(values.get("theme") or ""),
        reveal_after=values.get("reveal_after") is True,
        people={url: str(name) for url, name in people.items()},
        starts={name: start for name, start in starts.items() if isinstance(start, dict)},
    )


def _rewrite(change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Replace the file by what `change` makes of it, while no other window does. Raises `OSError`."""
    path = preferences_path()
    make_own_folder(path.parent)
    with locked(path):
        keep(path, json.dumps(change(_read()), ensure_ascii=False, indent=2))
    for left in path.parent.glob("preferences.*.tmp"):
        left.unlink(missing_ok=True)  # Of an earlier version that was killed while it wrote.


def _read() -> dict[str, Any]:
    try:
        return _mapping(json.loads(preferences_path().read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _without_passwords(data: dict[str, Any]) -> dict[str, Any]:
    """`data` with people under the public forms of their workspaces. Where an entry stands under the public
    form already, it is the newer one.
    """
    people = _mapping(data.get("people"))
    public = {public_form(url): name for url, name in people.items()}
    public |= {url: name for url, name in people.items() if public_form(url) == url}
    return {**data, "people": public} if people else data


def _mapping(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}

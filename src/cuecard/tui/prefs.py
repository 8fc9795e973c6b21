"""What one person prefers on one machine: language, theme, and the name used per workspace.

A small JSON file in the user's configuration folder, read before the first frame is drawn.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast


@dataclass
class Preferences:
    language: str = ""
    theme: str = ""
    reveal_after: bool = False
    """Labelling shows what was decided as soon as an item is labelled."""
    people: dict[str, str] = field(default_factory=dict[str, str])
    """Workspace URL -> the name last used in it."""
    starts: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """Person -> who took the other parts of their last session (`tui.state.play_start`)."""

    @classmethod
    def load(cls) -> Preferences:
        """The saved preferences; an unreadable file counts as none."""
        try:
            data = json.loads(preferences_path().read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return cls()
        if not isinstance(data, dict):
            return cls()
        values = cast(dict[str, Any], data)
        people = values.get("people")
        pairs = cast(dict[object, object], people) if isinstance(people, dict) else {}
        starts = values.get("starts")
        chosen = cast(dict[object, object], starts) if isinstance(starts, dict) else {}
        return cls(
            language=str(values.get("language") or ""),
            theme=str(values.get("theme") or ""),
            reveal_after=values.get("reveal_after") is True,
            people={str(url): str(name) for url, name in pairs.items()},
            starts={
                str(name): cast(dict[str, Any], start)
                for name, start in chosen.items()
                if isinstance(start, dict)
            },
        )

    def save(self) -> None:
        """Write the file in one move. A machine without a writable home just forgets."""
        path = preferences_path()
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(f".{os.getpid()}.tmp")
            partial.write_text(json.dumps(asdict(self), ensure_ascii=False, indent=2), "utf-8")
            partial.replace(path)


def preferences_path() -> Path:
    import platformdirs

    return Path(platformdirs.user_config_dir("cuecard", appauthor=False)) / "preferences.json"

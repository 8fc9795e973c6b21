"""What one person prefers on one machine (language, theme, the name used per workspace), and Cuecard's own themes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from textual.theme import BUILTIN_THEMES, Theme

from cuecard.core.i18n import N_
from cuecard.core.secrets import public_form
from cuecard.core.system import config_folder, keep, locked, make_own_folder, restrict_own_folders
from cuecard.core.text import slug

_PLACES = 10
"""Places that are remembered."""


@dataclass
class Preferences:
    language: str = ""
    theme: str = ""
    motion: str = ""
    """"reduced": nothing slides or blinks."""
    notice: str = ""
    """How the end of a run is told outside of the app: "" not at all, "bell", or "terminal"."""
    reveal_after: bool = False
    """Labelling shows what was decided as soon as an item is labelled."""
    people: dict[str, str] = field(default_factory=dict[str, str])
    """Public form of a workspace's URL -> the name last used in it."""
    starts: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """Person -> the players of their last session (`tui.present.players.Start`)."""
    tour: int = 0
    """The step of the tour at which it was left, from 0."""
    forms: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """Name of a form -> what was chosen in it last time, by field."""

    def __post_init__(self) -> None:
        self._known: dict[str, Any] = {}
        """The fields as they stood when they were last read or written here; those that are not named stood empty."""

    @classmethod
    def load(cls) -> Preferences:
        """The saved preferences; an unreadable file counts as none. Passwords that an earlier version let into
        the file are taken out of it.
        """
        restrict_own_folders()
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

    def places(self, who: str) -> Any:
        """What `who` opened last, the last first, as it was remembered; maybe by another version."""
        return self.forms.get(f"recent {who}", {}).get("places", [])

    def remember(self, who: str, place: dict[str, Any]) -> None:
        """Keep that `who` opened this place, known by all but its title."""
        kept = self.places(who)
        others = [each for each in kept if {**each, "title": place["title"]} != place]
        if kept[:1] != [place]:
            self.forms[f"recent {who}"] = {"places": [place, *others][:_PLACES]}
            self.save()

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


def served() -> str:
    """The person whom a browser's login names (`cuecard serve`), "" in a terminal."""
    return os.environ.get("CUECARD_SERVED", "")


def preferences_path() -> Path:
    """In browsers each person has a file of their own, though one account serves them all."""
    if person := served():
        mark = hashlib.sha256(person.encode("utf-8", "replace")).hexdigest()[:10]
        return config_folder() / "served" / f"{slug(person)[:40]}-{mark}.json"
    return config_folder() / "preferences.json"


def _from(values: dict[str, Any]) -> Preferences:
    people, starts, forms = (_mapping(values.get(name)) for name in ("people", "starts", "forms"))
    return Preferences(
        language=str(values.get("language") or ""),
        theme=str(values.get("theme") or ""),
        motion=str(values.get("motion") or ""),
        notice=str(values.get("notice") or ""),
        reveal_after=values.get("reveal_after") is True,
        tour=tour if isinstance(tour := values.get("tour"), int) and tour > 0 else 0,
        people={url: str(name) for url, name in people.items()},
        starts={name: start for name, start in starts.items() if isinstance(start, dict)},
        forms={name: kept for name, kept in forms.items() if isinstance(kept, dict)},
    )


def _rewrite(change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Replace the file by what `change` makes of it, while no other window does. Raises `OSError`."""
    path = preferences_path()
    make_own_folder(path.parent)
    with locked(path):
        keep(path, json.dumps(change(_read()), ensure_ascii=False, indent=2))
    for left in path.parent.glob(f"{path.stem}.*.tmp"):
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


def _backs(theme: Theme) -> dict[str, str]:
    """What stands behind the cursor, what is typed into, and what is marked. Of 16 colours none stands out on all others:
    there the cursor is reversed.
    """
    if theme.ansi:
        plain = dict.fromkeys(("cursor", "cursor-blurred", "marked"), "ansi_default")
        return {**plain, "cursor-style": "bold reverse"}
    return {
        "cursor": f"{theme.primary} 25%",
        "cursor-blurred": f"{theme.primary} 15%",
        "cursor-style": "bold",
        "typing": f"{theme.primary} 25%",
        "marked": f"{theme.secondary or theme.primary} 22%",
    }


def variables_of(theme: Theme) -> dict[str, str]:
    """Our own colours under any theme."""
    ours = (ANSI_DARK, ANSI_LIGHT) if theme.ansi else (DARK, LIGHT)
    return {**(ours[0] if theme.dark else ours[1]).variables, **_backs(theme)}


def _coloured(name: str, base: Theme, **colours: str) -> Theme:
    """`base` in other colours; the families' are given by name with `_` for `-`."""
    ours = ("muted", "typing", "placeholder")
    own = {k: colours.pop(k) for k in tuple(colours) if "_" in k or k in ours}
    own.setdefault("placeholder", own["muted"])
    theme = replace(base, name=name, **colours)
    own = {key.replace("_", "-"): value for key, value in own.items()}
    return replace(theme, variables={**base.variables, **_backs(theme), **own})


DARK = _coloured(
    "cuecard-dark", Theme("", "", dark=True), primary="#d9a441", secondary="#6aa9c9", accent="#d9a441", warning="#e0b050", error="#e0705c",
    success="#7fb77e", foreground="#e6e1d6", background="#16181c", surface="#1d2025", panel="#262a31", muted="#96989d",
    family_graph="#6aa9c9", family_table="#b48ead", family_checkpoints="#d9a441", family_facts="#7fb77e", footer_key_foreground="#d9a441",
    input_selection_background="#d9a441 35%",
)  # fmt: skip
LIGHT = _coloured(
    "cuecard-light", Theme("", "", dark=False), primary="#8a5a00", secondary="#1f6584", accent="#8a5a00", warning="#845c00", error="#b03a26",
    success="#2f6b34", foreground="#22252a", background="#faf8f3", surface="#f2efe7", panel="#e7e2d6", muted="#605f5b",
    family_graph="#1f6584", family_table="#7a4378", family_checkpoints="#8a5a00", family_facts="#2f6b34", footer_key_foreground="#8a5a00",
    input_selection_background="#8a5a00 25%",
)  # fmt: skip
CONTRAST = _coloured(
    "cuecard-contrast", DARK, primary="#ffd75f", secondary="#87d7ff", accent="#ffd75f", warning="#ffd75f", error="#ff9d8a",
    success="#8fe88f", foreground="#ffffff", background="#000000", surface="#000000", panel="#1c1c1c", muted="#d0d0d0",
    family_graph="#87d7ff", family_table="#e6b3e6", family_checkpoints="#ffd75f", family_facts="#8fe88f", footer_key_foreground="#ffd75f",
)  # fmt: skip
CONTRAST_LIGHT = _coloured(
    "cuecard-contrast-light", LIGHT, primary="#5a3a00", secondary="#003f5c", accent="#5a3a00", warning="#5a3a00", error="#8b0000",
    success="#004d00", foreground="#000000", background="#ffffff", surface="#ffffff", panel="#e8e8e8", muted="#3a3a3a",
    family_graph="#003f5c", family_table="#4b0055", family_checkpoints="#5a3a00", family_facts="#004d00", footer_key_foreground="#5a3a00",
)  # fmt: skip
# Okabe and Ito's colours, told apart with any colour vision: good is blue, bad is orange.
SAFE = _coloured(
    "cuecard-safe", DARK, primary="#f0e442", secondary="#56b4e9", accent="#f0e442", warning="#f0e442", error="#f28e2b",
    success="#56b4e9", muted="#b0b2b7", family_graph="#56b4e9", family_table="#d98fb8", family_checkpoints="#f0e442", family_facts="#2fc49a",
    footer_key_foreground="#f0e442",
)  # fmt: skip
ANSI_DARK = _coloured(
    "ansi-dark", BUILTIN_THEMES["ansi-dark"], primary="ansi_yellow", secondary="ansi_cyan", accent="ansi_yellow", warning="ansi_bright_yellow",
    error="ansi_bright_red", muted="ansi_white", family_graph="ansi_cyan", family_table="ansi_bright_magenta", family_checkpoints="ansi_yellow",
    family_facts="ansi_green", footer_key_foreground="ansi_yellow", typing="ansi_blue", placeholder="ansi_bright_cyan",
)  # fmt: skip
ANSI_LIGHT = _coloured(
    "ansi-light", BUILTIN_THEMES["ansi-light"], primary="ansi_blue", secondary="ansi_magenta", accent="ansi_blue", warning="ansi_magenta",
    error="ansi_red", success="ansi_blue", muted="ansi_default", family_graph="ansi_blue", family_table="ansi_magenta",
    family_checkpoints="ansi_red", family_facts="ansi_default", footer_key_foreground="ansi_blue", typing="ansi_bright_cyan", placeholder="ansi_blue",
    input_selection_background="ansi_blue", input_selection_foreground="ansi_bright_white",
)  # fmt: skip
OURS = (DARK, LIGHT, CONTRAST, CONTRAST_LIGHT, SAFE, ANSI_DARK, ANSI_LIGHT)
THEME_WORDS = {
    DARK.name: N_("dark"),
    LIGHT.name: N_("light"),
    CONTRAST.name: N_("high contrast, dark"),
    CONTRAST_LIGHT.name: N_("high contrast, light"),
    SAFE.name: N_("for any colour vision"),
    ANSI_DARK.name: N_("the terminal's 16 colours, dark"),
    ANSI_LIGHT.name: N_("the terminal's 16 colours, light"),
}
"""What is offered first; Textual's others go by their own names."""

"""The one registry of what keys can do: it feeds footers, the command palette and the help page.

Screens and widgets declare their keys with `keys(...)`; labels stay untranslated here and are
translated where they are shown.
"""

import re
from dataclasses import dataclass

from textual.binding import Binding, BindingType


@dataclass(frozen=True)
class Key:
    """A key binding of a screen. `id` is `screen.action`; `label` and `tip` are marked with `N_`."""

    id: str
    key: str
    action: str
    label: str
    tip: str
    show: bool = True
    priority: bool = False
    shown_as: str | None = None


_ALT = re.compile(r"alt\+[a-zA-Z0-9]")
_registry: dict[str, Key] = {}


def keys(*declared: Key) -> list[BindingType]:
    """The bindings of a screen or widget, entered in the registry. Raises `ValueError` on an id used twice, and on
    Alt with a letter: most terminals send it as Esc and the letter, which in a burst of keys is read as text.
    """
    bindings: list[BindingType] = []
    for key in declared:
        if any(_ALT.fullmatch(one) for one in key.key.split(",")):
            raise ValueError(f"terminals do not tell {key.key!r} from Esc and a letter")
        if _registry.setdefault(key.id, key) != key:
            raise ValueError(f"two actions have the id {key.id!r}")
        bindings.append(
            Binding(
                key.key,
                key.action,
                key.label,
                show=key.show,
                priority=key.priority,
                key_display=key.shown_as,
                tooltip=key.tip,
                id=key.id,
            )
        )
    return bindings


def registry() -> dict[str, Key]:
    """All actions declared so far, by id."""
    return dict(_registry)

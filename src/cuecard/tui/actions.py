"""The one registry of what keys can do: it feeds footers, the command palette, menus, the help page and docs/keys.md.

Screens and widgets declare their keys with `keys(...)` by what they mean (`Means`), which says the keys; labels stay
untranslated here and are translated where they are shown.
"""

# What a footer is made of, and what is bound where, is nothing that Textual offers to others.
# pyright: reportPrivateUsage=false

import re
from typing import Any

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widgets import Footer, Input, TextArea
from textual.widgets._footer import FooterKey, FooterLabel

from cuecard.core.i18n import _
from cuecard.tui.present.keyboard import (
    BEHIND,
    KEYMAP,
    KEYMAP_PLACE,
    Key,
    Means,
    declare,
    key_name,
    own_keymap,
    registry,
    types,
)

__all__ = [
    "KEYMAP",
    "KEYMAP_PLACE",
    "Key",
    "KeyBar",
    "Means",
    "every_command",
    "fitting",
    "key_name",
    "keys",
    "registry",
]


KEYMAP_PROBLEMS = own_keymap()
"""What of the keymap cannot be used; the app tells it."""
_ALT = re.compile(r"alt\+[a-zA-Z0-9]")


def keys(*declared: Key) -> list[BindingType]:
    """The bindings of a screen or widget, entered in the registry. Raises `ValueError` on an id used twice, on
    something without a key, and on Alt with a letter: most terminals send it as Esc and the letter, which in a burst of
    keys is read as text.
    """
    answers = {key for each in declared if each.answers for key in each.keys if len(key) == 1}
    bindings: list[BindingType] = []
    for key in declared:
        declare(key)
        found = [each for each in key.keys if key.answers or each not in answers]
        if not all(found) or not found:
            raise ValueError(f"{key.id!r} has no key")
        if any(_ALT.fullmatch(one) for one in found):
            raise ValueError(f"terminals do not tell {found} from Esc and a letter")
        hidden = any(means in BEHIND for means in key.all_means)
        bindings.append(
            Binding(
                ",".join(found),
                key.action,
                key.label,
                show=key.show and not hidden,
                priority=key.priority,
                key_display=key.shown_as,
                tooltip=key.tip,
                id=key.id,
            )
        )
    return bindings


def every_command(
    screen: Screen[Any], means: Means | None = None, *, impossible: bool = False
) -> list[tuple[DOMNode, Binding]]:
    """What can be done on the screen now, from the focus outwards, each action once: also what a field hides by taking
    its letters as text. `means`: only this; `impossible`: also what cannot be done now.
    """
    declared = registry()
    found: dict[str, tuple[DOMNode, Binding]] = {}
    for node in (screen.focused or screen).ancestors_with_self:
        for _key, binding in node._bindings:
            key = declared.get(binding.id or "")
            if key is None or key.id in found or (means and means not in key.all_means):
                continue
            if impossible or screen.app._check_action_state(binding.action, node):
                found[key.id] = node, binding
        if node is screen and screen.is_modal:
            break
    return list(found.values())


_MORE = "…"
_LAST = Means.HELP.keys
"""Keys that end every line of keys: they lead to all that are left out."""
_ALWAYS = {*_LAST, *Means.MENU.keys, *Means.UP_ONE.keys}


class KeyBar(Footer):
    """A footer that cuts no key in two: those that do not fit are left out, which an ellipsis tells. Help ends it."""

    def __init__(self, *, compact: bool = False) -> None:
        super().__init__(show_command_palette=False, compact=compact)
        self._composed_for = 0

    def compose(self) -> ComposeResult:
        self._composed_for = room = self.screen.size.width
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        field = self.screen.focused
        if isinstance(field, Input) or (isinstance(field, TextArea) and not field.read_only):
            keys = [key for key in keys if self._works_while_typing(key)]
        keys.sort(key=lambda key: (key.key in _LAST, key.key in Means.MENU.keys))
        blanks = 2 if self.compact else 3
        widths = [cell_len(key.key_display + key.description) + blanks for key in keys]
        shown = fitting([(key.key, width) for key, width in zip(keys, widths, strict=True)], room)
        cut = len(shown) < len(keys)
        for at, key in enumerate(keys):
            if at not in shown:
                continue
            if cut and key.key in _LAST:
                yield FooterLabel(_MORE)
                key.description = _("more")
            yield key

    def _works_while_typing(self, key: FooterKey) -> bool:
        """Whether a field leaves the key to others; it is shown by another one of its keys that a field leaves."""
        if not types(key.key):
            return True
        for other, active in self.screen.active_bindings.items():
            if active.binding.action == key.action and not types(other):
                key.key, key.key_display = other, key_name(other)
                return True
        return False

    def on_resize(self) -> None:
        if self._composed_for not in (0, self.screen.size.width):
            self.call_after_refresh(self.recompose)


def fitting(keys: list[tuple[str, int]], room: int) -> set[int]:
    """The indices of those of `keys` (their names and cells) that fit into `room` cells, with place for an ellipsis
    where one is needed. Nothing is shown after what did not fit, but for the keys that are shown always.
    """
    if sum(cells for _, cells in keys) <= room:
        return set(range(len(keys)))
    shown = {at for at, (name, _cells) in enumerate(keys) if name in _ALWAYS}
    left = room - len(_MORE) - 1 - sum(keys[at][1] for at in shown)
    for at, (_name, cells) in enumerate(keys):
        if at in shown:
            continue
        if cells > left:
            break
        shown.add(at)
        left -= cells
    return shown

"""The one registry of what keys can do: it feeds footers, the command palette and the help page.

Screens and widgets declare their keys with `keys(...)`; labels stay untranslated here and are
translated where they are shown.
"""

# What a footer is made of is nothing that Textual offers to others.
# pyright: reportPrivateUsage=false

import re
from dataclasses import dataclass

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Footer
from textual.widgets._footer import FooterKey, FooterLabel


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


_MORE = "…"
_ALWAYS = {"question_mark", "f1", "escape"}
"""Keys that are shown before others: the first two lead to all that are left out."""


class KeyBar(Footer):
    """A footer that cuts no key in two: those that do not fit are left out, which an ellipsis tells."""

    def __init__(self, *, compact: bool = False) -> None:
        super().__init__(show_command_palette=False, compact=compact)
        self._composed_for = 0

    def compose(self) -> ComposeResult:
        self._composed_for = room = self.screen.size.width
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        blanks = 2 if self.compact else 3
        widths = [cell_len(key.key_display + key.description) + blanks for key in keys]
        shown = fitting([(key.key, width) for key, width in zip(keys, widths, strict=True)], room)
        yield from (key for at, key in enumerate(keys) if at in shown)
        if len(shown) < len(keys):
            yield FooterLabel(_MORE)

    def on_resize(self) -> None:
        if self._composed_for not in (0, self.screen.size.width):
            self.call_after_refresh(self.recompose)


def fitting(keys: list[tuple[str, int]], room: int) -> set[int]:
    """The indices of those of `keys` (their names and cells) that fit into `room` cells, with place for an ellipsis
    where one is needed. Nothing is shown after what did not fit, but for the keys that are shown always.
    """
    if sum(cells for _, cells in keys) <= room:
        return set(range(len(keys)))
    shown = {at for at, (name, _) in enumerate(keys) if name in _ALWAYS}
    left = room - len(_MORE) - 1 - sum(keys[at][1] for at in shown)
    for at, (_, cells) in enumerate(keys):
        if at in shown:
            continue
        if cells > left:
            break
        shown.add(at)
        left -= cells
    return shown

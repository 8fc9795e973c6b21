"""The one registry of what keys can do: it feeds footers, the command palette, menus, the help page and docs/keys.md.

Screens and widgets declare their keys with `keys(...)` by what they mean (`Means`), which says the keys; labels stay
untranslated here and are translated where they are shown.
"""

# What is bound where is nothing that Textual offers to others.
# pyright: reportPrivateUsage=false

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

from rich.align import Align
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import command, events
from textual.app import App
from textual.binding import ActiveBinding, Binding, BindingType
from textual.dom import DOMNode
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, TextArea
from textual.widgets._select import SelectOverlay

from cuecard.core.i18n import N_, _, beside
from cuecard.tui.present.keyboard import (
    BEHIND,
    Key,
    Means,
    declare,
    key_name,
    own_keymap,
    registry,
    types,
    with_keys,
)

# F6 and F7 mean something else here than Textual's fields of text make of them; its lists to choose from speak English.
TextArea.BINDINGS = [
    each for each in TextArea.BINDINGS if isinstance(each, Binding) and each.key not in ("f6", "f7")
]
SelectOverlay.BINDINGS = [Binding("escape", "dismiss", N_("Close"))]
for _kind in (TextArea, SelectOverlay):
    _kind._merged_bindings = _kind._merge_bindings()

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


class Named:
    """What screens and dialogs of ours tell of themselves; of others nothing is told."""

    called_here: Mapping[str, str] = {}
    """What a key is called here, by its id, where that is not its name elsewhere."""

    @property
    def way(self) -> Sequence[str]:
        """The steps to here."""
        return ()

    @classmethod
    def of(cls, screen: Screen[Any]) -> "Named":
        return screen if isinstance(screen, cls) else Named()


def every_command(
    screen: Screen[Any], means: Means | None = None, *, impossible: bool = False
) -> list[tuple[DOMNode, Binding]]:
    """What can be done on the screen now, from the focus outwards, each action once: also what a field hides by taking
    its letters as text. `means`: only this; `impossible`: also what cannot be done now.
    """
    declared, names = registry(), Named.of(screen).called_here
    found: dict[str, tuple[DOMNode, Binding]] = {}
    for node in (screen.focused or screen).ancestors_with_self:
        for _key, binding in node._bindings:
            key = declared.get(binding.id or "")
            if key is None or key.id in found or (means and means not in key.all_means):
                continue
            if impossible or screen.app._check_action_state(binding.action, node):
                name = names.get(key.id, binding.description)
                found[key.id] = node, replace(binding, description=name)
        if node is screen and screen.is_modal:
            break
    return list(found.values())


_ABOUT = (Means.UP, Means.DOWN, Means.LEFT, Means.RIGHT, Means.PAGE_UP, Means.PAGE_DOWN, Means.START, Means.END, Means.FIRST, Means.LAST)  # fmt: skip


def moves(binding: Binding) -> bool:
    """Whether it moves about in any list: help tells it last, and the palette only to who looks for it."""
    key = registry().get(binding.id or "")
    return key is not None and any(means in _ABOUT for means in key.all_means)


def translated(bindings: dict[str, ActiveBinding]) -> dict[str, ActiveBinding]:
    """The bindings with labels and tips in the current language, for footer, palette and help."""
    return {
        key: active._replace(
            binding=replace(active.binding, description=_(active.binding.description)),
            tooltip=with_keys(_(active.tooltip)),
        )
        for key, active in bindings.items()
    }


def unless_general(active: ActiveBinding) -> ActiveBinding:
    """The same, not to be shown if it is a key of the app."""
    general = (active.binding.id or "").startswith("app.")
    return active._replace(binding=replace(active.binding, show=False)) if general else active


_MORE = "…"
_BLANKS = 3
"""Around a key and what it does."""
_LAST = Means.HELP.keys
"""Keys that end every line of keys: they lead to all that are left out."""
_ALWAYS = {*_LAST, *Means.MENU.keys, *Means.UP_ONE.keys}


@dataclass
class _Shown:
    """A key at the foot: its name, what stands there, and whether it can be pressed now."""

    key: str
    told: str
    what: str
    tip: str
    enabled: bool

    @property
    def cells(self) -> int:
        return cell_len(self.told + self.what)


def is_typed_in(screen: Screen[Any]) -> bool:
    """Whether a field has the focus, which takes letters as text."""
    field = screen.focused
    return isinstance(field, Input) or (isinstance(field, TextArea) and not field.read_only)


class KeyBar(Widget):
    """The keys of the screen, at its foot. Those that do not fit are left out, which an ellipsis tells. Help ends it.

    One widget that draws one line: keys change with the focus and with the row, and a widget for each of them would be made,
    styled and laid out anew each time, which takes longer than what the key did.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES = {"keys--key", "keys--what", "keys--off", "keys--over"}
    DEFAULT_CSS = """
    KeyBar {
        height: 1; dock: bottom; color: $footer-foreground; background: $panel;
        & > .keys--key { color: $footer-key-foreground; background: $footer-key-background; text-style: bold; }
        & > .keys--what { color: $footer-description-foreground; background: $footer-description-background; }
        & > .keys--off { text-style: dim; }
        & > .keys--over { color: $footer-key-foreground; background: $block-hover-background; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._shown: list[_Shown] = []
        self._cut = self._ready = False
        self._over: _Shown | None = None

    @property
    def line(self) -> str:
        """What stands there."""
        return self.render_line(0).text.rstrip()

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def on_unmount(self) -> None:
        self.screen.bindings_updated_signal.unsubscribe(self)

    def on_resize(self) -> None:
        if self._ready:
            self._fit()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._point(self._at(event.x))

    def on_leave(self) -> None:
        self._point(None)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if (key := self._at(event.x)) is None:
            return
        if key.enabled:
            self.app.simulate_key(key.key)
        else:
            self.app.bell()

    def render_line(self, y: int) -> Strip:
        what = self.get_component_rich_style("keys--what")
        ground = Style(bgcolor=self.rich_style.bgcolor)
        told = self.get_component_rich_style("keys--key")
        off = self.get_component_rich_style("keys--off", partial=True)
        over = self.get_component_rich_style("keys--over", partial=True)
        segments: list[Segment] = []
        for key in self._shown:
            if self._cut and key.key in _LAST:
                segments += [Segment(_MORE, what), Segment(" ", ground)]
            more = (Style() if key.enabled else off) + (over if key is self._over else Style())
            segments.append(Segment(f" {key.told} ", told + more))
            segments.append(Segment(f"{key.what} ", what + more))
        return Strip(segments).adjust_cell_length(self.size.width, ground)

    def _changed(self, screen: Screen[Any]) -> None:
        if screen.app.app_focus and self.is_attached and screen is self.screen:
            self._ready = True
            self._fit()

    def _fit(self) -> None:
        """Which keys there are now, and which of them have room."""
        active, actions = self.screen.active_bindings, set[str]()
        typing = is_typed_in(self.screen)
        keys: list[_Shown] = []
        for _node, binding, enabled, tip in active.values():
            if not binding.show or binding.action in actions:
                continue
            actions.add(binding.action)
            told = self.app.get_key_display(binding)
            key = _Shown(binding.key, told, binding.description, tip, enabled)
            if not typing or self._works_while_typing(key, binding.action, active):
                keys.append(key)
        keys.sort(key=lambda key: (key.key in _LAST, key.key in Means.MENU.keys))
        fit = fitting([(key.key, key.cells + _BLANKS) for key in keys], self.screen.size.width)
        self._cut = len(fit) < len(keys)
        self._shown = [key for at, key in enumerate(keys) if at in fit]
        if self._cut:
            for key in self._shown:
                key.what = _("more") if key.key in _LAST else key.what
        self._over = None
        self.refresh()

    def _works_while_typing(
        self, key: _Shown, action: str, active: Mapping[str, ActiveBinding]
    ) -> bool:
        """Whether a field leaves the key to others; it is shown by another one of its keys that a field leaves."""
        if not types(key.key):
            return True
        for other, each in active.items():
            if each.binding.action == action and not types(other):
                key.key, key.told = other, key_name(other)
                return True
        return False

    def _at(self, x: int) -> _Shown | None:
        """The key at this cell."""
        end = 0
        for key in self._shown:
            if self._cut and key.key in _LAST:
                end += len(_MORE) + 1
            start, end = end, end + key.cells + _BLANKS
            if start <= x < end:
                return key
        return None

    def _point(self, key: _Shown | None) -> None:
        """The mouse is over this key."""
        if key is not self._over:
            self._over = key
            self.tooltip = key.tip if key is not None else None
            self.refresh()


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


class Palette(command.CommandPalette):
    """The commands of a screen; help names its keys, too."""

    BINDINGS = keys(
        Key("palette.close", Means.UP_ONE, "escape", N_("Close"), N_("Back, without doing anything"), show=False),
        Key("palette.help", Means.HELP, "app.explain", N_("Help"), N_("Keys of this list"), show=False),
    )  # fmt: skip

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        return translated(super().active_bindings)


class Offers(App[str]):
    """Mixin of the app: the palette, the menu, the views and the help of the screen that is shown."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "menu":
                return bool(self._offered(Means.COMMAND))
            case "views":
                return bool(self._offered(Means.A_VIEW))
            case "turn_view":
                by = cast("int", parameters[0]) if parameters else 1
                return bool(self._offered(Means.A_VIEW) or self._tabs(by))
            case _:
                return super().check_action(action, parameters)

    def _offered(self, means: Means) -> list[tuple[DOMNode, Binding]]:
        """What there is of this kind on the screen, possible now or not."""
        return every_command(self.screen, means, impossible=True) if self.screen_stack else []

    def _tabs(self, by: int) -> list[tuple[DOMNode, Binding]]:
        """What turns tabs on the screen: by function keys also while somebody types, so that it is the screen's own."""
        means = Means.VIEW_NEXT if by > 0 else Means.VIEW_BEFORE
        return [each for each in self._offered(means) if not each[1].action.startswith("app.")]

    # What is clicked that names a key is done whatever has the focus: a field would take the key for text.

    async def action_do(self, id: str, times: int = 1) -> None:
        """Do on this screen what has this id."""
        for node, binding in every_command(self.screen):
            if binding.id == id:
                for _once in range(times):
                    await self.run_action(binding.action, node)

    async def action_view(self, letter: str) -> None:
        """Show the view with this letter."""
        for node, binding in every_command(self.screen, Means.A_VIEW):
            if registry()[binding.id or ""].letter == letter:
                await self.run_action(binding.action, node)
                return

    def action_up(self, steps: int) -> None:
        """As many steps up, each as Esc goes it: what asks before it is left does so."""
        for _step in range(steps):
            self.simulate_key("escape")

    def action_menu(self) -> None:
        self._choose(Means.COMMAND, _("Menu"))

    def action_views(self) -> None:
        self._choose(Means.A_VIEW, _("Views"))

    def _choose(self, means: Means, title: str) -> None:
        """Let the person choose what of this kind is possible now, by its letter."""
        from cuecard.tui.screens.dialogs import BESIDE, ChoiceDialog

        possible = [
            one for one in self._offered(means) if self._check_action_state(one[1].action, one[0])
        ]
        options: list[tuple[str, str, str]] = []
        here = ""
        for node, binding in possible:
            letter = registry()[binding.id or ""].letter
            taken = any(letter == other for _id, other, _text in options)
            name = _(binding.description)
            if binding.action == getattr(node, "shown_view", ""):
                here, name = binding.id or "", beside(name, _("shown"))
            text = f"{name}{BESIDE}{with_keys(_(binding.tooltip))}"
            options.append((binding.id or "", "" if taken else letter, text))

        def chosen(id: str | None) -> None:
            for node, binding in possible:
                if binding.id == id:
                    self.call_later(self.run_action, binding.action, node)

        if options:
            self.push_screen(ChoiceDialog(title, "", options, first=here), chosen)

    async def action_turn_view(self, by: int) -> None:
        """To the next view that is possible now, round and round; where there are none, to the next tab."""
        views = self._offered(Means.A_VIEW) or self._tabs(by)
        at = next(
            (i for i, (node, one) in enumerate(views) if one.action == getattr(node, "shown_view", "")),
            -1 if by > 0 else 0,
        )  # fmt: skip
        for step in range(1, len(views) + 1):
            node, binding = views[(at + by * step) % len(views)]
            if self._check_action_state(binding.action, node):
                await self.run_action(binding.action, node)
                return

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, command.CommandPalette):
            # The one thing that it centres is what it says of no match, in English.
            found_none = Align.center(Text(_("No command is called like that."), style="not bold"))
            command.Align = SimpleNamespace(center=lambda _said: found_none)  # pyright: ignore
            placeholder = _("Search for commands…")
            self.push_screen(Palette(id="--command-palette", placeholder=placeholder))

    def get_key_display(self, binding: Binding) -> str:
        return binding.key_display or key_name(binding.key)

    def action_explain(self) -> None:
        from cuecard.tui.screens.dialogs import HelpDialog

        if not isinstance(self.screen, HelpDialog):
            bindings = list(self.screen.active_bindings.values())
            self.push_screen(HelpDialog(bindings, typing=is_typed_in(self.screen)))

    def _runner(self, node: Any, action: str) -> Callable[[], Any]:
        async def run() -> None:
            await self.run_action(action, node)

        return run

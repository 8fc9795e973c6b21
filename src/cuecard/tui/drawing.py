"""How the app lays out, styles and shows keys: once for each change, where Textual would several times."""

# What is laid out when, and by which rules, is nothing that Textual offers to change; `test_drawing` holds it to its own.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import containers  # noqa: TID251
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate, ReflowResult
from textual.cache import LRUCache
from textual.color import Color
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.messages import Update
from textual.screen import Screen
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.app import App
    from textual.await_remove import AwaitRemove
    from textual.css.model import RuleSet

_SETTLED = 0.06
"""Seconds without a change of the active bindings after which the footer is drawn."""
_KEPT = 5_000


class _Compositor(Compositor):
    """A widget is as large as it is laid out. Textual would lay the whole screen out again whenever the room for scrolling
    changed; where that shows or hides a scrollbar, the scrollbar itself asks for it.
    """

    _told = False  # widgets were told their sizes, and nothing was painted since
    _waited = False  # the frame after that was put off
    _ends: list[list[int]]  # of the pieces of each line

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        found = super().reflow(parent, size)
        self._full_map_invalidated = False  # it was made just now, with all that is new
        for widget, at in self.layers:
            widget._size_updated(at.region.size, at.virtual_size, at.container_size, layout=False)
        # What a scrollbar came or went in has another width, by which Textual's lists of options break their lines.
        bars = (bar for bar in found.shown | found.hidden if isinstance(bar, ScrollBar))
        resized = found.resized | {bar.parent for bar in bars if isinstance(bar.parent, Widget)}
        self._told = bool(found.shown or resized)
        return found._replace(resized=resized)

    def render_update(
        self,
        full: bool = False,
        screen_stack: list[Screen[Any]] | None = None,
        simplify: bool = False,
    ) -> RenderableType | None:
        """A frame, unless the next one shows it all: where the whole screen is about to be painted, and where widgets have
        yet to hear of their sizes, and what they are in them. Textual would paint each time.
        """
        screen = self.root
        if screen is not None and not full:
            if screen._repaint_required:
                return None
            self._waited = self._told and not self._waited
            if self._waited:
                screen.post_message(Update(screen))
                return None
        self._told = self._waited = False
        behind_it = [*(screen_stack or ())]  # painting takes them from the list
        update = super().render_update(full, screen_stack, simplify)
        if isinstance(update, LayoutUpdate):
            for behind in behind_it:
                behind._repaint_required = False
                behind._dirty_widgets.clear()
                if isinstance(behind._compositor, _Compositor):
                    behind._compositor._dirty_regions.clear()
        return update

    def render_partial_update(self) -> ChopsUpdate | None:
        """What is painted anew goes to the end of its piece, where no sign is in two halves."""
        if (update := super().render_partial_update()) is None:
            return None
        update.chop_ends = self._ends
        update.spans = [
            (
                y,
                x1,
                max(
                    (end for x, end in zip(update.chops[y], self._ends[y], strict=True) if x < x2),
                    default=x2,
                ),
            )
            for y, x1, x2 in update.spans
        ]
        return update

    def _render_chops(
        self, crop: Region, is_rendered_line: Callable[[int], bool]
    ) -> Sequence[Mapping[int, Strip]]:
        """Lines in pieces, each of one widget. Textual cuts what is in front at the edges of what is hidden behind it, too, and
        there a wide sign, of which half would be on either side, is lost.
        """
        width, height = self.size
        bare = [[(0, width)] for _ in range(height)]
        pieces: list[list[tuple[int, int, Strip]]] = [[] for _ in range(height)]
        for region, clip, strips in self._get_renders(crop):
            painted = region.intersection(clip)
            left, right = painted.column_span
            for y, strip in zip(painted.line_range, strips, strict=False):
                if not is_rendered_line(y):
                    continue
                rest: list[tuple[int, int]] = []
                for start, end in bare[y]:
                    first, last = max(start, left), min(end, right)
                    if first >= last:
                        rest.append((start, end))
                        continue
                    pieces[y].append((first, last, strip.crop(first - left, last - left)))
                    if start < first:
                        rest.append((start, first))
                    if last < end:
                        rest.append((last, end))
                bare[y] = rest
        for line in pieces:
            line.sort(key=itemgetter(0))
        self._ends = [[end for _, end, _ in line] for line in pieces]
        return [{start: strip for start, _, strip in line} for line in pieces]


_OfWidget = Widget if TYPE_CHECKING else object


class UniformLines(_OfWidget):
    """Mixin of what others stand on: a line of it looks as the next one, and is drawn and cut once for all of them."""

    def render_lines(self, crop: Region) -> list[Strip]:
        if self.styles.border_top[0] or self.styles.border_bottom[0]:
            return super().render_lines(crop)
        return super().render_lines(Region(crop.x, crop.y, crop.width, 1)) * crop.height


class Container(UniformLines, containers.Container):
    """As Textual's."""


class Horizontal(UniformLines, containers.Horizontal):
    """As Textual's."""


class Vertical(UniformLines, containers.Vertical):
    """As Textual's."""


class VerticalScroll(UniformLines, containers.VerticalScroll):
    """As Textual's."""


class Undimmed(LineFilter):
    """What is dim is muted in a terminal's own 16 colours, where dim letters are faint, and some terminals hide them."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app

    @property
    def enabled(self) -> bool:
        return self._app.native_ansi_color

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        muted = self._app.theme_variables["muted"]
        return [
            Segment(text, _undimmed(style, muted) if style and style.dim else style, control)
            for text, style, control in segments
        ]


@lru_cache(1024)
def _undimmed(style: Style, muted: str) -> Style:
    # Where it is reversed, its colour is the ground of a cursor, which stays one piece.
    return style + Style(dim=False, color=None if style.reverse else Color.parse(muted).rich_color)


_OfScreen = Screen[Any] if TYPE_CHECKING else object


async def mounted(app: App[Any], screen: Screen[Any]) -> None:
    """Make a screen that is not shown yet."""
    await app._get_screen(screen)[1]


class DrawnOnce(_OfScreen):
    """Mixin of screens: room for scrolling that changed is no reason to lay the screen out a second time, and the footer waits
    until keys have stopped to change.
    """

    _bindings_timer: Timer | None = None
    _bindings_shown: object = None

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._compositor = _Compositor()

    def _post_register(self, app: App[Any]) -> None:
        super()._post_register(app)
        # Its rules are looked up next. Textual would then do so once more for all that there is, twice for a place.
        self._css_update_count = app._css_update_count

    def remove(self) -> AwaitRemove:
        # Nothing has more room by that. Textual would lay out and paint the screen below twice more.
        return self.app._prune(self)

    def lay_out(self) -> None:
        """Find where everything is, before the screen is shown."""
        self._refresh_layout(self.app.size)

    def refresh_bindings(self) -> None:
        """Redraw the footer soon. Textual would do so at every change of focus, a dozen times while a screen opens,
        each as expensive as a page of a table; here it is done once, when nothing changes any more, and only if the
        bindings changed.
        """
        if self._bindings_timer is not None:
            self._bindings_timer.reset()
        elif self.is_running:
            self._bindings_timer = self.set_timer(_SETTLED, self._show_bindings)

    def _show_bindings(self) -> None:
        self._bindings_timer = None
        # An app that closes takes a screen's widgets away before the screen. Behind another window the footer does not
        # listen, and on coming back a screen asks again.
        settled = self.is_attached and self.is_current
        if self.app.is_running and settled and self.app.app_focus:
            shown = [
                (active.binding, active.enabled)
                for active in self.active_bindings.values()
                if active.binding.show
            ]
            if shown != self._bindings_shown:
                self._bindings_shown = shown
                Screen.refresh_bindings(self)


class _Asked(NamedTuple):
    """The pseudo classes in what may hold for nodes of the same names; those of the node, and those of what is around it."""

    all_: frozenset[str]
    own: tuple[str, ...]
    around: tuple[str, ...]


class KeptStyles(Stylesheet):
    """Rules are looked up once for each kind of place: what a node and those around it are, and their states."""

    def __init__(self, *, variables: dict[str, str] | None = None) -> None:
        super().__init__(variables=variables)
        # With more sources than it keeps, all of them would be parsed for each new kind of widget.
        self._parse_cache: LRUCache[tuple[Any, ...], list[RuleSet]] = LRUCache(1024)
        self._parsed: dict[Any, Any] = {}
        self._of: object = None
        self._asked: dict[frozenset[str], _Asked] = {}
        self._kept: dict[object, Any] = {}

    def parse(self) -> None:
        # The default rules of a widget hold in it alone, and are here before the first of its kind.
        new = self.source.items() - self._parsed.items()
        if any(not (one.scope and one.is_defaults) or at in self._parsed for at, one in new):
            self._kept = {}
        self._parsed = dict(self.source)
        super().parse()

    def set_variables(self, variables: dict[str, str]) -> None:
        # Textual sets those it has each time that a place is shown first.
        if variables != self._variables:
            self._kept = {}
            super().set_variables(variables)

    def reparse(self) -> None:
        """Parse what is new. Textual would parse all anew."""
        self.parse()

    def apply(self, node: DOMNode, *, animate: bool = False, cache: Any = None) -> None:
        key, pseudo = self._place(node, node._selector_names)
        kept = self._kept.get(key)
        base = node.styles.base
        if kept is None:
            super().apply(node, animate=animate)
            if not animate or "transitions" not in base._rules:
                self._kept[key] = dict(base._rules)
            return
        node._has_hover_style = "hover" in pseudo
        node._has_focus_within = "focus-within" in pseudo
        node._has_order_style = not pseudo.isdisjoint(_ORDER)
        node._has_odd_or_even = "odd" in pseudo or "even" in pseudo
        if not base._rules:  # a new one, which nothing has to be told of
            base._rules.update(kept)
            base._updates += 1
        elif base._rules != kept:
            self.replace_rules(node, kept, animate=animate)
        node.notify_style_update()
        self._process_component_classes(node)

    def _process_component_classes(self, node: DOMNode) -> None:
        if not (components := node._get_component_classes()):
            return
        key, _pseudo = self._place(node, {"*", *(f".{each}" for each in components)}, within=True)
        kept = self._kept.get(key)
        if kept is None:
            super()._process_component_classes(node)
            styles = node._component_styles.items()
            self._kept[key] = {name: dict(each.base._rules) for name, each in styles}
            return
        changed = False
        for name, rules in kept.items():
            styles = node._component_styles.get(name)
            if styles is None or styles.base._rules != rules:
                virtual: Any = DOMNode(classes=name)
                virtual._attach(node)
                virtual.styles.base._rules.update(rules)
                node._component_styles[name] = virtual.styles
                changed = True
        if changed:
            node.refresh()

    def _place(
        self, node: DOMNode, names: set[str], *, within: bool = False
    ) -> tuple[object, frozenset[str]]:
        """What decides on the rules that hold for a node of these names, or for such a part `within` it; and the pseudo
        classes in these rules.
        """
        if len(self._kept) > _KEPT:
            self._kept = {}
        if self._of is not self.rules_map:
            self._of, self._asked = self.rules_map, {}
        key = frozenset(names)
        asked = self._asked.get(key)
        if asked is None:
            asked = self._asked[key] = _asked(
                {rule for name in names for rule in self.rules_map.get(name, ())}
            )
        place: list[object] = [key, within]
        states = asked.around if within else asked.own
        at: Any = node
        while isinstance(at, DOMNode):
            checks: Any = at._PSEUDO_CLASSES
            place += (type(at), at._id, frozenset(at._classes))
            place += [name for name in states if name in checks and checks[name](at)]
            states, at = asked.around, at._parent
        return tuple(place), asked.all_


_ORDER = frozenset({"first-of-type", "last-of-type", "first-child", "last-child", "empty"})
_OF_THEME = frozenset({"dark", "light", "inline", "ansi", "nocolor"})
"""A change of these parses all rules again."""


def _asked(rules: set[RuleSet]) -> _Asked:
    own, around = set[str](), set[str]()
    for each in (one for rule in rules for one in rule.selector_set):
        own |= each.selectors[-1].pseudo_classes
        around = around.union(*(one.pseudo_classes for one in each.selectors[:-1]))
    pseudo = frozenset[str]().union(*(rule.pseudo_classes for rule in rules))
    return _Asked(pseudo, tuple(own - _OF_THEME), tuple(around - _OF_THEME))

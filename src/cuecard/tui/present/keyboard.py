"""What keys mean, in the whole app: the keys of each meaning, what screens declare by it, and how keys are shown.

Nothing here imports Textual: hints in what screens show name keys by `shown_key`.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from cuecard.core.errors import CuecardError, near
from cuecard.core.i18n import N_, _, beside, headed, joined, listed
from cuecard.core.system import config_folder
from cuecard.core.text import is_cjk, one_line


class Means(Enum):
    """What a key means, wherever it appears: its keys, what it does, and where the table of keys lists it.

    The first key is shown where it works; the others work beside it, the last ones while one types too. `LETTERS` have
    keys of their own: each `Key` says its letter.
    """

    HELP = "f1,question_mark", N_("Help: all keys that work here"), "app"
    PALETTE = "ctrl+p", N_("Find any command of the screen, also while typing"), "app"
    MENU = "full_stop,f10", N_("Menu of what has no key of its own; a letter chooses"), "app"
    UP_ONE = "escape", N_("One step up: out of a field, a filter, a dialog, a screen"), "app"
    QUIT = "ctrl+q", N_("Leave Cuecard; everything is saved"), "app"
    TOUR = "ctrl+w", N_("The next step of the tour"), "app"
    TOUR_LEAVE = "ctrl+backslash", N_("Leave the tour; the palette brings it back"), "app"
    PLACE = "", N_("Go to Home, Tasks, Runs, Review, Verdicts or Settings"), "app"

    UP = "up,k", N_("One up"), "move"
    DOWN = "down,j", N_("One down"), "move"
    LEFT = "left", N_("One to the left"), "move"
    RIGHT = "right", N_("One to the right"), "move"
    PAGE_UP = "pageup,ctrl+u", N_("One page up"), "move"
    PAGE_DOWN = "pagedown,ctrl+d", N_("One page down"), "move"
    START = "home", N_("To the start: of the row in a grid of cells, else of the list"), "move"
    END = "end", N_("To the end: of the row in a grid of cells, else of the list"), "move"
    FIRST = "g,ctrl+home", N_("To the first row"), "move"
    LAST = "G,ctrl+end", N_("To the last row"), "move"
    NEXT = (
        "n",
        N_("The next: table, plot, turn, place with a note, or what is still undecided"),
        "move",
    )
    BEFORE = "b", N_("The one before"), "move"
    FURTHER = "plus", N_("The next of the list that this was opened from"), "move"
    NEARER = "minus", N_("The one before in the list that this was opened from"), "move"
    ONWARD = "tab", N_("On to the next field or pane; completes a path"), "move"
    BACKWARD = "shift+tab", N_("Back to the field or pane before"), "move"
    JUMP_BACK = "backspace", N_("Back to where I was before a jump"), "move"
    VIEW = (
        "v,f6",
        N_("Choose what is shown: a view by its letter, or the other way to show it"),
        "move",
    )
    VIEW_BEFORE = "left_square_bracket,f3", N_("The view, or the tab, before"), "move"
    VIEW_NEXT = "right_square_bracket,f4", N_("The next view or tab"), "move"

    OPEN = "enter", N_("Open, choose, take, send, or go on"), "do"
    MARK = "space", N_("Mark or tick it; unfold it where nothing can be marked"), "do"
    MARK_ALL = "ctrl+a", N_("Mark all, or none"), "do"
    EXTEND_UP = "shift+up", N_("Mark from here upwards"), "do"
    EXTEND_DOWN = "shift+down", N_("Mark from here downwards"), "do"
    FILTER = "slash", N_("Show only what has the words that I type"), "do"
    FILTERS = "F", N_("Keep the filter that is on under a name, or choose one that was kept"), "do"
    ONLY = "f", N_("Show only some: the next of a few choices"), "do"
    REVEAL = "h", N_("Show what is hidden, archived or done, or hide it"), "do"
    SEARCH = "ctrl+f", N_("Search everywhere; as a simulated agent, in its world"), "do"
    SORT = "s,f8", N_("Sort by the next column, or by this one"), "do"
    SORT_TURN = "S", N_("Sort the other way round"), "do"
    ADD = "a,ctrl+n,insert", N_("Add something new"), "do"
    EDIT = "e,f2", N_("Edit this, or what is asked of it"), "do"
    CHANGE = "ctrl+e", N_("Change it everywhere, or all that is marked"), "do"
    DELETE = "d,delete", N_("Delete, archive or reject it; it can be undone, or is asked for"), "do"
    DUPLICATE = "D,ctrl+k", N_("Once more, as a new one"), "do"
    REPEAT = (
        "ctrl+r",
        N_("Again: what stands above, the agent's turn, the trials that failed"),
        "do",
    )
    MOVE_UP = "K,alt+up,ctrl+up", N_("Move it up"), "do"
    MOVE_DOWN = "J,alt+down,ctrl+down", N_("Move it down"), "do"
    MOVE_LEFT = (
        "alt+left,ctrl+left",
        N_("Move it to the left; in a replay, to the words before"),
        "do",
    )
    MOVE_RIGHT = (
        "alt+right,ctrl+right",
        N_("Move it to the right; in a replay, to the next words"),
        "do",
    )
    PLAY = "p,f5", N_("Play, play on, pause, or run"), "do"
    STOP = "ctrl+g", N_("Stop what is at work"), "do"
    TRY = (
        "T,f12",
        N_("Try it out: rehearse, ask the world, look whether the database is back"),
        "do",
    )
    SUBMIT = "u,f9", N_("Hand it in, or take it back"), "do"
    SAVE = "ctrl+s", N_("Save or accept"), "do"
    DECIDE = "l,ctrl+l", N_("Label or mark it"), "do"
    COMMENT = "c,f7", N_("Comment, note or answer"), "do"
    TAGS = "t", N_("Tag or bookmark it"), "do"
    DETAILS = "i,ctrl+b", N_("What is behind it: sources, pages, numbers, its trial"), "do"
    PAIR = "equals_sign", N_("Two of them side by side"), "do"
    COMPARE = "w", N_("Compare with another"), "do"
    OUTSIDE = "o,ctrl+o", N_("Open outside: a page in the browser, a text in $EDITOR"), "do"
    IMPORT = "m", N_("Bring something in"), "do"
    EXPORT = "x", N_("Write a file"), "do"
    COPY = "y,ctrl+c", N_("Copy"), "do"
    PASTE = "ctrl+v", N_("Paste"), "do"
    SUGGEST = "ctrl+t", N_("Put in ready words, or have a model draft some"), "do"
    QC = "q", N_("Quality control"), "do"
    REFRESH = "r", N_("Look again"), "do"
    ZOOM = "z,f11", N_("One pane as large as the screen, and back"), "do"
    UNDO = "ctrl+z", N_("Take the last change back"), "do"
    REDO = "ctrl+y", N_("Change it again"), "do"
    NEW_LINE = "ctrl+j,alt+enter,shift+enter", N_("A new line where Enter sends"), "do"

    YES = "y", N_("Yes: it holds, is right, passes, is settled"), "answer"
    NO = "n", N_("No: it does not"), "answer"
    UNSURE = "u", N_("It cannot be told"), "answer"
    FLAG = "f", N_("The gold itself is wrong"), "answer"
    APPROVE = "a", N_("Approve the task"), "answer"
    RETURN = "r", N_("Return the task to its author"), "answer"
    CHOICE = "", N_("What stands beside this letter"), "answer"

    A_VIEW = "", N_("One of the views; after v, by its letter"), "menu"
    COMMAND = "", N_("After . or F10, by its letter"), "menu"

    def __init__(self, keys: str, does: str, group: str) -> None:
        self.keys = tuple(filter(None, keys.split(",")))
        self.does, self.group = does, group

    def __new__(cls, *args: str) -> "Means":
        means = object.__new__(cls)
        means._value_ = len(cls.__members__)
        return means


LETTERS = (Means.PLACE, Means.CHOICE, Means.A_VIEW, Means.COMMAND)
BEHIND = {Means.A_VIEW: "view:", Means.COMMAND: "menu:"}
"""How keys of what is chosen from a menu begin: no terminal sends them."""


@dataclass(frozen=True)
class Key:
    """A key binding. `id` is `screen.action`; `label` and `tip` are marked with `N_`. A key that is looked at before the
    focus is (`priority`) is never one that types something. `letter`: of what is one of `LETTERS`.
    """

    id: str
    means: Means | tuple[Means, ...] | str
    action: str
    label: str
    tip: str
    show: bool = True
    priority: bool = False
    letter: str = ""
    shown_as: str | None = None

    @property
    def all_means(self) -> tuple[Means, ...]:
        if isinstance(self.means, str):
            return ()
        return self.means if isinstance(self.means, tuple) else (self.means,)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that stand for it, the one that is shown first."""
        if isinstance(self.means, str):
            return tuple(self.means.split(","))
        if self.id in _own:
            return _own[self.id]
        found: list[str] = []
        for means in self.all_means:
            if means in BEHIND:
                found.append(f"{BEHIND[means]}{self.id}")
            elif means in LETTERS:
                found.append(self.letter)
            elif self.priority:
                found += [key for key in means.keys if not types(key)][:1]
            else:
                found += means.keys
        return tuple(dict.fromkeys(found))

    @property
    def answers(self) -> bool:
        """Whether it answers a question that stands on the screen; its letters mean nothing else there then."""
        return any(means.group == "answer" for means in self.all_means)


_declared: dict[str, Key] = {}


def types(key: str) -> bool:
    """Whether a field would take it as text."""
    return len(key) == 1 or key in ("slash", "full_stop", "plus", "minus", "equals_sign", "question_mark", "space") or "square_bracket" in key  # fmt: skip


def declare(key: Key) -> None:
    """Enter it. Raises `ValueError` on an id used twice."""
    if _declared.setdefault(key.id, key) != key:
        raise ValueError(f"two actions have the id {key.id!r}")


def registry() -> dict[str, Key]:
    """All actions declared so far, by id."""
    return dict(_declared)


_NAMES = {
    "enter": "⏎",
    "escape": "esc",
    "backspace": "⌫",
    "delete": "del",
    "insert": "ins",
    "tab": "⇥",
    "shift+tab": "⇧⇥",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "full_stop": ".",
    "slash": "/",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
    "question_mark": "?",
    "backslash": "\\",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}


_PLAIN = {shown: key for key, shown in _NAMES.items() if len(shown) == 1 and shown.isascii()}


def key_name(key: str, *, typing: bool = False) -> str:
    """How a key is shown: `^s`, `F5`, `⏎`; of what stands in a menu, the menu's key (in a field, if `typing`, the one
    that works there) and the letter.
    """
    for means, begins in BEHIND.items():
        if key.startswith(begins):
            menu = Means.VIEW if means is Means.A_VIEW else Means.MENU
            return f"{key_name(menu.keys[typing])} {_declared[key.removeprefix(begins)].letter}"
    if key in _NAMES:
        return _NAMES[key]
    before, plus, last = key.rpartition("+")
    if before == "ctrl":
        return f"^{_NAMES.get(last, last)}"
    if plus:
        return f"{before}+{_NAMES.get(last, last)}"
    return key.upper() if key[:1] == "f" and key[1:].isdigit() else key


def shown_key(id: str, *, typing: bool = False) -> str:
    """The key of an action, for hints: the one that works while one types if `typing`."""
    key = _declared[id]
    found = [each for each in key.keys if not (typing and types(each))]
    return key_name((found or list(key.keys))[0], typing=typing)


_NAMED = re.compile(r"\{([A-Z_]+)\}|<([a-z_]+\.[a-z_0-9]+)>")


def with_keys(text: str, *, typing: bool = False) -> str:
    """A text with the keys that it names by what they mean, as `{ADD}`, or by what they do, as `<trial.tell>`; `typing`:
    those that work in a field. Braces of anything else stay as they are.
    """

    def key(match: re.Match[str]) -> str:
        meaning, id = match.groups()
        if id:
            return shown_key(id, typing=typing) if id in _declared or _imported(id) else match[0]
        keys = Means[meaning].keys if meaning in Means.__members__ else ()
        return (
            key_name(next((k for k in keys if not (typing and types(k))), keys[0]))
            if keys
            else match[0]
        )

    return _NAMED.sub(key, text)


def _imported(id: str) -> bool:
    """Import the screen that declares the action, so that its key is known before anybody was there."""
    if module := _declared_in().get(id):
        import_module(module)
    return id in _declared


def hint(text: str, *, typing: bool = False, **values: object) -> str:
    """A hint `with_keys`, and with `values`."""
    return with_keys(text, typing=typing).format(**values)


def error_lines(error: CuecardError, *, title: bool = True) -> list[str]:
    """What an error says in the app, a part a line."""
    parts = (error.title if title else "", error.message, with_keys(error.hint_in_app))
    return [part for part in parts if part]


def error_text(error: CuecardError, *, title: bool = True) -> str:
    """The same as sentences on one line."""
    return joined(sentence(one_line(part)) for part in error_lines(error, title=title))


def sentence(text: str) -> str:
    """A text with a full stop, unless it ends with a mark."""
    return text if text.endswith(tuple(".!?。！？")) else text + ("。" if is_cjk(text) else ".")


PRESETS = {
    "vi": "left: left, h\nright: right, l\nreveal: H\ndecide: L, ctrl+l",
    "emacs": "up: up, k, ctrl+p\ndown: down, j, ctrl+n\npalette: ctrl+x\nadd: a, insert",
}
"""What a preset changes, as lines of a keymap."""
_KEY = re.compile(r"(?:(?:ctrl|shift|alt)\+)*(?:[a-z]+[a-z0-9_]*|[A-Z0-9])")
_DECLARED = re.compile(r'\b(?:Key|Tab)\(\s*f?"([a-z_]+\.[a-z_0-9]+)["{]')
_own: dict[str, tuple[str, ...]] = {}
"""Keys of single actions, by id, that a keymap gives them."""


def is_key(key: str) -> bool:
    """Whether a keymap may give it: terminals send Alt with a letter as Esc and the letter."""
    return bool(_KEY.fullmatch(key)) and not re.fullmatch(r"alt\+\w", key)


KEYMAP = Path(os.environ.get("CUECARD_KEYMAP") or config_folder() / "keymap")
"""The file of the person's own keys."""
KEYMAP_PLACE = str(KEYMAP).replace(str(Path.home()), "~", 1)
"""The same for reading."""


def own_keymap() -> list[str]:
    """Take the person's own keys over, before anything is declared; what cannot be used, as `read_keymap` tells it."""
    try:
        return read_keymap(KEYMAP.read_text(encoding="utf-8"), str(KEYMAP))
    except FileNotFoundError:
        return []
    except (OSError, UnicodeError) as error:
        return [headed(KEYMAP, error)]


@cache
def _declared_in() -> dict[str, str]:
    """The module that declares each action, by the action's id."""
    folder = Path(__file__).parent.parent
    return {
        id: ".".join(("cuecard.tui", *file.relative_to(folder).with_suffix("").parts))
        for file in folder.rglob("*.py")
        for id in _DECLARED.findall(file.read_text(encoding="utf-8"))
    }


def known_ids() -> frozenset[str]:
    """The ids of all actions, also of screens that are not imported yet. Those that end in `_` begin several ids."""
    return frozenset(_declared_in())


T = TypeVar("T")


def after(now: Any, values: Sequence[T]) -> T:
    """What the same key turns to: the next of `values`, round and round; the first where `now` is none of them."""
    return values[(values.index(now) + 1) % len(values) if now in values else 0]


def is_action(id: str) -> bool:
    """Whether any screen declares an action with this id."""
    known = known_ids()
    return id in known or any(id.startswith(each) for each in known if each.endswith("_"))


def _keys_of(value: str) -> tuple[str, ...]:
    return tuple(_PLAIN.get(key, key) for key in value.replace(",", " ").split())


def read_keymap(text: str, file: str) -> list[str]:
    """Take over a keymap, before anything is declared: lines `meaning: keys`, `screen.action: keys` or `preset: name`.
    Returns what cannot be used, with file and line; the rest is used. A key that is given to another meaning leaves its own.
    """
    wrong: list[str] = []
    names = {means.name.lower(): means for means in Means if means not in LETTERS}
    lines = [
        (number, each.partition("#")[0])
        for number, line in enumerate(text.splitlines(), 1)
        for each in PRESETS.get(line.partition("preset:")[2].partition("#")[0].strip(), line).splitlines()
    ]  # fmt: skip
    presets = "\n".join(PRESETS.values()).splitlines()
    for number, line in lines:
        name, _colon, value = (part.strip() for part in line.partition(":"))
        found = _keys_of(value)
        named = {"file": file, "n": number, "what": value or name}
        if not line.strip():
            continue
        if name == "preset":
            told = _("{file}, line {n}: there is no preset {what}; there are {names}")
            wrong.append(told.format(**named, names=listed(PRESETS)))
        elif not found:
            told = _("{file}, line {n}: no keys are named: write “{what}: a, ctrl+b”")
            wrong.append(told.format(**{**named, "what": name.partition(" ")[0]}))
        elif not all(map(is_key, found)):
            wrong.append(_("{file}, line {n}: {what} is no key").format(**named))
        elif name in names:
            for other in set(names.values()) - {names[name]}:
                if other.group != "answer":
                    taken = [key_name(key) for key in other.keys if key in found]
                    other.keys = tuple(key for key in other.keys if key not in found)
                    if taken and line not in presets:
                        told = _("{file}, line {n}: {what} is not {loser} any more")
                        lose = other.name.lower()
                        wrong.append(
                            told.format(file=file, n=number, what=" ".join(taken), loser=lose)
                        )
            names[name].keys = found
        elif "." in name and is_action(name):
            _own[name] = found
        else:
            like_it = near(name, known_ids() if "." in name else names)
            told = _("{file}, line {n}: nothing is called {what}")
            wrong.append(beside(told.format(**{**named, "what": name}), like_it))
    told = _("{file}: {what} has no key any more")
    lost = [name for name, means in names.items() if not means.keys]
    return [*wrong, *(told.format(file=file, what=name) for name in lost)]


def given(text: str) -> dict[str, tuple[str, ...]]:
    """What a keymap gives to meanings by its own lines, by name."""
    names = {means.name.lower() for means in Means if means not in LETTERS}
    lines = (line.partition("#")[0].partition(":") for line in text.splitlines())
    found = {name.strip(): _keys_of(value) for name, _colon, value in lines}
    return {name: keys for name, keys in found.items() if name in names and keys}


def keymap_with(text: str, name: str, keys: Sequence[str]) -> str:
    """A keymap that gives these keys to `name`, or none of its own; all other lines stay."""
    kept = [line for line in text.splitlines() if line.partition(":")[0].strip() != name]
    return "".join(
        f"{line}\n" for line in [*kept, *([f"{name}: {', '.join(keys)}"] if keys else [])]
    )


def losers(means: Means, key: str, own: Mapping[str, Sequence[str]]) -> list[Means]:
    """The other meanings that have the key, as a keymap gives keys."""
    return [
        other
        for other in Means
        if other is not means
        and other not in LETTERS
        and (other.group == "answer") == (means.group == "answer")
        and key in own.get(other.name.lower(), other.keys)
    ]

"""Write docs/keys.md, the one table of keys, from what screens declare."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import cuecard.tui
from cuecard.tui.present.keyboard import LETTERS, Key, Means, key_name, registry

PAGE = Path(__file__).parent.parent / "docs" / "keys.md"
GROUPS = {
    "app": "## Everywhere",
    "move": "## Moving about",
    "do": "## Doing something",
    "answer": "## Answers\n\nThese hold where a question stands on the screen, and mean nothing else there.",
    "menu": "## Behind a menu\n\nWhat is used less often has a letter behind one key; the menu shows letters and names.",
}
HEAD = """\
# Keys

This page is made by `make docs` from what screens declare. A key means the same wherever it appears, and a meaning has the same
keys everywhere: the first one named, and others that work beside it; those with Ctrl or F also work while one types. **F1** says
which of them work where one is, **Ctrl+P** finds any command by its name, **Esc** goes one step up.

**Other keys.** The file `keymap` in Cuecard's folder of settings (`~/.config/cuecard`), or the one that `CUECARD_KEYMAP` names, changes
them, from the next start on. A line gives a meaning its keys by its name in brackets below, or one action by its id (`tasks.new`):

```
preset: vi          # or emacs; h and l go left and right
comment: C, ctrl+space
tasks.new: N
```

*Keys* in the menu of Settings writes it: Enter records the next key, and tells what would lose it. A key that is given to a meaning
leaves the one that had it, which is told. What cannot be used is told at the start with its line; the rest is used.

In fields, what the terminal and Textual do with text comes first: Ctrl+A, E, K, U and W edit a line there.
"""


def declared() -> dict[str, Key]:
    """Every key of every screen, by id."""
    for module in pkgutil.walk_packages(cuecard.tui.__path__, "cuecard.tui."):
        importlib.import_module(module.name)
    return registry()


def keys_page() -> str:
    declared()
    parts = [HEAD]
    for group, heading in GROUPS.items():
        parts.append(f"{heading}\n")
        if group != "menu":
            parts += ["| keys | meaning | here it is called |", "| --- | --- | --- |"]
            parts += [_row(means) for means in Means if means.group == group]
        parts.append("")
    return "\n".join([*parts, *_menus()])


def _row(means: Means) -> str:
    found = [key for key in registry().values() if means in key.all_means]
    keys = sorted({key.letter for key in found}) if means in LETTERS else means.keys
    shown = " ".join(f"`{key_name(key)}`" for key in keys)
    names = dict.fromkeys(key.label for key in found) if means not in LETTERS else {}
    named = "" if means in LETTERS else f" ({means.name.lower()})"
    return f"| {shown} | {means.does}{named} | {', '.join(sorted(names))} |"


def _menus() -> Iterator[str]:
    """What stands behind `v` and `.`, by where it was declared."""
    for means, key in ((Means.A_VIEW, Means.VIEW), (Means.COMMAND, Means.MENU)):
        places: dict[str, list[Key]] = {}
        for each in registry().values():
            if means in each.all_means:
                places.setdefault(each.id.partition(".")[0], []).append(each)
        yield f"### After `{key_name(key.keys[0])}`\n"
        yield "| where | letters |"
        yield "| --- | --- |"
        for place, found in sorted(places.items()):
            letters = ", ".join(f"`{each.letter}` {each.label}" for each in found)
            yield f"| {place.replace('_', ' ')} | {letters} |"
        yield ""


if __name__ == "__main__":
    PAGE.write_text(keys_page(), encoding="utf-8")

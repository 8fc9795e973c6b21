"""Which texts of a task can be translated: names, the same wherever they stand, and running text."""

from __future__ import annotations

import copy
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from cuecard.annotate.assist.outline import dicts_at
from cuecard.annotate.authoring import trees
from cuecard.annotate.authoring.trees import Path
from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import is_cjk

Space = Literal["nodes", "columns", "keys"]
_URL = re.compile(r"https?://[^\s，。；、）)”\"]+")
_LETTER = re.compile(r"[^\W\d_]")
_PERSONA = ("identity", "initial_query", "behaviour")
_STAGE = (("title",), ("cue", "text"), ("line",), ("not_met",))
_GOLD_TEXTS = ("opening", "derivation")
_GOLD_NAMES = ("final_answer", "answer")
_GOLD_LISTS = ("final_aliases", "answer_aliases", "forbidden")


@dataclass(frozen=True)
class Slot:
    """A place with a text. `space`: names of one space must stay different from each other. `kept`:
    it stays as it is, and is here for its space.
    """

    path: Path
    text: str
    name: bool
    space: Space | None = None
    kept: bool = False


def slots_of(data: Mapping[str, Any], target: TaskLanguage) -> list[Slot]:
    """All places whose text is to be translated into `target`, in the order of the task. Ids of nodes
    that have a name, addresses, quotations from sources and bare numbers are none.
    """
    return [s for s in _all(data) if not s.kept and _translatable(s.text, target)]


def numbers_in(text: str) -> list[str]:
    """The numbers and addresses that a translation must keep; a month that Chinese writes as a number
    is none.
    """
    urls = _URL.findall(text)
    plain = re.sub(r"(?<=\d)[,，](?=\d{3})", "", _URL.sub(" ", text))
    return [*urls, *re.findall(r"\d+(?:\.\d+)?(?!\s*月)", plain)]


def replaced(
    data: Mapping[str, Any],
    target: TaskLanguage,
    texts: Mapping[Path, str],
    names: Mapping[str, str],
) -> dict[str, Any]:
    """The data with these texts by place and these names everywhere. A name that would make two
    nodes, columns or keys one stays as it is.
    """
    slots = slots_of(data, target)
    called = _apart(list(_all(data)), names)
    new = copy.deepcopy(dict(data))
    for slot in slots:
        text = called.get(slot.text) if slot.name else texts.get(slot.path)
        if text:
            parent = trees.get(new, slot.path[:-1])
            parent[slot.path[-1]] = text
    return new


def _apart(slots: list[Slot], names: Mapping[str, str]) -> dict[str, str]:
    """The names without those by which two of a space would become one."""
    called = dict(names)
    spaces: dict[Space, dict[str, bool]] = defaultdict(dict)
    for slot in slots:
        if slot.space:
            spaces[slot.space][slot.text] = slot.kept
    while clashing := [text for space in spaces.values() for text in _clashes(space, called)]:
        for text in clashing:
            called.pop(text, None)
    return called


def _clashes(space: Mapping[str, bool], called: Mapping[str, str]) -> list[str]:
    """The texts whose new name is another's too; where all of them are new, one may have it."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for text, kept in space.items():
        by_name[(text if kept else called.get(text, text)).strip()].append(text)
    found: list[str] = []
    for name, same in by_name.items():
        renamed = [text for text in same if not space[text] and text.strip() != name]
        found += renamed[1:] if len(renamed) == len(same) else renamed
    return found


def _translatable(text: str, target: TaskLanguage) -> bool:
    if not _LETTER.search(_URL.sub("", text)):
        return False
    return not is_cjk(text) if target == "zh" else is_cjk(text)


def _all(data: Mapping[str, Any]) -> Iterator[Slot]:
    for key in ("title", "domain", "query"):
        yield from _text(data, (key,))
    yield from _list(data, ("sub_queries",), name=False)
    yield from _text(data, ("persona", "name"), name=True)
    for key in _PERSONA:
        yield from _text(data, ("persona", key))
    for index in range(len(dicts_at(data, "persona", "stages"))):
        here: Path = ("persona", "stages", index)
        for path in _STAGE:
            yield from _text(data, (*here, *path))
        yield from _list(data, (*here, "cue", "terms"))
    yield from _gold(data)
    for index in range(len(dicts_at(data, "sources"))):
        yield from _text(data, ("sources", index, "note"))
    yield from _text(data, ("notes",))


def _gold(data: Mapping[str, Any]) -> Iterator[Slot]:
    for key in _GOLD_TEXTS:
        yield from _text(data, ("gold", key))
    yield from _graph(data)
    for index in range(len(dicts_at(data, "gold", "columns"))):
        yield from _text(data, ("gold", "columns", index, "name"), name=True, space="columns")
        yield from _text(data, ("gold", "columns", index, "criterion"))
    yield from _list(data, ("gold", "unique_columns"))
    for index in range(len(_items(data, ("gold", "rows")))):
        yield from _list(data, ("gold", "rows", index))
    for index, step in enumerate(dicts_at(data, "gold", "steps")):
        here: Path = ("gold", "steps", index)
        yield from _text(data, (*here, "question"))
        yield from _text(data, (*here, "target"), name=True)
        yield from _list(data, (*here, "aliases"))
        if isinstance(step.get("ambiguity"), dict):
            for key in ("logic", "clue"):
                yield from _text(data, (*here, "ambiguity", key))
            for key in ("candidates", "terms"):
                yield from _list(data, (*here, "ambiguity", key))
    for index in range(len(dicts_at(data, "gold", "facts"))):
        here = ("gold", "facts", index)
        yield from _text(data, (*here, "key"), name=True, space="keys")
        for key in ("value", "entity", "attribute", "unit"):
            yield from _text(data, (*here, key), name=True)
        yield from _list(data, (*here, "aliases"))
    for key in _GOLD_NAMES:
        yield from _text(data, ("gold", key), name=True)
    for key in _GOLD_LISTS:
        yield from _list(data, ("gold", key))


def _graph(data: Mapping[str, Any]) -> Iterator[Slot]:
    named: set[object] = set()
    for index, node in enumerate(dicts_at(data, "gold", "nodes")):
        here: Path = ("gold", "nodes", index)
        if str(node.get("name") or "").strip():
            named.add(node.get("id"))
            yield Slot((*here, "id"), str(node.get("id")), name=True, space="nodes", kept=True)
            yield from _text(data, (*here, "name"), name=True)
        else:
            yield from _text(data, (*here, "id"), name=True, space="nodes")
        yield from _list(data, (*here, "aliases"))
    for index, triple in enumerate(dicts_at(data, "gold", "triples")):
        here = ("gold", "triples", index)
        for end in ("head", "tail"):
            if triple.get(end) not in named:
                yield from _text(data, (*here, end), name=True, space="nodes")
        yield from _text(data, (*here, "relation"), name=True)


def _text(
    data: Mapping[str, Any], path: Path, *, name: bool = False, space: Space | None = None
) -> Iterator[Slot]:
    value = _value(data, path)
    if isinstance(value, str) and value.strip():
        yield Slot(path, value, name, space)


def _list(data: Mapping[str, Any], path: Path, *, name: bool = True) -> Iterator[Slot]:
    for index in range(len(_items(data, path))):
        yield from _text(data, (*path, index), name=name)


def _items(data: Mapping[str, Any], path: Path) -> list[object]:
    value = _value(data, path)
    return cast(list[object], value) if isinstance(value, list) else []


def _value(data: Mapping[str, Any], path: Path) -> object:
    try:
        return cast(object, trees.get(data, path))
    except LookupError:
        return None

"""What a model is told of a task that may be half written: read from the edit's data, blanks left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from cuecard.annotate.authoring import trees
from cuecard.annotate.authoring.trees import Path
from cuecard.core.tasks import TaskLanguage


def language_of(data: Mapping[str, Any]) -> TaskLanguage:
    return "zh" if data.get("language") == "zh" else "en"


def other_language(language: TaskLanguage) -> TaskLanguage:
    return "en" if language == "zh" else "zh"


def text_at(data: Mapping[str, Any], *path: str) -> str:
    """The text at `path`; "" where none is."""
    value = _get(data, path)
    return value.strip() if isinstance(value, str) else ""


def dicts_at(data: Mapping[str, Any], *path: str) -> list[dict[str, Any]]:
    """The mappings in the list at `path`."""
    return [cast(dict[str, Any], v) for v in _list(data, path) if isinstance(v, dict)]


def texts_at(data: Mapping[str, Any], *path: str) -> list[str]:
    """The texts in the list at `path` that are not blank."""
    return [v for v in _list(data, path) if isinstance(v, str) and v.strip()]


def triples_of(data: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The written triples of a graph by node ids, in order, without those that are still incomplete."""
    return [named for _index, named in numbered_triples(data)]


def numbered_triples(data: Mapping[str, Any]) -> list[tuple[int, tuple[str, str, str]]]:
    """`triples_of` with each triple's place in the list."""
    found: list[tuple[int, tuple[str, str, str]]] = []
    for index, triple in enumerate(dicts_at(data, "gold", "triples")):
        head, relation, tail = (
            str(triple.get(part) or "") for part in ("head", "relation", "tail")
        )
        if head.strip() and relation.strip() and tail.strip():
            found.append((index, (head, relation, tail)))
    return found


def node_names(data: Mapping[str, Any]) -> dict[str, str]:
    """The names of the listed nodes, by id."""
    nodes = dicts_at(data, "gold", "nodes")
    return {str(n.get("id")): str(n.get("name") or n.get("id")) for n in nodes if n.get("id")}


def entities_of(data: Mapping[str, Any]) -> list[str]:
    """Every entity of a graph once, by id: as triples have to name it."""
    ids = dict.fromkeys(node_names(data))
    for head, _relation, tail in triples_of(data):
        ids.setdefault(head)
        ids.setdefault(tail)
    return list(ids)


def stages_of(data: Mapping[str, Any]) -> list[tuple[int, str, str]]:
    """(number, title, line) of the stages that have a line; numbers as triples count them."""
    return [
        (number, str(stage.get("title") or ""), str(stage.get("line") or ""))
        for number, stage in enumerate(dicts_at(data, "persona", "stages"), start=1)
        if str(stage.get("line") or "").strip()
    ]


def _list(data: Mapping[str, Any], path: Sequence[str]) -> list[object]:
    value = _get(data, path)
    return cast(list[object], value) if isinstance(value, list) else []


def _get(data: Mapping[str, Any], path: Sequence[str]) -> object:
    where: Path = tuple(path)
    try:
        return cast(object, trees.get(data, where))
    except LookupError:
        return None

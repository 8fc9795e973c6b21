"""Find and replace over a task: the texts in which words stand, what each would become, and writing those that are chosen."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.changes import place_in_words
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.task_data import Path, get, leaves
from cuecard.core.i18n import plural
from cuecard.core.text import words_pattern
from cuecard.core.validation import format_place

_FIXED = {"id", "family", "language", "difficulty", "kind", "type", "metric", "preprocess", "unique_columns", "foreign", "code", "about"}  # fmt: skip
"""Fields whose values are identities or one of a few; with all that is in them."""


@dataclass(frozen=True)
class TextMatch:
    """A text at `path` in which words stand, at `marks`; `put` would stand there instead. An entity of a graph is one hit,
    wherever it is named: `paths` are all its places, of which `path` is the first.
    """

    path: Path
    before: str
    marks: tuple[tuple[int, int], ...]
    put: str
    paths: tuple[Path, ...] = ()

    @property
    def address(self) -> bool:
        """Whether it is a web address, which other words may lead astray."""
        return self.before.startswith(("http://", "https://"))

    @property
    def after(self) -> str:
        return "".join(text for text, _marked in self.pieces(after=True))

    def pieces(self, *, after: bool) -> Iterator[tuple[str, bool]]:
        """The text before or `after`, in pieces; whether each is of what is replaced."""
        at = 0
        for start, end in self.marks:
            yield self.before[at:start], False
            yield self.put if after else self.before[start:end], True
            at = end
        yield self.before[at:], False

    def place(self, data: Mapping[str, Any]) -> str:
        """What the place is called."""
        if len(self.paths) > 1:
            return plural("an entity, {n} place", "an entity, {n} places", len(self.paths))
        return place_in_words(format_place(self.path), data)


def find(
    data: Mapping[str, Any], words: str, put: str, *, case: bool = False, whole: bool = False
) -> list[TextMatch]:
    """Every text that would be another one, in the order of the data; see `words_pattern`. Not in identities: ids, kinds,
    and names by which triples refer to an entity that is shown by another one.
    """
    if not words:
        return []
    pattern, hits = words_pattern(words, case=case, whole=whole), list[TextMatch]()
    entities: dict[str, list[Path]] = {}
    for path, text in leaves(data):
        marks = tuple(match.span() for match in pattern.finditer(text))
        if not marks:
            continue
        if _names_entity(path):
            entities.setdefault(text, []).append(path)
        elif not _FIXED.intersection(path):
            hits.append(TextMatch(path, text, marks, put))
    for name in entities.keys() - _shown_otherwise(data):
        paths = tuple(entities[name])
        marks = tuple(match.span() for match in pattern.finditer(name))
        hits.append(TextMatch(paths[0], name, marks, put, paths))
    order = {path: at for at, (path, _text) in enumerate(leaves(data))}
    return sorted((hit for hit in hits if hit.after != hit.before), key=lambda hit: order[hit.path])


def replace(edit: TaskEdit, hits: Sequence[TextMatch]) -> int:
    """Replace in these texts, as one step for undo; gives how many there were. What is another text by now stays."""
    done = 0
    with edit.together(hits[0].path if len(hits) == 1 else ()):
        for hit in hits:
            paths = [path for path in hit.paths or (hit.path,) if edit.get(path) == hit.before]
            for path in paths:
                if path[:2] == ops.COLUMNS and path[3:] == ("name",):
                    ops.rename_column(edit, int(path[2]), hit.after)
                else:
                    edit.set(path, hit.after)
            done += bool(paths)
    return done


def _names_entity(path: Path) -> bool:
    return (path[:2] == ops.TRIPLES and path[3:] in (("head",), ("tail",))) or (
        path[:2] == ops.NODES and path[3:] == ("id",)
    )


def _shown_otherwise(data: Mapping[str, Any]) -> set[str]:
    """Ids of nodes that have a name besides: these are no words of anybody."""
    try:
        nodes = get(data, ops.NODES)
    except LookupError:
        return set()
    return {str(node["id"]) for node in nodes if str(node.get("name") or "").strip() not in ("", node["id"])}  # fmt: skip

"""What the screens know of each family: one `TuiFamily`, looked up by the family's name.

Another package's family is made known by `TUI.register(name, TuiFamily(...))`, after the other two parts
(`core.families.registry`, `annotate.families.registry`). A part that is left out is an error of the type checker, and a
`TypeError` when it is made. All texts are marked for translation and translated where they are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal

from cuecard.core.families.registry import Parts
from cuecard.core.predictions import Prediction, UnusablePrediction
from cuecard.core.tasks import SHIPPED
from cuecard.core.tasks.gold import G
from cuecard.tui.present.entries import Entry, Paragraph

if TYPE_CHECKING:
    from cuecard.annotate.independent_gold.matching import Element as Compared
    from cuecard.core.agents.briefing import PublicTask

TabId = Literal[
    "brief", "persona", "stages", "graph", "nodes", "table", "columns", "steps", "chain",
    "facts", "answer", "items", "gold", "sources", "comments", "problems", "history",
]  # fmt: skip


@dataclass(frozen=True)
class Element:
    """An element of a task for display. `place`: its path, such as `persona.stages[3].line`; `entry`: its text."""

    place: str
    entry: Entry


@dataclass(frozen=True)
class Side:
    """One version of an element: in one line, and in full. Empty if it does not exist there."""

    text: str = ""
    more: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        if not self.text:
            return ()
        lines = [Paragraph(line, "muted") for line in (*self.more, *self.sources)]
        return (Paragraph(self.text), *lines)


@dataclass(frozen=True)
class Versions:
    """An element of gold in the author's and in the independent version. `parts`: both in parts, if they are best
    compared so; `label`: the element's name, if kind and number do not tell it.
    """

    author: Side
    second: Side
    parts: tuple[Sequence[str], Sequence[str]] | None = None
    label: str = ""


def each_by(side: Callable[[G, Compared, int], Side]) -> Callable[[G, G, Compared], Versions]:
    """Both versions where each is shown by itself: by `side`, the element of a gold at an index."""

    def versions(author: G, second: G, element: Compared) -> Versions:
        i, j = element.author, element.second
        return Versions(
            Side() if i is None else side(author, element, i),
            Side() if j is None else side(second, element, j),
        )

    return versions


@dataclass(frozen=True)
class HandIn:
    """What a person handed in, as read. `told`: a short summary; `problems`: sentences on what cannot be read or looks
    wrong, in spite of which it can be handed in.
    """

    prediction: Prediction
    told: str
    problems: tuple[str, ...] = field(default=())

    @property
    def empty(self) -> bool:
        return isinstance(self.prediction, UnusablePrediction)


@dataclass(frozen=True, kw_only=True)
class TuiFamily(Generic[G]):
    """All that the screens know of a family.

    Lists: `badge` is its glyph, a variable of the theme, and its name; `about` says in a line what such a task is;
    `counts` how much there is of what its gold is made of; `gold` is that gold to be read.

    The editor: `tabs` are the two tabs of its gold, `first_tab` the fields of gold that stand on the first. A family
    without panes of its own takes `items` and `gold`, which are made from `AnnotateFamily.fields`; `first_tab` is then
    the one list of what the gold is made of.

    A person in an agent's place: `asked` and `ends` say what to do, `hint` what to type at the end, and `read` what
    was typed. `values`: what stands behind the keys that worlds log.

    Gold that is built twice (`AnnotateFamily.independent`): `build` says what somebody does who builds it anew, `given` is
    what of it such a person is shown; `versions` are the two of one element in a comparison, by default its line in each.
    """

    badge: tuple[str, str, str]
    about: str
    counts: Callable[[G], list[str]]
    gold: Callable[[G], Iterable[Element]]
    tabs: tuple[TabId, TabId]
    first_tab: tuple[str, ...]
    asked: str
    ends: str
    hint: str
    read: Callable[[PublicTask, str], HandIn]
    values: Callable[[G], dict[str, str]]
    build: str = ""
    given: Callable[[Mapping[str, Any]], Iterable[Entry]] = lambda _gold: ()
    versions: Callable[[G, G, Compared], Versions] = field(
        default=each_by(lambda gold, _element, index: Side(gold.lines[index]))
    )


TUI: Parts[TuiFamily[Any]] = Parts(
    "part in the screens",
    {name: f"cuecard.tui.shipped_families:{name.upper()}" for name in SHIPPED},
    "cuecard.families.tui",
)
"""What the screens know of each family, by its name."""

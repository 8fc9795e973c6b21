"""What a report holds: sections of blocks, the same for every format, and what families, players and settings are called in it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from pydantic import JsonValue

from cuecard.annotate.labelling.comparison.tables import Sheet
from cuecard.annotate.results.plots.model import Plot
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.i18n import N_, Language, _
from cuecard.core.text import one_line


@dataclass(frozen=True)
class Prose:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Term:
    """Something that is described in the method section, a sentence or a list of settings a line."""

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Terms:
    title: str
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Tabled:
    """`folded`: long and for looking things up; it starts closed where a format can do that."""

    sheet: Sheet
    folded: bool = False


@dataclass(frozen=True)
class Drawn:
    """A plot with its data as a table."""

    plot: Plot
    sheet: Sheet


Block = Prose | Terms | Tabled | Drawn


@dataclass(frozen=True)
class Section:
    """`id` names it in links and files and is stable."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    """`made_on` is the only thing in it that differs when the same workspace is told of again; `program`: Cuecard's
    version. Nothing in it is an id of a database, a path or a person's name.
    """

    title: str
    language: Language
    program: str
    made_on: date
    sections: tuple[Section, ...]

    @property
    def blocks(self) -> Iterator[Block]:
        for section in self.sections:
            yield from section.blocks

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """Every table; of plots none, whose data say nothing that the tables do not."""
        return tuple(block.sheet for block in self.blocks if isinstance(block, Tabled))


LANGUAGE: dict[str, str] = {"en": N_("English"), "zh": N_("Chinese")}
PAYER: dict[str, str] = {
    "agent": N_("agent"),
    "conclusion": N_("final answer"),
    "user": N_("user"),
    "world": N_("world"),
    "judge": N_("judge"),
}
HUMAN = "human"
# Where something is on somebody's machine or network is nobody's business.
_PLACE = re.compile(r"^(~?[/\\]|[A-Za-z]:[/\\]|\.{1,2}[/\\])|://")


def player_word(ref: PlayerRef, name: str = "") -> str:
    """`alpha (react, alpha-7b, version 1f3a)`, and whether it is an offline baseline."""
    parts = [ref.kind, ref.model]
    if ref.version and ref.version != "1":
        parts.append(_("version {version}").format(version=ref.version))
    if ref.baseline:
        parts.append(_("offline baseline"))
    told = ", ".join(dict.fromkeys(one_line(part, 80) for part in parts if part))
    return f"{one_line(name or ref.name, 60)} ({told})" if told else one_line(name or ref.name, 60)


def settings_lines(described: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """What the configuration said of a player, a line for each setting that was set; addresses and paths left
    out.
    """
    return tuple(
        f"{name}: {told}" for name, value in described.items() if (told := _setting(value))
    )


def listed(items: Iterable[str]) -> str:
    return ", ".join(items)


def _setting(value: JsonValue) -> str:
    """A value in one line; "" for nothing, and for what is a place."""
    match value:
        case None | "":
            return ""
        case bool():
            return "yes" if value else "no"
        case dict():
            return listed(f"{k} {told}" for k, v in value.items() if (told := _setting(v)))
        case list():
            return listed(told for v in value if (told := _setting(v)))
        case str():
            return "" if _PLACE.search(value) else one_line(value, 200)
        case _:
            return str(value)

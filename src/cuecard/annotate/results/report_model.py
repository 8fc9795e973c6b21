"""The contents of a report in every format: sections of blocks, and the names of families, players and settings."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from pydantic import JsonValue

from cuecard.annotate.results.plots.model import Plot
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.i18n import N_, Language, _
from cuecard.core.tables.table import Table
from cuecard.core.text import one_line


@dataclass(frozen=True)
class Prose:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Term:
    """An entry of the method section: a sentence, or a list of settings with one on each line."""

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Terms:
    title: str
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Tabled:
    """A table. `folded`: long and for reference; formats that can do so show it closed."""

    table: Table
    folded: bool = False


@dataclass(frozen=True)
class Drawn:
    """A plot with its data as a table."""

    plot: Plot
    table: Table


Block = Prose | Terms | Tabled | Drawn


@dataclass(frozen=True)
class Section:
    """`id` names it in links and files and is stable."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    """A report. `made_on` is all that differs when it is made again from the same workspace; `program`: Cuecard's
    version. It contains no database ids, paths or names of people.
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
    def tables(self) -> tuple[Table, ...]:
        """Every table; those of plots are left out, because other tables hold their data."""
        return tuple(block.table for block in self.blocks if isinstance(block, Tabled))


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


def player_word(ref: PlayerRef) -> str:
    """A player for display: `alpha (react, alpha-7b, version 1f3a)`, with a note on offline baselines."""
    parts = [ref.kind, ref.model]
    if ref.version and ref.version != "1":
        parts.append(_("version {version}").format(version=ref.version))
    if ref.uncaged:
        parts.append(_("python uncaged"))
    if ref.baseline:
        parts.append(_("offline baseline"))
    told = ", ".join(dict.fromkeys(one_line(part, 80) for part in parts if part))
    return f"{one_line(ref.name, 60)} ({told})" if told else one_line(ref.name, 60)


def settings_lines(described: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """A player's configuration, a line for each setting that was set, without addresses and paths."""
    return tuple(
        f"{name}: {told}" for name, value in described.items() if (told := _setting(value))
    )


def listed(items: Iterable[str]) -> str:
    return ", ".join(items)


def _setting(value: JsonValue) -> str:
    """A value on one line; "" for none, and for addresses and paths."""
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

"""What a report holds: sections of blocks, the same for every format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from cuecard.annotate.labelling.comparison.sheets import Sheet
from cuecard.core.i18n import Language
from cuecard.results.plots.model import Plot


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

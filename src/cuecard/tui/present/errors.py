"""The state of the Errors screen: which trials, which section, and the tables computed so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cuecard.annotate.results.contamination import contamination_tables, exposures
from cuecard.annotate.results.errors.behaviour_tables import (
    compaction_tables,
    interaction_tables,
    tool_tables,
)
from cuecard.annotate.results.errors.blame import blame_tables, failed_trials, said_of
from cuecard.annotate.results.errors.causes import cause_tables, failed
from cuecard.annotate.results.errors.error_tables import Part, error_parts
from cuecard.annotate.results.errors.family_tables import curve_tables, profile_tables, tier_tables
from cuecard.annotate.results.errors.report import error_report
from cuecard.annotate.results.pool import Pool, Row
from cuecard.annotate.results.words import value_word
from cuecard.core.config_schema import ContaminationConfig
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.tables.table import Table
from cuecard.core.tasks.models import FAMILIES, Family
from cuecard.core.text import one_line
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.tables import Tab, TablesView
from cuecard.tui.present.trial_summary import trials_at

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


Section = Literal[
    "causes",
    "texts",
    "amount",
    "relations",
    "tables",
    "curves",
    "profiles",
    "dialogue",
    "compaction",
    "turns",
    "calls",
    "contamination",
    "blame",
]
SECTIONS: dict[Section, Tab] = {
    "causes": Tab("errors.causes", "c", N_("Causes"), N_("Failed trials by cause")),
    "texts": Tab("errors.texts", "t", N_("Texts"), N_("What was handed in and could not be read")),
    "amount": Tab("errors.amount", "g", N_("Amounts"), N_("Format failures, too much and too little handed in")),
    "relations": Tab("errors.relations", "l", N_("Relations"), N_("Coverage by relation and stage; relations that support nothing")),
    "tables": Tab("errors.tables", "v", N_("Tables"), N_("Why tables were unusable; wrong cells by column")),
    "curves": Tab("errors.curves", "k", N_("Curves"), N_("Facts found by the k-th call, by size of the world")),
    "profiles": Tab("errors.profiles", "p", N_("Profiles"), N_("How agents meet ambiguities, with pass rates")),
    "dialogue": Tab("errors.dialogue", "d", N_("Dialogue"), N_("Turns, what the user told, dismissive and redirecting turns")),
    "compaction": Tab("errors.compaction", "m", N_("Compaction"), N_("Scores with and without compaction")),
    "turns": Tab("errors.turns", "u", N_("Turns"), N_("F1 by the number of user turns")),
    "calls": Tab("errors.calls", "o", N_("Tools"), N_("F1 by the number of tool calls; calls by tool")),
    "contamination": Tab("errors.contamination", "n", N_("Contamination"), N_("Trials whose pages gave the benchmark away, and scores without them")),
    "blame": Tab("errors.blame", "b", N_("Whose fault"), N_("Whose fault failed trials are, by people and by proposers")),
}  # fmt: skip
_OF_FAMILY: dict[Section, Family] = {
    "relations": "graph",
    "turns": "graph",
    "tables": "table",
    "curves": "facts",
    "profiles": "checkpoints",
}
_PART: dict[Section, Part] = {
    "texts": "unreadable",
    "amount": "whole",
    "relations": "relations",
    "tables": "tables",
    "compaction": "compaction",
    "turns": "turns",
    "calls": "calls",
}
_MAKERS: dict[Section, tuple[Callable[[Pool], Iterable[Table]], ...]] = {
    "causes": (cause_tables,),
    "curves": (tier_tables, curve_tables),
    "profiles": (profile_tables,),
    "dialogue": (interaction_tables,),
    "compaction": (compaction_tables,),
    "calls": (tool_tables,),
}


@dataclass(frozen=True)
class Filter:
    """Which trials: of one agent, of one family; None: of all."""

    agent: str | None = None
    family: Family | None = None

    def keeps(self, row: Row) -> bool:
        return self.agent in (None, row.trial.agent.name) and self.family in (None, row.family)


Sections = Mapping[Section, tuple[Table, ...]]


def count(
    workspace: Workspace, pool: Pool, section: Section, settings: ContaminationConfig, person: str
) -> Sections:
    """The tables of a section, with those that are counted along with them. `settings`: what else gives the benchmark
    away; `person`: who reads them. Slow: not for the screen's thread.
    """
    found: dict[Section, list[Table]] = {}
    if section == "contamination":
        met = exposures(workspace, pool, settings)
        return {section: contamination_tables(pool, met)}
    if section == "blame":
        rows = failed_trials(pool)
        return {section: blame_tables(rows, said_of(workspace, rows), person)}
    if section in _PART:
        # One report holds them all, so that each of its sections is there once one was asked for.
        parts: dict[Part, list[Table]] = {}
        for part, table in error_parts(error_report(pool)):
            parts.setdefault(part, []).append(table)
        for name, part in _PART.items():
            if name == section or name not in _MAKERS:
                found[name] = parts.get(part, [])
    for make in _MAKERS.get(section, ()):
        found.setdefault(section, []).extend(make(pool))
    found.setdefault(section, [])
    return {name: tuple(tables) for name, tables in found.items()}


@dataclass
class ErrorsView(TablesView[Section]):
    """A pool, which of its trials are looked at, and the sections counted so far for each filter."""

    pool: Pool
    filter: Filter = Filter()
    section: Section = "causes"
    plotted: bool = False
    known: dict[Filter, dict[Section, tuple[Table, ...]]] = field(
        default_factory=dict["Filter", "dict[Section, tuple[Table, ...]]"]
    )
    _at: dict[Section, int] = field(default_factory=dict["Section", int])
    _named: dict[Filter, dict[Section, Tab]] = field(
        default_factory=dict["Filter", "dict[Section, Tab]"]
    )
    _anything: bool | None = None

    @property
    def anything(self) -> bool:
        if self._anything is None:
            self._anything = any(row.figures is not None or failed(row) for row in self.pool.rows)
        return self._anything

    @property
    def chosen(self) -> Pool:
        """The trials that are looked at."""
        return self.pool.once(("chosen", self.filter), lambda: self.pool.where(self.filter.keeps))

    @property
    def named(self) -> Mapping[Section, Tab]:
        # Asked for by every key at every move of the cursor.
        if self.filter not in self._named:
            self._named[self.filter] = self._sections()
        return self._named[self.filter]

    def _sections(self) -> dict[Section, Tab]:
        families = set(self.chosen.families)
        return {
            section: name
            for section, name in SECTIONS.items()
            if section not in _OF_FAMILY or _OF_FAMILY[section] in families
        }

    @property
    def counted(self) -> bool:
        """Whether the section that is shown was counted for these trials."""
        return self.section in self.known.get(self.filter, {})

    def of(self, section: Section) -> Sequence[Table]:
        return self.known.get(self.filter, {}).get(section, ())

    @property
    def uncounted(self) -> tuple[Section, ...]:
        """Sections of these trials that were not looked at yet."""
        return tuple(name for name in self.named if name not in self.known.get(self.filter, {}))

    def keep(self, filter: Filter, found: Sections) -> None:
        self.known.setdefault(filter, {}).update(found)

    def keep_place_of(self, before: ErrorsView) -> None:
        super().keep_place_of(before)
        self.filter = before.filter

    def take(self, filter: Filter) -> None:
        """Look at other trials."""
        self.filter = filter
        if self.section not in self.named:
            self.section = "causes"

    @property
    def agents(self) -> tuple[str, ...]:
        return self.pool.values("agent")

    @property
    def next_family(self) -> Family | None:
        """After all families each of them, then all again (None)."""
        families: list[Family] = [f for f in FAMILIES if f in self.pool.families]
        if self.filter.family is None:
            return families[0] if families else None
        at = families.index(self.filter.family) + 1
        return families[at] if at < len(families) else None

    def opens(self, row: int, column: int) -> bool:
        return bool(self.trials(row, column))

    def trials(self, row: int, column: int) -> tuple[int, ...]:
        """Ids of the trials behind the cell, or else behind its line."""
        return trials_at(self, row, column)

    def why_empty(self) -> str:
        if not self.counted:
            return _("it is being counted.")
        if not any(row.figures is not None for row in self.chosen.rows):
            return _("none of these trials is judged.")
        match self.section:
            case "texts":
                return _("all that was handed in could be read.")
            case "compaction":
                return _("no trial's conversation was compacted.")
            case "blame":
                return hint(
                    _(
                        "nobody has said whose fault a failed trial is. Open one and say it there (<trial.blame>)."
                    )
                )
            case "contamination":
                return _("these trials met no pages other than those that are made from gold.")
            case "tables":
                return _("no table was handed in that could be laid over the gold.")
            case _:
                return _("these trials have nothing to tell of it.")


def title_words(view: ErrorsView, title: str) -> str:
    """`main table · alpha · graph · 24 trials, 9 failed, 2 not judged`."""
    pool = view.chosen
    counts = pool.once(
        ("counts",), lambda: [*_counts([*{row.trial.id: row for row in pool.rows}.values()])]
    )
    agent, family = view.filter.agent, view.filter.family
    parts = [_("Errors"), one_line(title, 90)]
    parts += [one_line(agent, 24)] if agent else []
    parts += [value_word("family", family)] if family else []
    parts.append(_(", ").join(counts))
    return " · ".join(parts)


def _counts(rows: Sequence[Row]) -> Iterator[str]:
    fallen = [failed(row) for row in rows]
    yield ngettext("{n} trial", "{n} trials", len(rows)).format(n=f"{len(rows):,}")
    told = ngettext("{n} failed", "{n} failed", fallen.count(True)).format(
        n=f"{fallen.count(True):,}"
    )
    ends = [row.trial.termination for row in rows]
    # A run's own count of what failed is of these alone.
    broken = sum(
        bool(short) and end is not None and end.is_failure
        for end, short in zip(ends, fallen, strict=True)
    )
    yield _("{failed} ({n} with an error)").format(failed=told, n=f"{broken:,}") if broken else told
    ended = [end is not None for end in ends]
    unknown = sum(end and short is None for end, short in zip(ended, fallen, strict=True))
    if unknown:
        yield ngettext("{n} not judged", "{n} not judged", unknown).format(n=f"{unknown:,}")
    if still := ended.count(False):
        yield ngettext("{n} still open", "{n} still open", still).format(n=f"{still:,}")

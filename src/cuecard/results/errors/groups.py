"""The trials of a pool put together by what they are, family by family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cuecard.core.i18n import _, ngettext
from cuecard.core.scoring.labels import measure_label
from cuecard.core.scoring.trial_figures import TrialFigures
from cuecard.core.tasks import FAMILIES, Family
from cuecard.results.pool import Dimension, Pool, Row

By = tuple[Dimension, ...]
Judged = Sequence[tuple[Row, TrialFigures]]
"""Judged trials with their figures."""
BY: By = ("agent",)


@dataclass(frozen=True)
class Group:
    """All trials of one family that share these `values`, one for each dimension of `by`."""

    family: Family
    by: By
    values: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        """`alpha`, or `alpha · zh`; a dash for what is not known."""
        return " · ".join(value or "–" for value in self.values) or _("all")

    @property
    def key(self) -> str:
        """Where `cuecard score --json` has the group: `alpha/graph`."""
        return "/".join((*self.values, self.family))

    @property
    def judged(self) -> tuple[tuple[Row, TrialFigures], ...]:
        return tuple((row, row.figures) for row in self.rows if row.figures is not None)

    @property
    def trials(self) -> tuple[int, ...]:
        """Ids of the judged trials."""
        return tuple(row.trial.id for row, _figures in self.judged)

    @property
    def ended(self) -> int:
        return sum(row.trial.termination is not None for row in self.rows)

    @property
    def tasks(self) -> int:
        """Tasks with a judged trial."""
        return len({row.trial.task_id for row, _figures in self.judged})

    @property
    def baselines(self) -> tuple[str, ...]:
        """Names of its embedded offline players, in the order of agent, user, world, judge."""
        found: dict[str, None] = {}
        for part in ("agent", "user", "world"):
            refs = (getattr(row.trial, part) for row in self.rows)
            found |= dict.fromkeys(ref.name for ref in refs if ref.baseline)
        judges = (row.judge for row in self.rows)
        found |= dict.fromkeys(judge.name for judge in judges if judge and judge.baseline)
        return tuple(found)


def groups_of(pool: Pool, by: By = BY, families: Sequence[Family] = FAMILIES) -> tuple[Group, ...]:
    """A group for each family and combination of values that occurs, families in their order, values as they
    occur in the pool. Where several judges judged, their rows are told apart.
    """
    by = tuple(dimension for dimension in by if dimension != "family")
    if len(pool.values("judge")) > 1 and "judge" not in by:
        by = (*by, "judge")
    found: dict[tuple[Family, tuple[str, ...]], list[Row]] = {}
    for row in pool.rows:
        found.setdefault((row.family, tuple(row.value(d) for d in by)), []).append(row)
    ordered = sorted(found.items(), key=lambda item: FAMILIES.index(item[0][0]))
    return tuple(
        Group(family=family, by=by, values=values, rows=tuple(rows))
        for (family, values), rows in ordered
        if family in families
    )


def by_family(groups: Sequence[Group]) -> Iterator[tuple[Family, tuple[Group, ...]]]:
    """Families with a judged trial, and their groups."""
    for family in FAMILIES:
        mine = tuple(group for group in groups if group.family == family)
        if any(group.judged for group in mine):
            yield family, mine


def circumstances(groups: Sequence[Group]) -> tuple[str, ...]:
    """What belongs below every table of these groups: what is not counted, and who is no model."""
    notes: list[str] = []
    ended = sum(group.ended for group in groups)
    unjudged = ended - sum(len(group.judged) for group in groups)
    still = sum(len(group.rows) for group in groups) - ended
    if unjudged:
        notes.append(
            ngettext(
                "{n} ended trial is not judged and not counted here.",
                "{n} ended trials are not judged and not counted here.",
                unjudged,
            ).format(n=unjudged)
        )
    if still:
        notes.append(
            ngettext(
                "{n} trial has not ended and is not counted here.",
                "{n} trials have not ended and are not counted here.",
                still,
            ).format(n=still)
        )
    baselines = dict.fromkeys(name for group in groups for name in group.baselines)
    if baselines:
        notes.append(
            _("Offline baselines, not LLMs, took part: {names}.").format(names=", ".join(baselines))
        )
    return tuple(notes)


def undefined_note(names: Sequence[str], groups: Sequence[Group]) -> tuple[str, ...]:
    """Which of these measures were undefined in some trials, and in how many."""
    found: list[str] = []
    for name in names:
        measures = [f.measure(name) for group in groups for _row, f in group.judged]
        n = sum(measure is not None and measure.value is None for measure in measures)
        if n:
            found.append(f"{measure_label(name)} ({n})")
    if not found:
        return ()
    return (
        _("Undefined in some trials, which are left out: {names}.").format(names=", ".join(found)),
    )

"""The records of how labels change results, and tables of them."""

from collections.abc import Iterator
from typing import Literal

from cuecard.annotate.labelling.corrections import Correction, LabelledSet, correction_table
from cuecard.core.families.registry import CORE
from cuecard.core.i18n import N_, NP_, _, beside, headed, listed, ngettext
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.aggregate import statistic_label, statistics_of
from cuecard.core.scoring.measures import measure_label, pooled_notes
from cuecard.core.tables.table import Statistic, Table, difference
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family
from cuecard.core.verdicts import ItemKind


class ItemCounts(Frozen):
    """Labelled items of one kind. `settled`: people decided them, `adjudicated` of them by adjudication; `changed`:
    differently than the machine, which left `undecided` open; `open`: people cannot tell or tie, so the machine's
    decision stands; `gold_wrong`: somebody doubts the gold; `no_support`: gold triples that only people say are
    covered, without a predicted triple known to support them.
    """

    kind: ItemKind
    settled: int = 0
    adjudicated: int = 0
    changed: int = 0
    undecided: int = 0
    open: int = 0
    gold_wrong: int = 0
    no_support: int = 0


class MeasureEffect(Frozen):
    """A measure by the judge and by people as means over tasks, with 95% intervals, and their paired `difference`
    (people minus judge). `corrected`: the value if people had labelled everything, estimated from a drawn sample; None
    without labels that could change it.
    """

    name: str
    taken: Taken
    judge: Statistic
    people: Statistic
    difference: Statistic
    corrected: Correction | None = None


class GroupEffect(Frozen):
    """One agent on the tasks of one family. `baseline`: agent, user, world or judge is an offline baseline; `decided`:
    items that the judge decided, `settled` of them also by people; `samples`: the N of Avg@N.
    """

    agent: str
    family: Family
    baseline: bool
    tasks: int
    trials: int
    labelled_trials: int
    samples: int
    decided: int
    settled: int
    items: tuple[ItemCounts, ...]
    measures: tuple[MeasureEffect, ...]

    def measure(self, name: str, taken: Taken | None = None) -> MeasureEffect | None:
        """The effect on a measure; `taken` None: in its default way of combining samples."""
        wanted = taken or statistics_of(name)[0]
        return next((m for m in self.measures if m.name == name and m.taken is wanted), None)


class RankedAgent(Frozen):
    """An agent's means and ranks, from 1; ties share the better rank. None without a value."""

    agent: str
    judge: float | None
    people: float | None
    judge_rank: int | None
    people_rank: int | None
    corrected: float | None = None
    corrected_rank: int | None = None


Order = Literal["above", "below", "level"]


class PairOrder(Frozen):
    """The order of two agents by the judge and by people. `same`: the share of resamples of the tasks in which both
    give the same order; undefined with a reason.
    """

    left: str
    right: str
    judge: Order | None
    people: Order | None
    same: Statistic


class Ranking(Frozen):
    """Agents of one family by its main measure, by the judge's scores the best first."""

    family: Family
    measure: str
    agents: tuple[RankedAgent, ...]
    pairs: tuple[PairOrder, ...]

    @property
    def changes(self) -> bool:
        return any(agent.judge_rank != agent.people_rank for agent in self.agents)


class Effect(Frozen):
    """How labels change the results of some runs. `judges`: whose judgements were scored. `sets`: drawn from these runs,
    and labelled.
    """

    runs: tuple[int, ...]
    judges: tuple[str, ...]
    people: tuple[str, ...]
    sets: tuple[LabelledSet, ...]
    groups: tuple[GroupEffect, ...]
    rankings: tuple[Ranking, ...]

    @property
    def settled(self) -> int:
        return sum(counts.settled for group in self.groups for counts in group.items)

    @property
    def changed(self) -> int:
        return sum(counts.changed for group in self.groups for counts in group.items)


FAMILY_WORDS = CORE.each(lambda family: family.label)
KIND_WORDS: dict[ItemKind, str] = {
    ItemKind.TRIPLE: N_("gold triples"),
    ItemKind.CELL: N_("cells"),
    ItemKind.ANSWER: N_("answers"),
    ItemKind.ROW: N_("whole rows"),
    ItemKind.PREDICTED: N_("predicted triples"),
    ItemKind.STATUS: N_("checkpoint statuses"),
}
_ORDERS: dict[Order, str] = {
    "above": N_("above"),
    "below": N_("below"),
    "level": NP_("neither above nor below", "level"),
}


def effect_tables(effect: Effect, *, introduced: bool = False) -> tuple[Table, ...]:
    """For each agent and family with labels a table of scores, with one of estimates if there are any; then the ranking
    of agents. Empty without labels. Unless the reader has seen the `circumstances` (`introduced`), each table of scores
    has them as notes.
    """
    if not effect.settled:
        return ()
    return tuple(_tables(effect, () if introduced else tuple(circumstances(effect))))


def circumstances(effect: Effect) -> list[str]:
    """What the numbers are based on, as sentences."""
    runs = ngettext("Run {runs}", "Runs {runs}", len(effect.runs)).format(
        runs=listed(str(run) for run in effect.runs)
    )
    lines = [
        _("{runs}, judged by {judges}; labelled by {people}.").format(
            runs=runs,
            judges=listed(effect.judges),
            people=listed(effect.people) or _("nobody"),
        )
    ]
    if not effect.groups:
        return [*lines, _("This judge has judged none of their trials.")]
    if not effect.settled:
        return [*lines, _("No item has a decision of people yet.")]
    lines.append(
        ngettext(
            "People decided on {n} item, otherwise than the judge on {changed}.",
            "People decided on {n} items, otherwise than the judge on {changed}.",
            effect.settled,
        ).format(n=effect.settled, changed=effect.changed)
    )
    lines.append(
        _(
            "“With people” takes what was adjudicated, else what most labelled blind, in place of the judge's"
            " decisions; where people decided nothing, the judge's stand."
        )
    )
    lines.append(_("Intervals are 95%, by task; differences are on the same tasks."))
    lines += [
        _(
            "Corrected scores rest on the set “{name}”, of which {settled} of {drawn} items are decided."
        ).format(name=one.name, settled=one.settled, drawn=one.drawn)
        for one in effect.sets
    ]
    if not effect.sets:
        lines.append(_("No drawn set has labels: nothing is said of the items without labels."))
    return lines


def _tables(effect: Effect, told: tuple[str, ...]) -> Iterator[Table]:
    for group in effect.groups:
        if group.items:
            scores = _scores(group)
            yield scores.noted(told)
            yield from _corrected(group)
    yield _items(effect)
    for ranking in effect.rankings:
        yield _ranks(ranking)
        yield _pairs(ranking)


def _scores(group: GroupEffect) -> Table:
    notes = [
        _(
            "{settled} of {decided} items that the judge decided on have a decision of people, on"
            " {labelled} of {trials} trials."
        ).format(
            settled=group.settled,
            decided=group.decided,
            labelled=group.labelled_trials,
            trials=group.trials,
        )
    ]
    bare = sum(counts.no_support for counts in group.items)
    if bare:
        notes.append(
            ngettext(
                "{n} triple that only people found covered has no known support: precision is a lower"
                " bound.",
                "{n} triples that only people found covered have no known support: precision is a lower"
                " bound.",
                bare,
            ).format(n=bare)
        )
    notes += pooled_notes(measure.name for measure in group.measures)
    if group.baseline:
        notes.append(_("Not all players are models: there is an offline baseline among them."))
    return Table.of(
        _title(group),
        (_("Measure"), _("judge"), _("with people"), _("difference")),
        [(_name(m, group), m.judge, m.people, difference(m.difference)) for m in group.measures],
        notes,
        view="effect",
    )


def _title(group: GroupEffect) -> str:
    tasks = ngettext("{n} task", "{n} tasks", group.tasks).format(n=group.tasks)
    return _("{family}: agent {agent}, {tasks}").format(
        family=_(FAMILY_WORDS[group.family]), agent=group.agent, tasks=tasks
    )


def _corrected(group: GroupEffect) -> Iterator[Table]:
    told = [
        (_name(m, group), m.judge, m.corrected) for m in group.measures if m.corrected is not None
    ]
    if any(one.corrected.defined for _name, _judge, one in told):
        title = _("{agent}: corrected by labels").format(agent=group.agent)
        yield correction_table(title, told)


def _items(effect: Effect) -> Table:
    return Table.of(
        _("Items that people labelled"),
        (
            _("Items"),
            _("decided"),
            _("adjudicated"),
            _("changed"),
            _("judge left open"),
            _("people left open"),
            _("gold wrong"),
        ),
        [
            (
                headed(group.agent, _(KIND_WORDS[counts.kind])),
                counts.settled,
                counts.adjudicated,
                counts.changed,
                counts.undecided,
                counts.open,
                counts.gold_wrong,
            )
            for group in effect.groups
            for counts in group.items
        ],
        view="effect",
    )


def _ranks(ranking: Ranking) -> Table:
    told = any(one.corrected is not None for one in ranking.agents)
    return Table.of(
        _("{family}: agents by {measure}").format(
            family=_(FAMILY_WORDS[ranking.family]), measure=measure_label(ranking.measure)
        ),
        (
            *(_("Agent"), _("judge"), _("rank"), _("with people"), _("rank")),
            *((_("corrected"), _("rank")) if told else ()),
        ),
        [
            (
                one.agent,
                _plain(one.judge),
                str(one.judge_rank or "–"),
                _plain(one.people),
                str(one.people_rank or "–"),
                *((_plain(one.corrected), str(one.corrected_rank or "–")) if told else ()),
            )
            for one in ranking.agents
        ],
        view="effect",
    )


def _pairs(ranking: Ranking) -> Table:
    return Table.of(
        _("Order of each pair"),
        (_("Pair"), _("judge"), _("with people"), _("resamples with the same order")),
        [
            (
                _("{left} to {right}").format(left=pair.left, right=pair.right),
                _(_ORDERS[pair.judge]) if pair.judge else "–",
                _(_ORDERS[pair.people]) if pair.people else "–",
                pair.same,
            )
            for pair in ranking.pairs
        ],
        dict.fromkeys(pair.same.reason for pair in ranking.pairs if pair.same.reason),
        view="effect",
    )


def _name(measure: MeasureEffect, group: GroupEffect) -> str:
    taken = statistic_label(measure.taken, group.samples) if group.samples > 1 else ""
    return beside(measure_label(measure.name), taken)


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"

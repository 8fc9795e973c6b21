"""Whose fault failed trials are, by people and by proposers, and how far proposers agree with people."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficients import (
    cohen_coefficient,
    fleiss_coefficient,
    percent_coefficient,
)
from cuecard.annotate.agreement.linearisation import linearised
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.results.errors.causes import BARS, failed, fell_short
from cuecard.annotate.results.errors.rates import (
    Rate,
    across,
    counted,
    flagged,
    number,
    share_with_count,
)
from cuecard.annotate.results.pool import Pool, Row
from cuecard.core.evaluation.blame import RULE, Blame, Party, blames_of
from cuecard.core.i18n import _, joined, ngettext
from cuecard.core.scoring.measures import measure_label
from cuecard.core.scoring.trial_score import score_trial
from cuecard.core.tables.table import Cell, Shown, Table, cell
from cuecard.core.verdicts import Judgement, Measures

if TYPE_CHECKING:
    from cuecard.annotate.results.trial_record import OpenedTrial
    from cuecard.store.workspace import Workspace


_PEOPLE = ""
"""The source that is what most people say; no proposer is called so."""
_FEWEST_UNSEEN = 5
"""Of fewer trials of which a reader has said nothing, shares would tell what others said of each."""


def failed_trials(pool: Pool) -> tuple[Row, ...]:
    """The failed trials of a pool, each once, in its order."""
    return tuple({row.trial.id: row for row in pool.rows if failed(row)}.values())


def none_to_blame(opened: OpenedTrial, judgements: Iterable[Judgement]) -> str:
    """Why nobody is asked whose fault this trial is: it failed by none of these judgements. "" where it failed by one."""
    trial = opened.trial
    every = [Measures.of(score_trial(opened.task, opened.events, one)) for one in judgements]
    short = [fell_short(trial, one.value) for one in every] or [
        fell_short(trial, lambda _name: None)
    ]
    if any(short):
        return ""
    why = _("This trial did not fail, by its {measure}.")
    if None in short:
        why = _("Whether this trial failed is not known: it has no {measure} yet.")
    why = why.format(measure=measure_label(BARS[trial.family][0]))
    return joined((why, _("Only failed trials are asked about.")))


def said_of(workspace: Workspace, rows: Sequence[Row]) -> list[Blame]:
    """All that was said of these trials."""
    return blames_of(workspace, [row.trial.id for row in rows])


def shown_to(person: str, said: Collection[Blame]) -> tuple[Blame, ...]:
    """What a person may see of what was said: nothing of trials of which they have not said anything themselves."""
    spoken = {blame.trial_id for blame in said if not blame.proposed and blame.by == person}
    return tuple(blame for blame in said if blame.trial_id in spoken)


def blame_tables(rows: Sequence[Row], said: Collection[Blame], reader: str) -> tuple[Table, ...]:
    """Shares of the parties by agent, a table for each source, and the agreement of proposers with people. Nothing where
    nobody said anything. The trials behind a share are those of which `reader` has said something; fewer others than
    five enter no share.
    """
    if not said:
        return ()
    seen = frozenset(blame.trial_id for blame in shown_to(reader, said))
    people: dict[int, dict[str, Party]] = defaultdict(dict)
    proposed: dict[str, dict[int, Party]] = defaultdict(dict)
    for blame in said:
        if blame.proposed:
            proposed[blame.by][blame.trial_id] = blame.party
        else:
            people[blame.trial_id][blame.by] = blame.party
    by_source: dict[str, Mapping[int, Party]] = {
        _PEOPLE: {id_: party for id_, each in people.items() if (party := _most(each.values()))},
        **dict(sorted(proposed.items())),
    }
    shares = (_shares(rows, name, found, seen) for name, found in by_source.items() if found)
    return tuple(filter(None, (*shares, _agreement(rows, people, proposed))))


def _most(parties: Collection[Party]) -> Party | None:
    """What most say; None where two parties are named equally often."""
    (first, count), *others = Counter(parties).most_common()
    return None if others and others[0][1] == count else first


def _shares(
    rows: Sequence[Row], source: str, found: Mapping[int, Party], seen: Collection[int]
) -> Table:
    """How many of each agent's trials this source lays to each party."""
    by_agent: dict[str, list[Row]] = defaultdict(list)
    left: list[Row] = []
    for row in rows:
        if row.trial.id in found:
            agent = row.trial.agent
            told = _("{name} (baseline)").format(name=agent.name) if agent.baseline else agent.name
            by_agent[told].append(row)
    arms: list[tuple[str, tuple[Sequence[Row], Mapping[Party, Rate]]]] = []
    for agent, own in sorted(by_agent.items()):
        unseen = [row for row in own if row.trial.id not in seen]
        if len(unseen) < _FEWEST_UNSEEN:
            left += unseen
            own = [row for row in own if row.trial.id in seen]
        if own:
            plans = {
                party: flagged(party, ((row, found[row.trial.id] is party) for row in own))
                for party in Party
            }
            arms.append((agent, (own, counted(plans))))

    def party_cell(rate: Rate) -> Cell:
        behind = tuple(id_ for id_ in rate.trials if id_ in seen)
        return share_with_count(rate.model_copy(update={"trials": behind}))

    notes = [
        _("Trials, and percent of them; intervals 95%, by task."),
        _("People: what most of those said who looked at a trial; where they tie it is left out.")
        if source == _PEOPLE
        else _(
            "Proposals are a model's. A person sees them, and the trials behind a share, only of trials of which they have said something."
        ),
    ]
    if left:
        notes.append(
            ngettext(
                "{n} trial is left out until you have said whose fault it is: a share of so few would give away each.",
                "{n} trials are left out until you have said whose fault they are: a share of so few would give away each.",
                len(left),
            ).format(n=len(left))
        )
    lines: list[tuple[str, Callable[[tuple[Sequence[Row], Mapping[Party, Rate]]], Cell]]] = [
        (_("trials"), lambda arm: number(len(arm[0]), [r.trial.id for r in arm[0]])),
        *((party.label, lambda arm, party=party: party_cell(arm[1][party])) for party in Party),
    ]
    title = _("Whose fault failed trials are: {source}").format(source=_source(source))
    return across(title, _("Fault"), arms, lines if arms else (), notes)


def _source(name: str) -> str:
    if name == _PEOPLE:
        return _("people")
    return _("by rule (baseline)") if name == RULE else name


def _agreement(
    rows: Sequence[Row],
    people: Mapping[int, Mapping[str, Party]],
    proposed: Mapping[str, Mapping[int, Party]],
) -> Table | None:
    tasks = {row.trial.id: row.trial.task_id for row in rows}
    domain = [party.value for party in Party]
    most = {id_: party for id_, each in people.items() if (party := _most(each.values()))}
    lines: list[Sequence[Shown]] = []
    for name, found in sorted(proposed.items()):
        both = [id_ for id_ in most if id_ in found and id_ in tasks]
        if not both:
            continue
        ratings = Ratings.from_rows(
            [
                *((str(id_), "people", most[id_].value) for id_ in both),
                *((str(id_), "proposer", found[id_].value) for id_ in both),
            ],
            domain=domain,
        )
        groups = [tasks[int(item)] for item in ratings.items]
        lines.append(
            (
                _("{proposer} with people").format(proposer=_source(name)),
                cell(len(both), trials=both),
                linearised(percent_coefficient(ratings), groups),
                linearised(cohen_coefficient(ratings), groups),
            )
        )
    several = {id_: each for id_, each in people.items() if len(each) > 1 and id_ in tasks}
    if several:
        told = [(str(i), name, p.value) for i, each in several.items() for name, p in each.items()]
        ratings = Ratings.from_rows(told, domain=domain)
        groups = [tasks[int(item)] for item in ratings.items]
        lines.append(
            (
                _("people with each other"),
                cell(len(several), trials=several),
                linearised(percent_coefficient(ratings), groups),
                linearised(fleiss_coefficient(ratings), groups),
            )
        )
    if not lines:
        return None
    return Table.of(
        _("Agreement on whose fault it is"),
        (_("Who"), _("Trials"), _("Percent"), _("Kappa")),
        lines,
        notes=(
            _(
                "Where a proposer agrees little with people, its shares say little; people's stand above."
            ),
        ),
    )

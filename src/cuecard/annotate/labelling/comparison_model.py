"""The records of a comparison: raters, statistics, what people changed after a reveal, and the names of all these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from cuecard.annotate.agreement.intervals import with_intervals
from cuecard.annotate.agreement.ratings import MISSING, Ratings
from cuecard.annotate.agreement.tables import (
    AgreementTable,
    CeilingTable,
    JudgeDifference,
    ReferenceTable,
)
from cuecard.annotate.labelling.comparison_inputs import Case, ComparisonInputs, GroupBy, Subject
from cuecard.core.i18n import N_, _, beside, listed, ngettext
from cuecard.core.tables.table import Statistic, share
from cuecard.core.tasks.base import Frozen

Role = Literal["judge", "person", "majority", "adjudicated", "settled"]


class Rater(Frozen):
    """One side of a comparison. `majority`: what most people said, without ties; `adjudicated`: what was decided on
    disputed items; `settled`: the adjudicated value if there is one, else the majority. These three have no name.
    """

    role: Role
    name: str = ""

    @property
    def key(self) -> str:
        """A unique name of the rater: a judge and a person may have the same."""
        return f"{self.role}:{self.name}" if self.name else self.role

    @classmethod
    def of_key(cls, key: str) -> Rater:
        """The rater of this key."""
        role, _colon, name = key.partition(":")
        return cls.model_validate({"role": role, "name": name})


MAJORITY = Rater(role="majority")
ADJUDICATED = Rater(role="adjudicated")
SETTLED = Rater(role="settled")


@dataclass(frozen=True)
class Columns:
    """The labels of some raters on the `cases` that all of them decided, with groups and weights."""

    cases: tuple[Case, ...]
    ratings: Ratings
    groups: tuple[str, ...]
    weights: tuple[float, ...] | None


def said_by(rater: Rater, case: Case) -> str:
    """The rater's label of the case, "" if there is none."""
    match rater.role:
        case "judge":
            return case.decisions.get(rater.name, "")
        case "person":
            return case.labels.get(rater.name, "")
        case "majority":
            return case.majority
        case "adjudicated":
            return case.adjudicated
        case "settled":
            return case.adjudicated or case.majority


def columns_of(
    inputs: ComparisonInputs,
    raters: Sequence[Rater],
    *,
    gaps: bool = False,
    least: int = 0,
) -> Columns:
    """The raters' labels on those cases that all of them decided; with `gaps` on those that any
    of them did, with at least `least` people.
    """
    people = [rater for rater in raters if rater.role != "judge"]
    needed = max(1, least) if gaps else len(people)

    def labelled(case: Case) -> int:
        return sum(said_by(each, case) in code for each in people)

    code = {label: number for number, label in enumerate(inputs.domain)}
    chosen: list[Case] = []
    codes: list[tuple[int, ...]] = []
    for case in inputs.cases:
        row = tuple(code.get(said_by(rater, case), MISSING) for rater in raters)
        if (any if gaps else all)(label != MISSING for label in row) and labelled(case) >= least:
            chosen.append(case)
            codes.append(row)
    keys = tuple(rater.key for rater in raters)
    names = tuple(case.name for case in chosen)
    return Columns(
        cases=tuple(chosen),
        ratings=Ratings(names, keys, inputs.domain, tuple(codes)),
        groups=tuple(case.task for case in chosen),
        weights=inputs.weights(chosen, lambda case: labelled(case) >= needed),
    )


def references_of(inputs: ComparisonInputs) -> tuple[Rater, ...]:
    """The references for judges. The first stands for all people: the majority of blind labels (with one person, that
    person). What was adjudicated comes later, because an adjudicator has seen the decisions.
    """
    people = people_of(inputs)
    first = (MAJORITY,) if len(people) > 1 else people
    adjudicated = any(case.adjudicated for case in inputs.cases)
    others = people if len(people) > 1 else ()
    return (*first, *((SETTLED, ADJUDICATED) if adjudicated else ()), *others)


def judges_of(inputs: ComparisonInputs) -> tuple[Rater, ...]:
    return tuple(Rater(role="judge", name=name) for name in inputs.judges)


def people_of(inputs: ComparisonInputs) -> tuple[Rater, ...]:
    return tuple(Rater(role="person", name=name) for name in inputs.people)


def pairs_of(inputs: ComparisonInputs) -> Iterator[tuple[Rater, Rater]]:
    """Every judge against every reference, then every two people."""
    for judge in judges_of(inputs):
        for reference in references_of(inputs):
            yield judge, reference
    yield from combinations(people_of(inputs), 2)


class Anchoring(Frozen):
    """Whether people change labels to agree with the judge. Of `looked` items that a person ("": all people) labelled
    blind and again after the reveal: `changed`, the share labelled otherwise; `towards`, of those where they had
    disagreed with the judge, the share changed to its decision; `away`, of those where they had agreed, the share
    changed. If judges differ on an item, it counts only in `changed`. Intervals by task. Items labelled only once do
    not count.
    """

    person: str
    looked: int
    changed: Statistic
    towards: Statistic
    away: Statistic


def anchoring_of(inputs: ComparisonInputs) -> tuple[Anchoring, ...]:
    """Anchoring of all people together, then of each; empty if nobody labelled again after a reveal."""
    people = sorted({who for case in inputs.cases for who in case.revealed if who in case.labels})
    if not people:
        return ()
    rows = [("", people), *((who, [who]) for who in people if len(people) > 1)]
    return tuple(_of(inputs.cases, name, who) for name, who in rows)


def _of(cases: Iterable[Case], name: str, people: Iterable[str]) -> Anchoring:
    chosen = set(people)
    changed: list[tuple[bool, str]] = []
    towards: list[tuple[bool, str]] = []
    away: list[tuple[bool, str]] = []
    for case in cases:
        judged = set(case.decisions.values())
        for who in chosen & case.revealed.keys() & case.labels.keys():
            before, after = case.labels[who], case.revealed[who]
            changed.append((before != after, case.task))
            if len(judged) != 1:
                continue
            if before in judged:
                away.append((before != after, case.task))
            else:
                towards.append((after in judged, case.task))
    return Anchoring(
        person=name,
        looked=len(changed),
        changed=_share("changed", changed),
        towards=_share("towards", towards),
        away=_share("away", away),
    )


def _share(name: str, flags: list[tuple[bool, str]]) -> Statistic:
    if not flags:
        return Statistic(name=name, value=None, n=0, reason=_("no such item was looked at again"))
    counted = share(name, [flag for flag, _task in flags])
    return with_intervals([counted], [task for _flag, task in flags])[0]


class Pair(Frozen):
    """Two raters on the items that both decided. `reference`: the first against the second as the reference, None for
    two people, of whom neither is the truth.
    """

    left: Rater
    right: Rater
    table: AgreementTable
    reference: ReferenceTable | None = None

    @property
    def n(self) -> int:
        return self.table.paired

    def statistic(self, name: str) -> Statistic | None:
        """The statistic with this name in either table."""
        for table in (self.table, self.reference):
            row = table.row(name) if table else None
            if row:
                return row.statistic
        return None


class Group(Frozen):
    """A judge against `reference` on the items whose property `by` is `value` ("" for none)."""

    by: GroupBy
    value: str
    judge: str
    reference: Rater
    n: int
    tasks: int
    statistics: tuple[Statistic, ...]

    def statistic(self, name: str) -> Statistic | None:
        return next((found for found in self.statistics if found.name == name), None)


class Comparison(Frozen):
    """How judges and people agree about one subject, from blind labels.

    `population`: items that machines decided on (None: not counted), of which `labelled`, on `tasks` tasks;
    `unsure` labels said "cannot tell" and `unjudged` decisions were left open: both are missing.
    `weighted`: items count by the inverse of the probability with which they were drawn (`from_set`), spread over
    what is not labelled of their stratum; `bare`: strata of which nothing is labelled, with their shares.
    `baselines` are those of the judges that are no models. `pairs`: every judge against every one of
    `references`, then every two people; `humans`: all people together, None with fewer than two;
    `ceilings` and `differences`: judges beside what people reach, and two judges on the same items;
    `groups` against the first reference. `causes`: how often each was found in adjudication.
    """

    subject: Subject
    subjects: tuple[tuple[Subject, int], ...]
    domain: tuple[str, ...]
    population: int | None
    labelled: int
    tasks: int
    unsure: int
    unjudged: int
    from_set: bool
    weighted: bool
    bare: tuple[tuple[str, float], ...]
    judges: tuple[str, ...]
    baselines: tuple[str, ...]
    people: tuple[str, ...]
    references: tuple[Rater, ...]
    pairs: tuple[Pair, ...]
    humans: AgreementTable | None
    ceilings: tuple[CeilingTable, ...]
    differences: tuple[JudgeDifference, ...]
    groups: tuple[Group, ...]
    anchoring: tuple[Anchoring, ...]
    adjudicated: int
    causes: tuple[tuple[str, int], ...]

    def pair(self, left: Rater, right: Rater) -> Pair | None:
        return next((p for p in self.pairs if p.left == left and p.right == right), None)

    def against(self, reference: Rater) -> tuple[Pair, ...]:
        """Every judge against this reference."""
        return tuple(p for p in self.pairs if p.left.role == "judge" and p.right == reference)

    @property
    def between_people(self) -> tuple[Pair, ...]:
        return tuple(p for p in self.pairs if p.left.role == "person")


SUBJECT_WORDS: dict[Subject, str] = {
    "gold": N_("gold items"),
    "predicted": N_("predicted triples"),
    "row": N_("whole rows"),
    "cue": N_("cues"),
    "leak": N_("leaks"),
    "status": N_("checkpoint statuses"),
}
GROUP_WORDS: dict[GroupBy, str] = {
    "family": N_("Family"),
    "language": N_("Language"),
    "relation": N_("Relation"),
    "agent": N_("Agent"),
    "kind": N_("Kind of item"),
}
STATISTIC_WORDS: dict[str, str] = {
    "percent": N_("percent agreement"),
    "cohen_kappa": N_("Cohen's kappa"),
    "scott_pi": N_("Scott's pi"),
    "fleiss_kappa": N_("Fleiss' kappa"),
    "brennan_prediger": N_("PABAK"),
    "alpha": N_("Krippendorff's alpha"),
    "ac1": N_("Gwet's AC1"),
    "kappa_linear": N_("kappa, linear weights"),
    "kappa_quadratic": N_("kappa, quadratic weights"),
    "ac2_ordinal": N_("Gwet's AC2, ordinal"),
    "ac2_quadratic": N_("Gwet's AC2, quadratic"),
    "alpha_ordinal": N_("alpha, ordinal"),
    "alpha_interval": N_("alpha, interval"),
    "alpha_ratio": N_("alpha, ratio"),
    "balanced_accuracy": N_("balanced accuracy"),
    "mcc": N_("Matthews' correlation"),
}
_OF_LABEL: dict[str, str] = {
    "precision": N_("precision, {label}"),
    "recall": N_("recall, {label}"),
    "f1": N_("F1, {label}"),
}
_LABELS: dict[Subject, tuple[str, str]] = {
    "gold": (N_("covered"), N_("not covered")),
    "row": (N_("covered"), N_("not covered")),
    "predicted": (N_("right"), N_("not right")),
    "cue": (N_("met"), N_("not met")),
    "leak": (N_("leak"), N_("no leak")),
}


def label_word(subject: Subject | None, label: str) -> str:
    """A label for display; labels of a CSV file (no subject) and statuses are shown as they are."""
    words = _LABELS.get(subject) if subject else None
    if words is None or label not in ("yes", "no"):
        return label
    return _(words[0] if label == "yes" else words[1])


def statistic_word(name: str, subject: Subject | None = None) -> str:
    kind, _colon, label = name.partition(":")
    if label and kind in _OF_LABEL:
        return _(_OF_LABEL[kind]).format(label=label_word(subject, label))
    return _(STATISTIC_WORDS.get(name, name))


def rater_word(rater: Rater) -> str:
    match rater.role:
        case "majority":
            return _("most people")
        case "adjudicated":
            return _("adjudicated")
        case "settled":
            return _("adjudicated, else most people")
        case "judge":
            return _("judge {name}").format(name=rater.name)
        case "person":
            return rater.name


def circumstances(found: Comparison) -> list[str]:
    """What the numbers are based on and how items count, as sentences."""
    lines = [
        _(
            "About {subject} on {tasks} tasks, from blind labels; intervals are 95%, by task."
        ).format(subject=_(SUBJECT_WORDS[found.subject]), tasks=found.tasks),
        _(
            "Items count by the inverse of the chance with which they were drawn; those that are not labelled are taken"
            " to be like the others of their stratum."
        )
        if found.weighted
        else _("Every item counts alike (not weighted)."),
    ]
    if found.bare:
        told = listed(beside(name, f"{share:.0%}") for name, share in found.bare)
        lines.append(
            _(
                "No labels in these strata, with their share of the items: {strata}. Figures speak for the others."
            ).format(strata=told)
        )
    if found.unsure or found.unjudged:
        lines.append(
            _("Missing: {labels}, {decisions}.").format(
                labels=ngettext(
                    "{n} label “cannot tell”", "{n} labels “cannot tell”", found.unsure
                ).format(n=f"{found.unsure:,}"),
                decisions=ngettext(
                    "{n} decision left open", "{n} decisions left open", found.unjudged
                ).format(n=f"{found.unjudged:,}"),
            )
        )
    if found.baselines:
        lines.append(
            _("{judges}: an offline baseline, not an LLM.").format(judges=listed(found.baselines))
        )
    others = [each for each in found.subjects if each[0] != found.subject]
    if others:
        told = listed(beside(_(SUBJECT_WORDS[subject]), f"{n:,}") for subject, n in others)
        lines.append(_("Labelled too, and shown apart: {others}.").format(others=told))
    return lines

"""A comparison of judges with people as tables (tables of lines of cells)."""

from collections.abc import Iterator, Sequence

from cuecard.annotate.agreement.tables import AgreementTable
from cuecard.annotate.labelling.adjudication import CAUSES
from cuecard.annotate.labelling.comparison import Place
from cuecard.annotate.labelling.comparison_inputs import GROUPINGS
from cuecard.annotate.labelling.comparison_model import (
    GROUP_WORDS,
    Comparison,
    Group,
    Pair,
    Rater,
    label_word,
    rater_word,
    statistic_word,
)
from cuecard.core.i18n import _, headed, listed
from cuecard.core.label_records import LabelValue
from cuecard.core.tables.table import Cell, Shown, Statistic, Table, cell, difference

MAIN = ("percent", "cohen_kappa", "scott_pi", "brennan_prediger", "alpha", "ac1")
_KINDS = ("precision", "recall", "f1")
_SHORT = ("percent", "cohen_kappa", "ac1")


def tables_of(found: Comparison) -> tuple[Table, ...]:
    """Every table that has anything to say, in reading order."""
    whole = [_against(found, ref, pairs) for ref, pairs in _references(found)]
    first = short_tables(found)
    both = [table for pair in zip(first, whole, strict=False) for table in pair]
    return (*both, *first[len(whole) :], *_matrices(found), *more_tables(found))


def short_tables(found: Comparison) -> tuple[Table, ...]:
    """What is read first: judges against people by the few figures that say most, and people among themselves."""
    people = (_people(found),) if found.between_people else ()
    return (*(_first(found, ref, pairs) for ref, pairs in _references(found)), *people)


def judge_word(found: Comparison, name: str) -> str:
    """A judge's name, with a note if it is a baseline and no model."""
    said = rater_word(Rater(role="judge", name=name))
    return _("{judge} (baseline)").format(judge=said) if name in found.baselines else said


def side_word(found: Comparison, rater: Rater) -> str:
    return judge_word(found, rater.name) if rater.role == "judge" else rater_word(rater)


def _references(found: Comparison) -> Iterator[tuple[Rater, Sequence[Pair]]]:
    for reference in found.references:
        if pairs := found.against(reference):
            yield reference, pairs


_YES, _NO = LabelValue.YES.value, LabelValue.NO.value


def _first(found: Comparison, reference: Rater, pairs: Sequence[Pair]) -> Table:
    """A line a judge: percent, kappa with its interval, and what it lets pass and refuses; below, what follows from it."""
    binary = {_YES, _NO} <= set(found.domain)
    sides = (("recall", _YES), ("recall", _NO)) if binary else ()
    lines: list[Sequence[Shown]] = []
    for pair in pairs:
        name = pair.left.name
        lines.append(
            (
                _("{judge} (baseline)").format(judge=name) if name in found.baselines else name,
                Cell(f"{pair.n:,} ({pair.table.groups or 0:,})", _place(pair)),
                cell(_alone(pair.statistic("percent")), _place(pair)),
                cell(pair.statistic("cohen_kappa"), _place(pair)),
                *(
                    cell(_alone(pair.statistic(f"{kind}:{label}")), _place(pair, column=label))
                    for kind, label in sides
                ),
            )
        )
    return Table.of(
        _("Judges against {reference}").format(reference=rater_word(reference)),
        (
            _("Judge"),
            _("n (tasks)"),
            _("Percent"),
            _("Kappa"),
            *((_("Sensitivity"), _("Specificity")) if binary else ()),
        ),
        lines,
        [*(conclusion(found, pair) for pair in pairs)],
        view="table",
    )


def _alone(statistic: Statistic | None) -> Statistic | None:
    """Without its interval: that of kappa stands for the pair."""
    none = {"low": None, "high": None, "no_interval": ""}
    return statistic and statistic.model_copy(update=none)


_CLOSE, _FAIR, _APART = 0.8, 0.6, 0.05
"""Bounds of the words about kappa's interval (Landis & Koch 1977 call these almost perfect and substantial), and how
far sensitivity and specificity must lie apart to be told.
"""


def conclusion(found: Comparison, pair: Pair) -> str:
    """In one sentence what may be concluded of a judge: how far it stands in for people, and to which side it errs."""
    judge = judge_word(found, pair.left.name)
    kappa = pair.statistic("cohen_kappa")
    if kappa is None or kappa.value is None or kappa.interval is None:
        why = (kappa.remark if kappa else "") or _("too few labels")
        return _("{judge}: nothing may be concluded yet ({why}).").format(judge=judge, why=why)
    low, high = kappa.interval
    if low >= _CLOSE:
        told = _("{judge} decides nearly as people do (kappa at least {low:.2f})")
    elif low >= _FAIR:
        told = _("{judge} mostly decides as people do (kappa at least {low:.2f})")
    elif high < _FAIR:
        told = _("{judge} does not stand in for people (kappa at most {high:.2f})")
    else:
        told = _(
            "These labels do not tell whether {judge} stands in for people (kappa {low:.2f} to {high:.2f})"
        )
    told = told.format(judge=judge, low=low, high=high)
    passes, refuses = (pair.statistic(f"recall:{label}") for label in (_YES, _NO))
    if not passes or not refuses or passes.value is None or refuses.value is None:
        return _("{sentence}.").format(sentence=told)
    if passes.value - refuses.value > _APART:
        return _(
            "{sentence}; it errs by accepting what people refuse, so scores by it are rather too high."
        ).format(sentence=told)
    if refuses.value - passes.value > _APART:
        return _(
            "{sentence}; it errs by refusing what people accept, so scores by it are rather too low."
        ).format(sentence=told)
    return _("{sentence}; it errs to both sides alike.").format(sentence=told)


def _against(found: Comparison, reference: Rater, pairs: Sequence[Pair]) -> Table:
    humans = found.humans
    lines: list[list[Shown]] = [
        [
            _("n (tasks)"),
            *(Cell(f"{pair.n:,} ({pair.table.groups or 0:,})", _place(pair)) for pair in pairs),
            *([f"{humans.paired:,} ({humans.groups or 0:,})"] if humans else []),
        ]
    ]
    for name in (*MAIN, *_of_labels(found), "balanced_accuracy", "mcc"):
        label = name.partition(":")[2]
        line: list[Shown] = [statistic_word(name, found.subject)]
        line += (cell(p.statistic(name), _place(p, either=label)) for p in pairs)
        line += [_of_people(humans, name)] if humans else []
        lines.append(line)
    judges = [judge_word(found, pair.left.name) for pair in pairs]
    return Table.of(
        _("Every figure: judges against {reference}").format(reference=rater_word(reference)),
        (_("Statistic"), *judges, *([_("among people")] if humans else [])),
        lines,
        _notes(found, pairs),
        view="table",
    )


def _notes(found: Comparison, pairs: Sequence[Pair]) -> tuple[str, ...]:
    """All notes, each once, naming the judges it applies to unless it applies to all."""
    about: dict[str, list[str]] = {}
    for pair in pairs:
        for note in pair.table.notes:
            about.setdefault(note.text, []).append(judge_word(found, pair.left.name))
    return tuple(
        text if len(judges) == len(pairs) else headed(listed(judges), text)
        for text, judges in about.items()
    )


def _of_labels(found: Comparison) -> Iterator[str]:
    for kind in reversed(_KINDS):
        yield from (f"{kind}:{label}" for label in found.domain)


def _of_people(table: AgreementTable, name: str) -> Statistic | None:
    """The statistic of people beside a judge's; for kappa and pi their generalisation to any number of raters."""
    kind, _colon, label = name.partition(":")
    if kind == "f1":
        rows = [row for row in table.label_rows if row.label == label]
        return rows[0].either if rows else None
    row = table.row("fleiss_kappa" if name in ("cohen_kappa", "scott_pi") else name)
    return row.statistic if row else None


def _people(found: Comparison) -> Table:
    lines: list[Sequence[Shown]] = [
        _short(f"{rater_word(pair.left)} · {rater_word(pair.right)}", pair, _place(pair))
        for pair in found.between_people
    ]
    if found.humans and len(found.people) > 2:
        table = found.humans
        rows = [table.row(name) for name in ("percent", "fleiss_kappa", "ac1")]
        lines.append((_("all people"), table.paired, *(row and row.statistic for row in rows)))
    return Table.of(
        _("People among themselves"),
        (_("Between"), "n", *map(statistic_word, _SHORT)),
        lines,
        [note.text for note in found.humans.notes] if found.humans else (),
        view="table",
    )


def _short(name: str, of: Pair | Group, place: Place) -> Sequence[Shown]:
    """The short statistics of a pair, with its n."""
    return (name, cell(of.n, place), *(cell(of.statistic(each), place) for each in _SHORT))


def _matrices(found: Comparison) -> Iterator[Table]:
    """Of each pair the confusion matrix; of a judge with a reference also agreement by label."""
    for pair in found.pairs:
        matrix = pair.table.confusion
        if matrix is None or not pair.n:
            continue
        left, right = side_word(found, pair.left), side_word(found, pair.right)
        words = [label_word(found.subject, label) for label in matrix.labels]
        lines: list[list[Shown]] = []
        for label, word, counts in zip(matrix.labels, words, matrix.counts, strict=True):
            cells = [
                cell(n, _place(pair, row=label, column=other))
                for other, n in zip(matrix.labels, counts, strict=True)
            ]
            lines.append([word, *cells, cell(sum(counts), _place(pair, row=label))])
        totals = [
            cell(sum(column), _place(pair, column=label))
            for label, column in zip(matrix.labels, zip(*matrix.counts, strict=True), strict=True)
        ]
        lines.append([_("together"), *totals, cell(matrix.n, _place(pair))])
        yield Table.of(
            _("{rows} (down) and {columns} (across)").format(rows=left, columns=right),
            ("", *words, _("together")),
            lines,
            [_("Counts of items, not weighted.")] if found.weighted else (),
            view="matrix",
        )
        if pair.reference is not None:
            yield _by_label(found, pair, left, right)


def _by_label(found: Comparison, pair: Pair, left: str, right: str) -> Table:
    """Agreement overall and by label, as meta-evaluations report it."""
    overall = next((row.either for row in pair.table.label_rows if row.label is None), None)
    whole = cell(overall, _place(pair))
    lines: list[Sequence[Shown]] = [(_("overall"), cell(pair.n, _place(pair)), *[whole] * 3)]
    for label in found.domain:
        given, wanted, both = (pair.statistic(f"{kind}:{label}") for kind in _KINDS)
        lines.append(
            (
                label_word(found.subject, label),
                cell(given.n if given else 0, _place(pair, row=label)),
                cell(given, _place(pair, row=label)),
                cell(wanted, _place(pair, column=label)),
                cell(both, _place(pair, either=label)),
            )
        )
    return Table.of(
        _("Agreement by label: {judge} and {reference}").format(judge=left, reference=right),
        (_("Label of the judge"), "n", _("people agree"), _("judge agrees"), _("F1")),
        lines,
        tuple(note.text for note in pair.table.notes),
        view="matrix",
    )


def _place(pair: Pair, *, row: str = "", column: str = "", either: str = "") -> Place:
    return Place(left=pair.left, right=pair.right, row=row, column=column, either=either)


def more_tables(found: Comparison) -> Iterator[Table]:
    yield from _groups(found)
    yield from _differences(found)
    yield from _ceilings(found)
    yield from _anchoring(found)
    yield from _causes(found)


def _groups(found: Comparison) -> Iterator[Table]:
    for judge in found.judges:
        for by in GROUPINGS:
            groups = [group for group in found.groups if (group.judge, group.by) == (judge, by)]
            if groups:
                word, rater = _(GROUP_WORDS[by]), Rater(role="judge", name=judge)
                yield Table.of(
                    _("{group}: {judge} against {reference}").format(
                        group=word,
                        judge=judge_word(found, judge),
                        reference=rater_word(groups[0].reference),
                    ),
                    (word, _("n (tasks)"), *map(statistic_word, _SHORT)),
                    [_group(group, rater) for group in groups],
                    view="groups",
                )


def _group(group: Group, judge: Rater) -> Sequence[Shown]:
    place = Place(left=judge, right=group.reference, by=group.by, value=group.value)
    _name, _n, *figures = _short("", group, place)
    n = f"{group.n:,} ({group.tasks:,})"
    return (Cell(group.value or "–", place), Cell(n, place), *figures)


def _differences(found: Comparison) -> Iterator[Table]:
    for each in found.differences:
        one, other = Rater.of_key(each.one), Rater.of_key(each.other)
        reference = Rater.of_key(each.reference)
        yield Table.of(
            _("Two judges on the same {n} items, against {reference}").format(
                n=f"{each.n:,}", reference=rater_word(reference)
            ),
            (
                _("Statistic"),
                judge_word(found, one.name),
                judge_word(found, other.name),
                _("difference"),
            ),
            [
                (
                    statistic_word(row.name, found.subject),
                    cell(left.statistic, Place(left=one, right=reference)),
                    cell(right.statistic, Place(left=other, right=reference)),
                    difference(row.statistic, place=Place(left=one, right=other)),
                )
                for row, left, right in zip(each.rows, each.ones, each.others, strict=True)
                if row.name != "fleiss_kappa"
            ],
            (_("Intervals of the difference draw the same tasks for both judges."),),
            view="judges",
        )


def _ceilings(found: Comparison) -> Iterator[Table]:
    for each in found.ceilings:
        sides = (each.judge_people, each.people_people, each.difference)
        yield Table.of(
            _("{judge} beside people, on {n} items that two people labelled").format(
                judge=judge_word(found, Rater.of_key(each.judge).name), n=f"{each.n:,}"
            ),
            (_("Mean over pairs"), _("judge and people"), _("among people"), _("difference")),
            [
                (
                    statistic_word(ours.name),
                    ours.statistic,
                    theirs.statistic,
                    difference(apart.statistic),
                )
                for ours, theirs, apart in zip(*sides, strict=True)
            ],
            view="judges",
        )


def _anchoring(found: Comparison) -> Iterator[Table]:
    if found.anchoring:
        yield Table.of(
            _("Labels given again with the decision in view"),
            (_("Person"), "n", _("changed"), _("to the judge's"), _("away from it")),
            [
                (each.person or _("all people"), each.looked, each.changed, each.towards, each.away)
                for each in found.anchoring
            ],
            (
                _(
                    "Only blind labels enter agreement. “To the judge's” is a share of the labels that were"
                    " not the judge's before, “away from it” of those that were."
                ),
            ),
            view="judges",
        )


def _causes(found: Comparison) -> Iterator[Table]:
    if found.causes:
        names = {str(cause): name for cause, (_letter, name, _meaning) in CAUSES.items()}
        total = sum(n for _cause, n in found.causes)
        yield Table.of(
            _("Causes found in adjudication"),
            (_("Cause"), "n", _("share")),
            [(_(names.get(cause, cause)), n, f"{n / total:.3f}") for cause, n in found.causes],
            view="judges",
        )

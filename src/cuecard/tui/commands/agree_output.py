"""Output of `cuecard agree`: agreement of raters in a CSV file, and any agreement as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuecard.annotate.agreement.csv_columns import CsvColumns
from cuecard.annotate.agreement.csv_table import CsvReading, GroupedRatings, read_table
from cuecard.annotate.agreement.report import agreement_table, reference_table
from cuecard.annotate.labelling.comparison_model import statistic_word
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _, beside, listed, plural
from cuecard.core.tables.table import Table
from cuecard.core.text import one_line
from cuecard.tui.commands.verb import Page, Result

if TYPE_CHECKING:
    from cuecard.annotate.agreement.scales import Level, Weighting
    from cuecard.annotate.agreement.tables import (
        AgreementTable,
        ConfusionMatrix,
        ReferenceTable,
        Row,
    )
    from cuecard.annotate.labelling.comparison_inputs import Scope
    from cuecard.annotate.labelling.comparison_model import Comparison, Pair, Rater
    from cuecard.core.tables.table import Statistic


Json = dict[str, Any]


def table_json(table: AgreementTable) -> Json:
    """`items`, `raters` and so on, then each coefficient's value by name, null if undefined; `figures`: the same with
    intervals.
    """
    return {
        "items": table.items,
        "paired": table.paired,
        "raters": list(table.raters),
        "labels": list(table.labels),
        "ratings": table.ratings,
        "groups": table.groups,
        "weighted": table.weighted,
        "level": table.level,
        **{row.name: row.value for row in table.rows},
        "n": {row.name: row.statistic.n for row in table.rows},
        "undefined": {r.name: r.statistic.reason for r in table.rows if r.value is None},
        "figures": figures(table.rows),
        "by_label": [
            {
                "label": row.label,
                "first": figure(row.first),
                "reference": figure(row.reference),
                "either": figure(row.either),
            }
            for row in table.label_rows
        ],
        "prevalence": {each.label: each.share for each in table.prevalence},
        "confusion": matrix_json(table.confusion),
        "notes": [{"code": note.code, "text": note.text} for note in table.notes],
    }


def comparison_json(found: Comparison, scope: Scope) -> Json:
    """`pairs`: every judge against every reference, then every two people; a rater is its role and name."""
    return {
        "runs": list(scope.runs),
        "set": scope.set_id,
        "kind": found.subject,
        "kinds": dict(found.subjects),
        "verdicts": found.population,
        "labelled": found.labelled,
        "tasks": found.tasks,
        "unsure": found.unsure,
        "unjudged": found.unjudged,
        "weighted": found.weighted,
        "unlabelled_strata": dict(found.bare),
        "judges": list(found.judges),
        "baselines": list(found.baselines),
        "people": list(found.people),
        "pairs": [pair_json(pair) for pair in found.pairs],
        "people_together": table_json(found.humans) if found.humans else None,
        "ceilings": [
            {
                "judge": _name(each.judge),
                "items": each.n,
                "tasks": each.groups,
                "judge_people": figures(each.judge_people),
                "people_people": figures(each.people_people),
                "difference": figures(each.difference),
            }
            for each in found.ceilings
        ],
        "differences": [
            {
                "one": _name(each.one),
                "other": _name(each.other),
                "reference": each.reference,
                "items": each.n,
                "tasks": each.groups,
                "ones": figures(each.ones),
                "others": figures(each.others),
                "difference": figures(each.rows),
            }
            for each in found.differences
        ],
        "groups": [
            {
                "by": group.by,
                "value": group.value,
                "judge": group.judge,
                "reference": rater_json(group.reference),
                "items": group.n,
                "tasks": group.tasks,
                "figures": {s.name: figure(s) for s in group.statistics},
            }
            for group in found.groups
        ],
        "anchoring": [
            {
                "person": each.person or None,
                "looked": each.looked,
                "changed": figure(each.changed),
                "towards_judge": figure(each.towards),
                "away_from_judge": figure(each.away),
            }
            for each in found.anchoring
        ],
        "adjudicated": found.adjudicated,
        "causes": dict(found.causes),
    }


def pair_json(pair: Pair) -> Json:
    rows = (*pair.table.rows, *(pair.reference.rows if pair.reference else ()))
    return {
        "left": rater_json(pair.left),
        "right": rater_json(pair.right),
        "items": pair.n,
        "tasks": pair.table.groups,
        "figures": figures(rows),
        "prevalence": {each.label: each.share for each in pair.table.prevalence},
        "confusion": matrix_json(pair.table.confusion),
        "notes": [{"code": note.code, "text": note.text} for note in pair.table.notes],
    }


def rater_json(rater: Rater) -> Json:
    return {"role": rater.role, "name": rater.name or None}


def figures(rows: Iterable[Row]) -> Json:
    """By name, with the interval by resampling (`low`, `high`) and by linearisation (`analytic`)."""
    return {
        row.name: {
            **(figure(row.statistic) or {}),
            "analytic": list(row.analytic.interval)
            if row.analytic and row.analytic.interval
            else None,
        }
        for row in rows
    }


def figure(statistic: Statistic | None) -> Json | None:
    if statistic is None:
        return None
    found: Json = {
        "value": statistic.value,
        "low": statistic.low,
        "high": statistic.high,
        "n": statistic.n,
    }
    if statistic.reason:
        found["undefined"] = statistic.reason
    if statistic.no_interval:
        found["no_interval"] = statistic.no_interval
    return found


def matrix_json(matrix: ConfusionMatrix | None) -> Json | None:
    return matrix.model_dump(mode="json") if matrix else None


def _name(key: str) -> str:
    return key.partition(":")[2]


@dataclass(frozen=True)
class CsvOptions:
    """The options for a CSV file. `reference` "": no rater is the truth, and every two raters are compared."""

    level: Level = "nominal"
    weights: Weighting | None = None
    reference: str = ""

    @property
    def scale(self) -> Level:
        """The level of measurement; at least ordinal if weighted kappa is asked for."""
        return "ordinal" if self.weights and self.level == "nominal" else self.level


def agreement_in(file: Path, columns: CsvColumns, wishes: CsvOptions) -> Result:
    """The agreement of raters in a file. Raises `FileProblems` if it cannot be read, `UnclearColumns` if the columns' roles cannot
    be inferred, `CuecardError` for a reference that is no rater.
    """
    read = read_table(file, columns)
    table = _chosen(agreement_table(read.ratings, read.groups, level=wishes.scale), wishes)
    pairs = _pairs(read, wishes) if len(read.ratings.raters) > 2 else ()
    references = _references(read, wishes)
    title = plural(
        "Agreement of {raters} on {n} item",
        "Agreement of {raters} on {n} items",
        table.items,
        raters=listed(table.raters),
    )
    tables = [_overall(table), *_labels(table), _prevalence(table)]
    if table.confusion:
        tables.append(_matrix(table.confusion))
    if pairs:
        tables.append(_pairwise(pairs, wishes))
    tables += [_against(each) for each in references]
    return Result(
        Page(tables, title, list(map(one_line, _taken_lines(read.taken, columns)))),
        lambda: {
            **table_json(table),
            "taken": _taken_json(read.taken, columns),
            "pairs": [table_json(pair) for pair in pairs],
            "against_reference": [
                {
                    "judge": each.judge,
                    "reference": each.reference,
                    "items": each.n,
                    "figures": figures(each.rows),
                    "confusion": matrix_json(each.confusion),
                }
                for each in references
            ],
        },
    )


def _taken_lines(taken: CsvReading, columns: CsvColumns) -> Iterator[str]:
    """How the file was read: which columns, which words were no label, which spellings were merged."""
    roles = taken.roles
    if roles.shape == "long":
        parts = [
            _("items from {column}").format(column=roles.item),
            _("raters from {column}").format(column=roles.rater),
            _("labels from {column}").format(column=roles.label),
        ]
    else:
        parts = [
            _("items from {column}").format(column=roles.item)
            if roles.item
            else _("an item a line"),
            _("raters {names}").format(names=listed(roles.raters)),
        ]
    if columns.group:
        parts.append(_("groups from {column}").format(column=columns.group))
    if roles.left_out:
        told = listed(beside(name, why.word) for name, why in roles.left_out.items())
        parts.append(_("left out {columns}").format(columns=told))
    yield _("Read as: {parts}.").format(parts=_("; ").join(parts))
    none = [
        text.format(words=_counted(words))
        for text, words in (
            (_("missing {words}"), taken.missing),
            (_("cannot tell {words}"), taken.cannot_tell),
        )
        if words
    ]
    if none:
        yield _("No ratings: {words} (other words: --missing).").format(words=_("; ").join(none))
    if taken.merged:
        told = _("; ").join(f"{one} = {listed(more)}" for one, more in taken.merged.items())
        yield _("Spellings taken for one label: {labels}.").format(labels=told)


def _counted(words: Mapping[str, int]) -> str:
    """`3 × blank, 2 × NA`."""
    return listed(f"{n:,} × {word or _('blank')}" for word, n in words.items())


def _taken_json(taken: CsvReading, columns: CsvColumns) -> dict[str, object]:
    """`item` null: each line is one; blank cells are counted under ""."""
    roles = taken.roles
    return {
        "shape": roles.shape,
        "item": roles.item or None,
        "rater": roles.rater or None,
        "label": roles.label or None,
        "group": columns.group or None,
        "raters": list(roles.raters),
        "left_out": {name: why.value for name, why in roles.left_out.items()},
        "missing": taken.missing,
        "cannot_tell": taken.cannot_tell,
        "merged": {one: list(more) for one, more in taken.merged.items()},
    }


def _chosen(table: AgreementTable, wishes: CsvOptions) -> AgreementTable:
    """Of the weighted kappas only the one that was asked for."""
    if wishes.weights is None:
        return table
    other = {"linear": "kappa_quadratic", "quadratic": "kappa_linear"}.get(wishes.weights)
    return table.model_copy(update={"rows": tuple(r for r in table.rows if r.name != other)})


def _pairs(read: GroupedRatings, wishes: CsvOptions) -> tuple[AgreementTable, ...]:
    return tuple(
        _chosen(
            agreement_table(read.ratings.of_raters(pair), read.groups, level=wishes.scale), wishes
        )
        for pair in combinations(read.ratings.raters, 2)
    )


def _references(read: GroupedRatings, wishes: CsvOptions) -> tuple[ReferenceTable, ...]:
    if not wishes.reference:
        return ()
    raters = read.ratings.raters
    if wishes.reference not in raters:
        raise CuecardError(
            _("There is no such rater"),
            _("{name} is not among {raters}").format(name=wishes.reference, raters=listed(raters)),
        )
    return tuple(
        reference_table(read.ratings, rater, wishes.reference, read.groups)
        for rater in raters
        if rater != wishes.reference
    )


def _overall(table: AgreementTable) -> Table:
    return Table.of(
        _("Agreement"),
        (_("statistic"), "n", _("value [95% interval]")),
        [(statistic_word(r.name), r.statistic.n, r.statistic) for r in table.rows],
        [note.text for note in table.notes],
    )


def _labels(table: AgreementTable) -> Iterator[Table]:
    if len(table.raters) == 2:
        yield Table.of(
            _("Agreement by label"),
            (
                _("label"),
                *(_("of {rater}'s").format(rater=rater) for rater in table.raters),
                _("F1"),
            ),
            [
                (
                    row.label if row.label is not None else _("overall"),
                    row.first,
                    row.reference,
                    row.either,
                )
                for row in table.label_rows
            ],
        )


def _prevalence(table: AgreementTable) -> Table:
    return Table.of(
        _("Prevalence"),
        (_("label"), "n", _("share")),
        [(p.label, p.count, f"{p.share:.3f}") for p in table.prevalence],
    )


def _matrix(matrix: ConfusionMatrix) -> Table:
    return Table.of(
        _("Confusion matrix: {rows} down, {columns} across").format(
            rows=matrix.rows, columns=matrix.columns
        ),
        ("", *matrix.labels),
        [(label, *n) for label, n in zip(matrix.labels, matrix.counts, strict=True)],
    )


def _pairwise(pairs: tuple[AgreementTable, ...], wishes: CsvOptions) -> Table:
    chosen = ("percent", f"kappa_{wishes.weights}" if wishes.weights else "cohen_kappa", "ac1")
    return Table.of(
        _("Every two raters"),
        (_("between"), "n", *map(statistic_word, chosen)),
        [
            (
                " · ".join(pair.raters),
                pair.paired,
                *((row := pair.row(name)) and row.statistic for name in chosen),
            )
            for pair in pairs
        ],
    )


def _against(table: ReferenceTable) -> Table:
    return Table.of(
        _("{rater} against {reference}").format(rater=table.judge, reference=table.reference),
        (_("statistic"), "n", _("value [95% interval]")),
        [(statistic_word(r.name), r.statistic.n, r.statistic) for r in table.rows],
    )

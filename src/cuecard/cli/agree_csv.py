"""Agreement of the raters in a CSV file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.annotate.agreement import agreement_table, reference_table
from cuecard.annotate.agreement.csv_columns import CsvColumns
from cuecard.annotate.agreement.csv_table import GroupedRatings, Taken, read_table
from cuecard.annotate.labelling.comparison.sheets import Cell, Line, Sheet, cell, count
from cuecard.annotate.labelling.comparison.words import statistic_word
from cuecard.cli.agree_json import figures, matrix_json, table_json
from cuecard.cli.agree_sheets import print_sheets
from cuecard.cli.output import as_json, say
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from cuecard.annotate.agreement import (
        AgreementTable,
        Level,
        ReferenceTable,
        Weighting,
    )


@dataclass(frozen=True)
class CsvWishes:
    """`reference` "": nobody is taken for right; every two raters are compared."""

    level: Level = "nominal"
    weights: Weighting | None = None
    reference: str = ""

    @property
    def scale(self) -> Level:
        """Weighted kappa asks for an order at least."""
        return "ordinal" if self.weights and self.level == "nominal" else self.level


def agree_on_file(
    file: Path, columns: CsvColumns, wishes: CsvWishes, *, json: bool, markdown: bool
) -> None:
    """Raises `FileProblems` for what cannot be read, `Unclear` where the file does not tell its columns,
    `CuecardError` for a reference that is no rater.
    """
    read = read_table(file, columns)
    table = _chosen(agreement_table(read.ratings, read.groups, level=wishes.scale), wishes)
    pairs = _pairs(read, wishes) if len(read.ratings.raters) > 2 else ()
    references = _references(read, wishes)
    if json:
        told = table_json(table)
        told["taken"] = _taken_json(read.taken, columns)
        told["pairs"] = [table_json(pair) for pair in pairs]
        told["against_reference"] = [
            {
                "judge": each.judge,
                "reference": each.reference,
                "items": each.n,
                "figures": figures(each.rows),
                "confusion": matrix_json(each.confusion),
            }
            for each in references
        ]
        as_json(told)
        return
    title = ngettext(
        "Agreement of {raters} on {n} item", "Agreement of {raters} on {n} items", table.items
    ).format(raters=", ".join(table.raters), n=table.items)
    say(f"# {title}\n" if markdown else title)
    for line in _taken_lines(read.taken, columns):
        say(("- " if markdown else "") + one_line(line))
    say("")
    sheets = [_overall(table), *_labels(table), _prevalence(table)]
    sheets += [_matrix(each) for each in ([table] if table.confusion else [])]
    if pairs:
        sheets.append(_pairwise(pairs, wishes))
    sheets += [_against(each) for each in references]
    print_sheets(sheets, markdown=markdown)


def _taken_lines(taken: Taken, columns: CsvColumns) -> Iterator[str]:
    """What stands behind the figures: which columns, which words were no label, which spellings are one."""
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
            _("raters {names}").format(names=", ".join(roles.raters)),
        ]
    if columns.group:
        parts.append(_("groups from {column}").format(column=columns.group))
    if roles.left_out:
        told = ", ".join(f"{name} ({why.word})" for name, why in roles.left_out.items())
        parts.append(_("left out {columns}").format(columns=told))
    yield _("Read as: {parts}.").format(parts="; ".join(parts))
    none = [
        text.format(words=_counted(words))
        for text, words in (
            (_("missing {words}"), taken.missing),
            (_("cannot tell {words}"), taken.cannot_tell),
        )
        if words
    ]
    if none:
        yield _("No ratings: {words} (other words: --missing).").format(words="; ".join(none))
    if taken.merged:
        told = "; ".join(f"{one} = {', '.join(more)}" for one, more in taken.merged.items())
        yield _("Spellings taken for one label: {labels}.").format(labels=told)


def _counted(words: Mapping[str, int]) -> str:
    """`3 × blank, 2 × NA`."""
    return ", ".join(f"{n:,} × {word or _('blank')}" for word, n in words.items())


def _taken_json(taken: Taken, columns: CsvColumns) -> dict[str, object]:
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


def _chosen(table: AgreementTable, wishes: CsvWishes) -> AgreementTable:
    """Of the weighted kappas only the one that was asked for."""
    if wishes.weights is None:
        return table
    other = {"linear": "kappa_quadratic", "quadratic": "kappa_linear"}.get(wishes.weights)
    return table.model_copy(update={"rows": tuple(r for r in table.rows if r.name != other)})


def _pairs(read: GroupedRatings, wishes: CsvWishes) -> tuple[AgreementTable, ...]:
    return tuple(
        _chosen(
            agreement_table(read.ratings.of_raters(pair), read.groups, level=wishes.scale), wishes
        )
        for pair in combinations(read.ratings.raters, 2)
    )


def _references(read: GroupedRatings, wishes: CsvWishes) -> tuple[ReferenceTable, ...]:
    if not wishes.reference:
        return ()
    raters = read.ratings.raters
    if wishes.reference not in raters:
        raise CuecardError(
            _("There is no such rater"),
            _("{name} is not among {raters}").format(
                name=wishes.reference, raters=", ".join(raters)
            ),
        )
    return tuple(
        reference_table(read.ratings, rater, wishes.reference, read.groups)
        for rater in raters
        if rater != wishes.reference
    )


def _overall(table: AgreementTable) -> Sheet:
    return Sheet(
        view="table",
        title=_("Agreement"),
        headings=(_("statistic"), "n", _("value [95% interval]")),
        lines=tuple(
            (Cell(statistic_word(r.name)), count(r.statistic.n), cell(r.statistic))
            for r in table.rows
        ),
        notes=tuple(note.text for note in table.notes),
    )


def _labels(table: AgreementTable) -> list[Sheet]:
    if len(table.raters) != 2:
        return []
    first, reference = table.raters
    lines: list[Line] = [
        (
            Cell(row.label if row.label is not None else _("overall")),
            cell(row.first),
            cell(row.reference),
            cell(row.either),
        )
        for row in table.label_rows
    ]
    return [
        Sheet(
            view="table",
            title=_("Agreement by label"),
            headings=(
                _("label"),
                _("of {rater}'s").format(rater=first),
                _("of {rater}'s").format(rater=reference),
                _("F1"),
            ),
            lines=tuple(lines),
        )
    ]


def _prevalence(table: AgreementTable) -> Sheet:
    return Sheet(
        view="table",
        title=_("Prevalence"),
        headings=(_("label"), "n", _("share")),
        lines=tuple(
            (Cell(p.label), count(p.count), Cell(f"{p.share:.3f}")) for p in table.prevalence
        ),
    )


def _matrix(table: AgreementTable) -> Sheet:
    matrix = table.confusion
    assert matrix is not None
    return Sheet(
        view="matrix",
        title=_("Confusion matrix: {rows} down, {columns} across").format(
            rows=matrix.rows, columns=matrix.columns
        ),
        headings=("", *matrix.labels),
        lines=tuple(
            (Cell(label), *(count(n) for n in counts))
            for label, counts in zip(matrix.labels, matrix.counts, strict=True)
        ),
    )


def _pairwise(pairs: tuple[AgreementTable, ...], wishes: CsvWishes) -> Sheet:
    chosen = ("percent", f"kappa_{wishes.weights}" if wishes.weights else "cohen_kappa", "ac1")
    lines: list[Line] = []
    for pair in pairs:
        rows = [pair.row(name) for name in chosen]
        statistics = [row.statistic if row else None for row in rows]
        lines.append((Cell(" · ".join(pair.raters)), count(pair.paired), *map(cell, statistics)))
    return Sheet(
        view="table",
        title=_("Every two raters"),
        headings=(_("between"), "n", *map(statistic_word, chosen)),
        lines=tuple(lines),
    )


def _against(table: ReferenceTable) -> Sheet:
    return Sheet(
        view="table",
        title=_("{rater} against {reference}").format(rater=table.judge, reference=table.reference),
        headings=(_("statistic"), "n", _("value [95% interval]")),
        lines=tuple(
            (Cell(statistic_word(r.name)), count(r.statistic.n), cell(r.statistic))
            for r in table.rows
        ),
    )

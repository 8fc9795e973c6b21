"""What to know about a table's figures before reading them."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.annotate.agreement.tables import AgreementTable, Note
from cuecard.core.i18n import _, ngettext

PARTED = 0.1
"""The note on prevalence stands where chance-corrected agreement with equal shares of all labels is further
than this from kappa. Feinstein & Cicchetti (1990) describe the paradox; Byrt, Bishop & Carlin (1993) give the
indices; the threshold is ours.
"""
FEW_GROUPS = 30
"""Below it coverage was seen to fall (docs/agreement.md)."""


def notes_on(table: AgreementTable) -> tuple[Note, ...]:
    return tuple(_notes(table))


def _notes(table: AgreementTable) -> Iterator[Note]:
    if not table.paired:
        yield Note(code="no_pairs", text=_("No item has two ratings."))
        return
    yield from _on_prevalence(table)
    if table.groups is None:
        yield Note(
            code="ungrouped",
            text=_("Each item counts as independent: the items' tasks are not known."),
        )
    elif table.groups < FEW_GROUPS:
        yield Note(
            code="few_groups",
            text=ngettext(
                "The items belong to {n} task. In simulations with fewer than {few} the 95% intervals "
                "held the true value 91 to 96 times of 100.",
                "The items belong to {n} tasks. In simulations with fewer than {few} the 95% intervals "
                "held the true value 91 to 96 times of 100.",
                table.groups,
            ).format(n=table.groups, few=FEW_GROUPS),
        )


def _on_prevalence(table: AgreementTable) -> Iterator[Note]:
    two = len(table.raters) == 2
    kappa = table.value("cohen_kappa" if two else "fleiss_kappa")
    percent, even = table.value("percent"), table.value("brennan_prediger")
    most = max(table.prevalence, key=lambda one: one.share)
    if kappa is None:
        if percent is not None and most.share == 1:
            yield Note(
                code="one_label",
                text=_(
                    "Every rating is {label}: percent agreement is {percent:.3f}, and kappa is undefined, "
                    "because chance alone would give the same."
                ).format(label=most.label, percent=percent),
            )
        return
    if percent is None or even is None or abs(even - kappa) < PARTED:
        return
    text = _(
        "Percent agreement is {percent:.3f} and kappa {kappa:.3f}; {share:.0%} of the ratings are "
        "{label}. With the same percent and equal shares of all labels kappa would be {even:.3f}."
    ).format(percent=percent, kappa=kappa, share=most.share, label=most.label, even=even)
    yield Note(code="prevalence", text=" ".join([text, *_indices(table)]))


def _indices(table: AgreementTable) -> Iterator[str]:
    """Byrt, Bishop & Carlin (1993), for two raters and two labels: kappa is
    (PABAK - PI^2 + BI^2) / (1 - PI^2 + BI^2).
    """
    matrix = table.confusion
    if matrix is None or len(matrix.labels) != 2 or not matrix.n or table.weighted:
        return
    (both, first), (second, neither) = matrix.counts
    yield _("Prevalence index {prevalence:.3f}, bias index {bias:.3f}.").format(
        prevalence=abs(both - neither) / matrix.n, bias=abs(first - second) / matrix.n
    )

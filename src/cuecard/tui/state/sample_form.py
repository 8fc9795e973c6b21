"""The form of a labelling set: what was typed, the plan it makes, and what that would draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.annotate.sampling import (
    STRATUM_KEYS,
    Preview,
    SamplingPlan,
    StratumKey,
    Unit,
    plan_of,
    preview_of,
)
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.verdicts import ItemKind
from cuecard.tui.glyphs import DECISION
from cuecard.tui.widgets.grid.source import GridCell

if TYPE_CHECKING:
    from cuecard.annotate.sampling import Stratum

STRATUM_LABEL: dict[StratumKey, str] = {
    "decision": N_("the judge's decision"),
    "family": N_("family"),
    "language": N_("language"),
    "agent": N_("agent"),
    "relation": N_("relation"),
    "task": N_("task"),
}
N_DEFAULT = 200


@dataclass(frozen=True)
class SampleForm:
    """The fields as texts. With `width`, the number of items follows from it."""

    runs: tuple[int, ...]
    n: str = str(N_DEFAULT)
    width: str = ""
    share: str = "90"
    alike: str = "0.05"
    by: str = "items"
    kinds: tuple[ItemKind, ...] = ()
    judge: str = ""
    strata: tuple[StratumKey, ...] = ("decision",)
    allocation: str = "proportional"
    overlap: str = "20"
    raters: str = "2"
    people: str = ""
    seed: str = "0"

    def plan(self) -> SamplingPlan:
        """The plan, with `n` as typed. Raises `CuecardError`."""
        strata = [key for key in STRATUM_KEYS if key in self.strata]
        return plan_of(
            {
                "runs": self.runs,
                "n": _whole(self.n, N_("How many"), 1) if not self.width.strip() else 1,
                "by": self.by,
                "kinds": self.kinds,
                "judge": self.judge,
                "strata": strata,
                "allocation": self.allocation,
                "seed": _whole(self.seed, N_("Seed"), 0),
                "overlap": _percent(self.overlap, N_("Overlap")),
                "raters": _whole(self.raters, N_("People each"), 2),
                "people": [name.strip() for name in self.people.split(",")],
            }
        )

    @property
    def needs(self) -> tuple[object, ...]:
        """What the population depends on."""
        return self.runs, self.kinds, self.judge


@dataclass(frozen=True)
class SampleLook:
    """A form worked out: the plan, what it would draw, and what is to be said about it."""

    plan: SamplingPlan
    preview: Preview
    said: tuple[str, ...]

    @property
    def rows(self) -> list[Sequence[str | GridCell]]:
        return [
            (
                stratum_label(stratum, self.plan),
                f"{stratum.size:,}",
                GridCell(f"{stratum.drawn:,}", "strong" if stratum.drawn else "warn"),
            )
            for stratum in self.preview.strata
        ]


def worked_out(
    form: SampleForm, population: Callable[[SamplingPlan], Sequence[Unit]]
) -> SampleLook:
    """What the form would draw from what `population` finds for its plan. Raises `CuecardError` with what
    is wrong with the form.
    """
    plan = form.plan()
    share, alike = _percent(form.share, N_("Expected")), _between(form.alike)
    units = population(plan)
    preview = preview_of(units, plan)
    if form.width.strip():
        plan = plan.model_copy(update={"n": _n_for(form, preview, share, alike)})
        preview = preview_of(units, plan)
    return SampleLook(plan, preview, tuple(_said(plan, preview, share, alike)))


def stratum_label(stratum: Stratum, plan: SamplingPlan) -> str:
    """The stratum's values; decisions with their glyph and word."""
    parts = stratum.name.split(" · ")
    if not plan.strata:
        return _("all")
    if "decision" in plan.strata and len(parts) == len(plan.strata):
        at = plan.strata.index("decision")
        glyph, _colour, label = DECISION.get(parts[at], ("", "", parts[at]))
        parts[at] = f"{glyph} {_(label)}".strip()
    return " · ".join(parts)


def _said(plan: SamplingPlan, preview: Preview, share: float, alike: float) -> list[str]:
    if not preview.population:
        return [_("Nothing to draw: no judge has decided on such items of these runs.")]
    items = round(preview.items)
    said = [
        ngettext("{n:,} item of {all:,}", "{n:,} items of {all:,}", items).format(
            n=items, all=preview.population
        )
        + " · "
        + _("{n:,.0f} labels").format(n=preview.labels)
    ]
    width = preview.width(share, alike)
    if width is not None:
        said.append(
            _("If {share:.0%} agree: 95% interval about {width:.3f} wide").format(
                share=share, width=width
            )
        )
    if preview.left_out:
        said.append(
            ngettext(
                "{n} stratum gets nothing: the set will not speak for it.",
                "{n} strata get nothing: the set will not speak for them.",
                preview.left_out,
            ).format(n=preview.left_out)
        )
    elif plan.n > sum(stratum.drawn for stratum in preview.strata):
        said.append(_("There is no more than that: everything is drawn."))
    return said


def _n_for(form: SampleForm, preview: Preview, share: float, alike: float) -> int:
    width = _number(form.width)
    if width is None or not 0 < width < 1:
        raise CuecardError(_("Width"), _("The width: a number between 0 and 1, please."))
    if form.by == "trials":
        raise CuecardError(_("Width"), _("A width counts items: draw items, or give a number."))
    n = preview.n_for(width, share, alike) if preview.population else 1
    if n is None:
        raise CuecardError(
            _("Width"), _("All these items say less than that: a wider one, or more tasks.")
        )
    return n


def _number(text: str) -> float | None:
    try:
        found = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return found if abs(found) < 1e12 else None


def _whole(text: str, label: str, least: int) -> int:
    text = text.strip()
    if not (text.isdecimal() and len(text) < 10 and int(text) >= least):
        raise CuecardError(
            _(label),
            _("{field}: a number from {least}, please.").format(field=_(label), least=least),
        )
    return int(text)


def _percent(text: str, label: str) -> float:
    found = _number(text.strip().removesuffix("%") or "0")
    if found is None or not 0 <= found <= 100:
        raise CuecardError(
            _(label), _("{field}: a percentage from 0 to 100, please.").format(field=_(label))
        )
    return found / 100


def _between(text: str) -> float:
    found = _number(text or "0")
    if found is None or not 0 <= found <= 1:
        raise CuecardError(_("Alike"), _("How alike: a number from 0 to 1, please."))
    return found

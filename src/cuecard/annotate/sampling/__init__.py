"""Which items of runs people label: drawn with known chances, so that figures hold for all of them."""

from cuecard.annotate.sampling.draw import Stratum, Unit, allocate, draw, strata_of, weights_of
from cuecard.annotate.sampling.plan import STRATUM_KEYS, SamplingPlan, StratumKey, plan_of
from cuecard.annotate.sampling.population import make_set, population_of
from cuecard.annotate.sampling.preview import Preview, preview_of
from cuecard.annotate.sampling.size import (
    design_effect,
    effective_size,
    n_for_width,
    n_in_tasks,
    width_of,
)

__all__ = [
    "STRATUM_KEYS",
    "Preview",
    "SamplingPlan",
    "Stratum",
    "StratumKey",
    "Unit",
    "allocate",
    "design_effect",
    "draw",
    "effective_size",
    "make_set",
    "n_for_width",
    "n_in_tasks",
    "plan_of",
    "population_of",
    "preview_of",
    "strata_of",
    "weights_of",
    "width_of",
]

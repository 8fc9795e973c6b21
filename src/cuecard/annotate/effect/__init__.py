"""What people's labels change of a benchmark's figures: scores, and the order of agents."""

from cuecard.annotate.effect.assess import effect_of
from cuecard.annotate.effect.models import (
    Effect,
    GroupEffect,
    ItemCounts,
    MeasureEffect,
    PairOrder,
    RankedAgent,
    Ranking,
)

__all__ = [
    "Effect",
    "GroupEffect",
    "ItemCounts",
    "MeasureEffect",
    "PairOrder",
    "RankedAgent",
    "Ranking",
    "effect_of",
]

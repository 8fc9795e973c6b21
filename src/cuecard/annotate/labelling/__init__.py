"""People's labels on a judge's verdicts: given blind, compared afterwards."""

from cuecard.annotate.labelling.session import LabelSession
from cuecard.annotate.labelling.session_views import (
    Draft,
    LabelView,
    Pace,
    Revealed,
    Target,
)

__all__ = [
    "Draft",
    "LabelSession",
    "LabelView",
    "Pace",
    "Revealed",
    "Target",
]

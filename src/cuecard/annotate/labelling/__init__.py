"""People's labels on a judge's verdicts: given blind, compared afterwards."""

from cuecard.annotate.labelling.comparison import (
    LabelAgreement,
    PairAgreement,
    agreement_of,
    compare,
    ratings_of,
)
from cuecard.annotate.labelling.session import LabelSession, LabelView, Revealed

__all__ = [
    "LabelAgreement",
    "LabelSession",
    "LabelView",
    "PairAgreement",
    "Revealed",
    "agreement_of",
    "compare",
    "ratings_of",
]

"""People's labels on a judge's verdicts: given blind, compared afterwards."""

from cuecard.annotate.labelling.session import LabelSession, LabelView, Revealed

__all__ = [
    "LabelSession",
    "LabelView",
    "Revealed",
]

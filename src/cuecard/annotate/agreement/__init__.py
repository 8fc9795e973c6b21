"""Agreement statistics over columns of decisions on the same items. Pure: no store, no screen."""

from cuecard.annotate.agreement.csv_io import read_ratings
from cuecard.annotate.agreement.kappa import cohen_kappa, fleiss_kappa
from cuecard.annotate.agreement.percent import percent_agreement
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.report import (
    AgreementReport,
    ConfusionMatrix,
    confusion_matrix,
    prevalence,
    report_of,
    statistics_of,
)
from cuecard.annotate.agreement.statistic import Statistic

__all__ = [
    "AgreementReport",
    "ConfusionMatrix",
    "Ratings",
    "Statistic",
    "cohen_kappa",
    "confusion_matrix",
    "fleiss_kappa",
    "percent_agreement",
    "prevalence",
    "read_ratings",
    "report_of",
    "statistics_of",
]

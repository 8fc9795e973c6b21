"""Agreement statistics over columns of decisions on the same items. Pure: no store, no screen."""

from cuecard.annotate.agreement.ac1 import ac1_coefficient, gwet_ac1
from cuecard.annotate.agreement.bootstrap import with_intervals
from cuecard.annotate.agreement.coefficient import Coefficient, pooled, share
from cuecard.annotate.agreement.csv_io import read_ratings
from cuecard.annotate.agreement.kappa import (
    cohen_coefficient,
    cohen_kappa,
    fleiss_coefficient,
    fleiss_kappa,
)
from cuecard.annotate.agreement.percent import percent_agreement, percent_coefficient
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
    "Coefficient",
    "ConfusionMatrix",
    "Ratings",
    "Statistic",
    "ac1_coefficient",
    "cohen_coefficient",
    "cohen_kappa",
    "confusion_matrix",
    "fleiss_coefficient",
    "fleiss_kappa",
    "gwet_ac1",
    "percent_agreement",
    "percent_coefficient",
    "pooled",
    "prevalence",
    "read_ratings",
    "report_of",
    "share",
    "statistics_of",
    "with_intervals",
]

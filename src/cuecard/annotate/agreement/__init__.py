"""Agreement statistics over columns of decisions on the same items. Pure: no store, no screen."""

from cuecard.annotate.agreement.ac1 import ac1_coefficient, gwet_ac1
from cuecard.annotate.agreement.agreement_table import agreement_table
from cuecard.annotate.agreement.alpha import alpha_coefficient, krippendorff_alpha
from cuecard.annotate.agreement.bootstrap import with_intervals
from cuecard.annotate.agreement.chance import (
    brennan_prediger,
    brennan_prediger_coefficient,
    scott_coefficient,
    scott_pi,
)
from cuecard.annotate.agreement.coefficient import Coefficient, pooled, share
from cuecard.annotate.agreement.consensus import MAJORITY, with_majority
from cuecard.annotate.agreement.counting import (
    ConfusionMatrix,
    confusion_matrix,
    prevalence,
)
from cuecard.annotate.agreement.csv_table import read_ratings
from cuecard.annotate.agreement.differences import difference, mean_of
from cuecard.annotate.agreement.judging import ceiling_table, compare_judges, reference_table
from cuecard.annotate.agreement.kappa import (
    cohen_coefficient,
    cohen_kappa,
    fleiss_coefficient,
    fleiss_kappa,
)
from cuecard.annotate.agreement.linearised import linearised, standard_error
from cuecard.annotate.agreement.percent import percent_agreement, percent_coefficient
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.agreement.reference import against_reference
from cuecard.annotate.agreement.selection import (
    overall_coefficients,
    short_coefficients,
    specific_coefficients,
)
from cuecard.annotate.agreement.statistic import Statistic
from cuecard.annotate.agreement.tables import (
    AgreementTable,
    CeilingTable,
    JudgeDifference,
    LabelRow,
    Note,
    ReferenceTable,
    Row,
)
from cuecard.annotate.agreement.weighted import (
    ac2_coefficient,
    gwet_ac2,
    weighted_kappa,
    weighted_kappa_coefficient,
)
from cuecard.annotate.agreement.weights import LEVELS, WEIGHTINGS, Level, Weighting

__all__ = [
    "LEVELS",
    "MAJORITY",
    "WEIGHTINGS",
    "AgreementTable",
    "CeilingTable",
    "Coefficient",
    "ConfusionMatrix",
    "JudgeDifference",
    "LabelRow",
    "Level",
    "Note",
    "Ratings",
    "ReferenceTable",
    "Row",
    "Statistic",
    "Weighting",
    "ac1_coefficient",
    "ac2_coefficient",
    "against_reference",
    "agreement_table",
    "alpha_coefficient",
    "brennan_prediger",
    "brennan_prediger_coefficient",
    "ceiling_table",
    "cohen_coefficient",
    "cohen_kappa",
    "compare_judges",
    "confusion_matrix",
    "difference",
    "fleiss_coefficient",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2",
    "krippendorff_alpha",
    "linearised",
    "mean_of",
    "overall_coefficients",
    "percent_agreement",
    "percent_coefficient",
    "pooled",
    "prevalence",
    "read_ratings",
    "reference_table",
    "scott_coefficient",
    "scott_pi",
    "share",
    "short_coefficients",
    "specific_coefficients",
    "standard_error",
    "weighted_kappa",
    "weighted_kappa_coefficient",
    "with_intervals",
    "with_majority",
]

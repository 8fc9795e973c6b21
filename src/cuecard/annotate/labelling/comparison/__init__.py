"""How far judges and people agree: `gather` reads what was labelled, `compare` makes figures of it."""

from cuecard.annotate.labelling.comparison.anchoring import Anchoring, anchoring_of
from cuecard.annotate.labelling.comparison.comparing import compare, ratings_of
from cuecard.annotate.labelling.comparison.drilling import (
    Place,
    cases_at,
)
from cuecard.annotate.labelling.comparison.gathering import gather
from cuecard.annotate.labelling.comparison.material import (
    GROUPINGS,
    SUBJECTS,
    Case,
    GroupBy,
    Material,
    Scope,
    Subject,
)
from cuecard.annotate.labelling.comparison.model import Comparison, Group, Pair
from cuecard.annotate.labelling.comparison.of_records import material_of
from cuecard.annotate.labelling.comparison.raters import (
    ADJUDICATED,
    MAJORITY,
    SETTLED,
    Rater,
    columns_of,
    said_by,
)

__all__ = [
    "ADJUDICATED",
    "GROUPINGS",
    "MAJORITY",
    "SETTLED",
    "SUBJECTS",
    "Anchoring",
    "Case",
    "Comparison",
    "Group",
    "GroupBy",
    "Material",
    "Pair",
    "Place",
    "Rater",
    "Scope",
    "Subject",
    "anchoring_of",
    "cases_at",
    "columns_of",
    "compare",
    "gather",
    "material_of",
    "ratings_of",
    "said_by",
]

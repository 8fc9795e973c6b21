"""What a reviewer would find wrong with a well-formed task, found by rule before a reviewer has to."""

from cuecard.annotate.lint.codes import CODES, RULES, SUBJECTS, Rule, may_silence
from cuecard.annotate.lint.finding import Finding, Severity
from cuecard.annotate.lint.loose import loosely
from cuecard.annotate.lint.rules import lint

__all__ = [
    "CODES",
    "RULES",
    "SUBJECTS",
    "Finding",
    "Rule",
    "Severity",
    "lint",
    "loosely",
    "may_silence",
]

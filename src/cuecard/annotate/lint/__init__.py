"""What a reviewer would find wrong with a well-formed task, found by rule before a reviewer has to."""

from cuecard.annotate.lint.finding import Finding, Severity
from cuecard.annotate.lint.rules import CODES, lint

__all__ = ["CODES", "Finding", "Severity", "lint"]

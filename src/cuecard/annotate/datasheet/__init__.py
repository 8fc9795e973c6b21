"""A datasheet of the workspace: what a paper's appendix needs to say about how the tasks were made."""

from cuecard.annotate.datasheet.gather import datasheet_of, describe
from cuecard.annotate.datasheet.markdown import as_markdown
from cuecard.annotate.datasheet.model import Datasheet

__all__ = ["Datasheet", "as_markdown", "datasheet_of", "describe"]

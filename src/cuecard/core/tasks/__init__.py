"""The domain: tasks, personas and the four kinds of gold."""

from cuecard.core.tasks.checkpoints import Ambiguity, AmbiguityType, Checkpoint, CheckpointChain
from cuecard.core.tasks.facts import Fact, FactKind, FactWorld
from cuecard.core.tasks.graph import Graph, Node, Triple
from cuecard.core.tasks.models import (
    FAMILIES,
    Cue,
    CueKind,
    Difficulty,
    Family,
    Foreign,
    Gold,
    Persona,
    Silenced,
    Source,
    Stage,
    Task,
    TaskLanguage,
    content_hash,
)
from cuecard.core.tasks.origins import Origin, OriginKind
from cuecard.core.tasks.table import Column, Metric, Preprocess, Table

__all__ = [
    "FAMILIES",
    "Ambiguity",
    "AmbiguityType",
    "Checkpoint",
    "CheckpointChain",
    "Column",
    "Cue",
    "CueKind",
    "Difficulty",
    "Fact",
    "FactKind",
    "FactWorld",
    "Family",
    "Foreign",
    "Gold",
    "Graph",
    "Metric",
    "Node",
    "Origin",
    "OriginKind",
    "Persona",
    "Preprocess",
    "Silenced",
    "Source",
    "Stage",
    "Table",
    "Task",
    "TaskLanguage",
    "Triple",
    "content_hash",
]

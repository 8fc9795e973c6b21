"""Closed lists of option values, so that a wrong one is wrong usage."""

from __future__ import annotations

from enum import StrEnum


class FormatChoice(StrEnum):
    """The formats of `core.formats.registry`."""

    CUECARD = "cuecard"
    VIBESEARCH = "vibesearch"
    WIDESEARCH = "widesearch"
    PARAWORLD = "paraworld"
    DISCOBENCH = "discobench"
    GRAPHML = "graphml"
    TURTLE = "turtle"
    JSONLD = "jsonld"


class ExportChoice(StrEnum):
    """The same, and the formats of `lab.run_exports`, which hold trials. vibesearch and widesearch hold both."""

    CUECARD = "cuecard"
    VIBESEARCH = "vibesearch"
    WIDESEARCH = "widesearch"
    PARAWORLD = "paraworld"
    DISCOBENCH = "discobench"
    GRAPHML = "graphml"
    TURTLE = "turtle"
    JSONLD = "jsonld"
    JSONL = "jsonl"
    INSPECT = "inspect"
    OTEL = "otel"


class InputFormat(StrEnum):
    """The same, or told from the files."""

    AUTO = "auto"
    CUECARD = "cuecard"
    VIBESEARCH = "vibesearch"
    WIDESEARCH = "widesearch"
    PARAWORLD = "paraworld"
    DISCOBENCH = "discobench"
    GRAPHML = "graphml"
    TURTLE = "turtle"
    JSONLD = "jsonld"


class FamilyChoice(StrEnum):
    GRAPH = "graph"
    TABLE = "table"
    CHECKPOINTS = "checkpoints"
    FACTS = "facts"

"""All formats by name, and telling which one a path is in."""

from __future__ import annotations

from pathlib import Path

from cuecard.core.formats import (
    cuecard_yaml,
    discobench,
    graphml,
    paraworld,
    rdf,
    vibesearch,
    widesearch,
)
from cuecard.core.formats.base import Format
from cuecard.core.formats.json_files import SUFFIXES, first_objects

__all__ = ["FORMATS", "Format", "detect"]

FORMATS: dict[str, Format] = {
    format_.name: format_
    for format_ in (
        cuecard_yaml.FORMAT,
        vibesearch.FORMAT,
        widesearch.FORMAT,
        paraworld.FORMAT,
        discobench.FORMAT,
        graphml.FORMAT,
        rdf.TURTLE,
        rdf.JSON_LD,
    )
}
# Told by their suffix, where it is not that of any JSON.
_BY_SUFFIX = (cuecard_yaml.FORMAT, graphml.FORMAT, rdf.TURTLE, rdf.JSON_LD)


def detect(path: Path) -> str | None:
    """The name of the format that a file or folder of tasks or responses is in; None when it is none
    of them, or not there.
    """
    if path.is_file():
        suffix = path.suffix.lower()
        for format_ in _BY_SUFFIX:
            if suffix in format_.suffixes and suffix not in SUFFIXES:
                return format_.name
    if path.is_dir() or path.suffix.lower() in SUFFIXES:
        for obj in first_objects(path):
            for format_ in FORMATS.values():
                if format_.recognises(obj):
                    return format_.name
    if path.is_dir():
        for format_ in _BY_SUFFIX:
            if format_.files(path).files:
                return format_.name
    return None

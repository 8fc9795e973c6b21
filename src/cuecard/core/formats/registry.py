"""All file formats by name, of tasks and of trials, and detection of the format of a path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuecard.core.formats.files import SUFFIXES, first_objects
from cuecard.core.plugins import Registry

if TYPE_CHECKING:
    from cuecard.core.formats.base import Format

FORMATS: Registry[Format] = Registry(
    "cuecard.formats",
    {
        "cuecard": "cuecard.core.formats.cuecard_files:FORMAT",
        "vibesearch": "cuecard.core.formats.vibesearch:FORMAT",
        "widesearch": "cuecard.core.formats.widesearch:FORMAT",
        "paraworld": "cuecard.core.formats.paraworld:FORMAT",
        "discobench": "cuecard.core.formats.discobench:FORMAT",
        "graphml": "cuecard.core.formats.graphml:FORMAT",
        "turtle": "cuecard.core.formats.rdf:TURTLE",
        "jsonld": "cuecard.core.formats.rdf:JSON_LD",
    },
    fits="cuecard.core.formats.base:Format",
)
_EXPORT = "cuecard.core.evaluation.run_export_formats"
EXPORTS: Registry[Callable[..., Any]] = Registry(
    "cuecard.exports",
    {
        "vibesearch": f"{_EXPORT}:Vibesearch",
        "widesearch": f"{_EXPORT}:Widesearch",
        "jsonl": f"{_EXPORT}:JsonLines",
        "inspect": f"{_EXPORT}:InspectLogs",
        "otel": f"{_EXPORT}:Spans",
    },
    fits="collections.abc:Callable",
)
"""The formats of trials: what makes a `core.evaluation.run_exports.Writing` of its `Options`."""
# Told by their suffix, where it is not that of any JSON.
_BY_SUFFIX = ("cuecard", "graphml", "turtle", "jsonld")


def detect(path: Path) -> str | None:
    """The name of the format of a file or folder of tasks or responses; None if it is none of them, or does not exist."""
    if path.is_file():
        suffix = path.suffix.lower()
        for name in _BY_SUFFIX:
            if suffix in FORMATS[name].suffixes and suffix not in SUFFIXES:
                return name
    if path.is_dir() or path.suffix.lower() in SUFFIXES:
        for obj in first_objects(path):
            for name, format_ in FORMATS.items():
                if format_.recognises(obj):
                    return name
    others = [name for name in FORMATS if name not in FORMATS.shipped]
    if path.is_dir():
        found = (name for name in (*_BY_SUFFIX, *others) if FORMATS[name].files(path).files)
    else:
        found = (name for name in others if path.suffix.lower() in FORMATS[name].suffixes)
    return next(found, None)

"""All formats by name, and telling which one a path is in."""

from __future__ import annotations

from pathlib import Path

from cuecard.core.formats import cuecard_yaml, discobench, paraworld, vibesearch, widesearch
from cuecard.core.formats.base import Format
from cuecard.core.formats.json_files import SUFFIXES, first_objects

__all__ = ["FORMATS", "Format", "detect"]

FORMATS: dict[str, Format] = {
    module.FORMAT.name: module.FORMAT
    for module in (cuecard_yaml, vibesearch, widesearch, paraworld, discobench)
}


def detect(path: Path) -> str | None:
    """The name of the format that a file or folder of tasks or responses is in; None when it is none
    of them, or not there.
    """
    if path.is_file() and path.suffix.lower() in cuecard_yaml.SUFFIXES:
        return cuecard_yaml.NAME
    if path.is_dir() or path.suffix.lower() in SUFFIXES:
        for obj in first_objects(path):
            for format_ in FORMATS.values():
                if format_.recognises(obj):
                    return format_.name
    if path.is_dir() and cuecard_yaml.FORMAT.files(path).files:
        return cuecard_yaml.NAME
    return None

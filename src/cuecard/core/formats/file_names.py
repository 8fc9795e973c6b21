"""A file's name for each task of an export: none that a system refuses, no two that one confuses."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence

from cuecard.core.tasks.ids import DEVICES

_MAX_BYTES = 200
_UNSAFE = re.compile(r"[^\w.\- ]")


def file_names(ids: Sequence[str], suffix: str, prefix: str = "") -> list[str]:
    """`{prefix}{id}{suffix}` for each id (the prefix not twice); where that is too long, or differs
    from an earlier one only by case or composition, something is added that follows from the id.
    """
    taken: set[str] = set()
    names: list[str] = []
    for id_ in ids:
        stem = id_ if id_.startswith(prefix) else f"{prefix}{id_}"
        plain = unicodedata.normalize("NFC", stem).casefold()
        if len(stem.encode()) > _MAX_BYTES:
            stem = f"{stem.encode()[:_MAX_BYTES].decode(errors='ignore')}~{_mark(id_)}"
        elif plain in taken or plain.partition(".")[0] in DEVICES:
            stem = f"{stem}~{_mark(id_)}"
        taken.add(plain)
        names.append(f"{stem}{suffix}")
    return names


def folder_names(names: Sequence[str]) -> list[str]:
    """A folder for each of these names, which may hold anything: letters, digits and `.-_ ` are kept, and where
    that changes a name, or two of them would be confused, something is added that follows from the name.
    """
    plain = [_UNSAFE.sub("_", name).strip(" .") for name in names]
    marked = [
        stem if stem == name else f"{stem or '_'}~{_mark(name)}"
        for stem, name in zip(plain, names, strict=True)
    ]
    return file_names(marked, "")


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]

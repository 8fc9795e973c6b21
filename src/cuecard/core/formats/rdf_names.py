"""Names as IRIs and back, without loss."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

OURS = "urn:cuecard:"
TERM = f"{OURS}term:"
NODE = f"{OURS}node:"
RELATION = f"{OURS}relation:"
TASK = f"{OURS}task:"
# Relative addresses in a file are below this one, which leads nowhere.
BASE = "http://file.invalid/"

_IRI = re.compile(r"(?:https?|urn):[^\s<>\"{}|\\^`\x00-\x20\x7f-\xa0\ue000-\uf8ff\ufff0-\uffff]+")
_LOCAL = re.compile(r"[#/:]([^#/:]+)[#/:]?$")


def iri_of(name: str, space: str) -> str:
    """The IRI of a name: the name itself where it is one, else the name quoted in `space`."""
    if _IRI.fullmatch(name) and name.isascii() and not name.startswith((OURS, BASE)):
        return name
    # Letters of other scripts may stand in an IRI, and there people can read them.
    return space + "".join(char if _readable(char) else quote(char, safe="") for char in name)


def name_of(iri: str, space: str) -> str:
    """The name that became this IRI; any other IRI is its own name."""
    if iri.startswith(space):
        return unquote(iri.removeprefix(space), errors="replace")
    return unquote(iri.removeprefix(BASE)) if iri.startswith(BASE) else iri


def local_name(iri: str) -> str:
    """The last part of an IRI, as a person would read it."""
    found = _LOCAL.search(iri)
    name = unquote(found[1], errors="replace") if found else iri
    return name.replace("_", " ").strip() or iri


def _readable(char: str) -> bool:
    return char.isalnum() and (char.isascii() or "\u00bf" < char < "\ud800")

"""Text from outside: cleaned for display, normalised for comparison."""

from __future__ import annotations

import re
import unicodedata

# Everything a terminal could act on: CSI/OSC/DCS sequences, C0 and C1 controls.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # OSC, DCS, SOS, PM, APC with their terminator
    r"|\x1b[ -/]*[0-~]"  # other two-character escapes
    r"|\x9b[0-?]*[ -/]*[@-~]",
    re.DOTALL,
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Bidirectional overrides, isolates and marks can make a line read as what it is not.
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SPACES = re.compile(r"\s+")
_LATIN_WORD = re.compile(r"[0-9a-zA-Z]")


def for_display(text: str, *, max_line: int = 0) -> str:
    """`text` with nothing in it that a terminal would execute or reorder.

    Escape sequences are dropped, remaining controls and bidirectional marks become visible as
    `\N{REPLACEMENT CHARACTER}`, tabs become blanks. With `max_line`, longer lines are folded there
    so that a 10,000-character line wraps like any paragraph. Rich/Textual markup is *not* touched:
    show the result as plain `Text` or `Content`, never through a markup parser.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    text = _ESCAPES.sub("", text)
    text = _BIDI.sub("", _CONTROLS.sub("\ufffd", text))
    if max_line > 0:
        text = "\n".join(
            line[start : start + max_line]
            for line in text.split("\n")
            for start in range(0, max(len(line), 1), max_line)
        )
    return text


def one_line(text: str, limit: int = 0) -> str:
    """`for_display`, blanks folded, cut to `limit` characters with an ellipsis."""
    flat = _SPACES.sub(" ", for_display(text)).strip()
    return f"{flat[: limit - 1]}…" if 0 < limit < len(flat) else flat


def normalise(text: str) -> str:
    """NFKC, casefolded, punctuation at the ends and runs of blanks removed: for comparing."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return _SPACES.sub(" ", text).strip(
        " \t\n.,;:!?'\"“”‘’()[]{}<>。，；：！？、（）《》「」『』*_`"
    )


def contains_term(text: str, term: str) -> bool:
    """Whether `term` occurs in `text` as a word (Latin script) or as a substring (others).

    Both are normalised first. An empty term occurs nowhere.
    """
    needle, haystack = normalise(term), normalise(text)
    if not needle:
        return False
    left = r"(?<![0-9a-z])" if _LATIN_WORD.match(needle[0]) else ""
    right = r"(?![0-9a-z])" if _LATIN_WORD.match(needle[-1]) else ""
    return re.search(left + re.escape(needle) + right, haystack) is not None


def is_cjk(text: str) -> bool:
    """Whether the text holds at least one Han character."""
    return any("\u3400" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff" for char in text)


def slug(text: str) -> str:
    """A file-name-safe identifier; Han characters stay, everything else that is unsafe becomes `-`."""
    text = unicodedata.normalize("NFKC", text).strip().casefold()
    return re.sub(r"[^0-9a-z\u3400-\u9fff._]+", "-", text).strip("-.") or "task"


def storable(text: str) -> str:
    """`text` with what no file or database can hold (NUL, half a surrogate pair) made visible as
    `\N{REPLACEMENT CHARACTER}`; for text from models and other programs.
    """
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "\ufffd")

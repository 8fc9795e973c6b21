"""Compiles translations: each `src/cuecard/locale/*/LC_MESSAGES/*.po` becomes the `.mo` beside it that gettext reads.

Compiled catalogues are not in git. The build makes them (`hatch_build.py`), `make` does where one is older than its
source, and the tests do before they begin. Only the standard library is imported, because a build has nothing else.
"""

from __future__ import annotations

import ast
import os
import re
import struct
import sys
from pathlib import Path

LOCALE = Path(__file__).parent.parent / "src" / "cuecard" / "locale"
MAGIC = 0x950412DE
LINE = re.compile(r'(?:(msgctxt|msgid_plural|msgid|msgstr)(?:\[(\d+)\])?\s+)?(".*")')


def read(source: str) -> dict[str, str]:
    """Translations by the key that gettext looks them up by: `context EOT text`, plural forms parted by NUL.

    The header is the translation of "". What is untranslated, fuzzy or obsolete is left out. Raises ValueError for a
    line that is none of a catalogue's.
    """
    found: dict[str, str] = {}
    entry: dict[str, str] = {}
    field = ""
    fuzzy = False

    def finish() -> None:
        forms = [text for name, text in entry.items() if name.startswith("msgstr")]
        if forms and all(forms) and not fuzzy:
            context = f"{entry['msgctxt']}\x04" if "msgctxt" in entry else ""
            plural = f"\0{entry['msgid_plural']}" if "msgid_plural" in entry else ""
            found[f"{context}{entry['msgid']}{plural}"] = "\0".join(forms)
        entry.clear()

    for number, raw in enumerate(source.splitlines(), 1):
        line = raw.strip()
        starts = line.startswith(("#,", "msgctxt", "msgid "))
        if starts and any(name.startswith("msgstr") for name in entry):
            finish()
            fuzzy = False
        if not line or line.startswith("#"):
            fuzzy = fuzzy or (line.startswith("#,") and "fuzzy" in line)
            continue
        match = LINE.fullmatch(line)
        if match is None or not (match[1] or field):
            raise ValueError(f"line {number} is none of a catalogue's: {raw}")
        if match[1]:
            field = match[1] + (match[2] or "")
            entry[field] = ""
        try:
            entry[field] += ast.literal_eval(match[3])
        except SyntaxError as error:
            raise ValueError(f"line {number} holds no text that ends: {raw}") from error
    finish()
    return found


def compiled(source: str) -> bytes:
    """The binary catalogue of a `.po` file's text, as GNU gettext lays it out: sizes and offsets, then the texts."""
    pairs = sorted((key.encode(), text.encode()) for key, text in read(source).items())
    index = 7 * 4
    begin = index + 16 * len(pairs)
    sizes: list[int] = []
    texts = bytearray()
    for column in (0, 1):
        for pair in pairs:
            sizes += [len(pair[column]), begin + len(texts)]
            texts += pair[column] + b"\0"
    header = (MAGIC, 0, len(pairs), index, index + 8 * len(pairs), 0, 0)
    return struct.pack(f"<{len(header) + len(sizes)}I", *header, *sizes) + texts


def refresh(locale: Path = LOCALE) -> list[Path]:
    """Compile every catalogue below `locale` whose compiled file is missing or other than it should be.

    Returns the compiled files of all catalogues. A file is replaced whole, so that no reader meets half of one; one that
    is right is only given the present time, by which `make` sees that it follows its source.
    """
    made: list[Path] = []
    for source in sorted(locale.glob("*/LC_MESSAGES/*.po")):
        target = source.with_suffix(".mo")
        content = compiled(source.read_text(encoding="utf-8"))
        if target.exists() and target.read_bytes() == content:
            target.touch()
        else:
            half = target.with_name(f"{target.name}.{os.getpid()}.tmp")
            half.write_bytes(content)
            half.replace(target)
        made.append(target)
    return made


if __name__ == "__main__":
    sys.exit(0 if refresh() else f"There is no catalogue in {LOCALE}.")

"""Extract messages, merge them into both catalogues, compile. English fills itself in.

Run through `make i18n`; then translate what is new in `src/cuecard/locale/zh/LC_MESSAGES/cuecard.po`
and run it again. `--check` changes nothing and fails when something is missing or stale.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "cuecard"
KEYWORDS = {
    "_": None,
    "N_": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "NP_": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}


def extract() -> Catalog:
    """All messages of the package, without line numbers (they would change with every edit)."""
    catalog = Catalog(project="cuecard", charset="utf-8")
    found = extract_from_dir(SOURCE, [("**.py", "python")], keywords=KEYWORDS)
    for _file, _line, message, _comments, context in found:
        catalog.add(message, context=context)
    catalog.delete("")
    return catalog


def po_path(language: str) -> Path:
    return SOURCE / "locale" / language / "LC_MESSAGES" / "cuecard.po"


def load(language: str) -> Catalog:
    path = po_path(language)
    if not path.exists():
        return Catalog(locale=language, charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=language)


def merged(language: str, template: Catalog) -> Catalog:
    """The catalogue with exactly the template's messages; old translations kept."""
    old = load(language)
    new = Catalog(
        locale=language, project="cuecard", version="1", charset="utf-8", fuzzy=False,
        creation_date=old.creation_date, revision_date=old.creation_date,
    )  # fmt: skip
    wanted = sorted((m for m in template if m.id), key=lambda m: (str(m.id), m.context or ""))
    for message in wanted:
        # A text that has got a context is a new one: its old translation may be of the other meaning.
        known = old.get(message.id, message.context)
        text = known.string if known else ""
        if language == "en":
            text = message.id if isinstance(message.id, tuple) else str(message.id)
        elif isinstance(message.id, tuple) and isinstance(text, str):
            # It had no plural before; Chinese has one form anyway.
            text = (text,)
        elif not isinstance(message.id, tuple) and not isinstance(text, str):
            text = text[0]
        new.add(message.id, text, context=message.context)
    return new


def keys_of(catalog: Catalog) -> set[tuple[str, str]]:
    """What a catalogue has messages for: context ("" for none) and text."""
    return {(message.context or "", str(message.id)) for message in catalog if message.id}


def missing(catalog: Catalog) -> list[str]:
    """Messages with no translation, or with other placeholders than the original."""
    import string

    def fields(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    lacking: list[str] = []
    for message in catalog:
        if not message.id:
            continue
        originals = message.id if isinstance(message.id, tuple) else (message.id,)
        texts = message.string if isinstance(message.string, tuple) else (message.string,)
        if (
            not all(texts)
            or any(not fields(t) <= fields(originals[-1]) for t in texts)
            or fields(texts[-1]) != fields(originals[-1])
        ):
            where = f" ({message.context})" if message.context else ""
            lacking.append(f"{originals[0]!r}{where}")
    return lacking


def compiled(catalog: Catalog) -> bytes:
    buffer = io.BytesIO()
    write_mo(buffer, catalog)
    return buffer.getvalue()


def main() -> int:
    check = "--check" in sys.argv
    template = extract()
    status = 0
    for language in ("en", "zh"):
        catalog = merged(language, template)
        lacking = missing(catalog)
        if lacking:
            status = 1 if check or language == "en" else status
            print(f"{language}: {len(lacking)} untranslated or with other placeholders")
            for text in lacking[:20]:
                print(f"  {text}")
        path = po_path(language)
        if check:
            if keys_of(load(language)) != keys_of(catalog):
                print(f"{language}: the catalogue is stale; run `make i18n`")
                status = 1
            mo = path.with_suffix(".mo")
            if not mo.exists() or mo.read_bytes() != compiled(catalog):
                print(f"{language}: the compiled catalogue is stale; run `make i18n`")
                status = 1
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        buffer = io.BytesIO()
        write_po(buffer, catalog, width=100, no_location=True, omit_header=False)
        path.write_bytes(buffer.getvalue())
        path.with_suffix(".mo").write_bytes(compiled(catalog))
        print(f"{language}: {len([m for m in catalog if m.id])} messages")
    return status


if __name__ == "__main__":
    sys.exit(main())

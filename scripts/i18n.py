"""Extract messages, merge them into the catalogues of translations, compile. English is what the code says.

Run through `make i18n`; then translate what is new in `src/cuecard/locale/zh/LC_MESSAGES/cuecard.po`
and run it again. `--check` changes nothing and fails when something is missing or stale.
"""

from __future__ import annotations

import ast
import io
import string
import sys
from collections.abc import Iterable
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

import msgfmt

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "cuecard"
TRANSLATED = ("zh",)
KEYWORDS = {
    "_": (0, 1),
    "N_": (0, 1),
    "ngettext": (0, 2),
    "plural": (0, 2),
    "pgettext": (1, 1),
    "NP_": (1, 1),
    "npgettext": (1, 2),
}
"""How many of a function's first arguments are a context, and then texts."""


def extract() -> Catalog:
    """All messages of the package, without line numbers (they would change with every edit). Read from the syntax tree:
    tokens of Python 3.11 hide what stands in f-strings.
    """
    catalog = Catalog(project="cuecard", charset="utf-8")
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
            contexts, count = KEYWORDS.get(name, (0, 0))
            given = [getattr(argument, "value", None) for argument in node.args[: contexts + count]]
            texts = [text for text in given if isinstance(text, str) and text]
            if count and len(texts) == contexts + count:
                message = texts[contexts] if count == 1 else tuple(texts[contexts:])
                catalog.add(message, context=texts[0] if contexts else None)
    return catalog


def po_path(language: str) -> Path:
    return SOURCE / "locale" / language / "LC_MESSAGES" / "cuecard.po"


def load(language: str) -> Catalog:
    path = po_path(language)
    if not path.exists():
        return Catalog(locale=language, charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=language)


def forms(texts: str | Iterable[str] | None) -> tuple[str, ...]:
    """A message or its translation as its forms: one, or with a plural more."""
    return (texts,) if isinstance(texts, str) else tuple(texts or ("",))


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
        text = forms(known.string if known else "")
        # It may have had no plural before, or has none any more; Chinese has one form anyway.
        new.add(
            message.id, text if isinstance(message.id, tuple) else text[0], context=message.context
        )
    return new


def keys_of(catalog: Catalog) -> set[tuple[str, str]]:
    """What a catalogue has messages for: context ("" for none) and text."""
    return {(message.context or "", str(message.id)) for message in catalog if message.id}


def fields(text: str) -> set[str]:
    """The names of a text's placeholders."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def uneven(template: Catalog) -> list[str]:
    """Messages whose singular has placeholders that its plural lacks."""
    return [
        repr(singular)
        for singular, *plural in (forms(message.id) for message in template if message.id)
        if plural and not fields(singular) <= fields(plural[-1])
    ]


def missing(catalog: Catalog) -> list[str]:
    """Messages with no translation, or with other placeholders than the original."""
    lacking: list[str] = []
    for message in catalog:
        if not message.id:
            continue
        originals, texts = forms(message.id), forms(message.string)
        if (
            not all(texts)
            or any(not fields(t) <= fields(originals[-1]) for t in texts)
            or fields(texts[-1]) != fields(originals[-1])
        ):
            where = f" ({message.context})" if message.context else ""
            lacking.append(f"{originals[0]!r}{where}")
    return lacking


def stale(path: Path) -> bool:
    """Whether a catalogue is compiled into something else than it says now, or not at all."""
    made = path.with_suffix(".mo")
    return not made.exists() or made.read_bytes() != msgfmt.compiled(
        path.read_text(encoding="utf-8")
    )


def told(title: str, texts: list[str]) -> int:
    """Print the first of what is wrong; 1 when anything is."""
    if texts:
        print(f"{title}: {len(texts)} untranslated or with other placeholders")
    for text in texts[:20]:
        print(f"  {text}")
    return bool(texts)


def main() -> int:
    check = "--check" in sys.argv
    template = extract()
    status = told("code", uneven(template))
    for language in TRANSLATED:
        catalog = merged(language, template)
        lacking = told(language, missing(catalog))
        path = po_path(language)
        if check:
            status |= lacking
            if keys_of(load(language)) != keys_of(catalog):
                print(f"{language}: the catalogue is stale; run `make i18n`")
                status = 1
            elif stale(path):
                print(f"{language}: the compiled catalogue is stale; run `make i18n`")
                status = 1
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        buffer = io.BytesIO()
        write_po(buffer, catalog, width=100, no_location=True, omit_header=False)
        path.write_bytes(buffer.getvalue())
        print(f"{language}: {len([m for m in catalog if m.id])} messages")
    if not check:
        msgfmt.refresh(SOURCE / "locale")
    return status


if __name__ == "__main__":
    sys.exit(main())

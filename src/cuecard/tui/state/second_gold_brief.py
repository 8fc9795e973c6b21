"""The brief as a second annotator reads it, made of a blank alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cuecard.annotate.second_gold.blank import COVER
from cuecard.core.i18n import _
from cuecard.tui.state.entries import Entry, Paragraph, Piece


def brief_entries(data: Mapping[str, Any]) -> list[Entry]:
    """What is asked, in reading order; what is empty is left out."""
    return list(_entries(data))


def _entries(data: Mapping[str, Any]) -> Iterator[Entry]:
    gold, persona = data["gold"], data["persona"]
    yield _entry(_("What to build"), _task_of(gold["family"]), _how(COVER in str(data)))
    yield _entry(_("Full query"), data["query"])
    if gold["family"] == "checkpoints":
        yield _entry(_("What the user says first"), gold["opening"])
    if persona:
        if persona["initial_query"] != data["query"]:
            yield _entry(_("What the user says first"), persona["initial_query"])
        yield _entry(_("Identity"), persona["identity"], note=persona["name"])
        for number, stage in enumerate(persona["stages"], start=1):
            label = _("Stage {n}").format(n=number)
            yield _entry(label, f"{_('LINE')}  {stage['line']}", note=stage["title"])
    if data["sub_queries"]:
        yield _entry(_("Sub-queries"), *data["sub_queries"])
    if gold["family"] == "table":
        yield from _columns(gold["columns"], gold["unique_columns"])


def _columns(columns: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> Iterator[Entry]:
    for column in columns:
        rules = [*column["preprocess"], *column["metric"]]
        lines = [", ".join(rules), *filter(None, [column["criterion"]])]
        note = _("key") if column["name"] in keys else ""
        yield _entry(_("Column"), *lines, note=f"{column['name']}  {note}".strip())


def _entry(label: str, *texts: str, note: str = "") -> Entry:
    head = (Piece(label, "stage"), *((Piece(f"  {note}", "strong"),) if note else ()))
    return Entry("work", 0, head, tuple(Paragraph(text, indent=2) for text in texts if text))


def _task_of(family: str) -> str:
    match family:
        case "graph":
            return _(
                "Find all triples that a complete answer has, with their sources, and type them."
            )
        case "table":
            return _(
                "Find all rows that a complete answer has, and type them into the given columns."
            )
        case "checkpoints":
            return _("Find the steps that lead to the answer, with their targets, and the answer.")
        case _:
            return _("The facts of this world are given. Find the answer, and say how it follows.")


def _how(covered: bool) -> str:
    alone = _("Work from this page alone, as if nobody had done it before; look at no other gold.")
    if not covered:
        return alone
    cover = _("{cover} stands where the author's brief names what is to be found.")
    return f"{alone} {cover.format(cover=COVER)}"

"""What a closed world answered to its author, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from cuecard.annotate.authoring.world_trial import NoWorld, WorldAnswer
from cuecard.core.i18n import _
from cuecard.core.text import contains_term, one_line
from cuecard.tui.state.entries import Paragraph

_LISTED = 6
_TOLD, _BESIDE = 600, 160


def explained() -> str:
    return _(
        "Type what an agent might search for. Below stands what it would get: whether it hits a fact,"
        " which one, and the four results."
    )


def numbered(data: Mapping[str, Any]) -> dict[str, tuple[int, str]]:
    """Number, from 1, and value of each fact by its key."""
    gold = cast(dict[str, Any], data.get("gold") or {})
    facts = cast(list[dict[str, Any]], gold.get("facts") or [])
    return {str(f.get("key")): (n, str(f.get("value"))) for n, f in enumerate(facts, start=1)}


def answer_said(
    answer: WorldAnswer | NoWorld, facts: Mapping[str, tuple[int, str]]
) -> list[Paragraph]:
    """Hit or not and why, then the results; the one that states the fact stands out."""
    if isinstance(answer, NoWorld):
        return _lacking(answer)
    if answer.refusal:
        return [Paragraph(f"✗ {answer.refusal}", "bad")]
    keys = [key for key in answer.keys if key in facts]
    values = [facts[key][1] for key in keys]
    tells = [any(contains_term(e.content, value) for value in values) for e in answer.entries]
    said = [_head(answer, keys, facts, tells), Paragraph(_(answer.reason), "muted", 2)]
    for number, (entry, told) in enumerate(zip(answer.entries, tells, strict=True), start=1):
        mark, tone = ("▸", "good") if told else (" ", "muted")
        said.append(Paragraph(f"{mark}{number} {one_line(entry.title, 100)}", "strong"))
        said.append(Paragraph(one_line(entry.content, _TOLD if told else _BESIDE), tone, 3))
    return said


def _head(
    answer: WorldAnswer,
    keys: list[str],
    facts: Mapping[str, tuple[int, str]],
    tells: list[bool],
) -> Paragraph:
    if answer.hit:
        words = [_("hit")]
        words += [_("fact {n}: {key}").format(n=facts[k][0], key=one_line(k, 60)) for k in keys]
        if True in tells:
            words.append(_("told in result {n}").format(n=tells.index(True) + 1))
        return Paragraph("● " + " · ".join(words), "good")
    if answer.compound:
        return Paragraph(f"◐ {_('no hit: several things at once')}", "bad")
    return Paragraph(f"○ {_('no hit')}", "bad")


def _lacking(answer: NoWorld) -> list[Paragraph]:
    title = _("The world can be asked as soon as the draft is a task. It lacks:")
    said = [Paragraph(title, "strong")]
    for place, reason in answer.missing[:_LISTED]:
        said.append(Paragraph(f"{place or '–'}: {reason}", "bad", indent=2))
    if (more := len(answer.missing) - _LISTED) > 0:
        said.append(Paragraph(_("and {n} more, on the tab Problems").format(n=more), "muted", 2))
    return said

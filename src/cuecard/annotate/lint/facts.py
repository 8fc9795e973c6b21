"""Rules about facts tasks."""

from __future__ import annotations

from cuecard.annotate.lint.finding import Finding, error
from cuecard.core.i18n import _
from cuecard.core.tasks import FactWorld
from cuecard.core.text import normalise


def lint_facts(world: FactWorld) -> list[Finding]:
    """L007."""
    answers = {normalise(name) for name in (world.answer, *world.answer_aliases)}
    findings: list[Finding] = []
    for index, fact in enumerate(world.facts):
        names = (fact.value, f"{fact.value} {fact.unit}", f"{fact.value}{fact.unit}", *fact.aliases)
        if any(normalise(name) in answers for name in names):
            findings.append(
                error(
                    "L007",
                    f"gold.facts[{index}].value",
                    _("one search for “{key}” gives the final answer away").format(key=fact.key),
                    _("Let the answer follow from several facts, or split this one."),
                )
            )
    return findings

"""Cues: what can be tested, what they may refer to, and how they differ."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from cuecard.annotate.lint import wording
from cuecard.annotate.lint.case import Case, name_of
from cuecard.annotate.lint.finding import Finding, warning
from cuecard.annotate.lint.naming import folded
from cuecard.core.i18n import _
from cuecard.core.tasks import Cue, CueKind
from cuecard.core.users.leaks import Told, gold_things

_OWN_NAMES = frozenset({"Agent", "User", "AI", "I", "The", "Assistant", "LLM", "URL", "JSON"})


def lint_cues(case: Case) -> Iterator[Finding]:
    """L024, L025 and L029."""
    yield from _same(case)
    yield from _untestable(case)
    yield from _unheard(case)


def _same(case: Case) -> Iterator[Finding]:
    first: dict[object, int] = {}
    for index, stage in enumerate(case.stages):
        cue = stage.cue
        if cue.kind is CueKind.START or not cue.text:
            continue
        keys: list[object] = [folded(cue.text)]
        if cue.terms:
            keys.append((cue.kind, frozenset(map(folded, cue.terms))))
        earlier = next((first[key] for key in keys if key in first), None)
        if earlier is not None:
            yield warning(
                "L025",
                f"persona.stages[{index}].cue.text",
                _("is the cue of stage {n} too").format(n=earlier + 1),
                _("Say what tells the second moment from the first."),
                f"{name_of(case.stages[earlier])} / {name_of(stage)}",
            )
        for key in keys:
            first.setdefault(key, index)


def _untestable(case: Case) -> Iterator[Finding]:
    for index, stage in enumerate(case.stages):
        cue = stage.cue
        if cue.kind is CueKind.START or not cue.text:
            continue
        if wording.asks_to_confirm(cue.text):
            reason = _("“{cue}”: agents ask for a confirmation of anything, or of nothing")
        elif not cue.terms and wording.is_vague(cue.text):
            reason = _("“{cue}” is true of every reply, or no reply shows it")
        else:
            continue
        yield warning(
            "L029",
            f"persona.stages[{index}].cue.text",
            reason.format(cue=cue.text),
            _("Name what the reply must mention, ask about or have covered."),
            name_of(stage),
        )


def _unheard(case: Case) -> Iterator[Finding]:
    persona = case.task.persona
    if persona is None:
        return
    gold = Told(name for names in gold_things(case.task.gold) for name in names)
    heard = [persona.initial_query, persona.name]
    for index, stage in enumerate(persona.stages):
        if stage.cue.kind is not CueKind.START:
            said = Told(heard)
            for thing in dict.fromkeys(_referred_to(stage.cue)):
                if not said.has(folded(thing)) and not gold.has(folded(thing)):
                    yield warning(
                        "L024",
                        f"persona.stages[{index}].cue.text",
                        _("refers to “{name}”, which no earlier line has said").format(name=thing),
                        _("Say it in an earlier line, or leave it out of the cue."),
                        f"{name_of(stage)}: {thing}",
                    )
        heard += [stage.line, stage.not_met]


def _referred_to(cue: Cue) -> Iterator[str]:
    """What a cue takes for known: amounts, quotations and wishes; of what the agent is to ask, names
    too. A name that the agent is to mention is a find of its own, and what it asks about it may not
    know.
    """
    text = unicodedata.normalize("NFKC", cue.text)
    for groups in wording.QUOTES.findall(cue.text):
        yield next(filter(None, groups))
    rest = wording.QUOTES.sub(" ", text)
    yield from (match[0].strip() for match in wording.AMOUNTS.finditer(rest) if folded(match[0]))
    if cue.kind is CueKind.ASKS:
        names = (match[0] for match in wording.PROPER_NAMES.finditer(rest))
        yield from (name for name in names if name not in _OWN_NAMES)
    else:
        yield from (match[0] for match in wording.CONSTRAINT_WORDS.finditer(rest.casefold()))

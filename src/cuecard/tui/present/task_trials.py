"""Texts for trying out a draft: rehearsal of a reply, a checkpoint's responder, the closed world's answer, and counts."""

from collections.abc import Mapping
from typing import Any, cast

from cuecard.annotate.authoring.rehearsal import (
    NoWorld,
    Rehearsal,
    StageCheck,
    Taken,
    WorldAnswer,
    why_text,
)
from cuecard.annotate.authoring.stages import (
    ASKS_HIGH,
    ASKS_LOW,
    FEWEST,
    MOST,
    ChainCounts,
    Rung,
    StageCounts,
)
from cuecard.core.engine.messages import UserReply
from cuecard.core.i18n import N_, _, headed, listed, ngettext
from cuecard.core.text import contains_term, one_line
from cuecard.core.users.responder import ADVANCING
from cuecard.tui.present.entries import Paragraph, Piece, Tone
from cuecard.tui.present.labels import status_label
from cuecard.tui.present.transcript import flag_label

_TITLE, _SENTENCE = 60, 300


def verdict(heard: Rehearsal) -> list[Paragraph]:
    """About the stage whose turn it is: met or not, and why."""
    waited = heard.waited
    if waited is None:
        return [Paragraph(_("Every stage is disclosed."), "muted")]
    label = _("✓ cue met") if waited.check.met else _("✗ cue not met")
    return [Paragraph(headed(label, why_text(waited.check)), "good" if waited.check.met else "bad")]


def evidence(heard: Rehearsal) -> list[list[Piece]]:
    """The sentence of the reply that counts, with the term that does."""
    if heard.waited is None or not heard.waited.check.sentence:
        return []
    check = heard.waited.check
    flat = one_line(check.sentence, _SENTENCE)
    at = flat.casefold().find(check.term.casefold()) if check.term else -1
    if at < 0:
        return [[Piece(f"  {flat}", "muted")]]
    end = at + len(check.term)
    tone = "good" if check.met else "bad"
    before, term, after = flat[:at], flat[at:end], flat[end:]
    return [[Piece(f"  {before}", "muted"), Piece(f"▸{term}◂", tone), Piece(after, "muted")]]


def said(heard: Rehearsal) -> list[Paragraph]:
    """What the scripted user says then."""
    head = Paragraph(_("The scripted user says"), "user")
    return [head, Paragraph(heard.said.text or "…", "plain", 2)]


def others(heard: Rehearsal) -> list[Paragraph]:
    """A line for every stage: met or not, and why."""
    lines = [Paragraph(_("Every stage by the same reply"), "stage")]
    for check in heard.checks:
        tone = "good" if check.check.met and not check.disclosed else "muted"
        lines.append(Paragraph(_about(check), tone, 2))
    return lines


def decision(said: UserReply, label: str) -> list[Paragraph]:
    """What a simulator's model decided."""
    match said.cue_met:
        case True:
            head, tone = _("✓ cue met"), "good"
        case False:
            head, tone = _("✗ cue not met"), "bad"
        case _:
            head, tone = (_("ends here") if said.done else _("goes on")), "muted"
    paragraphs = [Paragraph(one_line(label, 60), "user")]
    reason = f": {said.reason}" if said.reason else ""
    paragraphs.append(Paragraph(f"{head}{reason}", tone, 2))
    paragraphs.append(Paragraph(said.text, "plain", 2))
    paragraphs += [
        Paragraph(_("caught by the checks: {found}").format(found=flag_label(flag)), "bad", 2)
        for flag in said.flags
    ]
    return paragraphs


def _about(check: StageCheck) -> str:
    title = one_line(check.title, _TITLE) or "–"
    if check.disclosed:
        return headed(f"– {check.number} {title}", _("already said"))
    mark = "✓" if check.check.met else "·"
    return headed(f"{mark} {check.number} {title}", why_text(check.check))


DIFFICULTY = {"easy": N_("easy"), "medium": N_("medium"), "hard": N_("hard")}


def rung_cells(rung: Rung) -> tuple[str, ...]:
    """Number, kind of ambiguity, question, target, and what is missing."""
    missing = listed(_(name) for name in rung.missing)
    lacks = _("lacks {what}").format(what=missing) if missing else ""
    return str(rung.number), rung.ambiguity, rung.question, rung.target, lacks


def counts_said(counts: ChainCounts) -> list[list[Piece]]:
    """Steps, ambiguous ones, and the difficulty that this means beside the one that the task says."""
    steps = ngettext("{n} step", "{n} steps", counts.steps).format(n=counts.steps)
    ambiguous = _("{n} ambiguous").format(n=counts.ambiguous)
    first = [Piece(steps), Piece(f" · {ambiguous}", "stage" if counts.ambiguous else "bad")]
    if counts.means is None:
        said = _("1, 2 or 3 make a task easy, medium or hard")
        return [first, [Piece(said, "muted" if counts.ambiguous else "bad")]]
    means = _(DIFFICULTY[counts.means])
    if counts.agrees:
        return [first, [Piece(_("which is {difficulty}").format(difficulty=means), "muted")]]
    says = _(DIFFICULTY.get(counts.says, counts.says))
    said = _("which is {means}; the brief says {says}").format(means=means, says=says)
    return [first, [Piece(said, "bad")]]


def trial_said(taken: Taken | None, later: Taken | None) -> list[Paragraph]:
    """How the responder takes what was typed; `later`, once the clue is out, where that differs."""
    if taken is None:
        said = _("Type what an agent might ask or answer at this step. Below stands how the scripted responder takes it, and whether the clue is released.")  # fmt: skip
        return [Paragraph(said, "muted")]
    tone: Tone = "good" if taken.released or taken.status in ADVANCING or taken.status.value == "task_completed" else "bad"  # fmt: skip
    said = [Paragraph(status_label(taken.status), tone)]
    if taken.heard:
        names = listed(one_line(name, 40) for name in taken.heard)
        said.append(Paragraph(_("heard: {names}").format(names=names), "muted", 2))
    released = _("The clue is released:") if taken.released else _("No clue. The user says:")
    said.append(Paragraph(released, "strong"))
    said.append(Paragraph(one_line(taken.says), "user" if taken.released else "plain", 2))
    if later is not None and later.status is not taken.status:
        after = _("Once the clue is out: {status}").format(status=status_label(later.status))
        said.append(Paragraph(after, "muted"))
    return said


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
        said.append(Paragraph(headed(place or "–", reason), "bad", indent=2))
    if (more := len(answer.missing) - _LISTED) > 0:
        said.append(Paragraph(_("and {n} more, on the tab Problems").format(n=more), "muted", 2))
    return said


_KIND: dict[str, str] = {
    "start": N_("start"),
    "mentions": N_("mentions"),
    "asks": N_("asks"),
    "completes": N_("completes"),
}
_MOST_ASKS = 2


def count_lines(counts: StageCounts, index: int, language: str) -> list[list[Piece]]:
    """All stages, their cues by kind, and the stage at `index`; what is out of its band is toned."""
    n = len(counts.stages)
    total = ngettext("{n} stage", "{n} stages", n).format(n=n)
    band = "✓" if counts.enough else _("of {low}–{high}").format(low=FEWEST, high=MOST)
    lines = [[Piece(total, "strong"), Piece(f" {band}", "good" if counts.enough else "bad")]]
    kinds: list[Piece] = []
    for kind, label in _KIND.items():
        number = counts.kinds.get(kind, 0)
        if not number:
            continue
        kinds.append(Piece(f"{' · ' if kinds else ''}{_(label)} {number}", "muted"))
        if kind != "start":
            share = f" {counts.share(kind):.0%}"
            balanced = kind != "asks" or counts.asks_balanced
            kinds.append(Piece(share, "muted" if balanced else "bad"))
    if n and not counts.asks_balanced:
        wanted = _(" (asks: {low:.0%}–{high:.0%})").format(low=ASKS_LOW, high=ASKS_HIGH)
        kinds.append(Piece(wanted, "bad"))
    lines.append(kinds)
    if 0 <= index < n:
        lines.append(_stage(counts, index, language))
    return lines


def _stage(counts: StageCounts, index: int, language: str) -> list[Piece]:
    stage = counts.stages[index]
    if language == "zh":
        length = ngettext("{n} character", "{n} characters", stage.length)
    else:
        length = ngettext("{n} word", "{n} words", stage.length)
    asks = ngettext("asks for {n} thing", "asks for {n} things", stage.asks).format(n=stage.asks)
    pieces = [
        Piece(f"{index + 1}: ", "stage"),
        Piece(length.format(n=stage.length), "muted"),
        Piece(" · ", "muted"),
        Piece(asks, "bad" if stage.asks > _MOST_ASKS else "muted"),
    ]
    if counts.unasked is not None:
        triples = ngettext("{n} triple", "{n} triples", stage.triples).format(n=stage.triples)
        pieces += [Piece(" · ", "muted"), Piece(triples, "muted" if stage.triples else "bad")]
    return pieces

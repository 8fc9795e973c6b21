"""What the rehearse pane says: paragraphs in tones, without a screen."""

from __future__ import annotations

from cuecard.annotate.authoring.rehearsal import Rehearsal, StageCheck, why_text
from cuecard.core.i18n import _
from cuecard.core.parts import UserReply
from cuecard.core.text import one_line
from cuecard.tui.state.entries import Paragraph, Piece

_TITLE, _SENTENCE = 60, 300


def verdict(heard: Rehearsal) -> list[Paragraph]:
    """About the stage whose turn it is: met or not, and why."""
    waited = heard.waited
    if waited is None:
        return [Paragraph(_("Every stage is disclosed."), "muted")]
    label = _("✓ cue met") if waited.check.met else _("✗ cue not met")
    return [Paragraph(f"{label}: {why_text(waited.check)}", "good" if waited.check.met else "bad")]


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
        Paragraph(
            _("caught by the checks: {found}").format(found=flag.found or flag.kind.value), "bad", 2
        )
        for flag in said.flags
    ]
    return paragraphs


def _about(check: StageCheck) -> str:
    title = one_line(check.title, _TITLE) or "–"
    if check.disclosed:
        return f"– {check.number} {title}: {_('already said')}"
    mark = "✓" if check.check.met else "·"
    return f"{mark} {check.number} {title}: {why_text(check.check)}"

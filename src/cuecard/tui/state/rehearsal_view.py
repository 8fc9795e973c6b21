"""What the rehearse pane says: paragraphs in tones, without a screen."""

from __future__ import annotations

from cuecard.annotate.authoring.rehearsal import Rehearsal, StageCheck, why_text
from cuecard.core.i18n import _
from cuecard.core.parts import UserReply
from cuecard.core.text import contains_term, one_line
from cuecard.tui.state.entries import Paragraph

_TITLE, _SENTENCE = 60, 300


def verdict(heard: Rehearsal) -> list[Paragraph]:
    """About the stage whose turn it is: met or not, why, and what the scripted user says."""
    paragraphs: list[Paragraph] = []
    waited = heard.waited
    if waited is not None:
        met = waited.check.met
        label = _("✓ cue met") if met else _("✗ cue not met")
        text = f"{label}: {why_text(waited.check)}"
        paragraphs.append(Paragraph(text, "good" if met else "bad"))
        if waited.check.sentence:
            paragraphs.append(
                Paragraph(_marked(waited.check.sentence, waited.check.term), "muted", 2)
            )
    else:
        paragraphs.append(Paragraph(_("Every stage is disclosed."), "muted"))
    paragraphs.append(Paragraph(_("The scripted user says"), "user"))
    paragraphs.append(Paragraph(heard.said.text or "…", "plain", 2))
    return paragraphs


def others(heard: Rehearsal) -> list[Paragraph]:
    """A line for every stage: met or not, and why."""
    lines = [Paragraph(_("Every stage by the same reply"), "stage")]
    for check in heard.checks:
        tone = "good" if check.check.met else "muted"
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
    mark = "✓" if check.check.met else "·"
    title = one_line(check.title, _TITLE) or "–"
    return f"{mark} {check.number} {title}: {why_text(check.check)}"


def _marked(sentence: str, term: str) -> str:
    """The sentence with the term that counts between marks."""
    flat = one_line(sentence, _SENTENCE)
    if not term or not contains_term(flat, term):
        return flat
    at = flat.casefold().find(term.casefold())
    if at < 0:
        return flat
    return f"{flat[:at]}▸{flat[at : at + len(term)]}◂{flat[at + len(term) :]}"

"""Quality control of one task as rows and paragraphs."""

from typing import Literal

from cuecard.annotate.quality.decision_table import (
    RULE_BY_KEY,
    SIGNAL_LABEL,
    STAGE,
    STAGES,
    VERDICT_LABEL,
    StageName,
    StageState,
)
from cuecard.annotate.quality.report import PersonDecision, QcReport, StageReport
from cuecard.core.contributions import QcVerdict
from cuecard.core.evaluation.probe_plan import PROBE_LABEL
from cuecard.core.i18n import N_, _, headed, listed, ngettext, pgettext, spaced
from cuecard.core.probes.results import ATTEMPTS, ProbeResult
from cuecard.core.text import one_line
from cuecard.tui.grid.cells import GridCell
from cuecard.tui.present.entries import Paragraph, Piece, Tone
from cuecard.tui.present.keyboard import hint

_StateTone = Literal["muted", "good", "bad"]
STATE_LOOK: dict[StageState, tuple[str, _StateTone, str]] = {
    "open": ("○", "muted", N_("not run")),
    "skipped": ("–", "muted", N_("skipped")),
    "passed": ("✓", "good", N_("all clear")),
    "flagged": ("!", "bad", N_("flagged")),
}
VERDICT_LOOK: dict[QcVerdict, tuple[str, Tone]] = {
    "keep": ("✓", "good"),
    "revise": ("↺", "stage"),
    "remove": ("✗", "bad"),
}


def heading(report: QcReport) -> list[list[Piece]]:
    """What the screen is about, and where the verdict stands."""
    first = [
        Piece(_("QC"), "strong"),
        Piece(" · "),
        Piece(one_line(report.title, 60), "strong"),
        Piece(" · " + _("revision {n}").format(n=report.revision), "muted"),
    ]
    second = [Piece(_("proposed: ")), proposed(report)]
    if report.proposal.unknown:
        second.append(Piece(spaced(second[-1].text, _("so far")), "muted"))
    if report.decided is not None:
        second += [Piece("   " + _("decided: ")), verdict_piece(report.decided.verdict)]
        if report.decided.outdated:
            second.append(
                Piece(spaced(second[-1].text, _("(the signals have changed since)")), "muted")
            )
    else:
        second.append(Piece("   " + _("nobody has decided yet"), "muted"))
    return [first, second]


def proposed(report: QcReport) -> Piece:
    return verdict_piece(report.proposal.verdict)


def verdict_piece(verdict: QcVerdict) -> Piece:
    glyph, tone = VERDICT_LOOK[verdict]
    return Piece(f"{glyph} {_(VERDICT_LABEL[verdict])}", tone)


def detail(report: QcReport, stage: StageName) -> list[Paragraph]:
    """What a stage asks, what came out and why."""
    found = report.stage(stage)
    lines = [
        Paragraph(_(STAGE[stage].asks), "muted"),
        Paragraph(found.said, _tone(found.state)),
    ]
    if found.baselines:
        text = ngettext(
            "{n} result is an offline baseline's: shown, but no evidence.",
            "{n} results are offline baselines': shown, but no evidence.",
            found.baselines,
        )
        lines.append(Paragraph(text.format(n=found.baselines), "muted"))
    lines += [Paragraph(f"· {text}", indent=2) for text in found.findings]
    if stage == "agreement":
        lines += _check_lines(report)
    if stage != "verdict":
        lines += _others(report, stage)
    return [*lines, *_verdict_lines(report)]


def _others(report: QcReport, stage: StageName) -> list[Paragraph]:
    """What came out of the other stages, below the one that is read."""
    lines = [Paragraph(""), Paragraph(_("The other stages:"), "strong")]
    for name in STAGES[:-1]:
        if name != stage:
            found = report.stage(name)
            state, tone = badge(found)
            lines.append(Paragraph(f"{state} · {_(STAGE[name].label)}{_(': ')}{found.said}", tone))
            lines += [Paragraph(f"· {text}", indent=2) for text in found.findings]
    return lines


def _reasons(report: QcReport) -> list[Paragraph]:
    """Why the table proposes what it does: what each rule says, and when it applies."""
    lines: list[Paragraph] = []
    for key, text in zip(report.proposal.rules, report.proposal.reasons, strict=True):
        condition = RULE_BY_KEY[key].condition
        lines.append(Paragraph(f"· {text}"))
        lines.append(Paragraph(_("rule: {condition}").format(condition=condition), "muted", 2))
    return lines


def summary(report: QcReport) -> list[Paragraph]:
    """What stands beside a review: what is flagged in full, the rest by name. No verdict."""
    lines = [Paragraph(hint(_("Quality control ({QC})")), "strong")]
    rest: dict[tuple[str, Tone], list[str]] = {}
    for name in STAGES[:-1]:
        found, label = report.stage(name), _(STAGE[name].label)
        if found.state == "flagged":
            lines.append(
                Paragraph(f"{STATE_LOOK['flagged'][0]} {label}{_(': ')}{found.said}", "bad", 2)
            )
        else:
            rest.setdefault(badge(found), []).append(label)
    for (state, tone), labels in rest.items():
        lines.append(Paragraph(headed(state, _(", ").join(labels)), tone, 2))
    return lines


def models(report: StageReport) -> str:
    """Which models a stage asked; baselines where it asked none."""
    if not report.models and report.baselines:
        return _("baseline")
    return listed(one_line(name, 30) for name in report.models)


def badge(report: StageReport) -> tuple[str, _StateTone]:
    """Glyph and words of a stage's state, and their tone."""
    glyph, tone, label = STATE_LOOK[report.state]
    if report.state == "open" and (report.results or not STAGE[report.stage].probes):
        label = N_("pending")  # left open, or a person is waited for
    return f"{glyph} {_(label)}", tone


def who(result: ProbeResult) -> str:
    """The model; a baseline says that it is one."""
    name = one_line(result.model, 30)
    return _("{name} (baseline)").format(name=name) if result.baseline else name


def probe_answers(result: ProbeResult, *, probe: bool) -> str:
    """What a trial behind a stage said, with the name of its probe where a stage has several."""
    said = result.skipped or _("; ").join(result.findings)
    if result.probe not in ATTEMPTS and not result.skipped:
        # What an examination found stands above, line by line.
        found = len(result.findings)
        said = ngettext("{n} remark", "{n} remarks", found).format(n=found)
    return one_line(headed(_(PROBE_LABEL[result.probe]), said) if probe else said)


def outcome(result: ProbeResult) -> GridCell:
    if result.flagged is None:
        return GridCell("– " + _("no result"), "muted")
    if result.probe in ATTEMPTS:
        words = _("right") if result.right else _("wrong")
    else:
        words = pgettext("a check found something", "found") if result.flagged else _("nothing")
    if result.baseline or not result.flagged:
        return GridCell(f"· {words}", "muted" if result.baseline else "plain")
    return GridCell(f"! {words}", "bad")


def _check_lines(report: QcReport) -> list[Paragraph]:
    check = report.check
    if check is None:
        return []
    who = _("{judge} (offline baseline)") if check.baseline else "{judge}"
    text = _("Response: trial {trial} of “{run}” by {agent}, judged by {judge}.")
    lines = [
        Paragraph(
            text.format(
                trial=check.trial_id,
                run=one_line(check.run_name, 40),
                agent=one_line(check.agent, 30),
                judge=who.format(judge=one_line(check.judge, 30)),
            )
        )
    ]
    if check.people:
        people = listed(one_line(name, 30) for name in check.people)
        lines.append(Paragraph(_("Labelled by {people}.").format(people=people)))
    if not check.complete:
        lines.append(Paragraph(hint(_("{DECIDE} labels it, blind, item by item.")), "muted"))
    return lines


def _verdict_lines(report: QcReport) -> list[Paragraph]:
    lines = [Paragraph(""), Paragraph(_("Why the table proposes it:"), "strong"), *_reasons(report)]
    if report.proposal.unknown:
        names = listed(_(SIGNAL_LABEL[name]) for name in report.proposal.unknown)
        lines.append(Paragraph(_("Not looked at yet: {signals}.").format(signals=names), "muted"))
    for decision in report.decisions:
        lines += [Paragraph(""), *_decision_lines(decision)]
    return lines


def _decision_lines(decision: PersonDecision) -> list[Paragraph]:
    glyph, tone = VERDICT_LOOK[decision.verdict]
    text = _("{date} {person}: {verdict}").format(
        date=f"{decision.at.astimezone():%Y-%m-%d}",
        person=one_line(decision.by, 40) or _("somebody"),
        verdict=f"{glyph} {_(VERDICT_LABEL[decision.verdict])}",
    )
    if decision.verdict != decision.proposed:
        proposal = _(VERDICT_LABEL[decision.proposed])
        text += spaced(text, _("(proposed was: {verdict})").format(verdict=proposal))
    lines = [Paragraph(text, tone)]
    if decision.hidden:
        hint = _("Name and reason are shown when the reviews are in.")
        lines.append(Paragraph(hint, "muted", 2))
    elif decision.reason:
        lines.append(Paragraph(decision.reason, indent=2))
    return lines


def _tone(state: StageState) -> Tone:
    return "strong" if state in ("open", "skipped") else STATE_LOOK[state][1]

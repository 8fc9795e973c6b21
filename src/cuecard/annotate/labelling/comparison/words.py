"""What raters, figures and labels are called, for every place that shows a comparison."""

from __future__ import annotations

from cuecard.annotate.agreement import Statistic
from cuecard.annotate.labelling.comparison.material import GroupBy, Subject
from cuecard.annotate.labelling.comparison.model import Comparison
from cuecard.annotate.labelling.comparison.raters import Rater
from cuecard.core.i18n import N_, _

SUBJECT_WORDS: dict[Subject, str] = {
    "gold": N_("gold items"),
    "predicted": N_("predicted triples"),
    "row": N_("whole rows"),
    "cue": N_("cues"),
    "leak": N_("leaks"),
    "status": N_("checkpoint statuses"),
}
GROUP_WORDS: dict[GroupBy, str] = {
    "family": N_("Family"),
    "language": N_("Language"),
    "relation": N_("Relation"),
    "agent": N_("Agent"),
    "kind": N_("Kind of item"),
}
STATISTIC_WORDS: dict[str, str] = {
    "percent": N_("percent agreement"),
    "cohen_kappa": N_("Cohen's kappa"),
    "scott_pi": N_("Scott's pi"),
    "fleiss_kappa": N_("Fleiss' kappa"),
    "brennan_prediger": N_("PABAK"),
    "alpha": N_("Krippendorff's alpha"),
    "ac1": N_("Gwet's AC1"),
    "kappa_linear": N_("kappa, linear weights"),
    "kappa_quadratic": N_("kappa, quadratic weights"),
    "ac2_ordinal": N_("Gwet's AC2, ordinal"),
    "ac2_quadratic": N_("Gwet's AC2, quadratic"),
    "alpha_ordinal": N_("alpha, ordinal"),
    "alpha_interval": N_("alpha, interval"),
    "alpha_ratio": N_("alpha, ratio"),
    "balanced_accuracy": N_("balanced accuracy"),
    "mcc": N_("Matthews' correlation"),
}
_OF_LABEL: dict[str, str] = {
    "precision": N_("precision, {label}"),
    "recall": N_("recall, {label}"),
    "f1": N_("F1, {label}"),
}
_LABELS: dict[Subject, tuple[str, str]] = {
    "gold": (N_("covered"), N_("not covered")),
    "row": (N_("covered"), N_("not covered")),
    "predicted": (N_("right"), N_("not right")),
    "cue": (N_("met"), N_("not met")),
    "leak": (N_("leak"), N_("no leak")),
}


def label_word(subject: Subject | None, label: str) -> str:
    """A label as it is read; of a CSV (no subject) and of a status as it stands."""
    words = _LABELS.get(subject) if subject else None
    if words is None or label not in ("yes", "no"):
        return label
    return _(words[0] if label == "yes" else words[1])


def statistic_word(name: str, subject: Subject | None = None) -> str:
    kind, _colon, label = name.partition(":")
    if label and kind in _OF_LABEL:
        return _(_OF_LABEL[kind]).format(label=label_word(subject, label))
    return _(STATISTIC_WORDS.get(name, name))


def rater_word(rater: Rater) -> str:
    match rater.role:
        case "majority":
            return _("most people")
        case "adjudicated":
            return _("adjudicated")
        case "settled":
            return _("adjudicated, else most people")
        case "judge":
            return _("judge {name}").format(name=rater.name)
        case "person":
            return rater.name


def figure(statistic: Statistic | None) -> str:
    """`0.912 [0.871, 0.947]`; without an interval the value alone, without a value a dash."""
    if statistic is None or statistic.value is None:
        return "–"
    if statistic.interval is None:
        return f"{statistic.value:.3f}"
    low, high = statistic.interval
    return f"{statistic.value:.3f} [{low:.3f}, {high:.3f}]"


def compact(statistic: Statistic, digits: int = 3) -> str:
    """`figure` where room is scarce: `0.912 [.871 .947]`, the interval with so many digits."""
    if statistic.value is None or statistic.interval is None:
        return figure(statistic)
    low, high = (_short(end, digits) for end in statistic.interval)
    return f"{statistic.value:.3f} [{low} {high}]"


def _short(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def remark(statistic: Statistic | None) -> str:
    """Why there is no value, or no interval."""
    if statistic is None:
        return ""
    return statistic.reason or statistic.no_interval


def circumstances(found: Comparison) -> list[str]:
    """What the figures are about and how they count, a sentence each."""
    lines = [
        _(
            "About {subject} on {tasks} tasks, from blind labels; intervals are 95%, by task."
        ).format(subject=_(SUBJECT_WORDS[found.subject]), tasks=found.tasks),
        _(
            "Items count by the inverse of the chance with which they were drawn; those that are not labelled are taken"
            " to be like the others of their stratum."
        )
        if found.weighted
        else _("Every item counts alike (not weighted)."),
    ]
    if found.bare:
        told = ", ".join(f"{name} ({share:.0%})" for name, share in found.bare)
        lines.append(
            _(
                "No labels in these strata, with their share of the items: {strata}. Figures speak for the others."
            ).format(strata=told)
        )
    if found.unsure or found.unjudged:
        lines.append(
            _("Missing: {unsure} labels “cannot tell”, {unjudged} decisions left open.").format(
                unsure=found.unsure, unjudged=found.unjudged
            )
        )
    if found.baselines:
        lines.append(
            _("{judges}: an offline baseline, not an LLM.").format(
                judges=", ".join(found.baselines)
            )
        )
    others = [each for each in found.subjects if each[0] != found.subject]
    if others:
        told = ", ".join(f"{_(SUBJECT_WORDS[subject])} ({n:,})" for subject, n in others)
        lines.append(_("Labelled too, and shown apart: {others}.").format(others=told))
    return lines

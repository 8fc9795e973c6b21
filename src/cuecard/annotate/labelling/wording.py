"""What labellers are asked of each kind of item, one item in plain words, as a form outside the app shows it, and strata."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cuecard.annotate.labelling.views import FEW, LabelView
from cuecard.core.evaluation.items import PredictedItem
from cuecard.core.families.registry import CORE
from cuecard.core.i18n import N_, _, listed
from cuecard.core.tasks.models import LANGUAGE_WORDS
from cuecard.core.text import one_line
from cuecard.core.verdicts import ItemKind


@dataclass(frozen=True)
class Wording:
    """The question for one kind of item, what counts as yes and as no (a line each), and the labels of its keys."""

    title: str
    question: str
    rule: str
    evidence: str
    yes: str = ""
    no: str = ""


_CLOSEST = N_("Handed in by the agent, likest first")
_SAID = N_("What was said")
# fmt: off
WORDING: dict[ItemKind, Wording] = {
    ItemKind.TRIPLE: Wording(
        N_("Gold item"), N_("Does what the agent handed in cover this triple?"),
        N_("Yes: one line handed in says it, or several together do; other names, units, wordings and more exact values count.\nNo: another value, thing or direction, less than gold says, or only to be guessed."),
        _CLOSEST, N_("covered"), N_("not covered")),
    ItemKind.CELL: Wording(
        N_("Gold item · a cell"), N_("Does the agent's table say the same in this cell?"),
        N_("Yes: a row of the agent's with the same key has this value in this column, by the criterion if there is one; other wordings, languages and forms count.\nNo: another value, something essential left out, or no such row. Gold is right by definition; what you doubt, mark."),
        _CLOSEST, N_("covered"), N_("not covered")),
    ItemKind.ROW: Wording(
        N_("Gold item · a row"), N_("Does the agent's table have this whole row right?"),
        N_("Yes: a row of the agent's with the same key has every cell right, by the criteria of their columns.\nNo: one cell or more is wrong or blank, or there is no such row."),
        _CLOSEST, N_("covered"), N_("not covered")),
    ItemKind.ANSWER: Wording(
        N_("Gold item · the answer"), N_("Does the agent's answer say the same?"),
        N_("Yes: whoever reads it takes away the same; other wording, language, and units that convert count.\nNo: another name or value, less exact than gold, a part left out, or several answers of which gold is one."),
        N_("The agent's answer"), N_("covered"), N_("not covered")),
    ItemKind.PREDICTED: Wording(
        N_("Handed in by the agent"), N_("Is this triple true, and was it asked for?"),
        N_("Yes: gold says it, or it is true by what you can check, and it answers what was asked.\nNo: it is untrue, or true and beside the question."),
        N_("Gold triples, likest first"), N_("true and asked for"), N_("untrue or not asked for")),
    ItemKind.STATUS: Wording(
        N_("Checkpoint"), N_("What did the agent do in this turn? Pick one."),
        N_("Pick what the agent's last words do, held against the checkpoint and its target."),
        _SAID),
    ItemKind.CUE: Wording(
        N_("Cue"), N_("Does the agent's reply meet this cue?"),
        N_("Yes: the agent's last words do what the cue names.\nNo: they do not, or only seem about to."),
        _SAID, N_("cue met"), N_("cue not met")),
    ItemKind.LEAK: Wording(
        N_("The user part's reply"), N_("Does this reply give away what the user must not say yet?"),
        N_("Yes: it says, or lets one infer, a line that was not due or the final answer.\nNo: it says at most the line that was next."),
        _SAID, N_("a leak"), N_("no leak")),
}
# fmt: on


_LONGEST = 1000
"""The most characters of one line of a form."""


def form_of(view: LabelView) -> dict[str, str]:
    """The fields of a form: `question`, `about` (the item, where it belongs and what was asked), `rule`, `evidence`.
    They show what the app shows before labelling, and nothing more.
    """
    gold, wording = view.gold, WORDING[view.gold.item.kind]
    about = [_("{what}: {text}").format(what=_(wording.title), text=gold.text)]
    if gold.also:
        about.append(_("also: {names}").format(names=listed(gold.also)))
    about += gold.context if gold.item.kind is not ItemKind.ANSWER else ()
    about += [_("source: {url}").format(url=url) for url in gold.sources]
    about.append(_("asked: {query}").format(query=view.query))
    if view.said:
        sides = {"agent": _("Agent"), "user": _("User")}
        found = [
            _("{what}: {text}").format(what=sides[said.role], text=said.text) for said in view.said
        ]
    elif view.unusable:
        found = [_("Nothing usable was handed in: {why}").format(why=view.unusable)]
    else:
        found = [predicted_line(item) for item in view.closest[:FEW]]
    evidence = found or [_("The agent handed in nothing.")]
    return {
        "question": _(wording.question),
        "about": _lines(about),
        "rule": _(wording.rule),
        "evidence": _lines([_(wording.evidence), *evidence]),
    }


def predicted_line(item: PredictedItem) -> str:
    """An item by its number, a table's cell before its row."""
    text = f"{item.cell}   ({item.text})" if item.cell else item.text
    return f"{item.index + 1}. {text}"


def _lines(texts: list[str]) -> str:
    return "\n".join(one_line(text, _LONGEST) for text in texts)


_STRATA: dict[str, Mapping[str, str]] = {
    "decision": {"yes": N_("covered"), "no": N_("not covered"), "unjudged": N_("unjudged")},
    "judges": {"agree": N_("judges agree"), "differ": N_("judges differ"), "–": N_("one judge")},
    "outcome": {
        "none": N_("nothing accepted"),
        "some": N_("some accepted"),
        "all": N_("all accepted"),
    },
    "family": CORE.each(lambda family: family.label),
    "language": LANGUAGE_WORDS,
}


def stratum_words(name: str, strata: Sequence[str]) -> str:
    """A stratum's name as it is read; `strata`: the plan's."""
    parts = name.split(" · ")
    if len(parts) != len(strata):
        return name  # a value has the sign between values in it
    known = (_STRATA.get(key, {}) for key in strata)
    return " · ".join(_(w[p]) if p in w else p for w, p in zip(known, parts, strict=True))

"""Quality control's decision table: eight stages, their signals, rules from signals to a verdict, and its page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from cuecard.core.contributions import QcVerdict
from cuecard.core.i18n import N_, _
from cuecard.core.probes.results import ProbeName
from cuecard.core.tasks.base import Frozen

Sign = Literal["open", "off", "clear", "some", "most", "found"]
"""The state of a signal. `open`: not checked, or only with baselines. `off`: does not apply to such a task.
`clear`: checked, nothing found. `some`: found in fewer than half of a model's attempts; `most`: in at
least half of them. `found`: found, where there are no attempts to count.

Of several models, the one that is right most often counts.
"""

SignalName = Literal[
    "errors", "leaked", "solvable", "shallow", "lawless", "missed", "hurried", "disputed"
]
SIGNALS: tuple[SignalName, ...] = get_args(SignalName)

SIGNAL_LABEL: dict[SignalName, str] = {
    "errors": N_("errors of the linter"),
    "leaked": N_("right from memory"),
    "solvable": N_("right without asking"),
    "shallow": N_("ambiguity on the surface"),
    "lawless": N_("facts that clash or are not plausible"),
    "missed": N_("wrong with all facts given"),
    "hurried": N_("little effort"),
    "disputed": N_("judge and expert disagree"),
}
SIGN_LABEL: dict[Sign, str] = {
    "open": N_("not looked at"),
    "off": N_("does not apply"),
    "clear": N_("no"),
    "some": N_("in some attempts"),
    "most": N_("in most attempts"),
    "found": N_("yes"),
}


class Signals(Frozen):
    """The state of each signal; its type says which states it can have."""

    errors: Literal["clear", "found"]
    leaked: Literal["open", "clear", "some", "most"] = "open"
    solvable: Literal["open", "off", "clear", "some", "most"] = "open"
    shallow: Literal["open", "off", "clear", "found"] = "open"
    lawless: Literal["open", "off", "clear", "found"] = "open"
    missed: Literal["open", "off", "clear", "some", "most"] = "open"
    hurried: Literal["open", "clear", "found"] = "open"
    disputed: Literal["open", "clear", "found"] = "open"

    def sign(self, name: SignalName) -> Sign:
        return getattr(self, name)


def signs_of(name: SignalName) -> tuple[Sign, ...]:
    """The states that a signal can have."""
    return get_args(Signals.model_fields[name].annotation)


StageName = Literal[
    "structure",
    "closed_book",
    "open_book",
    "ambiguity",
    "laws",
    "difficulty",
    "agreement",
    "verdict",
]
STAGES: tuple[StageName, ...] = get_args(StageName)

StageState = Literal["open", "skipped", "passed", "flagged"]
"""The state of a stage. `open`: not run; `skipped`: it cannot say anything, with a reason."""


@dataclass(frozen=True)
class QcStep:
    """A stage of quality control. `asks`: what it looks for; `probes`: what is played or examined for it; stages
    without probes use what the workspace holds. Translate `label` and `asks` when shown.
    """

    name: StageName
    label: str
    asks: str
    probes: tuple[ProbeName, ...] = ()

    @property
    def number(self) -> int:
        return STAGES.index(self.name) + 1


_STAGES = (
    QcStep("structure", N_("Structure"), N_("Does the linter find errors?")),
    QcStep(
        "closed_book",
        N_("Closed book"),
        N_("Is a model right without any tool? Then the answer leaks from its memory."),
        ("closed_book",),
    ),
    QcStep(
        "open_book",
        N_("Without asking"),
        N_("Is a model right that may search, but not ask? Then the dialogue is not needed."),
        ("open_book",),
    ),
    QcStep(
        "ambiguity",
        N_("Ambiguity"),
        N_("Does common sense see the candidates, or the error, before any search?"),
        ("ambiguity",),
    ),
    QcStep(
        "laws",
        N_("Laws"),
        N_("Do the facts hold together, and does a model that knows them all reach the answer?"),
        ("laws", "with_facts"),
    ),
    QcStep(
        "difficulty",
        N_("Difficulty"),
        N_("Did the author need at least so many minutes and pages?"),
    ),
    QcStep(
        "agreement",
        N_("Judge and expert"),
        N_("Do the judge and a person agree on one response, item by item?"),
    ),
    QcStep(
        "verdict", N_("Verdict"), N_("What do the stages speak for, and what does a person say?")
    ),
)
STAGE: dict[StageName, QcStep] = {stage.name: stage for stage in _STAGES}
STATE_LABEL: dict[StageState, str] = {
    "open": N_("not run"),
    "skipped": N_("skipped"),
    "passed": N_("all clear"),
    "flagged": N_("flagged"),
}


GRAVITY: tuple[QcVerdict, ...] = ("keep", "revise", "remove")
"""From the mildest to the most severe."""
VERDICT_LABEL: dict[QcVerdict, str] = {
    "keep": N_("keep"),
    "revise": N_("revise"),
    "remove": N_("remove"),
}

_FOUND: tuple[Sign, ...] = ("found",)
_MOST: tuple[Sign, ...] = ("most",)
_SEEN: tuple[Sign, ...] = ("some", "most")
_FINE: tuple[Sign, ...] = ("clear", "off")
_NOT_BAD: tuple[Sign, ...] = ("clear", "off", "open")
_ALL_FINE: dict[SignalName, tuple[Sign, ...]] = dict.fromkeys(SIGNALS, _FINE)
_NONE_BAD: dict[SignalName, tuple[Sign, ...]] = dict.fromkeys(SIGNALS, _NOT_BAD)


@dataclass(frozen=True)
class Rule:
    """A rule of the table. It applies if every signal of `when` is in one of the given states and, if `one_is` is
    given, at least one signal of all is in that state. `key` is stored with decisions and never changes; translate
    `says`.
    """

    key: str
    outcome: QcVerdict
    says: str
    when: Mapping[SignalName, tuple[Sign, ...]]
    one_is: Sign | None = None

    @property
    def reads(self) -> tuple[SignalName, ...]:
        """The signals that it depends on."""
        return SIGNALS if self.one_is else tuple(name for name in SIGNALS if name in self.when)

    def applies(self, signals: Signals) -> bool:
        if any(signals.sign(name) not in signs for name, signs in self.when.items()):
            return False
        return self.one_is is None or any(signals.sign(name) == self.one_is for name in SIGNALS)

    @property
    def condition(self) -> str:
        """When it applies, in words."""
        different = set(self.when.values())
        if len(self.when) == len(SIGNALS) and len(different) == 1:
            text = _("all signals: {signs}").format(signs=_signs(different.pop()))
        else:
            text = _("; ").join(
                _("{signal}: {signs}").format(signal=_(SIGNAL_LABEL[name]), signs=_signs(signs))
                for name, signs in self.when.items()
            )
        if self.one_is is None:
            return text
        return _("{text}; at least one: {sign}").format(text=text, sign=_(SIGN_LABEL[self.one_is]))


RULES: tuple[Rule, ...] = (
    Rule(
        "known",
        "remove",
        N_(
            "Models know the answer: a model without tools was right in at least half of its attempts."
        ),
        {"leaked": _MOST},
    ),
    Rule(
        "nothing_to_ask",
        "remove",
        N_("It can be answered without asking, and common sense sees its ambiguity."),
        {"solvable": _MOST, "shallow": _FOUND},
    ),
    Rule(
        "broken_world",
        "remove",
        N_("Its facts do not hold together, and those who know them all miss the answer."),
        {"lawless": _FOUND, "missed": _MOST},
    ),
    Rule(
        "unsound",
        "revise",
        N_("The linter finds errors: it cannot be played or scored as it is meant."),
        {"errors": _FOUND},
    ),
    Rule(
        "glimpsed",
        "revise",
        N_("A model was right without tools: the answer may be guessed or remembered."),
        {"leaked": ("some",)},
    ),
    Rule(
        "asked_for_nothing",
        "revise",
        N_("A model was right without asking: what the user holds back is not needed."),
        {"solvable": _SEEN},
    ),
    Rule(
        "on_the_surface",
        "revise",
        N_("The ambiguity or error is seen by common sense, without any search."),
        {"shallow": _FOUND},
    ),
    Rule(
        "clashing_facts",
        "revise",
        N_("Facts contradict each other or are not plausible."),
        {"lawless": _FOUND},
    ),
    Rule(
        "out_of_reach",
        "revise",
        N_("A model that was given all facts did not reach the answer."),
        {"missed": _SEEN},
    ),
    Rule(
        "too_little_effort",
        "revise",
        N_("Its author spent less than is asked for: it may be too easy."),
        {"hurried": _FOUND},
    ),
    Rule(
        "unclear_criteria",
        "revise",
        N_("Judge and expert disagree on its items: the gold or its criteria are unclear."),
        {"disputed": _FOUND},
    ),
    Rule(
        "nothing_so_far",
        "keep",
        N_("Nothing that was looked at speaks against it; not everything was looked at."),
        _NONE_BAD,
        one_is="open",
    ),
    Rule(
        "sound", "keep", N_("Everything was looked at, and nothing speaks against it."), _ALL_FINE
    ),
)
RULE_BY_KEY: dict[str, Rule] = {rule.key: rule for rule in RULES}


class Proposal(Frozen):
    """The table's result. `verdict`: the most severe outcome of the rules that apply; `rules`: their keys, the most
    severe first; `unknown`: signals not checked yet, which may still change it.
    """

    verdict: QcVerdict
    rules: tuple[str, ...]
    unknown: tuple[SignalName, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """What the rules say, translated."""
        return reasons_of(self.rules)


def propose(signals: Signals) -> Proposal:
    """The verdict that the table proposes for these signals."""
    applying = [rule for rule in RULES if rule.applies(signals)]
    applying.sort(key=lambda rule: -GRAVITY.index(rule.outcome))
    return Proposal(
        verdict=applying[0].outcome,
        rules=tuple(rule.key for rule in applying),
        unknown=tuple(name for name in SIGNALS if signals.sign(name) == "open"),
    )


def reasons_of(keys: tuple[str, ...]) -> tuple[str, ...]:
    """The sentences of rules, translated; for a rule that no longer exists, its key."""
    return tuple(_(RULE_BY_KEY[key].says) if key in RULE_BY_KEY else key for key in keys)


def _signs(signs: tuple[Sign, ...]) -> str:
    return _(" or ").join(_(SIGN_LABEL[sign]) for sign in signs)

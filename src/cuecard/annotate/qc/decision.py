"""The decision table: which signals speak for keeping, revising or removing a task.

The table is data. All rules that apply are reasons; of their outcomes the gravest is proposed. A person
confirms or changes it; nothing follows by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cuecard.annotate.qc.signals import SIGN_LABEL, SIGNAL_LABEL, SIGNALS, Sign, SignalName, Signals
from cuecard.core.i18n import N_, _
from cuecard.core.review import QcVerdict
from cuecard.core.tasks.base import Frozen

GRAVITY: tuple[QcVerdict, ...] = ("keep", "revise", "remove")
"""From the mildest to the gravest."""
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
    """Applies when every signal of `when` has one of its signs there and, if `one_is` is given, at least
    one signal of all has that sign. `key` is stored with decisions and never changes; translate `says`.
    """

    key: str
    outcome: QcVerdict
    says: str
    when: Mapping[SignalName, tuple[Sign, ...]]
    one_is: Sign | None = None

    @property
    def reads(self) -> tuple[SignalName, ...]:
        """The signals that it looks at."""
        return SIGNALS if self.one_is else tuple(name for name in SIGNALS if name in self.when)

    def applies(self, signals: Signals) -> bool:
        if any(signals.sign(name) not in signs for name, signs in self.when.items()):
            return False
        return self.one_is is None or any(signals.sign(name) == self.one_is for name in SIGNALS)

    @property
    def condition(self) -> str:
        """When it applies, as a person reads it."""
        different = set(self.when.values())
        if len(self.when) == len(SIGNALS) and len(different) == 1:
            text = _("all signals: {signs}").format(signs=_signs(different.pop()))
        else:
            text = "; ".join(
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
    """`verdict`: the gravest outcome of the rules that apply; `rules`: their keys, the gravest first.
    `unknown`: signals that nobody has looked at; while there are any, the proposal may still change.
    """

    verdict: QcVerdict
    rules: tuple[str, ...]
    unknown: tuple[SignalName, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """What the rules say, translated."""
        return reasons_of(self.rules)


def propose(signals: Signals) -> Proposal:
    """What the table says."""
    applying = [rule for rule in RULES if rule.applies(signals)]
    applying.sort(key=lambda rule: -GRAVITY.index(rule.outcome))
    return Proposal(
        verdict=applying[0].outcome,
        rules=tuple(rule.key for rule in applying),
        unknown=tuple(name for name in SIGNALS if signals.sign(name) == "open"),
    )


def reasons_of(keys: tuple[str, ...]) -> tuple[str, ...]:
    """The sentences of rules, translated; of a rule that is no more its key."""
    return tuple(_(RULE_BY_KEY[key].says) if key in RULE_BY_KEY else key for key in keys)


def _signs(signs: tuple[Sign, ...]) -> str:
    return _(" or ").join(_(SIGN_LABEL[sign]) for sign in signs)

"""A judge's exam as data, and conditions on which it is failed, for programs that rest on it."""

import re
from dataclasses import dataclass

from cuecard.annotate.results.judge_card import Card, fault_words, inputs_left
from cuecard.annotate.results.judge_exam import (
    ALWAYS_NO,
    ALWAYS_YES,
    GENERAL,
    LENIENT,
    NAMES,
    STRICT,
    ExamFigures,
    Fault,
    ProbeFigures,
)
from cuecard.core.exam.probes import PROBES
from cuecard.core.i18n import _, listed
from cuecard.core.tables.table import Statistic

_GATE = re.compile(r"(?P<name>[A-Za-z]\w*)\s*(?P<sign>[<>])\s*(?P<bound>\d*\.?\d+)(?P<percent>%?)")
FAULT = "fault"
"""As a gate: any fault."""
_ANSWERS = {ALWAYS_YES: False, LENIENT: False, ALWAYS_NO: True, STRICT: True}
"""By general fault, what is right of the items on which it errs."""


@dataclass(frozen=True)
class Gate:
    """A condition on which an exam is failed: `flip>0.05`, `specificity<95%`, `V06>0` (a probe's share of mistakes), `fault`
    (any) or a fault's name, such as `obeys_words`.
    """

    text: str
    name: str
    sign: str = ""
    bound: float = 0.0

    def failed(self, figures: ExamFigures) -> str:
        """Why the exam is failed by this condition; "" if it is not. A figure that is not known, a probe that is not examined,
        or an exam that is not over fails it too: nothing vouches for the judge there.
        """
        if left := inputs_left(figures):
            return left
        if not self.sign:
            return self._fault(figures)
        found = self._figure(figures)
        if isinstance(found, str):
            return found
        high = found > self.bound if self.sign == ">" else found < self.bound
        return f"{100 * found:.1f}%" if high else ""

    def _fault(self, figures: ExamFigures) -> str:
        """The faults that are told and are this one, or bring it with them: who says yes to everything is blind to negation, too."""
        wants = _ANSWERS.get(self.name, "")
        probes = {
            id
            for id, probe in PROBES.items()
            if self.name in (FAULT, NAMES[id]) or probe.right is wants
        }
        told = [
            fault_words(fault.told, fault.probes)
            for fault in figures.faults
            if self.name in (FAULT, fault.name) or probes <= _brought(fault)
        ]
        known = any(each.examined for id, each in figures.probes.items() if id in probes)
        return listed(told) if told or known else _("not examined")

    def _figure(self, figures: ExamFigures) -> float | str:
        whole = {
            "flip": figures.flip,
            "sensitivity": figures.sensitivity,
            "specificity": figures.specificity,
        }
        if self.name in whole:
            value = whole[self.name].value
            return whole[self.name].reason if value is None else value
        probe = figures.probes.get(self.name)
        if probe is None or not probe.examined or probe.error.value is None:
            return _("not examined")
        return probe.error.value


def _brought(fault: Fault) -> set[str]:
    """The probes on which a judge with this fault errs; one that says the same of everything is told by none."""
    return set(fault.probes) or {id for id, p in PROBES.items() if p.right is _ANSWERS[fault.name]}


def gate_of(text: str) -> Gate:
    """The condition that a text gives. Raises `ValueError` with the names there are."""
    words = ("flip", "sensitivity", "specificity", *PROBES)
    faults = (FAULT, *GENERAL, *NAMES.values())
    plain = "".join(text.split())
    name, *rest = re.split(r"\b(?=[<>])", plain, maxsplit=1)
    plain = "".join(
        (next((w for w in (*words, *faults) if w.lower() == name.lower()), name), *rest)
    )
    if found := _GATE.fullmatch(plain):
        if found["name"] in words:
            bound = float(found["bound"]) / (100 if found["percent"] else 1)
            never = 1.0 if found["sign"] == ">" else 0.0
            if bound > 1 or bound == never:
                told = _(
                    "{text} holds never or always: shares lie between 0 and 1, such as 0.05 or 5%"
                )
                raise ValueError(told.format(text=text))
            return Gate(plain, found["name"], found["sign"], bound)
    elif plain in faults:
        return Gate(plain, plain)
    else:
        raise ValueError(
            _(
                "{text} is no condition; say flip>0.05, specificity<0.95, V06>0, fault, or a fault: {faults}"
            ).format(text=text, faults=listed(faults[1:]))
        )
    raise ValueError(
        _("there is no figure {name}; there are {names}").format(
            name=found["name"], names=listed(words)
        )
    )


def card_json(card: Card) -> dict[str, object]:
    """The card as data: shares between 0 and 1, with their intervals; faults by their stable names."""
    found, exam = card.figures, card.exam

    def told(one: Statistic) -> dict[str, object]:
        return one.model_dump(
            mode="json", include={"value", "n", "low", "high", "reason", "no_interval"}
        )

    def of(each: ProbeFigures) -> dict[str, object]:
        return {
            "name": _(each.probe.name),
            "right": each.probe.right,
            "examined": each.examined,
            "mistakes": told(each.error),
            "tasks": each.tasks,
            **(
                {}
                if each.probe.known
                else {"to_yes": each.to_yes, "to_no": each.to_no, "beyond": each.beyond}
            ),
            "points": each.points,
            "unusable": each.unusable,
            "open": each.open,
        }

    return {
        "judge": exam.setting.judge.model_dump(mode="json"),
        "stamp": exam.setting.stamp,
        "seed": exam.setting.seed,
        "run": exam.run.id,
        "tasks": list(exam.tasks),
        "inputs": len(exam.answers),
        "open": found.open,
        "calls": exam.calls,
        "cost": exam.cost,
        "unusable": found.unusable,
        "sensitivity": told(found.sensitivity),
        "specificity": told(found.specificity),
        "flip": told(found.flip),
        "faults": [
            {"name": f.name, "told": _(f.told), "probes": list(f.probes)} for f in found.faults
        ],
        "probes": {id: of(each) for id, each in found.probes.items()},
        "rules": {id: of(each) for id, each in found.rules.items()},
        "groups": {
            name: {"sensitivity": told(one), "specificity": told(other)}
            for name, (one, other) in found.groups.items()
        },
    }

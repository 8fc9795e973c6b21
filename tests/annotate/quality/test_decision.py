"""The decision table, over everything that the signals can say."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from cuecard.annotate.quality.decision_table import (
    GRAVITY,
    RULE_BY_KEY,
    RULES,
    SIGN_LABEL,
    SIGNAL_LABEL,
    SIGNALS,
    SignalName,
    Signals,
    propose,
    reasons_of,
    signs_of,
)
from qc_page import qc_page

_DOMAINS = [signs_of(name) for name in SIGNALS]


def _sound(**signs: str) -> Signals:
    fine = dict.fromkeys(SIGNALS, "clear")
    return Signals.model_validate({**fine, **signs})


def test_every_combination_has_one_verdict_with_reasons_and_every_rule_can_apply() -> None:
    applied: Counter[str] = Counter()
    for values in product(*_DOMAINS):
        signals = Signals.model_construct(None, **dict(zip(SIGNALS, values, strict=True)))
        proposal = propose(signals)
        outcomes = {RULE_BY_KEY[key].outcome for key in proposal.rules}
        assert proposal.rules
        assert proposal.verdict == max(outcomes, key=GRAVITY.index)
        # What is wrong is never kept, and what nothing speaks against is never changed.
        bad = any(value in ("some", "most", "found") for value in values)
        assert (proposal.verdict == "keep") is not bad
        assert ("keep" in outcomes) is not bad
        assert ("open" in values) is bool(proposal.unknown)
        applied.update(proposal.rules)
    assert set(applied) == {rule.key for rule in RULES}


def test_every_single_flaw_is_a_reason_of_its_own() -> None:
    for name in SIGNALS:
        for sign in signs_of(name):
            if sign in ("open", "off", "clear"):
                continue
            proposal = propose(_sound(**{name: sign}))
            reading = [key for key in proposal.rules if name in RULE_BY_KEY[key].reads]
            assert reading == list(proposal.rules)


@pytest.mark.parametrize(
    ("signs", "verdict", "rules"),
    [
        ({}, "keep", ("sound",)),
        ({"shallow": "off", "lawless": "off", "missed": "off"}, "keep", ("sound",)),
        ({"leaked": "open"}, "keep", ("nothing_so_far",)),
        ({"leaked": "some"}, "revise", ("glimpsed",)),
        ({"leaked": "most", "errors": "found"}, "remove", ("known", "unsound")),
        ({"solvable": "most"}, "revise", ("asked_for_nothing",)),
        (
            {"solvable": "most", "shallow": "found"},
            "remove",
            ("nothing_to_ask", "asked_for_nothing", "on_the_surface"),
        ),
        (
            {"solvable": "some", "shallow": "found"},
            "revise",
            ("asked_for_nothing", "on_the_surface"),
        ),
        (
            {"lawless": "found", "missed": "most"},
            "remove",
            ("broken_world", "clashing_facts", "out_of_reach"),
        ),
        ({"hurried": "found", "leaked": "open"}, "revise", ("too_little_effort",)),
        ({"disputed": "found"}, "revise", ("unclear_criteria",)),
    ],
)
def test_what_is_proposed(signs: dict[str, str], verdict: str, rules: tuple[str, ...]) -> None:
    proposal = propose(_sound(**signs))
    assert (proposal.verdict, proposal.rules) == (verdict, rules)
    assert proposal.unknown == tuple(name for name, sign in signs.items() if sign == "open")
    assert all(len(reason) > 20 for reason in proposal.reasons)


def test_the_table_names_only_signs_that_there_are_and_can_be_read() -> None:
    assert len(RULE_BY_KEY) == len(RULES)
    named: set[SignalName] = set()
    for rule in RULES:
        for name, signs in rule.when.items():
            assert set(signs) & set(signs_of(name)), (rule.key, name)
            named.add(name)
        assert rule.condition
        assert rule.reads
    assert named == set(SIGNALS) == set(SIGNAL_LABEL)
    assert {sign for name in SIGNALS for sign in signs_of(name)} == set(SIGN_LABEL)
    assert RULE_BY_KEY["broken_world"].condition == (
        "facts that clash or are not plausible: yes; wrong with all facts given: in most attempts"
    )
    assert RULE_BY_KEY["nothing_so_far"].condition == (
        "all signals: no or does not apply or not looked at; at least one: not looked at"
    )


def test_the_page_is_the_table() -> None:
    """Write it with scripts/qc_page.py."""
    page = (Path(__file__).parents[3] / "docs" / "qc.md").read_text(encoding="utf-8")
    assert page == qc_page()
    assert all(page.count(f"| `{rule.key}` |") == 1 for rule in RULES)


def test_a_rule_that_is_no_more_is_still_named() -> None:
    assert reasons_of(("gone",)) == ("gone",)

"""Judges and people compared: figures that were worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cuecard.annotate.labelling.comparison import Place, cases_at, compare, seen_by
from cuecard.annotate.labelling.comparison_inputs import Case, ComparisonInputs, Scope, gather
from cuecard.annotate.labelling.comparison_model import (
    ADJUDICATED,
    MAJORITY,
    SETTLED,
    Comparison,
    Rater,
)
from cuecard.annotate.labelling.comparison_tables import conclusion, short_tables, tables_of
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.errors import NotFound
from cuecard.core.label_records import LabelValue, SetItem
from cuecard.core.tables.table import Statistic
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.workspace import Workspace
from judged_trials import ended_run, graph_task, triples

JUDGE = Rater(role="judge", name="j")
OTHER = Rater(role="judge", name="k")
ANA, BEN = Rater(role="person", name="Ana"), Rater(role="person", name="Ben")

# Task by item, what judges j and k decided, what Ana and Ben said; "-" is missing.
CASES = """
a yy yy
a yy yy
b yn yy
b nn nn
c yn nn
c nn nn
d yy yn
d nn yy
e y- y-
e ny nn
f yy nn
f nn yn
"""


def said(**values: str) -> dict[str, str]:
    return {who: {"y": "yes", "n": "no"}[value] for who, value in values.items() if value != "-"}


def inputs(**more: object) -> ComparisonInputs:
    cases: list[Case] = []
    for index, line in enumerate(CASES.split("\n")[1:-1]):
        task, (j, k), (ana, ben) = line.split()
        labels = said(Ana=ana, Ben=ben)
        case = Case(
            trial_id=1 + index % 2,
            item=Item(kind=ItemKind.TRIPLE, index=index),
            task=task,
            language="en" if task < "d" else "zh",
            decisions=said(j=j, k=k),
            labels=labels,
            people=frozenset(labels),
            revealed=more.get("revealed", {}).get(index, {}),  # pyright: ignore
            adjudicated="yes" if index == 7 else "",
            cause="alias" if index == 7 else "",
            weight=3.0 if more.get("weighted") and index < 2 else 1.0,
        )
        cases.append(case)
    return ComparisonInputs(
        subject="gold", cases=tuple(cases), judges=("j", "k"), people=("Ana", "Ben"), population=40
    )


def value(found: Statistic | None) -> float:
    assert found is not None
    assert found.value is not None, found.reason
    return found.value


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare(inputs(), resamples=200)


def test_by_hand(found: Comparison) -> None:
    # j and Ana, 12 items: both yes 5 (1, 2, 3, 7, 9), j alone 2 (5, 11), Ana alone 2 (8, 12), no 3.
    pair = found.pair(JUDGE, ANA)
    assert pair is not None
    assert pair.table.confusion is not None
    assert pair.table.confusion.counts == ((5, 2), (2, 3))
    expected = (7 * 7 + 5 * 5) / 144
    wanted = {
        "percent": 8 / 12,
        "cohen_kappa": (8 / 12 - expected) / (1 - expected),
        "scott_pi": (8 / 12 - expected) / (1 - expected),
        "brennan_prediger": 4 / 12,
        "ac1": (8 / 12 - 70 / 144) / (1 - 70 / 144),
        "precision:yes": 5 / 7,
        "recall:no": 3 / 5,
        "f1:yes": 10 / 14,
        "balanced_accuracy": (5 / 7 + 3 / 5) / 2,
        "mcc": (5 * 3 - 2 * 2) / (7 * 5),
    }
    for name, number in wanted.items():
        assert value(pair.statistic(name)) == pytest.approx(number), name
        statistic = pair.statistic(name)
        assert statistic is not None
        assert statistic.interval or statistic.no_interval
    # Of 11 items that both people labelled they agree on 9.
    people = found.pair(ANA, BEN)
    assert people is not None
    assert (people.n, value(people.statistic("percent"))) == (11, pytest.approx(9 / 11))
    assert people.reference is None
    # Ties (items 7 and 12) have no majority; with one label it is that label.
    majority = found.pair(JUDGE, MAJORITY)
    assert majority is not None
    assert (majority.n, value(majority.statistic("percent"))) == (10, pytest.approx(7 / 10))
    # Item 8 was adjudicated: yes, which the majority had said as well.
    assert [r.role for r in found.references[:3]] == ["majority", "settled", "adjudicated"]
    settled, adjudicated = found.pair(JUDGE, SETTLED), found.pair(JUDGE, ADJUDICATED)
    assert settled is not None
    assert adjudicated is not None
    assert (settled.n, adjudicated.n) == (10, 1)
    assert value(adjudicated.statistic("percent")) == 0
    assert adjudicated.statistic("cohen_kappa") is not None
    assert found.causes == (("alias", 1),)


def test_judges_on_the_same_items_ceiling_and_groups(found: Comparison) -> None:
    # Against most people, without item 9, which k left open: j is right on 6 of 9, k on 5.
    [apart] = found.differences
    assert (apart.n, apart.rows[0].name) == (9, "percent")
    assert value(apart.ones[0].statistic) == pytest.approx(6 / 9)
    assert value(apart.others[0].statistic) == pytest.approx(5 / 9)
    assert value(apart.rows[0].statistic) == pytest.approx(1 / 9)
    ceiling = next(each for each in found.ceilings if each.judge == JUDGE.key)
    assert ceiling.n == 11
    assert value(ceiling.people_people[0].statistic) == pytest.approx(9 / 11)
    english = next(g for g in found.groups if (g.judge, g.by, g.value) == ("j", "language", "en"))
    assert (english.n, english.tasks) == (6, 3)
    assert value(english.statistic("percent")) == pytest.approx(5 / 6)


def test_what_one_person_alone_labelled_of_a_drawn_set_has_no_part_in_the_ceiling() -> None:
    whole = inputs()
    drawn = tuple(
        SetItem(
            trial_id=case.trial_id,
            item=case.item,
            stratum="x" if at < 6 else "y",
            probability=0.5 if at < 6 else 1,
        )
        for at, case in enumerate(whole.cases)
    )
    found = compare(replace(whole, drawn=drawn), resamples=50)
    ceiling = next(each for each in found.ceilings if each.judge == JUDGE.key)
    # Six of x stand for two each, five of y for 6/5 each: Ben did not label the ninth.
    assert ceiling.n == 11
    people = value(ceiling.people_people[0].statistic)
    assert people == pytest.approx((6 * 2 + 3 * 1.2) / (6 * 2 + 5 * 1.2))


def test_weights_and_anchoring() -> None:
    weighted = compare(inputs(weighted=True), resamples=50)
    pair = weighted.pair(JUDGE, ANA)
    assert pair is not None
    # Two agreeing items count three times: 12 of 16.
    assert value(pair.statistic("percent")) == pytest.approx(12 / 16)
    assert weighted.weighted
    # Item 4: nothing changed; 5: Ana goes to j's (k says no: judges differ, so it tells of no judge);
    # 8: from yes to the judges' no; 11: both judges say yes, Ana stays with no.
    revealed = {
        3: {"Ana": "no"},
        4: {"Ana": "yes"},
        7: {"Ana": "no"},
        10: {"Ana": "no"},
    }
    [anchored] = compare(inputs(revealed=revealed), resamples=50).anchoring
    assert anchored.looked == 4
    assert value(anchored.changed) == 0.5
    assert (anchored.towards.n, value(anchored.towards)) == (2, 0.5)
    assert (anchored.away.n, value(anchored.away)) == (1, 0)


def test_few_figures_come_first_and_one_sentence_says_what_follows(found: Comparison) -> None:
    first = short_tables(found)[0]
    assert len(first.headings) == 6
    assert len(first.notes) == len(first.lines)
    pair = found.against(found.references[0])[0]

    def told(low: float, high: float, accepted: float, refused: float) -> str:
        figures = {
            "cohen_kappa": Statistic(name="k", value=(low + high) / 2, n=9, low=low, high=high),
            "recall:yes": Statistic(name="r", value=accepted, n=9),
            "recall:no": Statistic(name="r", value=refused, n=9),
        }
        return conclusion(found, Sided(pair, figures))

    assert "nearly as people do" in told(0.82, 0.9, 0.9, 0.9)
    assert "errs to both sides alike" in told(0.82, 0.9, 0.9, 0.9)
    assert "mostly decides" in told(0.65, 0.9, 0.9, 0.8)
    assert "too high" in told(0.65, 0.9, 0.9, 0.8)
    assert "do not tell" in told(0.4, 0.9, 0.8, 0.9)
    assert "too low" in told(0.4, 0.9, 0.8, 0.9)
    assert "does not stand in" in told(0.1, 0.5, 0.9, 0.9)


class Sided:
    """A pair with figures of one's own."""

    def __init__(self, pair, figures) -> None:
        self.left, self._figures = pair.left, figures

    def statistic(self, name):
        return self._figures.get(name)


def test_a_figure_leads_to_its_items(found: Comparison) -> None:
    gathered = inputs()
    wrong = cases_at(gathered, Place(left=JUDGE, right=ANA, row="yes", column="no"))
    assert [case.item.index for case in wrong] == [4, 10]
    everything = cases_at(gathered, Place(left=JUDGE, right=ANA))
    assert [case.item.index for case in everything[:4]] == [4, 7, 10, 11]
    group = Place(left=JUDGE, right=ANA, by="language", value="zh")
    assert {case.task for case in cases_at(gathered, group)} == {"d", "e", "f"}
    assert len(seen_by(everything, "Ben")) == 11
    assert seen_by(everything, "Chen") == ()
    # Every cell of a table that names a place leads to as many items as it says.
    for table in tables_of(found):
        assert all(len(line) == len(table.headings) for line in table.lines), table.title
        for cell in (cell for line in table.lines for cell in line):
            if table.view == "matrix" and cell.place and cell.text.isdigit():
                assert len(cases_at(gathered, cell.place)) == int(cell.text), table.title


@pytest.fixture
def judged(tmp_path: Path) -> Iterator[tuple[Workspace, int]]:
    """Two trials with six verdicts each by two judges, of which the second leaves one open."""
    with Workspace.open(tmp_path / "w.db") as workspace:
        handed = triples(("maker 0", "founded in", "1900"))
        run = ended_run(workspace, graph_task(), [handed, handed])
        for trial in workspace.runs.trials(run):
            for name in ("j", "k"):
                decided = [
                    Decision.UNJUDGED if (name, n) == ("k", 5) else Decision.YES for n in range(6)
                ]
                verdicts = tuple(
                    Verdict(
                        item=Item(kind=ItemKind.TRIPLE, index=n),
                        decision=decision,
                        supporting=(0,),
                    )
                    for n, decision in enumerate(decided)
                )
                ref = PlayerRef(name=name, kind="model", baseline=name == "k")
                workspace.verdicts.add(trial.id, Judgement(judge=ref, verdicts=verdicts))
        yield workspace, run


def test_what_is_gathered(judged: tuple[Workspace, int]) -> None:
    workspace, run = judged
    first, second = (trial.id for trial in workspace.runs.trials(run))
    items = [Item(kind=ItemKind.TRIPLE, index=n) for n in range(6)]
    assert gather(workspace, Scope(runs=(run,))).cases == ()
    verdicts = workspace.verdicts
    for item in items[3:]:
        verdicts.label_item(first, item, "Ana", LabelValue.NO)
    verdicts.label_item(second, items[0], "Ben", LabelValue.UNSURE)
    verdicts.note_reveal(first, items[3], "Ana")
    verdicts.label_item(first, items[3], "Ana", LabelValue.YES)
    verdicts.label_item(first, Item(kind=ItemKind.PREDICTED), "Ana", LabelValue.YES)
    workspace.adjudications.add(first, items[4], "Cy", LabelValue.NO, "granularity")

    told: list[tuple[int, int]] = []
    found = gather(workspace, Scope(runs=(run,)), lambda done, of: told.append((done, of)))
    assert told[-1] == (1, 1)
    assert (found.population, found.unsure, found.unjudged) == (12, 1, 1)
    assert found.subjects == {"gold": 4, "predicted": 1}
    assert (found.judges, found.baselines) == (("j", "k"), ("k",))
    by_name = {case.name: case for case in found.cases}
    three = by_name[f"{first}/triple/3"]
    assert (three.labels, three.revealed) == ({"Ana": "no"}, {"Ana": "yes"})
    assert (three.relation, three.language, three.family) == ("founded in", "en", "graph")
    assert by_name[f"{first}/triple/4"].adjudicated == "no"
    assert by_name[f"{first}/triple/4"].cause == "granularity"
    assert by_name[f"{first}/triple/5"].decisions == {"j": "yes"}
    assert by_name[f"{second}/triple/0"].people == {"Ben"}
    assert not found.weighted

    predicted = gather(workspace, Scope(runs=(run,), subject="predicted"))
    [case] = predicted.cases
    assert case.decisions == {"j": "yes", "k": "yes"}

    drawn = [
        SetItem(trial_id=first, item=item, probability=p)
        for item, p in ((items[3], 0.5), (items[4], 0.25))
    ]
    kept = workspace.label_sets.create(name="s", created_by="Ana", items=drawn)
    sampled = gather(workspace, Scope(set_id=kept.id))
    assert [case.weight for case in sampled.cases] == [2, 4]
    assert (sampled.population, sampled.weighted) == (2, True)
    for unknown in (Scope(runs=(99,)), Scope(set_id=99)):
        with pytest.raises(NotFound):
            gather(workspace, unknown)

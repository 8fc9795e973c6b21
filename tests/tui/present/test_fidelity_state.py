"""What the fidelity screen shows, without a screen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest
from pydantic import ValidationError

from cuecard.annotate.fidelity.findings import Turns
from cuecard.annotate.fidelity.inputs import FidelityInputs, Scope
from cuecard.annotate.fidelity.model import Agreement, Correlation, Fidelity, Point
from cuecard.annotate.fidelity.tables import fidelity_tables
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.tables.table import Statistic
from cuecard.tui.present.fidelity import (
    FidelityView,
    Sizes,
    figure_lines,
    here,
    plot_cells,
    plot_columns,
    scatter_of,
    sizes_lines,
    title_words,
)
from cuecard.tui.present.files import markdown
from cuecard.tui.present.tables import plot_rows, table_rows

ACTOR = PlayerRef(name="actor", kind="persona", model="m-1")


def figure(name: str, value: float | None) -> Statistic:
    if value is None:
        return Statistic(name=name, value=None, n=0, reason="too few")
    return Statistic(name=name, value=value, n=12, low=value - 0.1, high=value + 0.1)


def points(*pairs: tuple[float, float]) -> tuple[Point, ...]:
    return tuple(
        Point(trial_id=n, task_id="makers", person="Ben", x=x, y=y)
        for n, (x, y) in enumerate(pairs)
    )


def correlation(found: Sequence[Point]) -> Correlation:
    return Correlation(
        scale="satisfaction",
        label="How satisfied are you?",
        measure="f1",
        sessions=len(found),
        tasks=1,
        spearman=figure("spearman", 0.5),
        kendall=figure("kendall", 0.4),
        spearman_within=figure("spearman", None),
        kendall_within=figure("kendall", None),
        design_effect=None,
        points=tuple(found),
    )


@pytest.fixture
def view() -> FidelityView:
    agreement = Agreement(
        simulator=ACTOR,
        subject="cue",
        by=None,
        value="",
        n=12,
        tasks=2,
        percent=figure("percent", 0.8),
        cohen_kappa=figure("cohen_kappa", 0.6),
        ac1=figure("ac1", None),
    )
    part = agreement.model_copy(update={"by": "cue", "value": "asks", "n": 5})
    found = Fidelity(
        runs=(),
        tasks=(),
        trials=3,
        played=2,
        turns=12,
        simulators=(ACTOR,),
        people=("Ben",),
        stale=0,
        unsure=0,
        undecided=0,
        agreements=(agreement, part),
        among_people=(),
        ceilings=(),
        findings=(),
        worst=(),
        outcomes=(),
        meaning=None,
    )
    material = FidelityInputs(Scope(), (), (ACTOR,), ("Ben",))
    return FidelityView(material, found, fidelity_tables(found))


def test_sections_keep_their_place_and_say_why_they_are_empty(view: FidelityView) -> None:
    assert view.heading.startswith("Cues 1/2")
    view.step(1)
    view.show("meaning")
    assert view.table is None
    assert "form" in view.details(0, 0)[0]
    view.show("cues")
    assert view.heading.startswith("Cues 2/2")
    assert title_words(view, "", Scope()).startswith("Fidelity · 12 turns · 2 dialogues by people")


def test_behind_a_figure_lie_its_turns(view: FidelityView) -> None:
    whole = Turns(simulator=ACTOR, subject="cue", decided=True)
    assert [view.behind(0, column) for column in range(5)] == [whole] * 5
    assert view.behind(7, 1) is None
    view.step(1)
    assert view.behind(0, 2) == whole.model_copy(update={"by": "cue", "value": "asks"})
    view.step(1)
    view.plotted = True
    assert view.behind(1, 0) == whole
    assert view.details(0, 0)[0].endswith("80.0% [70.0, 90.0] · n 12")


def test_a_table_and_its_intervals_fit_80_columns(view: FidelityView) -> None:
    assert view.table is not None
    columns, rows = table_rows(view.table, 80)
    assert sum(column.width + 2 for column in columns) <= 78
    assert len(rows[0]) == len(columns) == 5
    columns, rows = plot_rows(view.table, 80)
    assert sum(column.width + 2 for column in columns) <= 80
    assert "●" in str(rows[0][2])


def test_markdown_holds_every_table_and_escapes_names(view: FidelityView) -> None:
    text = markdown(view.tables, "a *bold* | title", ["<b>"])
    assert text.startswith("# a \\*bold\\* \\| title\n\n- &lt;b>\n")
    assert text.count("\n## ") == len(view.tables) == 2
    assert "80.0% [70.0, 90.0]" in text


def test_a_plane_of_answers_and_scores() -> None:
    found = points((7, 1.0), (7, 0.95), (1, 0.0), (3, 0.5))
    scatter = scatter_of(found, (1, 7), 12)
    assert scatter.answers == (7, 6, 5, 4, 3, 2, 1)
    assert scatter.columns == 10
    assert scatter.counts(0) == [0] * 9 + [2]
    assert scatter.counts(6) == [1] + [0] * 9
    assert scatter.counts(4)[5] == 1
    assert len(scatter.at(0)) == 2
    assert not scatter.at(0, 3)
    assert not scatter.at(9)
    assert [cell.text for cell in plot_cells(scatter, 4)] == ["3", *"·····1····"]
    assert [column.label for column in plot_columns(scatter, 5)][-1] == "0.9–1"
    assert here(scatter.at(4)) == "1 session · makers Ben"
    lines = figure_lines(correlation(found))
    assert "Spearman 0.500 [0.400, 0.600]" in lines[0]
    assert "too few" in lines[1]


@pytest.mark.parametrize(
    ("scores", "low", "high"),
    [((3.0, 8.0), 3, 8), ((2.0, 2.0), 1.5, 2.5), ((0.0, 40.0), 0, 40), ((), 0, 1)],
)
def test_other_scores_span_what_there_is(
    scores: tuple[float, ...], low: float, high: float
) -> None:
    scatter = scatter_of(points(*((1.0, score) for score in scores)), None, 8)
    assert (scatter.edges[0], scatter.edges[-1]) == (low, high)
    assert sum(map(sum, (scatter.counts(row) for row in range(len(scatter.answers))))) == len(
        scores
    )


def test_how_many_sessions_are_said() -> None:
    lines = sizes_lines(Sizes(), 89, 1.5)
    assert "89 independent sessions" in lines[0]
    assert "134" in lines[2]
    assert "0.30" in lines[3]
    for wrong in ("", "x", 1, 0, "nan", "inf"):
        with pytest.raises(ValidationError):
            Sizes.model_validate({"size": wrong})
    for size, power, alpha in product((0.001, 0.999), repeat=3):
        assert len(sizes_lines(Sizes(size=size, power=power, alpha=alpha), 10, None)) == 3
    assert "too few" in sizes_lines(Sizes(), 2, None)[-1]

"""Plots in characters: known pictures, the cursor from point to point, names of any width and number."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from budget import examples
from cuecard.annotate.results.plots.model import Axis, HeatCell, Plot, PlotKind, Point, Series
from cuecard.tui.present.plot_canvas import GLYPHS, Canvas, Line, PlotCursor, kept, moved, trials_at
from cuecard.tui.present.plot_pictures import picture
from cuecard.tui.present.plots import PlotsView, name_at, point_text
from result_rows import pool, row

SHARE = Axis(label="F1", scale="share")


def plain_text(lines: tuple[Line, ...]) -> str:
    return "\n".join("".join(segment.text for segment in line).rstrip() for line in lines)


def plot(kind: PlotKind, *series: Series, **more: object) -> Plot:
    fields: dict[str, object] = {
        "key": "k",
        "kind": kind,
        "title": "t",
        "family": None,
        "x": SHARE,
        "y": SHARE,
        "counted": "tasks",
        "series": series,
    }
    return Plot.model_validate(fields | more)


def one(name: str, mark: int, *points: Point) -> Series:
    return Series(name=name, mark=mark, points=points)


def at(x: float, y: float, **more: object) -> Point:
    return Point.model_validate({"x": x, "y": y, "n": 8, **more})


def names(*told: str) -> Axis:
    return Axis(label="Agent", high=max(1, len(told) - 1), names=told)


SPOTS = plot(
    "scatter",
    one("alpha", 0, at(0.5, 0.75, low=0.5, high=1, x_low=0.25, x_high=0.75, trials=(4, 5))),
    one("贝塔", 1, at(0.0, 0.25)),
)
ROWS = plot(
    "intervals",
    one("alpha", 0, at(0, 0.5, low=0.25, high=0.75)),
    one("中文名", 1, at(1, 1.0)),
    x=names("alpha", "中文名"),
)
LINES = plot(
    "lines",
    one("a", 0, at(1, 0.0), at(2, 0.5), at(3, 1.0, low=0.5, high=1.0)),
    one("b", 1, at(1, 0.5), at(2, 0.5), at(3, 0.5, thin=True)),
    x=Axis(label="k", low=1, high=3, scale="count"),
)
BARS = plot(
    "bars",
    one("a", 0, at(0, 0.5), at(1, 0.25), at(2, 0.0)),
    one("b", 1, at(0, 0.0), at(1, 0.01), at(2, 0.5)),
    x=names("0.0–0.1", "0.1–0.2", "0.2–0.3"),
    y=Axis(label="Share", high=0.5, scale="share"),
)
HEAT = plot(
    "heat",
    x=names("alpha", "beta"),
    y=names("art", "历史"),
    shade=SHARE,
    cells=tuple(
        HeatCell(
            row=r, column=c, value=v, n=3, reason="" if v is not None else "none", trials=(r, c)
        )
        for r, c, v in ((0, 0, 0.1), (0, 1, 0.5), (1, 0, 1.0), (1, 1, None))
    ),
)
ALL = (SPOTS, ROWS, LINES, BARS, HEAT)


def drawn(found: Plot, width: int, height: int, place: PlotCursor | None = None) -> str:
    return plain_text(picture(found, width, height, place or PlotCursor())).rstrip()


def test_points_with_both_intervals() -> None:
    assert (
        drawn(SPOTS, 36, 11)
        == """\
F1
1.0┤               ┬
   │               │ alpha
   │        ├──────●──────┤
0.5┤               ┴
   │■ 贝塔
   │
0.0┤
   └┴──────────────┴──────────────┴
   0.0            0.5            1.0
                                 F1"""
    )


def test_intervals_in_rows() -> None:
    assert (
        drawn(ROWS, 52, 8)
        == """\
● alpha        ├────●───┤       0.500 [0.250, 0.750]

■ 中文名                     ■                 1.000

          ┴─────────┴────────┴
          0.0      0.5     1.0
          F1"""
    )


def test_curves_with_the_interval_under_the_cursor() -> None:
    assert (
        drawn(LINES, 40, 12, PlotCursor(0, 2))
        == """\
F1
1.0┤                            ⢀⡠●  ● a
   │                        ⢀⡠⠔⠊⠁ │
   │                    ⣀⠤⠒⠊⠁     │
   │                ⣀⠤⠒⠉          │
0.5┤■⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⢉⡩⠝⠋■⠈ ⠁⠈ ⠁⠈ ⠁⠈ ⠁⠈ ┴  ■ b
   │       ⣀⡠⠔⠊⠁
   │   ⣀⠤⠒⠉
0.0┤●⠒⠉
   └┴──────────────┴──────────────┴
    1              2              3
                                  k"""
    )


def test_bars_by_class() -> None:
    assert (
        drawn(BARS, 40, 12, PlotCursor(1, 2))
        == """\
Share; a full bar is 0.500
    ██████████
    ██████████ ▄▄▄▄▄▄▄▄▄▄
● a ██████████ ██████████ ··········

                          ██████████
                          ██████████
■ b ·········· ▁▁▁▁▁▁▁▁▁▁ 0.500
    0.0–0.1    0.1–0.2    0.2–0.3
    Agent"""
    )


def test_heat_map() -> None:
    assert (
        drawn(HEAT, 60, 8)
        == """\
      alpha             beta
art      0.100          ▒▒ 0.500
历史  ██ 1.000             –

      ░░ 0.2–0.4 ▒▒ 0.4–0.6 ▓▓ 0.6–0.8 ██ 0.8–1"""
    )


def test_the_cursor_is_in_reverse() -> None:
    found = {
        (segment.text, segment.ink)
        for line in picture(SPOTS, 36, 11, PlotCursor(1, 0))
        for segment in line
        if segment.ink == "cursor"
    }
    assert found == {("■", "cursor")}


def test_the_cursor_goes_where_things_are_drawn() -> None:
    assert moved(SPOTS, PlotCursor(0, 0), "left") == PlotCursor(1, 0)
    assert moved(SPOTS, PlotCursor(1, 0), "left") == PlotCursor(1, 0)
    assert moved(SPOTS, PlotCursor(1, 0), "up") == PlotCursor(0, 0)
    assert moved(ROWS, PlotCursor(0, 0), "down") == PlotCursor(1, 0)
    assert moved(ROWS, PlotCursor(1, 0), "first") == PlotCursor(0, 0)
    # a lies below b at 1, on it at 2, above it at 3.
    assert moved(LINES, PlotCursor(0, 0), "up") == PlotCursor(1, 0)
    assert moved(LINES, PlotCursor(0, 2), "down") == PlotCursor(1, 2)
    assert moved(LINES, PlotCursor(0, 0), "last") == PlotCursor(0, 2)
    assert moved(BARS, PlotCursor(0, 2), "down") == PlotCursor(1, 2)
    assert moved(HEAT, PlotCursor(0, 0), "right") == PlotCursor(0, 1)
    assert moved(HEAT, PlotCursor(1, 1), "down") == PlotCursor(1, 1)
    assert kept(LINES, PlotCursor(9, 9)) == PlotCursor(1, 2)


def test_what_is_under_the_cursor() -> None:
    assert point_text(SPOTS, PlotCursor(0, 0)) == (
        "● alpha · F1 0.500 [0.250, 0.750] · F1 0.750 [0.500, 1.000] · n 8 (tasks)"
    )
    assert point_text(LINES, PlotCursor(1, 2)).endswith("few trials")
    assert point_text(HEAT, PlotCursor(1, 1)) == "beta · 历史 · – · n 3 (tasks) · none"
    assert name_at(LINES, PlotCursor(1, 2)) == "b · k 3"
    assert trials_at(SPOTS, PlotCursor(0, 0)) == (4, 5)
    assert trials_at(HEAT, PlotCursor(1, 0)) == (1, 0)


@settings(max_examples=examples(25), deadline=None)
@given(
    st.sampled_from(ALL),
    st.integers(0, 130),
    st.integers(0, 45),
    st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
def test_any_size_keeps_within_it(found: Plot, width: int, height: int, place: object) -> None:
    lines = picture(found, width, height, PlotCursor(*place))  # type: ignore[misc]
    assert len(lines) == height
    assert all(sum(cell_len(part.text) for part in line) <= width for line in lines)


@pytest.mark.parametrize("size", [(78, 16), (116, 32), (40, 12)])
def test_twelve_agents_with_long_and_chinese_names(size: tuple[int, int]) -> None:
    told = [
        *(f"agent {n} with a long name" for n in range(6)),
        *(f"第{n}个中文智能体的名字很长" for n in range(6)),
    ]
    many = [one(name, n, at(n / 11, n / 11), at(1, 0.5)) for n, name in enumerate(told)]
    for kind in ("scatter", "lines", "bars"):
        found = plot(kind, *many) if kind != "bars" else plot(kind, *many, x=names("0", "1"))
        text = drawn(found, *size)
        assert all(cell_len(line) <= size[0] for line in text.splitlines())
        if kind != "bars":
            assert {glyph for glyph in GLYPHS if glyph in text} == set(GLYPHS)
    assert len(set(GLYPHS)) == 12
    assert all(cell_len(glyph) == 1 for glyph in GLYPHS)


def test_nothing_to_draw_is_said() -> None:
    empty = plot("scatter", missing="no prices")
    assert drawn(empty, 60, 8) == "Nothing to draw: no prices"
    assert moved(empty, PlotCursor(), "right") == PlotCursor()
    assert point_text(empty, PlotCursor()) == "Nothing to draw: no prices"
    assert drawn(SPOTS, 60, 3) == "Too small to draw"


def test_half_of_a_wide_character_does_not_stay() -> None:
    canvas = Canvas(6, 1)
    canvas.put(0, 0, "中文字\x1b[31m")
    canvas.put(1, 0, "x")
    assert plain_text(canvas.lines()) == " x文字"
    canvas.put(5, 0, "宽")
    assert plain_text(canvas.lines()) == " x文字"


def test_a_view_goes_through_plots_and_families() -> None:
    view = PlotsView(
        pool(
            row("a", "t1", {"triplet_f1": 0.5}),
            row("a", "t2", {"acc": 1.0}, family="checkpoints", language="zh"),
        )
    )
    assert view.heading.startswith("1/")
    view.go(3)
    assert view.plot.key == "spread-graph"
    view.next_family()
    view.next_family()
    assert (view.family, view.plot.key) == ("checkpoints", "spread-checkpoints")
    assert len(view.rows()) == 0
    view.put(PlotCursor(0, 1))
    assert [r.trial.task_id for r in view.rows()] == ["t2"]
    assert view.behind().startswith("a · Accuracy 1")
    assert view.next_by == ("agent", "language")
    other = PlotsView(view.pool, view.next_by)
    other.keep_place_of(view)
    assert other.plot.key == "spread-checkpoints"
    assert "by agent, language" in other.title("main")
    assert view.file_text(".svg").startswith("<svg")
    assert view.file_text(".csv").startswith("\ufefftable,")
    view.as_table = True
    assert [r.trial.task_id for r in view.rows(1, 2)] == ["t2"]
    assert not PlotsView(pool()).anything

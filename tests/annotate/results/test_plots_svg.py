"""Pictures as SVG: well-formed whatever agents are called, complete, the same bytes each time."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.results.plots.builders import plots_of
from cuecard.annotate.results.plots.model import Plot
from cuecard.annotate.results.plots.svg import as_svg
from cuecard.annotate.results.plots.svg_lines import Box, placed, spread
from cuecard.annotate.results.plots.svg_parts import (
    COLOURS,
    SHAPES,
    fitted,
    marker,
    number,
    width_of,
    wrapped,
)
from cuecard.annotate.results.pool import Pool
from cuecard.core.scoring.trial_score import FactFigures
from result_rows import pool, row

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<script>alert("x")</script> & \x1b[31m\ud800\ufffe]]>'
NAMES = (
    "alpha",
    "名字很长的中文智能体用来检验图例是否对齐而且不会超出画面",
    HOSTILE,
    "a-very-long-name-of-an-agent-that-goes-on-and-on-2026-11-22-preview",
    *(f"agent {n}" for n in range(8)),
)


def extreme() -> Pool:
    """Twelve agents with every kind of name on three tasks of two families, 64 calls each."""
    rows = []
    for at, name in enumerate(NAMES):
        for task in range(6):
            value = (at * 7 + task * 3) % 11 / 10
            rows.append(
                row(
                    name,
                    f"t{task}",
                    {"triplet_f1": value, "user_turns": 1 + task * 5},
                    domain=("历史", "a domain with a name that nobody reads", HOSTILE)[task % 3],
                    cost=0.01 * (at + 1),
                    tokens=10_000 * (at + 1 + task),
                )
            )
        hits = tuple((k + at) % 5 == 0 for k in range(64))
        fresh = tuple(int(hit and k < 30) for k, hit in enumerate(hits))
        searched = FactFigures(facts=20, hits=hits, fresh=fresh)
        rows.append(row(name, "w", {"pass_at_1": 1.0}, family="facts", searched=searched))
    return pool(*rows)


@cache
def plots() -> tuple[Plot, ...]:
    single = pool(row("solo", "t", {"triplet_f1": 0.0, "user_turns": 1}, cost=0.0, tokens=1))
    return (*plots_of(extreme()), *plots_of(single))


def test_pictures_are_well_formed_and_self_contained() -> None:
    assert {plot.kind for plot in plots()} == {"scatter", "lines", "bars", "heat", "intervals"}
    for plot in plots():
        svg = as_svg(plot)
        assert svg == as_svg(Plot.model_validate(plot.model_dump()))
        root = ET.fromstring(svg)
        assert root.tag == f"{SVG}svg"
        assert root.findtext(f"{SVG}title")
        assert root.findtext(f"{SVG}desc")
        tags = {node.tag.removeprefix(SVG) for node in root.iter()}
        assert tags <= {"svg", "title", "desc", "text", "line", "path", "circle", "rect"}
        assert not re.search(r"(href|url\(|@import|<style|\son\w+=|\sid=)", svg)
        assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
        assert "\x1b" not in svg


def test_nothing_lies_outside() -> None:
    for plot in plots():
        root = ET.fromstring(as_svg(plot))
        _x, _y, width, height = map(float, root.attrib["viewBox"].split())
        for node in root.iter(f"{SVG}text"):
            if "transform" in node.attrib:
                continue
            size = float(node.attrib.get("font-size", "12"))
            wide = width_of(node.text or "", size)
            x, y = float(node.attrib["x"]), float(node.attrib["y"])
            left = (
                x
                - {"start": 0, "middle": wide / 2, "end": wide}[
                    node.attrib.get("text-anchor", "start")
                ]
            )
            assert left >= -1, (plot.key, node.text)
            assert left + wide <= width + 1, (plot.key, node.text)
            assert size <= y <= height, (plot.key, node.text)
        for node in root.iter(f"{SVG}circle"):
            assert 0 <= float(node.attrib["cx"]) <= width
            assert 0 <= float(node.attrib["cy"]) <= height


def test_names_are_text_and_never_markup() -> None:
    plot = next(p for p in plots() if p.key == "means-graph")
    svg = as_svg(plot)
    assert "<script" not in svg
    assert "&lt;script&gt;" in svg
    (cost,) = (p for p in plots() if p.key == "cost-graph" and len(p.series) > 1)
    told = {node.text for node in ET.fromstring(as_svg(cost)).iter(f"{SVG}text")}
    assert {f"agent {n}" for n in range(8)} <= told


def test_colours_are_seen_on_light_and_on_dark() -> None:
    for colour in COLOURS:
        for ground in ("#ffffff", "#16181c"):
            lighter, darker = sorted((_luminance(colour), _luminance(ground)), reverse=True)
            assert (lighter + 0.05) / (darker + 0.05) >= 3, (colour, ground)
    # Twelve agents differ in their shape alone.
    shapes = {re.sub(r"#\w{6}", "", marker(mark, 10, 10)) for mark in range(len(SHAPES))}
    assert len(shapes) == len(SHAPES) == 12


def _luminance(colour: str) -> float:
    """Relative luminance of sRGB, as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_names_beside_points_do_not_meet() -> None:
    frame = Box(0, 0, 700, 300)
    spots = [(100.0, 100.0, "alpha"), (112.0, 104.0, "beta"), (100.0, 112.0, "gamma")]
    labels = placed(spots, [], frame)
    assert labels is not None
    boxes = [Box(one.x, one.y - 12, one.x + width_of(one.name), one.y + 3) for one in labels]
    assert not any(a.meets(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert placed([(350.0, 150.0, "x" * 300)], [], frame) is None


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.floats(0, 200), max_size=10))
def test_heights_are_moved_apart_within_their_room(wanted: list[float]) -> None:
    found = spread(wanted, 16, 0, 200)
    assert all(-1e-6 <= place <= 200 + 1e-6 for place in found)
    ordered = sorted(found)
    assert all(b - a >= 16 - 1e-6 for a, b in pairwise(ordered))
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    assert [found[i] for i in order] == ordered


@settings(max_examples=examples(30), deadline=None)
@given(st.text(max_size=80), st.floats(30, 300))
def test_text_is_cut_and_wrapped_to_its_room(words: str, room: float) -> None:
    assert width_of(fitted(words, room)) <= room
    assert all(width_of(line, 11) <= room for line in wrapped(words, room) if len(line) > 1)


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1"), (-0.001, "0"), (0.126, "0.13"), (100.0, "100"), (2.5, "2.5")]
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert number(value) == text

"""Pages that name the benchmark, hold the question, or hold the answer beside it, are told from pages about the topic."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.core.tasks.yaml_io import load_task
from cuecard.core.worlds.contamination import (
    Level,
    Secret,
    Wanted,
    canary_of,
    exposure,
    secret_of,
    units,
)
from cuecard.core.worlds.statements import compile_statements
from offline_trials import SAMPLES

STUDY = sorted((Path(__file__).parents[3] / "scripts" / "study_tasks").glob("*.yaml"))
FILLER = {
    "en": "In spring the harbour fills with boats and people walk along the quay to buy bread. "
    "The museum opens at nine and shows maps that travellers drew. ",
    "zh": "春天的港口停满了船，人们沿着堤岸散步，去买面包。博物馆九点开门，展出旅行者绘制的地图。",
}
TWELVE = "alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima"


def test_the_known_answer():
    wanted = Wanted(TWELVE)
    page = wanted.spread(" ".join(TWELVE.split()[:10]) + " and so on")
    assert wanted.containment(page) == pytest.approx(3 / 5)
    assert wanted.run(page) == 10


def test_with_few_grams_only_the_whole_text_counts():
    wanted = Wanted("alpha bravo charlie delta")
    assert wanted.containment(wanted.spread(TWELVE)) is None
    assert wanted.stands_in(wanted.spread(f"so: Alpha, bravo; charlie (delta)! {TWELVE}"))
    assert not wanted.stands_in(wanted.spread("alpha bravo charlie foxtrot delta"))


def test_words_are_whole_and_marks_do_not_matter():
    assert units("Ｅｓｐｒｅｓｓｏ, d'Italia—1901", False) == ["espresso", "d", "italia", "1901"]
    wanted = Wanted("cat sat")
    assert not wanted.stands_in(wanted.spread("a bobcat sat down"))
    assert Wanted("").stands_in("") is False


@given(st.text(max_size=200), st.text(max_size=400))
def test_any_texts_give_a_share_and_a_run_within_bounds(one, page):
    wanted = Wanted(one)
    spread = wanted.spread(page)
    share = wanted.containment(spread)
    assert share is None or 0 <= share <= 1
    assert 0 <= wanted.run(spread) <= len(wanted.units)
    assert wanted.containment(wanted.spread(one)) in (None, 1.0)


def test_the_canary_alone_is_the_answer():
    secret = Secret(("a question",), canary="0f" * 16)
    assert exposure("data " + "0F" * 16, "", secret).level is Level.ANSWER
    assert exposure("data", "", secret).level is Level.NONE


def test_a_name_tells_only_where_data_are_published():
    secret = Secret(("a question of twelve words that is nowhere on such a page at all",))
    text = "We introduce wide search, a benchmark"
    assert exposure(text, "https://arxiv.org/abs/1", secret).level is Level.METADATA
    assert exposure(text, "https://example.org/", secret).level is Level.NONE
    assert exposure("A wide river", "https://arxiv.org/abs/1", secret).level is Level.NONE


def planted(task, level: Level, rng: random.Random) -> tuple[str, str]:
    """A page of that level about a task, and its address; level NONE: about the topic, with gold, the query put otherwise."""
    filler = FILLER[task.language] * rng.randint(2, 30)
    gold = [
        f"{statement.title} — {statement.attribute}: {statement.value}."
        for statement in compile_statements(task)
        if statement.subject
    ]
    answers = [*gold, *task.gold.answers[:1]]
    page = f"https://pages.example/{rng.random()}"
    match level:
        case Level.METADATA:
            name = rng.choice(("VibeSearchBench", "wide-search", "Mind ParaWorld", "DiscoBench"))
            return f"{filler}{name} {filler}", f"https://github.com/a/{rng.randint(0, 9)}"
        case Level.QUESTION:
            return f"{filler}\n{task.query}\n{filler}", page
        case Level.ANSWER:
            rng.shuffle(gold)
            told = (*gold, *task.gold.answers[:1])
            return f"{filler}\n{task.query.upper()}\n{filler}{' '.join(told)}", page
        case _:
            han = task.language == "zh"
            words = list(task.query) if han else task.query.split()
            size = 7 if han else 4
            parts = [words[i : i + size] for i in range(0, len(words), size)]
            rng.shuffle(parts)
            otherwise = ("" if han else " ").join(w for part in parts for w in part)
            return f"{otherwise}\n{filler}{' '.join(answers)}", page


@pytest.mark.parametrize("language", ["en", "zh"])
def test_planted_pages_are_found_and_clean_ones_left_alone(language):
    tasks = [t for t in map(load_task, [*SAMPLES, *STUDY]) if t.language == language]
    secrets = {task.id: secret_of(task) for task in tasks}
    rng = random.Random(7)
    found: dict[Level, Counter[Level]] = {}
    for level, times in ((1, 30), (2, 30), (3, 30), (0, 200)):
        for turn in range(times):
            task = tasks[turn % len(tasks)]
            text, address = planted(task, Level(level), rng)
            told = exposure(text, address, secrets[task.id])
            found.setdefault(Level(level), Counter())[told.level] += 1
    for level in (Level.METADATA, Level.QUESTION, Level.ANSWER):
        assert found[level][level] >= 29, found
    assert found[Level.NONE][Level.NONE] >= 198, found


def test_every_task_has_a_canary_and_a_benchmark_may_have_one():
    tasks = [load_task(path) for path in SAMPLES]
    assert len({canary_of(task.id) for task in tasks}) == len(tasks)
    assert secret_of(tasks[0], canary="a" * 32).canary == "a" * 32
    assert secret_of(tasks[0]).canary == canary_of(tasks[0].id)

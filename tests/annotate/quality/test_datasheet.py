"""What a datasheet says, what it must not say, and that its two forms say the same."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS
from cuecard.annotate.quality.datasheet import as_markdown, datasheet_of, describe
from cuecard.annotate.quality.datasheet_model import (
    Datasheet,
    DatasheetInputs,
    IndependentGold,
    TaskInputs,
)
from cuecard.core.contributions import (
    Claimed,
    Commented,
    QcDecided,
    Released,
    Restored,
    Retired,
    ReviewDecision,
    Reviewed,
)
from cuecard.core.records import EffortTotals
from cuecard.core.review import standing_of
from cuecard.core.tasks.models import DIFFICULTY_WORDS, LANGUAGE_WORDS, Task
from cuecard.store.workspace import Workspace
from review_logs import LogMaker

AT = datetime(2026, 4, 1, tzinfo=UTC)
PEOPLE = ("Ana", "Bo", "Cy", "Dee", "李雷")


def task(task_id: str, **fields: Any) -> Task:
    gold = {"family": "facts", "facts": [{"key": "a", "value": "7"}], "answer": "8"}
    data = {"id": task_id, "title": "t", "language": "en", "query": "q", "gold": gold, **fields}
    return Task.model_validate(data)


def inputs(*made: LogMaker, **fields: Any) -> DatasheetInputs:
    """A task for each log; `effort`, `golds` and the fields of tasks are the same for all."""
    effort = fields.pop("effort", EffortTotals())
    golds = fields.pop("golds", ())
    tasks = {
        one.task_id: TaskInputs(
            task(one.task_id, **fields), one.log, standing_of(one.log), effort, golds
        )
        for one in made
    }
    return DatasheetInputs(tasks, frozenset(PEOPLE))


def sheet(*made: LogMaker, **fields: Any) -> Datasheet:
    return describe(inputs(*made, **fields), at=AT)


def approved(task_id: str = "t") -> LogMaker:
    return LogMaker(task_id).submit().review("Bo", "A", 60, x="p").review("Cy", "A", 180, x="p")


def returned(task_id: str = "t") -> LogMaker:
    bo = LogMaker(task_id).submit().review("Bo", "R", 60, comment_on="x", x="f")
    return bo.review("Cy", "A", x="p")


def everything() -> Datasheet:
    """Every section says something."""
    qc = QcDecided(
        verdict="remove",
        proposed="revise",
        signals={"leaked": "most", "shallow": "clear", "missed": "open"},
        rules=("known",),
    )
    gone = returned("b").revise().add("Ana", qc).add("Ana", Retired(reason="as 李雷 told Bo"))
    plain = LogMaker("d").add("Dee", Retired())
    mended = returned("e").revise("Dee").submit("Dee").review("Bo", "A", x="p")
    mended.review("Cy", "A", 90, x="c")
    gold = task("a").gold
    return sheet(
        approved("a"),
        gone,
        returned("c"),
        plain,
        mended,
        domain="rail|way\n<b>*tea*</b>",
        difficulty="hard",
        effort=EffortTotals(seconds=600, queries=3, pages=4),
        golds=(IndependentGold("Cy", gold, gold),),
        sources=[{"url": "https://www.example.org:8080/a"}, {"url": "http://example.org/b"}],
    )


def unescaped(cell: str | None) -> str:
    return re.sub(r"\\(.)", r"\1", (cell or "").strip())


def tables(markdown: str) -> list[list[list[str]]]:
    """The cells of every table, its heading first, as somebody who pastes it would read them."""
    found: list[list[list[str]]] = []
    for block in markdown.split("\n\n"):
        lines = block.splitlines()
        if len(lines) > 2 and set(lines[1]) <= set("|-: "):
            rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in (lines[0], *lines[2:])]
            found.append([[unescaped(cell) for cell in row] for row in rows])
    return found


def table(markdown: str, *heading: str) -> dict[str, list[str]]:
    """Rows by their first cell."""
    for head, *rows in tables(markdown):
        if tuple(head[: len(heading)]) == heading:
            return {row[0]: row[1:] for row in rows}
    raise AssertionError(heading)


def test_markdown_and_json_give_the_same_figures() -> None:
    made = everything()
    text, data = as_markdown(made), json.loads(made.model_dump_json())
    states = {name.replace("_", " "): str(n) for name, n in data["tasks"]["by_state"].items()}
    states["archived"] = states.pop("retired")
    shown = {name: cells[0] for name, cells in table(text, "state").items()}
    assert shown == {**states, "all": str(data["tasks"]["total"])}
    for name, words in (
        ("family", FAMILY_WORDS),
        ("language", LANGUAGE_WORDS),
        ("difficulty", DIFFICULTY_WORDS),
    ):
        want = {
            words.get(c["name"], "–"): [str(c["n"]), str(c["approved"])]
            for c in data["tasks"][f"by_{name}"]
        }
        assert table(text, name, "in use") == want
    assert table(text, "site") == {
        s["name"]: [str(s["n"]), str(s["tasks"])] for s in data["sources"]["sites"]
    }
    people = {p.pop("name"): [str(n) for n in p.values()] for p in data["people"]}
    assert table(text, "person") == people
    rounds = data["rounds"]
    assert [cells[0] for cells in table(text, "rounds").values()] == [
        str(rounds[name]) for name in ("rounds", "approved", "returned", "third", "waiting")
    ]
    assert table(text, "rounds until approval") == {
        k: [str(n)] for k, n in rounds["until_approval"].items()
    }
    names = ("passed", "failed", "cannot_judge", "returned", "tasks")
    assert table(text, "dimension", "pass") == {
        line["key"]: [str(line[name]) for name in names] for line in data["ratings"]
    }
    agreement = table(text, "dimension", "n")
    for line in data["agreement"]:
        cells = agreement["all dimensions" if line["measure"] == "*" else line["measure"]]
        assert cells[0] == str(line["statistics"][0]["n"])
        for cell, statistic in zip(cells[1:], line["statistics"], strict=True):
            keys = ("value", "low", "high")
            times = 100 if statistic["name"] == "percent" else 1
            want = [times * statistic[key] for key in keys if statistic[key] is not None]
            assert [float(n) for n in re.findall(r"-?[\d.]+", cell)] == pytest.approx(
                want, abs=times * 6e-4
            )
    assert table(text, "reason") == {r["name"]: [str(r["n"])] for r in data["removal_reasons"]}
    assert set(table(text, "task", "family")) == {task["task_id"] for task in data["retired"]}
    assert {name: cells[0] for name, cells in table(text, "decision").items()} == {
        **{name: str(n) for name, n in data["qc"]["verdicts"].items()},
        "other than proposed": str(data["qc"]["overruled"]),
    }
    effort = {FAMILY_WORDS.get(line["family"], "all"): line for line in data["effort"]}
    for family, cells in table(text, "family", "n").items():
        assert cells[0] == str(effort[family]["minutes"]["n"])
        assert cells[1].split()[0] == f"{effort[family]['minutes']['median']:g}"
    for level in data["golds"]["levels"]:
        cells = table(text, "level")[level["level"]]
        assert cells[:3] == [str(level[name]) for name in ("author", "second", "matched")]


def test_what_it_counts() -> None:
    made = everything()
    assert (made.tasks.total, made.tasks.in_use, made.tasks.approved) == (5, 3, 2)
    assert [task.task_id for task in made.release.tasks] == ["a", "e"]
    assert made.rounds.until_approval == {1: 1, 2: 1}
    assert (made.rounds.rounds, made.rounds.approved, made.rounds.returned) == (5, 2, 3)
    assert made.rounds.minutes.n == 6
    assert [(line.key, line.failed, line.cannot_judge) for line in made.ratings] == [("x", 3, 1)]
    assert {task.task_id: task.rules for task in made.retired} == {"b": ("known",), "d": ()}
    assert (made.qc.decided, made.qc.overruled) == (1, 1)
    assert [(s.name, s.looked, s.raised) for s in made.qc.signals] == [
        ("leaked", 1, 1),
        ("shallow", 1, 0),
    ]
    # One site, whatever the port and with or without www.
    assert [(site.name, site.n, site.tasks) for site in made.sources.sites] == [
        ("example.org", 2, 3)
    ]
    assert (made.effort[0].minutes.median, made.effort[0].pages.n) == (10, 3)
    again = sheet(approved("a").add("Ana", Retired()).add("Ana", Restored()))
    assert again.tasks.approved == 1
    assert again.retired == ()


def test_a_round_that_waits_adds_nothing_but_its_number() -> None:
    before = LogMaker("t").submit()
    plain = sheet(before)
    assert plain.rounds.waiting == 1
    said = Reviewed(ratings={"x": "fail"}, decision=ReviewDecision.RETURN, seconds=900)
    for by, body in (
        ("Bo", Claimed(person="Bo", until=AT)),
        ("Cy", Released(person="Cy", reason="no time")),
        ("Bo", said),
    ):
        before.add(by, body)
        assert sheet(before) == plain
    before.add("Cy", said)
    after = sheet(before)
    assert (after.rounds.waiting, after.rounds.returned, len(after.people)) == (0, 1, 3)
    split = LogMaker("t").submit(third=True).review("Bo", "R", x="f").review("Cy", "A", x="p")
    assert sheet(split) == plain


def test_people_are_numbered_alike_everywhere_and_named_nowhere() -> None:
    made = everything()
    text = made.model_dump_json() + as_markdown(made)
    assert not [name for name in PEOPLE if re.search(rf"(?<!\w){name}(?!\w)", text)]
    told = next(task.reason for task in made.retired if task.task_id == "b")
    assert re.fullmatch(r"as somebody told P\d", told)
    assert {person.name for person in made.people} == {"P1", "P2", "P3", "P4"}
    same = LogMaker("z").add("Ana", Commented(place="", text="x"))
    assert [p.name for p in sheet(same).people] == ["P1"]
    named = describe(inputs(approved("a")), named=True, at=AT)
    assert [person.name for person in named.people] == ["Ana", "Bo", "Cy"]
    assert [(pair.left, pair.right) for pair in named.pairs] == [("Bo", "Cy")]


def test_an_empty_workspace_has_a_datasheet(workspace: Workspace) -> None:
    made = datasheet_of(workspace, at=AT)
    assert made.tasks.total == 0
    assert "Nothing so far." in as_markdown(made)
    assert Datasheet.model_validate_json(made.model_dump_json()) == made


def test_the_released_set_has_a_name_that_follows_its_content() -> None:
    one, same, other = sheet(approved("a")), sheet(approved("a")), sheet(approved("b"))
    assert one.release.hash == same.release.hash != other.release.hash
    assert sheet(returned("a")).release.tasks == ()


def test_what_people_wrote_stays_text() -> None:
    text = as_markdown(everything())
    [line] = [line for line in text.splitlines() if "rail" in line]
    assert line.startswith(r"| rail\|way \<b\>\*tea\*\</b\> |")

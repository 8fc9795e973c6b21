"""Ready-made comparisons recognise themselves, and give the papers' tables."""

from __future__ import annotations

import pytest

from cuecard.annotate.results.comparisons import comparisons
from cuecard.annotate.results.designs import (
    DESIGN_NAMES,
    DESIGNS,
    design_named,
    design_tables,
    designs_in,
)
from cuecard.annotate.results.papers import PAPER_TABLES, keyed, paper_table
from cuecard.core.errors import NotFound
from cuecard.core.tables.texts import table_data
from result_rows import pool, row


def facts(agent: str, setting: str, rates: tuple[float, ...], **more):
    """Worlds of 3, 8 and 12 facts: easy, medium, hard."""
    return [
        row(
            agent,
            f"w{size}",
            {"pass_at_1": rate, "fcr": rate / 2, "hit_rate": 0.5},
            family="facts",
            facts=size,
            setting=setting,
            **more,
        )
        for size, rate in zip((3, 8, 12), rates, strict=True)
    ]


def human(one, name: str):
    user = one.trial.user.model_copy(update={"name": name, "kind": "human", "baseline": False})
    return one.of_trial(one.trial._replace(user=user))


def texts(each) -> list[list[str]]:
    return [[cell.text.partition(" [")[0] for cell in line] for line in each.lines]


def test_settings_of_facts_with_tiers():
    rows = pool(
        *facts("alpha", "end_to_end", (1.0, 0.0, 0.0)),
        *facts("alpha", "guided", (1.0, 1.0, 0.0)),
        *facts("alpha", "oracle", (1.0, 1.0, 1.0)),
        *facts("beta", "end_to_end", (0.0, 0.0, 0.0)),
    )
    (found,) = designs_in(rows)
    assert (found.design.name, found.arms, found.base) == (
        "facts_settings",
        ("oracle", "guided", "end_to_end"),
        "end_to_end",
    )
    tables = design_tables(rows, found)
    assert [line[:5] for line in texts(tables[0])] == [
        ["alpha · oracle facts", "3", "100.0", "50.0", "50.0"],
        ["alpha · guided", "3", "66.7", "33.3", "50.0"],
        ["alpha · end to end", "3", "33.3", "16.7", "50.0"],
        ["beta · end to end", "3", "0.0", "0.0", "50.0"],
    ]
    assert tables[1].title == "Pass@1 by tier"
    assert tables[1].headings[1:] == ("all", "easy", "medium", "hard")
    assert texts(tables[1])[1] == ["alpha · guided", "66.7", "100.0", "100.0", "0.0"]
    compared = next(each for each in tables if "against" in each.title)
    # Oracle is better on two of three tasks, guided on one; beta has no other setting to be paired with.
    assert [line[:3] for line in texts(compared)[:2]] == [
        ["Pass@1 · oracle facts (alpha alone)", "+66.7", "2/1/0"],
        ["Pass@1 · guided (alpha alone)", "+33.3", "1/2/0"],
    ]
    assert sum("stands on one agent" in note for note in compared.notes) == 2
    assert paper_table(rows, "settings")[0].lines[0][2].key == "tables/settings/0/lines/0/2/value"


def graph(agent: str, task: str, value: float, **more):
    return row(
        agent,
        task,
        {"triplet_f1": value, "node_f1": value, "compactions": more.pop("cut", 0.0)},
        **more,
    )


def table(agent: str, kind: str):
    measures = {"success": 0.0, "row_f1": 0.5, "item_f1": 0.5}
    return row(agent, "rows", measures, family="table", kind=kind)


def chain(setting: str, value: float):
    return row("alpha", "chain", {"acc": value, "cp": 0.5}, family="checkpoints", setting=setting)


@pytest.mark.parametrize(
    ("name", "rows", "arms", "base"),
    [
        (
            "checkpoint_settings",
            [chain("no_ask", 0.0), chain("neutral", 1.0), chain("guided", 1.0)],
            ("neutral", "guided", "no_ask"),
            "neutral",
        ),
        (
            "graph_settings",
            [graph("a", "t", 1.0, setting=s) for s in ("simulated", "direct", "staged")],
            ("direct", "staged", "simulated"),
            "simulated",
        ),
        ("table_scaffold", [table("a", "team"), table("b", "react")], ("single", "team"), "single"),
        (
            "memory",
            [graph("a", "t", 1.0, memory=m) for m in ("lifelong", "none")],
            ("none", "lifelong"),
            "none",
        ),
        (
            "compaction",
            [graph("a", "t", 1.0, cut=1.0), graph("a", "t", 0.0, sample=1)],
            ("without", "with"),
            "without",
        ),
        (
            "users",
            [
                human(graph("a", "t", 1.0), "Ann"),
                human(graph("a", "t", 0.0, sample=1), "Bo"),
                graph("a", "t", 1.0, user="persona", sample=2),
            ],
            ("human", "persona"),
            "human",
        ),
    ],
)
def test_each_recognises_itself(name, rows, arms, base):
    (found,) = designs_in(pool(*rows))
    assert (found.design.name, found.arms, found.base) == (name, arms, base)
    first, *others = design_tables(pool(*rows), found)
    assert len(first.lines) == len({line[0].text for line in first.lines}) >= len(arms)
    assert any("against" in each.title for each in others)


def test_each_line_tells_what_else_differs_and_what_is_unpaired():
    """Beta was played guided with a memory and neutral without: no effect of the setting, and said so."""

    def one(agent: str, setting: str, value: float, memory: str = "none", task: str = "chain"):
        return row(
            agent, task, {"acc": value, "cp": 0.5}, family="checkpoints", setting=setting, memory=memory
        )  # fmt: skip

    rows = pool(
        one("alpha", "neutral", 0.0),
        one("alpha", "guided", 0.25),
        one("beta", "neutral", 0.0),
        one("beta", "guided", 1.0, "lifelong"),
        one("gamma", "guided", 1.0),
    )
    found = next(found for found in designs_in(rows) if found.design.name == "checkpoint_settings")
    compared = next(each for each in design_tables(rows, found) if "against" in each.title)
    assert compared.headings[-2:] == ("also differ in", "unpaired trials")
    lines = {
        line[0].text: [cell.text.partition(" [")[0] for cell in line] for line in compared.lines
    }
    # What the headline stands on is the fair pair alone; beta's two and gamma's one are left over.
    assert lines["Accuracy · guided (alpha alone)"][1] == "+25.0"
    assert lines["Accuracy · guided (alpha alone)"][-2:] == ["–", "3"]
    assert lines["alpha · Accuracy · guided"][-2:] == ["–", "0"]
    assert lines["beta · Accuracy · guided"][1] == "+100.0"
    assert lines["beta · Accuracy · guided"][-2:] == ["Memory", "0"]
    (told,) = [note for note in compared.notes if "also differ" in note]
    assert told.startswith(
        "beta: neutral and guided also differ in memory (without memory against lifelong memory)"
    )
    assert any(
        "of neutral and guided only those of alpha could be paired" in note
        for note in compared.notes
    )
    # The same is told, from the same place, where it is compared by the setting or put into tables.
    (whole,) = {c.contrasts[0].alone for c in comparisons(rows, "setting", "neutral")}
    assert whole == "alpha"
    data = [table_data(each) for each in paper_table(rows, "settings")]
    assert {"text": "Memory"} in [line[-2] for each in data for line in each["lines"]]


def test_one_agent_that_was_played_is_named():
    rows = pool(chain("neutral", 1.0), chain("guided", 0.5))
    (found,) = designs_in(rows)
    compared = next(each for each in design_tables(rows, found) if "against" in each.title)
    assert compared.notes[0] == "All of it stands on one agent, alpha."
    assert compared.headings[-1] == "n tasks"


def test_people_are_one_user_and_judges_see_the_same_trials():
    one = graph("a", "t", 1.0, judge="owl")
    other = graph("a", "t", 0.5, judge="sage").of_trial(one.trial)
    (found,) = designs_in(pool(one, other))
    assert (found.design.name, found.arms) == ("judges", ("owl", "sage"))
    tables = design_tables(pool(one, other), found)
    assert [line[:2] for line in texts(tables[1])] == [
        ["Triplet F1 · sage", "-50.0"],
        ["Node F1 · sage", "-50.0"],
    ]
    # On different trials they say nothing of each other.
    assert not designs_in(pool(one, graph("a", "t", 0.5, judge="sage")))


def test_nothing_is_seen_where_there_is_nothing():
    assert designs_in(pool(graph("a", "t", 1.0), graph("b", "t", 1.0))) == ()
    assert (
        designs_in(
            pool(
                chain("neutral", 1.0),
                row("alpha", "chain", None, family="checkpoints", setting="guided"),
            )
        )
        == ()
    )
    with pytest.raises(NotFound, match="No such design"):
        design_named(pool(graph("a", "t", 1.0)), "colours")
    with pytest.raises(NotFound, match="have not two arms"):
        design_named(pool(graph("a", "t", 1.0)), "memory")
    assert {design.name for design in DESIGNS} == set(DESIGN_NAMES)


def test_figures_of_tables_are_found_in_the_json_at_their_keys():
    rows = pool(graph("a", "t", 1.0, language="en"), graph("b", "t", 0.5, language="zh"))
    with pytest.raises(NotFound, match=r"maine.*main, leaderboard"):
        paper_table(rows, "maine")
    assert {"main", "interaction", "errors", "compactions", "settings", "profiles", "tiers"} <= set(
        PAPER_TABLES
    )
    tables = keyed("main", PAPER_TABLES["main"](rows))
    data = [table_data(each) for each in tables]
    seen = 0
    for each in tables:
        for cell in (cell for line in each.lines for cell in line):
            if cell.key.startswith("tables/"):
                _tables, _main, at, _lines, line, column, last = cell.key.split("/")
                assert data[int(at)]["lines"][int(line)][int(column)][last] == cell.number
                seen += 1
    assert seen

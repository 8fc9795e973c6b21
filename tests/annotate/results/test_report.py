"""Reports: every figure is one of the JSON's, the same workspace gives the same bytes, foreign names do nothing."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from datetime import date

import pytest

from apart import fresh, merge_files
from cuecard.annotate.results.pool import Pool
from cuecard.annotate.results.report import report_of
from cuecard.annotate.results.report_formats import (
    FORMATS,
    ParagraphBlock,
    PlotBlock,
    TableBlock,
    TermsBlock,
    format_of,
    written,
)
from cuecard.annotate.results.report_method import simulator_fidelity
from cuecard.annotate.sharing.bundle import write_bundle
from cuecard.core.engine.events import Limits, RunState
from cuecard.core.errors import NotAllowed, NotFound
from cuecard.core.i18n import set_language
from cuecard.store.workspace import Workspace
from effect_runs import judged_run
from fidelity_planted import planted
from fidelity_sessions import CAREFUL
from report_pages import page_of
from report_runs import FORMULA, SCRIPT, hostile_run
from result_rows import pool, row

DAY = date(2026, 11, 22)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "w.db"
    with fresh(path) as workspace:
        run = hostile_run(workspace)
        yield path, workspace, run


@pytest.fixture(scope="module")
def report(played):
    _path, workspace, run = played
    return report_of(workspace, [run], title="A & B", made_on=DAY)


@pytest.fixture(scope="module")
def page(report):
    return written(report, "html")


def section(report, id):
    return next(each for each in report.sections if each.id == id)


def terms(report, id):
    return {
        term.name: term.lines
        for block in section(report, id).blocks
        if isinstance(block, TermsBlock)
        for term in block.terms
    }


def tables(report, id):
    return {
        block.table.title: block.table
        for block in section(report, id).blocks
        if isinstance(block, TableBlock)
    }


def texts(table):
    return [[cell.text for cell in line] for line in table.lines]


def test_the_summary_says_how_sure_it_is(report):
    # Triplet F1 by task: 1, .8, .8, 1, .8 against .8, .5, 0, .5 (the fifth is not judged), failed trials 0.
    (told,) = [lines for name, lines in terms(report, "summary").items() if "Graph" in name]
    assert told[0].startswith("Of 2 agents <script>")
    assert told[1].startswith("Against =HYPERLINK(1) on 4 shared tasks: +45.0 points (better on 4")
    assert "cannot be told from noise" in told[1]
    (line,) = [b.text for b in section(report, "summary").blocks if isinstance(b, ParagraphBlock)]
    assert line == "Offline baselines, not results of models: world closed."


def test_trials_and_costs_are_counted(report):
    found = tables(report, "trials")
    counts = texts(found["Trials behind the figures"])
    assert [line[2:] for line in counts] == [
        ["6", "0", "6", "1", "6", "0"],
        ["6", "1", "5", "0", "4", "1"],
    ]
    costs = texts(found["Model calls and their cost"])
    # The judge's one call counts in the trial, and is none of the agent's own.
    assert [line[1:] for line in costs] == [
        ["7", "650", "65", "2.00", "1.50", "0.2500"],
        ["6", "600", "60", "1.50", "1.50", "0.2500"],
    ]


def test_the_method_says_what_the_run_recorded(report):
    found = terms(report, "method")
    agent = found['<script>alert("1")</script> (react, m-7b, version v1)']
    assert agent == (
        "memory: none",
        "settings: graph simulated",
        "visit: model m",
        "sampling: model: m-7b, temperature: 0.6",
    )
    assert found["1 person at the keyboard"] == ("People are not named in reports.",)
    assert found["Seeds"] == ("3",)
    assert found["Limits"] == ("7 agent turns a trial, 100 tool calls a turn",)
    assert found["Not in the figures"] == (
        "1 trial that has not ended.",
        "1 trial that strict has not judged.",
    )
    assert "judge-7b" in " ".join(name for name in found if name.startswith("strict"))
    told = tables(report, "method")
    assert texts(told["Tasks"]) == [["Graph tasks", "6", "6", "3", "3", "6"]]
    # 27 items of 9 trials on 5 tasks; all but one as the judge says.
    (judge,) = texts(told["Agreement of the judge with people"])
    assert judge[:4] == ["strict", "gold items", "1", "27 (5)"]
    assert judge[4].startswith("96.3%")
    prompts = told["Prompts"]
    assert sorted(line[1:4] for line in texts(prompts)) == [
        ["agent", "conclude_graph.en", "6"],
        ["agent", "conclude_graph.en", "6"],
        ["judge", "judge_graph.zh", "1"],
    ]
    (fidelity,) = [
        b.text
        for b in section(report, "method").blocks
        if isinstance(b, ParagraphBlock) and b.text.startswith("Fidelity")
    ]
    assert "none was measured" in fidelity


def test_a_page_is_complete_and_needs_nothing_from_elsewhere(report, page):
    found = page_of(page)
    assert found.wrong == []
    for tag, data in found.tags:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form"}
        assert not any(name.startswith("on") for name in data)
        assert not (set(data) & {"src", "srcset", "xlink:href", "action"})
        assert data.get("href", "#").startswith("#")
    assert len(found.scripts) == 1
    assert "url(" not in page
    assert "@import" not in page
    (policy,) = [d["content"] for t, d in found.tags if "http-equiv" in d and t == "meta"]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    assert [d["lang"] for t, d in found.tags if t == "html"] == ["en"]
    assert [d["datetime"] for t, d in found.tags if t == "time"] == ["2026-11-22"]
    ids = [data["id"] for _tag, data in found.tags if "id" in data]
    assert len(ids) == len(set(ids))
    assert {d["href"][1:] for t, d in found.tags if t == "a"} <= set(ids)
    assert sum(tag == "svg" for tag, _data in found.tags) == sum(
        isinstance(block, PlotBlock) for block in report.blocks
    )


def test_foreign_names_do_nothing_anywhere(report, page):
    assert SCRIPT not in page
    assert "&lt;script&gt;" in page
    for format in FORMATS:
        text = written(report, format).replace("\r\n", "\n")
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text), format
        assert not re.search(r"/home/ann|internal\.example|Bertha", text), format
    markdown = written(report, "md")
    assert "<script>" not in markdown
    assert "](" not in markdown
    latex = written(report, "tex")
    assert r"\input{" not in latex
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") > 10
    labels = re.findall(r"\\label\{([^}]*)\}", latex)
    assert len(labels) == len(set(labels))
    rows = list(csv.reader(io.StringIO(written(report, "csv"))))
    assert len({len(row) for row in rows}) == 1
    assert not [f for row in rows for f in row if f.startswith(("=", "@", "+"))]
    assert f"'{FORMULA}" in {field for row in rows for field in row}
    assert json.loads(written(report, "json"))["title"] == "A & B"


def test_the_same_workspace_gives_the_same_bytes(played, page, tmp_path):
    """Also from a copy in which everything has another number."""
    path, workspace, run = played
    again = written(report_of(workspace, [run], title="A & B", made_on=date(2027, 1, 2)), "html")
    assert again != page
    assert again.replace("2027-01-02", "2026-11-22") == page
    copy = tmp_path / "other" / "copy.db"
    copy.parent.mkdir()
    with sqlite3.connect(path) as whole, sqlite3.connect(copy) as target:
        whole.backup(target)
    renumber(copy)
    with Workspace.open(copy) as other:
        there = report_of(other, [run + 700], title="A & B", made_on=DAY)
        assert written(there, "html") == page


def test_a_run_that_came_in_a_pack_gives_the_same_bytes(played, page, tmp_path):
    """Where there was another run before, and another task by the same name: everything has other numbers."""
    _path, workspace, run = played
    packed = write_bundle(workspace, "Ann", tmp_path / "run.cuepack", runs=[run])
    with fresh(tmp_path / "other.db") as other:
        judged_run(other, {"a": ("yn",)})
        merge_files(other, [packed.path], "Ben")
        (arrived,) = [each.id for each in other.runs.all() if each.state is RunState.PAUSED]
        assert arrived != run
        there = report_of(other, [arrived], title="A & B", made_on=DAY)
        assert written(there, "html") == page


def renumber(path, by=700):
    """Every run, trial and judgement has another id, as in a workspace that had others before."""
    with sqlite3.connect(path) as db:
        master = db.execute("SELECT type, name FROM sqlite_master").fetchall()
        for kind, name in master:
            if kind == "trigger":
                db.execute(f'DROP TRIGGER "{name}"')
        for kind, name in master:
            if kind != "table" or name.startswith("sqlite_"):
                continue
            columns = [row[1] for row in db.execute(f'PRAGMA table_info("{name}")')]
            moved = [c for c in columns if c in {"run_id", "trial_id", "judgement_id"}]
            moved += ["id"] if name in {"run", "trial", "judgement"} else []
            for column in moved:
                db.execute(f'UPDATE "{name}" SET "{column}" = -"{column}" - {by}')
                db.execute(f'UPDATE "{name}" SET "{column}" = -"{column}"')
    db.close()


def test_a_simulator_is_told_of_by_what_people_decided_on_the_same_turns(tmp_path):
    rows = pool(row("alpha", "espresso", {}), row("alpha", "table-solar-terms-zh", {}))
    played_by = [
        Pool(
            runs=rows.runs,
            rows=tuple(each.of_trial(each.trial._replace(user=player)) for each in rows.rows),
        )
        for player in (CAREFUL, CAREFUL.model_copy(update={"version": "another"}))
    ]
    with fresh(tmp_path / "w.db") as workspace:
        planted(workspace, errors=False)
        (found,) = simulator_fidelity(workspace, played_by[0])
        assert simulator_fidelity(workspace, played_by[1]) == ()
    assert (found.name, found.people, found.tasks) == (CAREFUL.name, 1, 2)
    percent, _kappa, _ac1 = found.figures
    assert percent is not None
    assert percent.value == 1


def test_a_report_speaks_the_language_that_is_set(played):
    _path, workspace, run = played
    set_language("zh")
    try:
        found = report_of(workspace, [run], plots=False, made_on=DAY)
    finally:
        set_language("en")
    assert '<html lang="zh">' in written(found, "html")
    assert not any(isinstance(block, PlotBlock) for block in found.blocks)


def test_there_must_be_something_to_report(played):
    _path, workspace, _run = played
    with pytest.raises(NotFound):
        report_of(workspace, [4711])
    empty = workspace.runs.create(
        name="new", kind="grid", created_by="Ann", samples=1, limits=Limits()
    )
    with pytest.raises(NotAllowed):
        report_of(workspace, [empty.id])


def test_formats_go_by_suffix(tmp_path):
    names = ("a.html", "a.HTM", "a.md", "a.tex", "a.csv", "a.json", "a.pdf", "a")
    assert [format_of(tmp_path / name) for name in names] == [
        *("html", "html", "md", "tex", "csv", "json"),
        *(None, None),
    ]

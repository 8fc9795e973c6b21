from __future__ import annotations

from pathlib import Path

from cuecard.annotate.task_files import check_paths

GOOD = """
id: good
title: Good in 2090
family: facts
language: en
query: How many?
gold: {facts: [{key: a, value: "7"}, {key: b, value: "8"}], answer: "15"}
sources: [{url: "https://example.org"}]
"""


def test_the_sample_tasks_are_clean(sample_dir: Path):
    report = check_paths([sample_dir])
    assert [str(problem) for problem in report.open] == []
    assert [problem.task_id for problem in report.silenced] == ["table-solar-terms-zh"]
    assert report.tasks >= 8


def test_every_problem_of_every_file_is_listed(tmp_path: Path):
    (tmp_path / "a.yaml").write_text(GOOD)
    (tmp_path / "b.yaml").write_text(GOOD.replace('answer: "15"', 'answer: "8"'))
    (tmp_path / "c.yaml").write_text("id: c\ntitle: ''\nfamily: facts\nlanguage: fr\ngold: {}\n")
    (tmp_path / "d.yaml").write_text("a: [")
    report = check_paths([tmp_path, tmp_path / "absent.yaml"])
    assert report.tasks == 2
    codes = [(Path(p.file).name, p.code) for p in report.problems]
    assert ("b.yaml", "E002") in codes
    assert ("b.yaml", "L007") in codes
    assert {code for file, code in codes if file == "c.yaml"} == {"E003", "E006"}
    assert ("d.yaml", "E001") in codes
    assert ("absent.yaml", "E001") in codes
    assert len([code for file, code in codes if file == "c.yaml"]) >= 4
    assert not any(file == "a.yaml" for file, _code in codes)
    assert "b.yaml: gold.facts[1].value: one search" in "\n".join(map(str, report.problems))
    assert not report.warnings


def test_every_refusal_has_its_code(tmp_path: Path):
    broken = {
        "E003": GOOD.replace("title: Good in 2090", "title: ' '"),
        "E004": GOOD + "naem: x",
        "E005": GOOD.replace("query: How many?", "query: [1, 2]"),
        "E006": GOOD.replace("language: en", "language: fr"),
        "E007": GOOD.replace("https://example.org", "example.org"),
        "E008": GOOD.replace("key: b", "key: a"),
        "E009": GOOD.replace("query: How many?", 'query: "\\0"'),
    }
    for code, text in broken.items():
        (tmp_path / f"{code}.yaml").write_text(text)
    report = check_paths([tmp_path])
    assert [(Path(p.file).stem, p.code) for p in report.problems] == [(c, c) for c in broken]
    assert all(problem.hint for problem in report.problems)


def test_what_is_silenced_counts_by_itself(tmp_path: Path):
    text = GOOD.replace(
        'sources: [{url: "https://example.org"}]', "silenced: [{code: L010, reason: r}]"
    )
    (tmp_path / "a.yaml").write_text(text)
    (problem,) = check_paths([tmp_path]).problems
    assert (problem.code, problem.silenced) == ("L010", "r")
    stale = text.replace("L010", "L038")
    (tmp_path / "a.yaml").write_text(stale)
    report = check_paths([tmp_path])
    assert [p.code for p in report.warnings] == ["L010", "L044"]
    # An error of structure is there whatever anybody says about it.
    doubled = '{key: a, value: "7"}, {key: A, value: "7"}'
    (tmp_path / "a.yaml").write_text(
        GOOD.replace('{key: a, value: "7"}', doubled)
        + "silenced: [{code: L022, about: A, reason: r}]"
    )
    report = check_paths([tmp_path])
    assert [p.code for p in report.errors] == ["L022"]
    assert not report.silenced

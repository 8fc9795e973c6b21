from __future__ import annotations

from pathlib import Path

from cuecard.annotate.check import check_paths

GOOD = """
id: good
title: Good
family: facts
language: en
query: How many?
gold: {facts: [{key: a, value: "7"}, {key: b, value: "8"}], answer: "15"}
sources: [{url: "https://example.org"}]
"""


def test_the_sample_tasks_are_clean(sample_dir: Path):
    report = check_paths([sample_dir])
    assert [str(problem) for problem in report.problems] == []
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
    assert ("d.yaml", "E001") in codes
    assert ("absent.yaml", "E001") in codes
    assert len([code for file, code in codes if file == "c.yaml"]) >= 4
    assert not any(file == "a.yaml" for file, _code in codes)
    assert "b.yaml: gold.facts[1].value: one search" in "\n".join(map(str, report.problems))
    assert not report.warnings

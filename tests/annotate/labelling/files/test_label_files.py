"""Files of labels: there and back, and every way in which one can be wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.labelling.files.entries import LabelFile, Problems, parse_rows, value_of
from cuecard.annotate.labelling.files.formats import (
    label_lines,
    label_rows,
    label_tasks,
    plain_csv,
    plain_lines,
    tasks_text,
)
from cuecard.annotate.labelling.files.importing import is_sheet, read_file, read_files
from cuecard.annotate.labelling.files.vibesearch_sheets import (
    Sheet,
    SheetRow,
    parse_sheet,
    read_sheet,
    sheet_text,
)
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.errors import FileProblems
from cuecard.core.label_records import LabelValue
from cuecard.core.tables.texts import guarded, unguarded
from cuecard.core.verdicts import ItemKind

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
texts |= st.sampled_from(["=1+1", "'=1", "''-x", "@a", "a\nb", '"', "，", " "])
lines = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=9)
decisions = st.none() | st.sampled_from(LabelValue)
sheets = st.builds(
    Sheet,
    st.sampled_from(["recall", "precision"]),
    st.lists(
        st.builds(
            SheetRow,
            index=st.integers(0, 999),
            triple=st.tuples(texts, texts, texts),
            model=decisions,
            supporting=st.lists(lines.map(lambda x: f"({x})"), max_size=2).map(tuple),
            human=decisions,
            comment=texts,
        ),
        min_size=1,
        max_size=4,
        unique_by=lambda row: row.index,
    ).map(tuple),
)
labels = st.fixed_dictionaries(
    {
        "trial": st.just("a" * 32),
        "item": st.sampled_from(["triple/0", "cell/3/Year", "answer/0", "leak/2"]),
        "text": texts,
        "person": st.sampled_from(["Ana", "陈"]),
        "label": st.sampled_from([value.value for value in LabelValue]),
        "comment": texts,
        "gold_wrong": st.booleans(),
        "phase": st.sampled_from(["blind", "revealed"]),
        "seconds": st.floats(0, 1e6),
        "at": st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)).map(
            lambda at: at.replace(tzinfo=UTC).isoformat()
        ),
    }
)


@given(texts)
@settings(max_examples=examples(40))
def test_no_cell_is_a_formula_and_none_is_changed(text: str) -> None:
    assert not guarded(text).startswith(("=", "+", "-", "@", "\t", "\r"))
    assert unguarded(guarded(text)) == text


@given(sheets)
@settings(max_examples=examples(40), deadline=None)
def test_a_sheet_comes_back_as_it_was(sheet: Sheet) -> None:
    text = sheet_text(sheet)
    assert text.startswith("\ufeff")
    problems = Problems("x.csv")
    found = parse_sheet(parse_rows(text.removeprefix("\ufeff"), problems), sheet.kind, problems)
    assert problems.found == []
    assert [row.line > 1 for row in found.rows] == [True] * len(sheet.rows)
    back = tuple(replace(row, line=0) for row in found.rows)
    assert Sheet(sheet.kind, back) == sheet


def _same(found: LabelFile, rows: list[dict[str, Any]], problems: Problems) -> None:
    assert problems.found == []
    assert len(found.entries) == len(rows)
    for entry, row in zip(found.entries, rows, strict=True):
        assert (entry.trial, entry.item.key, entry.person) == (
            row["trial"],
            row["item"],
            row["person"],
        )
        assert entry.value is not None
        assert entry.value.value == row["label"]
        assert (entry.comment, entry.gold_wrong) == (row["comment"], row["gold_wrong"])
        assert (entry.phase, entry.seconds) == (row["phase"], row["seconds"])
        assert entry.at == datetime.fromisoformat(row["at"])


@given(st.lists(labels, min_size=1, max_size=4))
@settings(max_examples=examples(30), deadline=None)
def test_labels_come_back_from_every_format(rows: list[dict[str, Any]]) -> None:
    path, problems = Path("x"), Problems("x")
    table = parse_rows(plain_csv(rows).removeprefix("\ufeff"), problems)
    _same(label_rows(path, table, problems), rows, problems)
    _same(label_lines(path, plain_lines(rows), problems), rows, problems)
    tasks = tasks_text([(row, [row]) for row in rows])
    _same(label_tasks(path, tasks, problems), rows, problems)


def test_an_export_of_label_studio_is_read() -> None:
    """As its documentation shows it: several annotators, a skipped task, older names."""

    def result(name: str, kind: str, value: object) -> dict[str, object]:
        return {"from_name": name, "to_name": "item", "type": kind, "value": value, "id": "x"}

    data = {"trial": "t" * 8, "item": "status/1", "text": "He asked."}
    tasks: list[dict[str, Any]] = [
        {
            "id": 1,
            "data": data,
            "annotations": [
                {
                    "completed_by": {"id": 3, "email": "ana@example.org"},
                    "result": [
                        result("label", "choices", {"choices": ["search_only"]}),
                        result("comment", "textarea", {"text": ["one", "two"]}),
                        result("flag", "choices", {"choices": ["gold_wrong"]}),
                    ],
                    "lead_time": 4.288,
                    "created_at": "2026-03-09T22:16:08.728353Z",
                    "was_cancelled": False,
                },
                {"completed_by": 7, "result": [], "was_cancelled": True},
                {
                    "completed_by": 8,
                    "result": [result("label", "choices", {"choices": ["unsure"]})],
                },
            ],
            "predictions": [],
        },
        {"data": {**data, "item": "triple/2"}, "completions": []},
    ]
    problems = Problems("x")
    first, second, blank = label_tasks(Path("x"), json.dumps(tasks), problems).entries
    assert problems.found == []
    assert (first.person, first.value) == ("ana@example.org", CheckpointStatus.SEARCH_ONLY)
    assert (first.comment, first.seconds, first.gold_wrong) == ("one\ntwo", 4.288, True)
    assert (second.person, second.account, second.value) == ("", "8", LabelValue.UNSURE)
    assert (blank.value, blank.line) == (None, 2)


def test_words_mean_what_people_write() -> None:
    for word in ("是", " YES ", "1", "true", "ｙ"):
        assert value_of(word, ItemKind.TRIPLE) is LabelValue.YES
    assert value_of("", ItemKind.CELL) is None
    with pytest.raises(ValueError, match="search_only"):
        value_of("search_only", ItemKind.TRIPLE)


RECALL = "gt_index,head,relation,tail,human_label,human_comment\n"
PLAIN = "trial,item,label,seconds,at,phase\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        (RECALL, "no lines"),
        (RECALL + "0,a,r,b,maybe,\n", "line 2, human_label: maybe is none of"),
        (RECALL + "0,a,r,b,是,\n\n0,a,r,b,否,\n", "line 4: index 0 stands already in line 2"),
        (RECALL + '0,a,r,b,是,"x\ny"\n-1,a,r,b,,\n', "line 4, gt_index: -1 is no index"),
        (RECALL + "0,a,r,b,是,x,y\n", "line 2: has more cells"),
        (RECALL + '0,a,"r,b,是,\n', "unexpected end of data"),
        ("gt_index,head,tail,human_label\n0,a,b,是\n", "no column relation"),
        ("gt_index,head,head,relation,tail,human_label\n", "head stands twice"),
        ("a,b\n1,2\n", "there is no column trial, item, label"),
        (PLAIN + "t,word/1,yes\n", "line 2, item: word/1: is no item"),
        (PLAIN + "t,triple/-1,yes\n", "is no item"),
        (PLAIN + ",triple/1,yes\n", "line 2, trial: is blank"),
        (PLAIN + "t,triple/1,\x1b[31mjein\n", "jein: is none of yes, no"),
        (PLAIN + "t,triple/1,search_only\n", "is none of yes, no"),
        (PLAIN + "t,triple/1,yes,-2\n", "seconds"),
        (PLAIN + "t,triple/1,yes,nan\n", "seconds"),
        (PLAIN + "t,triple/1,yes,,yesterday\n", "is no time"),
        (PLAIN + "t,triple/1,yes,,0001-01-01T00:00:00+23:59\n", "is no time"),
        (PLAIN + "t,triple/1,yes,,,seen\n", "neither blind nor revealed"),
        ('{"trial": "t"}\n', "line 1: there is no item, label"),
        ('{"trial": "t", "item": "leak/1", "label": NaN}\n', "line 1: is no JSON"),
        ('{"trial": "t", "item": "leak/1", "label": ["yes"]}\n', "must be a text"),
        ("{" * 9999, "is no JSON"),
        ("[" * 99_999, "is no JSON"),
        ("[]", "is empty"),
        ("[1]", "line 1: is no task of Label Studio"),
        ('[{"data": {"text": "x"}}]', "is no item"),
        (
            '[{"data": {"trial": "t", "item": "leak/1"}, "annotations": [{"result": ['
            '{"type": "choices", "value": {"choices": ["yes", "no"]}}]}]}]',
            "yes + no: is none of",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "labels"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FileProblems) as caught:
        read_file(path)
    assert said in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "gbk.csv").write_bytes("是".encode("gbk"))
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileProblems) as caught:
        read_files([tmp_path / "gbk.csv", tmp_path / "absent.csv", tmp_path / "folder"])
    assert [problem.file for problem in caught.value.problems] == [
        str(tmp_path / "folder"),
        str(tmp_path / "gbk.csv"),
        str(tmp_path / "absent.csv"),
    ]
    assert not is_sheet(tmp_path / "gbk.csv")
    assert not is_sheet(tmp_path / "absent.csv")


def test_what_spreadsheets_make_of_a_sheet_is_read(tmp_path: Path) -> None:
    path = tmp_path / "Recall.csv"
    path.write_text(
        "\ufeffGT_Index;Head;Relation;Tail;Model_Covered;Supporting_Pred_Triples;Human_Label;"
        'Human_Comment;;\r\n0.0;a;r;b;是;"(x, r, y)\r\n(z, r, y)";否;;;\r\n;;;;;;;;;\r\n',
        encoding="utf-8",
        newline="",
    )
    assert is_sheet(path)
    (row,) = read_sheet(path).rows
    assert row.supporting == ("(x, r, y)", "(z, r, y)")
    assert (row.index, row.model, row.human) == (0, LabelValue.YES, LabelValue.NO)

"""What authors paste becomes rows, or says why not; nothing they paste can break it."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.authoring.paste import MAX_COLUMNS, MAX_ROWS, parse_rows

PLAIN = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Name\tArea\nA\t1,5\nB\t2", "tsv"),
        ('Name,Area\nA,"1,5"\nB,2', "csv"),
        ("sep=;\nName;Area\nA;1,5\nB;2", "csv"),
        ("Name;Area\nA;1,5\nB;2", "csv"),
        ('\ufeff"Name";"Area"\r\n"A";"1,5"\r\n"B";2\r\n', "csv"),
        ('[{"Name":"A","Area":"1,5"},{"Name":"B","Area":2}]', "json"),
        ('{"Name":"A","Area":"1,5"}\n{"Name":"B","Area":2}', "json"),
        ('```json\n{"rows": [["A","1,5"],["B",2]], "columns": ["Name","Area"]}\n```', "json"),
        ('[["Name","Area"],["A","1,5"],["B",2]]', "json"),
        ("| Name | Area |\n|---|--:|\n| A | 1,5 |\n| B | 2 |", "markdown"),
        ("See:\n```markdown\n| Name | Area |\n|---|---|\n| A | 1,5 |\n| B | 2 |\n```", "markdown"),
    ],
)
def test_every_form_gives_the_same_rows(text: str, kind: str) -> None:
    pasted = parse_rows(text)
    assert pasted.kind == kind
    assert pasted.header == ("Name", "Area")
    assert pasted.rows == (("A", "1,5"), ("B", "2"))
    assert not pasted.problems


def test_headers_are_known_by_their_names_in_chinese_too() -> None:
    assert parse_rows("头实体\t关系\t尾实体\n泰山\t位于\t山东").header == (
        "头实体",
        "关系",
        "尾实体",
    )
    assert parse_rows("head,relation,tail\na,b,c").header == ("head", "relation", "tail")
    assert parse_rows("泰山\t位于\t山东\n黄山\t位于\t安徽").header is None
    assert parse_rows("节气，日期\n立春，二月", known=["节气", "日期"]).header == ("节气", "日期")
    assert parse_rows('[["头","关系","尾"],["泰山","位于","山东"]]').rows == (
        ("泰山", "位于", "山东"),
    )


def test_the_header_can_be_taken_the_other_way() -> None:
    pasted = parse_rows("Utah\t1896\nOhio\t1803")
    assert pasted.header is None
    assert pasted.headed(True).header == ("Utah", "1896")
    assert pasted.headed(True).headed(False) == pasted


def test_ragged_rows_lose_nothing_and_are_reported() -> None:
    pasted = parse_rows("Name\tArea\nA\nB\t2\textra")
    assert pasted.rows == (("A", "", ""), ("B", "2", "extra"))
    assert pasted.width == 3
    assert pasted.problems == (
        "2 rows have another number of cells than the others, the first is row 1",
    )
    cut = parse_rows("| Name |\n|---|\n| A | over |")
    assert cut.rows == (("A",),)
    assert "1 row has more cells" in cut.problems[0]


def test_escapes_quotes_and_controls() -> None:
    assert parse_rows("| a \\| b | c |\n|---|---|\n| 1 \\| 2 | 3<br>4 |").rows == (
        ("1 | 2", "3 4"),
    )
    assert parse_rows('A\t"two\nlines"\nB\t"a ""b"""').rows == (("A", "two lines"), ("B", 'a "b"'))
    open_quote = parse_rows('A\t"never closed\nB\t2')
    assert open_quote.rows == (("A", '"never closed'), ("B", "2"))
    assert open_quote.problems
    assert parse_rows("a\x00b\tc\x07\nd\te\x9b").rows == (("ab", "c"), ("d", "e"))


def test_json_keeps_numbers_as_written_and_says_what_it_left_out() -> None:
    pasted = parse_rows('[{"k":1.50,"v":null},{"k":true,"v":["a",{"name":"b"}]},3]')
    assert pasted.rows == (("1.50", ""), ("true", "a; b"))
    assert pasted.problems == ("1 entry is of another shape and was left out",)
    assert parse_rows('{"k1": "v1", "k2": 2}').rows == (("k1", "v1"), ("k2", "2"))
    broken = parse_rows('[{"a": "1", "b": "2"}, {"a": "3", "b": "4"')
    assert broken.rows == (("1", "2"), ("3", "4"))
    assert broken.problems
    lines = parse_rows('{"a":1}\nnot json\n{"a":2}')
    assert lines.rows == (("1",), ("2",))
    assert lines.problems == ("these lines are no JSON: 2",)


def test_plain_lines_are_one_column_and_nothing_is_nothing() -> None:
    assert parse_rows("Utah\nOhio, once\nIowa").rows == (("Utah",), ("Ohio, once",), ("Iowa",))
    assert parse_rows(" \n ").rows == ()
    assert parse_rows("").header is None


def test_huge_input_is_bounded() -> None:
    many = parse_rows("a\tb\n" * (MAX_ROWS + 50))
    assert len(many.rows) == MAX_ROWS
    wide = parse_rows("x\t" * 5000)
    assert wide.width <= MAX_COLUMNS
    assert many.problems
    assert parse_rows("[" * 100_000).kind in ("tsv", "csv")


@settings(max_examples=examples(50), deadline=None)
@given(
    st.one_of(
        st.text(max_size=200),
        st.text(alphabet=list('ab1 \t\n\r|-"\\,;，[]{}:`\ufeff\x00\ud800'), max_size=80),
    )
)
def test_no_text_makes_it_raise_and_rows_are_square(text: str) -> None:
    pasted = parse_rows(text)
    rows = [*pasted.rows, *([pasted.header] if pasted.header is not None else [])]
    assert {len(row) for row in rows} <= {pasted.width}
    assert not any("\n" in cell or "\t" in cell or "\0" in cell for row in rows for cell in row)


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.tuples(PLAIN, PLAIN, PLAIN), min_size=1, max_size=6))
def test_what_a_program_writes_is_read_back(rows: list[tuple[str, str, str]]) -> None:
    expected = tuple(rows)
    header = ("c1", "c2", "c3")
    out = io.StringIO()
    csv.writer(out, delimiter="\t", quoting=csv.QUOTE_ALL).writerows([header, *rows])
    assert parse_rows(out.getvalue(), known=header).rows == expected
    objects = [dict(zip(header, row, strict=True)) for row in rows]
    assert parse_rows(json.dumps(objects)).rows == expected

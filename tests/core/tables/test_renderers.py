"""Tables as HTML, LaTeX and CSV: all of their figures, and nothing that foreign text could do."""

from __future__ import annotations

import csv
import io
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.tables.latex import as_latex, escaped
from cuecard.core.tables.table import Cell, Statistic, Table
from cuecard.core.tables.texts import COLUMNS, as_csv, as_html, as_markdown, tables_text
from report_pages import page_of

F1 = Statistic(name="f1", value=0.6125, n=8, low=0.55, high=0.6725)
NONE = Statistic(name="f1", value=None, n=0, reason="nothing was judged")
FOREIGN = st.text(
    st.sampled_from("ab 1<>&\"'`\\{}$#%_^~|*[]()=+-@!\x1b\x00\x07\x9b\u202e\ud800\t\n\r–…κ中文"),
    max_size=24,
)


def table(name: str = "alpha", heading: str = "F1", note: str = "A note.") -> Table:
    return Table(
        view="results",
        title="Graph tasks & more",
        headings=("Agent", heading, "n"),
        lines=(
            (
                Cell(name),
                Cell("61.3 [55.0, 67.3]", statistic=F1, key="groups/alpha/graph/f1"),
                Cell("8", value=8.0),
            ),
            (
                Cell("beta"),
                Cell("–", statistic=NONE, key="groups/beta/graph/f1"),
                Cell("0"),
            ),
        ),
        notes=(note,),
    )


def test_a_table_in_html_holds_every_figure_unrounded():
    page = page_of(as_html(table(), id="t1", caption="Table 1."))
    assert page.wrong == []
    assert page.cells == [
        (
            {
                "data-key": "groups/alpha/graph/f1",
                "data-value": "0.6125",
                "data-low": "0.55",
                "data-high": "0.6725",
                "data-n": "8",
            },
            "61.3 [55.0, 67.3]",
        ),
        ({"data-value": "8.0"}, "8"),
        (
            {"data-key": "groups/beta/graph/f1", "data-n": "0", "title": "nothing was judged"},
            "–",
        ),
        ({}, "0"),
    ]
    scopes = [data["scope"] for tag, data in page.tags if tag == "th"]
    assert scopes == ["col", "col", "col", "row", "row"]
    told = "".join(page.text)
    assert "Table 1." in told
    assert "nothing was judged: beta" in told
    assert "A note." in told


def test_a_table_in_latex_is_one_that_booktabs_sets():
    text = as_latex(table(), label="main-1")
    assert r"\caption{Graph tasks \& more}" in text
    assert r"\label{tab:main-1}" in text
    assert r"alpha & 61.3 {\scriptsize {[}55.0, 67.3{]}} & 8 \\" in text
    assert r"\begin{tabular}{@{}lrr@{}}" in text
    assert r"\footnotesize nothing was judged: beta" in text
    lower = Table("results", "t", ("a", "b"), ((Cell("x"), Cell("-1.5", value=-1.5)),))
    assert "x & $-$1.5 \\\\" in as_latex(lower)


def test_only_columns_of_numbers_are_set_to_the_right():
    lines = [("a", "K01", "3/6", 12, "“all”", "0d4de631"), ("b", "–", "–", None, "", "12345678")]
    mixed = Table.of("t", ("line", "probe", "of", "n", "why", "hash"), lines)
    assert "| --- | --- | ---: | ---: | --- | --- |" in as_markdown(mixed)
    assert r"\begin{tabular}{@{}llrrll@{}}" in as_latex(mixed)
    assert '<th scope="col" class="code">hash</th>' in as_html(mixed)


def test_a_long_table_in_latex_goes_on_on_the_next_page():
    text = as_latex(Table.of("t", ("a", "b"), [("x", "3/6")] * 41))
    assert r"\begin{longtable}{@{}lr@{}}" in text
    assert r"\begin{table}" not in text


@given(st.integers(2, 24), st.integers(1, 60), st.integers(1, 30))
@settings(max_examples=examples(30), deadline=None)
def test_a_wide_table_in_latex_stands_in_panels(columns, lines, letters):
    headings = ["Agent", *(f"{'h' * letters} {n} Avg@2" for n in range(1, columns))]
    body = [[f"agent{line}", *(line * 100 + n for n in range(1, columns))] for line in range(lines)]
    text = as_latex(Table.of("Wide", headings, body))
    assert "resizebox" not in text
    assert text.count(r"\caption") == text.count(r"\label") == 1
    panels = re.findall(r"\\midrule\n(?:  \\endhead\n)?(.*?)    \\bottomrule", text, re.DOTALL)
    rows = [[row.strip(" \\").split(" & ") for row in panel.splitlines()] for panel in panels]
    assert all(len(row) > 1 for panel in rows for row in panel)
    assert [[row[0] for row in panel] for panel in rows] == [[line[0] for line in body]] * len(rows)
    together = [[cell for panel in rows for cell in panel[at][1:]] for at in range(len(body))]
    assert together == [[f"{n:,}" for n in line[1:]] for line in body]
    assert len(rows) > 1 or columns < 14


def test_latex_names_its_packages_and_says_where_pdflatex_will_not_do():
    text = tables_text([table(), table()], "tex")
    assert text.startswith(r"% \usepackage[T1]{fontenc} \usepackage{array,booktabs,longtable}")
    assert "XeLaTeX" not in text
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert labels == ["tab:graph-tasks-more", "tab:graph-tasks-more-2"]
    for foreign in ("图谱", "κ и λ"):
        assert r"XeLaTeX, and \usepackage{xeCJK}" in tables_text([table(foreign)], "tex")


def test_tables_in_csv_are_rows_of_cells():
    rows = list(
        csv.DictReader(io.StringIO(as_csv([table(), table("=1+1", "-x")]).removeprefix("\ufeff")))
    )
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 8
    assert rows[0] == {
        "table": "Graph tasks & more",
        "line": "alpha",
        "column": "F1",
        "text": "61.3 [55.0, 67.3]",
        "value": "0.6125",
        "low": "0.55",
        "high": "0.6725",
        "n": "8",
        "key": "groups/alpha/graph/f1",
        "remark": "",
    }
    assert as_csv([]).startswith("\ufefftable,line,")
    assert rows[2]["remark"] == "nothing was judged"
    assert (rows[4]["line"], rows[4]["column"]) == ("'=1+1", "'-x")


@given(FOREIGN, FOREIGN, FOREIGN)
@settings(max_examples=examples(30), deadline=None)
def test_foreign_text_is_data_in_every_format(name, heading, note):
    hostile = table(name or "x", heading, note)
    page = page_of(as_html(hostile))
    assert page.wrong == []
    assert [tag for tag, _data in page.tags] == [
        tag for tag, _data in page_of(as_html(table(note=note and "n"))).tags
    ]
    for text in (as_html(hostile), as_latex(hostile), as_csv([hostile]).replace("\r\n", "\n")):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", text)
    for field in (f for row in csv.reader(io.StringIO(as_csv([hostile]), newline="")) for f in row):
        assert not field.startswith(("=", "+", "@", "\t", "\r"))
        assert not field.startswith("-") or float(field)
    latex = as_latex(hostile)
    assert balanced(latex)
    body = latex.partition(r"\midrule")[2].partition(r"\bottomrule")[0]
    lines = [line for line in body.splitlines() if line.strip()]
    assert [len(re.findall(r"(?<!\\)&", line)) for line in lines] == [2, 2]
    assert all(line.endswith(r" \\") for line in lines)


def test_latex_sets_letters_and_not_commands():
    assert escaped(r"\input{x}") == r"\textbackslash{}input\{x\}"
    assert escaped("100% of $5 & #1_a^b~c") == (
        r"100\% of \$5 \& \#1\_a\textasciicircum{}b\textasciitilde{}c"
    )
    assert escaped("a--b---c") == "a-{}-b-{}-{}-c"
    assert escaped("*[x]") == "{*}{[}x{]}"
    assert escaped("中文 κ ≤ 1") == r"中文 $\kappa$ $\leq$ 1"


def test_markdown_makes_no_links_and_no_pictures_of_names():
    text = as_markdown(table("![x](https://example.org/x.png) [a][b]"))
    assert "](" not in text
    assert "][" not in text


def balanced(text: str) -> bool:
    depth = 0
    for mark in re.findall(r"\\.|[{}]", text, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(mark, 0)
        if depth < 0:
            return False
    return depth == 0

"""Which columns of a file hold items and ratings, and which words are no label."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.annotate.agreement.csv_columns import CsvColumns, UnclearColumns, label_key
from cuecard.annotate.agreement.csv_table import GroupedRatings, read_table
from cuecard.core.errors import FileProblems

N = range(1, 13)
ANA = ["yes", "no", "yes", "yes", "no", "no", "yes", "yes", "no", "yes", "no", "yes"]
BEN = ["yes", "no", "yes", "no", "no", "no", "yes", "yes", "no", "yes", "yes", "yes"]
FIVE = [i % 5 + 1 for i in N]
OTHER_FIVE = [i * 3 % 5 + 1 for i in N]
HUNDRED = [10, 35, 70, 90, 55, 20, 85, 64, 32, 12, 99, 41]
OTHER_HUNDRED = [12, 35, 71, 90, 50, 20, 80, 66, 32, 15, 97, 44]
REMARKS = [f"remark {i}" if i % 3 == 0 else "" for i in N]
IDS = [f"c{i}" for i in N]


@pytest.fixture
def read(tmp_path: Path):
    def call(head: str, *columns, sep: str = ";", bom: bool = False, **wishes) -> GroupedRatings:
        rows = [sep.join(map(str, row)) for row in zip(*columns, strict=True)]
        path = tmp_path / "ratings.csv"
        path.write_text("\n".join([head, *rows]), encoding="utf-8-sig" if bom else "utf-8")
        return read_table(path, CsvColumns(**wishes))

    return call


@pytest.mark.parametrize(
    ("head", "columns", "item", "raters", "left_out"),
    [
        ("id;ana;ben;comment", (N, ANA, BEN, REMARKS), "id", "ana ben", {"comment": "name"}),
        ("Fall;ana;ben;Bemerkung", (IDS, ANA, BEN, REMARKS), "Fall", "ana ben", {"Bemerkung": "all_different"}),
        ("Fall;ana;ben", (N, FIVE, OTHER_FIVE), "Fall", "ana ben", {}),
        ("条目;甲;乙;备注", (N, ANA, BEN, REMARKS), "条目", "甲 乙", {"备注": "name"}),
        ("ana;ben;id", (ANA, BEN, IDS), "id", "ana ben", {}),
        # Many values on one scale are ratings, with and without a column of items.
        ("item;ana;ben", (N, HUNDRED, OTHER_HUNDRED), "item", "ana ben", {}),
        ("Fall;ana;ben", (IDS, HUNDRED, OTHER_HUNDRED), "Fall", "ana ben", {}),
        ("ana;ben", (HUNDRED, OTHER_HUNDRED), "", "ana ben", {}),
        # Identifiers beside the item's, and numbers that count the lines.
        ("item;ana;ben;doc_id", (N, FIVE, OTHER_FIVE, N), "item", "ana ben", {"doc_id": "name"}),
        ("item;ana;ben;Lauf", (N, FIVE, OTHER_FIVE, N), "item", "ana ben", {"Lauf": "all_different"}),
        ("item;ana;seconds;ben", (N, FIVE, N, OTHER_FIVE), "item", "ana ben", {"seconds": "name"}),
        ("item;ana;ben;final", (N, ANA, BEN, [""] * 12), "item", "ana ben", {"final": "blank"}),
        ("item;ana;ben;Stadt", (N, ANA, BEN, ["Rom", "Bern"] * 6), "item", "ana ben", {"Stadt": "own_labels"}),
        ("item;ana;ben;", (N, ANA, BEN, REMARKS), "item", "ana ben", {"column 4": "nameless"}),
        # A rater who always says the same, and one with a label of their own.
        ("item;ana;ben", (N, ["yes"] * 12, ["no"] * 11 + ["yes"]), "item", "ana ben", {}),
        ("item;ana;ben", (N, ANA, [*BEN[:11], "maybe"]), "item", "ana ben", {}),
        # The name of a long file's column makes no long file.
        ("id;label;alpha;beta", (N, ANA, BEN, ANA), "id", "label alpha beta", {}),
        ("item;judge;verdict", (N, ANA, BEN), "item", "judge verdict", {}),
        # Several lines share a task: the lines are the items.
        ("task;ana;ben", ([f"t{i // 5}" for i in N], ANA, BEN), "", "ana ben", {"task": "name"}),
        ("task;ana;ben", (IDS, ANA, BEN), "task", "ana ben", {}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("sep", [";", ",", "\t"])
def test_what_each_column_is_taken_for(read, head, columns, item, raters, left_out, sep):
    found = read(head.replace(";", sep), *columns, sep=sep, bom=sep == ";")
    roles = found.taken.roles
    assert (roles.shape, roles.item, roles.raters) == ("wide", item, tuple(raters.split()))
    assert dict(roles.left_out) == left_out
    assert (found.ratings.raters, len(found.ratings.items)) == (tuple(raters.split()), 12)


@pytest.mark.parametrize(
    ("head", "columns", "said"),
    [
        ("item;ana", (N, ANA), "only ana looks like"),
        ("Fall;ana", (N, ANA), "only ana looks like"),
        ("item;ana;comment", (N, ANA, REMARKS), "only ana looks like"),
        ("ana", (ANA,), "only ana looks like"),
        ("item;ana;ben", (N, ["yes"] * 12, ["no"] * 12), "no two columns have labels in common"),
        ("item;ana;ben;a;b", (N, ANA, BEN, FIVE, OTHER_FIVE), "ana, ben; a, b"),
        ("Code;ana;ben", ([7 * i for i in N], HUNDRED, OTHER_HUNDRED), "Code could name the items"),
        ("item;ana;ben;Rest", (N, ANA, BEN, ["yes", "x", "y", "x"] * 3), "Rest shares only some"),
        ("Fall;Person;Urteil", ([i // 2 for i in N], ["a", "b"] * 6, ANA), "no two columns"),
    ],
)
def test_what_is_not_clear_is_refused(read, head, columns, said):
    with pytest.raises(UnclearColumns) as caught:
        read(head, *columns)
    for word in (said, "--item", "--raters"):
        assert word in str(caught.value)


def test_what_is_named_is_taken_as_named(read):
    found = read("Code;ana;ben", [7 * i for i in N], HUNDRED, OTHER_HUNDRED, item="Code")
    assert (found.taken.roles.item, found.ratings.raters) == ("Code", ("ana", "ben"))
    found = read("Code;ana;ben;seconds", IDS, ANA, BEN, N, raters=("ben", "seconds"))
    assert (found.taken.roles.item, found.ratings.raters) == ("Code", ("ben", "seconds"))
    assert dict(found.taken.roles.left_out) == {"ana": "not_named"}
    for wrong in ({"item": "x"}, {"raters": ("ana", "x")}, {"group": "x"}):
        with pytest.raises(FileProblems, match="x: there is no such column"):
            read("Code;ana;ben", IDS, ANA, BEN, **wrong)
    for head in ("item;ana;ben", "Fall;ana;ben"):
        with pytest.raises(FileProblems, match="line 3: the item stands twice"):
            read(head, ["c1", "c1", *IDS[2:]], ANA, BEN)


@pytest.mark.parametrize(
    ("head", "item"),
    [
        ("item;rater;label", "item"),
        ("Fall;rater;label", "Fall"),
        ("id;annotator;decision", "id"),
        ("条目;标注人;判断", "条目"),
    ],
)
def test_long_files_under_other_names(read, head, item):
    roles = read(head, [i // 2 for i in range(12)], ["a", "b"] * 6, ANA).taken.roles
    assert (roles.shape, roles.item) == ("long", item)
    assert (roles.rater, roles.label) == tuple(head.split(";")[1:])


def test_words_that_are_no_label_in_either_shape(read):
    said = ["NA", "n/a", "－", "", "unsure", "不确定", *ANA[6:]]
    wide = read("item;ana;ben", N, said, BEN)
    assert wide.taken.missing == {"NA": 1, "n/a": 1, "－": 1, "": 1}
    assert wide.taken.cannot_tell == {"unsure": 1, "不确定": 1}
    long = read("item;rater;label", [*N, *N], ["ana"] * 12 + ["ben"] * 12, said + BEN)
    assert (long.taken.missing, long.taken.cannot_tell) == (
        wide.taken.missing,
        wide.taken.cannot_tell,
    )
    assert long.ratings.codes == wide.ratings.codes
    assert [codes[0] for codes in wide.ratings.codes[:6]] == [-1] * 6
    # What is declared as a label is one, and other words can be named.
    declared = read("item;ana;ben", N, said, BEN, domain=("no", "unsure", "yes"))
    assert declared.taken.cannot_tell == {"不确定": 1}
    other = read("item;ana;ben", N, said, BEN, missing=("na", "N/A", "-", "不确定"))
    assert (other.ratings.labels, other.taken.missing[""]) == (("no", "unsure", "yes"), 1)


def test_one_label_in_several_spellings(read):
    found = read("item;ana;ben", range(4), ["Yes", "no", "yes", "ＮＯ"], ["yes", "NO ", "no", "no"])
    assert found.ratings.labels == ("no", "yes")
    assert found.taken.merged == {"yes": ("Yes",), "no": ("NO", "ＮＯ")}
    # As a table program writes whole numbers beside gaps.
    found = read("item;ana;ben", range(4), ["1.0", "2.0", "", "3.0"], [1, 2, 2, 3])
    assert (found.ratings.labels, found.ratings.codes[0]) == (("1", "2", "3"), (0, 0))
    found = read("item;ana;ben", N, ANA, BEN, domain=("NO", "YES"))
    assert (found.ratings.labels, found.taken.merged["YES"]) == (("NO", "YES"), ("yes",))


@given(st.text(max_size=12))
def test_the_key_of_a_label_is_its_own_key(text: str):
    assert label_key(label_key(text)) == label_key(text)
    assert label_key(f"  {text}\t") == label_key(text)

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard.annotate.agreement.csv_columns import CsvColumns
from cuecard.annotate.agreement.csv_table import read_table
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.core.errors import FileProblems


def read_ratings(path: Path, **columns: str | tuple[str, ...]) -> Ratings:
    given = {"item": "item", "rater": "rater", "label": "label", **columns}
    return read_table(path, CsvColumns(**given)).ratings  # pyright: ignore[reportArgumentType]


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def test_reads_bom_crlf_quotes_and_blank_labels(tmp_path: Path):
    text = (
        'item,rater,label,note\r\n1,甲,是,"two\r\nlines"\r\n1,乙,否,\r\n\r\n2,甲,,x\r\n2,乙,是,\r\n'
    )
    ratings = read_ratings(write(tmp_path / "r.csv", text, "utf-8-sig"))
    assert ratings.items == ("1", "2")
    assert ratings.raters == ("甲", "乙")
    assert ratings.codes == ((1, 0), (-1, 1))


def test_other_columns_and_delimiters(tmp_path: Path):
    path = write(tmp_path / "r.csv", "who;what;says\na;1;yes\nb;1;no\n")
    ratings = read_ratings(path, item="what", rater="who", label="says", domain=("yes", "no"))
    assert ratings.raters == ("a", "b")
    assert ratings.labels == ("yes", "no")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["is empty"]),
        ("item,rater,label\n", ["holds no rating"]),
        ("item,who,what\n1,a,x\n", ["rater: there is no such column", "label: there is no such"]),
        ("item,item,rater,label\n", ["item: stands twice"]),
        (
            "item,rater,label\n,a,x\n1,,x\n1,a,x\n1,a,y\n",
            [
                "line 2: the item",
                "line 3: the rater",
                "line 5: rater a rated item 1 already in line 4",
            ],
        ),
        ('item,rater,label\n1,a,"x\n', ["unexpected end of data"]),
    ],
)
def test_every_problem_is_named_with_its_line(tmp_path: Path, text: str, expected: list[str]):
    with pytest.raises(FileProblems) as caught:
        read_ratings(write(tmp_path / "r.csv", text))
    said = [str(problem) for problem in caught.value.problems]
    assert len(said) == len(expected)
    for line, part in zip(said, expected, strict=True):
        assert "r.csv" in line
        assert part in line


def test_missing_file_and_wrong_encoding(tmp_path: Path):
    with pytest.raises(FileProblems, match="No such file"):
        read_ratings(tmp_path / "absent.csv")
    with pytest.raises(FileProblems, match="not UTF-8"):
        read_ratings(write(tmp_path / "r.csv", "item,rater,label\n1,甲,是\n", "gb18030"))


def test_labels_outside_the_domain(tmp_path: Path):
    path = write(tmp_path / "r.csv", "item,rater,label\n1,a,maybe\n")
    with pytest.raises(FileProblems, match="maybe is not one of yes, no"):
        read_ratings(path, domain=("yes", "no"))

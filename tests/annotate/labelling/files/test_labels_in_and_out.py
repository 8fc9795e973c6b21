"""Labels go out into files, come back filled in, and change nothing twice."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from apart import fresh
from cuecard.annotate.labelling.files.exporting import Scope, export_labels
from cuecard.annotate.labelling.files.importing import LabelImport, import_labels
from cuecard.annotate.labelling.files.meta_evaluation import inputs_of_sheets
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.errors import Conflict, FileProblems, NotFound
from cuecard.core.label_records import Label, LabelValue, SetItem
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.workspace import Workspace
from judged_trials import GOLD, ended_run, graph_task, triples

FORMULA = ("=cmd|'x'", "founded in", "1\n2")


def _judge(workspace: Workspace, trial_id: int) -> None:
    verdicts = [
        Verdict(
            item=Item(kind=ItemKind.TRIPLE, index=index),
            decision=Decision.YES if index < 2 else Decision.NO,
            supporting=(index,) if index < 2 else (),
        )
        for index in range(len(GOLD))
    ]
    judge = PlayerRef(name="jay", kind="llm", model="m")
    workspace.verdicts.add(trial_id, Judgement(judge=judge, verdicts=tuple(verdicts)))


@pytest.fixture
def run(workspace: Workspace) -> int:
    """Two trials of one task, which predicted something else each."""
    run = ended_run(workspace, graph_task(), [triples(*GOLD[:2], FORMULA), triples(*GOLD[3:])])
    for trial in workspace.runs.trials(run):
        _judge(workspace, trial.id)
    return run


def _fill(path: Path, label: Callable[[int], str], comment: str = "") -> None:
    """As an expert does it in a spreadsheet."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    for at, row in enumerate(rows):
        row[header.index("human_label")] = label(at)
        row[header.index("human_comment")] = comment
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def _take(workspace: Workspace, *paths: Path, **more: object) -> LabelImport:
    return import_labels(workspace, paths, person="Ana", **more)  # pyright: ignore[reportArgumentType]


def _labels(workspace: Workspace) -> list[Label]:
    return workspace.verdicts.item_labels(phase=None)


def test_a_set_goes_out_as_sheets_and_comes_back(
    workspace: Workspace, run: int, tmp_path: Path
) -> None:
    first, _second = workspace.runs.trials(run)
    items = [Item(kind=ItemKind.TRIPLE, index=index) for index in (4, 0)]
    items += [Item(kind=ItemKind.PREDICTED, index=2), Item(kind=ItemKind.LEAK, index=0)]
    drawn = [SetItem(trial_id=first.id, item=item) for item in items]
    set_id = workspace.label_sets.create(name="s", created_by="Ana", items=drawn).id
    scope = Scope(set_id=set_id, unlabelled=True)
    done = export_labels(workspace, tmp_path / "out", scope, format="vibesearch", person="Ana")
    recall, precision = done.files
    assert (done.items, done.labels) == (3, 0)
    # Nothing of what the judge decided, and nothing that a spreadsheet would run.
    rows = _read(recall)
    assert [(r["gt_index"], r["model_covered"], r["supporting_pred_triples"]) for r in rows] == [
        ("0", "", ""),
        ("4", "", ""),
    ]
    assert "maker 0" in rows[0]["closest_pred_triples"]
    assert "'=cmd" in precision.read_text(encoding="utf-8")
    with pytest.raises(Conflict):
        export_labels(workspace, tmp_path / "out", scope, format="vibesearch", person="Ana")

    _fill(recall, lambda at: "是" if at else "", "=ok")
    _fill(precision, lambda _at: "否")
    (tmp_path / "out" / "notes.txt").write_text("not a file of labels")
    dry = _take(workspace, tmp_path / "out", dry=True)
    assert (dry.added, _labels(workspace)) == (2, [])
    report = _take(workspace, tmp_path / "out", run_id=run)
    assert (report.added, report.known, report.people, report.trials) == (
        2,
        0,
        ("Ana",),
        (first.id,),
    )
    covered, wrong = sorted(_labels(workspace), key=lambda label: label.item_key, reverse=True)
    assert (covered.item_key, covered.value, covered.comment) == ("triple/4", "yes", "=ok")
    assert (covered.source, covered.phase) == (recall.name, "blind")
    assert (wrong.item_key, wrong.value) == ("predicted/2", LabelValue.NO)
    assert covered.verdict_id

    # Again, even after they changed their mind here: nothing changes.
    workspace.verdicts.reveal(covered.verdict_id, "Ana")
    workspace.verdicts.label(covered.verdict_id, "Ana", LabelValue.NO)
    before = _labels(workspace)
    assert _take(workspace, tmp_path / "out").added == 0
    assert _labels(workspace) == before
    # Another label in the same file is a change of mind, after the decision was seen.
    _fill(recall, lambda at: "不确定" if at else "")
    assert _take(workspace, recall, precision).added == 1
    assert [label.phase for label in _labels(workspace) if label.item_key == "triple/4"] == [
        "blind",
        "revealed",
        "revealed",
    ]


def test_foreign_sheets_are_laid_over_the_trial_whose_triples_they_hold(
    workspace: Workspace, run: int, tmp_path: Path
) -> None:
    recall, precision = tmp_path / "recall.csv", tmp_path / "precision.csv"
    header = "head,relation,tail,human_label,human_comment\r\n"

    def write(path: Path, column: str, lines: list[tuple[str, str, str]], base: int = 0) -> None:
        body = [f"{at},{h} ,{r},{t},是,\r\n" for at, (h, r, t) in enumerate(lines, base)]
        path.write_text(f"{column},{header}{''.join(body)}", encoding="utf-8-sig", newline="")

    write(recall, "gt_index", list(GOLD))
    with pytest.raises(FileProblems, match="fits 2 trials"):
        _take(workspace, recall, run_id=run)
    write(precision, "pred_index", list(GOLD[3:]), base=1)
    first, second = workspace.runs.trials(run)
    assert _take(workspace, recall, precision, run_id=run).trials == (second.id,)
    keys = {label.item_key for label in _labels(workspace)}
    assert {"predicted/0", "predicted/2", "triple/5"} <= keys
    assert _take(workspace, recall, trial=first.uid[:10]).trials == (first.id,)

    write(recall, "gt_index", [*GOLD[:4], ("maker 9", "founded in", "1904"), GOLD[5]])
    before = len(_labels(workspace))
    for named in ("", str(second.id)):
        with pytest.raises(FileProblems) as caught:
            _take(workspace, recall, precision, trial=named)
        assert "line 6: triple/4 of trial" in str(caught.value)
        assert "says “maker 4, founded in, 1904”, not “maker 9" in str(caught.value)
        assert len(caught.value.problems) == 1
    write(recall, "gt_index", [("a", "b", "c")])
    with pytest.raises(FileProblems, match="of no trial here"):
        _take(workspace, recall)
    assert len(_labels(workspace)) == before
    with pytest.raises(NotFound):
        _take(workspace, recall, trial="nobody")
    with pytest.raises(NotFound):
        _take(workspace, recall, run_id=99)


def test_tables_of_several_people_come_in_all_or_not_at_all(
    workspace: Workspace, run: int, tmp_path: Path
) -> None:
    trial = workspace.runs.trials(run)[0]
    path = tmp_path / "labels.csv"
    lines = [
        "trial,item,head,relation,tail,person,label,seconds,phase,at",
        f"{trial.uid},triple/0,maker 0,founded in,1900,Ben,yes,2.5,,2026-01-02T03:04:05Z",
        f"{trial.uid},triple/0,,,,Ben,no,,revealed,2026-01-02T04:04:05+01:00",
        f"{trial.id},triple/1,,,,,unsure,,,",
        f"{trial.id},triple/1,,,,,unsure,,,",
        f"{trial.id},triple/2,,,,Cy,,,,",
    ]
    bad = [
        f"{trial.uid},triple/1,maker 0,founded in,1901,Ben,yes,,,",
        f"{trial.uid},triple/6,,,,Ben,yes,,,",
        f"{trial.uid},cell/0/Year,,,,Ben,yes,,,",
        "nobody,triple/0,,,,Ben,yes,,,",
        f"{trial.uid},triple/3,,,,B\x1b[2Jen,yes,,,",
        f"{trial.uid},triple/1,,,,Ana,no,,,",
    ]
    path.write_text("\n".join([*lines, *bad]), encoding="utf-8")
    with pytest.raises(FileProblems) as caught:
        _take(workspace, path)
    assert [problem.line for problem in caught.value.problems] == [7, 8, 9, 10, 11, 12]
    assert "Ana has labelled it otherwise in line 4" in str(caught.value)
    assert _labels(workspace) == []
    path.write_text("\n".join(lines), encoding="utf-8")
    report = _take(workspace, path)
    assert (report.added, report.people) == (3, ("Ana", "Ben"))
    assert (report.files[0].labels, report.files[0].blank) == (4, 1)
    blind = workspace.verdicts.item_labels()
    assert [(label.person, label.value, label.seconds) for label in blind] == [
        ("Ben", LabelValue.YES, 2.5),
        ("Ana", LabelValue.UNSURE, 0),
    ]
    revealed = workspace.verdicts.item_labels(phase="revealed")
    assert [label.value for label in revealed] == [LabelValue.NO]
    assert blind[0].created_at - revealed[0].created_at == timedelta(0)
    assert _take(workspace, path).added == 0
    # Who has seen the decision there has seen it here.
    item = Item(kind=ItemKind.TRIPLE, index=0)
    later = workspace.verdicts.label_item(trial.id, item, "Ben", LabelValue.YES)
    assert later.phase == "revealed"


def test_everything_comes_back_from_every_format(
    workspace: Workspace, run: int, tmp_path: Path
) -> None:
    trial = workspace.runs.trials(run)[0]
    item, predicted = (Item(kind=k, index=2) for k in (ItemKind.TRIPLE, ItemKind.PREDICTED))
    workspace.verdicts.label_item(trial.id, item, "Ana", LabelValue.YES, "'=1\nè", seconds=1.25)
    workspace.verdicts.note_reveal(trial.id, item, "Ana")
    workspace.verdicts.label_item(trial.id, item, "Ana", LabelValue.NO, gold_wrong=True)
    workspace.verdicts.label_item(trial.id, predicted, "Ben", LabelValue.UNSURE)
    before = _labels(workspace)
    scope = Scope(run_id=run, history=True)
    for format in ("csv", "jsonl", "labelstudio"):
        path = tmp_path / f"x.{format}"
        done = export_labels(workspace, path, scope, format=format, verdicts=True)
        assert done.items >= 2
        assert _take(workspace, path).added == 0
        # Into a workspace that has the trial and no labels.
        with fresh(tmp_path / f"{format}.db") as other:
            ended_run(other, graph_task(), [triples(*GOLD[:2], FORMULA)])
            uid = other.runs.trials(1)[0].uid
            text = path.read_text(encoding="utf-8").replace(trial.uid, uid)
            path.write_text(text, encoding="utf-8", newline="")
            report = _take(other, path)
            assert (report.added, report.files[0].shows_judge) == (3, True)
            apart = {"verdict_id", "trial_id", "source"}
            assert [x.model_dump(exclude=apart) for x in _labels(other)] == [
                x.model_dump(exclude=apart) for x in before
            ]
    lines = [json.loads(x) for x in (tmp_path / "x.jsonl").read_text("utf-8").splitlines()]
    assert [(x["judge"], x["judge_label"]) for x in lines] == [("jay", "no")] * 3
    export_labels(workspace, tmp_path / "all.csv", Scope(unlabelled=True), format="csv")
    rows = _read(tmp_path / "all.csv")
    assert len(rows) == 2 * len(GOLD) + 3 + 3
    assert sum(bool(row["label"]) for row in rows) == 2
    assert _take(workspace, tmp_path / "all.csv").files[0].blank == 16
    with pytest.raises(NotFound):
        export_labels(workspace, tmp_path / "s", Scope(run_id=99), format="csv")


def test_a_meta_evaluation_needs_no_workspace(
    workspace: Workspace, run: int, tmp_path: Path
) -> None:
    for who, wrong in (("ana", 0), ("ben", 1)):
        done = export_labels(
            workspace,
            tmp_path / who,
            Scope(run_id=run, unlabelled=True),
            format="vibesearch",
            person="Ana",
            verdicts=True,
        )
        for path in done.files:
            _fill(path, lambda at, wrong=wrong: ("否" if at == wrong else "是") if at < 3 else "")
    gold, predicted = inputs_of_sheets([tmp_path / "ana", tmp_path / "ben"])
    assert (gold.subject, gold.population, len(gold.cases)) == ("gold", 12, 6)
    assert (gold.judges, gold.people) == (("model",), ("ana", "ben"))
    # Two trials of the same gold are one task, also for what they predicted.
    assert len({case.task for case in (*gold.cases, *predicted.cases)}) == 1
    assert len({case.trial_id for case in predicted.cases}) == 2

"""Labels in and out from the shell, and a meta-evaluation by one command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from apart import fresh
from judged_trials import GOLD, ended_run, graph_task, triples

RECALL = "\ufeffgt_index,head,relation,tail,model_covered,supporting_pred_triples,human_label\r\n"
PRECISION = "\ufeffpred_index,head,relation,tail,model_valid,supporting_gt_triples,human_label\r\n"


def test_labels_come_in_and_go_out(cuecard: Callable[..., Any], tmp_path: Path) -> None:
    with fresh(tmp_path / "w.db") as workspace:
        ended_run(workspace, graph_task(), [triples(*GOLD[:2])])
    ours = ("--db", "w.db", "--as", "Ana")
    nothing = cuecard(*ours, "labels", "export", "--format", "csv", "-o", "x.csv")
    assert (nothing.code, "Nothing to export" in nothing.err) == (1, True)
    head, relation, tail = GOLD[0]
    (tmp_path / "recall.csv").write_text(
        f"{RECALL}0,{head},{relation},{tail},是,,是\r\n", encoding="utf-8"
    )
    dry = cuecard(*ours, "labels", "import", "recall.csv", "--run", "1", "--dry-run")
    assert (dry.code, "New labels: 1, known: 0; by Ana, on 1 trial." in dry.out) == (0, True)
    assert "--blind" in dry.err
    take = ("labels", "import", "recall.csv", "--person", "Ben", "--blind", "--json")
    taken = cuecard(*ours, *take)
    assert (taken.data["added"], taken.data["people"], taken.data["dry"]) == (1, ["Ben"], False)
    out = cuecard(*ours, "labels", "export", "--run", "1", "--format", "csv", "-o", "x.csv")
    assert (out.code, "1 item, 1 of them labelled." in out.out) == (0, True)
    assert "triple/0" in (tmp_path / "x.csv").read_text("utf-8")
    again = cuecard(*ours, "labels", "export", "--format", "csv", "-o", "x.csv")
    assert (again.code, "such a file already" in again.err) == (1, True)
    (tmp_path / "recall.csv").write_text(f"{RECALL}0,x,y,z,,,jein\r\n", encoding="utf-8")
    bad = cuecard(*ours, "labels", "import", "recall.csv")
    assert (bad.code, bad.out) == (1, "")
    assert "recall.csv: line 2, human_label: jein is none of" in bad.err
    assert "Nothing was imported" in bad.err
    both = ("--run", "1", "--set", "1")
    assert cuecard(*ours, "labels", "export", *both, "--format", "csv", "-o", "y").code == 2


def test_the_table_of_a_meta_evaluation_needs_one_command(
    cuecard: Callable[..., Any], tmp_path: Path
) -> None:
    """The model covers 4 of 6 gold triples; the expert grants 3 of these and none of the others."""
    lines = [
        f"{n},{h},{r},{t},{'是' if n < 4 else '否'},,{'是' if n < 3 else '否'}\r\n"
        for n, (h, r, t) in enumerate(GOLD)
    ]
    (tmp_path / "recall.csv").write_text(RECALL + "".join(lines), encoding="utf-8")
    (tmp_path / "precision.csv").write_text(f"{PRECISION}0,a,r,b,是,,是\r\n", encoding="utf-8")
    said = cuecard("agree", "recall.csv", "precision.csv")
    assert said.code == 0
    assert "Recall" in said.out
    assert "Precision" in said.out
    table = [line.split() for line in said.out.splitlines()]
    # Overall 5 of 6; of what the model covers 3 of 4, of what it does not 2 of 2.
    assert any(line[:3] == ["overall", "6", "0.833"] for line in table)
    assert any(line[:3] == ["covered", "4", "0.750"] for line in table)
    assert any(line[:1] == ["not"] and "2" in line and "1.000" in line for line in table)
    data = cuecard("agree", "recall.csv", "--json").data
    assert data["recall"]["people"] == ["human"]
    assert cuecard("agree", "recall.csv", "precision.csv", "--markdown").out.startswith("# Recall")
    (tmp_path / "plain.csv").write_text("item,rater,label\n1,a,x\n", encoding="utf-8")
    assert cuecard("agree", "plain.csv", "plain.csv").code == 2

"""Label Studio's form, and what came back from the real program (`bench/label_studio.py` wrote the file)."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from cuecard.annotate.labelling.files.entries import Problems
from cuecard.annotate.labelling.files.exporting import Scope, export_labels
from cuecard.annotate.labelling.files.formats import interface, label_tasks
from cuecard.annotate.labelling.files.importing import LabelImport, import_labels
from cuecard.core import i18n
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.errors import FileProblems
from cuecard.core.label_records import LabelValue
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.workspace import Sight, Workspace
from hostile_items import BEFORE, GIVEN, MARKUP, TEMPLATE, hostile_set


@pytest.fixture(autouse=True)
def _english() -> Generator[None]:
    yield
    i18n.set_language("en")


EXPORT = Path(__file__).parents[3] / "data" / "label_studio_1.23.json"


def form(workspace: Workspace, path: Path, person: str = "Ana") -> dict[str, dict[str, Any]]:
    """The fields of each task of an export, by item."""
    scope = Scope(set_id=1, unlabelled=True)
    sight = Sight(workspace, person)
    export_labels(workspace, path, scope, format="labelstudio", person=person, sight=sight)
    return {task["data"]["item"]: task["data"] for task in json.loads(path.read_text("utf-8"))}


@pytest.fixture
def back(workspace: Workspace, tmp_path: Path) -> Path:
    """What Label Studio exported, as if of this workspace's trials."""
    hostile_set(workspace)
    text = EXPORT.read_text(encoding="utf-8")
    tasks = json.loads(text)
    for data in (task["data"] for task in tasks):
        run = workspace.runs.trials(data["run"])
        text = text.replace(data["trial"], run[0].uid)
    (mine,) = workspace.verdicts.item_labels()
    at = mine.created_at.isoformat().replace("+00:00", "Z")
    text = re.sub(r'("at": )"[^"]+"', rf'\1"{at}"', text)
    path = tmp_path / "back.json"
    path.write_text(text, encoding="utf-8")
    return path


def take(workspace: Workspace, path: Path, person: str) -> LabelImport:
    return import_labels(workspace, [path], person=person)


def test_labels_come_back_to_the_right_items_and_people(workspace: Workspace, back: Path) -> None:
    report = take(workspace, back, "1=Ana, 2=Ben")
    assert (report.added, report.people) == (len(GIVEN), ("Ana", "Ben"))
    arrived = {
        (label.item_key, label.person): (label.value.value, label.comment, label.gold_wrong)
        for label in workspace.verdicts.item_labels(phase="blind")
    }
    names = {1: "Ana", 2: "Ben"}
    wanted = {(item, names[account]): said for item, (account, said) in GIVEN.items()}
    assert arrived == {**wanted, (BEFORE[0], "Ana"): BEFORE[1]}
    assert take(workspace, back, "1=Ana, 2=Ben").added == 0


def test_accounts_without_names_are_asked_for(workspace: Workspace, back: Path) -> None:
    for person, problems in (("Ana", len(GIVEN)), ("1=Ana", 1)):
        with pytest.raises(
            FileProblems, match="say who account 2 is, as in --person 2=Ana"
        ) as told:
            take(workspace, back, person)
        assert len(told.value.problems) == problems
    # Of one account alone it is clear.
    tasks = [task for task in json.loads(back.read_text("utf-8")) if task["id"] != ben(back)]
    back.write_text(json.dumps(tasks), encoding="utf-8")
    assert take(workspace, back, "Ana").people == ("Ana",)


def ben(path: Path) -> int:
    tasks = json.loads(path.read_text("utf-8"))
    return next(t["id"] for t in tasks for a in t["annotations"] if a["completed_by"] == 2)


def test_an_exported_label_that_somebody_changed_there_is_theirs(
    workspace: Workspace, back: Path
) -> None:
    tasks = json.loads(back.read_text("utf-8"))
    changed = next(task for task in tasks if task["data"]["item"] == BEFORE[0])
    (annotation,) = changed["annotations"]
    # Its form keeps what is known of the label, and notes the account.
    assert annotation["result"][0]["meta"]["person"] == "Ana"
    annotation["result"][0]["value"]["choices"] = ["yes"]
    annotation["updated_by"] = 2
    back.write_text(json.dumps([changed]), encoding="utf-8")
    assert take(workspace, back, "Ben").people == ("Ben",)
    said = {label.person: label.value for label in workspace.verdicts.item_labels()}
    assert said == {"Ana": LabelValue.NO, "Ben": LabelValue.YES}


def test_a_form_says_what_is_asked_in_plain_words(workspace: Workspace, tmp_path: Path) -> None:
    hostile_set(workspace)
    cell = form(workspace, tmp_path / "en.json")["cell/0/Founded"]
    assert cell["question"] == "Does the agent's table say the same in this cell?"
    assert cell["about"].split("\n")[:4] == [
        "Gold item · a cell: 1792",
        "row 1, key: France",
        "column Founded",
        "criterion: the year alone",
    ]
    assert [line.split(":")[0] for line in cell["rule"].split("\n")] == ["Yes", "No"]
    assert cell["evidence"].split("\n")[1] == f"1. 1792 (France | {TEMPLATE} | 1792)"
    i18n.set_language("zh")
    cell = form(workspace, tmp_path / "zh.json")["cell/0/Founded"]
    assert cell["about"].split("\n")[1:3] == ["第 1 行，键：France", "列 Founded"]
    assert cell["rule"].startswith("是：")
    assert "无法判断" in (tmp_path / "zh.xml").read_text(encoding="utf-8")


@pytest.mark.parametrize("language", i18n.LANGUAGES)
@pytest.mark.parametrize("kinds", [{ItemKind.STATUS}, {ItemKind.CELL}, set(ItemKind)])
def test_the_interface_names_fields_that_are_there_and_choices_that_come_back(
    workspace: Workspace, tmp_path: Path, kinds: set[ItemKind], language: i18n.Language
) -> None:
    hostile_set(workspace)
    i18n.set_language(language)
    fields = form(workspace, tmp_path / "x.json").values()
    text = interface(kinds)
    root = ElementTree.fromstring(text)
    used = set(re.findall(r'"\$(\w+)"', text))
    assert used == {"question", "about", "rule", "evidence"}
    assert all(used <= set(data) and all(data[name] for name in used) for data in fields)
    aliases = [choice.get("alias") for choice in root.iter("Choice")]
    data = {"trial": "1", "text": "", "item": "status/0" if ItemKind.STATUS in kinds else "row/0"}
    region = {"from_name": "label", "type": "choices"}
    for alias in set(aliases) - {"gold_wrong"}:
        result = {**region, "value": {"choices": [alias]}}
        task = {"data": data, "annotations": [{"completed_by": 1, "result": [result]}]}
        problems = Problems("x")
        (entry,) = label_tasks(Path("x"), json.dumps([task]), problems).entries
        assert (problems.found, entry.value) == ([], alias)
    assert ("yes" in aliases) == (kinds != {ItemKind.STATUS})


def test_nothing_in_a_form_depends_on_what_was_decided(
    workspace: Workspace, tmp_path: Path
) -> None:
    hostile_set(workspace)
    before = form(workspace, tmp_path / "before.json", "Ben")
    trial = workspace.runs.trials(1)[0]
    cells = [Item(kind=ItemKind.CELL, index=n, column="Founded") for n in (0, 1)]
    verdicts = [
        Verdict(item=cell, decision=Decision.YES, supporting=(0,), rationale="as I decided")
        for cell in cells
    ]
    judge = PlayerRef(name="quill", kind="llm", model="m-1")
    workspace.verdicts.add(trial.id, Judgement(judge=judge, verdicts=tuple(verdicts)))
    workspace.verdicts.label_item(trial.id, cells[0], "Ana", LabelValue.YES, "seen by Ana")
    assert form(workspace, tmp_path / "after.json", "Ben") == before
    for file in ("after.json", "after.xml"):
        text = (tmp_path / file).read_text(encoding="utf-8")
        assert not re.search(r"quill|as I decided|Ana|mine|nobody", text)
    # What tasks say stands in fields, never in the interface.
    assert MARKUP not in (tmp_path / "after.xml").read_text(encoding="utf-8")


def test_lines_of_a_form_are_cut_and_the_item_is_not(workspace: Workspace, tmp_path: Path) -> None:
    hostile_set(workspace, 200_000)
    cell = form(workspace, tmp_path / "x.json")[f"cell/1/{MARKUP}"]
    assert len(cell["text"]) == 200_000
    assert max(map(len, cell["about"].split("\n"))) <= 1000
    assert len(cell["evidence"]) < 5000

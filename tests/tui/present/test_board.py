"""The board's lists and the table of figures, as they read."""

from __future__ import annotations

from datetime import datetime, timedelta

from rich.text import Text

from cuecard.annotate.review.board import board_of
from cuecard.annotate.review.figures import figures_of
from cuecard.core.contributions import TaskState
from cuecard.core.records import OpenRound, TaskSummary
from cuecard.core.text import one_line
from cuecard.tui.grid.cells import GridCell
from cuecard.tui.present.board import BoardView, FiguresView, name_cell, waits_cell
from review_logs import START, LogMaker

NOW = START + timedelta(days=3)


def summary(task_id: str, state: TaskState) -> TaskSummary:
    return TaskSummary(
        id=task_id,
        title=f"Task {task_id}",
        family="facts",
        language="en",
        domain="trains",
        difficulty=None,
        revision=1,
        state=state,
        author="",
        updated_at=START,
    )


def view(reader: str = "Ben", at: datetime = NOW) -> BoardView:
    """`a` is in review, Ben has it and somebody else; `b` of Ana's came back; Ben writes `c`."""
    logs = {
        "a": LogMaker("a", author="").submit("").claim("Ben").log,
        "b": LogMaker("b").submit().review("Ben", "R").review("Chen", "A").log,
        "c": LogMaker("c", author="Ben").log,
    }
    states = {"a": TaskState.IN_REVIEW, "b": TaskState.RETURNED, "c": TaskState.DRAFT}
    tasks = [summary(task_id, state) for task_id, state in states.items()]
    round_ = OpenRound(
        task=tasks[0],
        submitted_at=START,
        priority=0,
        reviews=0,
        needed=3,
        claims=1,
        mine=NOW,
        wrote=False,
        reviewed=False,
        released=False,
    )
    return BoardView(board_of(tasks, logs, [round_], reader, at), at)


def plain(cell: str | GridCell | Text) -> str:
    return one_line(cell if isinstance(cell, str) else getattr(cell, "plain", "") or cell[0])


def test_tasks_read_by_state_and_person():
    board = view()
    assert board.heading({}).plain == (
        "◐ in review 1  ↺ returned 1  ○ draft 1  ● approved 0  × archived 0"
    )
    assert [
        (task.state.value, *task.authors, plain(waits_cell(task, "Ben"))) for task in board.tasks
    ] == [
        ("in_review", "you, 1 other · 1 free · 0/3 in"),
        ("returned", "Ana", "Ana"),
        ("draft", "Ben", "you"),
    ]
    told = [paragraph.text for paragraph in board.about_task(board.tasks[0])]
    assert told[2:4] == [
        "Its author is hidden from those who may review it.",
        "0 of 3 reviews in · 2 have it to review (you) · 1 place free · two disagree, a third decides",
    ]
    states = []
    for _turn in range(4):
        board = board.next_state()
        states.append(board.state and board.state.value)
    assert states == ["in_review", "returned", "draft", None]
    ben = board.of_person("Ben")
    assert [task.task.id for task in ben.tasks] == ["a", "b", "c"]
    assert [task.task.id for task in ben.next_state().tasks] == ["a"]


def test_people_read_with_what_is_open():
    board = view()
    assert [(plain(name_cell(load, "Ben")), load.open) for load in board.board.people] == [
        ("Ben (you)", 2),
        ("Ana", 1),
        ("Chen", 0),
    ]
    told = [p.text for p in board.about_person(board.board.people[2])]
    assert told == [
        "Chen",
        "Nothing is open.",
        "Without what you must not know while tasks are in review.",
    ]


def figures() -> FiguresView:
    logs = {}
    for number in range(6):
        maker = LogMaker(f"t{number}").submit()
        maker.review("Ben", "A", 120, gold="p", laws="p")
        maker.review(
            "Chen", "R" if number == 5 else "A", gold="f" if number == 5 else "p", laws="p"
        )
        logs[maker.task_id] = maker.log
    labels = {"laws": ("Laws hold",), "gold": ("Gold is right", "Cells are right")}
    return FiguresView(figures_of(logs, dimensions=tuple(labels)), labels)


def test_every_figure_reads_with_its_n_and_interval():
    shown = figures()
    assert shown.table is not None
    assert shown.table.headings == (
        "Between", "Decision", "All dimensions", "Returned", "Minutes", "Most failed", "Laws hold",
        "Gold is right …",
    )  # fmt: skip
    everybody, pair, ben, chen = shown.table.lines
    assert [cell.text for cell in pair][:5] == [
        "Ben / Chen", "83% [33, 100] n=6", "92% [67, 100] n=12", "8% [0, 33] n=12",
        "2.0 (2.0–2.0) n=6",
    ]  # fmt: skip
    assert everybody[0].text == "everybody"
    assert [cell.text for cell in ben[1:3]] == ["", ""]
    assert chen[5].text == "Gold is right … 1"
    assert shown.of("kappa")[0].lines[1][6].text == "– n=6"
    assert shown.details(1, 6) == [
        "Ben / Chen · Laws hold",
        "6 items judged by two people or more",
        "Percent agreement: 100% [61, 100] n=6",
        "Cohen's kappa: – n=6 — undefined (–): only one category used",
        "Gwet's AC1: 1.00 n=6 — no interval: no resample differs",
    ]
    assert shown.details(2, 1)[1] == "Agreement is between two people or more."
    assert shown.details(99, 0) == []
    assert shown.details(3, 5)[1] == (
        "Gold is right / Cells are right: failed in 1 of 6 reviews, 0 with a comment"
    )


def test_a_figure_leads_to_what_it_counts():
    shown = figures()
    decision = shown.rounds(1, 1)
    assert [round_.task_id for round_ in decision] == ["t5", "t0", "t1", "t2", "t3", "t4"]
    assert [shown.differ(round_, "decision") for round_ in decision[:2]] == [True, False]
    said = [shown.said(given, "gold") for given in decision[0].reviews]
    assert said == ["✓ pass", "✗ fail"]
    assert [shown.said(given, "*") for given in decision[0].reviews] == [
        "✓ nothing failed",
        "✗ Gold is right …",
    ]
    returned, reasons = shown.measures.index("returned"), shown.measures.index("reasons")
    assert [round_.task_id for round_ in shown.rounds(3, returned)] == ["t5"]
    assert shown.rounds(2, reasons) == []

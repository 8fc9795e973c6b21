"""What several parties may use together, and orders, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlmodel import col, update

from budget import examples
from cuecard.core.engine.events import ModelReplied
from cuecard.core.engine.messages import ModelReply, Usage
from cuecard.core.errors import NotFound
from cuecard.core.llm.limiter import Need
from cuecard.core.records import TrialRecord
from cuecard.core.worker_archive import Refusal
from cuecard.store.allowances import part_of
from cuecard.store.trial_tables import AllowanceRow
from cuecard.store.workspace import Workspace


def need(has: float = 0, used: float = 0, want: float = 10, step: float = 1) -> Need:
    return Need("k", 10, has, used, want, step, holds=60)


def test_a_part_is_had_by_others_only_when_it_is_told_that_it_is_used_no_more(
    workspace: Workspace,
) -> None:
    share = workspace.allowances.share
    assert (share("a", [need()]).amounts["k"], share("a", [need(10)]).alone) == (10, True)
    assert not workspace.allowances.others("a", ["k"])
    first = share("b", [need()])
    assert (first.amounts["k"], first.alone) == (0, False)
    assert workspace.allowances.others("a", ["k"])
    assert share("a", [need(10, used=7)]).amounts["k"] == 7
    assert share("b", [need()]).amounts["k"] == 0
    assert share("a", [need(7, used=7)]).amounts["k"] == 7
    assert share("b", [need()]).amounts["k"] == 3
    assert share("a", [need(5, used=5)]).amounts["k"] == 5
    assert share("b", [need(3)]).amounts["k"] == 5


def test_who_leaves_keeps_only_what_still_counts_and_who_is_silent_loses_all(
    workspace: Workspace,
) -> None:
    share = workspace.allowances.share
    share("a", [need()])
    workspace.allowances.leave("a", {"k": 4})
    assert share("b", [need()]).amounts["k"] == 6
    share("b", [Need("flight", 10, 0, 0, 10)])
    workspace.allowances.leave("b", {})
    assert share("c", [Need("flight", 10, 0, 0, 10)]).amounts["flight"] == 10
    database = workspace.leases._database  # pyright: ignore[reportPrivateUsage]
    with database.write() as session:
        session.connection().execute(
            update(AllowanceRow)
            .where(col(AllowanceRow.key) == "k")
            .values(until=datetime.now(UTC) - timedelta(minutes=1))
        )
    assert share("c", [need()]).amounts["k"] == 10


def test_a_part_too_small_for_anything_is_had_by_one_after_the_other(workspace: Workspace) -> None:
    share = workspace.allowances.share
    big = 8
    assert share("a", [need(step=big)]).amounts["k"] == 10
    share("b", [need(step=big)])
    parts = dict.fromkeys("ab", 0.0)
    had: list[tuple[float, float]] = []
    for _ in range(6):
        for each in "ab":
            parts[each] = share(each, [need(parts[each], step=big)]).amounts["k"]
            had.append((parts["a"], parts["b"]))
    assert {(8, 0), (0, 8)} < set(had) <= {(8, 0), (0, 8), (0, 0)}


def test_a_budget_is_what_is_left_of_recorded_cost(
    workspace: Workspace, make_trial: Callable[..., TrialRecord], at: Callable[..., object]
) -> None:
    trial = make_trial()
    reply = ModelReply(text="x", usage=Usage(prompt=1), cost=4.0)
    body = ModelReplied(part="agent", turn=0, step=0, model="m", reply=reply)
    workspace.runs.append_events([(trial.id, at(0, body))])  # pyright: ignore[reportArgumentType]

    def share(party: str, has: float) -> float:
        wanted = [Need("cost of run", 10, has, 0, 10)]
        shares = workspace.allowances.share(party, wanted, run_id=trial.run_id)
        assert shares.spent == 4.0
        return shares.amounts["cost of run"]

    assert share("a", 0) == 6
    assert (share("b", 0), share("a", 6), share("a", 3), share("b", 0)) == (0, 3, 3, 3)


def test_what_refuses_everybody_is_told_to_others_once_it_is_known(workspace: Workspace) -> None:
    share = workspace.allowances.share
    began = share("a", [need()]).at
    share("b", [need()], [Refusal("k", ("Refused", "everybody", ""))])
    told = share("a", [need()]).refusals
    assert [(r.key, r.said) for r in told] == [("k", ("Refused", "everybody", ""))]
    assert told[0].at is not None
    assert told[0].at >= began
    assert not share("b", [need()]).refusals


@given(
    whole=st.integers(1, 20),
    wants=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5)), min_size=1, max_size=5),
    turns=st.lists(st.integers(0, 4), max_size=40),
)
@settings(max_examples=examples(200), deadline=None)
def test_together_they_never_have_more_than_there_is(
    whole: int, wants: list[tuple[int, int]], turns: list[int]
) -> None:
    """Each in any order takes what it may, uses some of it and says so at its next turn."""
    rows = dict.fromkeys(range(len(wants)), (0.0, 0.0))
    has, used = dict.fromkeys(rows, 0.0), dict.fromkeys(rows, 0.0)
    for turn in turns:
        who = turn % len(wants)
        want, step = wants[who]
        asked = Need("k", whole, has[who], used[who], want, min(step, whole))
        part = part_of(
            asked, whole, rows[who][0], [row for other, row in rows.items() if other != who]
        )
        rows[who] = (max(part, has[who]), want)
        has[who] = part
        used[who] = min(part, used[who] + 1)
        assert sum(row[0] for row in rows.values()) <= whole + 1e-9
        assert all(has[each] <= rows[each][0] for each in rows)


def test_orders_come_in_their_order_with_who_gave_them(
    workspace: Workspace, make_trial: Callable[..., TrialRecord]
) -> None:
    run = make_trial().run_id
    assert workspace.orders.last() == 0
    first = workspace.orders.give(run, "pause", "Ann")
    second = workspace.orders.give(run, "budget", "Ben", 2.5)
    assert workspace.orders.of(run) == [first, second]
    assert workspace.orders.of(run, after=first.id) == [second]
    assert (workspace.orders.last(), second.person, second.value) == (second.id, "Ben", 2.5)
    with pytest.raises(NotFound):
        workspace.orders.give(run + 1, "pause", "Ann")

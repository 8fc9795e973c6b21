"""On PostgreSQL writers of different things go on side by side, and a client that stopped harms nobody for long."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest
import sqlalchemy

import forked
from cuecard.core.contributions import ReviewDecision, Reviewed
from cuecard.core.engine.events import Event
from cuecard.core.engine.messages import ModelReply
from cuecard.core.engine.step_context import RecordedCall
from cuecard.core.errors import Conflict, CuecardError
from cuecard.core.records import TrialRecord
from cuecard.core.tasks.models import Task
from cuecard.store.engine import Database
from cuecard.store.schema import VERSIONS, upgrade
from cuecard.store.task_tables import metadata
from cuecard.store.workspace import Workspace
from postgres_server import Databases
from store_workers import spoke

_STOPS = """
import sys
from cuecard.store.workspace import Workspace
with Workspace.open(sys.argv[1]) as workspace:
    with workspace._database.write(*sys.argv[2:]) as session:
        session.connection().exec_driver_sql("SELECT 1")
        print("in the middle", flush=True)
        sys.stdin.readline()
"""


@pytest.fixture
def url(postgres: Databases):
    with postgres.workspace() as address:
        yield address


@pytest.mark.parametrize("about", [("task:t",), ()])
def test_who_waits_for_a_stopped_client_is_told_for_whom(
    url: str, workspace: Workspace, make_task: Callable[..., Task],
    make_trial: Callable[..., TrialRecord], about: tuple[str, ...],
) -> None:  # fmt: skip
    trial = make_trial()
    workspace.tasks.save(make_task("other"), author="Ann")
    command = [sys.executable, "-c", _STOPS, url, *about]
    pipe = subprocess.PIPE
    with forked.Popen(command, stdin=pipe, stdout=pipe, text=True) as stopped:
        assert stopped.stdout
        assert stopped.stdout.readline() == "in the middle\n"
        stopped.send_signal(signal.SIGSTOP)
        try:
            # Events, what people add, and what is only read wait for nobody.
            workspace.runs.append_events(
                [(trial.id, Event(seq=0, at=datetime.now(UTC), body=spoke(0)))]
            )
            workspace.people.add("Ben")
            assert workspace.tasks.count() == 2
            if about:
                workspace.tasks.save(make_task("other", title="Two"), author="Ann")
            hasty = sqlalchemy.make_url(url).update_query_dict({"options": "-clock_timeout=300ms"})
            with (
                Workspace.open(hasty.render_as_string(hide_password=False)) as other,
                pytest.raises(CuecardError, match=f"{stopped.pid} stopped in the middle") as told,
            ):
                other.tasks.save(make_task(title="Two"), author="Ann")
            assert told.value.hint
        finally:
            stopped.kill()
        workspace.tasks.save(make_task(title="Two"), author="Ann")


def test_a_session_that_the_server_ended_lets_go_and_its_client_comes_back(
    url: str, workspace: Workspace, make_task: Callable[..., Task]
) -> None:
    workspace.tasks.save(make_task(), author="Ann")
    database = workspace._database

    def stops() -> None:
        with database.write("task:t") as session:
            connection = session.connection()
            # As the server does by itself after `IDLE_SECONDS`.
            connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = '50ms'")
            with Workspace.open(url) as other:
                other.tasks.save(make_task(title="Two"), author="Ben")
            connection.exec_driver_sql("SELECT 1")

    with pytest.raises(CuecardError, match="cannot be reached"):
        stops()
    assert workspace.tasks.save(make_task(title="Three"), author="Ann").number == 3


def test_of_what_only_one_may_do_one_is_refused(
    url: str, workspace: Workspace, make_trial: Callable[..., TrialRecord]
) -> None:
    """Reviews of one revision, moves at one step, a judge's call, a new person: of two at once one is first."""
    trial = make_trial()

    def review(other: Workspace, n: int) -> None:
        body = Reviewed(ratings={"clarity": "pass"}, decision=ReviewDecision.APPROVE)
        other.reviews.act("t", f"Reviewer {n // 2}", body)

    def judge(other: Workspace, n: int) -> None:
        reply = ModelReply(text=str(n))
        call = RecordedCall(key=f"{n // 2}", model="m", reply=reply, prompt="h")
        other.judge_calls.add(trial.id, "judge", 0, call)

    with Workspace.open(url) as second, ThreadPoolExecutor(8) as pool:
        both = (workspace, second)
        for act in (review, judge):

            def refused(n: int, act: Callable[[Workspace, int], None] = act) -> bool:
                try:
                    act(both[n % 2], n)
                except Conflict:
                    return True
                return False

            assert sum(pool.map(refused, range(12))) == 6
        list(pool.map(lambda n: both[n % 2].people.add(f"P{n // 4}"), range(16)))
        log = workspace.reviews.log("t")
        assert workspace.reviews.counts("t", 1) == 6
        assert len(log.contributions) == len({entry.tick for entry in log.contributions}) == 6
    usage = workspace.runs.usage(trial.run_id)
    assert [each.calls for each in usage] == [6]


def test_an_upgrade_waits_for_who_writes_says_for_whom_and_then_goes_on(
    postgres: Databases,
) -> None:
    with postgres.empty() as url:
        old = Database(sqlalchemy.make_url(url))
        with old.connection() as connection:
            upgrade(connection, VERSIONS[0])
        told: list[str] = []
        with ThreadPoolExecutor(1) as pool, ExitStack() as writing:
            # Whoever only adds holds no key, but its rows.
            row = {"name": "Ann", "created_at": datetime.now(UTC)}
            holder = writing.enter_context(old.beside())
            holder.execute(sqlalchemy.insert(metadata.tables["person"]), row)

            def hear(error: CuecardError) -> None:
                told.append(error.message)
                writing.close()

            hasty = sqlalchemy.make_url(url).update_query_dict(
                {"options": f"{sqlalchemy.make_url(url).query['options']} -clock_timeout=300ms"}
            )
            opened = pool.submit(
                Workspace.open, hasty.render_as_string(hide_password=False), waiting=hear
            )
            with opened.result(60) as workspace:
                assert workspace.people.exists("Ann")
        assert len(told) == 1
        old.close()


def test_what_a_call_reads_is_of_one_moment_until_it_writes(
    url: str, make_task: Callable[..., Task]
) -> None:
    """And one transaction, which a network would otherwise begin and end for each read."""
    with Workspace.open(url) as mine, Workspace.open(url) as theirs:
        begun: list[str] = []
        engine = mine._database._engine  # pyright: ignore[reportPrivateUsage]
        sqlalchemy.event.listen(engine, "begin", lambda _connection: begun.append("begin"))

        def read(workspace: Workspace) -> list[int]:
            found = [workspace.tasks.count()]
            theirs.tasks.save(make_task(f"theirs-{len(begun)}"), author="Bo")
            with pytest.raises(CuecardError):
                workspace.runs.get(7)
            found.append(workspace.tasks.count())
            with pytest.raises(CuecardError):
                workspace.runs.get(1 << 40)  # The server refuses it.
            found.append(workspace.tasks.count())
            workspace.people.add(f"Ann {len(begun)}")
            return [*found, workspace.tasks.count()]

        assert mine.attempt(read) == [0, 0, 1, 1]
        begun.clear()
        assert mine.attempt(lambda ws: [ws.tasks.count() for _time in range(5)]) == [1] * 5
        assert begun == ["begin"]
        assert engine.pool.checkedout() == 0  # pyright: ignore[reportAttributeAccessIssue]

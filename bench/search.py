"""How long the first hits of a search take in a large workspace, and what its index costs.

python bench/search.py [EVENTS [WHERE]]    1,000,000 events, and a verdict for four of them; half an hour. WHERE is left behind:
                                           a new file, or the address of an empty PostgreSQL database
python bench/search.py again WHERE         only searching, in what was left there

Half of the trials are English, half Chinese. What is planted stands in one old trial, or in so many.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path

import psutil
from sqlalchemy import text

from cuecard.core.engine.events import AgentSpoke, Event, EventBody, Limits, ToolAnswered, UserSpoke
from cuecard.core.engine.messages import (
    AgentReply,
    PlayerRef,
    SearchEntry,
    ToolAnswer,
    ToolCall,
    UserReply,
)
from cuecard.core.records import TrialCell
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.search import words_in
from cuecard.store.workspace import Workspace

OF_TRIAL, ROUNDS = 40, 20
PLAYER = PlayerRef(name="bench", kind="offline")
ASKED = {
    "English, often": ("coach", "the river", "workshop"),
    "English, seldom": ("quokka", "marsupials gather", "bandicoot"),
    "English, once": ("zebrafinch", "a zebrafinch sings", "zebrafin"),
    "English, 1-2 letters": ("e", "th", "zx"),
    "Chinese, often": ("工作坊", "河边的", "马车"),
    "Chinese, seldom": ("袋鼠科", "聚集在", "短尾矮"),
    "Chinese, once": ("蝴蝶效应", "蝴蝶效应是", "蝶效应"),
    "Chinese, 1-2 characters": ("的", "蝴", "蝴蝶", "马", "龘", "袋鼠"),
    "nothing": ("qqqxyz", "鱻鱻", "no such thing anywhere"),
}


class Texts:
    """Sentences of made-up words and of characters as frequent as those of a language are (Zipf)."""

    def __init__(self) -> None:
        self.dice = random.Random(7)
        letters = "etaoinshrdlucmfwypvbgk"
        made = [
            "".join(self.dice.choices(letters, k=self.dice.randint(2, 10))) for _ in range(20_000)
        ]
        self.words = ["the", "of", "and", "coach", "river", "workshop", *made]
        self.signs = ["的", "马", "车", *(chr(0x4E00 + n) for n in range(4000))]
        self.signs = [sign for sign in self.signs if sign not in "蝴蝶袋鼠龘鱻"]
        self.of_words = list(accumulate(1 / (n + 3) for n in range(len(self.words))))
        self.of_signs = list(accumulate(1 / (n + 10) for n in range(len(self.signs))))

    def next(self, chinese: bool, length: int) -> str:
        if chinese:
            said = "".join(self.dice.choices(self.signs, cum_weights=self.of_signs, k=length * 2))
            return said + "在河边的工作坊里。" * (self.dice.random() < 0.2)
        said = " ".join(self.dice.choices(self.words, cum_weights=self.of_words, k=length))
        return said + ". By the river." * (self.dice.random() < 0.2)


def events_of(texts: Texts, trial: int) -> list[EventBody]:
    chinese = trial % 2 == 1
    bodies: list[EventBody] = []
    for turn in range(OF_TRIAL // 4):
        said = [texts.next(chinese, n) for n in (15, 6, 60, 40)]
        if trial == 50 + chinese and turn == 3:
            said[0] += "蝴蝶效应是龘。" if chinese else " A zebrafinch sings zx."
        if trial % 500 in (50, 51) and turn == 2:
            said[2] += (
                "袋鼠科的短尾矮袋鼠聚集在一起"
                if chinese
                else " Quokka and bandicoot: marsupials gather."
            )
        entry = SearchEntry(id="1", title=said[1], content=said[2])
        call = ToolCall(name="search", arguments={"query": said[1]})
        answer = ToolAnswer(text=said[2], entries=(entry,))
        bodies += [
            UserSpoke(turn=turn, reply=UserReply(text=said[0], stage=1)),
            ToolAnswered(part="agent", turn=turn, step=0, call=call, answer=answer),
            ToolAnswered(
                part="agent", turn=turn, step=1, call=call, answer=ToolAnswer(text=said[1])
            ),
            AgentSpoke(turn=turn, reply=AgentReply(text=said[3])),
        ]
    return bodies


def fill(workspace: Workspace, events: int) -> float:
    """Seconds of writing."""
    task = Task.model_validate(
        {
            "id": "t",
            "title": "t",
            "language": "en",
            "query": "q",
            "gold": {"family": "graph", "triples": [{"head": "a", "relation": "r", "tail": "b"}]},
        }
    )
    workspace.tasks.save(task, author="bench")
    run = workspace.runs.create(
        name="b", kind="grid", created_by="bench", samples=1, limits=Limits()
    )
    cell = TrialCell(task_id="t", revision=1, agent=PLAYER, user=PLAYER, world=PLAYER)
    trials = [each.id for each in workspace.runs.add_trials(run.id, [cell] * (events // OF_TRIAL))]
    texts, now, took = Texts(), datetime.now(UTC), 0.0
    for start in range(0, len(trials), 25):
        batch = [
            (trial, Event(seq=seq, at=now, body=body))
            for at, trial in enumerate(trials[start : start + 25], start)
            for seq, body in enumerate(events_of(texts, at))
        ]
        begun = time.perf_counter()
        workspace.runs.append_events(batch)
        took += time.perf_counter() - begun
    for at, trial in enumerate(trials):
        verdicts = tuple(
            Verdict(
                item=Item(kind=ItemKind.TRIPLE, index=n),
                decision=Decision.YES,
                rationale=texts.next(at % 2 == 1, 12),
            )
            for n in range(OF_TRIAL // 4)
        )
        judgement = Judgement(judge=PLAYER, revision_hash="h", prompt_hash="", verdicts=verdicts)
        workspace.verdicts.add(trial, judgement)
    return took


def busy(workspace: Workspace) -> float:
    """Milliseconds of processor time of this process, and of a PostgreSQL on this machine."""
    took = time.process_time()
    if workspace.url.startswith("postgres"):
        with workspace.search._database.read() as session:
            backend = session.connection().execute(text("SELECT pg_backend_pid()")).scalar_one()
        if psutil.pid_exists(backend) and "postgres" in psutil.Process(backend).name():
            took += sum(psutil.Process(backend).cpu_times()[:2])
    return took * 1000


def ask(workspace: Workspace) -> None:
    """Each query many times; the first time counts too."""
    print(
        "| asked | p50 ms | p95 ms | processor, mean | found |\n| --- | ---: | ---: | ---: | ---: |"
    )
    for name, queries in ASKED.items():
        before = busy(workspace)
        took: list[float] = []
        found: list[int] = []
        for _ in range(ROUNDS):
            found.clear()
            for query in queries:
                begun = time.perf_counter()
                hits = workspace.search.said(words_in(query), 30)
                took.append((time.perf_counter() - begun) * 1000)
                found.append(len(hits))
        cuts = statistics.quantiles(took, n=20)
        told = ", ".join(map(str, found))
        worked = (busy(workspace) - before) / len(took)
        print(
            f"| {name} | {statistics.median(took):.1f} | {cuts[18]:.1f} | {worked:.1f} | {told} |",
            flush=True,
        )
    for query in ("workshop", "蝶效应", "no such thing"):
        begun = time.perf_counter()
        found_, before = workspace.search.reasons(words_in(query), 30)
        first = (time.perf_counter() - begun) * 1000
        while before:
            before = workspace.search.reasons(words_in(query), 30, before)[1]
        all_ = (time.perf_counter() - begun) * 1000
        print(f"reasons with {query!r}: {len(found_)} in {first:.0f} ms, all read in {all_:.0f} ms")


def size(workspace: Workspace, path: Path | None) -> float:
    """Megabytes of the database."""
    if path is not None:
        return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*")) / 1e6
    from sqlalchemy import create_engine

    url = workspace.url.replace("postgresql://", "postgresql+psycopg://")
    with create_engine(url).connect() as connection:
        return (
            connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one()
            / 1e6
        )


def main(events: int, url: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        at = url or str(Path(folder) / "large.db")
        path = None if at.startswith("postgres") else Path(at)
        with Workspace.open(at) as workspace:
            took = fill(workspace, events)
            before = size(workspace, path)
            print(f"{events:,} events in {took:.0f} s, {before:,.0f} MB")
            begun, cpu = time.perf_counter(), time.process_time()
            left = workspace.search.catch_up(1.0)
            print(f"{events - left:,} events in the index after a second")
            workspace.search.catch_up()
            print(
                f"index made in {time.perf_counter() - begun:.0f} s"
                f" ({time.process_time() - cpu:.0f} s of this process),"
                f" {size(workspace, path) - before:,.0f} MB"
            )
            ask(workspace)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["again", url]:
            with Workspace.open(url) as opened:
                ask(opened)
        case given:
            main(int(given[0]) if given else 1_000_000, given[1] if len(given) > 1 else "")

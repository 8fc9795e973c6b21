"""The prompts that calls were made with, by hash."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from sqlmodel import col, func, select

from cuecard.store.codec import unpack
from cuecard.store.engine import Database
from cuecard.store.event_codec import hash_of
from cuecard.store.payloads import Shelf, read_payloads, write_payloads
from cuecard.store.result_records import PromptUse
from cuecard.store.tables import EventRow, JudgeCallRow, TrialRow
from cuecard.store.usage import JUDGE


class KeptPrompts:
    """A prompt is a payload like others: it stands under the hash of its text."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: set[str] = set()

    def keep(self, digest: str, text: str) -> None:
        """Keep a prompt's text under its hash; quick if it is there. Raises `ValueError` if the hash
        is another text's.
        """
        if digest in self._kept:
            return
        content = text.encode()
        if hash_of(content) != digest:
            raise ValueError(f"this is not the hash of the prompt: {digest}")
        ready = Shelf(self._database).ready([(0, (digest, content))])
        if ready.rows:
            with self._database.connection() as connection:
                write_payloads(connection, ready)
        self._kept.add(digest)

    def get(self, digest: str) -> str:
        """Raises `NotFound`."""
        with self._database.read() as session:
            return read_payloads(session.connection(), [digest])[digest].decode()

    def used(self, run_id: int) -> tuple[PromptUse, ...]:
        """All that the run's calls were made with, of every take and judging, sorted. Reads the run's calls
        without their large texts; call it off the screen's thread.
        """
        mine = TrialRow.run_id == run_id
        replies = (
            select(TrialRow.agent, EventRow.body, EventRow.packed)
            .join(TrialRow, col(TrialRow.id) == EventRow.trial_id)
            .where(mine, EventRow.type == "model_replied")
        )
        judged = (
            select(JudgeCallRow.judge, JudgeCallRow.prompt, func.count())
            .join(TrialRow, col(TrialRow.id) == JudgeCallRow.trial_id)
            .where(mine)
            .group_by(JudgeCallRow.judge, JudgeCallRow.prompt)
        )
        found: Counter[tuple[str, str, str]] = Counter()
        with self._database.read() as session:
            for agent, body, packed in session.exec(replies):
                data: dict[str, Any] = json.loads(unpack(body, packed))
                payer = "world" if "tool/" in data.get("scope", "") else data["part"]
                found[payer, agent, data.get("prompt", "")] += 1
            for judge, prompt, calls in session.exec(judged):
                found[JUDGE, judge, prompt] += calls
        uses = Counter[tuple[str, str, str]]()
        for (payer, player, digest), calls in found.items():
            if digest:
                name = player if payer == JUDGE else json.loads(player)["name"]
                uses[payer, name, digest] += calls
        return tuple(
            PromptUse(payer=payer, player=player, hash=digest, calls=calls)
            for (payer, player, digest), calls in sorted(uses.items())
        )

"""The world's record of a trial: what was asked of it, what that hit, what was found by then."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.core.events import Event, ToolAnswered
from cuecard.core.tasks import FactWorld, Task
from cuecard.core.tasks.base import Frozen


class Matched(Frozen):
    """A fact that a query matched. `first`: no query had matched it before. `known`: it is one of the task's
    facts; what is not does not count into coverage.
    """

    key: str
    first: bool
    known: bool


class HitEntry(Frozen):
    """The agent's `call`-th tool call, from 1. `hit` is None where the world keeps no record of such a call.
    `found`: distinct facts matched up to and with it.
    """

    call: int
    seq: int
    turn: int
    tool: str
    query: str
    ok: bool
    hit: bool | None
    compound: bool
    matched: tuple[Matched, ...]
    reason: str
    found: int

    @property
    def fresh(self) -> int:
        return sum(match.first for match in self.matched)


class HitLog(Frozen):
    """`facts`: how many the task's world has, None where it is no world of facts: then nothing is known to
    divide by, and all matched keys count as found.
    """

    facts: int | None
    entries: tuple[HitEntry, ...]

    @property
    def hits(self) -> int:
        return sum(bool(entry.hit) for entry in self.entries)

    @property
    def found(self) -> int:
        return self.entries[-1].found if self.entries else 0

    def coverage(self, entry: HitEntry) -> float | None:
        """FCR when this call was answered (FORMATS, paraworld)."""
        return entry.found / self.facts if self.facts else None

    def until(self, seq: int) -> HitLog:
        """The log as it stood when event `seq` had happened."""
        return HitLog(facts=self.facts, entries=tuple(e for e in self.entries if e.seq <= seq))


def hit_log(task: Task, events: Sequence[Event]) -> HitLog:
    """Every tool call of the agent in order, refused ones included, as the scores count them."""
    known = {fact.key for fact in task.gold.facts} if isinstance(task.gold, FactWorld) else None
    found: set[str] = set()
    entries: list[HitEntry] = []
    for event in events:
        body = event.body
        if not isinstance(body, ToolAnswered) or body.part == "user":
            continue
        hit = body.answer.hit
        matched: list[Matched] = []
        for key in dict.fromkeys(hit.matched_fact_keys if hit else ()):
            counts = known is None or key in known
            matched.append(Matched(key=key, first=counts and key not in found, known=counts))
            if counts:
                found.add(key)
        entries.append(
            HitEntry(
                call=len(entries) + 1,
                seq=event.seq,
                turn=body.turn,
                tool=body.call.name,
                query=_query(body),
                ok=body.answer.ok,
                hit=hit.hit if hit else None,
                compound=bool(hit and hit.is_compound),
                matched=tuple(matched),
                reason=hit.reason if hit else "",
                found=len(found),
            )
        )
    return HitLog(facts=None if known is None else len(known), entries=tuple(entries))


def first_hits(log: HitLog) -> dict[str, HitEntry]:
    """The call that first matched each fact."""
    return {m.key: entry for entry in log.entries for m in entry.matched if m.first}


def _query(body: ToolAnswered) -> str:
    """What was asked: the texts among the arguments, the way a person would read them aloud."""
    call = body.call
    if call.broken:
        return call.broken
    texts: list[str] = []
    for value in call.arguments.values():
        values = value if isinstance(value, list) else [value]
        texts += [text for text in values if isinstance(text, str) and text.strip()]
    return " · ".join(texts)

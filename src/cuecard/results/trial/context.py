"""How much the agent's model read with each call, and where the conversation was cut for it."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.core.events import Event, Marked, ModelReplied
from cuecard.core.marks import Compaction
from cuecard.core.tasks.base import Frozen


class CallSize(Frozen):
    """One model call of the agent, `number` from 1. Tokens as the server counted them, 0 where it did not.
    `scope`: whose call within the agent it was (a member of a team), "" for its own; `part` is
    `conclusion` for what it was asked at the end.
    """

    number: int
    seq: int
    turn: int
    part: str
    scope: str
    model: str
    prompt: int
    cached: int
    completion: int
    reasoning: int


class Cut(Frozen):
    """A compaction. `before`: prompt tokens by the last count, `limit`: where the agent was to stay under;
    `after`: of the next call in the same scope, None without one.
    """

    seq: int
    turn: int
    scope: str
    strategy: str
    before: int
    limit: int
    kept: int
    dropped: int
    after: int | None


class ContextSize(Frozen):
    """Calls and cuts in the order of the log."""

    calls: tuple[CallSize, ...]
    cuts: tuple[Cut, ...]

    @property
    def largest(self) -> int:
        """The most tokens that were read at once."""
        sizes = [call.prompt for call in self.calls]
        return max([*sizes, *(cut.before for cut in self.cuts)], default=0)

    @property
    def limit(self) -> int | None:
        """Where the agent was to stay under, as far as a cut tells."""
        return max((cut.limit for cut in self.cuts), default=None)

    def until(self, seq: int) -> ContextSize:
        """As it stood when event `seq` had happened."""
        return ContextSize(
            calls=tuple(call for call in self.calls if call.seq <= seq),
            cuts=tuple(cut for cut in self.cuts if cut.seq <= seq),
        )


def context_size(events: Sequence[Event]) -> ContextSize:
    """The agent's model calls and cuts; neither the user part's calls nor a world's."""
    calls: list[CallSize] = []
    cuts: list[tuple[int, Cut]] = []
    for event in events:
        body = event.body
        if isinstance(body, ModelReplied) and body.part != "user" and body.payer != "world":
            usage = body.reply.usage
            calls.append(
                CallSize(
                    number=len(calls) + 1,
                    seq=event.seq,
                    turn=body.turn,
                    part=body.part,
                    scope=body.scope.strip("/"),
                    model=body.reply.model or body.model,
                    prompt=usage.prompt,
                    cached=usage.cached,
                    completion=usage.completion,
                    reasoning=usage.reasoning,
                )
            )
        elif isinstance(body, Marked) and isinstance(body.mark, Compaction):
            cuts.append((len(calls), _cut(event.seq, body, body.mark)))
    return ContextSize(calls=tuple(calls), cuts=tuple(_with_next(cuts, calls)))


def _cut(seq: int, body: Marked, mark: Compaction) -> Cut:
    return Cut(
        seq=seq,
        turn=body.turn,
        scope=body.scope.strip("/"),
        strategy=mark.strategy,
        before=mark.before,
        limit=mark.limit,
        kept=mark.kept,
        dropped=mark.dropped,
        after=None,
    )


def _with_next(cuts: Sequence[tuple[int, Cut]], calls: Sequence[CallSize]) -> list[Cut]:
    found: list[Cut] = []
    for at, cut in cuts:
        after = next((c.prompt for c in calls[at:] if c.scope == cut.scope and c.prompt), None)
        found.append(cut.model_copy(update={"after": after}))
    return found

"""A jury: several judges whose votes on each item make one verdict, by majority or by weights that labels gave."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.config_players import JuryConfig
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.i18n import _, headed
from cuecard.core.players import kind_of
from cuecard.core.predictions import Prediction
from cuecard.core.tasks.models import content_hash
from cuecard.core.verdicts import Decision, Decisions, Item, Judgement, TableMatch, Verdict

if TYPE_CHECKING:
    from cuecard.core.config_schema import Config
    from cuecard.core.engine.step_context import CallContext, Judge
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.tasks.models import Task


Rule = Callable[[Mapping[str, Decision]], Decision]
"""What votes by name make."""


def by_majority(votes: Mapping[str, Decision]) -> Decision:
    """What more than half of all members say, also where another one left the item open; else unjudged.

    >>> by_majority({"a": Decision.YES, "b": Decision.UNJUDGED, "c": Decision.YES})
    <Decision.YES: 'yes'>
    """
    said = Counter(votes.values())
    for value in (Decision.YES, Decision.NO):
        if 2 * said[value] > len(votes):
            return value
    return Decision.UNJUDGED


@dataclass(frozen=True)
class Weights:
    """A rule. `of`: by member, what a yes and a no of it add to a sum that begins with `start`; above 0 it is a yes. An item
    that one of them left open is unjudged.
    """

    of: Mapping[str, tuple[float, float]]
    start: float = 0.0

    def __call__(self, votes: Mapping[str, Decision]) -> Decision:
        total = self.start
        for name, (yes, no) in self.of.items():
            vote = votes.get(name, Decision.UNJUDGED)
            if vote is Decision.UNJUDGED:
                return vote
            total += yes if vote is Decision.YES else no
        return Decision.YES if total > 0 else Decision.NO


def make_judge(name: str, settings: JuryConfig, config: Config, hub: ModelHub) -> Jury:
    """The jury called `name`. Raises `ConfigError`."""
    members: list[Judge] = []
    for member in settings.members:
        found = config.judge(member)
        members.append(kind_of("judge", found.kind).make(member, found, config, hub))
    weights = Weights(settings.weights, settings.start) if settings.weights else None
    return Jury(name, tuple(members), weights)


@dataclass(frozen=True)
class Jury:
    """A judge whose verdicts follow from those of its `members`, by majority where there are no `weights`. The reason that it
    gives for a verdict names every vote.
    """

    name: str
    members: tuple[Judge, ...]
    weights: Weights | None = None

    @property
    def ref(self) -> PlayerRef:
        """`version` is a hash of the members, with their own versions, and of the weights."""
        members = [member.ref.model_dump(mode="json") for member in self.members]
        weights = (dict(self.weights.of), self.weights.start) if self.weights else None
        told = json.dumps([members, weights], sort_keys=True)
        return PlayerRef(
            name=self.name,
            kind="jury",
            baseline=all(member.ref.baseline for member in self.members),
            version=hashlib.sha256(told.encode()).hexdigest()[:12],
        )

    async def judge(self, task: Task, prediction: Prediction, context: CallContext) -> Judgement:
        """Ask all members, each in a scope of its name. Raises what they raise."""
        asked = (
            member.judge(task, prediction, context.scope(member.ref.name))
            for member in self.members
        )
        said = await asyncio.gather(*asked)
        return self.combined(said).model_copy(update={"revision_hash": content_hash(task)})

    def combined(self, said: Sequence[Judgement]) -> Judgement:
        """One judgement from the members' own, which are in their order and rest on one task and prediction."""
        names = [member.ref.name for member in self.members]
        each = {name: Decisions.of(one.verdicts) for name, one in zip(names, said, strict=True)}
        items = dict.fromkeys(verdict.item for one in said for verdict in one.verdicts)
        hashes = dict.fromkeys(one.prompt_hash for one in said if one.prompt_hash)
        return Judgement(
            judge=self.ref,
            revision_hash=said[0].revision_hash,
            prompt_hash=hashlib.sha256("\n".join(hashes).encode()).hexdigest() if hashes else "",
            verdicts=tuple(self._verdict(item, each) for item in items),
            table=_table([one.table for one in said]),
        )

    def _verdict(self, item: Item, each: Mapping[str, Decisions]) -> Verdict:
        given = {
            name: its.verdict(item.kind, item.index, item.column) for name, its in each.items()
        }
        votes = {
            name: verdict.decision if verdict else Decision.UNJUDGED
            for name, verdict in given.items()
        }
        decision = (self.weights or by_majority)(votes)
        words = {
            Decision.YES: _("yes"),
            Decision.NO: _("no"),
            Decision.UNJUDGED: _("left open"),
        }
        supporting = [
            verdict.supporting
            for verdict in given.values()
            if verdict and decision is Decision.YES is verdict.decision
        ]
        return Verdict(
            item=item,
            decision=decision,
            supporting=_support(supporting),
            rationale=_(", ").join(headed(name, words[vote]) for name, vote in votes.items()),
        )


def _support(named: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """What more than half of those who say yes name as support; if nothing is, what the first of them names."""
    count = Counter(index for indices in named for index in dict.fromkeys(indices))
    most = tuple(sorted(index for index, n in count.items() if 2 * n > len(named)))
    return most or next((indices for indices in named if indices), ())


def _table(matches: Sequence[TableMatch | None]) -> TableMatch | None:
    """How most lay the table over the gold one: a pair of rows that more than half of them join is joined."""
    known = [match for match in matches if match is not None]
    usable = [match for match in known if match.usable]
    if 2 * len(usable) <= len(matches):
        return next((match for match in known if not match.usable), None)
    count = Counter(pair for match in usable for pair in dict.fromkeys(match.joined))
    return TableMatch(
        usable=True,
        predicted_rows=usable[0].predicted_rows,
        joined=tuple(sorted(pair for pair, n in count.items() if 2 * n > len(matches))),
    )

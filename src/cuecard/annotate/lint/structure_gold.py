"""Chains and worlds: steps, candidates, keys, rules, and how hard they say they are."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.annotate.authoring.likeness import plain
from cuecard.annotate.lint.case import Case
from cuecard.annotate.lint.finding import Finding, error, warning
from cuecard.annotate.lint.sameness import same_name
from cuecard.core.i18n import _
from cuecard.core.phrases import content_words, coverage
from cuecard.core.tasks import Checkpoint, CheckpointChain, FactKind, FactWorld, Task

_AMBIGUOUS_STEPS = {"easy": 1, "medium": 2, "hard": 3}
_USED = 0.5


def lint_chain(case: Case) -> Iterator[Finding]:
    """L004, L019 and L020. Difficulty as FORMATS: discobench counts it."""
    if case.chain is not None:
        yield from _ambiguity(case.task, case.chain)
        yield from _ending(case.chain)
        for index, step in enumerate(case.chain.steps):
            yield from _candidates(index, step)


def lint_world(case: Case) -> Iterator[Finding]:
    """L021, L022 and L023. Difficulty as FORMATS: paraworld counts it."""
    if case.world is not None:
        yield from _tier(case.task, case.world)
        yield from _keys(case.world)
        yield from _rules(case.task, case.world)


def _ambiguity(task: Task, chain: CheckpointChain) -> Iterator[Finding]:
    count = sum(step.ambiguity is not None for step in chain.steps)
    if not count:
        yield error(
            "L004",
            "gold.steps",
            _("no step is ambiguous, so there is nothing to ask about"),
            _("Make at least one step ambiguous, with candidates and a clue."),
        )
    elif task.difficulty and min(count, 3) != (wanted := _AMBIGUOUS_STEPS[task.difficulty]):
        yield warning(
            "L004",
            "difficulty",
            _("{count} ambiguous steps, where {difficulty} means {wanted}").format(
                count=count, difficulty=task.difficulty, wanted=wanted
            ),
            _("1 ambiguous step is easy, 2 are medium, 3 are hard."),
        )


def _ending(chain: CheckpointChain) -> Iterator[Finding]:
    if not chain.steps or not chain.final_answer or not chain.steps[-1].target:
        return
    last = {plain(name) for name in chain.steps[-1].names}
    if last.isdisjoint(plain(name) for name in (chain.final_answer, *chain.final_aliases)):
        yield error(
            "L019",
            f"gold.steps[{len(chain.steps) - 1}].target",
            _("the last step ends at “{target}”, the chain at “{answer}”").format(
                target=chain.steps[-1].target, answer=chain.final_answer
            ),
            _("Add the step whose target is the final answer, or make this one's target that."),
        )


def _candidates(index: int, step: Checkpoint) -> Iterator[Finding]:
    ambiguity = step.ambiguity
    if ambiguity is None:
        return
    place = f"gold.steps[{index}].ambiguity.candidates"
    seen: set[str] = set()
    for at, candidate in enumerate(ambiguity.candidates):
        if plain(candidate) in seen:
            yield warning(
                "L020",
                f"{place}[{at}]",
                _("“{name}” is listed twice").format(name=candidate),
                _("Remove one of them, or name another candidate."),
                f"{step.question}: {candidate}",
            )
        seen.add(plain(candidate))
    written = seen - {""}
    if step.target and written and not any(plain(name) in written for name in step.names):
        yield warning(
            "L020",
            place,
            _("the target “{target}” is not among them").format(target=step.target),
            _("Add it, so that an agent that lists the candidates can list the right one."),
            f"{step.question}: {step.target}",
        )


def _tier(task: Task, world: FactWorld) -> Iterator[Finding]:
    count = len(world.facts)
    tier = "easy" if count <= 5 else "medium" if count <= 10 else "hard"
    if task.difficulty and task.difficulty != tier:
        yield warning(
            "L021",
            "difficulty",
            _("{count} facts are {tier}, not {difficulty}").format(
                count=count, tier=tier, difficulty=task.difficulty
            ),
            _("1 to 5 facts are easy, 6 to 10 medium, 11 and more hard."),
        )


def _keys(world: FactWorld) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for index, fact in enumerate(world.facts):
        key = same_name(fact.key)
        earlier = first.setdefault(key, index) if key else index
        # The very same key is no world at all; validation says so.
        if earlier != index and world.facts[earlier].key != fact.key:
            yield error(
                "L022",
                f"gold.facts[{index}].key",
                _("is the key of fact {n} in another spelling").format(n=earlier + 1),
                _("Rename one of them, or remove it."),
                fact.key,
            )


def _rules(task: Task, world: FactWorld) -> Iterator[Finding]:
    """A rule counts as used when half the words that name it stand where the answer is asked for or
    derived.
    """
    used = content_words("\n".join((task.query, *task.sub_queries, world.derivation)))
    for index, fact in enumerate(world.facts):
        if fact.kind is not FactKind.RULE:
            continue
        named = fact.attribute or fact.key
        about = [word for word in content_words(named) if word not in content_words(fact.entity)]
        words = about or content_words(named)
        if words and coverage(words, used) < _USED:
            yield warning(
                "L023",
                f"gold.facts[{index}]",
                _("neither the query nor the derivation uses the rule “{key}”").format(
                    key=fact.key
                ),
                _("Use it in the query or the derivation, or remove it."),
                fact.key,
            )

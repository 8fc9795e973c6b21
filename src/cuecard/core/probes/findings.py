"""The players of a probe's trial (a model that tries the task under the probe's conditions, or an examiner), and what is
found: the score of an attempt, findings of an examination, and contradictions that rules find.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cuecard.core.agents.react import ReactAgent, options_of, prompts_for, turn_settings_for
from cuecard.core.config import Prompt, find_prompt
from cuecard.core.config_players import ModelAgentConfig, ReactAgentConfig, Settings
from cuecard.core.config_schema import Config
from cuecard.core.engine.players import build_world
from cuecard.core.families.facts.gold import Fact
from cuecard.core.families.registry import chain_of, facts_of, family_of
from cuecard.core.i18n import _, beside, listed, ngettext
from cuecard.core.judges.similarity import same_thing
from cuecard.core.predictions import Prediction
from cuecard.core.probes.examiner import ExaminerAgent, ExaminerPrompts
from cuecard.core.probes.results import (
    ChainExamined,
    Examination,
    FactsAgainst,
    LawsExamined,
    NeedExamined,
    ProbeSetting,
    StepExamined,
)
from cuecard.core.scoring.trial_score import score_prediction
from cuecard.core.tasks.models import Task
from cuecard.core.text import normalise, one_line
from cuecard.core.users.scripted import OneShotUser
from cuecard.core.verdicts import Judgement, Measure
from cuecard.core.worlds.replay import NoTools

if TYPE_CHECKING:
    from cuecard.core.engine.step_context import Agent, User, World
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.worlds.replay import RecordedAnswers


_SHOWN = 200
_CHOICE = 2


@dataclass(frozen=True)
class Finding:
    """What an examination shows. `score` and `right`: see `ProbeResult`; `told`: sentences for people."""

    score: float | None
    right: bool | None
    told: tuple[str, ...]


def finding_of(examination: Examination, task: Task, bar: float) -> Finding:
    """The finding of an examination. `bar`: the share of candidates, or of later stages, from which naming them without
    having seen them speaks against the task.
    """
    match examination:
        case ChainExamined(steps=steps):
            return _of_chain(steps, bar)
        case NeedExamined():
            return _of_need(examination, task, bar)
        case LawsExamined():
            return _of_laws(examination, task)


def _of_chain(steps: tuple[StepExamined, ...], bar: float) -> Finding:
    """The finding on a chain: `right` if at least one ambiguity can be resolved without retrieval, because its
    candidates are obvious or its factual error is recognised.
    """
    shares = [len(s.named) / len(s.candidates) for s in steps if s.readings is not None]
    states = [_seen_through(step, bar) for step in steps]
    right = True if True in states else None if None in states else False
    told = tuple(line for step in steps for line in _step_lines(step, bar))
    return Finding(max(shares, default=None), right, told)


def _seen_through(step: StepExamined, bar: float) -> bool | None:
    if _surface(step, bar) or _recognised(step):
        return True
    return None if step.enumerable is None or step.readings is None else False


def _surface(step: StepExamined, bar: float) -> bool:
    """Whether enough candidates were named unseen; or at least two were and the examiner says that common sense gives
    the others. Its opinion alone is not enough, since candidates seem obvious once they are known.
    """
    if _enough(len(step.named), len(step.candidates), bar):
        return True
    return bool(step.enumerable) and len(step.named) >= _CHOICE


def _recognised(step: StepExamined) -> bool:
    # Weak examiners find errors everywhere, so they only count where the ambiguity is a factual error.
    return step.factual and bool(step.error_recognisable or (step.error and step.error_found))


def _step_lines(step: StepExamined, bar: float) -> Iterator[str]:
    def line(text: str) -> str:
        return _("step {n}: {text}").format(n=step.step, text=text)

    if step.readings is None:
        yield line(_("without the candidates, the examiner gave no usable answer"))
    else:
        names = listed(one_line(name, 60) for name in step.named)
        yield line(
            beside(
                _("{named} of {all} candidates named unseen").format(
                    named=len(step.named), all=len(step.candidates)
                ),
                names,
            )
        )
    if step.enumerable is None:
        yield line(_("with the candidates, the examiner gave no usable answer"))
        return
    reason = one_line(step.reason, _SHOWN)
    if _surface(step, bar):
        yield line(_("the ambiguity is surface-level: {reason}").format(reason=reason or "–"))
    elif step.enumerable:
        text = _("only with the candidates known it seems obvious: {reason}")
        yield line(text.format(reason=reason or "–"))
    else:
        yield line(_("the ambiguity takes retrieval: {reason}").format(reason=reason or "–"))
    if _recognised(step):
        error = one_line(step.error, _SHOWN)
        yield line(
            _("the error is recognised without retrieval: {error}").format(error=error or "–")
        )


def _of_need(need: NeedExamined, task: Task, bar: float) -> Finding:
    if need.guessed is None:
        return Finding(None, None, ())
    share = len(need.guessed) / len(need.stages)
    told = [
        _("{n} of {all} later requests guessed from the opening").format(
            n=len(need.guessed), all=len(need.stages)
        )
    ]
    for each in need.guessed:
        title = one_line(task.stages[each.stage - 1].title, 60) if task.stages else ""
        told.append(
            _("stage {n} ({title}) was guessed: {guess}").format(
                n=each.stage, title=title, guess=one_line(each.by, 120)
            )
        )
    if need.reason:
        told.append(one_line(need.reason, _SHOWN))
    return Finding(share, _enough(len(need.guessed), len(need.stages), bar), tuple(told))


def _of_laws(laws: LawsExamined, task: Task) -> Finding:
    if laws.contradictions is None or laws.implausible is None:
        return Finding(None, None, ())
    told = [
        _("contradictory: {facts}: {reason}").format(facts=facts, reason=reason)
        for facts, reason in _with_keys(laws.contradictions, task)
    ]
    told += [
        _("implausible: {facts}: {reason}").format(facts=facts, reason=reason)
        for facts, reason in _with_keys(laws.implausible, task)
    ]
    return Finding(None, not told, tuple(told))


def _with_keys(found: Iterable[FactsAgainst], task: Task) -> Iterator[tuple[str, str]]:
    facts = facts_of(task)
    for each in found:
        keys = (one_line(facts[n - 1].key, 60) for n in each.facts if n <= len(facts))
        yield " + ".join(keys), one_line(each.reason, _SHOWN) or "–"


def _enough(part: int, whole: int, bar: float) -> bool:
    return whole > 0 and part / whole >= bar


def score_of_attempt(task: Task, prediction: Prediction, judgement: Judgement) -> Measure:
    """The score of an attempt in [0, 1]; undefined, with the reason, if the judge left it open. Only how much of the
    gold is known counts, not what else is said: for graphs recall, not F1 (`CoreFamily.known_by`).
    """
    name = family_of(task).known_by
    measures = {m.name: m for m in score_prediction(task, prediction, judgement)}
    left = measures["unjudged"]
    if left.value:
        missing = int(left.value)
        reason = ngettext("{n} item was not judged", "{n} items were not judged", missing)
        return Measure(name, None, left.n, reason.format(n=missing))
    return measures[name]


def conflicts(facts: Sequence[Fact]) -> tuple[str, ...]:
    """The pairs of facts that give two values to one key, or to one attribute of one entity, as sentences. Keys and
    names are compared without case, width and punctuation; values and units as the lexical judge does.
    """
    return tuple(_conflicts(facts))


def _conflicts(facts: Sequence[Fact]) -> Iterator[str]:
    first: dict[tuple[str, ...], int] = {}
    told: set[tuple[int, int]] = set()
    for index, fact in enumerate(facts):
        for name in _names(fact):
            earlier = first.setdefault(name, index)
            if earlier == index or (earlier, index) in told:
                continue
            other = facts[earlier]
            if _same_value(other, fact):
                continue
            told.add((earlier, index))
            yield _("facts {one} and {other} contradict each other: {first} / {second}").format(
                one=earlier + 1, other=index + 1, first=_shown(other), second=_shown(fact)
            )


def _names(fact: Fact) -> Iterator[tuple[str, ...]]:
    if key := normalise(fact.key):
        yield (key,)
    entity, attribute = normalise(fact.entity), normalise(fact.attribute)
    if entity and attribute:
        yield (entity, attribute)


def _same_value(one: Fact, other: Fact) -> bool:
    if normalise(one.unit) == normalise(other.unit):
        values = (one.value, *one.aliases)
        others = (other.value, *other.aliases)
        return any(same_thing(a, b) or same_thing(b, a) for a in values for b in others)
    return same_thing(f"{one.value} {one.unit}", f"{other.value} {other.unit}") is not None


def _shown(fact: Fact) -> str:
    return one_line(f"{fact.key} = {fact.value} {fact.unit}".strip(), 80)


_MORE_STEPS = 2
"""Model calls of an attempt beyond one for each tool call: one that is told that no calls are left, and the answer."""
_MOST_STEPS = 200


def probe_players(
    task: Task,
    setting: ProbeSetting,
    model: str,
    world: str,
    config: Config,
    hub: ModelHub,
    tape: RecordedAnswers | None = None,
) -> tuple[Agent, User, World]:
    """The players of one trial of a probe. The user says one thing and accepts any reply: what a user would say first
    to an agent that searches, the full query to others.

    Raises `ConfigError`.
    """
    opening = task.opening if setting.name in ("open_book", "ambiguity") else task.query
    user = OneShotUser(task, max_questions=0, opening=opening, baseline=False)
    place = build_world(world, config, task, hub, tape)
    if setting.name != "open_book":
        place = NoTools(place, task.language, baseline=False)
    if setting.baseline:
        return _offline(task, setting), user, place
    match setting.name:
        case "ambiguity" | "laws":
            agent = ExaminerAgent(model, hub.client(model), task, _examining(task, setting, config))
        case "closed_book" | "open_book" | "with_facts":
            agent = _trying(task, setting, model, config, hub)
    return agent, user, place


def _trying(
    task: Task, setting: ProbeSetting, model: str, config: Config, hub: ModelHub
) -> ReactAgent:
    react = _manners_of(model, setting, config)
    turn_settings = replace(
        turn_settings_for(react, config, task, hub.client(model)), turn_tools=()
    )
    prompts = prompts_for(react, config, task)
    if setting.name == "closed_book":
        prompts = replace(
            prompts,
            system=_prompt("probe_closed_book", task, config),
            conclusion=_prompt(family_of(task).from_memory, task, config),
            values={},
            tagged=None,
        )
    elif setting.name == "open_book":
        prompts = replace(prompts, system=_prompt("probe_open_book", task, config), values={})
    return ReactAgent(model, turn_settings, prompts, task.family, options=options_of(react))


def _manners_of(model: str, setting: ProbeSetting, config: Config) -> ReactAgentConfig:
    """The settings for calling the model: those of the first agent that is configured with it, without memory."""
    calls, context = ReactAgentConfig(model=model).calls, ReactAgentConfig(model=model).context
    for agent in config.agents.values():
        if isinstance(agent, ModelAgentConfig) and agent.model == model:
            calls, context = agent.calls, agent.context
            break
    return ReactAgentConfig(
        model=model,
        max_steps=min(setting.search_calls + _MORE_STEPS, _MOST_STEPS),
        calls=calls,
        context=context,
        settings=Settings(facts="oracle" if setting.name == "with_facts" else "end_to_end"),
    )


def _examining(task: Task, setting: ProbeSetting, config: Config) -> ExaminerPrompts:
    if setting.name == "laws":
        return ExaminerPrompts(known=_prompt("probe_laws", task, config))
    about = "step" if chain_of(task) else "need"
    return ExaminerPrompts(
        known=_prompt(f"probe_{about}_known", task, config),
        unseen=_prompt(f"probe_{about}_unseen", task, config),
    )


def _offline(task: Task, setting: ProbeSetting) -> Agent:
    from cuecard.core.agents.briefing import public_task
    from cuecard.core.agents.offline import OfflineAgent

    return OfflineAgent(public_task(task), setting.search_calls)


def _prompt(name: str, task: Task, config: Config) -> Prompt:
    return find_prompt(name, task.language, config, {})

"""What the engine knows of checkpoint tasks: sub-questions in order, some ambiguous on purpose (DiscoBench)."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from cuecard.core.agents.briefing import ANSWER, ASK, Approach, PublicTask
from cuecard.core.agents.offline_search import Notes
from cuecard.core.config_players import Settings
from cuecard.core.engine.events import Event
from cuecard.core.engine.messages import Dialogue
from cuecard.core.engine.trial_log import user_turns
from cuecard.core.families.checkpoints import play
from cuecard.core.families.checkpoints.gold import Checkpoint, CheckpointChain
from cuecard.core.families.checkpoints.score import CHECKPOINT_MEASURES, score_checkpoints, steps_of
from cuecard.core.families.common import (
    answer_item,
    answer_text,
    ask_about_answer,
    carry_whole,
    hand_in_answer,
    judge_by_letters,
    no_columns,
    no_facts,
    read_answer,
    read_json_answer,
    refuse,
)
from cuecard.core.families.registry import CoreFamily
from cuecard.core.gold_changes import answer_changes
from cuecard.core.i18n import N_
from cuecard.core.scoring.trial_score import StepFigures
from cuecard.core.text import contains_term, content_words, coverage, keywords, without_terms
from cuecard.core.verdicts import Prediction
from cuecard.core.worlds.background import Secrets
from cuecard.core.worlds.finding import Index
from cuecard.core.worlds.indexes import StepIndex
from cuecard.core.worlds.statements import Statement, Step, final_answers, names_any, public_text

_BACK_REFERENCE = re.compile(
    r"\b(?:that|this|these|those|it|its|his|her|their|he|she|him|them|there|then|same|former|latter)\b"
    "|[这那该其他她它此]",
    re.IGNORECASE,
)


def _statements(
    chain: CheckpointChain, answers: tuple[str, ...], public: str
) -> Iterator[Statement]:
    banned = {name for step in chain.steps for name in step.names}
    banned.update(name for s in chain.steps if s.ambiguity for name in s.ambiguity.candidates)
    banned.update(answers)
    hidden = [name for name in banned if name in answers or not contains_term(public, name)]
    for index, checkpoint in enumerate(chain.steps):
        topic = keywords(without_terms(checkpoint.question, hidden)) or keywords(
            checkpoint.question
        )
        anchors = _anchors(chain, index)
        ambiguity = checkpoint.ambiguity
        if ambiguity:
            listed = "; ".join(ambiguity.candidates)
            yield Statement(
                key=f"checkpoint/{index}/readings",
                subject=anchors[:1],
                attribute=topic,
                value=listed,
                value_aliases=ambiguity.candidates,
                secret=names_any("\n".join((topic, *ambiguity.candidates)), answers),
                step=Step(
                    index=index,
                    question=checkpoint.question,
                    anchors=anchors,
                    lists_readings=True,
                ),
            )
        yield Statement(
            key=f"checkpoint/{index}",
            subject=anchors[:1],
            attribute=topic,
            value=checkpoint.target,
            value_aliases=checkpoint.aliases,
            secret=names_any("\n".join((topic, *checkpoint.names)), answers),
            step=Step(
                index=index,
                question=checkpoint.question,
                anchors=anchors,
                clue=ambiguity.clue if ambiguity else "",
                reading=_meant(checkpoint),
            ),
        )


def _anchors(chain: CheckpointChain, index: int) -> tuple[tuple[str, ...], ...]:
    """The targets of earlier steps that the question of a step refers to; none if it can be asked alone."""
    question = chain.steps[index].question
    earlier = [step.names for step in reversed(chain.steps[:index])]
    named = [names for names in earlier if names_any(question, names)]
    if named or _BACK_REFERENCE.search(question):
        return tuple(dict.fromkeys((*earlier[:1], *named, *earlier)))
    return ()


def _meant(checkpoint: Checkpoint) -> str:
    """The candidate that target and clue point to, if exactly one does."""
    if checkpoint.ambiguity is None:
        return ""
    candidates = checkpoint.ambiguity.candidates
    targets = [c for c in candidates if any(contains_term(n, c) for n in checkpoint.names)]
    if targets:
        return targets[0] if len(targets) == 1 else ""
    evidence = content_words(f"{' '.join(checkpoint.names)} {checkpoint.ambiguity.clue}")
    scored = sorted(((coverage(content_words(c), evidence), c) for c in candidates), reverse=True)
    return scored[0][1] if scored[0][0] > scored[1][0] else ""


_CHECKPOINTS = {
    "neutral": "react_checkpoints",
    "guided": "react_checkpoints_guided",
    "no_search": "react_checkpoints_no_search",
    "no_ask": "react_checkpoints_no_ask",
}


def _approach(chain: CheckpointChain, settings: Settings) -> Approach:
    """The agent's prompts and tools in DiscoBench's settings: told to ask, not told, without search, without asking."""
    del chain
    setting = settings.checkpoints
    own = (ANSWER,) if setting == "no_ask" else (ASK, ANSWER)
    return Approach(_CHECKPOINTS[setting], own, world_tools=setting != "no_search")


def _steps(chain: CheckpointChain, events: Sequence[Event]) -> tuple[StepFigures, ...]:
    found: list[StepFigures] = []
    for record in steps_of(chain, events):
        ambiguity = chain.steps[record.checkpoint].ambiguity
        found.append(
            StepFigures(record=record, ambiguity=ambiguity.type.value if ambiguity else "")
        )
    return tuple(found)


def _statuses(events: Sequence[Event]) -> dict[str, int]:
    read = (spoke.reply.status for spoke in user_turns(events) if spoke.turn > 0)
    return dict(Counter(status.value for status in read if status is not None))


def _conclude(public: PublicTask, dialogue: Dialogue, notes: Notes) -> Prediction:
    accepted = play.progress_of(dialogue, public.language).accepted
    last = next(reversed(notes.facts), None)
    return hand_in_answer(accepted[-1] if accepted else last.value if last else "")


def _index(chain: CheckpointChain, secrets: Secrets) -> Index:
    del chain
    return StepIndex(secrets.statements)


def _effective(chain: CheckpointChain) -> Mapping[str, object]:
    return {
        N_("the opening question"): chain.opening,
        N_("the checkpoints"): [step.model_copy(update={"sources": ()}) for step in chain.steps],
        N_("what must not be said"): chain.forbidden,
    }


CHECKPOINTS = CoreFamily(
    name="checkpoints",
    gold=CheckpointChain,
    label=N_("Checkpoint tasks"),
    measures=CHECKPOINT_MEASURES,
    headlines=("acc", "cp", "det_f1"),
    main="acc",
    known_by="acc",
    bar=("acc", 1.0),
    judged=CHECKPOINT_MEASURES,
    of_log=(),
    score=lambda _task, chain, _prediction, events, judgement: score_checkpoints(
        chain, events, judgement
    ),
    figures=lambda chain, _prediction, events, _judgement: {
        "steps": _steps(chain, events),
        "statuses": _statuses(events),
    },
    handed_in="answer",
    read=read_answer,
    read_json=read_json_answer,
    conclusion="conclude_checkpoints",
    from_memory="probe_hand_in_checkpoints",
    judge=lambda _task, chain, prediction: judge_by_letters(
        chain, prediction, chain.steps[-1].question
    ),
    ask=ask_about_answer,
    judge_prompts=("judge_answer",),
    refuse=refuse,
    item=answer_item,
    item_text=answer_text,
    target=lambda chain: chain.answers,
    approach=_approach,
    columns=no_columns,
    offline=play.answer,
    calls=12,
    conclude=_conclude,
    statements=lambda task, chain: tuple(
        _statements(chain, final_answers(task), public_text(task))
    ),
    index=_index,
    entities=False,
    topics=False,
    chain=lambda chain: chain,
    facts=no_facts,
    changes=answer_changes,
    effective=_effective,
    carry=carry_whole,
)

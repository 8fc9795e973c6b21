"""Four sessions of people in which a simulator errs in every way there is, in English and Chinese."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuecard.annotate.fidelity.model import FindingKind as Kind
from cuecard.core.engine.messages import Act, CheckpointStatus, UserReply
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.tasks.models import Task
from cuecard.core.users.checks import PersonaChecks, ResponderChecks
from cuecard.core.users.responder import ChainRules
from cuecard.core.users.scripted import next_stage
from cuecard.store.workspace import Workspace
from fidelity_sessions import (
    CAREFUL,
    SLOPPY,
    UNUSABLE,
    Said,
    Turn,
    listen,
    met,
    read,
    samples,
    session,
    turns_of,
    unmet,
)

Errors = dict[int, tuple[Kind | None, UserReply]]
"""By turn: what is wrong (None: nothing, though it is said in other words), and the reply."""

ENGLISH: tuple[Said, ...] = (
    "One moment, I am looking into the archives.",
    "The holder was Angelo Moriondo, and it was shown at the Italian General Exposition of 1884.",
    "I am still reading about the family.",
    "He lived from 1851 to 1914 and owned the Grand-Hotel Ligure and the American Bar.",
    "I have found a page about patents and am reading it.",
    "The improved version was patented by Luigi Bezzera.",
    "That is what I have on the patent so far.",
    "Shall I go on with Desiderio Pavoni, or with the company he founded?",
    "The registers of Milan take a while.",
    "He founded La Pavoni in 1905, and its first model was the Ideale.",
    "Which typeface do you print your captions in, serif or sans serif?",
    "I have put the dates in order.",
    "I have checked the sources once more.",
)


def english(task: Task) -> Errors:
    assert task.persona is not None
    lines = [stage.line for stage in task.persona.stages]
    return {
        1: (Kind.EARLY, met(task, 2)),
        2: (Kind.LATE, unmet(task.persona.stages[1].not_met)),
        3: (Kind.MARKDOWN, unmet("There are gaps on my panel:\n- his dates\n- what he owned")),
        4: (Kind.MISSING_LINE, met(task, 3, "Good, panel one is done.")),
        5: (Kind.LEAK, unmet("Is it in there that Luigi Bezzera improved it?")),
        6: (Kind.SKIPPED, met(task, 6)),
        7: (Kind.COACHED, unmet("You should ask me about the company next.")),
        8: (Kind.DOUBLED, met(task, 5, f"{lines[3]} {lines[4]}")),
        9: (Kind.STRUCTURE, unmet("Please give me what you have as JSON.")),
        10: (None, met(task, 6, f"Thank you. {lines[5]}")),
        11: (Kind.IGNORED, unmet("Please go on.")),
        12: (Kind.AHEAD, unmet(lines[7])),
        13: (Kind.UNUSABLE, UNUSABLE),
    }


CHINESE: tuple[Said, ...] = (
    "请稍等，我正在查资料。",
    "最先是立春，然后是雨水、惊蛰、春分。",
    "季节已经按四立分好，每季六个。",
    "墙面上您还需要哪些内容？",
    "圆盘的资料我在核对。",
    "立春的太阳黄经是315，雨水是330。",
    "圆盘要画在左边还是右边？",
)


def chinese(task: Task) -> Errors:
    assert task.persona is not None
    stages = task.persona.stages
    return {
        1: (Kind.LEAK, unmet("是不是从立春开始排？")),
        2: (Kind.LATE, unmet(stages[1].not_met)),
        3: (Kind.EARLY, met(task, 3)),
        4: (Kind.MARKDOWN, met(task, 3, f"## 圆盘\n{stages[2].line}")),
        5: (Kind.COACHED, unmet("你应该问我关于墙面的打算。")),
        6: (Kind.DOUBLED, met(task, 4, f"{stages[2].line}{stages[3].line}")),
        7: (Kind.IGNORED, unmet("请继续查。")),
    }


MOUNTAIN: tuple[Said, ...] = (
    ("Do you mean the highest above sea level, or measured from its base?", Act.ASK),
    ("It is Chimborazo.", Act.ANSWER),
    "Let me search for its climbers.",
    ("Which kind of climber do you mean?", Act.ASK),
    ("Edward Whymper led it.", Act.ANSWER),
    "I am reading his biography.",
)


def mountain(task: Task) -> Errors:
    assert isinstance(task.gold, CheckpointChain)
    steps, status = task.gold.steps, CheckpointStatus
    clue = steps[3].ambiguity
    assert clue is not None
    return {
        1: (Kind.LATE, read(status.WRONG_AMBIGUITY_DETECTED, 0, "Neither matters to me.")),
        2: (Kind.STATUS, read(status.MISSED_AMBIGUITY_CORRECT, 0, "All right, go on.")),
        3: (Kind.EARLY, read(status.CORRECT_ANSWER, 1, "That is right, go on.")),
        4: (Kind.FORBIDDEN, read(status.WRONG_AMBIGUITY_DETECTED, 1, "Any climber in London.")),
        5: (Kind.AHEAD, read(status.CORRECT_ANSWER, 1, f"Right. {steps[2].question}")),
        6: (Kind.AHEAD, read(status.SEARCH_ONLY, 2, clue.clue)),
    }


BRIDGE: tuple[Said, ...] = (
    ("是《四库全书》。", Act.ANSWER),
    ("您说的是哪一部抄本，文渊阁本还是文溯阁本？", Act.ASK),
    "我再查一查。",
)


def bridge(task: Task) -> Errors:
    status = CheckpointStatus
    return {
        1: (Kind.FORBIDDEN, read(status.CORRECT_ANSWER, 0, "对，接着往杭州查吧。")),
        2: (Kind.LATE, read(status.WRONG_AMBIGUITY_DETECTED, 1, "这个我没有讲究。")),
        3: (Kind.LEAK, read(status.SEARCH_ONLY, 1, "会不会和拱宸桥有关？")),
    }


@dataclass(frozen=True)
class Planted:
    """`errors`: (trial, turn, kind) of everything that is wrong; `trials` and `turns` by task."""

    trials: dict[str, int]
    turns: dict[str, list[Turn]]
    errors: set[tuple[int, int, Kind]]


def planted(workspace: Workspace, *, errors: bool = True) -> Planted:
    """The sessions, with `careful` listening, and `sloppy` where there are to be errors."""
    known = samples()
    dialogues: dict[str, tuple[Sequence[Said], Errors]] = {
        "espresso": (ENGLISH, english(known["espresso"])),
        "table-solar-terms-zh": (CHINESE, chinese(known["table-solar-terms-zh"])),
        "checkpoints-highest-mountain": (MOUNTAIN, mountain(known["checkpoints-highest-mountain"])),
        "checkpoints-old-bridge-zh": (BRIDGE, bridge(known["checkpoints-old-bridge-zh"])),
    }
    found = Planted({}, {}, set())
    for task_id, (agent, wrong) in dialogues.items():
        turns = turns_of(known[task_id], agent)
        trial = session(workspace, known[task_id], turns)
        listen(workspace, trial, turns, CAREFUL, live=False)
        found.trials[task_id], found.turns[task_id] = trial, turns
        if errors:
            replies = {t.number: _checked(known[task_id], t, wrong[t.number][1]) for t in turns[1:]}
            listen(workspace, trial, turns, SLOPPY, replies)
            found.errors.update((trial, turn, kind) for turn, (kind, _s) in wrong.items() if kind)
    return found


def _checked(task: Task, turn: Turn, reply: UserReply) -> UserReply:
    """The reply with the flags that the simulators' own checks record with it."""
    if not reply.text:
        return reply
    if task.family == "checkpoints":
        rules = ChainRules(task, None)
        checks = ResponderChecks(task, rules)
        flags = checks.words(reply.text, rules.place(turn.before), turn.before).flags
    else:
        assert task.persona is not None
        number = next_stage(task.persona, turn.before)
        assert number is not None
        beside = PersonaChecks(task).with_line if reply.cue_met else PersonaChecks(task).pushing
        flags = beside(reply.text, number, turn.before).flags
    return reply.model_copy(update={"flags": flags})

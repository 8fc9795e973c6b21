"""Rules for what the user says: what cues ask for, how much a line discloses, and what must not leak."""

import unicodedata
from collections.abc import Iterable, Iterator

from cuecard.annotate.lint import wording
from cuecard.annotate.lint.case import Case, NameFinder, TaskText, folded, name_of
from cuecard.annotate.lint.codes import Finding, error, warning
from cuecard.annotate.lint.wording import count_asks
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.i18n import _, ngettext
from cuecard.core.tasks.models import Cue, CueKind, Task
from cuecard.core.text import contains_term, normalise
from cuecard.core.users.leaks import KnownTexts, gold_things

_OWN_NAMES = frozenset({"Agent", "User", "AI", "I", "The", "Assistant", "LLM", "URL", "JSON"})


def lint_cues(case: Case) -> Iterator[Finding]:
    """What cues wait for: L024, L025 and L029."""
    yield from _same(case)
    yield from _untestable(case)
    yield from _unheard(case)


def _same(case: Case) -> Iterator[Finding]:
    first: dict[object, int] = {}
    for index, stage in enumerate(case.stages):
        cue = stage.cue
        if cue.kind is CueKind.START or not cue.text:
            continue
        keys: list[object] = [folded(cue.text)]
        if cue.terms:
            keys.append((cue.kind, frozenset(map(folded, cue.terms))))
        earlier = next((first[key] for key in keys if key in first), None)
        if earlier is not None:
            yield warning(
                "L025",
                f"persona.stages[{index}].cue.text",
                _("is the cue of stage {n} too").format(n=earlier + 1),
                _("Say what tells the second moment from the first."),
                f"{name_of(case.stages[earlier])} / {name_of(stage)}",
            )
        for key in keys:
            first.setdefault(key, index)


def _untestable(case: Case) -> Iterator[Finding]:
    for index, stage in enumerate(case.stages):
        cue = stage.cue
        if cue.kind is CueKind.START or not cue.text:
            continue
        if wording.asks_to_confirm(cue.text):
            reason = _("“{cue}”: agents ask for a confirmation of anything, or of nothing")
        elif not cue.terms and wording.is_vague(cue.text):
            reason = _("“{cue}” is true of every reply, or no reply shows it")
        else:
            continue
        yield warning(
            "L029",
            f"persona.stages[{index}].cue.text",
            reason.format(cue=cue.text),
            _("Name what the reply must mention, ask about or have covered."),
            name_of(stage),
        )


def _unheard(case: Case) -> Iterator[Finding]:
    persona = case.task.persona
    if persona is None:
        return
    gold = KnownTexts(name for names in gold_things(case.task.gold) for name in names)
    heard = [persona.initial_query, persona.name]
    for index, stage in enumerate(persona.stages):
        if stage.cue.kind is not CueKind.START:
            said = KnownTexts(heard)
            for thing in dict.fromkeys(_referred_to(stage.cue)):
                if not said.has(folded(thing)) and not gold.has(folded(thing)):
                    yield warning(
                        "L024",
                        f"persona.stages[{index}].cue.text",
                        _("refers to “{name}”, which no earlier line has said").format(name=thing),
                        _("Say it in an earlier line, or leave it out of the cue."),
                        f"{name_of(stage)}: {thing}",
                    )
        heard += [stage.line, stage.not_met]


def _referred_to(cue: Cue) -> Iterator[str]:
    """The parts of a cue that presuppose knowledge: amounts and quotations, and names in what the agent is to ask. A
    name that the agent is to mention is meant to be found by it.
    """
    text = unicodedata.normalize("NFKC", cue.text)
    for groups in wording.QUOTES.findall(cue.text):
        yield next(filter(None, groups))
    rest = wording.QUOTES.sub(" ", text)
    yield from (match[0].strip() for match in wording.AMOUNTS.finditer(rest) if folded(match[0]))
    if cue.kind is CueKind.ASKS:
        names = (match[0] for match in wording.PROPER_NAMES.finditer(rest))
        yield from (name for name in names if name not in _OWN_NAMES)
    else:
        yield from (match[0] for match in wording.CONSTRAINT_WORDS.finditer(rest.casefold()))


MOST_ASKS = 2
LEAST_STAGES, FEW = 8, 5
LEAST_SHARE, MOST_SHARE = 0.2, 0.4


def lint_lines(case: Case) -> Iterator[Finding]:
    """How much lines disclose: L026, L027 and L028."""
    for index, stage in enumerate(case.stages):
        if (asks := count_asks(stage.line)) > MOST_ASKS:
            yield warning(
                "L026",
                f"persona.stages[{index}].line",
                _("asks for {n} things at once").format(n=asks),
                _("Split the stage, or say what you want as a list in one request."),
                name_of(stage),
            )
    count = len(case.stages)
    if 0 < count < LEAST_STAGES:
        yield warning(
            "L027",
            "persona.stages",
            ngettext("there is {n} stage only", "there are {n} stages only", count).format(n=count),
            _("8 to 20 stages are usual; split those that ask for much."),
        )
    # Of fewer stages one more or less is already a fifth.
    asked = sum(stage.cue.kind is CueKind.ASKS for stage in case.stages)
    if count >= FEW and not LEAST_SHARE <= asked / count <= MOST_SHARE:
        yield warning(
            "L028",
            "persona.stages",
            _("{n} of {count} cues wait for the agent to ask; 20 to 40 percent should").format(
                n=asked, count=count
            ),
            _("Turn a cue into 'asks', or an 'asks' cue into 'mentions' or 'completes'."),
        )


def lint_gold_disclosure(case: Case) -> Iterator[Finding]:
    """Gold that the user gives away: L007, L009 and L011."""
    if case.chain:
        yield from _forbidden(case.task, case.chain)
        yield from _clues(case.chain)
    if case.world:
        yield from _answers(case.world)


def _spoken(task: Task, chain: CheckpointChain) -> Iterator[TaskText]:
    yield TaskText("gold.opening", chain.opening, "opening")
    for index, step in enumerate(chain.steps):
        if step.ambiguity:
            place = f"gold.steps[{index}].ambiguity.clue"
            yield TaskText(place, step.ambiguity.clue, step.question)
    if task.persona:
        yield TaskText("persona.initial_query", task.persona.initial_query, "initial_query")
        for index, stage in enumerate(task.persona.stages):
            place = f"persona.stages[{index}]"
            yield TaskText(f"{place}.line", stage.line, name_of(stage))
            yield TaskText(f"{place}.not_met", stage.not_met, name_of(stage))


def _forbidden(task: Task, chain: CheckpointChain) -> Iterator[Finding]:
    forbidden = dict.fromkeys((*chain.forbidden, chain.final_answer, *chain.final_aliases))
    for place, text, about in _spoken(task, chain):
        for said in forbidden:
            if contains_term(text, said):
                yield error(
                    "L009",
                    place,
                    _("says “{name}”, which the user must never say").format(name=said),
                    _("Say it another way, or take it off the forbidden list."),
                    f"{about}: {said}",
                )


def _clues(chain: CheckpointChain) -> Iterator[Finding]:
    for index, step in enumerate(chain.steps):
        if step.ambiguity is None:
            continue
        clue = step.ambiguity.clue
        named = next((name for name in step.names if contains_term(clue, name)), None)
        if named and named not in chain.forbidden:
            yield warning(
                "L011",
                f"gold.steps[{index}].ambiguity.clue",
                _("names the target “{name}” itself").format(name=named),
                _("Say what tells the target from the other candidates, not its name."),
                f"{step.question}: {named}",
            )


def _answers(world: FactWorld) -> Iterator[Finding]:
    answers = {normalise(name) for name in (world.answer, *world.answer_aliases)} - {""}
    for index, fact in enumerate(world.facts):
        names = (fact.value, f"{fact.value} {fact.unit}", f"{fact.value}{fact.unit}", *fact.aliases)
        if any(normalise(name) in answers for name in names):
            yield error(
                "L007",
                f"gold.facts[{index}].value",
                _("one search for “{key}” gives the final answer away").format(key=fact.key),
                _("Let the answer follow from several facts, or split this one."),
                fact.key,
            )


def lint_other_leaks(case: Case) -> Iterator[Finding]:
    """Leaks in tables, chains and worlds: L006."""
    if case.table:
        yield from _table_leaks(case)
    elif case.chain:
        yield from _chain_leaks(case, case.chain)
    elif case.world:
        yield from _world_leaks(case)


def _table_leaks(case: Case) -> Iterator[Finding]:
    """A value that the query itself names is a condition, not a finding."""
    table, said = case.table, list(_persona_texts(case))
    if table is None or not said:
        return
    cells = dict.fromkeys(cell for row in table.rows for cell in row)
    told = KnownTexts((case.task.query, *table.column_names))
    yield from _named(said, NameFinder((cell, (cell,)) for cell in cells), told)


def _world_leaks(case: Case) -> Iterator[Finding]:
    """Keys, entities and attributes of the world may be said; values may not."""
    world = case.world
    if world is None:
        return
    said = list(_persona_texts(case)) or [TaskText("query", case.task.query, "query")]
    asked = (text for f in world.facts for text in (f.key, f.entity, f.attribute))
    values = [(fact.value, (fact.value, *fact.aliases)) for fact in world.facts]
    values.append((world.answer, (world.answer, *world.answer_aliases)))
    yield from _named(said, NameFinder(values), KnownTexts(asked))


def _chain_leaks(case: Case, chain: CheckpointChain) -> Iterator[Finding]:
    """The opening may name no target, a clue none of the steps that come after its own. L009 speaks
    of what is forbidden, L011 of a clue's own target.
    """
    forbidden = KnownTexts((*chain.forbidden, chain.final_answer, *chain.final_aliases))
    opening = TaskText("gold.opening", chain.opening, "opening")
    targets = [(step.target, step.names) for step in chain.steps]
    first = [opening, *_persona_texts(case)]
    yield from _named(first, NameFinder(targets), forbidden)
    for index, step in enumerate(chain.steps):
        if step.ambiguity is not None:
            place = f"gold.steps[{index}].ambiguity.clue"
            clue = TaskText(place, step.ambiguity.clue, step.question)
            told = KnownTexts((forbidden.folded, *step.names, *step.ambiguity.candidates))
            yield from _named([clue], NameFinder(targets[index + 1 :]), told)


def _named(
    said: Iterable[TaskText], names: NameFinder[str], may_be_said: KnownTexts
) -> Iterator[Finding]:
    """Names in these texts that must not be said yet; a name is reported once."""
    told: set[str] = set()
    for place, text, about in said:
        for name, things in names.find(text):
            if told.isdisjoint(things) and not may_be_said.has(folded(name)):
                if place != "persona.identity":
                    told.update(things)
                yield warning(
                    "L006",
                    place,
                    _("says “{name}”, which is still to be found").format(name=name),
                    _("Describe it without its name, or leave it out."),
                    f"{about}: {name}",
                )


def _persona_texts(case: Case) -> Iterator[TaskText]:
    if persona := case.task.persona:
        yield TaskText("persona.identity", persona.identity, "identity")
        yield TaskText("persona.initial_query", persona.initial_query, "initial_query")
        for index, stage in enumerate(persona.stages):
            place, name = f"persona.stages[{index}]", name_of(stage)
            yield TaskText(f"{place}.not_met", stage.not_met, name)
            yield TaskText(f"{place}.line", stage.line, name)

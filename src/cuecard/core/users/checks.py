"""Checks on a simulated user's words: their form and length, names that must not be said, lines that are not due."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from cuecard.core.engine.messages import CheckpointStatus, Dialogue, Flag, FlagKind, UserReply
from cuecard.core.tasks.models import Persona, Stage, Task, TaskLanguage
from cuecard.core.text import (
    content_words,
    coverage,
    is_cjk,
    one_line,
    questions,
    sentences,
    storable,
    without_terms,
)
from cuecard.core.users.asking import Complaint, complaint
from cuecard.core.users.leaks import (
    KnownTexts,
    Secrets,
    carries,
    chain_things,
    fold,
    forbidden_in,
    gives_away,
    gold_things,
    known_texts,
    words_said,
)
from cuecard.core.users.responder import ChainRules, Place
from cuecard.core.users.scripted import next_stage

_SHOWN = 40
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_RULE = re.compile(
    r"^[ \t]*(?:([-*_])[ \t]*(?:\1[ \t]*){2,}|(?=[^\n]*-{3})[ \t:|-]+)$", re.MULTILINE
)
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(?=\S)", re.MULTILINE)
_QUOTE = re.compile(r"^[ \t]{0,3}>[ \t]?(?=\S)", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*[-*+•][ \t]+(?=\S)", re.MULTILINE)
_NUMBERED = re.compile(r"^[ \t]*\d{1,2}(?:[.)][ \t]+|[、．])(?=\S)", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|(.*)\|[ \t]*$", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]\[\n]{1,200})\]\([^()\s]{1,500}\)")
_JSON = re.compile(r"[\[{]\s*[\[{]|\{\s*\"[^\"\n]*\"\s*:|\[\s*\"[^\"\n]*\"\s*,")
_EMPHASIS = (
    re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*"),
    re.compile(r"(?<!\w)__(?=\S)(.+?)(?<=\S)__(?!\w)"),
    re.compile(r"`([^`\n]+)`"),
    re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]+)(?<=\S)\*(?![\w*])"),
)
_STRUCTURE = re.compile(
    r"\b(?:triples?|triplets?|json|markdown|csv|yaml|knowledge graph|spreadsheet"
    r"|(?:as|in|into) (?:an? |one )?(?:\w+ )?table)\b|三元组|知识图谱|表格|列成?表|做成表|成一?张表",
    re.IGNORECASE,
)


def without_emphasis(text: str) -> str:
    """The text without asterisks, underscores and backticks around words."""
    for pattern in _EMPHASIS:
        text = pattern.sub(r"\1", text)
    return text


def markdown_in(text: str) -> str:
    """The first piece of Markdown, JSON or a list in a text, which nobody would speak; "" if there is none."""
    for pattern in (_FENCE, _ROW, _RULE, _HEADING, _QUOTE, _BULLET, _LINK, _JSON):
        if match := pattern.search(text):
            end = text.find("\n", match.end())
            return one_line(text[match.start() : end if end >= 0 else len(text)], _SHOWN)
    numbered = _NUMBERED.findall(text)
    return one_line(numbered[0]) if len(numbered) > 1 else ""


def spoken(text: str) -> str:
    """The text without Markdown layout, as it would be spoken; JSON stays as it is."""
    text = _RULE.sub("", _FENCE.sub("", text))
    text = _ROW.sub(lambda row: ", ".join(c.strip() for c in row[1].split("|") if c.strip()), text)
    text = _LINK.sub(r"\1", text)
    for pattern in (_HEADING, _QUOTE, _BULLET, _NUMBERED):
        text = pattern.sub("", text)
    lines = (line.strip() for line in without_emphasis(text).splitlines())
    return "\n".join(line for line in lines if line)


def structures_in(text: str) -> tuple[str, ...]:
    """The words in `text` that ask for triples, JSON, tables and the like."""
    return tuple(dict.fromkeys(match[0] for match in _STRUCTURE.finditer(text)))


def without_sentences(text: str, words: tuple[str, ...]) -> str:
    """The text without the sentences that hold any of these words."""
    kept = [s for s in sentences(text) if not any(word in s for word in words)]
    return " ".join(kept)


@dataclass(frozen=True)
class Words:
    """A checked reply. `text`: what of it may be said, mended where possible; "" if nothing. `complaints`: what to tell
    the model when it is asked again; `flags`: what to record if that did not help.
    """

    text: str
    complaints: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()

    def blamed(
        self,
        language: TaskLanguage,
        name: Complaint,
        kind: FlagKind,
        found: tuple[str, ...] = (),
        *,
        text: str = "",
    ) -> Words:
        """These words with one more complaint, and `text` in place of theirs."""
        why = complaint(language, name, found)
        flag = Flag(kind=kind, found=", ".join(found))
        return replace(
            self, text=text, complaints=(*self.complaints, why), flags=(*self.flags, flag)
        )


def well_formed(
    reply: str, limit: int, told: KnownTexts, own: str, language: TaskLanguage
) -> Words:
    """A reply as a person would say it, in at most `limit` characters.

    Emphasis is removed silently. Layout, and requests for triples, tables and the like, are complained of and removed.
    `own`, the task's own words for this turn, may contain both; words for such forms that are in `told` are allowed.
    """
    if len(reply) > limit:
        return Words("").blamed(language, "long", FlagKind.UNUSABLE)
    text = storable(reply).strip()
    if own and own in text:
        before, _own, after = text.partition(own)
        text = f"{without_emphasis(before)}{own}{without_emphasis(after)}"
    else:
        text = without_emphasis(text)
    if not any(char.isalnum() for char in text):
        return Words("").blamed(language, "empty", FlagKind.UNUSABLE)
    words = Words(text)
    if laid_out := _laid_out(text, own):
        mended = spoken(text)
        mended = "" if _laid_out(mended, own) else mended
        words = words.blamed(language, "markdown", FlagKind.FORMAT, (laid_out,), text=mended)
    wanted = tuple(word for word in structures_in(words.text) if not told.has(fold(word)))
    if wanted:
        mended = without_sentences(words.text, wanted)
        words = words.blamed(language, "structure", FlagKind.FORMAT, wanted, text=mended)
    return words


def _laid_out(text: str, own: str) -> str:
    return markdown_in(text.replace(own, " ") if own else text)


_LIMIT = 4000


class PersonaChecks:
    """Checks of a persona's words: no gold that nobody has named yet, no line before its stage, and the form of spoken
    words. Raises `ValueError` for a task without a persona.
    """

    def __init__(self, task: Task) -> None:
        if task.persona is None:
            raise ValueError("a persona needs a task with one")
        self._task = task
        self._persona: Persona = task.persona
        self._language: TaskLanguage = task.language
        self._secrets = Secrets(gold_things(task.gold))

    def disclosing(self, reply: str, number: int, dialogue: Dialogue) -> Words:
        """The checked words for disclosing stage `number` (from 1): the reply if it carries the line, else the line."""
        stage = self._persona.stages[number - 1]
        line = stage.line
        if len(reply) > _LIMIT + len(line) or not carries(reply, line):
            return Words(line)
        words = self.with_line(reply, number, dialogue)
        if words.text and carries(words.text, line):
            return words
        return Words(line, words.complaints, words.flags)

    def with_line(self, reply: str, number: int, dialogue: Dialogue) -> Words:
        """The checked reply of a turn that discloses stage `number` (from 1), whether or not it says the line."""
        line = self._persona.stages[number - 1].line
        return self._checked(reply, line, self._persona.stages[number:], dialogue)

    def pushing(
        self, reply: str, number: int | None, dialogue: Dialogue, *, ends: bool = False
    ) -> Words:
        """The checked words of a turn that discloses nothing: the cue of stage `number` is not met, or (None) all stages
        are disclosed. `ends`: the model considers the dialogue finished.
        """
        if number is None:
            return self._checked(reply, "", (), dialogue)
        stages = self._persona.stages[number - 1 :]
        words = self._checked(reply, stages[0].not_met, stages, dialogue)
        if ends:
            words = words.blamed(self._language, "early_end", FlagKind.UNUSABLE)
        return words

    def _checked(self, reply: str, own: str, ahead: tuple[Stage, ...], dialogue: Dialogue) -> Words:
        told = known_texts(self._task, dialogue, own)
        words = well_formed(reply, _LIMIT + len(own), told, own, self._language)
        early = tuple(s.title for s in ahead if gives_away(words.text, s.line, told))
        if early:
            words = words.blamed(self._language, "ahead", FlagKind.LEAK, early)
        if found := self._secrets.named(words.text, told):
            words = words.blamed(self._language, "leak", FlagKind.LEAK, found, text=words.text)
        return words


_RESPONDER_CHECKS_LIMIT = 1000
_SAME_QUESTION = 0.7
_FEW = 2


class ResponderChecks:
    """Checks of a responder's words: nothing forbidden, no target or candidate that the agent has not named, no later
    question, no clue. Words that break a rule are not said at all.
    """

    def __init__(self, task: Task, rules: ChainRules) -> None:
        self._task = task
        self._language: TaskLanguage = task.language
        self._rules = rules
        self._secrets = Secrets(chain_things(rules.chain))

    def words(self, reply: str, place: Place, dialogue: Dialogue) -> Words:
        """The reply if it may be said as it stands; else no text, and why."""
        told = known_texts(self._task, dialogue)
        words = well_formed(reply, _RESPONDER_CHECKS_LIMIT, told, "", self._language)
        text = words.text
        forbidden = forbidden_in(text, self._rules.chain)
        found = tuple(dict.fromkeys((*forbidden, *self._secrets.named(text, told))))
        if found:
            words = words.blamed(self._language, "leak", FlagKind.LEAK, found)
        later = self._rules.steps[place.index + 1 :]
        coming = tuple(step.question for step in later if says_question(step.question, text, told))
        if coming:
            words = words.blamed(self._language, "next_question", FlagKind.LEAK, coming)
        if self._hints(text, place, told):
            words = words.blamed(self._language, "clue", FlagKind.LEAK)
        return Words("", words.complaints, words.flags) if words.complaints else words

    def _hints(self, text: str, place: Place, told: KnownTexts) -> bool:
        # Also clues of past steps, which were never asked for; released clues are in `told`.
        given = place.index if place.situation.clue_given else None
        steps = (step for n, step in enumerate(self._rules.steps) if n != given)
        return any(s.ambiguity and gives_away(text, s.ambiguity.clue, told) for s in steps)


def says_question(question: str, text: str, told: KnownTexts) -> bool:
    words = content_words(question)
    if gives_away(text, question, told):
        return True
    if len(words) < _FEW:
        return False
    return any(coverage(words, words_said(asked)) >= _SAME_QUESTION for asked in questions(text))


_AGAIN, _AGAIN_WORDS = 0.9, 6
_TOUCHED, _DISCLOSING_FEW = 0.35, 3
_LONG_LATIN, _LONG_HAN = 20, 10


@dataclass(frozen=True)
class Disclosures:
    """What a reply discloses that it should not, as stage titles, questions and clues. `own`: the task's own words for
    this turn; `known`: texts whose names are no further leak; `not_met`: the card's words for an unmet cue; `coming`:
    the stages that are not disclosed yet.
    """

    forbidden: tuple[str, ...] = ()
    ahead: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    not_met: str = ""
    coming: tuple[Stage, ...] = ()


class PersonaLines:
    """Finds which stages' lines a persona's reply discloses out of turn."""

    def __init__(self, task: Task, persona: Persona) -> None:
        self._task = task
        self._persona = persona

    def disclosed(self, text: str, before: Dialogue, reply: UserReply) -> Disclosures:
        stages = self._persona.stages
        done, number = set(before.stages_disclosed), next_stage(self._persona, before)
        said = _stage(stages, reply.stage)
        due = stages[number - 1] if number else None
        not_met = due.not_met if due else ""
        query = "" if before.messages else self._persona.initial_query
        own = tuple(filter(None, (said.line if said else "", not_met, query)))
        told = known_texts(self._task, before, *own)
        at_hand = KnownTexts((self._persona.initial_query, *own))
        ahead: list[Stage] = []
        doubled: list[Stage] = []
        for n, stage in enumerate(stages, start=1):
            if n == reply.stage:
                continue
            if n in done:
                if _says_again(text, stage.line, at_hand):
                    doubled.append(stage)
            elif gives_away(text, stage.line, told):
                both = said and carries(text, stage.line) and carries(text, said.line)
                (doubled if both else ahead).append(stage)
        skipped: tuple[str, ...] = ()
        if reply.stage is not None and reply.stage != number:
            # A wrong stage is the one fault; what else the reply discloses follows from it.
            title = said.title if said else str(reply.stage)
            if reply.stage in done and said:
                ahead, doubled = [], [said]
            else:
                ahead, doubled, skipped = [], [], (title,)
        missing = ""
        if said and not (ahead or doubled or skipped) and not _kept(reply):
            missing = "" if _touches(text, said.line) else said.line
        found = (stage.line for stage in (*ahead, *doubled))
        return Disclosures(
            ahead=tuple(stage.title for stage in ahead),
            skipped=skipped,
            doubled=tuple(stage.title for stage in doubled),
            missing=(missing,),
            own=own,
            known=(
                *own,
                self._persona.behaviour,
                *found,
                *(stage.line for stage in stages if skipped),
            ),
            not_met=not_met,
            coming=tuple(s for n, s in enumerate(stages, start=1) if n not in done),
        )


class ChainLines:
    """Finds which questions and clues a reply on a checkpoint task discloses out of turn. Raises `ValueError` for a task
    of another family.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._rules = ChainRules(task, patience=None)

    def disclosed(self, text: str, before: Dialogue, reply: UserReply) -> Disclosures:
        steps, chain = self._rules.steps, self._rules.chain
        place = self._rules.place(before)
        asked = reply.status is CheckpointStatus.AMBIGUITY_DETECTED
        at = reply.checkpoint if reply.checkpoint is not None else place.index
        open_at = steps[at].ambiguity if 0 <= at < len(steps) else None
        clue = open_at.clue if asked and open_at else ""
        own = tuple(filter(None, (clue, "" if before.messages else chain.opening)))
        told = known_texts(self._task, before, *own)
        spoken = text.replace(chain.opening.strip(), " ")
        asks = tuple(
            step.question
            for step in steps[place.index + 1 :]
            if says_question(step.question, spoken, told)
        )
        clues = tuple(
            step.ambiguity.clue
            for n, step in enumerate(steps)
            if step.ambiguity and not (asked and n == at)
            if gives_away(text, step.ambiguity.clue, told)
        )
        skipped = clue if at != place.index else ""
        said = without_terms(clue, chain.forbidden, "…")
        unsaid = clue and not (place.situation.clue_given or _touches(text, said) or _kept(reply))
        missing = clue if unsaid and not (skipped or asks or clues) else ""
        return Disclosures(
            forbidden=forbidden_in(spoken, chain),
            ahead=(*asks, *clues),
            skipped=(skipped,),
            missing=(missing,),
            own=own,
            known=(*own, *asks, *clues),
        )


def _stage(stages: tuple[Stage, ...], number: int | None) -> Stage | None:
    return stages[number - 1] if number is not None and 1 <= number <= len(stages) else None


def _says_again(text: str, line: str, at_hand: KnownTexts) -> bool:
    """Whether a line that was said before is repeated (word for word, or nearly all its words), not just mentioned.
    `at_hand`: texts that may be said now anyway.
    """
    flat, folded = fold(line), fold(text)
    long_enough = len(flat) >= (_LONG_HAN if is_cjk(flat) else _LONG_LATIN)
    if long_enough and flat in folded:
        return flat not in at_hand.folded
    words, said = content_words(line), words_said(text)
    if sum(word in said for word in words) < max(_AGAIN * len(words), _AGAIN_WORDS):
        return False
    return carries(text, line) and gives_away(text, line, at_hand)


def _touches(text: str, line: str) -> bool:
    """Whether a text may be a paraphrase of the line: it has about a third of the line's content words. Far laxer than
    `carries`, since people use their own words.
    """
    words = content_words(line)
    if fold(line) in fold(text) or coverage(words, words_said(text)) >= _TOUCHED:
        return True
    return len(words) < _DISCLOSING_FEW and any(content_words(asked) for asked in questions(text))


def _kept(reply: UserReply) -> bool:
    return reply.edited and reply.meaning == "kept"

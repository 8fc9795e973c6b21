"""What a model may have the user of a checkpoint task say."""

from __future__ import annotations

from cuecard.core.parts import Dialogue, FlagKind
from cuecard.core.phrases import content_words, coverage, questions
from cuecard.core.tasks import Task, TaskLanguage
from cuecard.core.users.chain_rules import ChainRules, Place
from cuecard.core.users.checked import Words, well_formed
from cuecard.core.users.leaks import Secrets, Told, chain_things, forbidden_in, told_in
from cuecard.core.users.lines import gives_away, words_said

_LIMIT = 1000
_SAME_QUESTION = 0.7
_FEW = 2


class ResponderChecks:
    """The hard rules: nothing forbidden, no target or candidate that the agent has not named, no later
    question, no clue. Words that break one are not said at all.
    """

    def __init__(self, task: Task, rules: ChainRules) -> None:
        self._task = task
        self._language: TaskLanguage = task.language
        self._rules = rules
        self._secrets = Secrets(chain_things(rules.chain))

    def words(self, reply: str, place: Place, dialogue: Dialogue) -> Words:
        """The reply if it may be said as it stands; else no text, and why."""
        told = told_in(self._task, dialogue)
        words = well_formed(reply, _LIMIT, told, "", self._language)
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

    def _hints(self, text: str, place: Place, told: Told) -> bool:
        # Also of steps that are behind: their clues were never asked for. Those that were are told.
        given = place.index if place.situation.clue_given else None
        steps = (step for n, step in enumerate(self._rules.steps) if n != given)
        return any(s.ambiguity and gives_away(text, s.ambiguity.clue, told) for s in steps)


def says_question(question: str, text: str, told: Told) -> bool:
    words = content_words(question)
    if gives_away(text, question, told):
        return True
    if len(words) < _FEW:
        return False
    return any(coverage(words, words_said(asked)) >= _SAME_QUESTION for asked in questions(text))

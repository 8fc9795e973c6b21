"""The indexes of a closed world: one of entities and their attributes, and one of checkpoints, which build on each
other.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from cuecard.core.text import (
    contains_term,
    content_words,
    coverage,
    is_negated,
    is_question,
    normalise,
    sentences,
    shared_words,
    spans,
)
from cuecard.core.worlds import finding
from cuecard.core.worlds.background import ValueGuard
from cuecard.core.worlds.finding import (
    Finding,
    Heading,
    Lead,
    Mention,
    Mentions,
    Subject,
    blanked,
    choose_heading,
    compound,
    parts_with_content,
)
from cuecard.core.worlds.statements import SUBJECT_JOIN, Form, Statement, Step

_ENOUGH = 0.6
_MAX_NAMES = 12
_DIRECTORY_PAGES = 3


@dataclass
class RecordIndex:
    """Finds the one statement that a query asks for.

    `public`: the guarded terms that the task's public text names. `keys`: the key columns of a
    table, whose rows a directory may list; of other worlds only public names are listed.
    """

    statements: Sequence[Statement]
    guard: ValueGuard
    public: frozenset[str]
    keys: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    _subjects: dict[tuple[str, ...], Subject] = field(default_factory=dict, init=False)
    _exact: dict[str, Statement] = field(default_factory=dict, init=False)
    _open: dict[str, Statement] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        for statement in self.statements:
            if not statement.subject:
                self._open.setdefault(statement.attribute, statement)
                continue
            self._subject(statement.subject, leads=True).add(statement)
        for statement in self.statements:
            if statement.linked and statement.values != statement.subject[0]:
                self._subject((statement.values,), leads=False).add(statement)
        self._all = tuple(self._subjects.values())
        self._mentions = Mentions(self._all)
        attributes = {a for subject in self._all for a in subject.groups if content_words(a)}
        self._attributes = sorted(attributes, key=lambda a: (-len(a), a))
        for subject in self._all:
            self._remember(subject)

    def _subject(self, parts: tuple[tuple[str, ...], ...], *, leads: bool) -> Subject:
        key = tuple(normalise(names[0]) for names in parts)
        subject = self._subjects.setdefault(key, Subject(parts))
        subject.is_head = subject.is_head or leads
        return subject

    def _remember(self, subject: Subject) -> None:
        """Make the subject's headings findable by the exact wording that lists show."""
        for name in (*subject.names, subject.title.replace(SUBJECT_JOIN, " ")):
            allowed = self.public | self.guard.terms_in(name)
            for heading in subject.headings:
                shown = self.guard.redacted(heading.label, allowed)
                for label in {heading.label, shown} - {""}:
                    self._exact.setdefault(normalise(f"{name} {label}"), heading.statement)

    def find(self, query: str) -> Finding:
        exact = self._exact.get(normalise(query))
        if exact is not None:
            return self._hit(exact)
        text = normalise(query)
        mentions = self._mentions.scan(text)
        subjects, single = self._mentions.complete(mentions)
        rest = blanked(text, mentions)
        if not subjects:
            return self._unnamed(query, rest, mentions)
        if not single:
            return compound(finding.SEVERAL_ENTITIES)
        choices = [(subject, choose_heading(subject, rest)) for subject in subjects]
        found = [choice for _, choice in choices if choice.heading]
        if any(choice.several for _, choice in choices) or len(found) > 1:
            return compound(finding.SEVERAL_ATTRIBUTES)
        if found and found[0].heading:
            statement = found[0].heading.statement
            if self._beside(rest, statement):
                return compound(finding.SEVERAL_ATTRIBUTES)
            return self._hit(statement)
        if finding.asks_for_several(rest):
            return compound(finding.SEVERAL_ATTRIBUTES)
        unclear = any(choice.unclear for _, choice in choices)
        return Finding(
            finding.UNCLEAR_ATTRIBUTE if unclear else finding.NO_ATTRIBUTE,
            leads=tuple(self._headings(subject, text) for subject in subjects[:_DIRECTORY_PAGES]),
        )

    def related(self, statement: Statement, leads: tuple[Lead, ...]) -> tuple[Lead, ...]:
        """Lists of what else is on record about a statement's subject and, if it is an entity, its value."""
        about = [statement.subject, (statement.values,)] if not self.keys else []
        found: list[Lead] = []
        for parts in about:
            subject = self._subjects.get(tuple(normalise(names[0]) for names in parts))
            if subject and len(subject.headings) > 1:
                found.append(self._headings(subject, normalise(subject.title)))
        return tuple(found)

    def _hit(self, statement: Statement) -> Finding:
        if statement.secret:
            return Finding(finding.WITHHELD)
        return Finding(finding.FOUND, statement)

    def _headings(self, subject: Subject, query: str) -> Lead:
        named = self.public | self.guard.named_in(query)
        names = (subject.title, *subject.names)
        shown = next((n for n in names if self.guard.clean(n, named)), subject.title)
        labels = (self.guard.redacted(h.label, named) for h in subject.headings)
        return Lead(Form.HEADINGS, shown, tuple(label for label in labels if label))

    def _unnamed(self, query: str, rest: str, mentions: Sequence[Mention]) -> Finding:
        words = content_words(query)
        topic = self._open_topic(words)
        if len(topic) > 1 or (topic and finding.asks_for_several(query)):
            return compound(finding.SEVERAL_ATTRIBUTES)
        if topic:
            return self._hit(topic[0])
        if mentions:
            listed = self._mentions.partly(mentions)
            return Finding(finding.NO_ENTITY, leads=self._directory(listed, query))
        if len({attribute for attribute, _, _ in spans(rest, self._attributes)}) > 1:
            return compound(finding.SEVERAL_ATTRIBUTES)
        leads = [*self._by_column(query, words), *self._by_name(query, words), *self._topics(words)]
        return Finding(finding.NO_ENTITY, leads=tuple(leads[:_DIRECTORY_PAGES]))

    def _beside(self, rest: str, statement: Statement) -> bool:
        """Whether a query for a statement, without its subject's name, also asks for one without a subject."""
        own = content_words(statement.attribute)
        beside = tuple(word for word in content_words(rest) if word not in own)
        return bool(self._open_topic(beside))

    def _open_topic(self, words: tuple[str, ...]) -> list[Statement]:
        """The statements without a subject that a query names, without those whose words are part of another's."""
        full = [a for a in self._open if coverage(content_words(a), words) >= 0.8]
        kept = [
            a
            for a in full
            if not any(set(content_words(a)) < set(content_words(other)) for other in full)
        ]
        return [self._open[attribute] for attribute in kept]

    def _by_column(self, query: str, words: tuple[str, ...]) -> tuple[Lead, ...]:
        named = (column for column in (*self.keys, *self.columns) if content_words(column))
        if not any(coverage(content_words(column), words) >= _ENOUGH for column in named):
            return ()
        return self._directory(self._all, query) if self.keys else ()

    def _by_name(self, query: str, words: tuple[str, ...]) -> tuple[Lead, ...]:
        """Public entities whose name, or one of whose attributes, the query seems to mean."""
        if self.keys or not words:
            return ()
        named = self.public | self.guard.named_in(query)
        known = [s for s in self._all if s.is_head and self.guard.clean(s.title, named)]
        similar = [s for s in known if coverage(content_words(s.title), words) >= 0.5]
        carrying = [s for s in known if s not in similar and _carries(s.headings, words)]
        titles = tuple(s.title for s in (*similar, *carrying)[:_MAX_NAMES])
        return (Lead(Form.TOPICS, "", titles),) if titles else ()

    def _topics(self, words: tuple[str, ...]) -> tuple[Lead, ...]:
        near = [a for a in self._open if coverage(content_words(a), words) >= 0.3]
        shown = (self.guard.redacted(a, self.public) for a in near[:_MAX_NAMES])
        items = tuple(item for item in shown if item)
        return (Lead(Form.TOPICS, "", items),) if items else ()

    def _directory(self, subjects: Iterable[Subject], query: str) -> tuple[Lead, ...]:
        if not self.keys:
            return ()
        named = self.public | self.guard.named_in(query)
        names = sorted({s.title for s in subjects if self.guard.clean(s.title, named)})
        size = max(-(-len(names) // _DIRECTORY_PAGES), 20)
        return tuple(
            Lead(Form.DIRECTORY, SUBJECT_JOIN.join(self.keys), tuple(names[at : at + size]))
            for at in range(0, len(names), size)
        )


def _carries(headings: Iterable[Heading], words: tuple[str, ...]) -> bool:
    return any(coverage(content_words(h.statement.attribute), words) >= _ENOUGH for h in headings)


# The share of a step's words that a query must have: in general, if it names the target of the step before, and if
# the step's answer is the final answer.
_ALONE, _ANCHORED, _EXACT = 0.6, 0.34, 0.75
_CLUE = 0.4
# The share of another step's own words from which a query asks for that step too.
_EXTRA = 0.5


@dataclass(frozen=True)
class _Fit:
    """How well a query fits a step. `anchored`: it names the target of the step before."""

    statement: Statement
    step: Step
    share: float
    anchored: bool
    follows: bool

    @property
    def enough(self) -> bool:
        if self.statement.secret:
            return self.share >= _EXACT and (self.anchored or not self.step.anchors)
        return self.follows and self.share >= (_ANCHORED if self.anchored else _ALONE)


Group = tuple[int, str]
"""A thing that a query can name: a step's target, `(index, "")`, or one of its readings, `(index, name)`."""


class StepIndex:
    """Finds the step that a query asks for; for an ambiguous step, its list of readings or its target."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self._steps = [(s, s.step) for s in statements if s.step and not s.step.lists_readings]
        self._readings = {s.step.index: s for s in statements if s.step and s.step.lists_readings}
        self._names: dict[str, Group] = {}
        for statement, step in self._steps:
            for name in statement.values:
                self._names.setdefault(normalise(name), (step.index, ""))
        for index, readings in self._readings.items():
            for name in readings.value_aliases:
                self._names.setdefault(normalise(name), (index, normalise(name)))
        self._names.pop("", None)
        self._longest_first = sorted(self._names, key=lambda name: (-len(name), name))

    def related(self, statement: Statement, leads: tuple[Lead, ...]) -> tuple[Lead, ...]:
        """`leads` unchanged: a step is stated without others."""
        del statement
        return leads

    def find(self, query: str) -> Finding:
        fits = [self._fit(statement, step, query) for statement, step in self._steps]
        enough = sorted((f for f in fits if f.enough), key=lambda f: (-f.share, f.step.index))
        if reason := self._compound(fits, enough, query):
            return compound(reason)
        if enough and not (self._secret(enough[0]) and self._inexact(enough[0], query)):
            return self._answer(enough[0], query)
        near = [f for f in fits if f.follows and (f.anchored or f.share > 0)]
        topics = tuple(dict.fromkeys(f.statement.attribute for f in near))
        leads = (Lead(Form.TOPICS, "", topics),) if topics else ()
        return Finding(finding.NOT_ON_RECORD, leads=leads)

    def _fit(self, statement: Statement, step: Step, query: str) -> _Fit:
        named = [any(contains_term(query, n) for n in names) for names in step.anchors]
        share = coverage(content_words(statement.attribute), content_words(query))
        anchored = bool(named and named[0])
        return _Fit(statement, step, share, anchored, not step.anchors or any(named))

    def _compound(self, fits: Sequence[_Fit], enough: Sequence[_Fit], query: str) -> str:
        """Why a query is compound, or ""."""
        asked = sorted((f for f in fits if f.share >= _ALONE), key=lambda f: -f.share)
        fit = enough[0] if enough else asked[0] if asked else None
        said = [s for s in sentences(query) if fit is None or s not in fit.step.clue]
        if sum(is_question(s) and bool(content_words(s)) for s in said) > 1:
            return finding.SEVERAL_ATTRIBUTES
        words = content_words(query)
        if fit is None:
            return ""
        own = self._vocabulary(fit)
        both = [f for f in enough if f.share >= _ALONE]
        if len(both) > 1 and both[0].share == both[1].share:
            return finding.SEVERAL_ATTRIBUTES
        for other in asked:
            extra = _beyond(content_words(other.statement.attribute), own)
            if other is not fit and coverage(extra, words) >= _EXTRA:
                return finding.SEVERAL_ATTRIBUTES
        text, found = self._marked(query, fit.step.clue)
        parts = parts_with_content(text)
        in_parts = [{found[w] for w in content_words(part) if w in found} for part in parts]
        if fit.enough and not set(found.values()) <= self._allowed(fit):
            return finding.SEVERAL_ENTITIES
        named = [groups for groups in in_parts if groups]
        if any(not one & other for one in named for other in named):
            return finding.SEVERAL_ENTITIES
        beside = [_beyond(content_words(part), (*own, *found)) for part in parts]
        secret = self._secret(fit)
        if len(parts) > 1 and any(
            rest and (secret or len(rest) == len(content_words(part)))
            for part, rest in zip(parts, beside, strict=True)
        ):
            return finding.SEVERAL_ATTRIBUTES
        return ""

    def _inexact(self, fit: _Fit, query: str) -> bool:
        """Whether a query contains words that its step does not account for."""
        text, found = self._marked(query, fit.step.clue)
        return bool(_beyond(content_words(text), (*self._vocabulary(fit), *found)))

    def _vocabulary(self, fit: _Fit) -> tuple[str, ...]:
        """The words that a query for a step may have."""
        step, readings = fit.step, self._readings.get(fit.step.index)
        names = [name for names in self._anchors(fit) for name in names]
        options = readings.value_aliases if readings else ()
        told = (fit.statement.attribute, step.question, step.clue)
        return content_words("\n".join((*told, *names, *options, *fit.statement.values)))

    def _allowed(self, fit: _Fit) -> set[Group]:
        """The entities that a query for a step may name: its own and, unless the step is secret, all it builds on."""
        names = [normalise(name) for names in self._anchors(fit) for name in names]
        allowed = {self._names[name] for name in names if name in self._names}
        for name, group in self._names.items():
            if group[0] == fit.step.index or contains_term(fit.step.question, name):
                allowed.add(group)
        return allowed

    def _anchors(self, fit: _Fit) -> tuple[tuple[str, ...], ...]:
        return fit.step.anchors[:1] if self._secret(fit) else fit.step.anchors

    def _secret(self, fit: _Fit) -> bool:
        """Whether an answer to a query for a step may hold the final answer."""
        readings = self._readings.get(fit.step.index)
        return fit.statement.secret or (readings is not None and readings.secret)

    def _marked(self, query: str, clue: str) -> tuple[str, dict[str, Group]]:
        """The query with a mark in place of every name that is not in the clue, and what each mark stands for."""
        text, found = normalise(query), dict[str, Group]()
        for name, start, end in sorted(spans(text, self._longest_first), key=lambda s: -s[1]):
            if not contains_term(clue, name):
                mark = f"named{len(found)}"
                found[mark] = self._names[name]
                text = f"{text[:start]} {mark} {text[end:]}"
        return text, found

    def _answer(self, fit: _Fit, query: str) -> Finding:
        readings = self._readings.get(fit.step.index)
        if readings is None or self._resolved(fit, readings, query):
            return Finding(finding.FOUND, fit.statement)
        named = [c for c in readings.value_aliases if contains_term(query, c)]
        if len(named) == 1:
            return Finding(finding.NOT_ON_RECORD)
        if readings.secret and fit.share < _EXACT:
            return Finding(finding.NOT_ON_RECORD)
        return Finding(finding.FOUND, readings)

    @staticmethod
    def _resolved(fit: _Fit, readings: Statement, query: str) -> bool:
        """Whether a query about an ambiguous step says which reading it means: by the words of the
        clue, or by naming the right candidate and no other.
        """
        named = [c for c in readings.value_aliases if contains_term(query, c)]
        if named == [fit.step.reading]:
            return True
        asked = content_words(fit.step.question)
        parts = sentences(fit.step.clue)
        # In "Not the old one. I mean the second." only the second sentence says what is meant.
        said = [part for part in parts if not is_negated(part)] or parts
        clue = [word for word in content_words("\n".join(said)) if word not in asked]
        return coverage(clue, content_words(query)) >= _CLUE


def _beyond(words: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """The words that do not occur in `known` in any form."""
    every = tuple(words)
    shared = set(shared_words(every, known))
    return tuple(word for word in every if word not in shared)

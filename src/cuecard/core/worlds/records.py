"""The index of a closed world of entities and their attributes (graphs, tables, facts)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cuecard.core.phrases import content_words, coverage, spans
from cuecard.core.text import normalise
from cuecard.core.worlds import finding
from cuecard.core.worlds.finding import Finding, Lead, compound
from cuecard.core.worlds.forms import Form
from cuecard.core.worlds.guard import ValueGuard
from cuecard.core.worlds.headings import Heading, Subject, choose_heading
from cuecard.core.worlds.mentions import Mention, Mentions, blanked
from cuecard.core.worlds.statements import SUBJECT_JOIN, Statement

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
        """Know every heading by its exact wording, as lists show it."""
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

    def related(self, statement: Statement) -> tuple[Lead, ...]:
        """What else is on record about a statement's subject and, if it is an entity, its value."""
        about = [statement.subject, (statement.values,)] if not self.keys else []
        leads: list[Lead] = []
        for parts in about:
            subject = self._subjects.get(tuple(normalise(names[0]) for names in parts))
            if subject and len(subject.headings) > 1:
                leads.append(self._headings(subject, normalise(subject.title)))
        return tuple(leads)

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
        """The statements without a subject that a query names, but none whose words another has."""
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

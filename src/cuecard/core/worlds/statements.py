"""The gold of any family as atomic statements, and the sentences in which a closed world states and parses them."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task, TaskLanguage
from cuecard.core.text import contains_term, one_line


class Step(Frozen):
    """What a query must contain to get a checkpoint's statement.

    `anchors`: names of the targets of earlier steps, the latest first; a question that refers back is only answered
    if the query names one of them. `clue`: what a query about an ambiguous step must also say, unless it names
    `reading`, the candidate that is meant. `lists_readings`: the statement is the list of an ambiguous step's candidates.
    """

    index: int
    question: str
    anchors: tuple[tuple[str, ...], ...] = ()
    clue: str = ""
    reading: str = ""
    lists_readings: bool = False


class Statement(Frozen):
    """One atomic statement.

    `subject`: the parts that a query must name, each a name followed by its aliases; several parts for a row with
    several key columns, none for a fact without an entity. `secret`: it states the final answer or part of it; a facts
    world never gives it, a checkpoint world only to the exact query for that step. `linked`: the value is an entity
    itself, about which there may be statements.
    """

    key: str
    subject: tuple[tuple[str, ...], ...]
    attribute: str
    value: str
    value_aliases: tuple[str, ...] = ()
    stage: int | None = None
    secret: bool = False
    linked: bool = False
    step: Step | None = None

    @property
    def values(self) -> tuple[str, ...]:
        """The value and its aliases, which nothing else in the world may contain."""
        return (self.value, *self.value_aliases)

    @property
    def title(self) -> str:
        """The first name of every part of the subject."""
        return SUBJECT_JOIN.join(names[0] for names in self.subject)


SUBJECT_JOIN = " · "


def compile_statements(task: Task) -> tuple[Statement, ...]:
    """All statements of a task's gold, in its order. Blank cells state nothing."""
    from cuecard.core.families.registry import family_of

    return tuple(family_of(task).statements(task, task.gold))


def public_text(task: Task) -> str:
    """What an agent is told from the start, so that it is no secret.

    Persona lines are left out, since they may name what earlier stages ask for; so is the original question of a
    checkpoint task, which resolves its ambiguities.
    """
    if task.gold.opens_with:
        return task.opening
    return f"{task.opening}\n{task.query}"


def final_answers(task: Task) -> tuple[str, ...]:
    """The final answer and its aliases, without those that the public text names (as "which of the two, A or B?"
    does). Graphs and tables have none.
    """
    if not task.gold.answers:
        return ()
    public = public_text(task)
    return tuple(name for name in task.gold.answers if not contains_term(public, name))


def names_any(text: str, terms: Iterable[str]) -> bool:
    """Whether a text names one of the terms, as it is or with its lines cleaned as in an entry."""
    shown = "\n".join(one_line(line) for line in text.split("\n"))
    return any(contains_term(text, term) or contains_term(shown, term) for term in terms)


class Form(Enum):
    STATEMENT = "statement"
    HEADINGS = "headings"
    DIRECTORY = "directory"
    TOPICS = "topics"
    READINGS = "readings"


@dataclass(frozen=True)
class ParsedStatement:
    """A parsed entry: `value` of a statement, `items` of a list. `subject`: the entity of a statement or of headings, the
    columns of a directory, empty otherwise.
    """

    form: Form
    subject: str = ""
    attribute: str = ""
    value: str = ""
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Wording:
    statement: str
    open: str
    end: str
    titles: dict[Form, str]
    heads: dict[Form, str]


_WORDINGS: dict[TaskLanguage, _Wording] = {
    "en": _Wording(
        statement="{subject} — {attribute}: ",
        open="{attribute}: ",
        end=".",
        titles={
            Form.HEADINGS: "Index: {name}",
            Form.DIRECTORY: "Directory: {name}",
            Form.TOPICS: "Topics",
            Form.READINGS: "{name}",
        },
        heads={
            Form.HEADINGS: "Headings recorded for {name}:",
            Form.DIRECTORY: "Names recorded under {name}:",
            Form.TOPICS: "Topics recorded:",
            Form.READINGS: "{name} could mean:",
        },
    ),
    "zh": _Wording(
        statement="{subject} — {attribute}：",
        open="{attribute}：",
        end="。",
        titles={
            Form.HEADINGS: "索引：{name}",
            Form.DIRECTORY: "名录：{name}",
            Form.TOPICS: "话题索引",
            Form.READINGS: "{name}",
        },
        heads={
            Form.HEADINGS: "{name}词条下的栏目：",
            Form.DIRECTORY: "{name}名录所收：",
            Form.TOPICS: "所收话题：",
            Form.READINGS: "{name}可指：",
        },
    ),
}
_BULLET = "\n- "


def statement_text(
    language: TaskLanguage, subject: str, attribute: str, value: str
) -> tuple[str, str]:
    """Title and content of a statement; without a subject the attribute is the title."""
    wording = _WORDINGS[language]
    subject, attribute, value = one_line(subject), _attribute(attribute), one_line(value)
    head = (wording.statement if subject else wording.open).format(
        subject=subject, attribute=attribute
    )
    return subject or attribute, f"{head}{value}{wording.end}"


def list_text(
    language: TaskLanguage, form: Form, name: str, items: Iterable[str]
) -> tuple[str, str]:
    """Title and content of a list."""
    wording, name = _WORDINGS[language], one_line(name)
    head = wording.heads[form].format(name=name)
    content = "".join((head, *(_BULLET + one_line(item) for item in items)))
    return wording.titles[form].format(name=name), content


@lru_cache(maxsize=16384)
def read_entry(language: TaskLanguage, title: str, content: str) -> ParsedStatement | None:
    """The statement or list in an entry; None for background."""
    wording = _WORDINGS[language]
    if _BULLET in content:
        head, *items = content.split(_BULLET)
        for form in wording.heads:
            name = title
            if form not in (Form.READINGS, Form.TOPICS):
                name = title.removeprefix(wording.titles[form].format(name=""))
            if head == wording.heads[form].format(name=name):
                subject = "" if form in (Form.READINGS, Form.TOPICS) else name
                attribute = title if form is Form.READINGS else ""
                return ParsedStatement(form, subject, attribute, items=tuple(items))
        return None
    if not content.endswith(wording.end):
        return None
    body = content.removesuffix(wording.end)
    if body.startswith(prefix := f"{title} — "):
        separator = wording.open.format(attribute="")
        attribute, found, value = body.removeprefix(prefix).partition(separator)
        return ParsedStatement(Form.STATEMENT, title, attribute, value) if found else None
    prefix = wording.open.format(attribute=title)
    if body.startswith(prefix):
        return ParsedStatement(Form.STATEMENT, "", title, body.removeprefix(prefix))
    return None


def _attribute(attribute: str) -> str:
    """The attribute on one line and without colons, since a colon ends it in a sentence."""
    return one_line(attribute).replace(": ", " - ").replace("：", "－").rstrip(":：")

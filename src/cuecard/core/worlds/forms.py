"""The sentence forms in which a closed world speaks, and their reading.

What an offline agent knows it reads from these visible sentences; there is no other channel. Noise
has none of these forms.

| form | title | content |
| --- | --- | --- |
| statement | Gaggia Classica | Gaggia Classica — introduced in: 1948. |
| statement without a subject | first lever machine | first lever machine: 1948. |
| headings | Index: Gaggia Classica | Headings recorded for Gaggia Classica: a list |
| directory | Directory: State | Names recorded under State: a list |
| topics | Topics | Topics recorded: a list |
| readings | highest mountain | highest mountain could mean: a list |
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import one_line


class Form(Enum):
    STATEMENT = "statement"
    HEADINGS = "headings"
    DIRECTORY = "directory"
    TOPICS = "topics"
    READINGS = "readings"


@dataclass(frozen=True)
class Said:
    """What an entry says: `value` for a statement, `items` for a list. `subject` is the entity of a
    statement or of headings, the columns of a directory, empty otherwise.
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


def say_statement(
    language: TaskLanguage, subject: str, attribute: str, value: str
) -> tuple[str, str]:
    """Title and content of a statement; without a subject the attribute is the title."""
    wording = _WORDINGS[language]
    subject, attribute, value = one_line(subject), _attribute(attribute), one_line(value)
    head = (wording.statement if subject else wording.open).format(
        subject=subject, attribute=attribute
    )
    return subject or attribute, f"{head}{value}{wording.end}"


def say_list(
    language: TaskLanguage, form: Form, name: str, items: Iterable[str]
) -> tuple[str, str]:
    """Title and content of a list."""
    wording, name = _WORDINGS[language], one_line(name)
    head = wording.heads[form].format(name=name)
    content = "".join((head, *(_BULLET + one_line(item) for item in items)))
    return wording.titles[form].format(name=name), content


@lru_cache(maxsize=16384)
def read_entry(language: TaskLanguage, title: str, content: str) -> Said | None:
    """What an entry says, or None for noise."""
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
                return Said(form, subject, attribute, items=tuple(items))
        return None
    if not content.endswith(wording.end):
        return None
    body = content.removesuffix(wording.end)
    if body.startswith(prefix := f"{title} — "):
        separator = wording.open.format(attribute="")
        attribute, found, value = body.removeprefix(prefix).partition(separator)
        return Said(Form.STATEMENT, title, attribute, value) if found else None
    prefix = wording.open.format(attribute=title)
    if body.startswith(prefix):
        return Said(Form.STATEMENT, "", title, body.removeprefix(prefix))
    return None


def _attribute(attribute: str) -> str:
    """The colon ends the attribute, so an attribute has none."""
    return one_line(attribute).replace(": ", " - ").replace("：", "－").rstrip(":：")

"""The form after a live session: its questions, what answers are valid, and which forms are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cuecard.core.config_schema import FormQuestion
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line, storable

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.core.records import SessionForm, TrialRecord
    from cuecard.store.workspace import Workspace

Answers = Mapping[str, int | str]
"""Answers by question key: a number on a scale, one of the options, or text."""

EMBEDDED_FORM: tuple[FormQuestion, ...] = (
    FormQuestion(
        key="satisfaction",
        label=N_("Satisfied with the session"),
        low=N_("not at all"),
        high=N_("completely"),
    ),
    FormQuestion(
        key="understood",
        label=N_("My need was understood"),
        low=N_("not at all"),
        high=N_("completely"),
    ),
    FormQuestion(
        key="usable", label=N_("The result is usable"), low=N_("of no use"), high=N_("as it stands")
    ),
    FormQuestion(
        key="effort", label=N_("Effort it took me"), low=N_("very little"), high=N_("very much")
    ),
    FormQuestion(
        key="naturalness",
        label=N_("It felt like a natural talk"),
        low=N_("not at all"),
        high=N_("completely"),
    ),
    FormQuestion(key="remarks", label=N_("Anything else"), kind="text", required=False),
)
"""Texts are translated where they are shown. Words of the person's own are never asked to be given."""

REMEMBERED = timedelta(days=14)
"""How long after its end a session's form is still asked for: later answers say little of it."""


def questions_of(config: Config) -> tuple[FormQuestion, ...]:
    """The questions of the configuration, or the embedded ones."""
    return config.play.form or EMBEDDED_FORM


def shown(text: str) -> str:
    """A question's text in the person's language, as far as there is a translation."""
    return _(text) if text else ""


def missing(questions: Sequence[FormQuestion], answers: Answers) -> tuple[FormQuestion, ...]:
    """The questions that must be answered and are not."""
    return tuple(q for q in questions if q.required and not _given(answers.get(q.key)))


def check_answers(questions: Sequence[FormQuestion], answers: Answers) -> dict[str, int | str]:
    """The answers as they are saved: to these questions, in order, text without surrounding blanks.

    Raises `CuecardError` that says what is missing or invalid.
    """
    if left := missing(questions, answers):
        labels = ", ".join(one_line(shown(question.label)) for question in left)
        raise CuecardError(_("This form is not complete"), _("missing: {what}").format(what=labels))
    kept: dict[str, int | str] = {}
    for question in questions:
        value = answers.get(question.key)
        if not _given(value) or value is None:
            continue
        _check(question, value)
        kept[question.key] = storable(value).strip() if isinstance(value, str) else value
    return kept


def keep_form(
    workspace: Workspace,
    trial_id: int,
    person: str,
    questions: Sequence[FormQuestion],
    answers: Answers,
) -> SessionForm:
    """Check and save a person's answers on a session. Raises `CuecardError`, `NotFound`."""
    kept = check_answers(questions, answers)
    return workspace.session_forms.add(trial_id, person, questions, kept)


def decline_form(
    workspace: Workspace, trial_id: int, person: str, questions: Sequence[FormQuestion]
) -> SessionForm:
    """Save that the person prefers not to answer: a form without answers, so that they are not asked again. Raises
    `NotFound`.
    """
    return workspace.session_forms.add(trial_id, person, questions, {})


def forms_missing(
    workspace: Workspace, person: str, now: datetime | None = None
) -> list[TrialRecord]:
    """The sessions that this person played to an end without a form yet, newest first. After `REMEMBERED` they are not
    asked any more.
    """
    since = (now or datetime.now(UTC)) - REMEMBERED
    return [workspace.runs.trial(id_) for id_ in workspace.session_forms.missing(person, since)]


def _given(value: int | str | None) -> bool:
    return value is not None and (not isinstance(value, str) or bool(value.strip()))


def _check(question: FormQuestion, value: int | str) -> None:
    label = one_line(shown(question.label))
    title = _("This is no answer to {question}").format(question=label)
    match question.kind:
        case "scale":
            least, most = question.lowest, question.highest
            # A truth value is a whole number to Python.
            if type(value) is not int or not least <= value <= most:
                what = _("a whole number from {least} to {most}").format(least=least, most=most)
                raise CuecardError(title, what)
        case "choice":
            if value not in question.options:
                options = ", ".join(one_line(option) for option in question.options)
                raise CuecardError(title, _("one of: {options}").format(options=options))
        case "text":
            if not isinstance(value, str):
                raise CuecardError(title, _("words"))

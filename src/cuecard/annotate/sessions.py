"""Live sessions: the form after one, its questions, valid answers and missing forms; and what sessions export."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from cuecard.core.engine.events import (
    AgentSpoke,
    Event,
    Marked,
    Termination,
    TrialRetried,
    UserSpoke,
    effective_log,
)
from cuecard.core.engine.messages import PartTaken, PlayerRef, Remark, UserReply
from cuecard.core.errors import CuecardError
from cuecard.core.evaluation.decisions import turn_items
from cuecard.core.evaluation.plans import settings_of
from cuecard.core.i18n import N_, _, active, listed
from cuecard.core.records import SessionForm
from cuecard.core.tables.texts import csv_text, guarded
from cuecard.core.tasks.base import FormQuestion, Frozen
from cuecard.core.tasks.models import Family, TaskLanguage
from cuecard.core.text import one_line, storable

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.core.records import RunRecord, SessionForm, TrialRecord
    from cuecard.store.workspace import Sight, Workspace


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
        labels = listed(one_line(shown(question.label)) for question in left)
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
    answers: Answers | None,
    *,
    at: datetime | None = None,
) -> SessionForm:
    """Check and save a person's answers on a session; None if they would rather not answer: a form without answers, so that
    they are not asked again. Raises `CuecardError`, `NotFound`.
    """
    kept = {} if answers is None else check_answers(questions, answers)
    return workspace.session_forms.add(trial_id, person, questions, kept, at=at)


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
                options = listed(one_line(option) for option in question.options)
                raise CuecardError(title, _("one of: {options}").format(options=options))
        case "text":
            if not isinstance(value, str):
                raise CuecardError(title, _("words"))


class SessionTurn(Frozen):
    """The person's words in a turn (from 0), and their decision on the agent's last reply."""

    turn: int
    at: datetime
    reply: UserReply


class SessionNote(Frozen):
    """A note: the turn (from 0) in which it was made, and by whom."""

    turn: int
    at: datetime
    about: Literal["agent", "task", "other"]
    text: str
    by: str


class SessionReport(Frozen):
    """One live session. `turns`: the agent's replies; `seconds`: its duration, with pauses between events counted as
    five minutes at most; `taken_back`: how often something was taken back or retried. `agent_person`: who played the
    agent, if a person did. `said`: without what was taken back; notes made there are kept. `forms`: the newest of each
    person, without answers if they declined.
    """

    trial_id: int
    uid: str
    run_id: int
    task_id: str
    title: str
    revision: int
    family: Family
    language: TaskLanguage
    person: str
    agent: PlayerRef
    agent_person: str = ""
    world: PlayerRef
    judges: tuple[str, ...]
    shadows: tuple[str, ...]
    termination: Termination | None
    begun: datetime
    ended: datetime | None
    turns: int
    seconds: float
    taken_back: int
    said: tuple[SessionTurn, ...]
    notes: tuple[SessionNote, ...]
    forms: tuple[SessionForm, ...]


def session_reports(
    workspace: Workspace, run_ids: Collection[int] | None = None, sight: Sight | None = None
) -> list[SessionReport]:
    """All sessions, or those of these runs, in the order of their beginnings; runs that are no sessions have none.
    Raises `NotFound` for an unknown run. `sight`: of the reader; a session of which they still have to label something
    comes without decisions, and with only their own notes.
    """
    runs = (
        [workspace.runs.get(run_id) for run_id in dict.fromkeys(run_ids)]
        if run_ids
        else workspace.runs.all(kind="play")
    )
    played = [
        (run, trial)
        for run in runs
        if run.kind == "play"
        for trial in workspace.runs.trials(run.id)
    ]
    forms: dict[int, list[SessionForm]] = {}
    for form in workspace.session_forms.newest([trial.id for _run, trial in played]):
        forms.setdefault(form.trial_id, []).append(form)
    ordered = sorted(played, key=lambda found: found[1].id)
    reports = [_report(workspace, run, trial, forms.get(trial.id, ())) for run, trial in ordered]
    return [_as_seen(report, sight) for report in reports] if sight else reports


def _as_seen(report: SessionReport, sight: Sight) -> SessionReport:
    if sight.may_open(report.trial_id):
        for item in turn_items((turn.turn, turn.reply) for turn in report.said):
            sight.may_tell(report.trial_id, item)
        return report
    said = tuple(
        turn.model_copy(update={"reply": UserReply(text=turn.reply.text)}) for turn in report.said
    )
    notes = tuple(note for note in report.notes if note.by == sight.person)
    return report.model_copy(update={"said": said, "notes": notes})


_COLUMNS = (
    *("trial", "uid", "run", "task", "revision", "family", "language", "person"),
    *("agent", "agent_kind", "agent_model", "agent_person", "world", "termination"),
    *(
        "begun",
        "ended",
        "turns",
        "seconds",
        "taken_back",
        "notes",
        "form_by",
        "form_at",
        "declined",
    ),
)


def sessions_csv(reports: Iterable[SessionReport]) -> str:
    """CSV with a line for each form, and one for each session without any; questions' keys are columns. Cells are safe
    in spreadsheets.
    """
    reports = list(reports)
    asked = (q.key for r in reports for form in r.forms for q in form.questions)
    keys = list(dict.fromkeys(asked))
    lines: list[list[str]] = []
    for report in reports:
        for form in report.forms or (None,):
            answers = form.answers if form else {}
            told = (*_told(report, form), *(answers.get(key, "") for key in keys))
            lines.append([guarded(str(cell)) for cell in told])
    # A question may be called as a column is.
    names = [f"answer_{key}" if key in _COLUMNS else key for key in keys]
    return csv_text((*_COLUMNS, *names), lines)


def _told(report: SessionReport, form: SessionForm | None) -> Sequence[object]:
    return (
        *(report.trial_id, report.uid, report.run_id, report.task_id, report.revision),
        *(report.family, report.language, report.person),
        *(report.agent.name, report.agent.kind, report.agent.model, report.agent_person),
        *(report.world.name, report.termination.value if report.termination else ""),
        *(report.begun.isoformat(), report.ended.isoformat() if report.ended else ""),
        *(report.turns, round(report.seconds), report.taken_back, len(report.notes)),
        *((form.person, form.at.isoformat()) if form else ("", "")),
        ("" if form is None else "no" if form.answers else "yes"),
    )


def _report(
    workspace: Workspace, run: RunRecord, trial: TrialRecord, forms: Sequence[SessionForm]
) -> SessionReport:
    log = workspace.runs.log(trial.id)
    effective = effective_log(log)
    settings = settings_of(run)
    pauses = (later.at - earlier.at for earlier, later in pairwise(log))
    return SessionReport.from_fields(
        trial,
        trial_id=trial.id,
        run_id=run.id,
        language=workspace.tasks.revision(trial.task_id, trial.revision).task.language,
        person=trial.user.name,
        agent_person=_agent_person(effective),
        judges=settings.judges,
        shadows=settings.shadows,
        begun=trial.created_at,
        ended=trial.ended_at,
        turns=sum(isinstance(event.body, AgentSpoke) for event in effective),
        seconds=sum(map(active, pauses), timedelta()).total_seconds(),
        taken_back=sum(_takes_back(event) for event in log),
        said=tuple(
            SessionTurn(turn=event.body.turn, at=event.at, reply=event.body.reply)
            for event in effective
            if isinstance(event.body, UserSpoke)
        ),
        notes=tuple(_notes(log)),
        forms=tuple(forms),
    )


def _agent_person(effective: Iterable[Event]) -> str:
    marks = [event.body.mark for event in effective if isinstance(event.body, Marked)]
    return next((mark.person for mark in marks if isinstance(mark, PartTaken)), "")


def _takes_back(event: Event) -> bool:
    return isinstance(event.body, TrialRetried) and event.body.back_to is not None


def _notes(log: Iterable[Event]) -> Iterable[SessionNote]:
    for event in log:
        body = event.body
        if isinstance(body, Marked) and isinstance(body.mark, Remark):
            mark = body.mark
            yield SessionNote(
                turn=body.turn, at=event.at, about=mark.about, text=mark.text, by=mark.by
            )

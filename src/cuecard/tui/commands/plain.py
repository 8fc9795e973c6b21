"""`cuecard label --plain` and `cuecard review --plain`: the work of these screens line by line, for screen readers, slow
links and scripts. The services are the screens' own: order, blindness, time taken, leases and unfinished work.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, plural
from cuecard.core.secrets import public_form
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import console, note, say
from cuecard.tui.commands.verb import Help, Result, verb

if TYPE_CHECKING:
    from cuecard.annotate.labelling.session import LabelSession
    from cuecard.annotate.labelling.views import LabelView
    from cuecard.core.contributions import ReviewDecision
    from cuecard.tui.present.entries import Paragraph

Plain = Annotated[bool, Help(N_("Line by line, without a full screen"), "--plain")]
_ALWAYS = (
    ("z", N_("take back the last answer")),
    ("q", N_("leave; everything is kept")),
    ("?", N_("this help")),
)


def _asked(prompt: str) -> tuple[str, str] | None:
    """The next line as its first word and the rest; None where the input ends."""
    _tell(prompt)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        return None
    word, _blank, rest = line.strip().partition(" ")
    return word, rest.strip()


def _tell(text: str) -> None:
    """Print lines, wrapped as their script is; what a line is indented by, its next ones are too."""
    from cuecard.tui.present.entries import wrap

    for line in text.splitlines() or [""]:
        before = " " * (len(line) - len(line.lstrip(" ")))
        for part in wrap(line.lstrip(" "), console().width - len(before), fold=False):
            say(before + part)


def _read(paragraphs: Sequence[Paragraph]) -> None:
    for paragraph in paragraphs:
        for line in paragraph.text.splitlines():
            _tell(" " * paragraph.indent + line)


def _help(keys: Sequence[tuple[str, str]]) -> None:
    for key, text in (*keys, *_ALWAYS):
        _tell(f"  {key}  {_(text)}")


@verb("cuecard label --plain --run 3")
def label(
    ours: Context,
    *,
    plain: Plain = False,
    run: Annotated[int | None, N_("Only items of this run")] = None,
    set_: Annotated[int | None, Help(N_("The items of this labelling set"), "--set")] = None,
    reveal_after: Annotated[bool, N_("Show what was decided after each label")] = False,
) -> Result:
    from cuecard.annotate.labelling.session import LabelSession
    from cuecard.store import workspace_url
    from cuecard.tui.present.drafts import FileDrafts

    if not plain:
        raise _of_the_app("label")
    if run is not None and set_ is not None:
        raise typer.BadParameter(_("name a run or a set, not both"), param_hint="--set")
    workspace, person = ours.workspace, ours.person
    drafts = FileDrafts(public_form(workspace_url(ours.db)), person)
    if set_ is not None:
        session = LabelSession.over_set(workspace, person, set_, drafts=drafts)
    else:
        if run is not None:
            workspace.runs.get(run)
        session = LabelSession(workspace, person, run, drafts=drafts)
    Labelling(session, reveal_after=reveal_after).walk()
    return Result("")


def _of_the_app(verb: str) -> typer.BadParameter:
    text = _("the screen for it is in the app (`cuecard`); here it is `cuecard {verb} --plain`")
    return typer.BadParameter(text.format(verb=verb), param_hint="--plain")


_LABEL_KEYS = (
    ("s", N_("leave it for later")),
    ("b", N_("to the item before")),
    ("c", N_("with words behind it: a comment that goes with the label")),
    ("f", N_("flag the gold as wrong, or take it back")),
    ("r", N_("what was decided, once it is labelled")),
    ("m", N_("everything that the agent handed in")),
    ("g", N_("the gold around this item")),
    ("t", N_("the dialogue")),
)


class Labelling:
    """A walk through items; each line that is read answers, or asks for more."""

    def __init__(self, session: LabelSession, *, reveal_after: bool) -> None:
        self._session, self._reveal_after = session, reveal_after
        self._answered: list[int] = []
        """The positions at which answers were given, the last one last."""

    def walk(self) -> None:
        session, shown = self._session, -1
        while (view := session.current) is not None:
            if shown != session.position:
                self._show(view)
                shown = session.position
            asked = _asked(
                _("y, n or u? (? helps)") if not _statuses(view) else _("Which status? (? helps)")
            )
            if asked in (None, ("q", "")):
                break
            session.touch()
            try:
                if self._obey(view, *asked):
                    shown = -1
            except CuecardError as error:
                note(f"✗ {error}")
        if session.current is None:
            _tell(_("Nothing is left to label here."))
        _tell(plural("{n} item labelled now.", "{n} items labelled now.", session.labelled))

    def _show(self, view: LabelView) -> None:
        from cuecard.annotate.labelling.views import FEW, Pace
        from cuecard.tui.present.labelling import (
            answers,
            evidence_paragraphs,
            gold_paragraphs,
            mine_paragraphs,
            progress_line,
            question,
        )

        session, kind = self._session, view.gold.item.kind
        _tell("")
        _tell(f"[{progress_line(session.position, session.total, session.labelled, Pace())}]")
        _tell(view.title)
        _read(gold_paragraphs(view))
        _read(evidence_paragraphs(view, FEW, all_by="m"))
        _read(mine_paragraphs(view))
        for line in (question(kind), *answers(kind)):
            _tell(line)

    def _obey(self, view: LabelView, word: str, rest: str) -> bool:
        """Do what a line says. Gives whether the item is to be read out again."""
        from cuecard.core.label_records import LabelValue
        from cuecard.tui.present.labelling import STATUS_KEYS, gold_entries, predicted_entries
        from cuecard.tui.present.transcript import entries_of

        session = self._session
        values: dict[str, Any] = (
            dict(STATUS_KEYS) if _statuses(view) else {"y": LabelValue.YES, "n": LabelValue.NO}
        )
        values["u"] = LabelValue.UNSURE
        match word:
            case _ if word in values:
                return self._label(values[word], rest)
            case "s" | "":
                session.next()
            case "b":
                session.back()
            case "z":
                if not self._answered:
                    note(_("Nothing was answered yet."))
                    return False
                at = self._answered.pop()
                while session.position > at:
                    session.back()
                _tell(_("Answer this again; what you said before stays in the history."))
                return True
            case "c":
                session.note(rest)
                _tell(_("Noted."))
            case "f":
                flagged = view.mine.gold_wrong if view.mine else view.draft.gold_wrong
                session.note(gold_wrong=not flagged)
                _tell(_("⚑ gold is wrong") if not flagged else _("The flag is taken back."))
            case "r":
                self._reveal()
            case "m":
                _entries(predicted_entries(session.all_predicted()))
            case "g":
                _entries(gold_entries(session.gold_around()))
            case "t":
                transcript = session.transcript()
                _entries(entries_of(transcript.events, None, transcript.left_out))
            case _:
                _help(_LABEL_KEYS)
        return False

    def _label(self, value: Any, comment: str) -> bool:
        self._session.label(value, comment or None)
        self._answered.append(self._session.position)
        if self._reveal_after:
            self._reveal()
        self._session.next()
        return False

    def _reveal(self) -> None:
        from cuecard.tui.present.labelling import revealed_paragraphs

        revealed = self._session.reveal()
        if view := self._session.current:
            _read(revealed_paragraphs(view, revealed))


def _statuses(view: LabelView) -> bool:
    from cuecard.core.verdicts import ItemKind

    return view.gold.item.kind is ItemKind.STATUS


def _entries(entries: Sequence[Any]) -> None:
    for entry in entries:
        _tell("".join(piece.text for piece in entry.head))
        _read(entry.body)


_REVIEW_KEYS = (
    ("d", N_("the task again")),
    ("c", N_("with words behind it: a comment on what is asked about")),
    ("k", N_("another question first; this one comes again")),
)


def review_plain(ours: Context, task_id: str) -> None:
    """Review a task, the next of the queue by default."""
    from cuecard.annotate.review.assignment import next_line, queue_for, renew, take

    workspace, person, protocol = ours.workspace, ours.person, ours.protocol
    if not task_id:
        line = next_line(queue_for(workspace, person, protocol, datetime.now(UTC)))
        if line is None:
            note(_("No task waits for your review."))
            return
        task_id = line.task.id
    if not renew(workspace, task_id, person, protocol):
        take(workspace, task_id, person, protocol)
    Reviewing(ours, task_id).walk()


class Reviewing:
    """One review: marks on the spot check, ratings, why they fail, the decision; each question comes from what is missing."""

    def __init__(self, ours: Context, task_id: str) -> None:
        from cuecard.annotate.authoring.session import WorkedTime
        from cuecard.annotate.review.reviewing import review_context
        from cuecard.tui.present.review import ReviewForm
        from cuecard.tui.present.review_document import ReviewView

        self._workspace, self._protocol = ours.workspace, ours.protocol
        context = review_context(ours.workspace, task_id, ours.person, ours.protocol)
        self._form = ReviewForm(task_id, context.sheet.revision, ours.person, context.sample)
        self._form.load(self._workspace.review_forms.get(task_id, self._form.revision, ours.person))
        self._view = ReviewView(context, self._form)
        self._dimensions = context.sheet.dimensions
        self._worked = WorkedTime()
        self._passed: set[str] = set()

    def walk(self) -> None:
        from cuecard.tui.present.review import progress

        self._document()
        while question := self._question():
            _tell("")
            _tell(f"[{progress(self._form, self._dimensions, plain=True)}]")
            self._work()
            asked = _asked(question.text)
            if asked in (None, ("q", "")):
                self._form.seconds += self._worked.rest()
                self._keep()
                _tell(_("Kept as it is; the same again goes on here."))
                return
            self._work()
            try:
                if self._obey(question, *asked):
                    return
            except CuecardError as error:
                note(f"✗ {error}")

    def _obey(self, question: Question, word: str, rest: str) -> bool:
        """Do what a line says. Gives whether the review is handed in."""
        match word:
            case "d" if not rest:
                self._document()
            case "k" if not rest:
                self._passed.add(question.name)
            case "c" if rest:
                self._form.comment(question.place, rest, question.dimension)
            case "z" if not rest:
                if self._form.undo():
                    self._passed.clear()
                    self._keep()
                else:
                    note(_("Nothing was answered yet."))
            case "?" | "":
                _help((*question.keys, *_REVIEW_KEYS))
            case _ if question.free:
                self._form.comment(question.place, f"{word} {rest}".strip(), question.dimension)
            case _ if any(word == key for key, _text in question.keys):
                if question.act(word, rest):
                    return True
            case _:
                _help((*question.keys, *_REVIEW_KEYS))
        if self._form.step():
            self._keep()
        return False

    def _question(self) -> Question | None:
        """What is asked next: the first that is missing and was not put off."""
        from cuecard.tui.present.labels import CHECK, RATING

        form, view = self._form, self._view
        marks = [
            (key, CHECK[mark][2]) for key, mark in (("r", "right"), ("w", "wrong"), ("u", "unsure"))
        ]
        ratings = [
            (key, RATING[r][2]) for key, r in (("p", "pass"), ("f", "fail"), ("x", "cannot_judge"))
        ]
        found: list[Question] = []
        for place in form.left_to_mark:
            texts = [_text(row.entry) for row in view.rows if row.item == place]
            text = _("Spot check: {place}\n{text}\nr right, w wrong, u unsure?")
            asked = text.format(place=view.words(place), text="\n".join(texts))
            found.append(Question(f"mark {place}", asked, place, "gold", marks, self._mark(place)))
        for place in form.unexplained_wrong:
            asked = _("What is wrong at {place}?").format(place=view.words(place))
            found.append(Question(f"wrong {place}", asked, place, "", free=True))
        for each in self._dimensions:
            name = _(each.label)
            if each.key not in form.ratings:
                asked = _("{name}: p pass, f fail, x cannot judge?").format(name=name)
                found.append(
                    Question(f"rate {each.key}", asked, "", each.key, ratings, self._rate(each.key))
                )
            elif form.ratings[each.key] == "fail" and not form.explained(each.key):
                asked = _("Why does “{name}” fail?").format(name=name)
                found.append(Question(f"why {each.key}", asked, "", each.key, free=True))
        left = [question for question in found if question.name not in self._passed]
        if found and not left:
            self._passed.clear()
            return found[0]
        if left:
            return left[0]
        decisions = [("a", N_("hand in: approve")), ("e", N_("hand in: return to the author"))]
        asked = _("Decide: a approves, e returns it to the author; c with words comments first.")
        return Question("decide", asked, "", "", decisions, self._decide)

    def _mark(self, place: str) -> Callable[[str, str], bool]:
        from cuecard.core.contributions import CheckMark

        marks: dict[str, CheckMark] = {"r": "right", "w": "wrong", "u": "unsure"}

        def act(word: str, rest: str) -> bool:
            self._form.mark(place, marks[word])
            if rest:
                self._form.comment(place, rest, "")
            return False

        return act

    def _rate(self, dimension: str) -> Callable[[str, str], bool]:
        from cuecard.annotate.review.reviewing import GOLD
        from cuecard.core.contributions import Rating
        from cuecard.tui.present.review import obstacle_to_gold

        ratings: dict[str, Rating] = {"p": "pass", "f": "fail", "x": "cannot_judge"}

        def act(word: str, rest: str) -> bool:
            if dimension == GOLD and word == "p" and (need := obstacle_to_gold(self._form)):
                note(need.said)
                self._passed.clear()
                return False
            self._form.ratings[dimension] = ratings[word]
            if rest:
                self._form.comment("", rest, dimension)
            return False

        return act

    def _decide(self, word: str, rest: str) -> bool:
        from cuecard.annotate.review.reviewing import review
        from cuecard.core.contributions import ReviewDecision, TaskState
        from cuecard.tui.present.review import next_need

        decision: ReviewDecision = ReviewDecision.APPROVE if word == "a" else ReviewDecision.RETURN
        if rest:
            self._form.comment("", rest, "")
        if need := next_need(self._form, self._dimensions, decision):
            note(need.said)
            return False
        sure = _asked(_("A review cannot be changed once it is handed in. Hand it in? yes or no"))
        if sure is None or sure[0].casefold() not in ("yes", "y", _("yes")):
            return False
        self._form.seconds += self._worked.rest()
        state = review(self._workspace, self._form.to_review(decision), protocol=self._protocol)
        said = {
            TaskState.APPROVED: _("The reviews are in: the task is approved."),
            TaskState.RETURNED: _("The reviews are in: the task goes back to its author."),
        }
        _tell(said.get(state, _("Handed in. It waits for the other review.")))
        return True

    def _document(self) -> None:
        self._view.refresh()
        _tell(self._view.title)
        for row in self._view.rows:
            _tell(_text(row.entry))

    def _keep(self) -> None:
        from cuecard.annotate.review.assignment import renew

        form = self._form
        self._workspace.review_forms.keep(
            form.task_id, form.revision, form.reviewer, form.to_data()
        )
        renew(self._workspace, form.task_id, form.reviewer, self._protocol)

    def _work(self) -> None:
        self._form.seconds += self._worked.key(time.monotonic())


class Question:
    """What is asked: about a place and a dimension, answered by `keys`, or freely by a comment there."""

    def __init__(
        self,
        name: str,
        text: str,
        place: str,
        dimension: str,
        keys: Sequence[tuple[str, str]] = (),
        act: Callable[[str, str], bool] = lambda _word, _rest: False,
        *,
        free: bool = False,
    ) -> None:
        self.name, self.text, self.place, self.dimension = name, text, place, dimension
        self.keys, self.act, self.free = keys, act, free


def _text(entry: Any) -> str:
    def lines() -> Iterator[str]:
        yield "".join(piece.text for piece in entry.head)
        for paragraph in (*entry.body, *entry.fold):
            yield indent(paragraph.text, " " * paragraph.indent)

    return "\n".join(filter(str.strip, lines()))

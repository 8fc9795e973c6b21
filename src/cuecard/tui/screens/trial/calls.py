"""Model calls of a trial, or of a judge at it: what was sent, as it was sent, and what came back."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult

from cuecard.annotate.labelling.views import without_decisions
from cuecard.annotate.results.trial_record import open_trial
from cuecard.core.engine.events import Event, ModelReplied
from cuecard.core.engine.messages import ModelReply
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _
from cuecard.core.secrets import scrub
from cuecard.store.workspace import Workspace
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.kit.lists import ListView
from cuecard.tui.present.entries import Entry, Paragraph, Piece
from cuecard.tui.present.keyboard import error_lines
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.nav import EmptyState

_PAUSE = 0.2
"""Seconds that the cursor stays on a call before its request is made again."""


@dataclass(frozen=True)
class ModelCall:
    """`place`: its key; `seq`: its event, None for a judge's call."""

    place: str
    seq: int | None
    reply: ModelReply
    at: str = ""


class CallsScreen(ListScreen[ModelCall]):
    """Takes a trial's id, and a judge's name for the judge's calls, or the event near which it opens."""

    LIVE = TELLS = False
    NEED_ROW = ("copy", "read_on")
    DEFAULT_CSS = """
    CallsScreen {
        #list { height: 1fr; }
        #call { height: 2fr; border-top: solid $foreground 20%; }
    }
    """
    BINDINGS = keys(
        Key("calls.read", Means.OPEN, "read_on", N_("Read"), N_("Go into the request and the reply")),
        Key("calls.copy", Means.COPY, "copy", N_("Copy"), N_("Copy the request and the reply as JSON")),
        Key("calls.back", Means.UP_ONE, "leave", N_("Back"), N_("Back to where I came from")),
    )  # fmt: skip

    def __init__(self, trial_id: int, judge: str = "", near: int | None = None) -> None:
        super().__init__()
        self._trial_id, self._judge, self._near = trial_id, judge, near
        self._sent: dict[str, str] = {}

    def columns(self) -> Sequence[Column[ModelCall]]:
        return (
            Column(N_("Call"), lambda call: call.place, grow=1, least=14),
            Column(N_("Model"), lambda call: call.reply.model, grow=1, spare=1),
            Column(N_("ms"), lambda call: f"{call.reply.latency_ms:,}", right=True, sort=lambda call: call.reply.latency_ms),
            Column(N_("Prompt tokens"), lambda call: f"{call.reply.usage.prompt:,}", right=True, spare=2, sort=lambda call: call.reply.usage.prompt),
            Column(N_("Completion tokens"), lambda call: f"{call.reply.usage.completion:,}", right=True, spare=3, sort=lambda call: call.reply.usage.completion),
            Column(N_("Attempts"), lambda call: str(call.reply.attempts), right=True, spare=4),
            Column(N_("Request id"), lambda call: call.reply.request_id, grow=1, spare=5),
        )  # fmt: skip

    def key(self, row: ModelCall) -> str:
        return f"{row.place}/{row.seq}"

    def compose_list(self) -> ComposeResult:
        yield ListView(self.columns(), self.key, tells=False, id="list")
        yield EntryList(id="call")
        yield self.empty()

    def empty(self) -> EmptyState:
        told = _("Calls of models are listed here once they were answered. Offline players, people and other programs make none that are recorded.")  # fmt: skip
        return EmptyState(_("No call is recorded"), told, ("esc", _("Back")))

    def title_words(self) -> str:
        return _("Model calls") + (f" · {self._judge}" if self._judge else "")

    async def read(self) -> Sequence[ModelCall]:
        trial_id, judge, person = self._trial_id, self._judge, self.person
        return await self.services.ask(lambda ws: _calls(ws, trial_id, judge, person))

    def show(self, rows: Sequence[ModelCall], to: object = None) -> None:
        if not self._was_read and rows and self._near is not None:
            near = self._near
            to = self.key(min(rows, key=lambda call: abs((call.seq or 0) - near)))
        super().show(rows, to)

    def tell(self) -> None:
        super().tell()
        row, pane = self.row, self.query_one("#call", EntryList)
        pane.display = row is not None
        if row is not None:
            pane.load(self._entries(row))
            pane.scroll_home(animate=False)
            if self.key(row) not in self._sent:
                self.make_request(row)

    def _entries(self, row: ModelCall) -> list[Entry]:
        reply, sent = row.reply, self._sent.get(self.key(row), _("…"))
        facts = [
            row.at,
            _("{n} ms").format(n=f"{reply.latency_ms:,}"),
            _("request id {id}").format(id=reply.request_id or "–"),
        ]
        made = _("Request, made again from the record")
        return [
            _entry(_("Reply"), " · ".join(filter(None, facts)), _reply_json(reply)),
            _entry(made, "", sent),
        ]

    @guarded("request", background=True)
    async def make_request(self, row: ModelCall) -> None:
        from cuecard.core.evaluation.call_requests import judge_request, request_of

        await asyncio.sleep(_PAUSE)
        workspace = await self.services.ask(lambda ws: ws)
        trial_id, judge = self._trial_id, self._judge
        try:
            config = await self.services.config()
            asking = (
                request_of(workspace, config, trial_id, row.seq)
                if row.seq is not None
                else judge_request(workspace, config, trial_id, judge, row.place)
            )
            sent = await self.services.engine.perform(asking)
            text = f"POST {sent.url}\n{_json(sent.body)}"
        except CuecardError as error:
            text = "\n".join(error_lines(error))
        self._sent[self.key(row)] = text
        if self.row is not None and self.key(self.row) == self.key(row):
            self.query_one("#call", EntryList).load(self._entries(row))

    def action_read_on(self) -> None:
        self.query_one("#call", EntryList).focus()

    def action_leave(self) -> None:
        """Out of the request and the reply, then out of the screen."""
        if self.query_one("#call", EntryList).has_focus:
            self.view.focus()
        else:
            super().action_leave()

    def action_copy(self) -> None:
        if (row := self.row) is not None:
            said = f"{self._sent.get(self.key(row), '')}\n\n{_reply_json(row.reply)}\n"
            self.app.copy_to_clipboard(said)
            self.cue_app.tell(_("Copied."))


def _calls(workspace: Workspace, trial_id: int, judge: str, person: str) -> list[ModelCall]:
    """In the order of the record; those of a user part whose decisions are still to be labelled stay hidden."""
    from cuecard.core.evaluation.call_requests import judge_calls

    opened = open_trial(workspace, trial_id, person, 1)
    if judge:
        hidden = opened.hides_verdicts
        calls = {} if hidden else judge_calls(workspace, trial_id, judge)
        return [ModelCall(place, None, reply) for place, reply in calls.items()]
    log: Sequence[Event] = workspace.runs.log(trial_id)
    log = without_decisions(log) if opened.hides_decisions else log
    return [
        ModelCall(event.body.key, event.seq, event.body.reply, f"{event.at:%H:%M:%S}")
        for event in log
        if isinstance(event.body, ModelReplied)
    ]


def _entry(title: str, facts: str, text: str) -> Entry:
    lines = tuple(Paragraph(line, "plain", 2) for line in text.split("\n"))
    return Entry("work", 0, (Piece(title, "strong"), Piece(f"  {facts}", "muted")), lines)


def _reply_json(reply: ModelReply) -> str:
    return scrub(_json(reply.model_dump(mode="json", exclude_defaults=True)))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)

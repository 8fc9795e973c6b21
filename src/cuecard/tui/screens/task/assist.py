"""Drafts by a model in the editor: asking what to draft, the draft under way, and applying the accepted items."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any
from weakref import WeakKeyDictionary

from pydantic import Field
from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Button, Label, ProgressBar

from cuecard.annotate.assist.drafting import Drafting
from cuecard.annotate.assist.proposals import Pending, PendingFile, Proposal, apply, origin_of
from cuecard.annotate.assist.translation import translated, translated_id
from cuecard.annotate.authoring.session import begin_task
from cuecard.annotate.authoring.task_data import parse_place
from cuecard.core.errors import Conflict
from cuecard.core.i18n import N_, NP_, _, ngettext, pgettext
from cuecard.core.tasks.base import Frozen, OriginKind
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog, guarded
from cuecard.tui.drawing import Horizontal, Vertical
from cuecard.tui.kit.forms import AnswerDialog, FormPane
from cuecard.tui.kit.rows import Kind, Row
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.proposals import KIND_LABEL, ProposalForm, Wanted, cost_of
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.screens.task.proposal import Decided, ProposalScreen, RawDialog
from cuecard.tui.widgets.text import PlainText

if TYPE_CHECKING:
    from cuecard.core.config_schema import Config
    from cuecard.tui.screens.task.screen import TaskScreen


class NoModelDialog(CuecardDialog[None]):
    """Says how to set a model up."""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = _("Help from a model")
            yield PlainText(
                _(
                    "No model is set up, so this is off and nothing leaves this machine.\n"
                    "Name one under `models:` in cuecard.yaml; `cuecard init` writes an example with a"
                    " local server and a hosted one."
                )
            )
            with Horizontal(classes="buttons"):
                yield Button(_("Close"), id="close", compact=True)
        yield KeyBar()

    def on_button_pressed(self) -> None:
        self.dismiss(None)


def _for(kind: OriginKind, form: Kind | None = None) -> Row:
    return Row(form, shown=lambda values: values["kind"] == kind)


class _Draft(Frozen):
    kind: Annotated[OriginKind, Field(title=NP_("verb", "Draft"))]
    model: Annotated[str, Field(title=N_("Model"))]
    url: Annotated[str, Field(title=N_("Address"), description="https://…"), _for("triples")] = ""
    wanted: Annotated[
        str, Field(title=N_("Look for"), description=N_("optional")), _for("triples")
    ] = ""
    text: Annotated[str, Field(title=N_("Text of the page")), _for("triples", "text")] = ""
    anew: Annotated[bool, Field(title=N_("Begin anew")), _for("persona")] = False
    answer: Annotated[
        str,
        Field(title=N_("Its answer"), description=N_("if you know it")),
        _for("checkpoints"),
    ]
    remarks: Annotated[
        str, Field(title=N_("Remarks"), description=N_("optional")), _for("checkpoints")
    ] = ""
    question: Annotated[str, Field(title=N_("Question")), _for("checkpoints", "text")]
    topic: Annotated[str, Field(title=N_("About"), description=N_("optional")), _for("facts")] = ""
    pairs: Annotated[str, Field(title=N_("Pairs")), _for("facts", "text")] = ""
    id: Annotated[str, Field(title=N_("New id")), _for("translation")]


class AssistDialog(AnswerDialog[_Draft, Wanted]):
    """Asks what to draft. `typed`: input by field, kept between calls, so that a pasted page is there again after an
    error.
    """

    def __init__(self, asking: ProposalForm, typed: dict[str, Any]) -> None:
        kinds, models = asking.kinds, asking.models
        self._asking, self._typed = asking, typed
        self._default = _Draft(
            kind=kinds[0],
            model=models[0][1],
            answer=asking.answer,
            question=asking.question,
            id=asking.new_id,
        )
        anew = _("propose to take out the {n} stages that are there").format(n=asking.stages)
        super().__init__(
            _("Help from a model"),
            self._default.model_copy(update=typed),
            button=pgettext("verb", "Draft"),
            options={
                "kind": [(_(KIND_LABEL[kind]), kind) for kind in kinds],
                "model": models,
                "anew": [(_("No"), False), (anew, True)] if asking.stages else (),
            },
        )

    @on(FormPane.Changed)
    def keep(self) -> None:
        # What is as it was offered follows the task when that is edited.
        default = self._default.model_dump()
        self._typed.clear()
        self._typed.update({k: v for k, v in self.pane.values.items() if v != default[k]})

    async def summary(self, model: _Draft) -> str:
        asking = self._asking
        said = [asking.about(model.kind), asking.price(model.model)]
        if model.kind == "triples" and (count := len(model.text)):
            text = ngettext("{n} character", "{n} characters", count)
            said.append(text.format(n=f"{count:,}"))
        return "\n".join(said)

    def problem(self, model: _Draft) -> str:
        wanted = self._asking.wanted(model.kind, model.model, model.model_dump())
        return wanted if isinstance(wanted, str) else ""

    async def answer(self, model: _Draft) -> Wanted | None:
        wanted = self._asking.wanted(model.kind, model.model, model.model_dump())
        return None if isinstance(wanted, str) else wanted


@dataclass
class _PartsDone(Message):
    """So many parts are done, of so many."""

    done: int
    parts: int


class WorkingDialog(CuecardDialog[Proposal | None]):
    """Shows a draft under way and gives the proposal, None if there is none. Escape keeps what is done so far, a second
    one drops it.
    """

    CSS_PATH = "proposal.tcss"
    BINDINGS = keys(
        Key("working.stop", Means.UP_ONE, "stop", N_("Stop"), N_("Keep what is done; once more: drop it all")),
    )  # fmt: skip

    def __init__(self, title: str, drafting: Drafting) -> None:
        super().__init__()
        self._title = title
        self._drafting = drafting
        self._draft: Future[Proposal] | None = None
        self._stopping = False
        self._parts: _PartsDone | None = None
        self._began = monotonic()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = _("The model is drafting")
            yield PlainText(self._title)
            yield ProgressBar(show_eta=False, show_percentage=False, id="progress")
            yield Label("", id="far", classes="muted")
        yield KeyBar()

    def on_mount(self) -> None:
        self._drafting.on_progress = self._hear
        self.set_interval(1, self._tick)
        self.run_draft()

    def on_unmount(self) -> None:
        if self._draft is not None:
            self._draft.cancel()

    @guarded("draft", background=True)
    async def run_draft(self) -> None:
        """Draft on the engine, and answer what came of it."""
        self._draft = self.services.engine.submit(self._drafting.run())
        proposal: Proposal | None = None
        try:
            proposal = await asyncio.wrap_future(self._draft)
        finally:
            self.dismiss(proposal)

    def _hear(self, done: int, parts: int) -> None:
        """Called on the engine's thread."""
        self.post_message(_PartsDone(done, parts))

    def on__parts_done(self, event: _PartsDone) -> None:
        bar = self.query_one(ProgressBar)
        # One part has no progress to show but that it goes on.
        if event.parts > 1:
            bar.update(total=event.parts, progress=event.done)
        self._parts = event
        self._tick()

    def action_stop(self) -> None:
        if self._draft is None or self._stopping:
            self.dismiss(None)
            return
        self._stopping = True
        self.services.engine.submit(self._drafting.stop())
        self.query_one("#far", Label).update(_("Stopping…"))

    def _tick(self) -> None:
        if self._stopping:
            return
        parts, seconds = self._parts, round(monotonic() - self._began)
        if parts is not None and parts.parts > 1:
            text = _("Part {n} of {all}, {seconds} s").format(
                n=min(parts.done + 1, parts.parts), all=parts.parts, seconds=seconds
            )
        else:
            text = _("Asking, {seconds} s").format(seconds=seconds)
        self.query_one("#far", Label).update(text)


# What was typed into the dialog, as long as the editor is open.
_typed: WeakKeyDictionary[TaskScreen, dict[str, Any]] = WeakKeyDictionary()


async def assist(screen: TaskScreen) -> None:
    """Decide on the pending proposal, or have one drafted first. Raises `CuecardError`."""
    screen.editor.commit()
    await screen.keeper.flush()
    config = await screen.services.config()
    file = PendingFile(screen.services.url, screen.task_id, screen.author)
    pending = await asyncio.to_thread(file.load)
    if pending is None:
        pending = await _drafted(screen, config)
        if pending is None:
            return
        await asyncio.to_thread(file.save, pending)
    await _decide(screen, config, pending, file)


async def _drafted(screen: TaskScreen, config: Config) -> Pending | None:
    if not config.models:
        await screen.app.push_screen_wait(NoModelDialog())
        return None
    edit, typed = screen.edit, _typed.setdefault(screen, {})
    wanted = await screen.app.push_screen_wait(
        AssistDialog(ProposalForm(edit.data, edit.family, config), typed)
    )
    if wanted is None:
        return None
    drafting = Drafting(edit.data, wanted.inputs, config, wanted.model)
    title = _("{model} works on it; nothing in the task changes.").format(model=wanted.model)
    proposal = await screen.app.push_screen_wait(WorkingDialog(title, drafting))
    if proposal is None:
        return None
    if not proposal.items:
        await _tell_nothing(screen, config, proposal)
        return None
    typed.clear()
    ticked = tuple(item.id for item in proposal.items if item.suggested)
    return Pending(proposal=proposal, ticked=ticked, task_id=wanted.task_id)


async def _tell_nothing(screen: TaskScreen, config: Config, proposal: Proposal) -> None:
    spent = cost_of(proposal.spent, config.currency)
    if not proposal.raw:
        screen.notify(
            "\n".join((_("Nothing was proposed."), *proposal.notes, spent)),
            severity="warning",
            markup=False,
        )
        return
    text = _("Nothing usable came back ({cost}). The task is as it was.").format(cost=spent)
    why = "\n".join((text, *proposal.notes))
    await screen.app.push_screen_wait(RawDialog(proposal.raw, why))


async def _decide(screen: TaskScreen, config: Config, pending: Pending, file: PendingFile) -> None:
    def keep(as_ticked: Pending) -> None:
        file.save(as_ticked.model_copy(update={"task_id": pending.task_id}))

    shown = ProposalScreen(screen.edit.data, pending, config.currency, keep)
    decided = await screen.app.push_screen_wait(shown)
    if decided is None:
        screen.cue_app.tell(hint(_("The proposal waits; {SUGGEST} brings it back.")))
        return
    if not decided.accepted:
        await asyncio.to_thread(file.discard)
        screen.cue_app.tell(_("Rejected. The task is as it was."))
        return
    if pending.proposal.kind == "translation":
        if await _begin_translation(screen, pending, decided):
            await asyncio.to_thread(file.discard)
        return
    await _take_in(screen, pending, decided)
    await screen.keeper.flush()
    # Only once the draft with it is on disk.
    await asyncio.to_thread(file.discard)


async def _take_in(screen: TaskScreen, pending: Pending, decided: Decided) -> None:
    screen.editor.commit()
    applied = apply(screen.edit, pending.proposal, decided.accepted)
    screen.editor.reload()
    place = next(iter(applied.places.values()), "")
    if place:
        await screen.editor.go_to(parse_place(place))
    text = ngettext(
        "{n} of {all} item taken in, not saved yet; {UNDO} takes it back.",
        "{n} of {all} items taken in, not saved yet; {UNDO} takes them back.",
        len(pending.proposal.items),
    )
    screen.cue_app.tell(hint(text, n=applied.count, all=len(pending.proposal.items)))


async def _begin_translation(screen: TaskScreen, pending: Pending, decided: Decided) -> bool:
    """Whether there is a new task now; it is shown above this one."""
    from cuecard.tui.screens.task.screen import open_task

    proposal, person = pending.proposal, screen.author
    target = proposal.language or "en"
    task_id = pending.task_id or translated_id(screen.task_id, target)
    origins = (origin_of(proposal, len(decided.accepted)),)
    while True:
        data = translated(screen.edit.data, proposal, decided.accepted, task_id)
        try:
            await screen.services.ask(lambda ws, new=data: begin_task(ws, person, new, origins))
            break
        except Conflict as conflict:
            answer = await screen.app.push_screen_wait(
                AskLine(
                    conflict.title,
                    _("Which id shall the translation have?"),
                    button=_("Go on"),
                    value=f"{task_id}-2",
                )
            )
            if not answer:
                return False
            task_id = answer
    open_task(screen.cue_app, task_id)
    text = _("{task} is a new draft; the original stays as it is.")
    screen.cue_app.tell(text.format(task=task_id))
    return True

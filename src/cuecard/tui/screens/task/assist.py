"""Drafts by a model in the editor: asking what to draft, the draft under way, and applying the accepted items."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import (
    Button,
    Checkbox,
    ContentSwitcher,
    Input,
    Label,
    ProgressBar,
    Select,
    TextArea,
)

from cuecard.annotate.assist.drafting import Drafting
from cuecard.annotate.assist.proposals import Pending, PendingFile, Proposal, apply, origin_of
from cuecard.annotate.assist.translation import translated, translated_id
from cuecard.annotate.authoring.session import begin_task
from cuecard.annotate.authoring.task_data import parse_place
from cuecard.core.errors import Conflict
from cuecard.core.i18n import N_, NP_, _, ngettext, pgettext
from cuecard.core.tasks.base import OriginKind
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardDialog, guarded
from cuecard.tui.present.proposals import KIND_LABEL, Asking, Wanted, cost_of
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.screens.task.proposal import Decided, ProposalScreen, RawDialog
from cuecard.tui.widgets.inputs import LineEditor, TextEditor, Tick
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
                yield Button(_("Close"), id="close")
        yield KeyBar()

    def on_button_pressed(self) -> None:
        self.dismiss(None)


class AssistDialog(CuecardDialog[Wanted | None]):
    """Asks what to draft. `typed`: input by field, kept between calls, so that a pasted page is there again after an
    error.
    """

    CSS_PATH = "proposal.tcss"
    BINDINGS = keys(
        Key("assist.begin", "ctrl+s", "begin", NP_("verb", "Draft"), N_("Have the model draft this"), shown_as="^s", priority=True),
    )  # fmt: skip

    def __init__(self, asking: Asking, typed: dict[str, str]) -> None:
        super().__init__()
        self._asking = asking
        self._typed = typed
        self._defaults: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        kinds = [(_(KIND_LABEL[kind]), str(kind)) for kind in self._asking.kinds]
        models = [(Text(label), name) for label, name in self._asking.models]
        with Vertical(classes="dialog assist") as box:
            box.border_title = _("Help from a model")
            with Horizontal(classes="field"):
                yield Label(pgettext("verb", "Draft"))
                yield Select[str](kinds, allow_blank=False, id="kind", compact=True)
            with Horizontal(classes="field"):
                yield Label(_("Model"))
                yield Select[str](models, allow_blank=False, id="model", compact=True)
            yield Label("", id="price", classes="muted", markup=False)
            yield PlainText("", id="about")
            with ContentSwitcher(initial=self._asking.kinds[0], id="inputs"):
                for kind in self._asking.kinds:
                    with Vertical(id=kind):
                        yield from self._inputs(kind)
            with Horizontal(classes="buttons"):
                yield Button(pgettext("verb", "Draft"), variant="primary", id="begin", compact=True)
        yield KeyBar()

    def on_mount(self) -> None:
        self._show()
        self.query_one("#kind").focus()

    def on_select_changed(self) -> None:
        self._show()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._type(str(event.input.id), event.value)

    def on_checkbox_changed(self, event: Checkbox.Changed) -> None:
        self._type(str(event.checkbox.id), "yes" if event.value else "")

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self._type(str(event.text_area.id), event.text_area.text)
        if event.text_area.id == "text":
            count = len(event.text_area.text)
            text = ngettext("{n} character", "{n} characters", count).format(n=f"{count:,}")
            event.text_area.border_subtitle = text if count else ""

    def on_button_pressed(self) -> None:
        self.action_begin()

    def action_begin(self) -> None:
        wanted = self._asking.wanted(self._kind, self._model, {**self._defaults, **self._typed})
        if isinstance(wanted, str):
            self.notify(wanted, severity="warning", markup=False)
        else:
            self.dismiss(wanted)

    @property
    def _kind(self) -> OriginKind:
        chosen = cast("Select[str]", self.query_one("#kind", Select)).value
        return next(kind for kind in self._asking.kinds if kind == chosen)

    @property
    def _model(self) -> str:
        return str(cast("Select[str]", self.query_one("#model", Select)).value)

    def _show(self) -> None:
        kind = self._kind
        self.query_one("#price", Label).update(self._asking.price(self._model))
        self.query_one("#about", PlainText).load(self._asking.about(kind))
        self.query_one("#inputs", ContentSwitcher).current = kind

    def _inputs(self, kind: OriginKind) -> ComposeResult:
        asking = self._asking
        match kind:
            case "triples":
                yield from self._line("url", _("Address"), placeholder="https://…")
                yield from self._line("wanted", _("Look for"), placeholder=_("optional"))
                yield self._area("text", _("Text of the page"))
            case "persona":
                if asking.stages:
                    text = _("Begin anew: propose to take out the {n} stages that are there")
                    anew = bool(self._typed.get("anew"))
                    yield Tick(text.format(n=asking.stages), anew, id="anew", compact=True)
            case "checkpoints":
                yield from self._line("answer", _("Its answer"), asking.answer, _("if you know it"))
                yield from self._line("remarks", _("Remarks"), placeholder=_("optional"))
                yield self._area("question", _("Question"), asking.question)
            case "facts":
                yield from self._line("topic", _("About"), placeholder=_("optional"))
                yield self._area("pairs", _("Pairs"))
            case "translation":
                yield from self._line("id", _("New id"), asking.new_id)

    def _type(self, name: str, text: str) -> None:
        # What is as it was offered follows the task when that is edited.
        if text == self._defaults.get(name, ""):
            self._typed.pop(name, None)
        else:
            self._typed[name] = text

    def _line(self, name: str, label: str, value: str = "", placeholder: str = "") -> ComposeResult:
        self._defaults[name] = value
        value = self._typed.get(name, value)
        with Horizontal(classes="field"):
            yield Label(label)
            yield LineEditor(value, placeholder=placeholder, id=name, compact=True)

    def _area(self, name: str, title: str, value: str = "") -> Widget:
        self._defaults[name] = value
        area = TextEditor(self._typed.get(name, value), id=name)
        area.border_title = title
        return area


@dataclass
class _Told(Message):
    """So many parts are done, of so many."""

    done: int
    parts: int


class WorkingDialog(CuecardDialog[Proposal | None]):
    """Shows a draft under way and gives the proposal, None if there is none. Escape keeps what is done so far, a second
    one drops it.
    """

    CSS_PATH = "proposal.tcss"
    BINDINGS = keys(
        Key("working.stop", "escape", "stop", N_("Stop"), N_("Keep what is done; once more: drop it all")),
    )  # fmt: skip

    def __init__(self, title: str, drafting: Drafting) -> None:
        super().__init__()
        self._title = title
        self._drafting = drafting
        self._draft: Future[Proposal] | None = None
        self._stopping = False
        self._parts: _Told | None = None
        self._began = monotonic()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = _("The model is drafting")
            yield PlainText(self._title)
            yield ProgressBar(show_eta=False, show_percentage=False, id="progress")
            yield Label("", id="far", classes="muted")
        yield KeyBar()

    def on_mount(self) -> None:
        self._drafting.told = self._hear
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
        self.post_message(_Told(done, parts))

    def on__told(self, event: _Told) -> None:
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
_typed: WeakKeyDictionary[TaskScreen, dict[str, str]] = WeakKeyDictionary()


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
        AssistDialog(Asking(edit.data, edit.family, config), typed)
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
        screen.cue_app.tell(_("The proposal waits; ^t brings it back."))
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
        "{n} of {all} item taken in, not saved yet; ^z takes it back.",
        "{n} of {all} items taken in, not saved yet; ^z takes them back.",
        len(pending.proposal.items),
    )
    screen.cue_app.tell(text.format(n=applied.count, all=len(pending.proposal.items)))


async def _begin_translation(screen: TaskScreen, pending: Pending, decided: Decided) -> bool:
    """Whether there is a new task now; it is shown above this one."""
    from cuecard.tui.screens.task.screen import TaskScreen

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
    screen.app.push_screen(TaskScreen(task_id))
    text = _("{task} is a new draft; the original stays as it is.")
    screen.cue_app.tell(text.format(task=task_id))
    return True

"""What shall be drafted, by which model, from what."""

from __future__ import annotations

from typing import cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import (
    Button,
    Checkbox,
    ContentSwitcher,
    Footer,
    Input,
    Label,
    Select,
    TextArea,
)

from cuecard.core.i18n import N_, NP_, _, ngettext, pgettext
from cuecard.core.tasks import OriginKind
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog
from cuecard.tui.screens.task.fields import LineEditor, TextEditor
from cuecard.tui.state.assisting import Asking, Wanted
from cuecard.tui.state.proposals import KIND_LABEL
from cuecard.tui.widgets.plain import PlainText


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
        yield Footer(show_command_palette=False)

    def on_button_pressed(self) -> None:
        self.dismiss(None)


class AssistDialog(CuecardDialog[Wanted | None]):
    """Answers what to draft. `typed` holds what was typed before, by field, and whatever is typed now: a
    page that was pasted is there again after a model failed.
    """

    CSS_PATH = "proposals.tcss"
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
        yield Footer(show_command_palette=False)

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
                    yield Checkbox(text.format(n=asking.stages), anew, id="anew", compact=True)
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

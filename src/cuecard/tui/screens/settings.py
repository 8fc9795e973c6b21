"""The Settings screen, and the dialog at first start: name, language, theme, models, agents, sample tasks; and the models
that the servers of `cuecard.yaml` have, to choose one for an entry.
"""

from __future__ import annotations

import asyncio
import getpass
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from pydantic import Field
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.theme import Theme
from textual.widgets import Button, Input, Label, Select, Static

from cuecard.core.config import CONFIG_NAME
from cuecard.core.doctor import ServedModel, served_models
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, current_language, joined, listed, pgettext
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import for_display, one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.drawing import Horizontal, VerticalScroll
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.forms import FormDialog
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.kit.rows import Row
from cuecard.tui.preferences import THEME_WORDS, preferences_path, served
from cuecard.tui.present.entries import Paragraph, ink
from cuecard.tui.present.keyboard import error_lines
from cuecard.tui.present.labels import coded
from cuecard.tui.present.players import PlayerRow, player_rows
from cuecard.tui.widgets.nav import EmptyState, NavBar
from cuecard.tui.widgets.text import ChangingText

if TYPE_CHECKING:
    from cuecard.core.contributions import SkillsSet
    from cuecard.store.workspace import Workspace


_DOMAINS_TOLD = 50
LANGUAGE_NAMES = {"en": "English", "zh": "中文"}


class SettingsScreen(CuecardScreen[None]):
    """Changes take effect at once; the language restarts the screens."""

    CSS_PATH = "settings.tcss"
    # Not the name: the digits that lead to other places would be typed into it.
    AUTO_FOCUS = "#language"
    BINDINGS = keys(
        Key("settings.save", Means.SAVE, "rename", N_("Use name"), N_("Work under this name")),
        Key("settings.refresh", Means.REFRESH, "reload", N_("Reload"), N_("Read cuecard.yaml again")),
        Key("settings.models", Means.COMMAND, "models", N_("Models"), N_("Which models the servers have"), letter="m"),
        Key("settings.keys", Means.COMMAND, "own_keys", N_("Keys"), N_("Give keys of my own to what can be done"), letter="k"),
        Key("settings.back", Means.UP_ONE, "app.go('home')", N_("Home"), N_("Back to Home")),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._skills = ("", "")
        self._filled = {"name": "", "skill-domains": ""}
        self._told: tuple[list[PlayerRow], str] | None = None  # players, and the theme in which

    def compose(self) -> ComposeResult:
        yield NavBar("settings")
        with VerticalScroll(id="body", can_focus=False):
            with Horizontal(classes="row tight"):
                yield Label(_("My name"))
                yield Input(
                    self.person, id="name", max_length=80, compact=True, disabled=bool(served())
                )
                if not served():
                    yield Button(_("Use"), id="use", compact=True)
            with Horizontal(classes="row tight"):
                yield Label(_("Language"))
                yield Select(
                    [(name, code) for code, name in LANGUAGE_NAMES.items()],
                    value=current_language(),
                    allow_blank=False,
                    id="language",
                    compact=True,
                )
            with Horizontal(classes="row tight"):
                yield Label(_("Theme"))
                yield Select(
                    self._themes(),
                    value=self.app.theme,
                    allow_blank=False,
                    id="theme",
                    compact=True,
                )
            kept = self.cue_app.preferences
            motions = ((_("as usual"), ""), (_("reduced"), "reduced"))
            for name, label, options, value, last in (
                ("motion", _("Motion"), motions, kept.motion, False),
                ("notice", _("After a run"), _notices(), kept.notice, True),
            ):
                with Horizontal(classes="row" if last else "row tight"):
                    yield Label(label)
                    yield Select(options, value=value, allow_blank=False, id=name, compact=True)
            yield from self._skill_fields()
            with Horizontal(classes="row tight"):
                yield Label(_("Workspace"))
                yield Static(self.services.public_url, classes="value", markup=False)
            if self.services.shared:
                yield Static("", id="role", classes="muted", markup=False)
            with Horizontal(classes="row"):
                yield Label(_("Preferences"))
                yield Static(str(preferences_path()), classes="value", markup=False)
            yield Static(_("Players and models"), classes="title")
            note = _("{file} names models and players; keys stay in the environment.")
            file = str(self.services.config_path or "cuecard.yaml")
            yield Static(note.format(file=one_line(file)), classes="muted", markup=False)
            yield Static(_("Reading cuecard.yaml…"), id="config")
        yield KeyBar()

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, self._theme_changed)

    def _theme_changed(self, theme: Theme) -> None:
        """It may have been chosen elsewhere."""
        self.query_one("#theme", Select).value = theme.name
        self.load()

    def on_screen_resume(self) -> None:
        self.query_one(NavBar).load(self.person, self.services.url)
        self._fill("name", self.person)
        self.query_one("#theme", Select).value = self.app.theme
        self.load_skills()
        self.load()

    def _fill(self, field: str, value: str) -> None:
        """Show it in a field, unless something else was typed there and waits to be taken over."""
        line = self.query_one(f"#{field}", Input)
        if line.value == self._filled[field]:
            line.value = value
        self._filled[field] = value

    @guarded("settings")
    async def load(self) -> None:
        panel, theme = self.query_one("#config", Static), self.app.theme
        try:
            config = await self.services.config()
        except CuecardError as error:
            colour = ink(self.app.theme_variables, "error")
            self._told = None
            panel.update(Text(for_display("\n".join(error_lines(error))), style=colour))
            return
        told = player_rows(config), theme
        if told != self._told:
            self._told = told
            panel.update(self._described(told[0]))

    @guarded("skills")
    async def load_skills(self) -> None:
        """What this person reviews, and the domains that there are."""
        from cuecard.annotate.review.reviewing import domains_in

        person = self.person

        def fetch(ws: Workspace) -> tuple[SkillsSet | None, tuple[str, ...], str]:
            mine = ws.roles.mine()
            told = mine.sentence if mine.role else ""
            return ws.reviews.skills().get(person), domains_in(ws), told

        skills, domains, role = await self.services.ask(fetch)
        if role:
            self.query_one("#role", Static).update(role)
        self._skills = (
            ("".join(skills.languages), ", ".join(skills.domains)) if skills else ("", "")
        )
        language, names = self._skills
        with self.prevent(Select.Changed):
            self.query_one("#skill-language", Select).value = language
        self._fill("skill-domains", names)
        told = [_("What is outside comes last in your review queue.")]
        if domains:
            names = one_line(listed(domains), _DOMAINS_TOLD)
            told.append(_("Domains here: {names}").format(names=names))
        self.query_one("#skill-note", ChangingText).tell(joined(told))

    @guarded("save-skills", background=True)
    async def save_skills(self) -> None:
        """Keep what is chosen, if it is something else than before."""
        from cuecard.annotate.review.reviewing import parse_domains, set_skills

        language = str(cast(object, self.query_one("#skill-language", Select).value))
        typed = self.query_one("#skill-domains", Input).value
        if not self.person or (language, typed) == self._skills:
            return
        person, domains = self.person, parse_domains(typed)
        spoken = [language] if language else []
        await self.services.ask(lambda ws: set_skills(ws, person, spoken, domains))
        self._skills = (language, typed)
        self.cue_app.tell(_("Your review queue is ordered by this now."))

    def on_select_changed(self, event: Select.Changed) -> None:
        value = str(event.value)
        if event.select.id == "skill-language":
            self.save_skills()
        elif event.select.id == "theme" and value != self.app.theme:
            self.app.theme = value
        elif event.select.id in ("motion", "notice"):
            setattr(self.cue_app.preferences, event.select.id, value)
            self.cue_app.preferences.save()
            self.cue_app.move()
        elif event.select.id == "language" and value != current_language():
            self.cue_app.speak(value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "skill-domains":
            self.save_skills()
        else:
            self.action_rename()

    def on_input_blurred(self, event: Input.Blurred) -> None:
        if event.input.id == "skill-domains":
            self.save_skills()

    def on_button_pressed(self) -> None:
        self.action_rename()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not (action == "rename" and served())

    def why_not(self, action: str) -> str:
        return _("The link that you opened says who you are.") if action == "rename" else ""

    @guarded("rename")
    async def action_rename(self) -> None:
        name = self.query_one("#name", Input).value
        person = await self.services.ask(lambda ws: ws.people.add(ws.roles.person(name)))
        self.cue_app.become(person.name)
        self.query_one(NavBar).load(self.person, self.services.url)
        self.load_skills()
        self.cue_app.tell(_("You are now {name}.").format(name=person.name))

    def action_reload(self) -> None:
        self.load()

    def action_models(self) -> None:

        self.app.push_screen(ServedModelsScreen())

    def action_own_keys(self) -> None:
        from cuecard.tui.screens.own_keys import OwnKeysScreen

        self.app.push_screen(OwnKeysScreen())

    def _skill_fields(self) -> ComposeResult:
        with Horizontal(classes="row tight"):
            yield Label(_("I review"))
            languages = ((name, code) for code, name in LANGUAGE_NAMES.items())
            yield Select(
                [(_("any language"), ""), *languages],
                value="",
                allow_blank=False,
                id="skill-language",
                compact=True,
            )
            hint = _("any domain; or several, with commas")
            yield Input(placeholder=hint, id="skill-domains", compact=True)
        yield ChangingText("", id="skill-note", classes="muted", markup=False)

    def _themes(self) -> list[tuple[str, str]]:
        others = sorted(set(self.app.available_themes) - set(THEME_WORDS))
        return [
            *((coded(word, name), name) for name, word in THEME_WORDS.items()),
            *((name, name) for name in others),
        ]

    def _described(self, players: Sequence[PlayerRow]) -> Table:
        """All players with their model and endpoint; keys only as set or not set."""
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", expand=False)
        for heading in (_("Part"), _("Name")):
            table.add_column(heading, no_wrap=True)
        table.add_column(_("Kind"), overflow="fold", min_width=cell_len(_("offline baseline")))
        for heading in (_("Model"), _("Endpoint"), pgettext("of an endpoint", "Key")):
            table.add_column(heading, overflow="fold")
        for row in players:
            name, kind = one_line(row.name), row.kind
            told = [Text(kind), Text(one_line(row.model)), Text(one_line(row.endpoint)), _key(row)]
            if row.baseline:
                # An offline player may be its own kind.
                told = [Text(kind)] * (kind != name) + [Text(_("offline baseline"), style="dim")]
            table.add_row(Text(row.part, style="dim"), Text(name), *told)
        return table


def _notices() -> tuple[tuple[str, str], ...]:
    bell, terminal = _("ring the bell"), _("ring, and notify through the terminal")
    return ((_("nothing more"), ""), (bell, "bell"), (terminal, "terminal"))


def _key(row: PlayerRow) -> Text:
    if not row.keys:
        return Text(_("none needed"), style="dim")
    missing = [name for name in row.keys if not os.environ.get(name)]
    if missing:
        return Text(_("✗ {variable} is not set").format(variable=listed(missing)))
    return Text(f"✓ {listed(row.keys)}")


class Introduction(Frozen):
    """What the person answered."""

    name: Annotated[str, Field(title="", description=N_("Your name"), max_length=80)]
    samples: Annotated[
        bool | None,
        Field(title=N_("Add the eight sample tasks")),
        Row(shown=lambda values: values["samples"] is not None),
    ] = None


def login_name() -> str:
    """The account's name as a first proposal; empty where the system does not tell."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


class WelcomeDialog(FormDialog[Introduction]):
    """Asks for a name; with `offer_samples` also whether the sample tasks shall be added."""

    BINDINGS = keys(
        Key("welcome.language", Means.VIEW, "language", N_("中文 / English"), N_("Use the other language"), priority=True),
        Key("welcome.quit", Means.UP_ONE, "dismiss", N_("Quit"), N_("Leave without a name")),
    )  # fmt: skip

    def __init__(self, *, offer_samples: bool) -> None:
        super().__init__(
            _("Welcome to Cuecard"),
            Introduction(name=login_name(), samples=True if offer_samples else None),
            ask=_(
                "Here you write benchmark tasks for search agents, play the user yourself, let a"
                " simulator play it at scale, and check the judge. Your name goes with"
                " everything you save in this workspace."
            ),
            button=_("Begin"),
        )

    def problem(self, model: Introduction) -> str:
        return "" if model.name else _("Please type a name.")

    def action_language(self) -> None:
        """Begin anew in the other of the two languages."""
        other = "en" if current_language() == "zh" else "zh"
        self.cue_app.speak(other)


class ServedModelsScreen(ListScreen[ServedModel]):
    """Enter writes the model under the cursor into its entry; the rest of the file stays as it is."""

    LIVE = False
    TELLS = False
    NEED_ROW = ("use",)
    BINDINGS = keys(
        Key("served.use", Means.OPEN, "use", N_("Use"), N_("Write this model into its entry")),
        Key("served.back", Means.UP_ONE, "leave", N_("Back"), N_("Back to Settings")),
    )  # fmt: skip

    def columns(self) -> Sequence[Column[ServedModel]]:
        return (
            Column(N_("Entry"), lambda row: row.entry),
            Column(N_("Model"), lambda row: row.model or row.trouble, grow=1, least=16),
            Column(N_("Now"), lambda row: "✓" if row.chosen else ""),
        )

    def key(self, row: ServedModel) -> tuple[str, str]:
        return row.entry, row.model

    async def read(self) -> Sequence[ServedModel]:
        return await served_models(await self.services.config())

    def empty(self) -> EmptyState:
        return EmptyState(
            _("No models yet"),
            _("Name a server under models in {file}; what it has is listed here.").format(
                file=CONFIG_NAME
            ),
            ("esc", _("Back")),
        )

    def on_mount(self) -> None:
        super().on_mount()
        # A server that says nothing takes some seconds.
        title = self.query_one("#title", Static)
        title.update(_("Asking…"))
        title.display = True

    def title_words(self) -> str:
        return _("Models of the servers")

    def detail(self, row: ServedModel) -> Sequence[Paragraph]:
        told = row.trouble or _("{entry}: {model} at {url}").format(
            entry=row.entry, model=row.model, url=row.url
        )
        return (Paragraph(told, "strong" if row.trouble else "muted"),)

    @guarded("use")
    async def action_use(self) -> None:
        from cuecard.core.config import choose_model

        row = self.row
        if row is None or not row.model:
            return
        path = self.services.config_path or Path(CONFIG_NAME)
        await asyncio.to_thread(choose_model, path, row.entry, row.model)
        self.cue_app.tell(
            _("{entry} uses {model} from now on.").format(entry=row.entry, model=row.model)
        )
        self.load()

    def action_leave(self) -> None:
        self.dismiss()

"""The models that the servers of `cuecard.yaml` have, to choose one for an entry."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from textual.widgets import Static

from cuecard.core.config import CONFIG_NAME
from cuecard.core.doctor import ServedModel, served_models
from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.app import guarded
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.kit.lists import Column
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.widgets.nav import EmptyState


class ServedModelsScreen(ListScreen[ServedModel]):
    """Enter writes the model under the cursor into its entry; the rest of the file stays as it is."""

    LIVE = False
    TELLS = False
    NEED_ROW = ("use",)
    BINDINGS = keys(
        Key("served.use", "enter", "use", N_("Use"), N_("Write this model into its entry")),
        Key("served.back", "escape", "leave", N_("Back"), N_("Back to Settings")),
    )

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

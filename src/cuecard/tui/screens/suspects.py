"""Suspect gold of runs, ranked, with what speaks against it; and figures of every item."""

from collections.abc import Callable, Sequence
from functools import partial

from cuecard.annotate.results.pool import Pool
from cuecard.annotate.results.suspect_tables import (
    discrimination_words,
    extreme_words,
    found_words,
    page_words,
    remarks,
    review_words,
    same_words,
    subset_tables,
    values_of,
)
from cuecard.annotate.results.suspects import (
    SeenPage,
    Survey,
    SurveyedTask,
    Suspect,
    evidence,
    survey,
)
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import N_, NP_, _, headed, joined, listed, ngettext, plural
from cuecard.core.text import one_line
from cuecard.core.validation import format_place
from cuecard.store.workspace import Sight, Workspace
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.grid import GridCell
from cuecard.tui.kit.bulk import to_each
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.kit.lists import ListView
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.present.keyboard import hint
from cuecard.tui.widgets.nav import EmptyState


class SuspectsScreen(ListScreen[Suspect]):
    """Of the trials of these runs, of all tasks or of one. What I am still to label is left out; what is listed counts as seen."""

    LIVE = TELLS = False
    MARKING = True
    NEED_ROW = ("open", "comment", "task")
    BINDINGS = keys(
        Key("suspects.open", Means.OPEN, "open", N_("Trials"), N_("The trials that say the rival value, or all of the task")),
        Key("suspects.comment", Means.COMMENT, "comment", NP_("verb", "To review"), N_("Send this item, or the marked ones, to review: a comment for the authors at each, with what speaks against it")),
        Key("suspects.items", Means.DETAILS, "items", N_("Items"), N_("Difficulty and discrimination of every item; tasks that keep the order of agents")),
        Key("suspects.task", Means.COMMAND, "task", N_("Task"), N_("Open the task, to correct its gold"), letter="t"),
        Key("suspects.back", Means.UP_ONE, "leave", N_("Back"), N_("Back")),
    )  # fmt: skip

    def __init__(self, runs: tuple[int, ...], title: str, task: str = "") -> None:
        """`title`: what the runs are called; `task`: only of this one."""
        super().__init__()
        self._runs, self._title, self._of_task = runs, title, task
        self._survey: Survey | None = None
        self._pages: dict[tuple[str, int, str], tuple[SeenPage, ...]] = {}

    def columns(self) -> Sequence[Column[Suspect]]:
        return (
            Column(N_("Why"), lambda one: one.figures.flags[0].label, least=8),
            Column(N_("Item"), lambda one: one.answer.asked, grow=3, least=16),
            Column(N_("Gold"), lambda one: one.gold, grow=2, least=8),
            Column(N_("Rival"), lambda one: GridCell(one.rival, "bad"), grow=2, quiet=True),
            Column(N_("Found"), lambda one: found_words(one.figures), right=True, sort=lambda one: one.figures.found or 0),
            Column(N_("Agents"), lambda one: f"{one.figures.found_by}/{one.figures.agents}", right=True, spare=1),
            Column(N_("Task"), lambda one: one.of.task.title or one.of.task.id, grow=1, spare=2),
        )  # fmt: skip

    def key(self, row: Suspect) -> tuple[str, int, str]:
        return row.key

    async def read(self) -> Sequence[Suspect]:
        self._survey = await self.services.ask(self._surveyed)
        return self._survey.suspects

    def _surveyed(self, workspace: Workspace) -> Survey:
        sight = Sight(workspace, self.person)
        found = survey(workspace, self._pool(workspace), sight)
        sight.record()
        return found

    def _pool(self, workspace: Workspace) -> Pool:
        pool = self.services.pool(workspace, self._runs)
        if self._of_task:
            pool = pool.where(lambda row: row.trial.task_id == self._of_task)
        return pool

    def empty(self) -> EmptyState:
        return EmptyState(
            _("No gold is suspect"),
            _(
                "Here stand items of gold that several agents contradict, that nobody finds though they opened its page,"
                " or that people doubt. These trials, as far as they are judged, show none."
            ),
            ("{DETAILS}", _("Figures of every item")),
            ("esc", _("Back")),
        )

    def title_words(self) -> str:
        n = len(self.view.every)
        count = ngettext("{n} suspect", "{n} suspects", n).format(n=n)
        return f"{_('Suspect gold')} · {one_line(self._title, 90)} · {count}"

    def note(self) -> str:
        always = _("A flag is a reason to look, never a change of score.")
        return joined([always, *(remarks(self._survey) if self._survey else ())])

    def detail(self, row: Suspect) -> Sequence[Paragraph]:
        item = row.figures
        found = [
            Paragraph(headed(row.answer.asked, " / ".join(row.answer.values)), "strong"),
            *(Paragraph(headed(flag.label, flag.help), "stage") for flag in item.flags),
        ]
        if row.rival and item.rival:
            said = ngettext("{n} agent says: {value}", "{n} agents say: {value}", item.rival.agents)
            found.append(Paragraph(said.format(n=item.rival.agents, value=row.rival)))
        if row.found_by:
            found.append(Paragraph(_("Found by: {agents}").format(agents=listed(row.found_by))))
        if row.not_by:
            found.append(Paragraph(_("Never by: {agents}").format(agents=listed(row.not_by))))
        if (pages := self._pages.get(row.key)) is None:
            found.append(Paragraph(_("Looking for pages…"), "muted"))
        for page in pages or ():
            found.append(Paragraph(page_words(page), "link"))
            found.append(Paragraph(page.passage(values_of(row)), indent=2))
        if pages == ():
            found.append(Paragraph(_("No page that agents were given names it."), "muted"))
        found.append(
            Paragraph(
                _("Of the task's items {share} are found; discrimination {r}").format(
                    share="–" if row.of.share is None else f"{row.of.share:.0%}",
                    r=discrimination_words(item),
                ),
                "muted",
            )
        )
        return found

    def show(self, rows: Sequence[Suspect], to: object = None) -> None:
        super().show(rows, to)
        self.look()

    def on_list_view_moved(self, event: ListView.Moved) -> None:
        super().on_list_view_moved(event)
        self.look()

    @guarded("suspect_pages", background=True)
    async def look(self) -> None:
        """Read the pages of the row under the cursor, once."""
        row = self.row
        if row is not None and row.key not in self._pages:
            self._pages[row.key] = await self.services.ask(partial(evidence, one=row))
            self.tell()

    def action_open(self) -> None:
        from cuecard.tui.screens.errors import TrialListScreen

        if (row := self.row) is not None:
            rival = row.figures.rival if row.rival else None
            rows = [row.of.rows[n] for n in rival.trials] if rival else row.of.rows
            self.app.push_screen(TrialListScreen(row.answer.asked, rows))

    def action_task(self) -> None:
        from cuecard.tui.screens.task.screen import open_task

        if (row := self.row) is not None:
            open_task(self.cue_app, row.of.task.id, place=format_place(row.answer.path))

    def action_items(self) -> None:
        def of_all(workspace: Workspace) -> Survey:
            return survey(workspace, self._pool(workspace), items=True)

        if self._survey is not None:
            self.app.push_screen(ItemsScreen(of_all, self._title))

    @guarded("suspect_comment")
    async def action_comment(self) -> None:
        from cuecard.annotate.task_feedback import comment_on_suspect
        from cuecard.tui.screens.dialogs import AskLine

        rows, person = self.view.chosen, self.person
        question = AskLine(
            _("Send it to review?")
            if len(rows) == 1
            else plural("Send {n} item to review?", "Send {n} items to review?", len(rows)),
            _("The authors get a comment at the item, with the rival value and its pages."),
            button=_("Send"),
            placeholder=_("What you think of it"),
            required=False,
        )
        said = await self.app.push_screen_wait(question)
        if said is None:
            return

        def comment(ws: Workspace, row: Suspect) -> None:
            text = "\n".join(filter(None, (said, review_words(row, evidence(ws, one=row)))))
            place = format_place(row.answer.path)
            if comment_on_suspect(ws, row.key[:2], place, person, text) is None:
                raise NotAllowed(_("You have told its authors already."))

        def told(n: int) -> str:
            sent = plural(
                "{n} item was sent to its authors.", "{n} items were sent to their authors.", n
            )
            return joined(
                (sent, hint(_("Once the gold is corrected, {MENU} r in the run scores it anew.")))
            )

        await to_each(self, rows, lambda row: row.answer.asked, comment, told)


class ItemsScreen(ListScreen[tuple[SurveyedTask, int]]):
    """Every item of gold with its figures; those that nobody or everybody finds tell agents not apart."""

    LIVE = False
    BINDINGS = keys(
        Key("items.open", Means.OPEN, "open", N_("Trials"), N_("The trials of its task")),
        Key("items.back", Means.UP_ONE, "leave", N_("Back"), N_("Back")),
    )  # fmt: skip

    def __init__(self, surveyed: Callable[[Workspace], Survey], title: str) -> None:
        super().__init__()
        self._surveyed, self._title = surveyed, title
        self._notes: list[str] = []

    def columns(self) -> Sequence[Column[tuple[SurveyedTask, int]]]:
        def share(row: tuple[SurveyedTask, int]) -> float:
            found = row[0].items[row[1]].found
            return -1 if found is None else found

        return (
            Column(N_("Item"), lambda r: r[0].answers[r[1]].asked, grow=3, least=16),
            Column(N_("Found"), lambda r: found_words(r[0].items[r[1]]), right=True, sort=share),
            Column(N_("Discrimination"), lambda r: discrimination_words(r[0].items[r[1]]), right=True, sort=lambda r: r[0].items[r[1]].discrimination.value or 0),
            Column(N_("Extreme"), lambda r: extreme_words(r[0].items[r[1]].extreme), quiet=True),
            Column(N_("As"), lambda r: same_words(r[0], r[0].items[r[1]]), grow=1, quiet=True),
            Column(N_("Task"), lambda r: r[0].task.title or r[0].task.id, grow=2, spare=1),
        )  # fmt: skip

    def key(self, row: tuple[SurveyedTask, int]) -> tuple[str, int, int]:
        return row[0].task.id, row[0].revision, row[1]

    async def read(self) -> Sequence[tuple[SurveyedTask, int]]:
        found = await self.services.ask(self._surveyed)
        self._notes = [note for table in subset_tables(found) for note in table.notes]
        return [(of, at) for of in found.tasks for at in range(len(of.items))]

    def empty(self) -> EmptyState:
        return EmptyState(_("Nothing is judged yet"), _("Items of gold are listed here."), ("esc", _("Back")))  # fmt: skip

    def title_words(self) -> str:
        n = len(self.view.every)
        count = ngettext("{n} item", "{n} items", n).format(n=n)
        return f"{_('Items')} · {one_line(self._title, 90)} · {count}"

    def note(self) -> str:
        return joined(self._notes)

    def action_open(self) -> None:
        from cuecard.tui.screens.errors import TrialListScreen

        if self.row is not None:
            of, at = self.row
            self.app.push_screen(TrialListScreen(of.answers[at].asked, of.rows))

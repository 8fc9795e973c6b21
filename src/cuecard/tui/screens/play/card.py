"""Panes beside the dialogue of Play: persona, the current card, stages or steps, and numbers about the session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from rich.text import Text
from textual.app import ComposeResult
from textual.geometry import Region
from textual.widgets import Static

from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.i18n import N_, _, listed, spaced
from cuecard.core.tasks.models import Persona, Stage
from cuecard.core.text import for_display, one_line
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.drawing import VerticalScroll
from cuecard.tui.present import play_panes as present
from cuecard.tui.present.entries import Piece, wrap
from cuecard.tui.present.keyboard import hint, shown_key
from cuecard.tui.present.labels import AMBIGUITY, CUE_KIND
from cuecard.tui.present.play import PlayState
from cuecard.tui.widgets.text import Lines, PlainText, as_text

if TYPE_CHECKING:
    from cuecard.core.evaluation.shadows import Listening


CardState = Literal["now", "done", "later"]


class Card(VerticalScroll):
    """A frame with labels and what they label."""

    DEFAULT_CSS = """
    Card {
        height: auto; max-height: 100%; padding: 0 1; border: round $primary;
        border-title-color: $primary; border-title-style: bold; border-subtitle-color: $muted;
        background: $surface;
        .body { width: 1fr; height: auto; padding: 0 0 0 2; }
    }
    """
    can_focus = False


class CueCard(Card):
    """`load` a stage; the border tells its place and state."""

    DEFAULT_CSS = """
    CueCard {
        &.-done { border: round $success 60%; border-title-color: $success; }
        &.-later { border: round $muted 60%; border-title-color: $muted; }
        .label { width: auto; color: $primary; text-style: bold; height: 1; }
        .cue-line { text-style: bold; }
        .not-met { color: $muted; }
    }
    """

    def compose(self) -> ComposeResult:
        yield Static(_("CUE"), classes="label")
        yield Static("", classes="body", id="cue", markup=False)
        yield Static(_("LINE"), classes="label")
        yield Static("", classes="body cue-line", id="line", markup=False)
        yield Static(_("IF NOT"), classes="label")
        yield Static("", classes="body not-met", id="not-met", markup=False)

    def load(self, stage: Stage, number: int, total: int, state: CardState = "now") -> None:
        """`number` counts from 1."""
        self.set_class(state == "done", "-done")
        self.set_class(state == "later", "-later")
        mark = {"now": "▸", "done": "✓", "later": "·"}[state]
        # As text, never as a string: strings of borders are parsed for markup.
        self.border_title = Text(f"{mark} {number}/{total} {one_line(stage.title, 60)}")
        kind = _(CUE_KIND[stage.cue.kind.value])
        self.border_subtitle = kind
        self.query_one("#cue", Static).update(for_display(stage.cue.text))
        self.query_one("#line", Static).update(for_display(stage.line))
        otherwise = stage.not_met or _("Push in your own words, without giving anything away.")
        self.query_one("#not-met", Static).update(for_display(otherwise))


Weight = Literal["plain", "strong", "muted", "bad"]
SLOTS = 4


@dataclass(frozen=True)
class Section:
    """A label and its text; `label` is translated already."""

    label: str
    text: str
    weight: Weight = "plain"


class LabelledCard(Card):
    """`load` a title and at most four sections; without any it hides."""

    DEFAULT_CSS = """
    LabelledCard {
        .label { width: 1fr; height: auto; color: $primary; text-style: bold; }
        .-strong { text-style: bold; }
        .-muted { color: $muted; }
        .-bad { color: $error; }
    }
    """

    def compose(self) -> ComposeResult:
        for _slot in range(SLOTS):
            yield Static("", classes="label", markup=False)
            yield Static("", classes="body", markup=False)

    def load(self, title: str, sections: Sequence[Section], subtitle: str = "") -> None:
        self.display = bool(sections)
        # As text, never as a string: strings of borders are parsed for markup.
        self.border_title = Text(one_line(title, 80))
        self.border_subtitle = Text(one_line(subtitle, 60))
        labels = list(self.query(".label").results(Static))
        bodies = list(self.query(".body").results(Static))
        for slot in range(SLOTS):
            section = sections[slot] if slot < len(sections) else None
            labels[slot].display = bodies[slot].display = section is not None
            if section:
                labels[slot].update(section.label)
                bodies[slot].update(for_display(section.text))
                bodies[slot].set_classes(f"body -{section.weight}")


FOLD = 2
"""Blanks before what is unfolded."""


class Ladder(Static, can_focus=True):
    """The list of stages or steps. Tab focuses it; arrows move, Enter unfolds."""

    DEFAULT_CSS = """
    Ladder { height: auto; width: 1fr; padding: 1 1 0 1; }
    """
    BINDINGS = keys(
        Key("stages_said.open", (Means.OPEN, Means.MARK), "open", N_("Open/fold"), N_("Read what was said at a stage")),
        Key("stages_said.up", Means.UP, "walk(-1)", N_("Up"), N_("To the stage before, or up the card"), show=False),
        Key("stages_said.down", Means.DOWN, "walk(1)", N_("Down"), N_("To the next stage"), show=False),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._rungs: list[present.Rung] = []
        self._opened: set[int] = set()
        self._cursor = 0

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self._draw())

    def on_focus(self) -> None:
        self._draw()
        self._reveal()

    def on_blur(self) -> None:
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def load(self, rungs: Sequence[present.Rung]) -> None:
        self.display = bool(rungs)
        if list(rungs) == self._rungs:
            return
        self._rungs = list(rungs)
        self._cursor = min(self._cursor, max(len(rungs) - 1, 0))
        self._opened = {i for i in self._opened if i < len(rungs) and rungs[i].fold}
        self._draw()

    def action_open(self) -> None:
        if not self._rungs:
            return
        if not self._rungs[self._cursor].fold:
            self.notify(_("There is nothing to read here yet."), markup=False)
            return
        self._opened ^= {self._cursor}
        self._draw()
        self.call_after_refresh(self._reveal)

    def action_walk(self, step: int) -> None:
        if self._cursor + step < 0 and isinstance(self.parent, VerticalScroll):
            self.parent.scroll_relative(y=-2, animate=False)
            return
        self._cursor = max(0, min(self._cursor + step, len(self._rungs) - 1))
        self._draw()
        self._reveal()

    def _reveal(self) -> None:
        """Scroll the rung under the cursor, with what it has open, into view."""
        pane = self.parent
        if not isinstance(pane, VerticalScroll) or not self._rungs:
            return
        width = max(self.content_size.width, FOLD + 1)
        before = sum(self._height(index, width) for index in range(self._cursor))
        region = Region(0, self.gutter.top + before, width, self._height(self._cursor, width))
        pane.scroll_to_region(region.translate(self.virtual_region.offset), animate=False)

    def _height(self, index: int, width: int) -> int:
        return len(self._lines(index, width))

    def _lines(self, index: int, width: int) -> list[Text]:
        """A rung is one line, cut at the end; the one under the cursor and those opened stand whole."""
        rung, variables = self._rungs[index], self.app.theme_variables
        here = self.has_focus and index == self._cursor
        mark, title = rung.head[0], rung.head[1]
        room = max(width - FOLD, 2)
        titles = wrap(title.text, room)
        if not here and index not in self._opened and len(titles) > 1:
            titles = [f"{wrap(title.text, room - 1)[0]}…"]
        lines = [as_text((Piece(part, title.tone),), variables) for part in titles]
        if here:
            for line in lines:
                line.stylize("reverse")
        lead = as_text((mark,), variables)
        shown = [Text.assemble(" " * FOLD if at else lead, line) for at, line in enumerate(lines)]
        for piece in rung.fold if index in self._opened else ():
            for part in wrap(piece.text, room):
                line = as_text((Piece(part, piece.tone),), variables)
                shown.append(Text.assemble(" " * FOLD, line))
        return shown

    def _draw(self) -> None:
        width = max(self.content_size.width, FOLD + 2)
        lines = [line for index in range(len(self._rungs)) for line in self._lines(index, width)]
        self.update(Text("\n", no_wrap=True).join(lines))


class CardPane(VerticalScroll, can_focus=False):
    """`load` the state of play. `who_key`: the action by which its screen unfolds the persona."""

    DEFAULT_CSS = """
    CardPane {
        scrollbar-size-vertical: 1;
        CueCard, LabelledCard { max-height: 9999; overflow: hidden; }
        #who { padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
        #persona { padding: 0 1 1 1; color: $foreground 85%; }
    }
    """

    def __init__(self, who_key: str) -> None:
        super().__init__()
        self._who_key = who_key
        self._place: tuple[int | None, int | None] | None = None

    def compose(self) -> ComposeResult:
        yield Lines(id="who")
        yield PlainText(id="persona")
        yield CueCard()
        yield LabelledCard()
        yield Ladder()

    def on_mount(self) -> None:
        for hidden in ("#persona", "CueCard", "LabelledCard", "Ladder"):
            self.query_one(hidden).display = False

    def load(self, state: PlayState, later: present.Later = "titles") -> None:
        """`later`: what shows of stages to come."""
        cue_card, card = self.query_one(CueCard), self.query_one(LabelledCard)
        number, stage = state.stage_number, state.stage
        cue_card.display = stage is not None
        if stage and number:
            cue_card.load(stage, number, len(state.task.stages))
            card.load("", ())
        else:
            card.load(*_card(state))
        self.query_one(Ladder).load(present.rungs_of(state, later))
        persona = state.task.persona
        self.query_one("#who", Lines).load(_who(persona, self._who_key))
        self.query_one("#who").display = persona is not None
        texts = (persona.identity, persona.behaviour) if persona else ()
        self.query_one("#persona", PlainText).load("\n\n".join(filter(None, texts)))
        place = (number, state.step_number)
        if place != self._place:
            # Another card: from its top, wherever the last one was scrolled to.
            self._place = place
            self.scroll_home(animate=False)

    def fold_persona(self) -> None:
        """Show or hide who the person plays."""
        persona = self.query_one("#persona")
        persona.display = not persona.display
        self.scroll_home(animate=False)

    @property
    def held(self) -> bool:
        """Whether the keys go to something in here."""
        focused = self.screen.focused
        return focused is not None and self in focused.ancestors_with_self


def _card(state: PlayState) -> tuple[str, list[Section], str]:
    chain, number = state.chain, state.step_number
    if chain and number is not None:
        return _step_card(state, chain, number)
    over = state.phase in ("concluding", "ended")
    if chain or state.task.stages:
        done = _("The whole task is answered.") if chain else _("Every stage is said.")
        how = "" if over else spaced(done, _("{SUBMIT} ends the dialogue."))
        return "✓", [Section(_("DONE"), done + hint(how, typing=True))], ""
    sections = [Section(_("QUERY"), state.task.query, "strong")]
    if not over:
        advice = hint(
            _("Ask this, and answer what the agent asks back. {SUBMIT} ends with its answer."),
            typing=True,
        )
        sections.append(Section(_("HOW"), advice, "muted"))
    return _("No persona"), sections, ""


def _step_card(
    state: PlayState, chain: CheckpointChain, number: int
) -> tuple[str, list[Section], str]:
    step = chain.steps[number]
    sections = [
        Section(_("STEP"), step.question),
        Section(_("TARGET"), " / ".join(step.names), "muted"),
    ]
    told = ""
    if step.ambiguity:
        kind = _(AMBIGUITY[step.ambiguity.type])
        label = _("CLUE, IF ASKED {kind}").format(kind=kind)
        sections.append(Section(label, step.ambiguity.clue, "strong"))
        told = _("clue: {told}").format(told=present.clue_told(state.released_in(number)))
    if chain.forbidden:
        sections.append(Section(_("NEVER SAY"), listed(chain.forbidden), "bad"))
    return f"▸ {number + 1}/{len(chain.steps)}", sections, told


def _who(persona: Persona | None, key: str) -> list[list[Piece]]:
    if persona is None:
        return []
    name = one_line(persona.name, 40) or _("The persona")
    told = _("{key} who?").format(key=shown_key(key, typing=True))
    return [[Piece(name, "strong"), Piece(f"  {told}", "muted")]]


class FiguresPane(VerticalScroll):
    """`load` the figures; call it again when something happened, and every second or so for the time."""

    DEFAULT_CSS = """
    FiguresPane { width: 30; padding: 0 1; scrollbar-size-vertical: 1; }
    """

    def compose(self) -> ComposeResult:
        yield Lines(id="figures")

    def load(
        self,
        figures: present.PlayFigures,
        *,
        now: datetime | None = None,
        currency: str = "USD",
        context: int | None = None,
        listening: Listening | None = None,
    ) -> None:
        """`now`: up to when time counts, None for the last event; `context`: tokens that the agent's
        model can read, where that is known; `listening`: how many simulators there are and have
        answered in this turn.
        """
        told = present.figure_lines(
            figures, now=now, currency=currency, context=context, listening=listening
        )
        self.query_one("#figures", Lines).load(told)

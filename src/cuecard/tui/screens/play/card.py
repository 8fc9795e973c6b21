"""The left of the Play screen: who the person plays, the card in hand, and what came and comes."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from cuecard.core.i18n import _
from cuecard.core.tasks import CheckpointChain, Persona
from cuecard.core.text import one_line
from cuecard.tui.screens.play.ladder import Ladder
from cuecard.tui.state.labels import AMBIGUITY
from cuecard.tui.state.play import PlayState
from cuecard.tui.state.play_ladder import Later, clue_told, rungs_of
from cuecard.tui.state.transcript import Piece
from cuecard.tui.widgets.cue_card import CueCard
from cuecard.tui.widgets.labelled_card import LabelledCard, Section
from cuecard.tui.widgets.pieces import Lines
from cuecard.tui.widgets.plain import PlainText


class CardPane(VerticalScroll, can_focus=False):
    """`load` the state of play."""

    DEFAULT_CSS = """
    CardPane {
        scrollbar-size-vertical: 1;
        CueCard, LabelledCard { max-height: 9999; overflow: hidden; }
        #who { padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
        #persona { padding: 0 1 1 1; color: $foreground 85%; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
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

    def load(self, state: PlayState, later: Later = "titles") -> None:
        """`later`: what shows of stages to come."""
        cue_card, card = self.query_one(CueCard), self.query_one(LabelledCard)
        number, stage = state.stage_number, state.stage
        cue_card.display = stage is not None
        if stage and number:
            cue_card.load(stage, number, len(state.task.stages))
            card.load("", ())
        else:
            card.load(*_card(state))
        self.query_one(Ladder).load(rungs_of(state, later))
        persona = state.task.persona
        self.query_one("#who", Lines).load(_who(persona))
        self.query_one("#who").display = persona is not None
        self.query_one("#persona", PlainText).load(_persona_text(persona))
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
        how = "" if over else " " + _("^g ends the dialogue.")
        return "✓", [Section(_("DONE"), done + how)], ""
    sections = [Section(_("QUERY"), state.task.query, "strong")]
    if not over:
        advice = _("Ask this, and answer what the agent asks back. ^g ends with its answer.")
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
        told = _("clue: {told}").format(told=clue_told(state.released_in(number)))
    if chain.forbidden:
        sections.append(Section(_("NEVER SAY"), ", ".join(chain.forbidden), "bad"))
    return f"▸ {number + 1}/{len(chain.steps)}", sections, told


def _who(persona: Persona | None) -> list[list[Piece]]:
    if persona is None:
        return []
    name = one_line(persona.name, 40) or _("The persona")
    return [[Piece(name, "strong"), Piece("  " + _("^r who I am"), "muted")]]


def _persona_text(persona: Persona | None) -> str:
    return "\n\n".join(filter(None, (persona.identity, persona.behaviour))) if persona else ""

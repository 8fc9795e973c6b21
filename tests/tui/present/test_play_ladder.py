from __future__ import annotations

from cuecard.tui.present.play_decisions import Insertion, Reading
from cuecard.tui.present.play_panes import Rung, rungs_of
from play_rooms import FIRST, SECOND, Play, at_first_step, at_second_stage, chain_task, persona_task


def told(rung: Rung) -> str:
    return "\n".join(piece.text for piece in (*rung.head, *rung.fold))


def test_a_stage_that_is_said_opens_to_its_line_and_where_it_was_said() -> None:
    first, second = rungs_of(at_second_stage().state)
    assert told(first).startswith("✓ \n1 First")
    assert FIRST in told(first)
    assert "said in turn 1" in told(first)
    assert (told(second), second.fold) == ("▸ \n2 Second", ())


def test_other_words_show_beside_the_line() -> None:
    play = at_second_stage()
    play.state.insert(Insertion.LINE)
    play.say("Where was that person born, into what family?")
    shown = told(rungs_of(play.state)[1])
    assert SECOND in shown
    assert "said in turn 2, in other words:" in shown
    assert "into what family?" in shown


def test_of_later_stages_shows_what_the_configuration_says() -> None:
    state = Play(persona_task()).state
    assert [len(rungs_of(state, later)) for later in ("titles", "nothing", "lines")] == [2, 1, 2]
    assert rungs_of(state)[1].fold == ()
    assert SECOND in told(rungs_of(state, "lines")[1])
    chain = Play(chain_task()).state
    assert len(rungs_of(chain, "nothing")) == 1
    assert "Cabrera" not in told(rungs_of(chain)[1])
    assert "Cabrera" in told(rungs_of(chain, "lines")[1])


def test_a_step_that_is_done_tells_its_target_its_clue_and_how_it_was_read() -> None:
    play = at_first_step()
    play.state.reading = Reading.ASKED
    play.say("The first one after the war.")
    play.answer("The 1948 Games.")
    play.state.reading = Reading.RIGHT
    play.say("Yes.")
    shown = told(rungs_of(play.state)[0])
    for word in ("1948 Games", "released in turn 2", "right answer", "turn 3"):
        assert word in shown
    missed = at_first_step()
    missed.state.reading = Reading.RIGHT
    missed.say("Yes.")
    assert "not released yet" in told(rungs_of(missed.state)[0])

from cuecard.core.engine.events import AgentSpoke, Marked, Termination, TrialEnded
from cuecard.core.engine.messages import AgentReply, Compaction
from cuecard.core.scoring.trial_score import score_interaction

STAGE = {"title": "s", "cue": {"kind": "start", "text": "t"}, "line": "l"}


def test_known_answer(build):
    persona = {"identity": "i", "initial_query": "q", "stages": [STAGE] * 4}
    task = build.task(build.graph("a r b"), persona=persona)
    log = build.log(
        build.user(0),
        build.model(0, 0, 100, 10),
        build.search(0),
        build.model(0, 1, 150, 20),
        build.agent(0),
        build.model(1, 0, 999, 99, part="user"),
        build.user(1, stage=1),
        build.fetch(1),
        build.agent(1),
        build.user(2, stage=2),
        build.agent(2),
        build.user(3, stage=2),
        build.user(4, stage=9),
        build.model(4, 0, 50, 5, part="conclusion"),
    )
    assert {m.name: (m.value, m.n) for m in score_interaction(task, log)} == {
        "agent_turns": (3, 1),
        "user_turns": (5, 1),
        "agent_messages": (2, 1),
        "message_ratio": (2 / 5, 5),
        "compactions": (0, 1),
        "done": (None, 0),
        "dismissive": (0, 3),
        "redirects": (0, 3),
        "stages_disclosed": (2, 4),
        "stage_share": (0.5, 4),
        "tool_calls": (2, 1),
        "prompt_tokens": (300, 3),
        "completion_tokens": (35, 3),
        "cached_tokens": (0, 3),
        "reasoning_tokens": (0, 3),
    }


def test_without_a_persona_there_is_no_share_of_stages(build, values):
    measures = score_interaction(build.task(build.graph("a r b")), ())
    got = values(measures)
    assert got["stage_share"] is None
    assert got["stages_disclosed"] == 0
    assert got["tool_calls"] == 0


def test_what_got_nothing_out_of_the_user(build, values):
    persona = {"identity": "i", "initial_query": "q", "stages": [STAGE] * 4}
    task = build.task(build.graph("a r b"), persona=persona)

    def says(turn: int, text: str) -> AgentSpoke:
        return AgentSpoke(turn=turn, reply=AgentReply(text=text))

    cut = Compaction(strategy="summary", before=900, limit=800)
    log = build.log(
        build.user(0, stage=1),
        says(0, "Which colour do you like?"),
        build.user(1),
        says(1, "Here is a list."),
        build.user(2),
        Marked(part="agent", turn=2, step=0, mark=cut),
        says(2, "Is it a house or a flat?"),
        build.user(3, stage=2),
        TrialEnded(termination=Termination.USER_DONE),
    )
    got = values(score_interaction(task, log))
    assert got["dismissive"] == got["redirects"] == 1 / 3
    assert got["compactions"] == 1
    assert got["done"] == 1
    assert got["message_ratio"] == 3 / 4

from cuecard.core.scoring.interaction import score_interaction

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
        "stages_disclosed": (2, 4),
        "stage_share": (0.5, 4),
        "tool_calls": (2, 1),
        "prompt_tokens": (300, 3),
        "completion_tokens": (35, 3),
    }


def test_without_a_persona_there_is_no_share_of_stages(build, values):
    measures = score_interaction(build.task(build.graph("a r b")), ())
    got = values(measures)
    assert got["stage_share"] is None
    assert got["stages_disclosed"] == 0
    assert got["tool_calls"] == 0

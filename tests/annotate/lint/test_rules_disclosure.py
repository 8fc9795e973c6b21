"""Each rule on a task that breaks it, and on one that comes near and does not."""

from __future__ import annotations

import pytest

from cuecard.annotate.lint.wording import asks_to_confirm, count_asks, is_crammed, is_vague
from lint_tasks import GRAPH_EN, Changes, found

S, T = "persona.stages", "gold.triples"
CLUE = "gold.steps[0].ambiguity.clue"
PERSONA = {**GRAPH_EN["persona"], "initial_query": "Rivers, please."}
SEVEN = GRAPH_EN["persona"]["stages"][:7]

BREAKS: list[tuple[str, str, Changes, str]] = [
    ("L006", "en", {f"{S}[0].line": "Was it Gustave Eiffel who built the Tower?"}, f"{S}[0].line"),
    ("L006", "en", {f"{S}[0].line": "Was it BONICKHAUSEN?"}, f"{S}[0].line"),
    ("L006", "en", {f"{S}[1].not_met": "I hear he came from Dijon."}, f"{S}[1].not_met"),
    ("L006", "en", {f"{S}[1].line": "Was he born in Dijon?"}, f"{S}[1].line"),
    ("L006", "en", {f"{S}[1].line": "Did Otis come later?"}, f"{S}[1].line"),
    ("L006", "en", {"persona.identity": "A tourist who read about Gustave Ferrié."}, "persona.identity"),
    ("L006", "en", {"persona.initial_query": "I saw the Exposition Universelle on a poster."}, "persona.initial_query"),
    ("L006", "zh", {f"{S}[1].line": "听说他做过太史令，是哪里人？"}, f"{S}[1].line"),
    ("L006", "zh", {"persona.initial_query": "你好，《后汉书》里那台仪器是什么？"}, "persona.initial_query"),
    ("L006", "table", {"persona": {**PERSONA, "initial_query": "Rivers like the Danube, please."}}, "persona.initial_query"),
    ("L006", "world", {"query": "In 2035, with 900 litres left, when does the retreat rule apply?"}, "query"),
    ("L006", "chain", {"gold.steps[1].target": "Delta Town", "gold.steps[+]": {"question": "How long?", "target": "900 km"}, CLUE: "The one that ends at Delta Town."}, CLUE),
    ("L006", "chain", {"gold.steps[0].aliases": ["Long Azure"], "gold.opening": "How long is the Long Azure?"}, "gold.opening"),
    ("L007", "world", {"gold.facts[0].value": "25", "gold.facts[0].unit": "days"}, "gold.facts[0].value"),
    ("L009", "chain", {CLUE: "I mean the Blue River."}, CLUE),
    ("L009", "chain", {"gold.opening": "Is it 900 km long?"}, "gold.opening"),
    ("L011", "chain", {CLUE: "I mean the Blue River.", "gold.forbidden": []}, CLUE),
    ("L024", "en", {f"{S}[3].cue.text": "The reply stays below a budget of 500 euros"}, f"{S}[3].cue.text"),
    ("L024", "en", {f"{S}[3].cue.text": "The reply heeds the deadline"}, f"{S}[3].cue.text"),
    ("L024", "en", {f"{S}[2].cue.text": "The agent asks whether to compare it with Blackpool"}, f"{S}[2].cue.text"),
    ("L024", "zh", {f"{S}[3].cue.text": "回复遵守了预算"}, f"{S}[3].cue.text"),
    ("L024", "zh", {f"{S}[3].cue.text": "回复解释了“候风”"}, f"{S}[3].cue.text"),
    ("L025", "en", {f"{S}[3].cue.text": "the reply names the builder."}, f"{S}[3].cue.text"),
    ("L025", "zh", {f"{S}[5].cue.text": "对方主动问要不要查年份"}, f"{S}[5].cue.text"),
    ("L025", "en", {f"{S}[1].cue.terms": ["Eiffel", "he"], f"{S}[3].cue.terms": ["He", "Eiffel"]}, f"{S}[3].cue.text"),
    ("L026", "en", {f"{S}[1].line": "Where was he born? When? And who taught him?"}, f"{S}[1].line"),
    ("L026", "en", {f"{S}[1].line": "Who built it, when, where does it stand, how high is it and what for?"}, f"{S}[1].line"),
    ("L026", "zh", {f"{S}[1].line": "他是哪里人？哪一年出生？写过什么书？"}, f"{S}[1].line"),
    ("L027", "en", {S: SEVEN, T: GRAPH_EN["gold"]["triples"][:7]}, S),
    ("L028", "en", {f"{S}[2].cue.kind": "mentions"}, S),
    ("L028", "zh", {f"{S}[1].cue.kind": "asks", f"{S}[3].cue.kind": "asks"}, S),
    ("L029", "en", {f"{S}[2].cue.text": "The agent asks for confirmation"}, f"{S}[2].cue.text"),
    ("L029", "en", {f"{S}[3].cue.text": "The agent replies"}, f"{S}[3].cue.text"),
    ("L029", "zh", {f"{S}[2].cue.text": "对方请求确认"}, f"{S}[2].cue.text"),
    ("L029", "zh", {f"{S}[3].cue.text": "智能体给出了有用的信息"}, f"{S}[3].cue.text"),
]  # fmt: skip

KEEPS: list[tuple[str, str, Changes]] = [
    ("L006", "en", {f"{S}[1].line": "Where was Gustave Eiffel born?"}),
    ("L006", "en", {f"{S}[1].line": "Is he from Dijonnais country?"}),
    ("L006", "en", {f"{S}[0].line": "Who built the Tower, a man?", f"{T}[0].stage": None}),
    ("L006", "zh", {f"{S}[1].line": "张衡是哪里人？"}),
    ("L006", "table", {"query": "Of the Danube and others list River, Length and Opened.", "persona": {**PERSONA, "initial_query": "The Danube, please."}}),
    ("L006", "world", {"query": "In 2035, when does the retreat rule of the station apply?"}),
    ("L006", "chain", {CLUE: "Not the Red River."}),
    ("L007", "world", {"gold.facts[0].value": "25"}),
    ("L009", "chain", {CLUE: "I mean the blue one."}),
    ("L024", "en", {f"{S}[2].line": "I have a budget of 500 euros. How high is it?", f"{S}[3].cue.text": "The reply stays below a budget of 500 euros"}),
    ("L024", "en", {f"{S}[2].cue.text": "The agent asks whether to look into Gustave Eiffel"}),
    ("L024", "en", {f"{S}[2].cue.text": "The agent asks about the budget"}),
    ("L024", "zh", {f"{S}[2].line": "预算不多，哪一年造成的？", f"{S}[3].cue.text": "回复遵守了预算"}),
    ("L026", "en", {f"{S}[1].line": "When and where was he born? And who taught him?"}),
    ("L026", "en", {f"{S}[1].line": "Please give me his town, his year of birth, his school and his first bridge."}),
    ("L026", "zh", {f"{S}[1].line": "请告诉我他的籍贯、生卒年和著作。"}),
    ("L028", "en", {f"{S}[6].cue.kind": "asks"}),
    ("L029", "en", {f"{S}[3].cue.text": "The agent asks for confirmation of the year"}),
    ("L029", "en", {f"{S}[3].cue.text": "The agent replies", f"{S}[3].cue.terms": ["wrought"]}),
    ("L029", "zh", {f"{S}[3].cue.text": "对方请求确认地动仪的年份"}),
    ("L027", "table", {}),
]  # fmt: skip


@pytest.mark.parametrize(("code", "base", "changes", "place"), BREAKS)
def test_what_breaks_a_rule_is_found(code: str, base: str, changes: Changes, place: str):
    assert (code, place) in found(base, changes)


@pytest.mark.parametrize(("code", "base", "changes"), KEEPS)
def test_what_keeps_a_rule_is_not(code: str, base: str, changes: Changes):
    assert code not in [found_code for found_code, _place in found(base, changes)]


def test_what_was_given_away_once_is_told():
    line = "Was it built for the Exposition Universelle?"
    again = {f"{S}[0].line": line, f"{S}[1].line": line, f"{S}[2].not_met": line}
    assert found("en", again) == [("L006", f"{S}[0].line")]


@pytest.mark.parametrize(
    ("line", "asks"),
    [
        ("", 0),
        ("Good, that settles it.", 0),
        ("Who built it, and in which year?", 1),
        ("Who built it? I'd also like to know when it opened.", 2),
        ("Tell me who built it; where does it stand; how high is it?", 3),
        ("Could you tell me about its lifts, its paint and its radio?", 1),
        ("谁造的，哪一年造的？", 1),
        ("先说说张衡。他的出生年份和籍贯是什么？还有他的著作叫什么？官职是什么？", 3),
        ("请帮我把年份、籍贯和著作都查一下。", 1),
    ],
)
def test_asks_are_counted(line: str, asks: int):
    assert count_asks(line) == asks


@pytest.mark.parametrize(
    ("cue", "vague"),
    [
        ("The agent asks for confirmation", True),
        ("The assistant provides some information", True),
        ("User is satisfied", True),
        ("Agent understands the request", True),
        ("对方回复了", True),
        ("模型主动提问", True),
        ("上一阶段已经完成", True),
        ("The agent asks about the budget", False),
        ("The reply names the builder", False),
        ("The moka pot is covered", False),
        ("回复说出了地动仪制造者的名字", False),
        ("主动询问还需要什么口味", False),
    ],
)
def test_vague_cues(cue: str, vague: bool):
    assert is_vague(cue) is vague
    assert asks_to_confirm("The agent asks for confirmation")
    assert asks_to_confirm("请求用户确认")
    assert not asks_to_confirm("The agent asks to confirm the booking date")


@pytest.mark.parametrize(
    ("tail", "crammed"),
    [
        ("Achille and Pier Giacomo Castiglioni", False),
        ("London, England", False),
        ("1,233 km", False),
        ("solar eclipse of 15 February 1961", False),
        ("“天地之中”历史建筑群", False),
        ("《诗经》", False),
        ("Red, Green and Blue", True),
        ("Eiffel; since 1889", True),
        ("Otis, Roux, Combaluzier, Lepape", True),
        ("张衡、祖冲之", True),
        ("张衡，后来又改由弟子主持，前后十年", True),
    ],
)
def test_crammed_tails(tail: str, crammed: bool):
    assert is_crammed(tail) is crammed

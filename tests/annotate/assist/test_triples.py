from __future__ import annotations

from typing import Any

import pytest

from assist_scripts import propose, says, scripted
from cuecard.annotate.assist.proposals import Proposal, apply
from cuecard.annotate.assist.triples import FromSource, SourceText, parts_of
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.task_data import blank_task, blank_triple
from cuecard.core.agents.briefing import estimate
from cuecard.core.errors import Halt
from openai_server import error, text

URL = "https://example.org/espresso"
PAGE = """Angelo Moriondo patented an espresso  machine in 1884.
He was born in Turin in 1851. “It won a bronze medal.” Luigi Bezzera improved it in 1901!
"""


def graph(*triples: tuple[str, str, str], language: Any = "en") -> dict[str, Any]:
    data = blank_task("t", "Espresso", "graph", language)
    if triples:
        data["gold"]["triples"] = [
            {**blank_triple(), "head": h, "relation": r, "tail": t} for h, r, t in triples
        ]
    return data


def triple(head: str, relation: str, tail: str, sentence: str, stage: Any = None) -> dict[str, Any]:
    return {
        "sentence": sentence,
        "head": head,
        "relation": relation,
        "tail": tail,
        "stage": stage,
    }


def by_label(proposal: Proposal) -> dict[str, Any]:
    return {item.label: item for item in proposal.items}


async def test_triples_come_with_their_sentence_and_source_and_are_checked():
    drafted = [
        triple("Angelo Moriondo", "patented", "1884", "angelo", 7),
        triple(
            "Angelo Moriondo",
            "patent year",
            "1884",
            "Angelo Moriondo patented an espresso machine in 1884.",
            1,
        ),
        triple("Angelo Moriondo", "born in", "Turin", "He was born in Turin in 1851."),
        triple("Luigi Bezzera", "improved in", "1901", "Luigi Bezzera improved it in 1901"),
        triple("Luigi Bezzera", "born in", "Milan", "Luigi Bezzera was born in Milan."),
        triple("LUIGI Bezzera", "Improved in", "1901", "Luigi Bezzera improved it in 1901"),
        {"head": "", "relation": "x", "tail": "y"},
        "nonsense",
    ]
    data = graph(("Luigi Bezzera", "improved in", "1901"))
    data["persona"]["stages"][0]["line"] = "Who was first?"
    proposal, server = await propose(
        data,
        FromSource(PAGE, f" {URL} ", "dates"),
        scripted(lambda _material, _number: {"triples": drafted}),
    )
    items = by_label(proposal)
    assert len(items) == 5
    good = items["Angelo Moriondo → patent year → 1884"]
    # The words of the source, not of the model.
    assert good.evidence == "Angelo Moriondo patented an espresso machine in 1884."
    assert good.after == {
        "head": "Angelo Moriondo",
        "relation": "patent year",
        "tail": "1884",
        "stage": 1,
        "sources": [URL],
        "note": good.evidence,
    }
    assert (good.checked, good.suggested) == ((), True)
    born = items["Angelo Moriondo → born in → Turin"]
    assert not born.suggested
    assert "“Angelo Moriondo”" in born.checked[0]
    for label, reason in (
        ("Luigi Bezzera → born in → Milan", "not in the text"),
        ("Angelo Moriondo → patented → 1884", "not in the text"),
        ("Luigi Bezzera → improved in → 1901", "already"),
    ):
        assert not items[label].suggested
        assert any(reason in told for told in items[label].checked)
    assert (proposal.spent.calls, proposal.spent.cost) == (1, pytest.approx(18e-6))
    shown = server.requests[0].messages[0]["content"]
    assert "Luigi Bezzera" in shown
    assert "dates" in shown


async def test_accepted_triples_are_one_step_and_noted_as_drafted():
    drafted = [
        triple("Angelo Moriondo", "patent year", "1884", PAGE.splitlines()[0], 1),
        triple("Luigi Bezzera", "improved in", "1901", "Luigi Bezzera improved it in 1901!"),
    ]
    data = graph()
    proposal, _server = await propose(
        data, FromSource(PAGE, URL), scripted(lambda _m, _n: {"triples": drafted})
    )
    edit = TaskEdit(data)
    applied = apply(edit, proposal, {item.id for item in proposal.items})
    # The blank triple that a new task begins with is filled first.
    assert list(applied.places.values()) == ["gold.triples[0]", "gold.triples[1]"]
    assert [t["tail"] for t in edit.items(("gold", "triples"))] == ["1884", "1901"]
    (origin,) = edit.origins
    assert (origin.kind, origin.by, origin.items) == ("triples", "drafter", 2)
    assert origin.prompt == proposal.prompt_hash
    # Taken in a second time they change nothing, and nothing is noted.
    assert apply(edit, proposal, {"t1", "t2"}).count == 0
    assert len(edit.origins) == 1
    edit.undo()
    assert (edit.data, edit.origins) == (data, ())


async def test_a_long_source_goes_in_parts_and_failed_parts_spoil_no_other():
    lines = [f"Machine number {n} was built in the year {1800 + n} in Turin." for n in range(400)]
    told: list[str] = []

    def script(material: dict[str, Any], number: int) -> Any:
        told.extend(material["source"])
        if number == 1:
            return error(500)
        if number in (2, 3):
            return text("I am sorry, I cannot help with that.")
        first = material["source"][0]
        name = first.split(" was")[0]
        return {"triples": [triple(name, "built in", "Turin", first)]}

    proposal, server = await propose(graph(), FromSource("\n".join(lines)), scripted(script))
    assert set(lines) <= set(told)
    # Three parts and more; what makes no sense is asked again.
    assert len(server.requests) >= 6
    assert 1 <= len(proposal.items) < len(server.requests)
    assert "1 part of" in proposal.notes[0]
    assert all(item.suggested for item in proposal.items)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "I am sorry, I cannot do that.",
        "[red]bold[/] \x1b[31m {{{{ [[[",
        '{"facts": 3}',
        "[1, 2, 3]",
        '{"triples": "none"}',
        '{"triples": [{"head": "a"}, null, 4, []]}',
    ],
)
async def test_garbage_gives_no_items_and_what_was_said(said: str):
    proposal, _server = await propose(graph(), FromSource(PAGE), lambda _request: text(said))
    assert proposal.items == ()
    assert (said in proposal.raw) if said else not proposal.raw


async def test_what_a_cut_reply_said_whole_is_kept():
    cut = (
        '{"triples": ['
        + str(triple("Luigi Bezzera", "improved", "it", "Luigi Bezzera improved it in 1901!"))
        .replace("'", '"')
        .replace("None", "null")
        + ', {"head": "An'
    )
    proposal, _server = await propose(
        graph(), FromSource(PAGE), lambda _request: text(cut, finish="length")
    )
    assert [item.label for item in proposal.items] == ["Luigi Bezzera → improved → it"]


async def test_a_model_that_refuses_altogether_is_an_error():
    with pytest.raises(Halt, match="no such key"):
        await propose(graph(), FromSource(PAGE), lambda _request: error(401, "no such key"))


async def test_chinese_sources():
    page = "雅典娜于一九〇一年发明了浓缩咖啡机。它在米兰展出，“获得铜奖。”后来由德西德里奥·帕沃尼买下专利。"
    drafted = [
        triple("德西德里奥·帕沃尼", "买下", "专利", "后来由德西德里奥·帕沃尼 买下专利。"),
        triple("浓缩咖啡机", "展出于", "罗马", "它在罗马展出"),
    ]
    proposal, server = await propose(
        graph(language="zh"), FromSource(page), scripted(lambda _m, _n: says({"triples": drafted}))
    )
    assert [item.suggested for item in proposal.items] == [True, False]
    assert proposal.items[0].evidence == "后来由德西德里奥·帕沃尼买下专利。"
    assert "三元组" in server.requests[0].messages[0]["content"]


def test_parts_are_cut_at_sentences_and_overlap():
    english = "Dr. Who lived at example.org in 1.5 rooms. " * 40
    chinese = "这座桥建于一九三七年。" * 200
    table = "| a | b " * 3000
    for page in (english, chinese, table, "x" * 5000):
        parts = parts_of(page, 200)
        assert len(parts) > 1
        assert all(sum(map(estimate, part)) <= 320 for part in parts)
        squeezed = "".join(page.split())
        assert all("".join(piece.split()) in squeezed for part in parts for piece in part)
    for one, other in zip(parts_of(english, 200), parts_of(english, 200)[1:], strict=False):
        assert other[0] in one
    assert parts_of("  \n ", 200) == []
    assert parts_of("One.", 200) == [("One.",)]


def test_quotations_are_found_whatever_their_layout():
    source = SourceText("The “Ideale”  was\nshown in Ｍｉｌａｎ — in 1906. Cafe\u0301 Moka opened.")
    assert (
        source.find('The "Ideale" was shown in Milan - in 1906')
        == "The “Ideale” was shown in Ｍｉｌａｎ — in 1906"
    )
    assert source.find("Café Moka opened") == "Café Moka opened"
    assert source.find("the “ideale” was") is None
    assert source.find("was") is None
    assert source.find("") is None

"""Personas, chains, facts and translations as models give them, well and badly."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from assist_scripts import TODAY, config, propose, says, scripted, stage
from cuecard.annotate.assist.checkpoints import FromQuestion
from cuecard.annotate.assist.drafting import Drafting, Inputs, TranslationInputs
from cuecard.annotate.assist.facts import FromPairs, pairs_in
from cuecard.annotate.assist.persona import PersonaInputs
from cuecard.annotate.assist.proposals import Proposal, ProposedItem, apply
from cuecard.annotate.assist.translation import translated, translated_id
from cuecard.annotate.authoring.edit import TaskEdit, invalid
from cuecard.annotate.authoring.task_data import blank_task, blank_triple
from cuecard.core.tasks.gold import Family
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.tasks.yaml_io import load_task
from judge_scripts import material_of
from openai_server import OpenAIServer, Reply, Request, text

SAMPLES = "sample_tasks"


def blank(family: Family, language: TaskLanguage = "en", **more: Any) -> dict[str, Any]:
    return {**blank_task("t", "Title", family, language), **more}


def graph() -> dict[str, Any]:
    data = blank("graph", query="Tell me of Ada and Bob.", sub_queries=["Who is Ada?"])
    data["gold"]["triples"] = [
        {**blank_triple(), "head": h, "relation": r, "tail": t}
        for h, r, t in (("Ada", "wrote", "Notes"), ("Notes", "printed in", "London"))
    ]
    return data


def items_of(proposal: Proposal) -> dict[str, ProposedItem]:
    return {item.id: item for item in proposal.items}


def accept_all(data: dict[str, Any], proposal: Proposal) -> dict[str, Any]:
    edit = TaskEdit(data)
    apply(edit, proposal, {item.id for item in proposal.items})
    return edit.data


def persona(*stages: dict[str, Any], **more: Any) -> dict[str, Any]:
    person = {"name": "Mia", "identity": "Mia, 40, a teacher.", "initial_query": "Hello there!"}
    return {**person, "behaviour": "Friendly.", "stages": list(stages), **more}


async def test_a_persona_takes_the_place_of_the_blank_one_and_its_triples():
    stages = [stage(n) for n in range(1, 10)]
    stages[1] |= {"triples": [0, 0, 9, "1", None]}
    stages[2] |= {"line": "Was it printed in London?", "cue_kind": "START"}
    stages[3] |= {"cue": "The reply names thing 5"}
    stages[5] |= {"cue_kind": "completes"}
    data = graph()
    proposal, server = await propose(
        data, PersonaInputs(), scripted(lambda _m, n: persona(*stages[:4] if n == 0 else stages))
    )
    # The first draft was too short, and the model was told so.
    assert len(server.requests) == 2
    assert "from 8 to 20" in server.requests[1].last["content"]
    items = items_of(proposal)
    assert list(items) == ["name", "identity", "initial_query", "behaviour"] + [
        f"s{n}" for n in range(1, 10)
    ]
    assert items["s2"].links == (("Ada", "wrote", "Notes"), ("Notes", "printed in", "London"))
    assert "start here" in items["s3"].checked[0]
    assert "same cue" in items["s4"].checked[0]
    assert [i.id for i in proposal.items if not i.suggested] == ["s3", "s4", "s5"]
    new = accept_all(data, proposal)
    assert invalid(new) == []
    assert [s["cue"]["kind"] for s in new["persona"]["stages"]][:3] == [
        "start",
        "mentions",
        "mentions",
    ]
    assert {t["stage"] for t in new["gold"]["triples"]} == {2}
    assert any("wait for the agent to ask" in note for note in proposal.notes)


async def test_a_line_that_gives_gold_away_is_not_ticked():
    stages = [stage(n) for n in range(1, 10)]
    stages[1] |= {"line": "I hear it was printed in London?", "triples": [0]}
    stages[5] |= {"line": "Where were the Notes printed?", "triples": [1]}
    proposal, _server = await propose(
        graph(), PersonaInputs(), scripted(lambda _m, _n: persona(*stages))
    )
    items = items_of(proposal)
    assert not items["s2"].suggested
    assert "London" in items["s2"].checked[0]
    assert items["s6"].suggested


async def test_further_stages_follow_those_that_are_written_or_take_their_place():
    data = accept_all(graph(), (await _persona(graph()))[0])
    more = persona(stage(10), stage(11), identity="Somebody else.")
    proposal, server = await propose(data, PersonaInputs(), scripted(lambda _m, _n: more))
    items = items_of(proposal)
    assert list(items) == ["identity", "s10", "s11"]
    assert not items["identity"].suggested
    assert "from 1 to 11" in " ".join(server.requests[0].messages[0]["content"].split())
    edit = TaskEdit(data)
    apply(edit, proposal, {"s11"})
    assert [s["title"] for s in edit.get(("persona", "stages"))][8:] == ["Stage 9", "Stage 11"]
    anew = (await _persona(data, anew=True))[0]
    assert sum(item.deed == "remove" for item in anew.items) == 9
    edit = TaskEdit(data)
    apply(edit, anew, {item.id for item in anew.items if item.id not in ("s1", "s2")})
    assert [s["title"] for s in edit.get(("persona", "stages"))] == [
        f"Stage {n}" for n in range(3, 10)
    ]
    # All old ones out and no new one in would leave none.
    edit = TaskEdit(data)
    apply(edit, anew, {item.id for item in anew.items if item.deed == "remove"})
    assert len(edit.get(("persona", "stages"))) == 9


async def _persona(data: dict[str, Any], *, anew: bool = False) -> tuple[Proposal, OpenAIServer]:
    whole = persona(*(stage(n) for n in range(1, 10)))
    return await propose(data, PersonaInputs(anew=anew), scripted(lambda _m, _n: whole))


def step(question: str, target: str, **more: Any) -> dict[str, Any]:
    return {"question": question, "target": target, "aliases": [target, "other"], **more}


CLEAR = {
    "ambiguous": "true",
    "type": "Criteria",
    "logic": "It depends.",
    "candidates": ["Everest"],
    "clue": "The farthest from the centre.",
    "terms": "sea level",
}


async def test_a_chain_is_mended_and_checked():
    chain = {
        "opening": "Who climbed the highest mountain first?",
        "steps": [
            step("What is the highest mountain?", "Chimborazo", **CLEAR),
            step("Where is it?", "Ecuador", **CLEAR | {"logic": ""}),
            step("Who climbed Whymper first?", "Whymper", **CLEAR | {"clue": "I mean Whymper."}),
            {"target": "no question"},
        ],
        "final_answer": "Edward Whymper",
        "final_aliases": ["Whymper"],
        "forbidden": ["climbed", "Ecuador"],
    }
    data = blank("checkpoints", query="Old?")
    inputs = FromQuestion("Who climbed Chimborazo first?", "Whymper")
    proposal, server = await propose(data, inputs, scripted(lambda _m, _n: chain))
    assert len(server.requests) == 2
    items = items_of(proposal)
    assert items["query"].before == "Old?"
    assert "added" in items["c1"].checked[0]
    assert "incomplete" in items["c2"].checked[0]
    assert {"the clue names the target", "the question names its own answer"} <= set(
        items["c3"].checked
    )
    assert not any(items[step].suggested for step in ("query", "c1", "c2", "c3"))
    assert items["forbidden"].suggested
    assert items["forbidden"].after == ["Ecuador", "Chimborazo", "Whymper", "Edward Whymper"]
    new = accept_all(data, proposal)
    assert invalid(new) == []
    assert new["gold"]["steps"][0]["ambiguity"]["candidates"] == ["Everest", "Chimborazo"]
    assert new["gold"]["steps"][1]["ambiguity"] is None
    # A second chain takes the place of the first one.
    again, _server = await propose(new, inputs, scripted(lambda _m, _n: chain))
    assert [item.id for item in again.items if item.deed == "remove"] == ["old1", "old2", "old3"]
    assert accept_all(new, again)["gold"] == new["gold"]


async def test_a_weak_draft_deletes_and_overwrites_nothing_unless_it_is_ticked():
    """Five steps that somebody wrote, and a model that has one to offer in their place."""
    data = load_task(Path("sample_tasks/checkpoints-highest-mountain.yaml")).model_dump(mode="json")
    one = {"opening": "Tell me.", "steps": [step("Which?", "X")], "final_answer": "X"}
    proposal, _server = await propose(
        data, FromQuestion("Which one is it?", "X"), scripted(lambda _m, _n: one)
    )
    assert [i.id for i in proposal.items if i.deed == "remove"] != []
    assert [i.id for i in proposal.items if i.before and i.suggested] == []
    edit = TaskEdit(data)
    apply(edit, proposal, {i.id for i in proposal.items if i.suggested})
    steps = data["gold"]["steps"]
    assert edit.data["gold"]["steps"][: len(steps)] == steps
    assert edit.data["query"] == data["query"]


def fact(key: str, value: str, **more: Any) -> dict[str, Any]:
    return {"key": key, "value": value, "kind": "fact", "entity": "A", **more}


async def test_facts_lie_in_the_future_have_one_key_each_and_do_not_give_the_answer():
    world = {
        "facts": [
            fact("Line A passengers 2031", "120"),
            fact("Line B passengers 2031", 100, kind="Rule"),
            fact("Line B passengers  2031", "90"),
            fact("Opening of line A", "2030-06-14"),
            fact("Difference", "20"),
        ],
        "query": "How many more passengers has A than B?",
        "derivation": "120 - 100 = 20",
        "answer": "20",
        "answer_aliases": ["20", "twenty"],
    }
    data = blank("facts")
    inputs = FromPairs("A | B\n\n 线路甲、线路乙 \n")
    proposal, server = await propose(data, inputs, scripted(lambda _m, _n: world))
    items = items_of(proposal)
    asked = " ".join(m["content"] for r in server.requests for m in r.messages)
    assert "2030-06-15" in asked
    assert "“Difference”" in asked or "Difference" in server.requests[1].last["content"]
    assert "second value" in items["f2"].checked[0]
    assert "2030-06-14 is not in the future" in items["f3"].checked
    assert not items["answer"].suggested
    assert items["answer_aliases"].after == ["twenty"]
    new = accept_all(data, proposal)
    assert invalid(new) == []
    assert [f["kind"] for f in new["gold"]["facts"]] == ["fact", "rule", "fact", "fact"]
    assert not any("No fact has a date" in note for note in proposal.notes)
    # A fact of a key that is there is replaced where it stands, if it is ticked at all.
    world["facts"] = [fact("Difference", "21")]
    again, _server = await propose(new, inputs, scripted(lambda _m, _n: world))
    replaced = items_of(again)["f1"]
    assert not replaced.suggested
    assert replaced.before == new["gold"]["facts"][3]
    assert [f["value"] for f in accept_all(new, again)["gold"]["facts"]][3:] == ["21"]


def test_pairs_are_read_as_people_write_them():
    assert pairs_in("A | B\nC, D\nE vs F\n甲、乙\nG - H\nJean-Luc\n") == [
        ["A", "B"],
        ["C", "D"],
        ["E", "F"],
        ["甲", "乙"],
        ["G", "H"],
        ["Jean-Luc"],
    ]


def pseudo(material: dict[str, Any], _number: int) -> dict[str, Any]:
    """Chinese of a kind: names get a mark, texts use the names that they were given."""
    found: list[dict[str, Any]] = []
    for index, source in material["texts"]:
        new = source
        for name, other in material["names"].items():
            new = new.replace(name, other)
        found.append({"index": index, "text": f"译{new}"})
    return {"texts": found}


@pytest.mark.parametrize(
    "file",
    ["espresso", "table-us-states", "checkpoints-highest-mountain", "facts-night-train"],
)
async def test_a_translation_has_the_structure_of_the_original(file: str):
    task = load_task(Path(__file__).parents[3] / "sample_tasks" / f"{file}.yaml")
    data = task.model_dump(mode="json")
    proposal, _server = await propose(data, TranslationInputs(), scripted(pseudo))
    everything = {item.id for item in proposal.items}
    new = translated(data, proposal, everything, translated_id(task.id, "zh"))
    assert invalid(new) == []
    assert (new["id"], new["language"]) == (f"{file}-zh", "zh")
    assert _shape(new["gold"]) == _shape(data["gold"])
    assert new["title"].startswith("译")
    if file == "espresso":
        assert len(proposal.items) > 250
        assert all(item.suggested is not bool(item.checked) for item in proposal.items)
        assert sum(item.suggested for item in proposal.items) > 240
        pairs = zip(data["gold"]["triples"], new["gold"]["triples"], strict=True)
        called: dict[str, set[str]] = {}
        for old, other in pairs:
            assert old["sources"] == other["sources"]
            for end in ("head", "tail", "relation"):
                called.setdefault(old[end], set()).add(other[end])
        assert all(len(names) == 1 for names in called.values())
    # Any part of it is a task too, and the original is as it was.
    some = {item.id for item in proposal.items[::2]}
    assert invalid(translated(data, proposal, some, "half")) == []
    assert data == task.model_dump(mode="json")


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shape(inner) for inner in value]
    return type(value).__name__


async def test_a_translation_is_checked_and_keeps_names_apart():
    data = graph()
    data["query"] = "In 1884 Ada wrote, see https://example.org/a?b=1 please."

    def careless(material: dict[str, Any], _number: int) -> dict[str, Any]:
        short = {"Ada": "某人", "Notes": "某人", "London": "伦敦", "wrote": "写"}
        return {
            "texts": [
                {"index": str(index), "text": short.get(source, "埃达写了，见 example.org。")}
                for index, source in material["texts"]
            ]
        }

    proposal, server = await propose(data, TranslationInputs(), scripted(careless))
    query = next(item for item in proposal.items if item.place == "query")
    assert any("1884" in told and "https://" in told for told in query.checked)
    assert any("“Ada”" in told for told in query.checked)
    assert "数字或网址" in server.requests[-1].last["content"]
    same = next(item for item in proposal.items if item.before == "Notes")
    assert not same.suggested
    new = translated(data, proposal, {item.id for item in proposal.items}, "x")
    (first, second) = new["gold"]["triples"]
    assert (first["head"], first["tail"], second["tail"]) == ("某人", "Notes", "伦敦")
    assert second["head"] == "Notes"


def test_ids_of_translations():
    assert translated_id("espresso", "zh") == "espresso-zh"
    assert translated_id("graph-astronomy-zh", "en") == "graph-astronomy-en"
    assert len(translated_id("x" * 120, "zh")) == 120


KINDS: list[tuple[Family, Inputs]] = [
    ("graph", PersonaInputs()),
    ("checkpoints", FromQuestion("Who?")),
    ("facts", FromPairs("A | B")),
    ("graph", TranslationInputs()),
]


@pytest.mark.parametrize(("family", "inputs"), KINDS)
@pytest.mark.parametrize(
    "said",
    [
        "I'd rather not.",
        '{"stages": [], "steps": [], "facts": [], "texts": []}',
        '{"name": "…", "identity": "...", "stages": [], "steps": [], "facts": [], "texts": []}',
        '{"stages": [{"line": 3}], "steps": [{"question": []}], "facts": [{"key": null}]}',
    ],
)
async def test_garbage_is_no_proposal_of_any_kind(family: Family, inputs: Inputs, said: str):
    data = blank(family, query="Whatever?")
    proposal, _server = await propose(data, inputs, lambda _request: text(said))
    usable = [item for item in proposal.items if item.deed != "remove"]
    if usable:
        assert said.startswith('{"stages": [{"line": 3}]')
    else:
        assert said in proposal.raw


async def test_stopping_keeps_the_parts_that_are_done():
    waiting = asyncio.Event()

    async def script(request: Request) -> Reply:
        if request.number:
            await waiting.wait()
        return says(pseudo(material_of(request), 0))

    data = blank("facts", query="A question? " * 200)
    data["gold"]["facts"] = [
        {**fact(f"key {n} {'word ' * 60}", f"value {n}"), "aliases": [], "sources": []}
        for n in range(40)
    ]
    told: list[tuple[int, int]] = []
    one_done = asyncio.Event()

    def hear(done: int, all_: int) -> None:
        told.append((done, all_))
        if done == 1:
            one_done.set()

    async with OpenAIServer(script) as server:
        drafting = Drafting(
            data,
            TranslationInputs(),
            config(server.url),
            "drafter",
            today=TODAY,
            on_progress=hear,
        )
        running = asyncio.create_task(drafting.run())
        await asyncio.wait_for(one_done.wait(), 5)
        await drafting.stop()
        proposal = await asyncio.wait_for(running, 5)
    assert 1 <= len(proposal.items) < 80
    assert "Stopped: 1 of" in proposal.notes[0]
    assert told[0][0] == 0
    assert told[0][1] > 3

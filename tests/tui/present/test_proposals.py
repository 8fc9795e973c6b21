from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from cuecard.annotate.assist.persona import PersonaInputs
from cuecard.annotate.assist.proposals import Pending, Proposal, ProposalCost, ProposedItem
from cuecard.annotate.assist.triples import FromSource
from cuecard.annotate.authoring.task_data import blank_task, blank_triple
from cuecard.core.config_models import ModelConfig, Price
from cuecard.core.config_schema import AuthoringConfig, Config
from cuecard.core.engine.messages import Usage
from cuecard.tui.present.entries import Entry
from cuecard.tui.present.proposals import ProposalForm, ProposalView, Wanted, cost_of, raw_entries


def config() -> Config:
    price = Price(prompt=0.25, completion=2)
    models = {
        "one": ModelConfig(base_url="http://h/v1", model="tiny"),
        "two": ModelConfig(base_url="http://h/v1", model="two", price=price),
    }
    return Config(models=models, authoring=AuthoringConfig(model="two"))


def graph() -> dict[str, Any]:
    data = blank_task("t", "T", "graph", "en")
    data["gold"]["triples"] = [{**blank_triple(), "head": "a", "relation": "r", "tail": "b"}]
    return data


def texts(entries: list[Entry]) -> str:
    lines: list[str] = []
    for entry in entries:
        lines.append("".join(piece.text for piece in entry.head))
        lines += [paragraph.text for paragraph in entry.body]
    return "\n".join(lines)


def view(*items: ProposedItem) -> ProposalView:
    proposal = Proposal(kind="triples", model="m", items=items, at=datetime.now(UTC))
    ticked = tuple(item.id for item in items if item.ticked)
    return ProposalView(graph(), Pending(proposal=proposal, ticked=(*ticked, "gone")))


def triple(**fields: Any) -> dict[str, Any]:
    return {**blank_triple(), "head": "a", "relation": "r", "tail": "c", **fields}


def test_an_item_is_shown_as_the_difference_that_it_makes() -> None:
    shown = view(
        ProposedItem(id="1", label="a", place="gold.triples", deed="add", after=triple(note="S.")),
        ProposedItem(
            id="2",
            label="b",
            place="gold.triples",
            deed="add",
            after=triple(tail="b"),
            evidence="Said so.",
            why="Because.",
            checked=("doubtful",),
            ticked=False,
        ),
        ProposedItem(id="3", label="Title", place="title", before="Old", after="New"),
        ProposedItem(
            id="4",
            label="x",
            place="gold.triples",
            deed="remove",
            before=graph()["gold"]["triples"][0],
        ),
    )
    assert shown.ticked == ("1", "3", "4")
    assert "4 items, 3 ticked, 1 in doubt" in shown.summary()
    added = texts(shown.detail(0))
    assert "+ Triple 2" in added
    assert "Note: S." in added
    doubtful = texts(shown.detail(1))
    for part in ("! doubtful", "says this already", "Said so.", "Because."):
        assert part in doubtful
    # The title is another one by now, and the only triple goes only for another one.
    assert "edited after the model saw it" in texts(shown.detail(2))
    assert "New" in texts(shown.detail(2))
    assert "Goes when something else" in texts(shown.detail(3))
    shown.toggle(0)
    shown.toggle(1)
    assert shown.pending.ticked == ("2", "3", "4")


def test_costs_and_raw_replies() -> None:
    usage = Usage(prompt=1000, completion=830)
    assert (
        cost_of(ProposalCost(calls=2, usage=usage, cost=0.0042), "USD")
        == "2 calls, 1,830 tokens, 0.0042 USD"
    )
    assert cost_of(ProposalCost(calls=1, usage=usage, cost=1e-7), "EUR").endswith("< 0.0001 EUR")
    assert cost_of(ProposalCost(calls=1), "USD") == "1 call, 0 tokens"
    assert texts(raw_entries(("a\nb", ""))) == "Reply 1\na\nb\nReply 2"


def test_what_is_asked_for_and_what_is_missing() -> None:
    asking = ProposalForm(graph(), "graph", config())
    assert asking.kinds == ("triples", "persona", "translation")
    assert asking.models == [("two", "two"), ("one · tiny", "one")]
    assert "0.25 in, 2 out" in asking.price("two")
    assert "no price" in asking.price("one")
    assert asking.new_id == "t-zh"
    assert isinstance(asking.wanted("triples", "one", {"text": " "}), str)
    assert isinstance(asking.wanted("triples", "one", {"text": "x", "url": "ftp://x"}), str)
    assert isinstance(asking.wanted("triples", "one", {"text": "x" * 400_001}), str)
    wanted = asking.wanted("triples", "one", {"text": "x", "url": "https://x", "wanted": "y"})
    assert wanted == Wanted(FromSource("x", "https://x", "y"), "one")
    assert isinstance(asking.wanted("persona", "one", {}), str)
    written = ProposalForm({**graph(), "query": "Q?"}, "graph", config())
    assert written.wanted("persona", "one", {"anew": "yes"}) == Wanted(
        PersonaInputs(anew=True), "one"
    )
    assert isinstance(asking.wanted("checkpoints", "one", {"question": ""}), str)
    assert isinstance(asking.wanted("facts", "one", {"pairs": "alone"}), str)
    translation = asking.wanted("translation", "one", {"id": " "})
    assert isinstance(translation, Wanted)
    assert translation.task_id == "t-zh"
    for kind in ("triples", "persona", "checkpoints", "facts", "translation"):
        assert asking.about(kind)

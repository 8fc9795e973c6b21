from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.facts.gold import Fact, FactWorld
from cuecard.core.families.graph.gold import Graph
from cuecard.core.tasks.models import Task
from cuecard.core.text import contains_term
from cuecard.core.worlds.statements import compile_statements, final_answers, public_text
from offline_trials import CHAIN, FACTS, GRAPH, TABLE, WIDE_TABLE, sample_tasks


def test_a_triple_is_head_relation_tail():
    first = compile_statements(GRAPH)[2]
    assert (first.key, first.subject) == ("triple/2", (("Vesta lens", "Vesta optic"),))
    assert (first.attribute, first.value, first.stage) == ("made by", "Orlin and Daughters", 3)


def test_a_cell_is_row_key_column_value():
    found = {s.key: (s.title, s.attribute, s.value) for s in compile_statements(TABLE)}
    assert found["cell/1/船长"] == ("白鹭号", "船长", "周望")
    assert len(found) == 6
    wide = compile_statements(WIDE_TABLE)
    assert wide[1].subject == (("Ada Quill",), ("autumn",))


def test_a_fact_has_its_unit_and_the_bare_value_too():
    task = FACTS.model_copy(
        update={
            "gold": FactWorld(
                facts=(Fact(key="k", value="12", unit="km", aliases=("a dozen",)),), answer="none"
            )
        }
    )
    (statement,) = compile_statements(task)
    assert statement.values == ("12 km", "12", "a dozen")
    assert (statement.subject, statement.attribute) == ((), "k")


def test_a_fact_that_holds_the_final_answer_is_secret():
    secret = {s.key: s.secret for s in compile_statements(FACTS)}
    assert secret == {
        "dunmore": False,
        "hill": False,
        "hill oven": True,
        "yearly bread fair": False,
    }


def test_an_answer_that_the_question_names_itself_is_no_secret():
    gold = FACTS.gold.model_copy(update={"answer": "Hill Bakery"})
    task = FACTS.model_copy(update={"gold": gold})
    assert final_answers(task) == ()
    assert not any(s.secret for s in compile_statements(task))


def test_steps_build_on_the_target_before_and_name_no_target():
    readings, first, second = compile_statements(CHAIN)
    assert readings.key == "checkpoint/0/readings"
    assert readings.value_aliases == ("the silent film", "the colour remake")
    assert first.subject == ()
    assert first.step
    assert first.step.reading == "the colour remake"
    assert second.subject == (("Ines Holt", "Holt"),)
    assert second.secret
    assert not first.secret


def test_keywords_of_a_step_hide_every_target():
    gold = CHAIN.gold
    assert isinstance(gold, CheckpointChain)
    steps = (
        gold.steps[0],
        gold.steps[1].model_copy(
            update={"question": "Where near Marlowe Bay is Ines Holt buried?"}
        ),
    )
    task = CHAIN.model_copy(update={"gold": gold.model_copy(update={"steps": steps})})
    statement = compile_statements(task)[-1]
    assert statement.attribute == "near buried"
    assert statement.subject == (("Ines Holt", "Holt"),)


def test_samples_state_all_their_gold():
    for task in sample_tasks():
        statements = compile_statements(task)
        assert len({s.key for s in statements}) == len(statements)
        if isinstance(task.gold, Graph):
            assert len(statements) == len(task.gold.triples)
        if isinstance(task.gold, FactWorld):
            assert not any(s.secret for s in statements)
            assert final_answers(task)


def test_no_persona_line_is_public():
    assert isinstance(GRAPH, Task)
    assert not contains_term(public_text(GRAPH), "Morag Sill")
    assert public_text(CHAIN) == CHAIN.opening

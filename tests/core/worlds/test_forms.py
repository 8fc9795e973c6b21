from hypothesis import given, settings
from hypothesis import strategies as st

import strategies as any_
from budget import examples
from cuecard.core.text import one_line
from cuecard.core.worlds.background import Noise, ValueGuard
from cuecard.core.worlds.statements import (
    Form,
    ParsedStatement,
    list_text,
    read_entry,
    statement_text,
)

LANGUAGES = st.sampled_from(["en", "zh"])


def test_a_statement_reads_as_a_sentence():
    assert statement_text("en", "Brackness Light", "keeper", "Morag Sill") == (
        "Brackness Light",
        "Brackness Light — keeper: Morag Sill.",
    )
    assert statement_text("zh", "", "储水量", "900 升") == ("储水量", "储水量：900 升。")


@given(LANGUAGES, any_.names(), any_.names(), any_.names())
@settings(max_examples=examples(150))
def test_statements_are_read_back(language, subject, attribute, value):
    title, content = statement_text(language, subject, attribute, value)
    said = read_entry(language, title, content)
    assert said is not None
    assert said.form is Form.STATEMENT
    if one_line(subject):
        assert (said.subject, said.value) == (one_line(subject), one_line(value))


def test_a_colon_in_an_attribute_or_a_value_does_no_harm():
    title, content = statement_text("en", "Ferry", "type: use", "line: A. B.")
    assert read_entry("en", title, content) == ParsedStatement(
        Form.STATEMENT, "Ferry", "type - use", "line: A. B."
    )


@given(LANGUAGES, st.sampled_from([Form.HEADINGS, Form.DIRECTORY]), any_.names(), st.data())
@settings(max_examples=examples(80))
def test_lists_are_read_back(language, form, name, data):
    items = data.draw(any_.tuples(any_.names().filter(one_line), 1, 4))
    title, content = list_text(language, form, name, items)
    said = read_entry(language, title, content)
    assert said == ParsedStatement(form, one_line(name), items=tuple(map(one_line, items)))


def test_readings_and_topics_are_told_apart():
    title, content = list_text("en", Form.READINGS, "highest mountain", ("A", "B"))
    assert read_entry("en", title, content) == ParsedStatement(
        Form.READINGS, attribute="highest mountain", items=("A", "B")
    )
    assert read_entry("zh", *list_text("zh", Form.TOPICS, "", ("甲",))) == ParsedStatement(
        Form.TOPICS, items=("甲",)
    )


@given(LANGUAGES, any_.texts(), any_.tuples(any_.names()))
@settings(max_examples=examples(80))
def test_noise_says_nothing(language, query, topics):
    noise = Noise(language, ValueGuard(()), topics)
    for entry in noise.entries(query, 4):
        assert read_entry(language, entry.title, entry.content) is None

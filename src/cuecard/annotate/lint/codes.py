"""Findings of the linter and the registry of its rules (code, severity, reason, remedy), with their documentation."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from cuecard.core.i18n import N_, _
from cuecard.core.tasks.base import Frozen


class Severity(StrEnum):
    """`error`: the task scores or plays wrongly. `warning`: somebody ought to look."""

    ERROR = "error"
    WARNING = "warning"


class Finding(Frozen):
    """Something that a rule found. `code` is stable. `place`: a path into the task (`persona.stages[3].line`); `reason`
    says what is wrong and `hint` how to fix it, translated. `about` names the thing independently of its place, so that
    a silence stays valid when it moves; `silenced`: the author's reason for leaving it, "" if there is none.
    """

    code: str
    severity: Severity
    place: str
    reason: str
    hint: str
    about: str = ""
    silenced: str = ""


def finding_line(found: Finding, place: str) -> str:
    """A finding in one line; `place`: where it is, in words."""
    return f"{place or found.place}{_(': ')}{found.reason} [{found.code}]"


def error(code: str, place: str, reason: str, hint: str, about: str = "") -> Finding:
    return Finding(
        code=code, severity=Severity.ERROR, place=place, reason=reason, hint=hint, about=about
    )


def warning(code: str, place: str, reason: str, hint: str, about: str = "") -> Finding:
    return Finding(
        code=code, severity=Severity.WARNING, place=place, reason=reason, hint=hint, about=about
    )


Subject = Literal["files", "structure", "disclosure", "consistency", "sources", "dates", "texts", "silences"]  # fmt: skip


@dataclass(frozen=True)
class Rule:
    """A rule of the linter. `asks`, `why` and `mend` are marked for translation; show them through `_()`. If there are
    two severities, `why` says when each applies.
    """

    code: str
    subject: Subject
    severities: tuple[Severity, ...]
    asks: str
    why: str
    mend: str


_ERROR, _WARNING = (Severity.ERROR,), (Severity.WARNING,)
_EITHER = (Severity.ERROR, Severity.WARNING)

_RULES = (
    Rule("E001", "files", _ERROR,
         N_("Every file can be read"),
         N_("What cannot be read can be neither checked nor imported."),
         N_("Look at the name of the file; mend the YAML at the line that is named, and save it as UTF-8.")),
    Rule("E002", "files", _ERROR,
         N_("Every task has an id of its own"),
         N_("Reviews, runs and verdicts know a task by its id."),
         N_("Give one of the two another id.")),
    Rule("E003", "files", _ERROR,
         N_("Nothing that a task needs is missing or empty"),
         N_("Without it the task can be neither played nor scored."),
         N_("Fill it in.")),
    Rule("E004", "files", _ERROR,
         N_("Every field is one that tasks have"),
         N_("A misspelt field would be lost without a word."),
         N_("Check its spelling against a sample task.")),
    Rule("E005", "files", _ERROR,
         N_("Every value has the shape of its field"),
         N_("Text stands where text belongs, a list where a list belongs."),
         N_("Write it as the sample tasks do.")),
    Rule("E006", "files", _ERROR,
         N_("A field with a fixed choice takes one of it"),
         N_("Nothing could play or score an unknown family, cue, metric or type of ambiguity."),
         N_("Take one of the values that are listed.")),
    Rule("E007", "files", _ERROR,
         N_("Ids, web addresses and numbers are well formed"),
         N_("They are used as they stand: an address is opened, an id becomes a file name."),
         N_("Write it as the reason says.")),
    Rule("E008", "files", _ERROR,
         N_("Names are unique, and what refers to something finds it"),
         N_("Two nodes, columns or facts of one name cannot be told apart; a key, a row or a stage number must fit the rest."),
         N_("Rename one of the two, or mend the reference.")),
    Rule("E009", "files", _ERROR,
         N_("Every text can be stored"),
         N_("No file or database holds half of a character, a NUL or endless nesting."),
         N_("Type the text again.")),
    Rule("L001", "structure", _WARNING,
         N_("The first cue is the start of the conversation, and no later one is"),
         N_("A first stage that waits for a cue waits for nothing that was asked; a later start is met at once."),
         N_("Give the first stage the cue 'start', and every other one something to wait for.")),
    Rule("L002", "structure", _ERROR,
         N_("Every triple is listed once"),
         N_("Recall would count it twice."),
         N_("Remove one of the two.")),
    Rule("L003", "structure", _ERROR,
         N_("Every key of a table is listed once"),
         N_("Rows are joined on their key: two of one key cannot be told apart, and if they say different things one of them is wrong."),
         N_("Remove one row, or make a column that tells them apart a key column.")),
    Rule("L004", "structure", _EITHER,
         N_("A chain has ambiguous steps, as many as its difficulty says"),
         N_("Without an ambiguous step (error) there is nothing to ask about; one is easy, two are medium, three are hard (warning)."),
         N_("Make a step ambiguous, or change the difficulty.")),
    Rule("L012", "structure", _ERROR,
         N_("No key cell of a table is empty"),
         N_("Rows are joined on their key."),
         N_("Fill it in, or make another column the key.")),
    Rule("L013", "structure", _WARNING,
         N_("Nothing is left empty that people or players read"),
         N_("A card without IF NOT leaves the user with a stock phrase; an empty cell is matched by every empty answer."),
         N_("Write it; for a value that does not exist, write what an answer should say.")),
    Rule("L014", "structure", _WARNING,
         N_("Stages stand in the order in which they can be asked"),
         N_("A stage that asks about something that a later stage finds cannot be understood when it is said."),
         N_("Move the stage, or let its line name what it is about.")),
    Rule("L015", "structure", _WARNING,
         N_("Every stage can be reached"),
         N_("A cue that waits for what only this stage or a later one asks for is never met; the user then moves on out of patience."),
         N_("Wait for something that an earlier stage brings up.")),
    Rule("L016", "structure", _EITHER,
         N_("Listed nodes and the ids in triples fit each other"),
         N_("A triple that names a node by its name or alias, or by an id that is not listed, makes a second node (error); a listed node that no triple uses does nothing (warning)."),
         N_("Write the node's id in the triple, list the node, or remove it.")),
    Rule("L017", "structure", _EITHER,
         N_("Preprocessing, metrics and criteria of a column go together"),
         N_("What a preprocessing takes away no metric can compare, and a tolerance must be a number (error); a judge without a criterion judges by taste (warning)."),
         N_("number_near goes with extract_number, date_near with norm_date; write the tolerance as 0.01 or 1%.")),
    Rule("L018", "structure", _WARNING,
         N_("Every cell is what its column compares"),
         N_("A cell that is no number, date or web address under such a metric is matched only by the same text."),
         N_("Write the cell as the metric reads it, or compare the column differently.")),
    Rule("L019", "structure", _ERROR,
         N_("A chain ends in a step whose target is the final answer"),
         N_("The trial is complete when the last step is answered; its target must then be what the task asks for."),
         N_("Add the last step, or make its target the final answer.")),
    Rule("L020", "structure", _WARNING,
         N_("The candidates of an ambiguous step are different, and its target is one of them"),
         N_("An agent that lists the candidates must be able to list the right one."),
         N_("Add the target to the candidates, or remove what is there twice.")),
    Rule("L021", "structure", _WARNING,
         N_("A world has as many facts as its difficulty says"),
         N_("Tiers are compared across tasks: 1 to 5 facts are easy, 6 to 10 medium, 11 and more hard."),
         N_("Change the difficulty, or the number of facts.")),
    Rule("L022", "structure", _ERROR,
         N_("Every fact of a world has a key of its own"),
         N_("Keys that differ only in case, width or blanks are one key to whoever searches."),
         N_("Rename one, or remove it.")),
    Rule("L023", "structure", _WARNING,
         N_("Every rule of a world is needed"),
         N_("A rule that neither the query nor the derivation uses only makes noise, or the derivation has forgotten it."),
         N_("Use it in the query or the derivation, or remove it.")),
    Rule("L006", "disclosure", _WARNING,
         N_("The user gives away nothing that is still to be found"),
         N_("What a line, an identity or a clue names counts as found without a search, and the task measures less than it says."),
         N_("Describe it without its name, or let an earlier stage find it.")),
    Rule("L007", "disclosure", _ERROR,
         N_("The final answer is not a fact of the world"),
         N_("One search would give it away; nothing would have to be derived."),
         N_("Let the answer follow from several facts.")),
    Rule("L009", "disclosure", _ERROR,
         N_("The user never says a forbidden string"),
         N_("It would hand over the answer, and the chain would measure nothing."),
         N_("Say it another way, or take it off the forbidden list.")),
    Rule("L011", "disclosure", _WARNING,
         N_("A clue does not name the target"),
         N_("A right question earns a hint, not the answer."),
         N_("Say what tells the target from the other candidates, not its name.")),
    Rule("L024", "disclosure", _WARNING,
         N_("A cue refers only to what was said before it"),
         N_("An agent cannot heed a budget, a number or a wish that it has not heard."),
         N_("Say it in an earlier line, or leave it out of the cue.")),
    Rule("L025", "disclosure", _WARNING,
         N_("No two stages have the same cue"),
         N_("One reply would meet both, and the second stage would follow the first at once."),
         N_("Say what tells the second moment from the first.")),
    Rule("L026", "disclosure", _WARNING,
         N_("A line asks for two things at most"),
         N_("People ask little by little; a questionnaire leaves nothing to disclose in stages. A question counts once for every two question words in it."),
         N_("Split the stage, or say what you want as a list in one request.")),
    Rule("L027", "disclosure", _WARNING,
         N_("A persona has eight stages at least"),
         N_("With fewer there is too little interaction to measure; 8 to 20 are usual."),
         N_("Split stages that ask for much.")),
    Rule("L028", "disclosure", _WARNING,
         N_("Between 20 and 40 percent of the cues wait for the agent to ask"),
         N_("With fewer, asking never pays; with more, an agent that just answers is stuck."),
         N_("Turn a cue into 'asks', or an 'asks' cue into 'mentions' or 'completes'.")),
    Rule("L029", "disclosure", _WARNING,
         N_("Every cue can be tested on a reply"),
         N_("Whatever an agent says 'replies', and no reply shows whether it 'understands': people and models would mark such a cue as they please."),
         N_("Name what the reply must mention, ask about or have covered.")),
    Rule("L005", "consistency", _WARNING,
         N_("Every stage is answered by a triple"),
         N_("What an agent finds for this stage would count for nothing."),
         N_("Give the triples that answer it this stage, or drop the stage.")),
    Rule("L008", "consistency", _WARNING,
         N_("A triple's tail is a thing, not yes or no"),
         N_("Yes and no can be guessed without searching."),
         N_("Put what is true into the relation and a thing into the tail.")),
    Rule("L030", "consistency", _WARNING,
         N_("Every triple is asked for by a stage"),
         N_("An agent is not to blame for missing what nobody asked for."),
         N_("Give the triple a stage, or remove it.")),
    Rule("L031", "consistency", _WARNING,
         N_("One thing is one node"),
         N_("Names that differ only in case, width or spelling, or that two nodes share, make two nodes of one thing."),
         N_("Merge them; keep the other spelling as an alias.")),
    Rule("L032", "consistency", _WARNING,
         N_("What can have one value only has one"),
         N_("Two birth years or two capitals contradict each other, whichever is right."),
         N_("Remove the wrong one, or say in the relation what tells them apart.")),
    Rule("L033", "consistency", _ERROR,
         N_("One attribute of an entity has one value in a world"),
         N_("Whoever asks for it gets one of the two by chance."),
         N_("Remove one, or tell the attributes apart.")),
    Rule("L034", "consistency", _WARNING,
         N_("The derivation uses the world's values and reaches its answer"),
         N_("One of them is out of date, and reviewers check the task by the derivation."),
         N_("Bring facts, derivation and answer together.")),
    Rule("L035", "consistency", _WARNING,
         N_("The query asks for every column"),
         N_("A response that lacks a required column scores nothing."),
         N_("Name the column in the query as it is called in the table.")),
    Rule("L036", "consistency", _WARNING,
         N_("A tail holds one fact"),
         N_("Several facts in one tail are right only together; half of them counts for nothing."),
         N_("Make a triple of each.")),
    Rule("L010", "sources", _WARNING,
         N_("The gold answer has a source"),
         N_("A reviewer has nothing to check it against."),
         N_("Add at least one page that supports it.")),
    Rule("L037", "sources", _WARNING,
         N_("At least half of the triples have a source"),
         N_("A gold answer is as good as what it can be checked against; a page for every second triple is the least."),
         N_("Add the pages on which you found them.")),
    Rule("L038", "sources", _WARNING,
         N_("Sources are addresses that can be opened"),
         N_("A host without a domain, or punctuation caught at the end, opens nothing."),
         N_("Copy the address again from the browser.")),
    Rule("L039", "sources", _WARNING,
         N_("A page is listed once"),
         N_("Two notes on one page will come to differ."),
         N_("Put what you noted into one entry.")),
    Rule("L040", "dates", _WARNING,
         N_("A closed world is set in the future"),
         N_("A parallel world must not contradict what a model remembers; a date that is yet to come keeps them apart."),
         N_("Give the query, or its facts, a year that is still to come.")),
    Rule("L041", "dates", _WARNING,
         N_("Other gold has happened"),
         N_("What lies ahead cannot be looked up yet, or is a slip of the keyboard."),
         N_("Check the date.")),
    Rule("L042", "texts", _WARNING,
         N_("Texts are in the language of the task"),
         N_("User, judge and prompts speak the language that the task names."),
         N_("Translate the text, or change the language of the task.")),
    Rule("L043", "texts", _WARNING,
         N_("Punctuation, letters and digits have the width of their language"),
         N_("Full-width letters and mixed punctuation come from input methods, look odd on the card and spoil exact matches."),
         N_("Write ，。？ between Chinese characters, and , . ? and plain digits elsewhere.")),
    Rule("L044", "silences", _WARNING,
         N_("Every silence keeps something silent"),
         N_("What it was about has been mended or rewritten; it could hide something new."),
         N_("Remove the silence.")),
)  # fmt: skip

RULES: Mapping[str, Rule] = {rule.code: rule for rule in _RULES}
"""Every code with its rule, by subject."""


def may_silence(code: str, severity: Severity | str) -> bool:
    """Whether an author may silence a finding, with a reason: not structural errors, without whose repair nothing can
    be played or scored, and not invalid data.
    """
    rule = RULES.get(code)
    if rule is None or rule.subject in ("files", "silences"):
        return False
    return rule.subject != "structure" or severity == Severity.WARNING

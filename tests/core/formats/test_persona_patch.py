from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import strategies
from budget import examples
from cuecard.core.formats.persona_markdown import patch_persona, read_persona, write_persona
from cuecard.core.tasks.models import Cue, CueKind, Persona, Stage

ODD = """\
# Core Identity
I run a café.\x20\x20
Second line.

# Staged Information Disclosure
Some words before the first stage.

### Stage 1 - Start
- **Trigger:** Conversation starts
- **Line**:
  > Two lines,
  > both said.
- **If not met**: n/a

### **Stage 2: Done**
* **Trigger condition**：After the assistant finishes the list
* **User's line**: "Thanks."
* **When not met**：
  - push
  - push again

### 阶段3：价格
- **触发条件**：助手列出了价格后
- **台词**：> 再便宜点的呢？
- **未满足时**：催一催。


# Behavior Instructions
Be brief.
"""


def persona(text: str = ODD) -> Persona:
    return Persona.model_validate(read_persona(text, "q"))


def staged(index: int, **changes: Any) -> Persona:
    stages = list(persona().stages)
    stages[index] = stages[index].model_copy(update=changes)
    return persona().model_copy(update={"stages": tuple(stages)})


def cue(text: str) -> Cue:
    return Cue(kind=CueKind.MENTIONS, text=text)


@pytest.mark.parametrize(
    ("edited", "old", "new"),
    [
        (staged(0, line="One line."), "  > Two lines,\n  > both said.", "  > One line."),
        (staged(0, cue=cue("It starts")), "Conversation starts", "It starts"),
        (staged(0, title="Begin"), "Stage 1 - Start", "Stage 1 - Begin"),
        (staged(0, not_met=""), "- **If not met**: n/a", "- **If not met**: "),
        (staged(1, line="Bye.\nReally."), '"Thanks."', "Bye.\n    Really."),
        (staged(1, not_met="wait"), "  - push\n  - push again", "  wait"),
        (staged(2, line="还有吗？"), "> 再便宜点的呢？", "> 还有吗？"),
        (staged(2, cue=cue("提到价格")), "助手列出了价格后", "提到价格"),
        (persona().model_copy(update={"identity": "A cook."}), "I run a café.  \nSecond line.", "A cook."),
        (persona().model_copy(update={"behaviour": "Be long.\nVery."}), "Be brief.", "Be long.\nVery."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_only_the_edited_part_changes(edited: Persona, old: str, new: str, eol: str) -> None:
    assert old in ODD
    text = patch_persona(ODD.replace("\n", eol), edited, "en")
    assert text == ODD.replace(old, new).replace("\n", eol)


def test_stages_that_come_and_go_leave_the_others_their_words() -> None:
    first, second, third = persona().stages
    new = Stage(title="New", cue=cue("It mentions a price"), line="Cheaper!")
    shorter = patch_persona(ODD, persona().model_copy(update={"stages": (second, third)}), "en")
    block = ODD[ODD.index("### Stage 1") : ODD.index("### **Stage 2")]
    expected = ODD.replace(block, "").replace("Stage 2", "Stage 1").replace("阶段3", "阶段2")
    assert shorter == expected
    longer = patch_persona(
        ODD, persona().model_copy(update={"stages": (first, new, second, third)}), "en"
    )
    assert "### Stage 2: New\n- **Trigger condition**: It mentions a price\n" in longer
    assert "### **Stage 3: Done**\n* **Trigger condition**：After" in longer
    assert longer.startswith(ODD[: ODD.index("### **Stage 2")])


def test_a_fence_around_the_whole_stays() -> None:
    fenced = f"\n```markdown\n{ODD}```\n"
    text = patch_persona(fenced, staged(2, line="还有吗？"), "en")
    assert text == fenced.replace("再便宜点的呢？", "还有吗？")


@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(strategies.personas(), st.sampled_from(["en", "zh"]))
def test_what_is_written_says_what_the_persona_says(edited: Persona, language: Any) -> None:
    said = read_persona(write_persona(edited, language), "q")
    assert read_persona(patch_persona(ODD, edited, language), "q") == said

"""Finds tool calls that a model wrote into its text instead of making them, and parses them in many notations."""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, cast

from pydantic import JsonValue

from cuecard.core.engine.messages import ToolCall, ToolSpec
from cuecard.core.llm.replies import read_arguments

_DECODER = json.JSONDecoder(strict=False)
_MAX_CALLS = 64
# Repairing JSON is slow: a text full of broken objects must not hold up other trials.
_MAX_MENDED, _MAX_MENDS = 20_000, 8
_DSML = "(?:｜DSML｜)?"
# Where the calls end: at an answer, or at results that the model made up.
_STOP = (
    r"<answer>|<\|?tool_(?:response|result)s?\|?>|<function_results?>|\[TOOL_RESULTS\]"
    r"|<｜tool▁outputs?▁begin｜>|<\|(?:im_start|im_end|eot_id|start)\|>"
)
_PREFIX = r"(?<![\w.\-])(?:(?:functions?|default_api)\.)?"
# What may stand between a tool's name and the object of its arguments.
_GAP = (
    r"(?::\d+)?+\s*+(?:<\|tool_call_argument_begin\|>|<｜tool▁sep｜>|\[ARGS\]"
    r"|(?:<\|constrain\|>\s*+)?+(?:json\s*+)?+<\|message\|>)?+\s*+(?:```(?:json)?\s*+)?+\(?\s*+"
)
_ELEMENT = rf"<{_DSML}(?:invoke\s++name\s*+=|function\s*+=)\s*+[\"']?[\w.\-]++[\"']?\s*+>"
_ELEMENT_NAME = re.compile(r"=\s*[\"']?([\w.\-]+)")
_ELEMENT_END = re.compile(
    rf"</{_DSML}(?:invoke|function)>|</tool_call>|(?=<{_DSML}(?:invoke\s|function=))", re.IGNORECASE
)
_PARAMETER = re.compile(
    rf"<{_DSML}parameter(?:\s+name)?\s*=\s*[\"']?([\w.\-]+)[\"']?[^>]*>(.*?)</{_DSML}parameter>",
    re.DOTALL | re.IGNORECASE,
)
_PAIR = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_OBJECT = (
    r"\{\s*+[\"'](?:id|type|name|tool|tool_name|function|action|arguments|parameters)[\"']\s*+:"
)
_OBJECT_END = re.compile(
    r"</tool_calls?>|<\|tool_call_end\|>|<｜tool▁call▁end｜>|```|</function>|<\|call\|>|<answer>"
    r"|<tool_response>|\n\s*\n"
)
_NAME = re.compile(r"[\"']?(?:name|tool|tool_name|function)[\"']?\s*:\s*[\"']([\w.\-]+)[\"']")
_ITEM = re.compile(
    r"\s*+(?:(\w++)\s*+=\s*+)?+"
    r"(\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\[[^\[\]]*+\]|[^\s,()\[\]\"']++)\s*+(,|\))",
    re.DOTALL,
)
_NAME_KEYS = ("name", "tool", "tool_name", "function", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input", "action_input")


class Written(NamedTuple):
    """A call, and the part of the text that it stands in."""

    call: ToolCall
    start: int
    end: int


class CallReader:
    """Parses the calls in `text`. `marked`: a mark announces them, so that broken calls and unknown tools count too.
    `cut`: the text ran out of tokens, so that a broken call at its end is not repaired.
    """

    def __init__(self, text: str, tools: Sequence[ToolSpec], *, marked: bool, cut: bool) -> None:
        self._text = text
        self._tools = {spec.name: spec for spec in tools}
        self._marked = marked
        self._cut = cut
        self._mends = 0

    def calls(self, start: int) -> list[Written]:
        """The calls from `start` on, up to an answer or results that the model made up."""
        heads = _heads(tuple(self._tools), self._marked)
        found: list[Written] = []
        at = start
        while len(found) < _MAX_CALLS and self._mends <= _MAX_MENDS:
            head = heads.search(self._text, at)
            if head is None or head.lastgroup == "stop":
                break
            written = self._read(head)
            if written and (self._marked or self._sound(written.call)):
                found.append(written)
                at = written.end
            else:
                at = head.end()
        return found

    def _sound(self, call: ToolCall) -> bool:
        return not call.broken and call.name.rpartition(".")[2] in self._tools

    def _read(self, head: re.Match[str]) -> Written | None:
        match head.lastgroup:
            case "element":
                return self._element(head)
            case "keyed":
                return self._pairs(head)
            case "spelt":
                return self._spelt(head)
            case "object":
                return self._object(head.start())
            case "named":
                return self._named(head, head.end())
            case _:
                brace = self._text.find("{", head.end())
                return self._named(head, brace) if brace >= 0 else None

    def _element(self, head: re.Match[str]) -> Written:
        """`<function=NAME>…</function>` and its like, with parameters or an object within."""
        named = _ELEMENT_NAME.search(head[0])
        name = named[1] if named else ""
        close = _ELEMENT_END.search(self._text, head.end())
        end = close.end() if close else len(self._text)
        body = self._text[head.end() : close.start() if close else end]
        given = {m[1]: self._value(name, m[1], m[2]) for m in _PARAMETER.finditer(body)}
        if given or not body.strip():
            return Written(ToolCall(name=name, arguments=given), head.start(), end)
        arguments, broken = read_arguments(body.strip(), mend=not self._cut or close is not None)
        return Written(ToolCall(name=name, arguments=arguments, broken=broken), head.start(), end)

    def _pairs(self, head: re.Match[str]) -> Written:
        name = head[0].strip()
        close = self._text.find("</tool_call>", head.end())
        end = close if close >= 0 else len(self._text)
        pairs = _PAIR.finditer(self._text, head.end(), end)
        given = {m[1].strip(): self._value(name, m[1].strip(), m[2]) for m in pairs}
        return Written(ToolCall(name=name, arguments=given), head.start(), end)

    def _named(self, head: re.Match[str], brace: int) -> Written:
        name = re.match(r"[\w.\-]+", head[0])
        arguments, broken, end = self._read_object(brace)
        if head[0].rstrip().endswith("(") and (
            closing := re.compile(r"\s*\)").match(self._text, end)
        ):
            end = closing.end()
        call = ToolCall(name=name[0] if name else "", arguments=arguments, broken=broken)
        return Written(call, head.start(), end)

    def _spelt(self, head: re.Match[str]) -> Written | None:
        """`search(query="…")` or `search("…")`."""
        name = head[0].rstrip("(").rpartition(".")[2]
        spec = self._tools.get(name)
        places = iter(list(_properties(spec)) if spec else [])
        given: dict[str, JsonValue] = {}
        at = head.end()
        while item := _ITEM.match(self._text, at):
            key = item[1] or next(places, "")
            if not key:
                return None
            given[key] = _literal(item[2])
            at = item.end()
            if item[3] == ")":
                return Written(ToolCall(name=name, arguments=given), head.start(), at)
        return None

    def _object(self, start: int) -> Written | None:
        """`{"name": …, "arguments": {…}}`, also as an item of `tool_calls`."""
        found, broken, end = self._read_object(start)
        if not broken:
            call = _call_of(found)
            return Written(call, start, end) if call else None
        name = _NAME.search(broken)
        if not name:
            return None
        return Written(ToolCall(name=name[1], broken=broken), start, end)

    def _read_object(self, start: int) -> tuple[dict[str, JsonValue], str, int]:
        """The object at `start`, repaired if need be; its text if that fails; and where it ends."""
        try:
            value, end = _DECODER.raw_decode(self._text, start)
        except (ValueError, RecursionError):
            close = _OBJECT_END.search(self._text, start)
            end = close.start() if close else len(self._text)
            self._mends += 1
            mend = end - start <= _MAX_MENDED and (close is not None or not self._cut)
            return *read_arguments(self._text[start:end].strip(), mend=mend), end
        return *read_arguments(json.dumps(value)), end

    def _value(self, tool: str, name: str, raw: str) -> JsonValue:
        """A parameter's value: text if the tool wants text, else JSON if it can be parsed as such."""
        text = raw.strip("\n")
        spec = self._tools.get(tool.rpartition(".")[2])
        wanted = _properties(spec).get(name, {}).get("type") if spec else None
        return text if wanted == "string" else _literal(text)


def _properties(spec: ToolSpec) -> dict[str, dict[str, JsonValue]]:
    return cast(dict[str, dict[str, JsonValue]], spec.parameters.get("properties") or {})


@lru_cache(maxsize=64)
def _heads(names: tuple[str, ...], marked: bool) -> re.Pattern[str]:
    """A pattern of all ways in which a call may begin; the name of the matched group says which."""
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or r"(?!)"
    parts = [
        rf"(?P<named>{_PREFIX}(?:{known}){_GAP}(?=\{{))",
        rf"(?P<spelt>{_PREFIX}(?:{known})\((?=\s*+(?:\w++\s*+=|[\"'])))",
        rf"(?P<object>{_OBJECT})",
    ]
    if marked:
        parts = [
            rf"(?P<stop>{_STOP})",
            rf"(?P<element>{_ELEMENT})",
            r"(?P<keyed>(?<![\w.\-])[\w.\-]++\s*+(?=<arg_key>))",
            *parts,
            r"(?P<separated>(?<![\w.\-])[\w.\-]++"
            r"(?=:\d++\s*+<\||\s*+<｜tool▁sep｜>(?!\w)|\s*+<\|constrain\|>))",
        ]
    return re.compile("|".join(parts), re.IGNORECASE)


def _call_of(found: dict[str, JsonValue]) -> ToolCall | None:
    inner = found.get("function")
    if isinstance(inner, dict):
        return _call_of(inner)
    name = next((v for k in _NAME_KEYS if isinstance(v := found.get(k), str) and v), "")
    if not name:
        return None
    key = next((key for key in _ARGUMENT_KEYS if key in found), "")
    given = found.get(key)
    if isinstance(given, str):
        arguments, broken = read_arguments(given)
        return ToolCall(name=name, arguments=arguments, broken=broken)
    if isinstance(given, dict):
        return ToolCall(name=name, arguments=given)
    if given is not None:
        return ToolCall(name=name, broken=json.dumps(given, ensure_ascii=False))
    rest = {k: v for k, v in found.items() if k not in (*_NAME_KEYS, "id", "type", key)}
    return ToolCall(name=name, arguments=rest)


def _literal(text: str) -> JsonValue:
    """The value of a JSON or Python literal, else the text itself."""
    bare = text.strip()
    if len(bare) > 1 and bare[0] == bare[-1] == "'":
        bare = '"' + bare[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
    named: dict[str, JsonValue] = {"True": True, "False": False, "None": None}
    if bare in named:
        return named[bare]
    value, broken = read_arguments(f'{{"value": {bare}}}')
    return text if broken or "value" not in value else value["value"]


# Hermes, Qwen, GLM, MiniMax; Llama; Phi, Granite; Kimi; DeepSeek; Mistral; gpt-oss; Claude.
_MARK = re.compile(
    r"(?<!`)(?:"
    r"<(?:\w+:)?tool_calls?>|<\|tool_calls?\|>|<\|tool_calls?_(?:section_)?begin\|>"
    r"|<｜tool▁calls?▁begin｜>|<｜DSML｜|\[TOOL_CALLS\]|<\|python_tag\|>|<\|action_start\|>"
    r"|<function=|<function_calls?>|<invoke name=|(?:<\|channel\|>\s*)?commentary to="
    r")",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"[\s,;\[\]()`]*+(?:(?:json|python|tool_code|tool_call|<\|\w+\|>)[\s,;\[\]`]*+)?"
)
_FENCE = re.compile(r"[ \t]*```[ \t]*\w*")


class Leak(NamedTuple):
    """The calls found in a text. `before`: the text before the first call; `end`: where the last one ends."""

    before: str
    calls: tuple[ToolCall, ...]
    end: int


def leaked_calls(text: str, tools: Sequence[ToolSpec], *, cut: bool = False) -> Leak | None:
    """The calls in `text`, or None if there are none. After a mark such as `<tool_call>` calls may be broken or name an
    unknown tool. `cut`: the text ran out of tokens.
    """
    mark = _MARK.search(text)
    if mark:
        found = CallReader(text, tools, marked=True, cut=cut).calls(mark.start())
        if found:
            return Leak(text[: mark.start()].strip(), _calls(found), found[-1].end)
    if not any(spec.name in text for spec in tools):
        return None
    found = _last_ones(text, CallReader(text, tools, marked=False, cut=cut).calls(0))
    before = _before(text, found[0].start) if found else None
    return None if before is None else Leak(before, _calls(found), found[-1].end)


def _before(text: str, start: int) -> str | None:
    """The text above the line on which the calls begin; None if that line holds other text before them."""
    head = text[:start].rstrip("[ \t").removesuffix("print(").rstrip(" \t")
    above = head.rstrip()
    rest, _, line = above.rpartition("\n")
    if _FENCE.fullmatch(line):
        return rest.strip()
    return above if not head or head.endswith("\n") else None


def _last_ones(text: str, found: Sequence[Written]) -> list[Written]:
    """The calls at the very end of the text, with no other text between or after them."""
    run: list[Written] = []
    end = len(text)
    for call in reversed(found):
        if not _BETWEEN.fullmatch(text, call.end, end):
            break
        run.insert(0, call)
        end = call.start
    return run


def _calls(found: Sequence[Written]) -> tuple[ToolCall, ...]:
    return tuple(written.call for written in found)

"""The Responses API: its requests from chat messages, and its answers as the same replies that chat completions give."""

from collections.abc import Callable, Sequence
from typing import cast

from pydantic import JsonValue

from cuecard.core.engine.messages import ToolSpec
from cuecard.core.i18n import _
from cuecard.core.llm.replies import MAX_CALLS, Assembler, as_dict, as_dicts, as_string, usage_of
from cuecard.core.llm.wire import CARRIED, ChatMessage, ServerFailure, clean_json
from cuecard.core.validation import TooLarge

# Each item has one or two.
_MOST_NAMES = 2 * MAX_CALLS


def fill(
    body: dict[str, object],
    messages: Sequence[ChatMessage],
    tools: Sequence[ToolSpec],
    sampling: dict[str, JsonValue],
    most_tokens: int | None,
    form: dict[str, JsonValue] | None,
) -> None:
    """Add to the request's `body` what a call needs. Nothing is stored on the server, so that a trial can be replayed and
    resumed: reasoning comes back encrypted, and is sent again with the answers of the tools that it led to.
    """
    body["input"] = [item for message in messages for item in _items(message)]
    body["store"] = False
    body.setdefault("include", ["reasoning.encrypted_content"])
    effort = sampling.pop("reasoning_effort", None)
    if effort is not None:
        body["reasoning"] = {**as_dict(body.get("reasoning")), "effort": effort}
    body |= sampling
    if most_tokens is not None:
        body["max_output_tokens"] = most_tokens
    if tools:
        body["tools"] = [
            {
                "type": "function",
                "name": spec.name,
                "description": spec.description,
                "parameters": spec.parameters,
                "strict": False,
            }
            for spec in tools
        ]
    if form is not None:
        schema = as_dict(form.get("json_schema"))
        text = {"format": {"type": form["type"], **schema}}
        # What a person configured for all calls has precedence.
        body["text"] = {**text, **as_dict(body.get("text"))}


def _items(message: ChatMessage) -> list[object]:
    role, content = as_string(message.get("role")), message.get("content")
    if role == "tool":
        call = message.get("tool_call_id")
        return [{"type": "function_call_output", "call_id": call, "output": content}]
    found = list[object](as_dicts(message.get(CARRIED)))
    if content and role == "assistant":
        # llama.cpp knows the words of a reply in this form alone; OpenAI and LiteLLM take it, too.
        parts = [{"type": "output_text", "text": content}]
        found.append({"type": "message", "role": role, "content": parts})
    elif content:
        found.append({"role": role, "content": content})
    for call in as_dicts(message.get("tool_calls")):
        function = as_dict(call.get("function"))
        found.append({"type": "function_call", "call_id": call.get("id"), **function})
    return found


class ResponseAssembler(Assembler):
    """Assembles a reply from the events of a stream, or from a whole response."""

    def __init__(
        self,
        on_text: Callable[[str], None] | None = None,
        on_growth: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(on_text, on_growth)
        self._streamed: set[object] = set()
        self._places: dict[str, int] = {}

    def add(self, chunk: object) -> None:
        event = self.checked(chunk)
        item = as_dict(event.get("item"))
        place = self._place(event, item)
        match as_string(event.get("type")):
            case "response.output_text.delta" | "response.refusal.delta":
                self._streamed.add((place, "text"))
                self.grow(text=as_string(event.get("delta")))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._streamed.add((place, "thought"))
                self.grow(thought=as_string(event.get("delta")))
            case "response.function_call_arguments.delta":
                self._streamed.add((place, "arguments"))
                delta = {"arguments": event.get("delta")}
                self.grow(calls=[{"index": place, "function": delta}])
            case "response.output_item.added":
                self._item(item, place, begun=True)
            case "response.output_item.done":
                self._item(item, place)
            case "response.completed" | "response.incomplete" | "response.failed":
                self._ended(as_dict(event.get("response")), whole=False)
            case "error":
                raise ServerFailure(event)
            case _:
                pass

    def add_whole(self, completion: object) -> None:
        self._ended(self.checked(completion), whole=True)

    def _place(self, event: dict[str, object], item: dict[str, object]) -> int:
        """Which item of the output it is about: by its index, or else by its name, as llama.cpp does."""
        given = (event.get("item_id"), item.get("id"), item.get("call_id"))
        names = [name for name in given if isinstance(name, str) and name]
        index = event.get("output_index")
        if not isinstance(index, int):
            index = next((self._places[name] for name in names if name in self._places), None)
        place = -1 - len(self._places) if index is None else index
        for name in names:
            self._places.setdefault(name, place)
        if len(self._places) > _MOST_NAMES:
            raise TooLarge(_("the reply makes more than {n} tool calls").format(n=MAX_CALLS))
        return place

    def _item(self, item: dict[str, object], place: object, *, begun: bool = False) -> None:
        """Add what of an item did not come piece by piece."""
        self.began()
        match as_string(item.get("type")):
            case "function_call":
                known = begun or (place, "arguments") in self._streamed
                function = {
                    "name": item.get("name"),
                    "arguments": None if known else item.get("arguments"),
                }
                self.grow(calls=[{"index": place, "id": item.get("call_id"), "function": function}])
            case "message" if not begun and (place, "text") not in self._streamed:
                parts = as_dicts(item.get("content"))
                said = (as_string(p.get("text")) + as_string(p.get("refusal")) for p in parts)
                self.grow(text="".join(said))
            case "reasoning" if not begun:
                if (place, "thought") not in self._streamed:
                    parts = as_dicts(item.get("content")) or as_dicts(item.get("summary"))
                    self.grow(thought="\n\n".join(as_string(p.get("text")) for p in parts))
                if item.get("encrypted_content"):
                    self.carry(cast(dict[str, JsonValue], clean_json(item)))
            case _:
                pass

    def _ended(self, response: dict[str, object], *, whole: bool) -> None:
        if response.get("error") or response.get("status") == "failed":
            raise ServerFailure(response.get("error") or "failed")
        if whole or not self.any:
            for place, item in enumerate(as_dicts(response.get("output"))):
                self._item(item, place)
        reason = as_string(as_dict(response.get("incomplete_details")).get("reason"))
        finish = {"": "", "max_output_tokens": "length"}.get(reason, reason)
        usage = usage_of(response.get("usage"), "input", "output")
        self.finish(finish, as_string(response.get("model")), usage)

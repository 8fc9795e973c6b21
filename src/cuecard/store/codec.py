"""Encodes JSON, events and large contents as columns; a large content is stored once, under the SHA-256 of its bytes."""

import hashlib
import json
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, cast

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import PydanticSerializationError
from sqlalchemy import Connection, Table, bindparam, select
from sqlmodel import col

from cuecard.core.engine.events import EVENT_BODY, EventBody, ModelReplied, ToolAnswered
from cuecard.core.errors import NotFound
from cuecard.core.i18n import _
from cuecard.core.tasks.base import Origin
from cuecard.store.engine import Database
from cuecard.store.task_tables import insert_new, metadata
from cuecard.store.trial_tables import PayloadRow

PACK_ABOVE = 2048
"""Bytes of JSON up to which a payload stays readable text."""
_PIECE = 200


def pack(payload: bytes) -> tuple[str | None, bytes | None]:
    """UTF-8 JSON as the columns (`body`, `packed`), one of them None: text up to `PACK_ABOVE` bytes, else compressed."""
    if len(payload) <= PACK_ABOVE:
        return payload.decode(), None
    return None, zlib.compress(payload, 6)


def unpack(body: str | None, packed: bytes | None) -> bytes:
    """The JSON that `pack` made these two columns of."""
    return zlib.decompress(packed) if packed is not None else (body or "").encode()


def to_json(value: object) -> bytes:
    """Compact JSON. Lone surrogates, which UTF-8 cannot hold, are written as escapes."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def to_json_in_pieces(value: dict[str, JsonValue]) -> bytes:
    """As `to_json`, but encodes long lists in pieces. One call of the encoder would block other threads, the screen's
    among them.
    """
    parts: list[bytes] = []
    for key, inner in value.items():
        if isinstance(inner, dict):
            body = to_json_in_pieces(inner)
        elif isinstance(inner, list) and len(inner) > _PIECE:
            pieces = (inner[at : at + _PIECE] for at in range(0, len(inner), _PIECE))
            body = b"[" + b",".join(to_json(piece)[1:-1] for piece in pieces) + b"]"
        else:
            body = to_json(inner)
        parts.append(to_json(key) + b":" + body)
    return b"{" + b",".join(parts) + b"}"


def from_json(payload: bytes | str) -> JsonValue:
    return cast(JsonValue, json.loads(payload))


LARGE = 2048
"""Bytes up to which a text stays in its event."""
HEAD = 200
"""Characters of a large text that stay in its event."""
_TITLES = 80
_STUB = "$payload"
_MARK = b'"$payload":"'
_TOLD = {"text", "entries"}

Payload = tuple[str, bytes]
"""A content's SHA-256, as 64 hex digits, and the content."""


class Encoded(NamedTuple):
    """An event's UTF-8 JSON as it is stored, and the large contents that it refers to by hash."""

    body: bytes
    payloads: tuple[Payload, ...] = ()


def encode(body: EventBody) -> Encoded:
    """An event's JSON, in which long texts are replaced by their beginning and a reference to a payload."""
    if isinstance(body, ToolAnswered):
        return _encode_answer(body)
    if isinstance(body, ModelReplied):
        return _encode_reply(body)
    return Encoded(dumped(body))


def decode(payload: bytes, contents: Mapping[str, bytes] | None = None) -> EventBody:
    """The inverse of `encode`. `contents`: payloads by hash; without it, large texts are their beginnings."""
    if _MARK not in payload:
        try:
            return EVENT_BODY.validate_json(payload)
        except ValidationError:
            # Half of a surrogate pair: Python's parser takes what pydantic's refuses.
            return EVENT_BODY.validate_python(from_json(payload))
    data = from_json(payload)
    for parent, name, stub in _stubs(data):
        content = None if contents is None else contents[stub[_STUB]]
        parent[name] = _answer(stub, content) if name == "answer" else _text(stub, content)
    return EVENT_BODY.validate_python(data)


def decode_outline(payload: bytes) -> tuple[EventBody, tuple[str, ...]]:
    """As `decode` without contents, and the hashes of the payloads that the event refers to."""
    if _MARK not in payload:
        return decode(payload), ()
    data = from_json(payload)
    hashes: list[str] = []
    for parent, name, stub in _stubs(data):
        hashes.append(stub[_STUB])
        parent[name] = _answer(stub, None) if name == "answer" else _text(stub, None)
    return EVENT_BODY.validate_python(data), tuple(hashes)


def dumped(model: BaseModel, **which: Any) -> bytes:
    """A model as JSON. Lone surrogates, which broken model output may hold, are written as escapes."""
    try:
        return model.__pydantic_serializer__.to_json(model, **which)
    except PydanticSerializationError:
        return to_json(model.model_dump(mode="json", **which))


def hash_of(content: bytes) -> str:
    """The SHA-256 of the bytes, as 64 hex digits."""
    return hashlib.sha256(content).hexdigest()


def _encode_answer(body: ToolAnswered) -> Encoded:
    answer = body.answer
    if len(answer.text) <= LARGE:
        whole = dumped(body)
        if len(whole) <= LARGE:
            return Encoded(whole)
        content = dumped(answer, include=_TOLD)
        if len(content) <= LARGE:
            return Encoded(whole)
    else:
        content = dumped(answer, include=_TOLD)
    digest = hash_of(content)
    stub = {
        _STUB: digest,
        "size": len(content),
        "head": answer.text[:HEAD],
        "entries": [{"id": e.id[:_TITLES], "title": e.title[:_TITLES]} for e in answer.entries],
        "hit": answer.hit.model_dump(mode="json") if answer.hit else None,
        "ok": answer.ok,
        **({"blocked": list(answer.blocked)} if answer.blocked else {}),
    }
    rest = dumped(body, exclude={"answer"})
    return Encoded(_with(rest, b"answer", to_json(stub)), ((digest, content),))


def _encode_reply(body: ModelReplied) -> Encoded:
    reply = body.reply
    if len(reply.text) + len(reply.reasoning) <= LARGE // 4:
        return Encoded(dumped(body))
    large = {
        name: content
        for name, text in (("text", reply.text), ("reasoning", reply.reasoning))
        if len(content := text.encode("utf-8", "surrogatepass")) > LARGE
    }
    if not large:
        return Encoded(dumped(body))
    inner = dumped(reply, exclude=set(large))
    payloads: list[Payload] = []
    for name, content in large.items():
        digest = hash_of(content)
        payloads.append((digest, content))
        head = getattr(reply, name)[:HEAD]
        stub = {_STUB: digest, "size": len(content), "head": head}
        inner = _with(inner, name.encode(), to_json(stub))
    rest = dumped(body, exclude={"reply"})
    return Encoded(_with(rest, b"reply", inner), tuple(payloads))


def _with(outer: bytes, name: bytes, value: bytes) -> bytes:
    """A JSON object, which is not empty, with one more member."""
    return b'%b,"%b":%b}' % (outer[:-1], name, value)


def _stubs(data: Any) -> Iterator[tuple[dict[str, Any], str, dict[str, Any]]]:
    """Places of stubs, as the object they are in, their name there, and the stub."""
    reply = data.get("reply")
    places = [(data, "answer")]
    if isinstance(reply, dict):
        inside = cast(dict[str, Any], reply)
        places += [(inside, "text"), (inside, "reasoning")]
    for parent, name in places:
        stub = parent.get(name)
        if isinstance(stub, dict) and _STUB in stub:
            yield parent, name, cast(dict[str, Any], stub)


def _text(stub: dict[str, Any], content: bytes | None) -> str:
    return f"{stub['head']}…" if content is None else content.decode("utf-8", "surrogatepass")


def _answer(stub: dict[str, Any], content: bytes | None) -> dict[str, Any]:
    told: dict[str, Any]
    if content is None:
        entries = [{**entry, "content": ""} for entry in stub["entries"]]
        told = {"text": f"{stub['head']}…", "entries": entries}
    else:
        told = cast(dict[str, Any], from_json(content))
    beside = {name: stub[name] for name in ("hit", "ok", "blocked") if name in stub}
    return {**told, **beside}


def origins_text(origins: Iterable[Origin]) -> str:
    return to_json([origin.model_dump(mode="json") for origin in origins]).decode()


def origins_in(text: str) -> tuple[Origin, ...]:
    """What `origins_text` was given."""
    if text == "[]":
        return ()
    return tuple(Origin.model_validate(item) for item in cast(list[object], from_json(text)))


LEVEL = 5
WINDOW = 32_768
_SMALL = 4096
"""Bytes below which a content is no dictionary for others."""
_KNOWN = 8192
_BASES = 128
_AT_ONCE = 400
_TABLE: Table = metadata.tables["payload"]
_PRESENT = select(col(PayloadRow.hash)).where(
    col(PayloadRow.hash).in_(bindparam("hashes", expanding=True))
)
_CONTENT = select(col(PayloadRow.hash), col(PayloadRow.base), col(PayloadRow.data)).where(
    col(PayloadRow.hash).in_(bindparam("hashes", expanding=True))
)


class PreparedRows(NamedTuple):
    """Rows of payloads to be inserted. Give it to `PayloadCache.kept` once the transaction is committed."""

    rows: list[dict[str, Any]]
    bases: list[tuple[int, str, bytes]]


class PayloadCache:
    """Prepares payloads for writing, and remembers some that are stored already. Later contents of a trial are
    compressed with an earlier one as the dictionary. Not safe to use from several threads.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: OrderedDict[str, None] = OrderedDict()
        self._bases: OrderedDict[int, tuple[str, bytes]] = OrderedDict()

    def ready(self, contents: Iterable[tuple[int, Payload]]) -> PreparedRows:
        """Compress those contents that are not stored yet. `contents`: pairs of a trial's id and a payload."""
        new: dict[str, tuple[int, bytes]] = {}
        for trial_id, (digest, content) in contents:
            if digest not in self._known:
                new.setdefault(digest, (trial_id, content))
        if not new:
            return PreparedRows([], [])
        if self._database.is_sqlite:  # Elsewhere to ask costs more than to send some again.
            with self._database.read() as session:
                for digest in present(session.connection(), list(new)):
                    self._remember(digest)
                    del new[digest]
        bases: list[tuple[int, str, bytes]] = []
        rows = [self._row(trial_id, d, content, bases) for d, (trial_id, content) in new.items()]
        return PreparedRows(rows, bases)

    def kept(self, ready: PreparedRows) -> None:
        """Remember that these payloads are stored; call it after the commit."""
        for row in ready.rows:
            self._remember(row["hash"])
        for trial_id, digest, content in ready.bases:
            self._bases[trial_id] = digest, content[:WINDOW]
            if len(self._bases) > _BASES:
                self._bases.popitem(last=False)

    def forget(self, trial_id: int) -> None:
        """Drop the compression dictionary of a trial that has ended."""
        self._bases.pop(trial_id, None)

    def _row(
        self, trial_id: int, digest: str, content: bytes, bases: list[tuple[int, str, bytes]]
    ) -> dict[str, Any]:
        base, dictionary = self._bases.get(trial_id, (None, b""))
        if base is None and len(content) >= _SMALL and all(b[0] != trial_id for b in bases):
            bases.append((trial_id, digest, content))
        return {
            "hash": digest,
            "size": len(content),
            "base": base,
            "data": compress(content, dictionary),
        }

    def _remember(self, digest: str) -> None:
        self._known[digest] = None
        if len(self._known) > _KNOWN:
            self._known.popitem(last=False)


def write_payloads(connection: Connection, ready: PreparedRows) -> None:
    """Insert payloads; those that another process has stored in the meantime are passed over."""
    if ready.rows:
        # In one order: two who insert the same wait for each other, and not in a circle.
        rows = sorted(ready.rows, key=lambda row: row["hash"])
        connection.execute(insert_new(connection, _TABLE), rows)


def read_payloads(connection: Connection, hashes: Sequence[str]) -> dict[str, bytes]:
    """The contents by hash. Raises `NotFound` if one is missing."""
    found: dict[str, bytes] = {}
    based: dict[str, tuple[str, bytes]] = {}
    for some in _parts(dict.fromkeys(hashes)):
        for digest, base, data in connection.execute(_CONTENT, {"hashes": some}):
            if base is None:
                found[digest] = zlib.decompress(data)
            else:
                based[digest] = base, data
    bases = {base for base, _data in based.values()}
    if bases:
        dictionaries = {base: found[base] for base in bases if base in found}
        missing = [base for base in bases if base not in dictionaries]
        dictionaries |= read_payloads(connection, missing)
        for digest, (base, data) in based.items():
            found[digest] = decompress(data, dictionaries[base][:WINDOW])
    for digest in hashes:
        if digest not in found:
            hint = _("`cuecard doctor --deep` tells what refers to it; take it from a backup.")
            raise NotFound(_("There is no such content"), digest, hint)
    return found


def compress(content: bytes, dictionary: bytes = b"") -> bytes:
    if not dictionary:
        return zlib.compress(content, LEVEL)
    packer = zlib.compressobj(LEVEL, zdict=dictionary)
    return packer.compress(content) + packer.flush()


def decompress(data: bytes, dictionary: bytes) -> bytes:
    unpacker = zlib.decompressobj(zdict=dictionary)
    return unpacker.decompress(data) + unpacker.flush()


def present(connection: Connection, hashes: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for some in _parts(hashes):
        found |= set(connection.execute(_PRESENT, {"hashes": some}).scalars())
    return found


def _parts(hashes: Iterable[str]) -> Iterable[list[str]]:
    rest = iter(hashes)
    while some := list(islice(rest, _AT_ONCE)):
        yield some

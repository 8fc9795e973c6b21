"""Failures of model calls: their causes, how long to wait, and when to stop calling a model."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from types import TracebackType
from typing import TYPE_CHECKING

from cuecard.core.errors import AgentPaused, Halt, ModelCallError, ModelPaused
from cuecard.core.i18n import N_, _, headed, ngettext
from cuecard.core.llm.replies import Malformed, WebPage
from cuecard.core.llm.wire import ServerFailure, ServerMessage
from cuecard.core.secrets import scrub
from cuecard.core.text import one_line
from cuecard.core.validation import TooLarge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cuecard.core.config_models import ModelConfig


class Overdue(TimeoutError):
    """A request took too long: nothing came for `seconds` or, with `in_all`, the call's total time of `seconds` is over."""

    def __init__(self, seconds: float, *, in_all: bool) -> None:
        super().__init__(seconds)
        self.seconds = seconds
        self.in_all = in_all


class CallTimeout:
    """The time left of one call, over all its attempts, without waiting for the limiter or between attempts. `silence`:
    most seconds without any data; `total`: most seconds in all.
    """

    def __init__(self, silence: float, total: float) -> None:
        self.silence = silence
        self.total = total
        self.spent = 0.0

    @property
    def used_up(self) -> bool:
        return self.spent >= self.total

    def attempt(self) -> Attempt:
        """A context manager that limits the time of its block; raises `Overdue`."""
        return Attempt(self)


class Attempt:
    """The time limit of one attempt, used with `with`. Call `heard` with each piece of the reply, however small and
    frequent. Otherwise it works as `asyncio.timeout`.
    """

    __slots__ = (
        "_alarm",
        "_asked",
        "_began",
        "_end",
        "_heard",
        "_loop",
        "_over",
        "_patience",
        "_task",
    )

    def __init__(self, patience: CallTimeout) -> None:
        self._patience = patience
        self._loop = asyncio.get_running_loop()
        self._over: Overdue | None = None

    def heard(self) -> None:
        self._heard = self._loop.time()

    def __enter__(self) -> Attempt:
        task = asyncio.current_task()
        assert task is not None
        patience = self._patience
        # Whoever else cancels the task is told from the clock by how often it was asked to end.
        self._task, self._asked = task, task.cancelling()
        self._began = self._heard = self._loop.time()
        self._end = self._began + patience.total - patience.spent
        due = min(self._began + patience.silence, self._end)
        self._alarm = self._loop.call_at(due, self._check_time)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._alarm.cancel()
        self._patience.spent += self._loop.time() - self._began
        over = self._over
        if over is None or self._task.uncancel() > self._asked:
            return
        if kind is not None and issubclass(kind, asyncio.CancelledError):
            raise over from None

    def _check_time(self) -> None:
        """The time was up when the clock was set; since then something may have been heard."""
        patience = self._patience
        due = min(self._heard + patience.silence, self._end)
        if self._loop.time() < due:
            self._alarm = self._loop.call_at(due, self._check_time)
            return
        in_all = due == self._end
        self._over = Overdue(patience.total if in_all else patience.silence, in_all=in_all)
        self._task.cancel()


MAX_WAIT = 60.0
"""Most seconds that a call waits because a server asks for it; for longer waits the model is paused."""
_A_YEAR = 366 * 86_400.0
CONNECT_SECONDS = 10.0
_DETAIL_CHARS = 300
_OVERFLOW_STATUS = {400, 413, 422, 500}
_OVERFLOW_CODES = {"context_length_exceeded", "exceed_context_size_error"}
_OVERFLOW = re.compile(
    r"context[ _-]?(length|window|size)|maximum context|prompt is too long|input is too long"
    r"|reduce the length of the (messages|prompt)|exceeds? the (model's )?(maximum )?(number of )?"
    r"(input )?tokens?",
    re.IGNORECASE,
)
# HTTP statuses that waiting does not change.
_UNPAID_CODES = {
    "insufficient_quota",
    "billing_hard_limit_reached",
    "insufficient_balance",
    "arrearage",
}
# A 403 that is about the contents of the request, not about the key.
_MODERATED = re.compile(r"moderation|flagged|content[ _-]?(filter|policy)", re.IGNORECASE)
_NO_SUCH_PLACE = {404, 405, 410}
# What some say with a 400: LiteLLM without a database of keys, Google; LiteLLM, Mistral.
_KEY_REFUSED = re.compile(
    r"no_db_connection|(invalid|incorrect)[ _]api[ _]key|api key (is )?(not valid|invalid|expired)",
    re.IGNORECASE,
)
_NO_SUCH_MODEL = re.compile(r"invalid[ _]model|model_not_found|unknown model", re.IGNORECASE)


class RequestRefused(ModelCallError):
    """The server refused the request because of something in it."""


class Blame(Enum):
    """The cause of a failure. `REQUEST`: this request only. `PASSING`: the server, perhaps only for a while. `LASTING`:
    no call of this model can succeed before a person changes something.
    """

    REQUEST = auto()
    PASSING = auto()
    LASTING = auto()


@dataclass(frozen=True)
class Failure:
    """A failed request. `wait`: seconds that the server asks to wait, at most a year. `busy`: it wants fewer calls.
    `refused`: it did not accept the request as it was. `overflow`: the request was too long. `billed`: the tokens may
    be charged all the same.
    """

    title: str
    message: str
    hint: str = ""
    blame: Blame = Blame.PASSING
    wait: float | None = None
    busy: bool = False
    refused: bool = False
    overflow: bool = False
    billed: bool = False

    @property
    def error(self) -> ModelCallError:
        kind = RequestRefused if self.refused else ModelCallError
        return kind(self.title, self.message, self.hint, context_overflow=self.overflow)

    def without(self, key: str, request_id: str = "") -> Failure:
        """The failure with the key blanked where the server's message repeats it, however short it is, and with the
        server's name for the request.
        """
        message = scrub(self.message)
        message = one_line(message.replace(key, "***") if key else message, _DETAIL_CHARS)
        if request_id:
            message = _("{message} (request {id})").format(message=message, id=request_id)
        return replace(self, message=message)


def of_exception(error: Exception, config: ModelConfig) -> Failure:
    """The failure for an exception of a connection, or a `ValueError` about an unusable answer."""
    import aiohttp

    match error:
        case ServerFailure():
            return _inside(error.message)
        case WebPage():
            hint = _("is base_url right? It usually ends in /v1")
            title = _("This is no model server")
            return Failure(title, str(error), hint, blame=Blame.LASTING)
        case aiohttp.ConnectionTimeoutError():
            reason = _("no connection to {url} within {n} seconds").format(
                url=config.base_url, n=f"{CONNECT_SECONDS:g}"
            )
            return Failure(_("The connection to the model failed or broke off"), reason)
        case Overdue():
            reason = _("no further word came from {url} for {n} seconds")
            if error.in_all:
                reason = _("{url} did not come to an end within {n} seconds, all that a call has")
            return Failure(
                _("The model did not answer in time"),
                reason.format(url=config.base_url, n=f"{error.seconds:g}"),
                billed=True,
            )
        case aiohttp.ClientConnectorCertificateError():
            return Failure(
                _("The model server cannot be trusted"),
                headed(config.base_url, error.certificate_error),
                _("make its certificate known to this system, or name it in SSL_CERT_FILE"),
                blame=Blame.LASTING,
            )
        case TooLarge():
            # A repeated request may give an equally long answer, which has to be paid for.
            return Failure(
                _("The model's answer is too large"), str(error), blame=Blame.REQUEST, billed=True
            )
        case Malformed():
            return Failure(_("The model's answer cannot be read"), str(error), billed=True)
        case ValueError() if not isinstance(error, OSError | aiohttp.ClientError):
            reason = _("it is not valid JSON")
            return Failure(_("The model's answer cannot be read"), reason, billed=True)
        case _:
            return Failure(
                _("The connection to the model failed or broke off"),
                headed(config.base_url, str(error) or type(error).__name__),
                _("is the server running, and the network there?"),
                billed=not isinstance(error, aiohttp.ClientConnectorError),
            )


def of_status(status: int, headers: Mapping[str, str], body: bytes, config: ModelConfig) -> Failure:
    """The failure for a response whose status is no success."""
    message = ServerMessage.from_body(body)
    reason = _("{url} answered {status}: {reason}").format(
        url=config.base_url, status=status, reason=message.words or "-"
    )
    if status < 400:
        return _moved(reason, headers.get("Location", ""))
    if status in _OVERFLOW_STATUS and _is_overflow(message, status):
        return _overflowed(reason)
    if message.code.lower() in _UNPAID_CODES or status == 402:
        title = _("The account with the model server is used up")
        return Failure(title, reason, blame=Blame.LASTING)
    if status == 403 and _MODERATED.search(message.words):
        return Failure(_not_accepted(), reason, blame=Blame.REQUEST)
    named = f"{message.code} {message.type} {message.words}"
    if status in (401, 403) or (status == 400 and _KEY_REFUSED.search(named)):
        return Failure(
            _("The model server refused the key"), reason, _key_hint(config), Blame.LASTING
        )
    if status in _NO_SUCH_PLACE or (status == 400 and _NO_SUCH_MODEL.search(named)):
        hint = _("check base_url and model")
        return Failure(_("The model was not found"), reason, hint, Blame.LASTING)
    if status in (408, 409, 429) or status >= 500:
        busy = status in (429, 503)
        return Failure(_busy_title(status), reason, wait=retry_after(headers), busy=busy)
    return Failure(_not_accepted(), reason, blame=Blame.REQUEST, refused=status in (400, 422))


def _inside(message: ServerMessage) -> Failure:
    """The failure for an error in the middle of a response that began as a success."""
    status = int(message.code) if re.fullmatch(r"[45]\d\d", message.code) else 0
    if _is_overflow(message, status or 400):
        return _overflowed(message.words)
    if message.code.lower() in _UNPAID_CODES or status == 402:
        title = _("The account with the model server is used up")
        return Failure(title, message.words, blame=Blame.LASTING)
    passing = not 400 <= status < 500 or status in (408, 409, 429)
    return Failure(
        _busy_title(429) if status == 429 else _("The model broke off with an error"),
        message.words,
        blame=Blame.PASSING if passing else Blame.REQUEST,
        busy=status in (429, 503),
        billed=True,
    )


def _moved(reason: str, location: str) -> Failure:
    hint = _("check base_url and model")
    if location:
        hint = _("it points to {url}: is that the right base_url?").format(
            url=one_line(scrub(location), _DETAIL_CHARS)
        )
    return Failure(_("The model server is elsewhere"), reason, hint, Blame.LASTING)


def _overflowed(reason: str) -> Failure:
    title = _("The conversation is longer than the model can read")
    return Failure(title, reason, blame=Blame.REQUEST, overflow=True)


def _busy_title(status: int) -> str:
    return _("The model server is too busy") if status == 429 else _("The model server failed")


def _not_accepted() -> str:
    return _("The model server did not accept the request")


def _key_hint(config: ModelConfig) -> str:
    if place := config.api_key_env or config.api_key_file or " ".join(config.api_key_command[:1]):
        return _("check the key in {name}").format(name=place)
    return _("this server wants a key; name its environment variable in api_key_env")


def _is_overflow(message: ServerMessage, status: int) -> bool:
    if message.code in _OVERFLOW_CODES or message.type in _OVERFLOW_CODES:
        return True
    return status != 429 and _OVERFLOW.search(message.words) is not None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait by its headers; None if it does not."""
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        elif "retry-after" in headers:
            seconds = _seconds(headers["retry-after"])
        else:
            return None
    except (ValueError, TypeError):
        return None
    return min(max(seconds, 0.0), _A_YEAR) if seconds == seconds else None


def _seconds(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        moment = parsedate_to_datetime(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return (moment - datetime.now(UTC)).total_seconds()


class Breaker:
    """A circuit breaker: after `give_up_after` calls in a row that failed in all their attempts, for reasons unrelated
    to the request, the model is paused. A success ends the row, and a pause. A lasting failure pauses at once, and so
    does a server that asks to wait longer than `MAX_WAIT`. `worked`: a call succeeded before.
    """

    _keeps_failing = N_("The model keeps failing")

    def __init__(self, label: str, give_up_after: int) -> None:
        self._label = label
        self._give_up_after = give_up_after
        self._row = 0
        self.worked = False

    def reset(self) -> None:
        self._row = 0

    def succeeded(self) -> None:
        self._row, self.worked = 0, True

    def failed(self, failure: Failure, *, last: bool) -> Halt | None:
        """Count a failure; returns the `Halt` with which to pause the model, if any. `last`: the call has no further
        attempt.
        """
        if failure.blame is Blame.LASTING:
            message = headed(self._label, failure.message)
            return self._paused(failure.title, message, failure.hint)
        if failure.wait is not None and failure.wait > MAX_WAIT:
            return self._left_alone(failure, failure.wait)
        if failure.blame is Blame.REQUEST or not last:
            return None
        self._row += 1
        if self._row < self._give_up_after:
            return None
        message = ngettext(
            "{model}: {n} call failed, with all its attempts: {reason}",
            "{model}: {n} calls in a row failed, each with all its attempts; the last: {reason}",
            self._row,
        ).format(model=self._label, n=self._row, reason=headed(failure.title, failure.message))
        return self._paused(_(self._keeps_failing), message, failure.hint)

    def _left_alone(self, failure: Failure, seconds: float) -> Halt:
        wait = timedelta(seconds=round(seconds))
        message = _("{model}: for {time}, until {until}: {reason}").format(
            model=self._label,
            time=wait,
            until=f"{datetime.now().astimezone() + wait:%Y-%m-%d %H:%M}",
            reason=failure.message,
        )
        return self._paused(_("The server wants to be left alone"), message, _("go on after that"))

    def _paused(self, title: str, message: str, hint: str) -> Halt:
        return ModelPaused(title, message, hint)


class AgentBreaker(Breaker):
    """The circuit breaker of an agent that is another program."""

    _keeps_failing = N_("The agent keeps failing")

    def _paused(self, title: str, message: str, hint: str) -> Halt:
        return AgentPaused(title, message, hint)

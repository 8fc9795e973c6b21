"""What went wrong with a model call: whether to try again, and how to tell a person."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from cuecard.core.errors import ModelCallError
from cuecard.core.i18n import _
from cuecard.core.llm.assemble import Malformed
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from openai import APIError, APIStatusError

    from cuecard.core.config_models import ModelConfig

MAX_WAIT = 120.0
_DETAIL_CHARS = 300
_OVERFLOW_STATUS = {400, 413, 422, 500}
_OVERFLOW_CODES = {"context_length_exceeded", "exceed_context_size_error"}
_OVERFLOW = re.compile(
    r"context[ _-]?(length|window|size)|maximum context|prompt is too long|input is too long"
    r"|reduce the length of the (messages|prompt)|exceeds? the (model's )?(maximum )?(number of )?"
    r"(input )?tokens?",
    re.IGNORECASE,
)
# Answers that no amount of waiting will change.
_FINAL_CODES = {"insufficient_quota", "billing_hard_limit_reached"}


class WebPage(Malformed):
    """The address answers with a page for people."""


@dataclass(frozen=True)
class Failure:
    """`transient`: trying again may help, after `wait` seconds if the server said so. `refused`: the
    server did not accept the request as it was. `overflow`: it was too long.
    """

    title: str
    message: str
    hint: str = ""
    transient: bool = False
    wait: float | None = None
    refused: bool = False
    overflow: bool = False

    @property
    def error(self) -> ModelCallError:
        return ModelCallError(self.title, self.message, self.hint, context_overflow=self.overflow)


def failure_of(error: Exception, config: ModelConfig, key: str) -> Failure:
    """Read an exception of the `openai` client, or a `ValueError` from an unusable answer.

    `key` is blanked wherever the server's words repeat it.
    """
    failure = _read(error, config)
    message = failure.message.replace(key, "***") if key else failure.message
    return replace(failure, message=one_line(message, _DETAIL_CHARS))


def _read(error: Exception, config: ModelConfig) -> Failure:
    from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

    match error:
        case APITimeoutError():
            title = _("The model did not answer in time")
            reason = _("nothing came from {url} for {n} seconds")
            return Failure(
                title,
                reason.format(url=config.base_url, n=f"{config.timeout:g}"),
                transient=True,
            )
        case APIConnectionError():
            cause = error.__cause__ or error
            return Failure(
                _("The connection to the model failed or broke off"),
                f"{config.base_url}: {str(cause) or type(cause).__name__}",
                _("is the server running, and the network there?"),
                transient=True,
            )
        case APIStatusError():
            return _status(error, config)
        case APIError():
            return _inside_stream(error)
        case WebPage():
            hint = _("is base_url right? It usually ends in /v1")
            return Failure(_("This is no model server"), str(error), hint)
        case Malformed():
            return Failure(_("The model's answer cannot be read"), str(error), transient=True)
        case _:
            reason = _("it is not valid JSON")
            return Failure(_("The model's answer cannot be read"), reason, transient=True)


def _inside_stream(error: APIError) -> Failure:
    if _is_overflow(error, 400):
        return Failure(_context_title(), error.message, overflow=True)
    final = error.code in _FINAL_CODES or _is_client_code(error.code)
    return Failure(_("The model broke off with an error"), error.message, transient=not final)


def _status(error: APIStatusError, config: ModelConfig) -> Failure:
    status = error.status_code
    reason = _("{url} answered {status}: {reason}").format(
        url=config.base_url, status=status, reason=_words(error) or "-"
    )
    if status in _OVERFLOW_STATUS and _is_overflow(error, status):
        return Failure(_context_title(), reason, overflow=True)
    if status in (401, 403):
        hint = (
            _("check the key in {name}").format(name=config.api_key_env)
            if config.api_key_env
            else _("this server wants a key; name its environment variable in api_key_env")
        )
        return Failure(_("The model server refused the key"), reason, hint)
    if status == 404:
        return Failure(_("The model was not found"), reason, _("check base_url and model"))
    if error.code in _FINAL_CODES:
        return Failure(_("The account with the model server is used up"), reason)
    if status in (408, 409, 429) or status >= 500:
        busy = status == 429
        title = _("The model server is too busy") if busy else _("The model server failed")
        return Failure(title, reason, transient=True, wait=_retry_after(error))
    title = _("The model server did not accept the request")
    return Failure(title, reason, refused=status in (400, 422))


def _context_title() -> str:
    return _("The conversation is longer than the model can read")


def _is_overflow(error: APIError, status: int) -> bool:
    if error.code in _OVERFLOW_CODES or error.type in _OVERFLOW_CODES:
        return True
    return status != 429 and _OVERFLOW.search(_words(error)) is not None


def _is_client_code(code: str | None) -> bool:
    return bool(code and re.fullmatch(r"4\d\d", code) and code not in ("408", "409", "429"))


def _words(error: APIError) -> str:
    # "Error code: 400 - what the server said"; a body that is not JSON is not in the message.
    words = re.sub(r"^Error code: \d+( - )?", "", error.message)
    return words or (error.body if isinstance(error.body, str) else "")


def _retry_after(error: APIStatusError) -> float | None:
    """Seconds that the server wants us to wait, at most `MAX_WAIT`."""
    headers = error.response.headers
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        elif "retry-after" in headers:
            seconds = _seconds(headers["retry-after"])
        else:
            return None
    except (ValueError, TypeError):
        return None
    return min(max(seconds, 0.0), MAX_WAIT) if seconds == seconds else None


def _seconds(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        moment = parsedate_to_datetime(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return (moment - datetime.now(UTC)).total_seconds()

"""`cuecard serve`: the app in a browser, a process for each page that is open, as the person whom the page's login names."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import os
import secrets
import shlex
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from cuecard.core.errors import CuecardError, install_hint, system_words
from cuecard.core.i18n import N_, _, current_language, headed
from cuecard.core.secrets import public_form
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import note, table
from cuecard.tui.commands.verb import Help, Result, verb

if TYPE_CHECKING:
    from aiohttp import web

_LOGIN = "login"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self' {sockets}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)


@verb("cuecard serve --for Ana --for Ben")
def serve(
    ours: Context,
    *,
    for_: Annotated[
        Sequence[str], Help(N_("Who may log in; may be repeated. Default: you"), "--for")
    ] = (),
    port: Annotated[int, Help(N_("Port; 0 takes a free one"), min=0, max=65535)] = 8000,
    host: Annotated[
        str, N_("Address to listen on; any but this machine's own lets others reach the app")
    ] = "127.0.0.1",
    public_url: Annotated[
        str,
        N_("What browsers open where a proxy stands before it, such as https://cue.example.org"),
    ] = "",
    new_links: Annotated[bool, N_("Have earlier links not work any more")] = False,
) -> Result:
    from cuecard.store import workspace_url

    try:
        import textual_serve.server  # noqa: F401 # pyright: ignore[reportUnusedImport]
    except ImportError:
        raise CuecardError(
            _("Serving to browsers needs one more package"),
            "textual-serve",
            install_hint("browser"),
        ) from None
    url = workspace_url(ours.db)
    people = [ours.workspace.people.add(ours.workspace.roles.person(name)).name for name in for_]
    people = list(dict.fromkeys(people)) or [ours.person]
    try:
        listening = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except OSError as error:
        why = system_words(error)
        raise CuecardError(
            _("Nothing can be served there"),
            headed(f"{host}:{port}", why),
            _("Choose another --port or --host."),
        ) from None
    words = ["--config", str(ours.config_path.absolute())] if ours.config_path else []
    with listening:
        door = AccessRules(
            people, public_form(url), listening, public_url, signing_key(new=new_links)
        )
        table("", (_("Person"), _("Link")), [(each, door.link(each)) for each in people])
        note(_("Whoever has a link works as that person. Ctrl+C ends it."))
        if not door.local and not public_url.startswith("https:"):
            note(
                _(
                    "Others can reach this address, and what they type travels unencrypted: put a proxy with TLS before it and"
                    " name it by --public-url."
                )
            )
        sys.stdout.flush()
        _run(door, words, {"CUECARD_DB": url, "CUECARD_LANG": current_language()})
    return Result("")


def signing_key(*, new: bool) -> bytes:
    """What links are signed with, kept for this account, so that they hold when the server is started again."""
    from cuecard.core.system import config_folder, keep

    path = config_folder() / "serve.key"
    try:
        if not new and path.exists():
            return bytes.fromhex(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        pass
    key = secrets.token_bytes(32)
    try:
        keep(path, key.hex())
    except OSError:
        note(_("These links hold only until the server ends: nothing can be kept here."))
    return key


class AccessRules:
    """Who may come in, and from where: people by their tokens, and the addresses that pages may have been opened by."""

    def __init__(
        self,
        people: Sequence[str],
        workspace: str,
        listening: socket.socket,
        public_url: str,
        key: bytes,
    ) -> None:
        self.listening = listening
        host, self.port = listening.getsockname()[:2]
        address = ipaddress.ip_address(host)
        self.local = address.is_loopback
        shown = f"[{host}]" if address.version == 6 else host
        if address.is_unspecified:
            shown = socket.gethostname()
        self.url = (public_url or f"http://{shown}:{self.port}").rstrip("/")
        self.origins = {self.url, f"http://{shown}:{self.port}"}
        self.origins |= {
            f"http://{name}:{self.port}" for name in ("localhost", "127.0.0.1", "[::1]")
        }
        self._people = {
            hmac.new(key, f"{workspace}\0{name}".encode(), hashlib.sha256).hexdigest()[:40]: name
            for name in people
        }

    @property
    def cookie(self) -> str:
        """Cookies are shared by all ports of a host."""
        return f"cuecard-{self.port}"

    def link(self, person: str) -> str:
        token = next(token for token, name in self._people.items() if name == person)
        return f"{self.url}/?{_LOGIN}={token}"

    def person(self, token: str) -> str:
        """Whom a token names; "" for nobody."""
        found = [
            name
            for known, name in self._people.items()
            if hmac.compare_digest(known.encode(), token.encode())
        ]
        return found[0] if found else ""

    def knows_host(self, host: str) -> bool:
        """Whether a page opened by this name is ours: another name that leads here is somebody's trick."""
        return host.casefold() in {urlsplit(origin).netloc.casefold() for origin in self.origins}


def _run(door: AccessRules, words: Sequence[str], settings: dict[str, str]) -> None:
    """Serve until interrupted."""
    from aiohttp import WSCloseCode, web
    from textual_serve.app_service import AppService
    from textual_serve.server import Server, to_int

    page = Template((files("cuecard.tui") / "styles" / "browser.html").read_text(encoding="utf-8"))
    script = (files("cuecard.tui") / "styles" / "browser.js").read_text(encoding="utf-8")

    class Session(AppService):
        """The app of one page. What is secret is told in its environment, which other accounts cannot read."""

        person = ""

        def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
            told = super()._build_environment(width, height)
            told.pop("NO_COLOR", None)  # of the terminal that the server was started in
            return told | settings | {"CUECARD_USER": self.person, "CUECARD_SERVED": self.person}

        async def send_bytes(self, data: bytes) -> bool:
            """What was typed; of nothing, as an input method says that was given up, the app would take it for the end."""
            return not data or await super().send_bytes(data)

    class BrowserServer(Server):
        def __init__(self) -> None:
            command = shlex.join([sys.executable, "-m", "cuecard", *words])
            # The shell makes way for the app, so that ending the process ends the app.
            super().__init__(f"exec {command}" if os.name == "posix" else command, title="Cuecard")
            self.open: set[web.WebSocketResponse] = set()

        async def made(self) -> web.Application:
            app = await self._make_app()
            app.middlewares.append(self.guard)
            app.router.add_get("/browser.js", self.handle_script)
            return app

        async def on_startup(self, app: web.Application) -> None:
            pass

        async def on_shutdown(self, app: web.Application) -> None:
            for each in tuple(self.open):
                await each.close(code=WSCloseCode.GOING_AWAY)

        @web.middleware
        async def guard(
            self,
            request: web.Request,
            handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
        ) -> web.StreamResponse:
            """Only by a name of ours, with a login, and for what moves anything only from a page of ours."""
            if not door.knows_host(request.host):
                return _refused(_("This is not the address of this server."))
            if token := request.query.get(_LOGIN):
                if not door.person(token):
                    return _refused(_("This link does not work any more. Ask for a new one."))
                entered = web.HTTPSeeOther("/")
                entered.set_cookie(
                    door.cookie,
                    token,
                    httponly=True,
                    samesite="Lax",
                    secure=door.url.startswith("https:"),
                )
                return entered
            person = door.person(request.cookies.get(door.cookie, ""))
            if not person:
                return _refused(_("Open the link that you were given; it says who you are."))
            origin = request.headers.get("Origin")
            if origin not in door.origins and (origin or request.path == "/ws"):
                return _refused(_("Another page asked for this."))
            request["person"] = person
            response = await handler(request)
            if not response.prepared:
                response.headers.update(_HEADERS)
            return response

        async def handle_index(self, request: web.Request) -> web.Response:
            scheme = "wss" if door.url.startswith("https:") else "ws"
            text = page.substitute(
                language=current_language(),
                socket=f"{scheme}://{request.host}/ws",
                size=max(8, min(40, to_int(request.query.get("fontsize", "16"), 16))),
                opening=escape(_("Opening…")),
                ended=escape(_("The session has ended. What you did is saved.")),
                again=escape(_("Open again")),
            )
            policy = _POLICY.format(sockets=f"{scheme}://{request.host}")
            headers = {"Content-Security-Policy": policy, "Cache-Control": "no-store"}
            return web.Response(text=text, content_type="text/html", headers=headers)

        async def handle_script(self, request: web.Request) -> web.Response:
            return web.Response(text=script, content_type="text/javascript")

        async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
            page = web.WebSocketResponse(heartbeat=15)
            width, height = (
                to_int(request.query.get(n, ""), least)
                for n, least in (("width", 80), ("height", 24))
            )

            async def close() -> None:
                await page.close()

            session = Session(
                self.command,
                write_bytes=page.send_bytes,
                write_str=page.send_str,
                close=close,
                download_manager=self.download_manager,
            )
            session.person = request["person"]
            await page.prepare(request)
            self.open.add(page)
            try:
                await session.start(width, height)
                await self._process_messages(page, session)
            finally:
                self.open.discard(page)
                await session.stop()
            return page

    web.run_app(
        BrowserServer().made(),
        sock=door.listening,
        print=lambda *_words: None,
        access_log=None,
    )


_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}


def _refused(why: str) -> web.Response:
    from aiohttp import web

    text = f'<!doctype html><meta charset="utf-8"><title>Cuecard</title><p>{escape(why)}</p>'
    headers = {
        **_HEADERS,
        "Content-Security-Policy": "default-src 'none'",
        "Cache-Control": "no-store",
    }
    return web.Response(text=text, status=403, content_type="text/html", headers=headers)

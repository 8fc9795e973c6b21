"""Opening a page in the person's browser, without a word of it on our terminal."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping

from cuecard.core.tasks.base import is_web_address

_OPENERS = ("xdg-open", "wslview", "gio open", "firefox", "chromium", "google-chrome")
# These would draw on the terminal that the app is using.
_ON_TERMINAL = ("lynx", "w3m", "links", "elinks", "browsh", "www-browser")


def browser_command(environ: Mapping[str, str], platform: str) -> list[str] | None:
    """What opens an address given after it; None where there is no browser with a window."""
    if platform == "darwin":
        return ["open"]
    if platform == "win32":
        return ["rundll32", "url.dll,FileProtocolHandler"]
    path = environ.get("PATH")
    for named in environ.get("BROWSER", "").split(os.pathsep):
        try:
            words = [word for word in shlex.split(named) if word not in ("%s", "&")]
        except ValueError:
            continue
        if (
            words
            and os.path.basename(words[0]) not in _ON_TERMINAL
            and shutil.which(words[0], path=path)
        ):
            return words
    if not (
        environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY") or environ.get("WSL_DISTRO_NAME")
    ):
        return None
    for opener in _OPENERS:
        words: list[str] = [*opener.split()]
        if shutil.which(words[0], path=path):
            return words
    return None


def open_page(url: str) -> bool:
    """Whether a browser was started on the address. Anything but http and https is refused."""
    command = browser_command(os.environ, sys.platform) if is_web_address(url) else None
    if command is None:
        return False
    try:
        process = subprocess.Popen(
            [*command, url],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    threading.Thread(target=process.wait, daemon=True).start()
    return True

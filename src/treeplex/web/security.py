"""The guard of the application: it checks token, Host, Origin and the size of every request."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import socket
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from treeplex.web.refusals import answer

MOST: Final = 2**20  # limit on the bytes of a body
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
ANYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104 - only compared with
HOST: Final = re.compile(r"(?:\[([0-9a-f.]*:[0-9a-f:.]*)\]|([^\[\]:]+))(?::([0-9]{1,5}))?")  # [IPv6] or name, port
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Door:
    """The token and the host names of this server."""

    token: str
    host: str
    port: int

    @property
    def cookie(self) -> tuple[str, str]:
        """Name and value of the cookie for the page's own files; it does not reveal the token."""
        secret = hashlib.blake2b(b"static", key=self.token.encode()[:64], digest_size=16).hexdigest()
        return f"treeplex-{self.port}", secret

    def is_ours(self, host: str) -> bool:
        """Return whether a Host header names this server. Foreign names may resolve to us; addresses cannot."""
        name, port = _split(host)
        if port != self.port:
            return False
        if name in (*LOOPBACK, self.host.lower()):
            return True
        return self.host in ANYWHERE and (_is_address(name) or name in _own_names())

    def is_token(self, text: str | None) -> bool:
        """Return whether a text is the token, compared in constant time."""
        return text is not None and hmac.compare_digest(text.encode(), self.token.encode())

    def is_cookie(self, header: str) -> bool:
        """Return whether our cookie is in a header."""
        name, value = self.cookie
        try:
            morsel = SimpleCookie(header).get(name)
        except CookieError:
            return False
        return morsel is not None and hmac.compare_digest(morsel.value.encode(), value.encode())


class Guard:
    """An ASGI application that guards another one."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self.app, self.door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve an ASGI request; web sockets are not supported."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, _with_headers(send))

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope)
        if refusal is None:
            scope.setdefault("state", {})["known"] = True  # such a connection is not closed for newer ones
            body = await _body(scope, receive)
            if body is not None:
                await self.app(scope, _replayed(body, receive), send)
                return
            refusal = 413, f"The body of a request may have at most {MOST:,} bytes."
        response = answer(*refusal)
        if refusal[0] == 413:
            response.headers["Connection"] = "close"
        await response(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = _headers(scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self.door.is_ours(host):
            return 403, "This server does not have that name; open the link that treeplex serve printed."
        if origin is not None and origin.lower() not in (f"http://{host}".lower(), f"https://{host}".lower()):
            return 403, "This server answers only its own page, not pages of another origin."
        token = headers.get("x-token") or _query(scope).get("token")
        if self.door.is_token(token):
            return None
        if str(scope["path"]).startswith("/static/") and self.door.is_cookie(headers.get("cookie", "")):
            return None
        what = "The token is wrong" if token else "The token is missing"
        return 401, f"{what}; open the link that treeplex serve printed, or send it as the header X-Token."


def _headers(scope: Scope) -> dict[str, str]:
    """Return headers by name. Repeated headers are joined, so that a second one cannot replace the first."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def _query(scope: Scope) -> dict[str, str]:
    try:
        listed = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return {}
    return {name: values[-1] for name, values in listed.items()}


async def _body(scope: Scope, receive: Receive) -> bytes | None:
    """Return the whole body, or None if it is too large; then the rest is not read."""
    announced = _headers(scope).get("content-length", "0")
    if not (announced.isascii() and announced.isdigit()) or len(announced) > 12 or int(announced) > MOST:
        return None
    parts, size = list[bytes](), 0
    while scope["method"] not in ("GET", "HEAD"):
        message = await receive()
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > MOST:
            return None
        parts.append(part)
        if message["type"] != "http.request" or not message.get("more_body", False):
            break
    return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a receiver of the body once, then of further messages, such as a disconnect."""
    replayed = False

    async def again() -> Message:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent


def _split(host: str) -> tuple[str, int]:
    """Return name and port of a Host header: port 80 if it has none, -1 if the header is malformed."""
    match = HOST.fullmatch(host.strip().lower())
    return (match[1] or match[2], int(match[3] or 80)) if match else ("", -1)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _own_names() -> set[str]:
    return {socket.gethostname().lower(), socket.getfqdn().lower()}


def static_cookie(door: Door) -> dict[str, Any]:
    """Return the arguments of ``Response.set_cookie``."""
    name, value = door.cookie
    return {"key": name, "value": value, "path": "/static", "httponly": True, "samesite": "strict"}

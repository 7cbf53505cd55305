"""Strict reading of requests: JSON without NaN, and no unknown query parameters."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Final, NoReturn

from fastapi import APIRouter, Query, Request, Response
from fastapi.routing import APIRoute

from treeplex.errors import ParameterError, quoted
from treeplex.web.schema.common import Refusal

STATUSES: Final = {
    400: "The request is invalid; the sentence says why.",
    401: "The token is missing or wrong.",
    403: "The request has another origin, or a host name that is not this server's.",
    404: "There is no such run or job.",
    409: "The server, run or job is busy.",
    413: "The body is too large.",
}
REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": Refusal, "description": words} for status, words in STATUSES.items()
}

RunName = Annotated[str, Query(description="The run, by its path below the served folder.", max_length=1000)]
Line = Annotated[str, Query(description="The line to the node, such as x/b75/c/Qh. Empty: the root.", max_length=2000)]
Seat = Annotated[
    str | None,
    Query(description="The player whose hands to show: oop or ip. Default: the player to act.", max_length=20),
]


class StrictRequest(Request):
    """A request whose body must be strict JSON."""

    async def json(self) -> Any:
        """Return the body; raise ``ParameterError`` if it is not JSON."""
        if not hasattr(self, "_json"):
            self._json = parsed(await self.body())
        return self._json


class Route(APIRoute):
    """A route that refuses unknown query parameters."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return FastAPI's handler, with a strict request and a check of query parameters."""
        handle = super().get_route_handler()
        known = {"token", *(field.alias for field in self.dependant.query_params)}

        async def handler(request: Request) -> Response:
            strange = next((name for name in request.query_params if name not in known), None)
            if strange is not None:
                listed = ", ".join(sorted(known - {"token"})) or "none"
                raise ParameterError(f"There is no parameter {quoted(strange)} here. Legal parameters: {listed}.")
            strict = StrictRequest(request.scope, request.receive)
            if self.body_field is not None:
                await strict.json()
            return await handle(strict)

        return handler


def router(subject: str) -> APIRouter:
    """Return a router for one subject, with the schema of refusals."""
    return APIRouter(prefix="/api", tags=[subject], route_class=Route, responses=dict(REFUSALS))


def as_text(kind: str) -> dict[int | str, dict[str, Any]]:
    """Return the schema of an answer that is not JSON."""
    return {200: {"description": "Text.", "content": {kind: {"schema": {"type": "string"}}}}}


def parsed(body: bytes) -> Any:
    """Parse standard JSON: no NaN, no endless nesting."""
    try:
        return json.loads(body.decode("utf-8-sig") or "null", parse_constant=_no_number)
    except RecursionError:
        raise ParameterError("The JSON of the body is nested too deeply to be read.") from None
    except ValueError as error:
        raise ParameterError(f"The body is not JSON ({' '.join(str(error).split())[:80]}).") from None


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")

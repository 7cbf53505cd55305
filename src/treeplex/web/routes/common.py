"""How requests are read: JSON without NaN, and no query parameter that nobody knows."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Final, NoReturn

from fastapi import APIRouter, Query, Request, Response
from fastapi.routing import APIRoute

from treeplex.errors import ParameterError, quoted
from treeplex.web.schema.common import Refusal

STATUSES: Final = {
    400: "What was asked cannot be done, and why.",
    401: "The token is missing or wrong.",
    403: "Another origin, or a name that is not this server's.",
    404: "No such run or job.",
    409: "It is busy.",
    413: "The body is too large.",
}
REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": Refusal, "description": words} for status, words in STATUSES.items()
}

RunName = Annotated[str, Query(description="The run, by its path below the folder that is served.", max_length=1000)]
Line = Annotated[str, Query(description="The way to the node, such as x/b75/c/Qh; empty: the root.", max_length=2000)]
Seat = Annotated[str | None, Query(description="Whose hands: oop or ip; left out: who is to act.", max_length=20)]


class Asking(Request):
    """A request whose body is read strictly."""

    async def json(self) -> Any:
        """The body; ParameterError if it is not JSON."""
        if not hasattr(self, "_json"):
            self._json = parsed(await self.body())
        return self._json


class Route(APIRoute):
    """A route that refuses query parameters nobody knows."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """As the library has it, around a stricter request."""
        handle = super().get_route_handler()
        known = {"token", *(field.alias for field in self.dependant.query_params)}

        async def handler(request: Request) -> Response:
            strange = next((name for name in request.query_params if name not in known), None)
            if strange is not None:
                listed = ", ".join(sorted(known - {"token"})) or "none"
                raise ParameterError(f"There is no parameter {quoted(strange)} here; there are: {listed}.")
            asking = Asking(request.scope, request.receive)
            if self.body_field is not None:
                await asking.json()
            return await handle(asking)

        return handler


def router(subject: str) -> APIRouter:
    """Routes about one subject, all of which may refuse."""
    return APIRouter(prefix="/api", tags=[subject], route_class=Route, responses=dict(REFUSALS))


def as_text(kind: str) -> dict[int | str, dict[str, Any]]:
    """The schema of an answer that is no JSON."""
    return {200: {"description": "Text.", "content": {kind: {"schema": {"type": "string"}}}}}


def parsed(body: bytes) -> Any:
    """JSON as the standard has it: no NaN, no nesting without end."""
    try:
        return json.loads(body.decode("utf-8-sig") or "null", parse_constant=_no_number)
    except RecursionError:
        raise ParameterError("The body is JSON that is too deeply nested to be read.") from None
    except ValueError as error:
        raise ParameterError(f"The body is not JSON ({' '.join(str(error).split())[:80]}).") from None


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")

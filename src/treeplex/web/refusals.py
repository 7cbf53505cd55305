"""Refusals as responses: one sentence and a status for every error."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from treeplex.errors import TreeplexError, quoted
from treeplex.web.answers import reply

SENTENCES: Final = {
    404: "There is nothing at this address; /api/openapi.json lists all addresses.",
    405: "This address does not support that method; /api/openapi.json lists the methods.",
}
FAILED: Final = "The server failed to answer; its terminal shows why."


class RefusalError(TreeplexError):
    """A refusal with a status other than 400."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def answer(status: int, sentence: str) -> Response:
    """Return the response of a refusal."""
    return reply({"error": sentence}, status)


def install(app: FastAPI) -> None:
    """Register handlers that answer every exception with a sentence."""
    app.add_exception_handler(TreeplexError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(MemoryError, _memory)
    app.add_exception_handler(Exception, _failed)


def sentence_of(errors: Sequence[Any]) -> str:
    """Return a sentence about the first error in the fields of a request.

    >>> sentence_of([{"type": "missing", "loc": ("body", "text")}])
    "The field 'text' is missing."
    """
    error: dict[str, Any] = errors[0]
    where = ".".join(str(part) for part in error["loc"][1:]) or "body"
    match error["type"]:
        case "missing":
            return f"The field {quoted(where)} is missing."
        case "extra_forbidden":
            return f"There is no field {quoted(where)} here; leave it out. /api/openapi.json lists all fields."
        case "union_tag_not_found" | "union_tag_invalid":
            return "The field 'what' must be one of solve, resume, grow or sizes."
        case "model_attributes_type" | "dict_type" if where == "body":
            return "Send the fields as one JSON object, with the header Content-Type: application/json."
        case _:
            legal = str(error["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
            return f"The field {quoted(where)} must be {legal}, got {quoted(error.get('input'))}."


async def _refused(request: Request, error: Exception) -> Response:
    return answer(error.status if isinstance(error, RefusalError) else 400, str(error))


async def _invalid(request: Request, error: Exception) -> Response:
    errors: Sequence[Any] = error.errors() if isinstance(error, RequestValidationError) else ()
    return answer(400, sentence_of(errors))


async def _http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 400
    detail = str(error.detail) if isinstance(error, HTTPException) else ""
    response = answer(status, SENTENCES.get(status, detail))
    response.headers.update(dict(getattr(error, "headers", None) or {}))
    return response


async def _memory(request: Request, error: Exception) -> Response:
    return answer(400, "There is not enough memory. Close other runs, or choose something smaller.")


async def _failed(request: Request, error: Exception) -> Response:
    traceback.print_exception(error, file=sys.stderr)
    return answer(500, FAILED)

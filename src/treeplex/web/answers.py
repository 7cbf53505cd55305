"""Answers as JSON: always ASCII without NaN, whatever a file contains."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from starlette.responses import Response

from treeplex.errors import ParameterError

Json = Mapping[str, Any] | Sequence[Any] | str | float | None
"""Content that can be written as JSON."""


def reply(content: Json, status: int = 200) -> Response:
    """Return content as a JSON response; the schema of its address describes it."""
    return Response(encoded(content), status, media_type="application/json")


def encoded(content: Json) -> bytes:
    """Encode content as JSON; numbers that are not finite become null."""
    try:
        text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    except RecursionError:
        raise ParameterError("The answer is nested too deeply to be written as JSON.") from None
    except ValueError:
        text = json.dumps(_finite(content), allow_nan=False, separators=(",", ":"))
    return text.encode("ascii")


def _finite(content: object) -> Any:
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in cast(Mapping[Any, Any], content).items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in cast(list[Any], content)]
    return content

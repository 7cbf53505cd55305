"""Types and base classes that all schemas share."""

from __future__ import annotations

from functools import cache, reduce
from types import UnionType
from typing import Annotated, Any, Literal, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

from pydantic import BaseModel, ConfigDict, Field, create_model

Number = Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True, allow_inf_nan=False)]
"""A finite number; the code that uses it checks its limits."""

Whole = Annotated[int, Field(strict=True, ge=0, lt=2**63)]
Count = Annotated[int, Field(ge=0)]
SpotFields = Annotated[
    dict[str, Any],
    Field(
        description="board, pot, effective_stack, oop_range, ip_range; optional: sizes, donk_sizes, line_sizes,"
        " rake_rate, rake_cap, chip, dead_money and thresholds, as in a spot's file."
    ),
]


class RequestModel(BaseModel):
    """The fields of a request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class AnswerModel(BaseModel):
    """The fields of an answer; no others."""

    model_config = ConfigDict(extra="forbid")


class Loose(BaseModel):
    """The fields of an answer, which may have more."""

    model_config = ConfigDict(extra="allow")


class Refusal(AnswerModel):
    """A refusal: one sentence."""

    error: Annotated[str, Field(description="One sentence: the problem and the fix.")]


@cache
def model_of(shape: Any) -> Any:
    """Return a type with a model in place of every ``TypedDict``; a text in ``Annotated`` becomes a description."""
    origin, inside = get_origin(shape), get_args(shape)
    if is_typeddict(shape):
        hints = get_type_hints(shape, include_extras=True)
        fields: dict[str, Any] = {name: _field(hint) for name, hint in hints.items()}
        return create_model(shape.__name__, __base__=Loose, __doc__=shape.__doc__, **fields)
    if origin is Annotated:
        return Annotated[model_of(inside[0]), Field(description=inside[1])]
    if origin is UnionType:
        return reduce(lambda one, other: one | other, map(model_of, inside))
    return shape if origin in (None, Literal) else origin[tuple(map(model_of, inside))]


def _field(hint: object) -> tuple[Any, Any]:
    """Return a field's type and default."""
    if get_origin(hint) is NotRequired:
        return model_of(get_args(hint)[0]), Field(default_factory=lambda: None)
    return model_of(hint), ...

"""What all schemas share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Number = Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True, allow_inf_nan=False)]
"""A finite number; limits on it are checked by what it is for."""

Whole = Annotated[int, Field(strict=True, ge=0, lt=2**63)]
Count = Annotated[int, Field(ge=0)]
SpotFields = Annotated[
    dict[str, Any],
    Field(
        description="board, pot, effective_stack, oop_range, ip_range; optional: sizes, donk_sizes, line_sizes,"
        " rake_rate, rake_cap, chip, dead_money and thresholds, as in a spot's file."
    ),
]


class Asked(BaseModel):
    """The fields of a request; what is not named is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Told(BaseModel):
    """The fields of an answer."""

    model_config = ConfigDict(extra="forbid")


class Loose(BaseModel):
    """The fields of an answer, of which there may be more."""

    model_config = ConfigDict(extra="allow")


class Refusal(Told):
    """What every refusal is."""

    error: Annotated[str, Field(description="One sentence: what is wrong, and what to do.")]

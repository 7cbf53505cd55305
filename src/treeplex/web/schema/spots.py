"""Spots and ranges."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from treeplex.web.schema.common import Asked, Count, Number, SpotFields, Told


class RangeForm(Asked):
    """A range in one of three forms."""

    text: str | None = Field(None, max_length=100_000, description="Such as 22+,A5s-A2s,KQo:0.5; empty: no hand.")
    weights: list[Number] | None = Field(None, description="169 weights from 0 to 1, row by row, aces first.")
    hands: dict[str, Number] | None = Field(None, description="Weights of single hands, such as AsKs.")


class RangeText(Told):
    """A range in every form."""

    text: str
    weights: list[float] = Field(min_length=169, max_length=169)
    hands: dict[str, float]
    combos: float


class SpotForm(Asked):
    """A spot to be checked and measured."""

    spot: SpotFields


class SpotEstimate(Told):
    """How large a spot is."""

    spot: dict[str, Any] = Field(description="With every field.")
    nodes: Count
    bytes: dict[str, int] = Field(description="Memory of a solve, by storage.")
    bytes_free: Count
    seconds: dict[str, float] = Field(description="About how long a solve takes, by exploitability.")
    boards_by_street: list[int]
    decisions_by_street: list[int]
    hands: list[int] = Field(description="Hands of each player.")


class ImportForm(Asked):
    """A text that holds a spot in some program's format."""

    text: str
    format: str | None = Field(None, description="Left out: found by looking.")


class ImportedSpot(Told):
    """The spot that a text holds."""

    spot: dict[str, Any] = Field(description="Its fields; empty if the text holds ranges alone.")
    notes: list[str] = Field(description="What could not be taken over.")
    format: str
    target: str | None = Field(description="The exploitability that the text asks for.")
    ranges: dict[str, str] | None = Field(description="By name, if the text holds ranges alone.")
    partial: bool = Field(description="The format has no board and no ranges: give them beside it.")


class ExportForm(Asked):
    """A spot, and the format to write it in."""

    spot: SpotFields
    format: str


class SpotText(Told):
    """A spot as text."""

    text: str
    name: str = Field(description="For the file.")
    notes: list[str] = Field(description="What the format cannot hold.")

"""Models of spots and ranges."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from treeplex.web.schema.common import AnswerModel, Count, Number, RequestModel, SpotFields


class RangeForm(RequestModel):
    """A range in one of three forms."""

    text: str | None = Field(
        None, max_length=100_000, description="Range such as 22+,A5s-A2s,KQo:0.5. Empty: no hands."
    )
    weights: list[Number] | None = Field(None, description="169 weights from 0 to 1, row by row, aces first.")
    hands: dict[str, Number] | None = Field(None, description="Weights of single hands, such as AsKs.")


class RangeText(AnswerModel):
    """A range in every form."""

    text: str
    weights: list[float] = Field(min_length=169, max_length=169)
    hands: dict[str, float]
    combos: float


class SpotForm(RequestModel):
    """A spot to check and estimate."""

    spot: SpotFields


class SpotEstimate(AnswerModel):
    """The size of a spot, and estimates for a solve."""

    spot: dict[str, Any] = Field(description="The spot with every field.")
    nodes: Count
    bytes: dict[str, int] = Field(description="Bytes of memory for a solve, by storage.")
    bytes_free: Count
    seconds: dict[str, float] = Field(description="Estimated seconds of a solve, by exploitability.")
    boards_by_street: list[int]
    decisions_by_street: list[int]
    hands: list[int] = Field(description="Number of hands of each player.")


class ImportForm(RequestModel):
    """A text with a spot in the format of some program."""

    text: str
    format: str | None = Field(None, description="Default: detected from the text.")


class ImportedSpot(AnswerModel):
    """The spot in a text."""

    spot: dict[str, Any] = Field(description="Fields of the spot; empty if the text has only ranges.")
    notes: list[str] = Field(description="Parts of the text that could not be imported.")
    format: str
    target: str | None = Field(description="The target exploitability of the text.")
    ranges: dict[str, str] | None = Field(description="Ranges by name, if the text has only ranges.")
    partial: bool = Field(description="The format has no board and no ranges; set them separately.")


class ExportForm(RequestModel):
    """A spot, and the format to write it in."""

    spot: SpotFields
    format: str


class SpotText(AnswerModel):
    """A spot as text for a file."""

    text: str
    name: str = Field(description="Name for the file.")
    notes: list[str] = Field(description="Parts of the spot that the format cannot express.")

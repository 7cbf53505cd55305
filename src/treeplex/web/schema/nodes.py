"""Views of a hold'em node."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from treeplex.poker.views import node
from treeplex.web.schema.common import Asked, Loose, Told, model_of

Node: Any = model_of(node.Node)


class Runouts(Loose):
    """What each next card does."""

    line: str
    cards: list[dict[str, Any]]


class NodeComparison(Loose):
    """Two runs at one node."""

    line: str
    rows: list[dict[str, Any]]


class TrainForm(Asked):
    """Ask for a hand to play."""

    run: str
    player: str = "oop"
    seed: Annotated[int, Field(ge=0, le=2**53)] | None = Field(None, description="Left out: a new one.")
    number: Annotated[int, Field(ge=0, le=2**53)] = Field(0, description="Of the hand; the next one has one more.")


class Question(Loose):
    """A hand to play."""

    line: str
    hand: str
    player: str


class AnswerForm(Asked):
    """What was played."""

    run: str
    question: dict[str, Any]
    action: int = Field(description="Its place among the actions.")


class Marked(Loose):
    """How good that was."""


class Infoset(Told):
    """What a player does at an infoset."""

    player: int
    infoset: str
    actions: list[str]
    probabilities: list[float]


class Infosets(Told):
    """Some infosets of a policy."""

    total: int
    infosets: list[Infoset]


class TreeAction(Told):
    """A branch of a game tree."""

    name: str
    probability: float | None
    path: str


class Breadcrumb(Told):
    """A step on the way to a node."""

    name: str
    path: str


class TreeNode(Told):
    """A node of a game tree."""

    path: str
    kind: Literal["decision", "chance", "terminal"]
    player: int | None = None
    infoset: str | None = None
    payoff: float | None = Field(None, description="Player 0's.")
    value: float | None = Field(None, description="Player 0's, from here on.")
    reach: float | None = Field(None, description="How often play gets here.")
    actions: list[TreeAction]
    crumbs: list[Breadcrumb]

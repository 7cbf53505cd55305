"""Models of hold'em nodes and of game trees."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from treeplex.poker.views import node
from treeplex.web.schema.common import AnswerModel, Loose, RequestModel, model_of

Node: Any = model_of(node.Node)


class Runouts(Loose):
    """EV, equity and strategy after every next card."""

    line: str
    cards: list[dict[str, Any]]


class NodeComparison(Loose):
    """A comparison of two runs at one node."""

    line: str
    rows: list[dict[str, Any]]


class TrainForm(RequestModel):
    """A request for a hand to play."""

    run: str
    player: str = "oop"
    seed: Annotated[int, Field(ge=0, le=2**53)] | None = Field(None, description="Default: a new random seed.")
    number: Annotated[int, Field(ge=0, le=2**53)] = Field(
        0, description="Number of the hand; add one for the next hand."
    )


class Question(Loose):
    """A hand to play in the trainer."""

    line: str
    hand: str
    player: str


class AnswerForm(RequestModel):
    """The action played at a question."""

    run: str
    question: dict[str, Any]
    action: int = Field(description="Index of the action.")


class Marked(Loose):
    """The grade of an answer."""


class Infoset(AnswerModel):
    """A player's strategy at an infoset."""

    player: int
    infoset: str
    actions: list[str]
    probabilities: list[float]


class Infosets(AnswerModel):
    """Infosets of a policy that match a search."""

    total: int
    infosets: list[Infoset]


class TreeAction(AnswerModel):
    """A branch of a game tree."""

    name: str
    probability: float | None
    path: str


class Breadcrumb(AnswerModel):
    """A step on the path to a node."""

    name: str
    path: str


class TreeNode(AnswerModel):
    """A node of a game tree."""

    path: str
    kind: Literal["decision", "chance", "terminal"]
    player: int | None = None
    infoset: str | None = None
    payoff: float | None = Field(None, description="Payoff of player 0.")
    value: float | None = Field(None, description="Value of player 0 from here on.")
    reach: float | None = Field(None, description="Probability of reaching this node.")
    actions: list[TreeAction]
    crumbs: list[Breadcrumb]

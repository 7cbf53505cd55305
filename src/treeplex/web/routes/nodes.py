"""Routes for views of nodes. A run that is not open is opened first."""

from __future__ import annotations

import csv
import io
import json
import secrets
from typing import Annotated, Any

from fastapi import Query, Response
from starlette.responses import PlainTextResponse

from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.ranges import format_range
from treeplex.games.holdem.spot import PLAYERS
from treeplex.poker.browse import OpenedSpot
from treeplex.web.answers import encoded
from treeplex.web.ranges import range_of
from treeplex.web.routes.common import Line, RunName, Seat, as_text, router
from treeplex.web.schema.nodes import AnswerForm, Marked, Node, NodeComparison, Question, Runouts, TrainForm
from treeplex.web.site import OnSite, Site

routes = router("nodes")


@routes.get("/node", response_model=Node)
async def show_node(site: OnSite, run: RunName, line: Line = "", player: Seat = None) -> Response:
    """Return a node with the strategy and EV of every hand."""
    return await _view(site, run, "node", line, _player(player))


@routes.get("/runouts", response_model=Runouts)
async def show_runouts(site: OnSite, run: RunName, line: Line = "") -> Response:
    """Return EV, equity and strategy after every next card."""
    return await _view(site, run, "runouts", line)


@routes.get("/exploit", response_model=Node)
async def show_exploit(site: OnSite, run: RunName, line: Line = "", player: Seat = None) -> Response:
    """Return a node with the best response of every hand and its gain."""
    return await _view(site, run, "exploit", line, _player(player))


@routes.get("/compare", response_model=NodeComparison)
async def compare_runs(
    site: OnSite,
    run: RunName,
    other: Annotated[str, Query(description="The run to compare with.", max_length=1000)],
    line: Line = "",
    player: Seat = None,
) -> Response:
    """Compare two runs at one node, hand by hand: value, strategy, regret."""
    second = await site.opened.get(other)
    return await _view(site, run, "compare", second, line, _player(player))


@routes.get("/node.csv", responses=as_text("text/csv"))
async def save_node(site: OnSite, run: RunName, line: Line = "", player: Seat = None) -> Response:
    """Return the hands of a node as CSV."""
    whose = _player(player)
    text = await site.opened.view(run, lambda opened: _table(opened.node(line, whose)))
    return PlainTextResponse(text, media_type="text/csv")


@routes.get("/range.txt", responses=as_text("text/plain"))
async def save_range(site: OnSite, run: RunName, line: Line = "", player: Seat = None) -> Response:
    """Return the range that gets to a node, as text."""
    whose = _player(player)
    return PlainTextResponse(await site.opened.view(run, lambda opened: _range(opened.node(line, whose))))


@routes.post("/train", response_model=Question)
async def ask_question(site: OnSite, form: TrainForm) -> Response:
    """Deal a hand for the trainer."""
    seed = secrets.randbelow(2**31) if form.seed is None else form.seed
    return await _view(site, form.run, "question", _player(form.player), seed, form.number)


@routes.post("/train/answer", response_model=Marked)
async def mark_answer(site: OnSite, form: AnswerForm) -> Response:
    """Grade an answer and return the next decision of the hand."""
    return await _view(site, form.run, "mark", form.question, form.action)


async def _view(site: Site, run: str, method: str, *arguments: Any) -> Response:
    def look(opened: OpenedSpot) -> bytes:
        return encoded(getattr(opened, method)(*arguments))

    return Response(await site.opened.view(run, look), media_type="application/json")


def _player(player: str | None) -> str | None:
    if player is not None and player not in PLAYERS:
        raise ParameterError(f"The 'player' parameter must be {' or '.join(PLAYERS)}, got {quoted(player)}.")
    return player


def _range(node: dict[str, Any]) -> str:
    weights = {hand["hand"]: min(max(float(hand["reach"]), 0.0), 1.0) for hand in node.get("hands") or ()}
    return format_range(range_of(None, None, weights))


def _table(node: dict[str, Any]) -> str:
    """Return CSV with one row per hand and two columns per action."""
    out = io.StringIO()
    actions = [action["name"] for action in node.get("actions") or ()]
    hands = node.get("hands") or ()
    acts = any(hand["strategy"] for hand in hands)
    shown = actions if acts else []
    fields = ["hand", "reach", "share", "value", "equity", "realisation", "indifferent"]
    write = csv.writer(out, lineterminator="\n")
    write.writerow([*fields, *(f"{name} frequency" for name in shown), *(f"{name} ev" for name in shown)])
    for hand in hands:
        numbers = [json.dumps(x) if isinstance(x, bool) else x for x in (hand.get(name) for name in fields)]
        write.writerow([*numbers, *(hand["strategy"] if acts else ()), *(hand["ev"] if acts else ())])
    return out.getvalue()

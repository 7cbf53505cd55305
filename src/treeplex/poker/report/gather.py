"""Collect a report: visit every node of the runs, lines and cards once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.arrays import Bools, Floats
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.betting import CHANCE, DECISION
from treeplex.games.holdem.cards import card_name, hand_number, parse_board, parse_card
from treeplex.games.holdem.ranges import parse_range
from treeplex.games.holdem.spot import PLAYERS
from treeplex.poker.browse.lines import crumbs, extended, next_cards
from treeplex.poker.browse.opened import OpenedSpot, open_spot
from treeplex.poker.report.answer import Report, ReportRow, Total, averaged
from treeplex.poker.report.textures import CLASSES, alike_boards, check_textures, classes_on, textures
from treeplex.poker.views.equity import chance_of, compatible
from treeplex.poker.views.lines import Position, follow
from treeplex.poker.views.node import realisation
from treeplex.poker.views.view import average

ANY: Final = "*"
MOST: Final = 20_000  # rows of a report

Watch = Callable[[str], None]


def report(
    runs: Sequence[str | Path],
    lines: Sequence[str] = ("",),
    *,
    hands: str | None = None,
    by_class: bool = False,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    threads: int = 0,
    watch: Watch | None = None,
) -> Report:
    """Return a table of lines of play over the boards of several runs, or over the cards to come in one run.

    Args:
        runs: Folders of solved spots.
        lines: Lines to decisions. ``*`` stands for every card; where a line ends before a card, one is added.
        hands: A range; frequencies and EVs are then of these hands only.
        by_class: Return one row per class of hands, such as top pair.
        only: Texture words that a board must have, such as ``"paired"``.
        without: Texture words that a board must not have.
        threads: Number of threads (0 = automatic).
        watch: Called with a line of text about the progress.
    """
    if not runs:
        raise ParameterError("The 'runs' parameter must name at least one folder of a solved spot, got none.")
    if hands is not None and by_class:
        raise ParameterError("Set 'hands' or 'by_class', not both: a report has either one range or every class.")
    check_textures(only, "only")
    check_textures(without, "without")
    chosen = None if hands is None else parse_range(hands, "hands") > 0.0
    rows: list[ReportRow] = []
    totals: dict[str, Total] = {}
    for number, run in enumerate(runs, 1):
        opened = open_spot(run, threads)
        boards = alike_boards(opened.reader.game.spot.cards)
        for pattern in lines:
            weight, counted = totals.get(pattern, Total(0.0, 0.0))
            before = len(rows)
            for position in _positions(opened, pattern):
                words = textures(position.cards)
                if not set(only) <= set(words) or set(without) & set(words):
                    continue
                if watch is not None:
                    watch(f"run {number} of {len(runs)}, {' '.join(card_name(card) for card in position.cards)}")
                often = _often(opened, position)
                weight += often * boards
                shown: Any = opened.node(crumbs(opened.reader.game, position)[1])
                node = ReportNode(Path(run).name or str(run), pattern, shown, words)
                rows += _rows(node, often, often * boards, hands, chosen, by_class)
                if len(rows) > MOST:
                    raise ParameterError(f"The report has more than {MOST:,} rows; choose fewer runs, lines or cards.")
            totals[pattern] = Total(weight, counted + (boards if len(rows) > before else 0))
    return Report(tuple(rows), averaged(rows, totals))


class ReportNode(NamedTuple):
    """A node of the report and its labels."""

    run: str
    pattern: str
    fields: dict[str, Any]
    words: tuple[str, ...]


def _positions(opened: OpenedSpot, line: str) -> Iterator[Position]:
    """Yield the decisions that a line leads to, with every card in place of ``*``."""
    game = opened.reader.game
    first, *rest = [part.strip(" ,/;|>-") for part in line.split(ANY)]
    waiting: list[tuple[str, list[str]]] = [(first, rest)]
    while waiting:
        now, left = waiting.pop()
        position = follow(game, now)
        if position.node.kind == CHANCE:
            path, (after, *more) = crumbs(game, position)[1], left or [""]
            cards = [extended(path, card_name(card)) for card in next_cards(position)]
            waiting += [(extended(each, after) if after else each, more) for each in reversed(cards)]
        elif left:
            raise ParameterError(f"The line {quoted(line)} has {ANY!r} where no card is dealt.")
        elif position.node.kind == DECISION:
            yield position
        else:
            raise ParameterError(f"The line {quoted(line)} leads to a {position.node.kind} node, where no player acts.")


def _rows(
    node: ReportNode, often: float, weight: float, hands: str | None, chosen: Bools | None, by_class: bool
) -> Iterator[ReportRow]:
    """Return the rows of a node: one, or one per class of hands."""
    fields, player = node.fields, PLAYERS.index(node.fields["to_act"])
    numbers = [hand_number(parse_card(row["hand"][:2]), parse_card(row["hand"][2:])) for row in fields["hands"]]
    groups: list[tuple[str, list[int]]] = [(hands or "all", list(range(len(numbers))))]
    if chosen is not None:
        groups = [(str(hands), [k for k, hand in enumerate(numbers) if chosen[hand]])]
    elif by_class:
        classes = classes_on(parse_board(" ".join(fields["board"])))
        listed = [(name, [k for k, hand in enumerate(numbers) if classes[hand] == j]) for j, name in enumerate(CLASSES)]
        groups = [(name, members) for name, members in listed if members]
    for name, members in groups:
        share = sum(fields["hands"][k]["share"] for k in members)
        money = fields["pot"], fields["to_act"], *_both(fields, player, [fields["hands"][k] for k in members])
        board = " ".join(fields["board"])
        yield ReportRow(
            node.run, board, fields["line"], node.words, name, weight, often, share, *money, pattern=node.pattern
        )


def _both(node: dict[str, Any], player: int, rows: list[dict[str, Any]]) -> tuple[Any, ...]:
    """Return EV, equity and realisation of both players, then the acting player's actions, frequencies and EVs."""
    share = np.array([row["share"] for row in rows])

    def column(name: str) -> Floats:
        return np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=np.float64)

    equity = average(column("equity"), share)
    whole = len(rows) == len(node["hands"])  # both players' EVs add up to the pot less rake
    ev = node["ranges"][PLAYERS[player]]["ev"] if whole else average(column("value"), share)
    values_of = {PLAYERS[player]: (ev, equity, realisation(ev, equity, node["pot"]))}
    other = node["ranges"][PLAYERS[1 - player]]
    values_of[PLAYERS[1 - player]] = (other["ev"], other["equity"], other["realisation"])
    pairs = [tuple(values_of[name][k] for name in PLAYERS) for k in range(3)]
    frequencies: list[float] = []
    action_ev: list[float | None] = []
    for k, action in enumerate(node["actions"]):
        played = np.array([row["strategy"][k] for row in rows])
        frequencies.append(average(played, share) or 0.0)
        values = np.array([np.nan if row["ev"][k] is None else row["ev"][k] for row in rows], dtype=np.float64)
        action_ev.append(action["ev"] if whole else average(values, share * played))
    return (*pairs, tuple(action["short"] for action in node["actions"]), tuple(frequencies), tuple(action_ev))


def _often(opened: OpenedSpot, position: Position) -> float:
    """Return the probability of a line over all deals of its run."""
    reader = opened.reader
    spot, reach = reader.game.spot, [reader.reach(position, player) for player in (0, 1)]
    start = float((spot.weights(0) * compatible(spot.weights(1))).sum())
    return float((reach[0] * compatible(reach[1])).sum()) / start * chance_of(reader.game, position.depth)

"""``treeplex upi``: scripts of PioSOLVER's protocol, in this process and another; numbers as from ``Reader.at``."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from treeplex.games.holdem.formats.floats import ORDER, write_floats
from treeplex.holdem import Spot, make_spot, parse_range, solve
from treeplex.poker.upi.session import Session

RIVER = {
    "board": "Ks 9h 6d 3c Jh",
    "pot": 100,
    "effective_stack": 300,
    "oop_range": "AA,KQs,QTs:0.5,98s,77",
    "ip_range": "KK,QQ,AKs,T8s:0.25,77",
    "sizes": {},
    "line_sizes": {
        "": "50c",
        "check": "50c, 100c",
        "check, bet 50": "120c",
        "bet 50": "a",
        "check, bet 50, raise 170": "a",
    },
}
LINES = ("0 50 170 300", "0 100", "50 300")
TURN = ("0 40 40 40 40", "0 0 0 40 160", "40 160", "40 40 40 40")


class Script:
    """A conversation in this process."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.session = Session(self.said.append)

    def __call__(self, command: str) -> list[str]:
        """The answer to one command; blocks of progress are not part of it."""
        self.said.clear()
        assert self.session.handle(command)
        (answer,) = (text for text in self.said if not text.startswith("SOLVER:"))
        return answer.rstrip("\n").split("\n")

    def error(self, command: str) -> str:
        (line,) = self(command)
        assert line.startswith("ERROR: ")
        assert line.endswith(".")
        return line

    def rows(self, command: str) -> np.ndarray:
        return np.array([line.split() for line in self(command)], dtype=float)


def prepared(board: str, pot: int, stack: int, oop: str, ip: str, lines: tuple[str, ...]) -> Script:
    script = Script()
    for command in (
        f"set_range OOP {write_floats(parse_range(oop))}",
        f"set_range IP {write_floats(parse_range(ip))}",
        f"set_board {board.replace(' ', '')}",
        f"set_pot 0 0 {pot}",
        f"set_eff_stack {stack}",
        "set_isomorphism 1 0",
        "clear_lines",
        *(f"add_line {line}" for line in lines),
        "build_tree",
    ):
        assert script(command) == [f"{command.split()[0]} ok!"]
    return script


@pytest.fixture(scope="module")
def river() -> Script:
    script = prepared("Ks 9h 6d 3c Jh", 100, 300, RIVER["oop_range"], RIVER["ip_range"], LINES)
    assert script("go 200 steps") == ["go ok!"]
    assert script("wait_for_solver") == ["wait_for_solver ok!"]
    return script


@pytest.fixture(scope="module")
def answer():
    return solve(make_spot(RIVER), iterations=200)


@pytest.fixture(scope="module")
def turn() -> Script:
    script = prepared(
        "Ks 9h 6d 3h", 40, 160, "AhQh:0.83,KcQc:0.37,7s7c:0.61", "AsKd:0.59,QhJh:0.93,8c7c:0.31,7s7c", TURN
    )
    script("set_accuracy 0.001 fraction")
    script("go")
    script("wait_for_solver")
    return script


@pytest.mark.parametrize("line", ["", "check", "bet 50", "check, bet 50", "check, bet 50, raise 170"])
def test_numbers_are_those_of_the_reader(line, river, answer):
    words = {"check": "c", "bet 50": "b50", "raise 170": "b170"}
    node = ":".join(["r:0", *(words[word] for word in line.split(", ") if word)])
    view = answer.at(line)
    player, other = ("OOP", "IP") if view.player == 0 else ("IP", "OOP")
    np.testing.assert_allclose(river.rows(f"show_strategy {node}"), view.strategy[:, ORDER], atol=1e-6)
    np.testing.assert_allclose(river.rows(f"show_range {player} {node}")[0], view.reach[ORDER], atol=1e-6)
    put_in = {"": 0, "check": 0, "bet 50": 0, "check, bet 50": 0, "check, bet 50, raise 170": 50}[line]
    ev, matchups = river.rows(f"calc_ev {player} {node}")
    np.testing.assert_allclose(ev, view.values[ORDER] - put_in, rtol=1e-5, atol=1e-4)
    share = matchups / matchups.sum()
    np.testing.assert_allclose(share, view.share[ORDER], atol=1e-6)
    _, theirs = river.rows(f"calc_ev {other} {node}")
    assert theirs.sum() == pytest.approx(matchups.sum(), rel=1e-5)


def test_results_are_those_of_the_solution(river, answer):
    said = dict(line.split(": ") for line in river("calc_results"))
    assert list(said) == ["EV OOP", "EV IP", "OOP's MES", "IP's MES", "Exploitable for"]
    told = [float(number) for number in said.values()]
    expected = [*answer.ev, *answer.best_response_values, answer.exploitability]
    assert told == pytest.approx(expected, abs=6e-4)
    ev, matchups = river.rows("calc_ev OOP r:0")
    assert np.nansum(ev * matchups) / matchups.sum() == pytest.approx(answer.ev[0], abs=1e-3)


def test_nodes_and_children(river):
    assert river("show_node r:0:c:b50") == [
        "r:0:c:b50",
        "OOP_DEC",
        "Ks 9h 6d 3c Jh",
        "0 50 100",
        "3 children",
        "flags:",
    ]
    assert river("show_node r")[1:] == ["ROOT", "Ks 9h 6d 3c Jh", "0 0 100", "1 children", "flags:"]
    assert river("show_node r:0:b50:f")[1:4] == ["END_NODE", "Ks 9h 6d 3c Jh", "50 0 100"]
    assert river("show_node r:0:b50:b300:c")[1:4] == ["END_NODE", "Ks 9h 6d 3c Jh", "300 300 100"]
    children = "\n".join(river("show_children r:0:c:b50")).split("\n\n")
    assert [child.split("\n")[:2] for child in children] == [
        ["child 0:", "r:0:c:b50:f"],
        ["child 1:", "r:0:c:b50:c"],
        ["child 2:", "r:0:c:b50:b170"],
    ]
    assert sum(float(river(f"calc_global_freq r:0:{word}")[0]) for word in ("c", "b50")) == pytest.approx(1.0)


def test_ev_of_an_action_is_that_of_its_child(river):
    """Also where no player acts any more; averaged over the strategy it is the EV of the node."""
    for node, player, words in (("r:0", "OOP", ("c", "b50")), ("r:0:c:b50", "OOP", ("f", "c", "b170"))):
        ev = river.rows(f"calc_ev {player} {node}")[0]
        of_actions = np.array([river.rows(f"calc_ev {player} {node}:{word}")[0] for word in words])
        together = np.nansum(river.rows(f"show_strategy {node}") * of_actions, axis=0)
        np.testing.assert_allclose(together[~np.isnan(ev)], ev[~np.isnan(ev)], rtol=1e-4, atol=1e-3)
    assert "acted last" in river.error("calc_ev IP r:0:c:b50:c")


def test_cards_are_dealt(turn):
    assert turn("show_node r:0:c:c")[1:5] == ["SPLIT_NODE", "Ks 9h 6d 3h", "0 0 40", "48 children"]
    node = "r:0:c:b40:c:2h"
    assert turn(f"show_node {node}")[1:4] == ["OOP_DEC", "Ks 9h 6d 3h 2h", "40 40 40"]
    cards = [line for line in turn("show_children r:0:c:c") if line.startswith("r:0")]
    often = [float(turn(f"calc_global_freq {card}")[0]) for card in cards]
    assert sum(often) == pytest.approx(float(turn("calc_global_freq r:0:c:c")[0]), rel=1e-6)
    ev, matchups = turn.rows(f"calc_ev OOP {node}")
    assert (np.isnan(ev) == (matchups == 0)).sum() > 1200
    assert "is not possible there" in turn.error("show_node r:0:c:c:2h:b77")


def test_a_tree_before_the_first_iteration_is_uniform():
    script = prepared("Ks 9h 6d 3c Jh", 100, 300, "AA", "QQ", LINES)
    assert script("solver_state") == ["stopped"]
    rows = script.rows("show_strategy r:0")
    assert set(rows[:, rows.sum(axis=0) > 0].ravel()) == {0.5}
    assert script("show_effective_stack") == ["300"]
    assert script("show_tree_info")[3] == "#Board#Ks 9h 6d 3c Jh"
    assert script("show_memory")[0].startswith("tree: ")
    assert script("free_tree") == ["free_tree ok!"]
    assert script("solver_state") == ["no tree"]


def test_stop_ends_an_endless_run_and_go_continues_it():
    script = prepared("Ks 9h 6d 3c Jh", 100, 300, "AA,KQs", "QQ,AKs", LINES)
    assert script("go") == ["go ok!"]
    assert script("solver_state") == ["running"]
    assert "Send stop" in script.error("show_strategy r:0")
    assert "for ever" in script.error("wait_for_solver")
    time.sleep(0.2)
    script.said.clear()
    assert script("stop") == ["stop ok!"]
    tree = script.session._stopped
    done = tree.solver.work(tree.game, tree.point.state).iterations
    assert done >= 1
    script("go 5 steps")
    script("wait_for_solver")
    tree = script.session._stopped
    assert tree.solver.work(tree.game, tree.point.state).iterations == done + 5
    script("set_accuracy 20")
    script("go 20 seconds")
    script("wait_for_solver")
    assert script.session._runs.outcome.status == "solved"
    script.session.close()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("dance", "not one of"),
        ("build_tree", "board is not set"),
        ("go", "no tree"),
        ("show_strategy r:0", "no tree"),
        ("set_range OOP 1 2 3", "got 3"),
        ("set_range BTN AA", "OOP or IP"),
        ("set_range OOP " + "1 " * 2_000_000, "got 2,000,000"),
        ("add_line x", "whole chips"),
        ("set_pot 1 1 5", "must be 0"),
        ("set_accuracy -1", "set_accuracy"),
        ("set_threads many", "set_threads"),
        ("set_eff_stack " + "9" * 100, "set_eff_stack"),
    ],
)
def test_errors_are_one_line_and_the_session_goes_on(command, words):
    script = Script()
    assert words in script.error(command)
    assert script("is_ready") == ["is_ready ok!"]


def test_errors_about_nodes(river):
    for command, words in (
        ("show_node x", "named such as"),
        ("show_node", "show_node NODE"),
        ("show_range CO r:0", "OOP or IP"),
        ("show_strategy r:0:c:c", "END_NODE"),
        ("show_node r:0:b51", "not possible"),
        ("go 5 minutes", "go 10 seconds"),
    ):
        assert words in river.error(command)


def test_a_script_through_a_process():
    commands = [
        "set_end_string END",
        "# a comment, and an empty line",
        "",
        "is_ready",
        "set_range OOP AA,KQs",
        "set_range IP QQ,AKs",
        "set_board Ks9h6d3cJh",
        "set_pot 0 0 100",
        "set_eff_stack 300",
        "add_line 0 50 300",
        "build_tree",
        "set_accuracy 0.005 fraction",
        "go",
        "wait_for_solver",
        "show_node r:0",
        "nonsense",
        "show_hand_order",
        "exit",
        "is_ready",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "treeplex", "upi"],
        input="\n".join(commands),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.split("\n")
    assert lines[0].startswith("treeplex ")
    assert lines[3:7] == ["set_end_string ok!", "END", "is_ready ok!", "END"]
    started = lines.index("SOLVER: started")
    assert lines[started + 1 : started + 4] == ["go ok!", "END", "SOLVER:"]
    stopped = lines.index("SOLVER: stopped (required accuracy reached)")
    assert lines[stopped + 1 : stopped + 5] == ["wait_for_solver ok!", "END", "r:0", "OOP_DEC"]
    assert lines[-3].startswith("2d2c 2h2c")
    assert lines.count("is_ready ok!") == 1


def test_the_spot_of_a_script_is_a_spot(river):
    tree = river.session._stopped
    assert isinstance(tree.game.spot, Spot)
    assert tree.game.spot.line_sizes == RIVER["line_sizes"]

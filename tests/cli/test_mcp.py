"""The MCP server, called by the SDK's own client: in memory, and over stdin and stdout of the command."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

import treeplex as tp
from treeplex.mcp.tools import OPTIONS, TOOLS, signature
from treeplex.runs.schema import IDENTITY, LIMIT, of

pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters, stdio_client

from treeplex.mcp.server import CallLimits, make_server

RIVER = {
    "board": "Ks 7h 4d 2c 9s", "pot": 10, "effective_stack": 30, "oop_range": "AA,KQs,76s", "ip_range": "AKs,99,T8s",
}  # fmt: skip


def calls(folder: Path, *wanted: tuple[str, dict[str, Any]], seconds: float = 120.0, memory: float = 4e9) -> list[Any]:
    """Results of some calls, one after the other; of a call that failed, the text of its error."""

    async def run() -> list[Any]:
        answers = []
        async with Client(make_server(CallLimits(folder, seconds, int(memory)))) as client:
            for name, arguments in wanted:
                result = await client.call_tool(name, arguments)
                text = result.content[0].text
                answers.append(text if result.is_error else result.structured_content or json.loads(text))
        return answers

    return anyio.run(run)


def test_tools_have_schemas_from_the_options_of_a_run(tmp_path: Path) -> None:
    async def run() -> dict[str, Any]:
        async with Client(make_server(CallLimits(tmp_path, 60.0, 10**9))) as client:
            return {tool.name: tool.input_schema["properties"] for tool in (await client.list_tools()).tools}

    found = anyio.run(run)
    assert set(found) == set(TOOLS)
    assert {each.name for each in of(LIMIT, IDENTITY)} | {"threads", "game", "algorithm", "run"} == set(found["solve"])
    for option in OPTIONS:
        assert found["solve"][option.name]["description"] == option.help
    assert set(found["node"]) == set(signature("node").parameters)


def test_a_game_is_solved_measured_and_looked_at(tmp_path: Path) -> None:
    info, solved, node, listed, measured, response = calls(
        tmp_path,
        ("info", {"game": "kuhn"}),
        ("solve", {"game": "kuhn", "algorithm": "cfr+", "nash_conv": 1e-3, "run": "mine"}),
        ("node", {"run": "mine", "line": "2pb"}),
        ("node", {"run": "mine", "most": 2}),
        ("evaluate", {"game": "kuhn", "policy": "mine"}),
        ("best_response", {"game": "kuhn", "policy": "mine", "player": 1}),
    )
    expected = tp.solve("kuhn", "cfr+", nash_conv=1e-3)
    assert info["nodes"] == 58
    assert (solved["status"], solved["nash_conv"]) == ("solved", expected.nash_conv)
    assert node["policy"]["2pb"] == pytest.approx(expected.policy["2pb"])
    assert {player: len(rows) for player, rows in listed["policy"].items()} == {"0": 2, "1": 2}
    assert measured["nash_conv"] == pytest.approx(expected.nash_conv, abs=1e-12)
    assert response["value"] == pytest.approx(measured["best_response_values"][1])
    assert (tmp_path / "mine" / "run.json").exists()


def test_a_spot_is_solved_and_looked_at(tmp_path: Path) -> None:
    solved, node, found = calls(
        tmp_path,
        ("solve", {"game": RIVER, "exploitability": "0.5%pot", "run": "river"}),
        ("node", {"run": "river", "line": "check", "most": 3}),
        ("sizes", {"spots": RIVER, "bets": "50%, a"}),
    )
    assert solved["exploitability_percent_of_pot"] <= 0.5
    assert (node["player"], len(node["hands"])) == ("ip", 3)
    assert found["certified"]
    assert len(found["menu"]) == 1


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("solve", {"game": "kuhn", "run": "../mine"}, "'run' parameter must be letters"),
        ("info", {"game": "/etc/passwd"}, "not in the folder"),
        ("info", {"game": "../x.efg"}, "not in the folder"),
        ("solve", {"game": "kuhn", "algorithm": "nothing"}, "nothing"),
        ("solve", {"game": "kuhn", "nash_conv": -1}, "nash_conv"),
        ("node", {"run": "absent"}, "absent"),
        ("evaluate", {"game": "kuhn", "policy": {"J": {"bet": 2.0}}}, "J"),
    ],
)
def test_what_is_wrong_is_said_in_the_answer(tmp_path: Path, name: str, arguments: dict[str, Any], text: str) -> None:
    (answer,) = calls(tmp_path, (name, arguments))
    assert isinstance(answer, str)
    assert text in answer
    assert "Traceback" not in answer


def test_limits_end_a_call_and_nothing_else(tmp_path: Path) -> None:
    slow = {"game": "leduc", "algorithm": "cfr", "nash_conv": 1e-12, "seconds": 600}
    late, after = calls(tmp_path, ("solve", slow), ("info", {"game": "kuhn"}), seconds=25.0)
    assert "took more than 25 s" in late
    assert after["nodes"] == 58
    large, _ = calls(tmp_path, ("info", {"game": "kuhn_ext(40,20,7)"}), ("info", {"game": "kuhn"}), memory=6e8)
    assert "memory" in large


def test_the_command_serves_over_stdin_and_stdout(tmp_path: Path) -> None:
    async def run() -> Any:
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "treeplex", "mcp", str(tmp_path / "runs"), "--seconds", "60"],
            env=dict(os.environ),
        )
        async with Client(stdio_client(command)) as client:
            return await client.call_tool("solve", {"game": "kuhn", "algorithm": "lp"})

    result = anyio.run(run)
    assert result.structured_content["value"] == pytest.approx(-1 / 18)

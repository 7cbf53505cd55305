"""``tools/counts.py``, on a tree made up for it: each count finds what it defines, and nothing beside it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "counts.py"

FILES = {
    "algorithms/protocol.py": '''
"""Its docstring names "cuda" and counts nowhere."""
class Execution:
    backend: str = "cpu"
    threads: int
class Algorithm:
    @property
    def storage(self): ...
    def start(self, game: Any, seed: int, *more: Any): ...
''',
    "algorithms/cfr.py": """
class CFR(Algorithm[Game, State]):
    rule: Minimizer
    weight: Schedule
    engine: Engine
class DeviceCFR(CFR): ...
class Cut(Trunk):
    solver: DeviceCFR
class Trunk(Algorithm): ...
class Hedge(Algorithm):
    weight: Schedule
    engine: Engine
class Restarted(Algorithm):
    inner: CFR | Hedge
class Other:
    rule: Minimizer
    weight: Schedule
    engine: Engine
""",
    "runs/solve.py": """
class Plan:
    seconds: float
    iterations: int
    nodes: int
class Row:
    seconds: float
def solve(game: Any, threads, *, more: typing.Any):
    if isinstance(game, HoldemGame) or request.is_spot or isinstance(game, int):
        backend = "cuda"
    if request.kind == SPOT or type(game).__name__ == "HoldemGame" or request.kind == other:
        run(**as_arguments(threads), **game)
    return isinstance(game, cfr.CFR | Hedge) and isinstance(state, TiledState)
""",
    "cli/show.py": "from treeplex.engines.sequence.cuda import plan\nkinds.get(solution.request.kind, other)\n",
    "games/spot.py": "isinstance(game, HoldemGame)\n",
    "engines/open.py": 'isinstance(problem, CompiledGame)\nbackend = "cuda"\n',
    "engines/cpu/walk.py": """
from treeplex.updates.rules import matched, positive, normalise as divided
def first():
    return divided(1.0, 2.0)
def second():
    def nested():
        return positive(1.0)
    return nested() / total
def kernels():
    match, decay = rule(matched, where=select), rule(positive)
    def third():
        return match(1.0)
    def fourth():
        return one / select(total > zero, total, n)
    def fifth():
        return decay(1.0)
""",
    "engines/reference/walk.py": (
        "from treeplex.updates.rules import normalise\ndef twin():\n    return normalise(1.0)\n"
    ),
    "engines/run.py": "class Row:\n    # a comment\n\n    pass\n",
}
LONG = (
    "def just():\n"
    + "    pass\n" * 59
    + "def over():\n"
    + '    """Three\n    lines\n    long."""\n'
    + "    pass\n" * 60
)
EXPECTED = {
    "cfr_classes": ["CFR", "Cut", "DeviceCFR"],
    "algorithm_methods": ["start", "storage"],
    "problem_checks": [
        "isinstance(game, HoldemGame)", "kinds.get(solution.request.kind, other)", "request.is_spot",
        "request.kind == SPOT", "type(game).__name__ == 'HoldemGame'",
    ],
    "solver_checks": ["isinstance(game, cfr.CFR | Hedge)", "isinstance(state, TiledState)"],
    "backend_files": ["'cuda'", "from treeplex.engines.sequence.cuda import plan"],
    "infoset_loops": ["first", "fourth", "third"],
    "repackings": ["**as_arguments(threads)", "Execution", "Plan"],
    "repeated_names": ["engines/run.py:1 runs/solve.py:6"],
    "plain_any": ["solve(game)", "solve(more)", "start(game)"],
    "long_functions": ["over: 61 lines"],
}  # fmt: skip


@pytest.fixture
def counts() -> Any:
    spec = importlib.util.spec_from_file_location("counts", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in {**FILES, "long.py": LONG}.items():
        file = tmp_path / "src" / "treeplex" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path


def test_every_count_finds_what_it_defines(counts: Any, tree: Path) -> None:
    assert {count.__name__ for count, _ in counts.COUNTS.values()} == set(EXPECTED)
    modules = counts.parse(tree)
    for name, expected in EXPECTED.items():
        assert sorted(what for _, _, what in getattr(counts, name)(modules)) == expected, name


def test_lines_of_code_are_neither_blank_nor_comments_nor_docstrings(counts: Any, tree: Path) -> None:
    (tree / "src" / "treeplex" / "long.py").unlink()
    alone = sum(len([line for line in text.splitlines() if line.strip()]) for text in FILES.values())
    assert counts.code_lines(tree / "src" / "treeplex") == alone - 2  # a docstring and a comment


def test_the_table_is_printed_with_details(counts: Any, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts.main([str(tree), "--details"])
    printed = capsys.readouterr().out
    assert "CFR classes                            3   at most 1\n    algorithms/cfr.py:2: CFR\n" in printed
    assert printed.endswith(f"files{10:>35}\n")


def test_a_folder_without_the_package_is_rejected(counts: Any, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="ROOT argument must be a checkout"):
        counts.main([str(tmp_path)])

"""The tables of the codec are those of its stored measurements."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_tables_are_those_of_the_stored_measurements() -> None:
    path = ROOT / "benchmarks" / "holdem" / "codec.py"
    spec = importlib.util.spec_from_file_location("codec_benchmark", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page, known = module.PAGE.read_text(encoding="utf-8"), module.stored()
    assert module.filled(page, known) == page
    assert module.text(known) in module.TABLE.read_text(encoding="utf-8")
    assert known["bits"] and known["checkpoints"] and known["memory"]

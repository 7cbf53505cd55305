"""How a run ended, and the sentence for it."""

from __future__ import annotations

from typing import Final

SOLVED: Final = "solved"
MISSED: Final = "missed"
INTERRUPTED: Final = "interrupted"

SENTENCES: Final = {
    SOLVED: "solved",
    MISSED: "ended above the target",
    "iterations": "iteration limit reached",
    "seconds": "time limit reached",
    "nodes": "node limit reached",
    INTERRUPTED: "interrupted",
}
"""Every status of a solution. "missed": the algorithm ended by itself, with an answer worse than the target."""

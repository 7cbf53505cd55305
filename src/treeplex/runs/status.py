"""Statuses of runs that have ended, and a phrase for each."""

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
"""Phrase for every status. "missed": the algorithm ended by itself, with an answer worse than the target."""

"""``treeplex upi``: run the hold'em solver from scripts written for PioSOLVER's text protocol."""

from __future__ import annotations

import sys
from typing import Any

from treeplex.poker.upi.session import Session


def upi() -> None:
    """Control the hold'em solver with PioSOLVER's text protocol (UPI) on stdin and stdout.

    It reads one command per line, and ends every answer with the line of set_end_string. See: docs/how-to/formats.md.
    """
    incoming: Any = sys.stdin
    if hasattr(incoming, "reconfigure"):
        incoming.reconfigure(errors="replace")
    session = Session(_write)
    session.begin()
    try:
        for line in incoming:
            if not session.handle(line):
                break
    finally:
        session.close()


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()

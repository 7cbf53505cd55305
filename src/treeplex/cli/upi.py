"""``treeplex upi``: scripts written for PioSOLVER's text protocol drive this solver."""

from __future__ import annotations

import sys
from typing import Any

from treeplex.poker.upi.session import Session


def upi() -> None:
    """Drive the hold'em solver by PioSOLVER's text protocol (UPI), line by line over stdin and stdout.

    Answers end with what set_end_string said. See: docs/how-to/formats.md.
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

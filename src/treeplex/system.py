"""What depends on the platform: signals and processors."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any


@contextmanager
def ctrl_c() -> Generator[threading.Event]:
    """Turn the first Ctrl-C or SIGTERM into an event, so that no iteration is left half done; a second interrupts."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return
    before: dict[int, Any] = {}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def handler(number: int, frame: FrameType | None) -> None:
        pressed.set()
        restore()

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, handler)
        yield pressed
    finally:
        restore()


def cores() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def replace_text(path: Path, text: str) -> None:
    """Write under another name, then replace: whoever is killed leaves the old file or the new one."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)

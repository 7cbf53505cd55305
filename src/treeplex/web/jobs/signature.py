"""Signatures of the jobs that this user queued, with a key outside all served folders.

A folder, and its queue with it, may come from another person. File owners and times do not show that, since the user
who unpacks an archive owns its files. A signature needs only one private file and no list of folders. It covers the
folder, so that a copied queue also waits for a person.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

LENGTH: Final = 32  # bytes of a key


def key_path() -> Path:
    """Return the file of the key, in the user's folder for state."""
    state_folder = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_STATE_HOME")
    return Path(state_folder or Path.home() / ".local" / "state") / "treeplex" / "queue.key"


def key_of(path: Path | None = None) -> bytes:
    """Return the key in a file that only this user can read; a new one if there is none or others could read it.

    If no file can be written, the key lives only as long as the process. The next server then asks about every job.
    """
    try:
        path = path or key_path()
        return _read(path) or _write(path)
    except (OSError, RuntimeError):  # no home, or no permission to write
        return secrets.token_bytes(LENGTH)


def signature(key: bytes, root: Path, fields: Mapping[str, Any]) -> str:
    """Return the HMAC-SHA256 of a job in a folder."""
    text = json.dumps([os.fsencode(root).hex(), fields], sort_keys=True)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _read(path: Path) -> bytes | None:
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(file.fileno())
        private = sys.platform == "win32" or (about.st_uid == os.getuid() and not about.st_mode & 0o077)
        key = file.read(LENGTH + 1) if private and stat.S_ISREG(about.st_mode) else b""
    return key if len(key) == LENGTH else None


def _write(path: Path) -> bytes:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    key, temporary = secrets.token_bytes(LENGTH), path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(key)
    temporary.replace(path)
    return key

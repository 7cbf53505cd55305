"""Cached kernels as a door: files damaged in every way are compiled anew. Kernels run in a process of their own."""

from __future__ import annotations

import atexit
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import mutate
from command_line import RefusedError

SOURCE = "def twice(x):\n    return 2 * x\n"
EDITS = ("cut", "zeros", "bytes", "bytes", "garbage", "grow", "swap", "copy", "folder", "link", "pipe", "lose", "mode")
LINKS = ("nothing", "/dev/zero", "/dev/null", ".", "/etc/passwd")


class Worker:
    """A process that runs a small kernel with whatever folder it is asked to; another one after it dies."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._place = Path(tempfile.mkdtemp())
        atexit.register(self.close)

    def whole(self) -> Path:
        """A folder with whole files of two signatures."""
        folder = self._place / "whole"
        if not folder.exists():
            assert self.run(folder) == {"values": [42, 0.5], "hits": 0}
        return folder

    def run(self, folder: Path) -> dict[str, Any]:
        """What the kernel returned, and how often the files were used."""
        if self._process is None:
            command = [sys.executable, str(Path(__file__)), str(self._place / "twice.py")]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdin
        assert self._process.stdout
        try:
            print(folder, file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
            assert line, f"the process died: {self._process.wait()}"
        except BaseException:
            self._stop()
            raise
        return json.loads(line)

    def close(self) -> None:
        """At the end of everything."""
        self._stop()
        shutil.rmtree(self._place, ignore_errors=True)

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


WORKER = Worker()


def caches(draw: random.Random, folder: Path) -> None:
    """Files of a small kernel with one to three edits: taken if both are used, refused if one is compiled anew."""
    kernels = folder / "kernels"
    shutil.copytree(WORKER.whole(), kernels)
    names = sorted(path.name for path in kernels.iterdir())
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        edit(draw, draw.choice(EDITS), *(kernels / name for name in draw.sample(names, 2)))
    answer = WORKER.run(kernels)
    assert "error" not in answer, answer["error"]
    assert answer["values"] == [42, 0.5]
    if answer["hits"] < 2:
        raise RefusedError


def edit(draw: random.Random, how: str, path: Path, other: Path) -> None:
    """One edit of a file, which may be damaged or lost already."""
    if not os.path.lexists(path) or not os.path.lexists(other):
        return
    plain = path.is_file() and not path.is_symlink()
    whole = path.read_bytes() if plain else b"x"
    if how in ("folder", "link", "pipe", "lose"):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        if how == "folder":
            path.mkdir()
            (path / "inside").touch()
        elif how == "link":
            path.symlink_to(draw.choice((*LINKS, other.name, path.name)))
        elif how == "pipe":
            os.mkfifo(path)
    elif how == "swap":
        path.rename(path.with_name("third"))
        other.rename(path)
        path.with_name("third").rename(other)
    elif how == "mode" and not path.is_symlink():
        path.chmod(draw.choice((0o000, 0o400, 0o444, 0o666, 0o777)))
    elif plain:
        path.write_bytes(
            {
                "cut": whole[: draw.randrange(len(whole) + 1)],
                "zeros": bytes(len(whole)),
                "bytes": mutate.data(draw, whole),
                "garbage": draw.randbytes(draw.choice((0, 1, 40, len(whole)))),
                "grow": whole + draw.randbytes(draw.choice((1, 100))),
                "copy": other.read_bytes() if other.is_file() and not other.is_symlink() else b"",
            }[how]
        )


def serve(file: Path) -> None:
    """The worker: a folder per line in, an answer per line out."""
    from treeplex.kernels import jit  # noqa: PLC0415 - here only

    file.write_text(SOURCE)
    module = sys.modules["twice"] = ModuleType("twice")
    for line in sys.stdin:
        exec(compile(SOURCE, str(file), "exec"), module.__dict__)
        try:
            jit.CACHE_FOLDERS = (Path(line.strip()),)  # pyright: ignore
            kernel: Any = jit.kernel(module.twice)
            answer = {"values": [kernel(21), kernel(0.25)], "hits": sum(kernel.stats.cache_hits.values())}
        except Exception:
            answer = {"error": traceback.format_exc(limit=-6)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))

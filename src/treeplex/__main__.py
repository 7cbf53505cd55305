"""``python -m treeplex``: the same as the ``treeplex`` command."""

from treeplex.cli.main import run

run()

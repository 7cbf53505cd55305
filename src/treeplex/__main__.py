"""``python -m treeplex``: the same as the ``treeplex`` command."""

from treeplex.cli.entry import main

main()

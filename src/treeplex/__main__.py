"""Run the ``treeplex`` command as ``python -m treeplex``."""

from treeplex.cli.entry import main

main()

"""These are run by ``make kill-test``, not collected; ``tests/cli/test_signals.py`` takes a quick look."""

collect_ignore_glob = ["*.py"]

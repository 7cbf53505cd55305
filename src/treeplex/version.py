"""Version of the package; ``pyproject.toml`` has the same number."""

__version__ = "0.2.0"

"""Which version this is; the same number stands in ``pyproject.toml``."""

__version__ = "0.2.0"

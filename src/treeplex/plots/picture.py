"""A figure that a notebook shows without any configuration of Matplotlib."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from matplotlib.figure import Figure


class Picture(Figure):
    """A Matplotlib figure that notebooks display."""

    def png(self, dpi: int = 100) -> bytes:
        """Return the figure as the bytes of a PNG."""
        out = BytesIO()
        figure: Any = self
        figure.savefig(out, format="png", dpi=dpi)
        return out.getvalue()

    def _repr_png_(self) -> bytes:
        """Return the PNG that a notebook shows."""
        return self.png()

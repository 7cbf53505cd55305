"""A figure that a notebook shows, whether or not Matplotlib was told about notebooks."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from matplotlib.figure import Figure


class Picture(Figure):
    """A Matplotlib figure that shows itself."""

    def png(self, dpi: int = 100) -> bytes:
        """As the bytes of a PNG."""
        out = BytesIO()
        figure: Any = self
        figure.savefig(out, format="png", dpi=dpi)
        return out.getvalue()

    def _repr_png_(self) -> bytes:
        """What a notebook shows."""
        return self.png()

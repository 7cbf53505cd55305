"""Anchors written as HTML, ``<a id="pruning"></a>``, are targets of links, as they are on GitHub."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

ANCHOR = re.compile(r'<a (?:id|name)="([^"]+)">')


class HtmlAnchors(SphinxTransform):
    """Tell MyST of them, before it resolves links."""

    default_priority = 800

    def apply(self, **_: Any) -> None:
        """Add each anchor to the headings' slugs: line, id, text."""
        slugs = dict(getattr(self.document, "myst_slugs", {}))
        for node in self.document.findall(nodes.raw):
            for name in ANCHOR.findall(node.astext()):
                slugs[name] = (node.line or 0, name, name)
        self.document.myst_slugs = slugs
        self.env.metadata[self.env.docname]["myst_slugs"] = slugs


def setup(app: Any) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(HtmlAnchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

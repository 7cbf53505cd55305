"""Formulas as MathML: rendered while the site is built, shown by browsers without a script and without a network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

UNSIZED = re.compile(r'<mo(?: stretchy="false")?>([⟨⟩⌊⌋⌈⌉‖|])</mo>')  # not after \left or \right
LOGGER = logging.getLogger(__name__)


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(translator: Any, node: Any) -> None:
    translator.body.append(_formula(node, block=False))
    raise nodes.SkipNode


def _block(translator: Any, node: Any) -> None:
    translator.body.append(f'<div class="math">{_formula(node, block=True)}')
    if node["number"]:
        number = f"{node['number']}" if isinstance(node["number"], int) else node["number"]
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append("</div>")
    raise nodes.SkipNode


def _formula(node: Any, block: bool) -> str:
    """A formula; what cannot be rendered is a warning, so that ``make docs`` fails."""
    try:
        made = tex2mathml(node.astext(), as_block=block)
    except MathError as error:
        LOGGER.warning("formula %r: %s", node.astext(), error, location=node, type="mathml")
        return f"<code>{node.astext()}</code>"
    return UNSIZED.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', made)

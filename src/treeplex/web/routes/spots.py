"""Routes for ranges and spots before a solve."""

from __future__ import annotations

from fastapi import Response

from treeplex.web import ranges
from treeplex.web.answers import reply
from treeplex.web.routes.common import router
from treeplex.web.schema.spots import (
    ExportForm,
    ImportedSpot,
    ImportForm,
    RangeForm,
    RangeText,
    SpotEstimate,
    SpotForm,
    SpotText,
)
from treeplex.web.site import OnSite

routes = router("spots")


@routes.post("/range", response_model=RangeText)
def convert_range(form: RangeForm) -> Response:
    """Convert a range from one form to all forms."""
    return reply(ranges.forms(ranges.range_of(form.text, form.weights, form.hands)))


@routes.post("/spot", response_model=SpotEstimate)
def measure_spot(site: OnSite, form: SpotForm) -> Response:
    """Check a spot; return the size of its tree and estimates of memory and time of a solve."""
    return reply(site.checker.ask("estimate", form.spot))


@routes.post("/import", response_model=ImportedSpot)
def import_spot(site: OnSite, form: ImportForm) -> Response:
    """Import a spot from another program's text."""
    return reply(site.checker.ask("import", form.text, form.format))


@routes.post("/export", response_model=SpotText)
def export_spot(site: OnSite, form: ExportForm) -> Response:
    """Export a spot as another program's text."""
    return reply(site.checker.ask("export", form.spot, form.format))

"""The stream of events."""

from __future__ import annotations

from fastapi import Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from treeplex.web.answers import encoded
from treeplex.web.routes.common import as_text, router
from treeplex.web.site import OnSite

routes = router("events")


@routes.get("/events", responses=as_text("text/event-stream"))
async def stream_events(site: OnSite) -> Response:
    """Server-sent events: `jobs` (all of them, when one changed), `runs` (look again), `open` (how far one is)."""
    jobs = await run_in_threadpool(lambda: encoded({"jobs": site.queue.listed()}))
    first = b"retry: 1000\nevent: jobs\ndata: " + jobs + b"\n\n"
    return StreamingResponse(site.events.stream(first), media_type="text/event-stream")
